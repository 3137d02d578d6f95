"""All facts of an audit with the sentences made of them: the content of audit.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from separatrix.auditing import efficiency_answer, hyperplane_answers, prediction_answers
from separatrix.auditing.budget import Omission
from separatrix.auditing.efficiency_answer import AlgorithmFacts
from separatrix.auditing.facts import Pictures, TableFacts
from separatrix.auditing.hyperplane_answers import (
    BestFacts,
    CertificateFacts,
    ExactFitFacts,
    LeastSquaresFacts,
    SeparationFacts,
)
from separatrix.auditing.phrasing import Answer
from separatrix.auditing.prediction_answers import AssumptionFacts, PredictionFacts
from separatrix.auditing.recommendation import Recommendation
from separatrix.persistence.json_values import plain

FORMAT = "separatrix-audit/2"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What depends on the day and the machine."""

    date: str
    version: str
    seconds: dict[str, float]
    test_use: str | None


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
            first = hyperplane_answers.separation(self.separation, self.table)
            second = hyperplane_answers.best(self.best, self.table, self.separation.separable)
        else:
            assert self.exact_fit is not None  # a quantity has these two
            assert self.least_squares is not None
            first = hyperplane_answers.exact_fit(self.exact_fit, self.table)
            second = hyperplane_answers.least_squares(self.least_squares)
        return {
            "separation": first,
            "best": second,
            "algorithm": efficiency_answer.algorithm(self.algorithm, self.best, self.prediction.chosen),
            "prediction": prediction_answers.prediction(self.prediction, self.table),
            "assumptions": prediction_answers.assumptions(self.assumptions),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as audit.json has them; numbers that are not finite are null."""
        answers = {key: asdict(answer) for key, answer in self.answers.items()}
        return {"format": FORMAT, "answers": answers, **plain(asdict(self))}
