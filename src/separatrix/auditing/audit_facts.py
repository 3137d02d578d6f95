"""All facts of an audit with the sentences made of them: the content of audit.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from separatrix.auditing import algorithm_sentences, hyperplane_sentences, prediction_sentences
from separatrix.auditing.algorithm_facts import AlgorithmFacts
from separatrix.auditing.conclusion_facts import Answer, AssumptionFacts, Omission, Recommendation, RunFacts
from separatrix.auditing.folder import FORMAT
from separatrix.auditing.hyperplane_facts import (
    BestFacts,
    CertificateFacts,
    ExactFitFacts,
    LeastSquaresFacts,
    SeparationFacts,
)
from separatrix.auditing.picture_facts import Pictures
from separatrix.auditing.prediction_facts import PredictionFacts
from separatrix.auditing.table_facts import TableFacts
from separatrix.persistence.json_values import plain

MARKS = {"fails": "✗", "look": "!", "unknown": "?", "holds": "✓"}


def assumptions(facts: AssumptionFacts) -> Answer:
    """Question 5."""
    holds, fails, look, unknown = (facts.count(verdict) for verdict in ("holds", "fails", "look", "unknown"))
    parts = [
        f"{holds} hold{'s' * (holds == 1)}" if holds else "",
        f"{fails} fail{'s' * (fails == 1)}" if fails else "",
        f"{look} need{'s' * (look == 1)} a look" if look else "",
        f"{unknown} unknown" if unknown else "",
    ]
    listed = " · ".join(
        f"{mark} {', '.join(line.name for line in facts.lines if line.verdict == verdict)}"
        for verdict, mark in MARKS.items()
        if facts.count(verdict)
    )
    answer = ", ".join(part for part in parts if part)
    return Answer("Which assumptions does that need, and do they hold?", answer, "tested", [listed])


@dataclass(frozen=True, slots=True)
class AuditFacts:
    """What was found about a table; ``separation`` or ``exact_fit``, ``best`` or ``least_squares`` is None."""

    table: TableFacts
    separation: SeparationFacts | None
    exact_fit: ExactFitFacts | None
    best: BestFacts | None
    least_squares: LeastSquaresFacts | None
    algorithm: AlgorithmFacts
    prediction: PredictionFacts
    assumptions: AssumptionFacts
    recommendation: Recommendation
    pictures: Pictures
    certificate: CertificateFacts | None
    left_out: list[Omission]
    run: RunFacts

    @property
    def answers(self) -> dict[str, Answer]:
        """The five questions with their answers, in words."""
        if self.separation is not None and self.best is not None:
            first = hyperplane_sentences.separation(self.separation, self.table)
            second = hyperplane_sentences.best(self.best, self.table, self.separation.separable)
        else:
            assert self.exact_fit is not None  # a quantity has these two
            assert self.least_squares is not None
            first = hyperplane_sentences.exact_fit(self.exact_fit, self.table)
            second = hyperplane_sentences.least_squares(self.least_squares)
        return {
            "separation": first,
            "best": second,
            "algorithm": algorithm_sentences.algorithm(self.algorithm, self.best, self.prediction.chosen),
            "prediction": prediction_sentences.prediction(self.prediction, self.table),
            "assumptions": assumptions(self.assumptions),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as audit.json has them; numbers that are not finite are null."""
        answers = {key: asdict(answer) for key, answer in self.answers.items()}
        return {"format": FORMAT, "answers": answers, **plain(asdict(self))}
