"""The voted perceptron (Freund & Schapire 1999): no single w, but a vote of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from separatrix import kernels
from separatrix.arrays import Floats, Indices
from separatrix.models.perceptron.class_vectors import ClassVectors, OneAgainstRest
from separatrix.models.perceptron.mistake_driven import FinishedRun
from separatrix.models.perceptron.online_rule import Arrays, OnlineRule, Vectors
from separatrix.models.perceptron.passes import SLICE, LabelledRows
from separatrix.models.perceptron.single_row_tables import RowAsTable
from separatrix.models.perceptron.streaming import Streaming
from separatrix.numerics.status import Status
from separatrix.parameters import boundary, categories, choice, class_weights, count, flag, learner, seed
from separatrix.validation import Labels, Table

ALIVE, USED, _, FORGOTTEN = range(4)  # of the account (kernels, voted)
FIRST_ROOM = 16


@dataclass(frozen=True, slots=True)
class VotedUpdates(OnlineRule):
    """The perceptron's path, of which at most ``max_vectors`` vectors are kept beside the current one."""

    zero_is_mistake: bool
    max_vectors: int

    def beside(self, lifted: Floats) -> Arrays:
        count, room = len(lifted), min(FIRST_ROOM, self.max_vectors)
        return {
            "kept": np.zeros((count, room, lifted.shape[1])),
            "votes": np.zeros((count, room), dtype=np.int64),
            "born": np.zeros((count, room), dtype=np.int64),
            "account": np.zeros((count, 4), dtype=np.int64),
        }

    def kernel(self, v: Vectors) -> VotedKernel:
        return VotedKernel(self, v)

    def electorate(self, v: Vectors, k: int) -> tuple[Floats, Indices]:
        """The vectors that vote and their votes, the current one last."""
        used, alive = v.beside["account"][k, USED], v.beside["account"][k, ALIVE]
        vectors = np.concatenate([v.beside["kept"][k, :used], v.lifted[k : k + 1]])
        return vectors, np.append(v.beside["votes"][k, :used], alive)


@dataclass(slots=True)
class VotedKernel:
    """Passes that give the kept vectors more room as they need it."""

    rule: VotedUpdates
    v: Vectors

    def binary(
        self, k: int, X: Any, y: Any, step: Any, order: Any, begin: int, end: int, limit: int, *ahead: Any
    ) -> tuple[int, int, int]:
        """As :class:`OnlineKernel` has it; votes are not sped up by looking ahead."""
        updates, last, t = 0, -1, begin
        while t < end and updates < limit:
            left = limit - updates
            b = self.v.beside
            if (room := b["kept"].shape[1]) < self.rule.max_vectors:
                if b["account"][k, USED] == room:
                    self._grow(min(2 * room, self.rule.max_vectors))
                    continue
                left = min(left, room - int(b["account"][k, USED]))
            moved, visited, at = kernels.voted_pass(
                X, y, step, order, self.v.lifted[k], self.rule.bias, self.rule.zero_is_mistake,
                b["kept"][k], b["votes"][k], b["born"][k], b["account"][k], t, end, left,
            )  # fmt: skip
            updates, t, last = updates + moved, t + visited, at if moved else last
        self.v.updates[k] += updates
        self.v.visits[k] += t - begin
        return updates, t - begin, last

    def _grow(self, room: int) -> None:
        for name in ("kept", "votes", "born"):
            old = self.v.beside[name]
            new = np.zeros((old.shape[0], room, *old.shape[2:]), dtype=old.dtype)
            new[:, : old.shape[1]] = old
            self.v.beside[name] = new


