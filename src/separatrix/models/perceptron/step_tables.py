"""A run of a perceptron look by look: row, score, label, mistake and the weights after each look.

The learner is fitted once to know how many rows it looks at; the looks are then made again one at a time, by the
same kernel with the same order of rows, so that the weights are those of the fit, to the bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError, held_warnings
from separatrix.models.class_labels import need_two_classes, weights_of_rows
from separatrix.models.perceptron.mistake_driven import PASSES, MistakeDriven
from separatrix.models.perceptron.online_rule import first_vector
from separatrix.models.perceptron.passes import NO_LIMIT, Order
from separatrix.numerics.linear_scores import row_scores
from separatrix.numerics.seeds import seed_state
from separatrix.numerics.status import Status
from separatrix.validation import Labels, check_labels, check_lengths, check_table, check_weights

SHOWN = 8  # weights of a row of the printed table
PRINTED = 60  # looks that are printed


class Step(NamedTuple):
    """One look at a row: what was found, and the weights after it."""

    epoch: int
    row: int
    label: Any
    score: float
    predicted: Any
    mistake: bool
    update: bool
    coef: Floats
    intercept: float


@dataclass(frozen=True)
class StepTrace:
    """The looks of a run in order, as arrays with one entry a look.

    Attributes
    ----------
    epoch : number of the pass, from 1; 1 throughout for the orders without passes
    row : the row looked at, from 0
    label, predicted : its label, and the class of its score before the look; a score of 0 predicts ``classes[1]``
    score : w.x + b before the look (of the scaled row where the learner scales rows)
    mistake : whether the rule counts the look as a mistake
    update : whether the weights moved; the same for rules that move on mistakes only
    coef, intercept : the weights after the look
    start : the lifted weights before the first look: d weights, then b
    classes : the negative and the positive label
    complete : whether all looks of the run are here; False where ``max_steps`` cut it
    visits : how many rows the whole run looked at
    status : how the run ended, a :class:`Status`

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> from separatrix.models.perceptron import step_trace
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> steps = step_trace(Perceptron.recipe("online"), X, [-1, 1, 1, -1, -1, 1])
    >>> steps.row[steps.mistake], steps.coef[-1]
    (array([0, 2, 4]), array([3., 1.]))
    """

    epoch: NDArray[np.int64]
    row: NDArray[np.int64]
    label: NDArray[Any]
    score: Floats
    predicted: NDArray[Any]
    mistake: NDArray[np.bool_]
    update: NDArray[np.bool_]
    coef: Floats
    intercept: Floats
    start: Floats
    classes: tuple[Any, Any]
    complete: bool
    visits: int
    status: Status

    def __len__(self) -> int:
        return len(self.row)

    def __iter__(self) -> Iterator[Step]:
        columns = (self.epoch, self.row, self.label, self.score, self.predicted, self.mistake, self.update)
        yield from map(Step, *(c.tolist() for c in columns), self.coef, self.intercept.tolist())

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """One array a column: step, epoch, row, label, score, predicted, mistake, update, w0, w1, ..., b.

        Returns
        -------
        dict of arrays

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> from separatrix.models.perceptron import step_trace
        >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
        >>> steps = step_trace(Perceptron.recipe("online"), X, [-1, 1, 1, -1, -1, 1])
        >>> steps.to_dict()["score"]
        array([ 0.,  1., -1., -2.,  0.,  2.])
        """
        facts = {name: getattr(self, name) for name in Step._fields[:-2]}
        weights = {f"w{j}": column for j, column in enumerate(self.coef.T)}
        return {"step": np.arange(1, len(self) + 1), **facts, **weights, "b": self.intercept}

    def to_frame(self) -> Any:
        """The same as a pandas frame.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> from separatrix.models.perceptron import step_trace
        >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
        >>> steps = step_trace(Perceptron.recipe("online"), X, [-1, 1, 1, -1, -1, 1])
        >>> steps.to_frame().shape
        (6, 11)
        """
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def lines(self, limit: int | None = None) -> Iterator[str]:
        """The table line by line, from its header; of at most ``limit`` looks.

        Parameters
        ----------
        limit : int or None
            Looks to show; None: all of them.

        Yields
        ------
        str

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> from separatrix.models.perceptron import step_trace
        >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
        >>> steps = step_trace(Perceptron.recipe("online"), X, [-1, 1, 1, -1, -1, 1])
        >>> len(list(steps.lines()))
        8
        """
        both = bool((self.mistake != self.update).any())
        header = ["pass", "row", "label", "score", "predicted", "mistake", *(["update"] if both else []), "w", "b"]
        cells = [["", "", "", "", "", "", *([""] if both else []), _vector(self.start[:-1]), f"{self.start[-1]:g}"]]
        for at, step in enumerate(self):
            if limit is not None and at == limit:
                break
            moved = [_mark(step.update)] if both else []
            own = [str(step.epoch), str(step.row), str(step.label), f"{step.score:.6g}", str(step.predicted)]
            cells.append([*own, _mark(step.mistake), *moved, _vector(step.coef), f"{step.intercept:.6g}"])
        widths = [max(len(line[j]) for line in [header, *cells]) for j in range(len(header))]
        for line in [header, *cells]:
            yield "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)).rstrip()

    def __str__(self) -> str:
        kept = min(len(self), PRINTED)
        lines = list(self.lines(kept))
        if kept < len(self) or not self.complete:
            lines.append(f"… the first {kept:,} of {self.visits:,} looks")
        updates = int(self.update.sum())
        found = f"{updates:,} update{'' if updates == 1 else 's'} in {len(self):,} look{'' if len(self) == 1 else 's'}"
        lines.append(f"{found}; {self.status.value if self.complete else 'cut by max_steps'}")
        return "\n".join(lines)


def step_trace(
    learner: Any, X: Any, y: Any, *, positive: Any = None, sample_weight: Any = None, max_steps: int = 10_000
) -> StepTrace:
    """Run a perceptron look by look and keep each one: row, score, label, mistake, w and b.

    Parameters
    ----------
    learner : Perceptron or another learner of its family
        Its parameters say what is done; it is not changed, and need not be fitted. For the averaged and the voted
        perceptron, and the pocket, w and b are the vector that moves, not what the model predicts with.
    X : array, sparse matrix or frame of n rows and d columns
    y : n labels
    positive : label, optional
        With more than two classes, the class whose vector is followed (one against the rest).
    sample_weight : n numbers, optional
        Sizes of the updates; rows of weight zero are not looked at.
    max_steps : int, default=10000
        Looks that are kept; the run is not shortened by it.

    Returns
    -------
    StepTrace
        The orders "any" and "worst" choose a row among all of them: there a step is an update.

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> from separatrix.models.perceptron import step_trace
    >>> X = [(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)]
    >>> y = [-1, 1, 1, -1, -1, 1]
    >>> print(step_trace(Perceptron.recipe("online"), X, y))
    pass  row  label  score  predicted  mistake        w  b
                                                  (0, 0)  0
       1    0     -1      0          1      yes  (1, -2)  0
       1    1      1      1          1        -  (1, -2)  0
       1    2      1     -1         -1      yes  (2, -1)  0
       1    3     -1     -2         -1        -  (2, -1)  0
       1    4     -1      0          1      yes   (3, 1)  0
       1    5      1      2          1        -   (3, 1)  0
    3 updates in 6 looks; stopped at a limit, and the weights separate all rows
    """
    if isinstance(max_steps, bool) or not isinstance(max_steps, (int, np.integer)) or max_steps < 1:
        raise ParameterError(f"max_steps is {max_steps!r}: it must be a whole number of at least 1.")
    run = StepReplay(learner, X, y, positive, sample_weight)
    kept = list(islice(run, int(max_steps)))
    epochs, at_rows, scores, mistakes, updates, lifted = zip(*kept, strict=True) if kept else ((),) * 6
    found, score = np.array(at_rows, dtype=np.int64), np.array(scores, dtype=np.float64)
    after = np.array(lifted, dtype=np.float64).reshape(-1, run.table.d + 1)
    pair = np.array(run.classes) if run.two_classes else np.array(run.classes, dtype=object)
    return StepTrace(
        np.array(epochs, dtype=np.int64),
        found,
        pair[(run.signs[found] > 0).astype(np.intp)],
        score,
        pair[(score >= 0).astype(np.intp)],
        np.array(mistakes, dtype=bool),
        np.array(updates, dtype=bool),
        after[:, :-1],
        after[:, -1],
        run.start,
        run.classes,
        run.left == 0,
        run.visits,
        run.status,
    )


class Look(NamedTuple):
    """One look at a row; ``lifted`` are the weights after it, the intercept last."""

    epoch: int
    row: int
    score: float
    mistake: bool
    update: bool
    lifted: Floats


class StepReplay:
    """A run that is made again one look at a time, when it is iterated over; ``left`` are the looks to come."""

    def __init__(self, learner: Any, X: Any, y: Any, positive: Any = None, sample_weight: Any = None) -> None:
        if not isinstance(learner, MistakeDriven):
            raise ParameterError(
                f"{type(learner).__name__} keeps no weights w that move row by row: step_trace takes Perceptron, "
                "AveragedPerceptron, VotedPerceptron, PocketPerceptron, MarginPerceptron, PassiveAggressive or AROW."
            )
        learner._check_parameters()
        if learner.multiclass == "kesler":
            raise ParameterError("multiclass='kesler' moves two vectors at once: step_trace needs multiclass='ovr'.")
        table, labels = check_table(X), check_labels(y, rows=X)
        check_lengths(table.n, len(labels.codes), "y")
        need_two_classes(labels, type(learner).__name__)
        k = _followed(labels, positive)
        weights = weights_of_rows(labels, check_weights(sample_weight, table.n, rows=X), learner.class_weight)
        seed = int(seed_state(learner.random_state)[0])
        changes = {"class_weight": None, "random_state": seed, "verbose": False, "warm_start": False, "trace": True}
        known = learner.get_params()
        whole = type(learner)(**{name: changes.get(name, value) for name, value in known.items()})
        with held_warnings():  # how the run ended stands in the trace
            whole.fit(table.X, labels.codes == k, sample_weight=weights)
        signs = labels.signs(k)
        if weights is not None:
            signs[weights == 0] = 0
        names = labels.classes.tolist()
        self.learner, self.table, self.signs, self.whole, self.weights = learner, table, signs, whole, weights
        self.chance = seed_state(seed)
        self.start = first_vector(learner.start, table.d, learner.fit_intercept, self.chance)
        self.two_classes = len(names) == 2
        self.classes = (names[1 - k] if self.two_classes else f"not {names[k]}", names[k])
        self.visits, self.status = int(whole.visits_), whole.status_
        passes = learner.order in (*PASSES, "restart")
        self.left = whole.visits_ if passes else len(whole.trace_.rows)  # type: ignore[union-attr]  # it was asked for

    def __iter__(self) -> Iterator[Look]:
        learner, table, signs = self.learner, self.table, self.signs
        rows = kernels.rows(table.X)
        step, norm = learner._steps(rows, self.weights)
        rule = learner._rule()
        vectors = rule.fresh(kernels.aligned(self.start[None]), kesler=False)
        kernel = rule.kernel(vectors)
        zero_is_mistake = learner.tie == "mistake"
        for epoch, order, at, i in _looks(learner.order, table.n, self.chance, self.whole.trace_, vectors.updates):
            if self.left == 0:
                return
            self.left -= 1
            if signs[i] == 0:
                continue
            s = float(row_scores(table.X[i : i + 1], vectors.lifted[0])[0])
            m = float(signs[i]) * s
            moved, _, _ = kernel.binary(0, rows, signs, step, order, at, at + 1, NO_LIMIT)
            wrong = bool(moved) if learner._moves_on_mistakes else not (m > 0 or (m == 0 and not zero_is_mistake))
            score = s if norm is None else s / norm[i]
            yield Look(epoch, i, score, wrong, bool(moved), vectors.lifted[0].copy())


def _followed(labels: Labels, positive: Any) -> int:
    """The position of the class whose vector is followed."""
    names = labels.classes.tolist()
    if positive is None:
        if len(names) > 2:
            raise DataError(
                f"y has {len(names)} classes, each with a vector of its own: choose one with positive=, for "
                f"instance positive={names[0]!r}."
            )
        return 1
    if positive not in names:
        raise ParameterError(f"positive is {positive!r}, which is not a class of y ({names}).")
    return int(names.index(positive))


def _looks(
    order: str, n: int, chance: Any, trace: Any, updates: NDArray[np.int64]
) -> Iterator[tuple[int, Any, int, int]]:
    """Pass, order of rows, position in it and row of each look; ``updates`` tells whether the last one moved."""
    if order in PASSES:
        passes, epoch = Order.named(order, chance), 0
        while True:
            epoch += 1
            rows = passes.next(n)
            for at in range(n):
                yield epoch, rows, at, at if rows is None else int(rows[at])
    elif order == "restart":
        at = 0
        while at < n:
            before = int(updates[0])
            yield 1, None, at, at
            at = 0 if updates[0] > before else at + 1
    else:
        for i in trace.rows.tolist():
            yield 1, None, i, i


def _mark(yes: bool) -> str:
    return "yes" if yes else "-"


def _vector(w: Floats) -> str:
    shown = [f"{value:.6g}" for value in (w if len(w) <= SHOWN else w[: SHOWN - 1]).tolist()]
    return f"({', '.join(shown)}{', …' if len(w) > SHOWN else ''})"
