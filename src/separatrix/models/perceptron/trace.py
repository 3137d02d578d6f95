"""What a perceptron's run leaves behind, and how to watch its proof from that.

A trace holds the start, the updated rows (8 bytes per update) and a fingerprint of the data. Together
with the data that is everything: ``replay`` walks through the updates again, to the bit.

Novikoff's proof (1962), from any start w0 and for any w* with g = min_i c_i y_i w*.x_i and
R = max_i c_i |x_i| (all vectors lifted; c_i, the weight of a row, is 1 as a rule): after k updates

    (N1)  w*.w_k  >=  w*.w0 + k g
    (N2)  |w_k|^2 <=  |w0|^2 + k R^2

and with |w*| = 1, g > 0, a = w*.w0 and h = R^2 - 2 g a together, since w*.w_k <= |w_k|,
    (N3)  k  <=  (h + sqrt(h^2 + 4 g^2 (|w0|^2 - a^2)))/(2 g^2),  from a zero start (R/g)^2.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.numerics.linear_scores import lifted_norms
from separatrix.validation import Labels, check_finite_vector, check_labels, check_table, check_weights


def fingerprint(X: Any, labels: Labels, weights: Floats | None) -> str:
    """A digest of checked rows, their labels and weights."""
    digest = hashlib.blake2b(digest_size=16)
    parts = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64))
    digest.update(repr((tuple(X.shape), labels.classes.tolist())).encode())
    for part in (*parts, labels.codes.astype(np.int64), np.empty(0) if weights is None else weights):
        digest.update(part.dtype.str.encode())
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Trace:
    """The start, the updated rows in order, and which data they describe.

    Attributes
    ----------
    start : array
        The lifted weights before the first update.
    rows : array of int
        The row of each update, in order.
    fingerprint : str
        A digest of the rows, labels and weights.
    positive : label
        The class that counts as +1.
    class_weight : dict or None
        Weights of the classes.
    bias : bool
        Whether the run had an intercept.
    normalize_rows : bool
        Whether rows were scaled to length 1.

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> model = Perceptron(trace=True).fit([[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    >>> len(model.trace_), model.trace_.rows[:4], model.trace_.start
    (4, array([2, 0, 1, 1]), array([0., 0.]))
    """

    start: Floats
    rows: NDArray[np.int64]
    fingerprint: str
    positive: Any
    class_weight: dict[Any, float] | None = None
    bias: bool = True
    normalize_rows: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    def replay(self, X: Any, y: Any, sample_weight: Any = None) -> Replay:
        """Walk through the updates again, on the data of the fit.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        sample_weight : array or None
            Weights of the rows; None: all 1.

        Returns
        -------
        Replay
            Weights, scores and lengths after each update, and ``proof`` against a given hyperplane.

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import Perceptron
        >>> X = np.array([(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)], dtype=float)
        >>> y = [-1, 1, 1, -1, -1, 1]
        >>> model = Perceptron.recipe("online", trace=True).fit(X, y)
        >>> model.trace_.replay(X, y).weights[:, :2]
        array([[ 0.,  0.],
               [ 1., -2.],
               [ 2., -1.],
               [ 3.,  1.]])
        """
        table = check_table(X)
        labels = check_labels(y, rows=X, n=table.n)
        weights = check_weights(sample_weight, table.n, rows=X)
        if fingerprint(table.X, labels, weights) != self.fingerprint:
            raise DataError(
                "these are not the rows, labels and weights of the trace: replay it on the data of the fit."
            )
        own = labels.classes == self.positive
        signs = np.where(own[labels.codes], 1.0, -1.0)
        step = np.ones(table.n) if weights is None else weights.copy()
        if self.class_weight is not None:
            step *= np.array([self.class_weight[label] for label in labels.classes.tolist()])[labels.codes]
        norm = lifted_norms(kernels.rows(table.X), self.bias) if self.normalize_rows else None
        if norm is not None:
            step /= norm
        return Replay(self, table.X, signs, step, norm)


@dataclass(frozen=True)
class Replay:
    """Every update again: weights, scores, lengths, and the inequalities of the proof.

    Arrays have one entry per update, or one more (from the start, k = 0) where they describe weights.
    """

    trace: Trace
    X: Any
    signs: Floats
    step: Floats
    norm: Floats | None

    def __len__(self) -> int:
        return len(self.trace)

    def lifted_row(self, i: int) -> Floats:
        """Row i as the run saw it: with its 1, and scaled where rows were."""
        row = self.X[i] if isinstance(self.X, np.ndarray) else self.X[[i]].toarray()[0]
        lifted = np.append(row.astype(np.float64), 1.0 if self.trace.bias else 0.0)
        return lifted if self.norm is None else lifted / self.norm[i]

    def move(self, i: int) -> Floats:
        """What an update at row i adds to the lifted weights: c y x."""
        c = self.step[i] if self.norm is None else self.step[i] * self.norm[i]
        return np.asarray(c * self.signs[i] * self.lifted_row(i))

    def walk(self) -> Iterator[Floats]:
        """The lifted weights (d weights, then the bias) at the start and after each update."""
        w = self.trace.start.copy()
        yield w.copy()
        for i in self.trace.rows.tolist():
            row = self.X[i] if isinstance(self.X, np.ndarray) else self.X[[i]].toarray()[0]
            a = self.signs[i] * self.step[i]
            w[:-1] += a * row.astype(np.float64)
            if self.trace.bias:
                w[-1] += a
            yield w.copy()

    def after(self, k: int) -> Floats:
        """The lifted weights after update k."""
        if not 0 <= k <= len(self):
            raise DataError(f"update {k} does not exist: the trace has {len(self)}.")
        return next(w for at, w in enumerate(self.walk()) if at == k)

    @cached_property
    def weights(self) -> Floats:
        """All lifted weights, one row after each update."""
        return np.array(list(self.walk()))

    @cached_property
    def norms2(self) -> Floats:
        """|w_k|^2, lifted."""
        return np.array([float(w @ w) for w in self.walk()])

    @cached_property
    def margins(self) -> tuple[Floats, Floats]:
        """y s(x) of each updated row, before and after its update."""
        before, after = np.empty(len(self)), np.empty(len(self))
        walk = self.walk()
        w = next(walk)
        for k, (i, moved) in enumerate(zip(self.trace.rows.tolist(), walk, strict=True)):
            z = self.signs[i] * self.lifted_row(i)
            before[k], after[k] = z @ w, z @ moved
            w = moved
        return before, after

    def proof(self, coef: ArrayLike, intercept: float = 0.0) -> Proof:
        """The two inequalities and the cosine against a given w*, b*."""
        star = np.append(check_finite_vector(coef, what="coef"), check_finite_vector([intercept], what="intercept"))
        if len(star) != len(self.trace.start):
            raise DataError(f"coef has {len(star) - 1} entries and the rows have {len(self.trace.start) - 1} features.")
        if not self.trace.bias and star[-1]:
            raise DataError(f"intercept is {star[-1]:g}, but the run had no bias: leave it out.")
        moves = (self.move(int(i)) for i in np.flatnonzero(self.step > 0))
        margins, lengths = zip(*((float(z @ star), float(z @ z)) for z in moves), strict=True)
        inner = np.array([float(w @ star) for w in self.walk()])
        return Proof(star, min(margins), max(lengths), inner, self.norms2)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """One entry per update: its row, the label's sign, y s before and after, |w|^2 after."""
        before, after = self.margins
        rows = self.trace.rows
        return {
            "update": np.arange(1, len(self) + 1),
            "row": rows,
            "sign": self.signs[rows].astype(np.int64),
            "margin_before": before,
            "margin_after": after,
            "norm2": self.norms2[1:],
        }

    def to_frame(self) -> Any:
        """The same as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def plot(self, coef: ArrayLike, intercept: float = 0.0, ax: Any = None) -> Any:
        """Draw the proof against w*: both sides of both inequalities, update by update."""
        return self.proof(coef, intercept).plot(ax)

    def plot_path(self, ax: Any = None) -> Any:
        """Draw the weights as a path: w0 and w1, or w and b of one column."""
        from separatrix.plotting.perceptron_runs import plot_weight_path

        names = ["w", "b"] if len(self.trace.start) == 2 else ["w0", "w1"]
        return plot_weight_path(self.weights, names=names, ax=ax)

    def plot_mistakes(self, ax: Any = None) -> Any:
        """Draw which row each update came from."""
        from separatrix.plotting.perceptron_runs import plot_mistakes

        return plot_mistakes(self.trace.rows, len(self.signs), ax=ax)

    def plot_update(self, k: int, ax: Any = None) -> Any:
        """Draw update number k, from 1, of a run in two columns: the line before and after, and y·x."""
        from separatrix.plotting.perceptron_runs import plot_update

        if not 1 <= k <= len(self):
            raise DataError(f"update {k} does not exist: the trace has {len(self)}.")
        w, i = self.after(k - 1), int(self.trace.rows[k - 1])
        dense = self.X if isinstance(self.X, np.ndarray) else self.X.toarray()
        row, sign, size = self.lifted_row(i)[:-1], int(self.signs[i]), float(self.step[i])
        if self.norm is not None:
            row, size = row * self.norm[i], float(self.step[i])
        return plot_update(
            w[:-1], row, sign, float(w[-1]), fit_intercept=self.trace.bias, step=size, X=dense, signs=self.signs, ax=ax
        )


@dataclass(frozen=True, slots=True)
class Proof:
    """Both sides of Novikoff's two inequalities after k = 0, 1, 2, ... updates, and the cosine between w_k and w*."""

    star: Floats
    gamma: float
    radius2: float
    inner: Floats
    norms2: Floats

    @property
    def inner_bound(self) -> Floats:
        """The bound from below of w*.w_k:  w*.w0 + k g"""
        return np.asarray(self.inner[0] + self.gamma * np.arange(len(self.inner)))

    @property
    def norms2_bound(self) -> Floats:
        """The bound from above of |w_k|^2:  |w0|^2 + k R^2"""
        return np.asarray(self.norms2[0] + self.radius2 * np.arange(len(self.norms2)))

    @property
    def cosine(self) -> Floats:
        """cos(w_k, w*); not a number while w_k = 0."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.inner / (np.sqrt(self.norms2) * np.linalg.norm(self.star)))

    @property
    def bound(self) -> float:
        """The most updates that are possible by both bounds; infinite where w* does not separate."""
        if not self.gamma > 0:
            return math.inf
        length = float(np.linalg.norm(self.star))
        g, a, start2 = self.gamma / length, float(self.inner[0]) / length, float(self.norms2[0])
        h = self.radius2 - 2 * g * a
        return (h + math.sqrt(h * h + 4 * g * g * max(start2 - a * a, 0.0))) / (2 * g * g)

    def plot(self, ax: Any = None) -> Any:
        """Mistakes on the axis; w*.w_k above its line, |w_k| |w*| below its curve: they must meet by the bound."""
        from separatrix.plotting.perceptron_runs import plot_proof

        length = float(np.linalg.norm(self.star))
        return plot_proof(self.inner, self.inner_bound, self.norms2, self.norms2_bound, length, self.bound, ax)