@learner
class VotedPerceptron(Streaming, RowAsTable):
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
        The first weights; "random" draws standard normals. An array may hold the intercept as its last entry.
    order : {"cyclic", "shuffle", "blocks"}, default="shuffle"
        Passes over the rows as given, in a new random order each time, or by random blocks of 65,536 rows, each of them
        shuffled, for rows that lie in a file.
    tie : {"mistake", "positive"}, default="mistake"
        Whether a score of zero is a mistake while learning, or counts as +1.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a vote that ends in a draw predicts for two classes; "undefined" gives None there.
    normalize_rows : bool, default=False
        Scale each lifted row to length 1 (a zero row is left as it is).
    fit_intercept : bool, default=True
        Whether there is an intercept b.
    max_iter : int, inf or None, default=None
        Limit on passes; None ends the run once 10,000 looks (and 5 passes) have brought no pass with fewer
        mistakes, and after 1,000 passes.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the size of the updates of a class, as ``sample_weight`` does those of a row.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the random start and of the orders "shuffle" and "blocks".
    verbose : bool, default=False
        Report each pass on standard error.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference (``references_``). None: such columns are an error.

    Attributes
    ----------
    vectors_ : list of arrays (m, d + 1), one for two classes or one per class: d weights, then the bias
    votes_ : list of arrays (m,) : the votes of each vector
    forgotten_votes_ : votes that were forgotten because there was no room, over all classes
    classes_ : the labels, sorted; with two of them the second is the positive one
    n_iter_ : passes made; visits_ : rows looked at
    mistakes_ : updates made; epoch_mistakes_ : the same for each pass
    errors_ : rows that the vote misclassifies; for two classes a draw is an error where ``tie`` says so
    status_ : why the run ended, a :class:`Status`

    Examples
    --------
    >>> from separatrix import VotedPerceptron
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> VotedPerceptron().fit(X, y).predict([[0.5], [3.5]]).tolist()
    ['no', 'yes']
    """

    max_vectors: float = count(1000, inf=True)
    start: str | ArrayLike = choice("zeros", "ones", "random", default="zeros", other="array of d or d + 1 numbers")
    order: str = choice("cyclic", "shuffle", "blocks", default="shuffle")
    tie: str = choice("mistake", "positive", default="mistake")
    boundary: str = boundary()
    normalize_rows: bool = flag(False)
    fit_intercept: bool = flag(True)
    max_iter: float | None = count(None, inf=True)
    class_weight: Any = class_weights()
    random_state: Any = seed(0)
    verbose: bool = flag(False)
    categorical: str | None = categories()

    _moves_on_mistakes: ClassVar[bool] = True

    def _rule(self) -> VotedUpdates:
        return VotedUpdates(self.fit_intercept, self.tie == "mistake", int(min(self.max_vectors, 2**62)))

    def _judge(self, status: Status, chunk: LabelledRows, lifted: Floats) -> tuple[Status, int]:
        return status, 0  # the vote is counted once all classes are learned

    def _show_model(self, book: ClassVectors) -> None:
        rule, v = self._rule(), book.vectors
        shown = book.shown() if isinstance(book, OneAgainstRest) else slice(0)
        electorates = [rule.electorate(v, k) for k in range(len(v))[shown]]
        self.vectors_ = [vectors for vectors, _ in electorates]
        self.votes_ = [votes for _, votes in electorates]
        self.forgotten_votes_ = int(v.beside["account"][shown, FORGOTTEN].sum())

    def _errors(self, table: Table, labels: Labels, runs: list[FinishedRun], combined: Floats | None) -> int | None:
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
        elif self.status_ in (Status.PLATEAU, Status.MAX_ITERATIONS) and not errors:
            self.status_ = Status.SEPARATED
        return errors

    def _scores_as_given(self, X: Any) -> Floats:
        scores = [vote_scores(X, w, votes) for w, votes in zip(self.vectors_, self.votes_, strict=True)]
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def decision_function(self, X: Any) -> Floats:
        """The vote on each row, in [-1, 1]; with more than two classes one column per class.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n,), or (n, K) for K > 2 classes

        Examples
        --------
        >>> from separatrix import VotedPerceptron
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> VotedPerceptron().fit(X, y).decision_function([[0.0], [4.0]])
        array([-0.66666667,  1.        ])
        """
        return self._scores_as_given(self._check_rows(X).X)


def vote_scores(X: Any, vectors: Floats, votes: Indices) -> Floats:
    """Votes for +1 less those for -1, as a share of all votes."""
    out = np.empty(X.shape[0])
    vectors = np.ascontiguousarray(vectors)
    some = max(1, SLICE // vectors.size)
    for begin in range(0, len(out), some):  # Ctrl-C comes through between two calls
        kernels.votes(kernels.rows(X[begin : begin + some]), vectors, votes, out[begin : begin + some])
    return out / max(1, int(votes.sum()))
