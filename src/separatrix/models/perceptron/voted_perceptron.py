"""The voted perceptron (Freund & Schapire 1999): no single w, but a vote of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix.arrays import Floats
from separatrix.models.perceptron.class_vectors import ClassVectors, OneAgainstRest
from separatrix.models.perceptron.mistake_driven import Run
from separatrix.models.perceptron.perceptron_rule import LabelledRows
from separatrix.models.perceptron.single_row_tables import OneTable
from separatrix.models.perceptron.streaming import Streaming
from separatrix.models.perceptron.voted_rule import FORGOTTEN, Voted, vote_scores
from separatrix.numerics.status import Status
from separatrix.protocol import need_limit
from separatrix.validation import Labels, Table


class VotedPerceptron(Streaming, OneTable):
    """A perceptron in which every vector on its path votes, with as many votes as rows it has survived.

    The path is the perceptron's: w += y x, b += y on a mistake. A row's score is the sum over vectors of
    votes · sign(w . x + b), divided by all votes, a zero score voting +1; it lies in [-1, 1] and there is
    no single w. Memory is bounded: beside the current vector at most ``max_vectors`` are kept for each
    class, and when they are full the vector with the fewest votes is forgotten, the oldest of equals;
    ``forgotten_votes_`` says how many votes went with them.

    Parameters
    ----------
    max_vectors : int or inf, default=1000
        Vectors kept for each class. They take max_vectors · (d + 1) · 8 bytes, as they come to be needed.
    start : {"zeros", "ones", "random"} or array of d or d + 1 numbers, default="zeros"
        The first weights; "random" draws standard normals. An array may carry the bias as its last entry.
    order : {"cyclic", "shuffle"}, default="shuffle"
        Passes in the order given, or shuffled anew each time.
    tie : {"mistake", "positive"}, default="mistake"
        Whether a score of zero is a mistake while learning, or counts as +1.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a vote that ends in a draw predicts for two classes; "undefined" gives None there.
    normalize_rows : bool, default=False
        Scale each lifted row to length 1 (a zero row is left as it is).
    fit_intercept : bool, default=True
        Whether there is a bias b.
    max_epochs : int, inf or None, default=None
        Limit on passes; None ends the run once 10,000 looks (and 5 passes) have brought no pass with fewer
        mistakes, and after 1,000 passes.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the size of the updates of a class, as ``sample_weight`` does those of a row.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the random start and of the order "shuffle".
    verbose : bool, default=False
        Say on stderr how each pass went.

    Attributes
    ----------
    vectors_ : list of arrays (m, d + 1), one for two classes or one a class: d weights, then the bias
    votes_ : list of arrays (m,) : the votes of each vector
    forgotten_votes_ : votes that were forgotten for want of room, over all classes
    classes_ : the labels, sorted; with two of them the second is the positive one
    n_iter_ : passes made; visits_ : rows looked at
    mistakes_ : updates made; epoch_mistakes_ : the same for each pass
    errors_ : rows that the vote gets wrong; for two classes a draw is an error where ``tie`` says so
    status_ : why the run ended, a :class:`Status`
    """

    multiclass: str = "ovr"
    warm_start: bool = False
    vectors_: list[Floats]
    votes_: list[NDArray[np.int64]]
    forgotten_votes_: int

    def __init__(
        self,
        *,
        max_vectors: float = 1000,
        start: str | ArrayLike = "zeros",
        order: str = "shuffle",
        tie: str = "mistake",
        boundary: str = "positive",
        normalize_rows: bool = False,
        fit_intercept: bool = True,
        max_epochs: float | None = None,
        class_weight: Any = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.max_vectors = max_vectors
        self.start = start
        self.order = order
        self.tie = tie
        self.boundary = boundary
        self.normalize_rows = normalize_rows
        self.fit_intercept = fit_intercept
        self.max_epochs = max_epochs
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        self._check_shared()
        need_limit("max_vectors", self.max_vectors, 1)

    def _rule(self) -> Voted:
        return Voted(self.fit_intercept, self.tie == "mistake", int(min(self.max_vectors, 2**62)))

    def _judge(self, status: Status, chunk: LabelledRows, lifted: Floats) -> tuple[Status, int]:
        return status, 0  # the vote is counted once all classes are learned

    def _show_model(self, book: ClassVectors) -> None:
        rule, v = self._rule(), book.vectors
        shown = book.shown() if isinstance(book, OneAgainstRest) else slice(0)
        electorates = [rule.electorate(v, k) for k in range(len(v))[shown]]
        self.vectors_ = [vectors for vectors, _ in electorates]
        self.votes_ = [votes for _, votes in electorates]
        self.forgotten_votes_ = int(v.beside["account"][shown, FORGOTTEN].sum())

    def _errors(self, table: Table, labels: Labels, runs: list[Run], combined: Floats | None) -> int | None:
        if self.status_ is Status.INTERRUPTED:  # a vote on all rows may take long
            return None
        scores = self._scores_as_given(table.X)
        counted = np.ones(table.n, dtype=bool) if combined is None else combined > 0
        if scores.ndim == 2:
            wrong = scores.argmax(axis=1) != labels.codes
        else:
            margins = labels.signs() * scores
            wrong = ~((margins > 0) | ((margins == 0) & (self.tie == "positive") & (labels.codes == 1)))
        errors = int(np.count_nonzero(wrong & counted))
        if self.status_ is Status.CONVERGED and errors:
            self.status_ = Status.SETTLED
        elif self.status_ in (Status.PLATEAU, Status.MAX_EPOCHS) and not errors:
            self.status_ = Status.SEPARATED
        return errors

    def _scores_as_given(self, X: Any) -> Floats:
        scores = [vote_scores(X, w, votes) for w, votes in zip(self.vectors_, self.votes_, strict=True)]
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def decision_function(self, X: Any) -> Floats:
        """The vote on each row, in [-1, 1]; with more than two classes one column a class."""
        return self._scores_as_given(self._check_rows(X).X)
