"""Error on training and on validation rows as rows are added."""

from __future__ import annotations

import warnings

import numpy as np

from separatrix.auditing.budget import OutOfTime, Session
from separatrix.auditing.candidates import Candidate, in_folds
from separatrix.auditing.comparison import LearnerComparison
from separatrix.auditing.picture_facts import LearningCurve
from separatrix.auditing.table import AuditTable
from separatrix.errors import SeparatrixError

STEPS = 6
ROWS = 20_000  # at most


def curve_of(
    table: AuditTable, session: Session, found: LearnerComparison, listed: list[Candidate]
) -> LearningCurve | None:
    """The curve of the chosen learner, with a ridge in place of an unpenalised fit; None where time is short."""
    from separatrix.evaluation.learning_curves import learning_curve

    candidate, rows, clock = found.chosen, found.rows, session.clock
    if candidate.name.startswith("logistic"):  # few rows are separable, and each such fit needs a proof
        candidate = next(own for own in listed if own.name == "ridge logistic")
    if len(rows) > ROWS:
        rows = np.sort(np.random.default_rng(session.seed).choice(rows, ROWS, replace=False))
    if clock.left < 0.25 * clock.budget:
        clock.leave_out("learning curve", "the time budget was nearly used up")
        return None
    learner, X = in_folds(table, candidate)
    until = clock.spent + clock.part(0.3)

    def in_time(done: int, total: int) -> None:
        if done < total and clock.spent > until:
            raise OutOfTime(f"did not finish within the time budget ({done} of {total} folds)")

    metric = "rmse" if table.regression else "error"
    reason = ""
    with clock.stage("learning curve"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for least in (0.1, 0.3, 0.6):
            try:
                curve = learning_curve(
                    learner,
                    X[rows],
                    table.task.y[rows],
                    sizes=np.unique(np.geomspace(least, 1.0, STEPS)),
                    metric=metric,
                    folds=found.folds,
                    random_state=session.seed,
                    progress=in_time,
                    **table.split_rule.of(rows),
                )
            except SeparatrixError as error:
                reason = str(error)
                if isinstance(error, OutOfTime):
                    break
                continue
            values = curve.to_dict()
            sides = [np.array(values[k]) for k in ("train", "validation")]
            means = [np.mean(v, axis=0).tolist() for v in sides]
            errors = [(np.std(v, axis=0, ddof=1) / np.sqrt(found.folds)).tolist() for v in sides]
            return LearningCurve(candidate.name, metric, values["steps"], *means, *errors)
    clock.leave_out("learning curve", reason[:200])
    return None
