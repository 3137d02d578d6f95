"""The logistic loss of K classes, of the rows of a leaf.

    loss_i = c_i (log sum_k exp s_ik - s_i,y_i),    s_ik = u_k.x_i + b_k + o_ik for k vectors, 0 (+ o) for one class

There are K - 1 vectors: of two classes that of the second, against the first; of more those of all classes but the
last, against the last. Scores, their changes and sums over rows are arrays of one row for each vector. ``state`` is
what a point knows of each row: of two classes (c p (1 - p), 1 - P(y|x)) by one fused kernel, of more the probabilities
of all K classes (K, n) and 1 - P(y|x). It is kept in the memo of the leaf, and made again where that forgets it.

With p the probabilities, the Hessian in the scores of a row is c (diag p - pp'), and a change s of its scores moves its
residuals by D = c (diag p - pp') s, to first order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats, keep_freed_blocks
from separatrix.losses.information import class_information
from separatrix.numerics.moments import Moments, merge
from separatrix.rows.protocol import Leaf, Pass, added

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
CACHE = 2**18  # numbers of a chunk of rows, their scores and probabilities: it stays in the cache between two products
FEW = 3  # vectors that are multiplied one by one, which BLAS does faster
TERMS = 8  # numbers that are read in the time of the bound of a divergence: its operations take Python's lock in turn

At = tuple[int, Floats]  # the number of a point, by which its state is kept, and its vectors (K - 1, d + 1)
State = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class Standard:
    """About the mean and the scale of each column, in which rows are held in single precision."""

    mean: Floats
    scale: Floats


@dataclass(frozen=True, slots=True)
class Logistic:
    """The loss of ``classes``, with free intercepts if ``lift``; it knows rows by their scores."""

    classes: int
    lift: bool = True

    @property
    def vectors(self) -> int:
        return self.classes - 1

    @property
    def two(self) -> bool:
        return self.classes == 2

    # -- one row for each vector, and vectors of all classes ----------------------------------------

    def of_all(self, G: Floats) -> Floats:
        """Sums over rows of residuals for each vector, as those of all classes: they add up to zero."""
        return G if self.two else np.vstack([G, -G.sum(axis=0)])

    def symmetric(self, U: Floats) -> Floats:
        """The vectors of all classes with the same probabilities that add up to zero; of two classes the one."""
        if self.two:
            return U
        V = np.vstack([U, np.zeros(U.shape[1])])
        return np.asarray(V - V.mean(axis=0))

    def differences(self, V: Floats) -> Floats:
        """The vectors against the base class, of those of all classes."""
        return V if self.two else np.ascontiguousarray(V[:-1] - V[-1])

    def penalty(self, U: Floats) -> Floats:
        """The gradient of |W|^2/2, W the symmetric weights: of more than two classes U - (sum of U)/K."""
        W = U.copy()
        W[:, -1] = 0.0
        if not self.two:
            W -= W.sum(axis=0) / self.classes
        return W

    # -- a leaf at a point --------------------------------------------------------------------------

    def at(self, leaf: Leaf, at: At) -> tuple[float, Floats, State]:
        """Value, gradient (K - 1, d + 1) and state; kept until later points need the memory."""
        found = leaf.memo.points.get(at[0])
        if found is None:
            found = self._two(leaf, at[1]) if self.two else self._many(leaf, at[1])
            leaf.memo.keep(at[0], found)
        return found

    def state(self, leaf: Leaf, at: At) -> State:
        return self.at(leaf, at)[2]

    def _two(self, leaf: Leaf, U: Floats) -> tuple[float, Floats, State]:
        spare = leaf.memo.taken()
        h, q = spare[2] if spare is not None else (np.empty(leaf.n), np.empty(leaf.n))
        g, u = np.zeros((1, leaf.d + 1)), np.ascontiguousarray(U[0])
        value = kernels.logistic_pass(leaf.rows, signs(leaf), leaf.weights, leaf.offset, u, 0, leaf.n, g[0], h, q)
        return value, g, (h, q)

    def _many(self, leaf: Leaf, U: Floats) -> tuple[float, Floats, State]:
        X, codes, parts, zero = table(leaf), numbers(leaf), chunks(leaf, self.classes), not U.any()
        P, wrong, biases = np.empty((self.classes, leaf.n)), np.empty(leaf.n), np.append(U[:, -1], 0.0)

        def add(part: slice, G: Floats) -> float:
            s = P if len(parts) == 1 else np.empty((self.classes, part.stop - part.start))
            s[-1] = 0.0
            if zero:
                s[:-1] = 0.0
            else:
                products(X[part], U[:, :-1], s[:-1])
            if leaf.offset is not None:
                s += leaf.offset[part].T
            R, c = np.empty_like(s), None if leaf.weights is None else leaf.weights[part]
            loss = kernels.class_probabilities(s, biases, codes[part], c, s, R, wrong[part], None)
            if s is not P:
                P[:, part] = s
            add_sums(G, X[part], R[:-1])
            return float(loss)

        value, G = over_chunks(add, leaf, self.classes, parts)
        return value, G, (P, wrong)

    # -- changes of scores, and sums over the rows ---------------------------------------------------

    def scores(self, leaf: Leaf, T: Floats) -> Floats:
        """Changes of the scores by vectors, (K - 1, n)."""
        out = np.empty((self.vectors, leaf.n))
        if self.two:
            kernels.scores(leaf.rows, np.ascontiguousarray(T[0]), out[0])
            return out
        products(table(leaf), T[:, :-1], out)
        out += T[:, -1:]
        return out

    def sums(self, leaf: Leaf, D: Floats) -> Floats:
        """sum d_ki (x_i, 1) for each vector."""
        out = np.zeros((self.vectors, leaf.d + 1))
        if self.two:
            ones = np.append(np.zeros(leaf.d), 1.0)
            kernels.curvature_product(leaf.rows, np.ascontiguousarray(D[0]), ones, 0, leaf.n, out[0])
            return out
        add_sums(out, table(leaf), D)
        return out

    def bend(self, leaf: Leaf, state: State, S: Floats) -> Floats:
        """D of the module: how changes S of the scores move the residuals."""
        if self.two:
            return np.asarray(state[0] * S)
        P = state[0][:-1]
        D = P * S
        D -= P * D.sum(axis=0)
        if leaf.weights is not None:
            D *= leaf.weights
        return D

    def between(self, leaf: Leaf, state: State) -> Floats:
        """sum c (diag p - pp'): how intercepts move the sums of residuals, (K - 1, K - 1)."""
        if self.two:
            return np.array([[kernels.total(state[0])]])
        P = state[0][:-1]
        weighted = P if leaf.weights is None else leaf.weights * P
        out = -weighted @ P.T
        out[np.diag_indices(len(out))] = (weighted * (1.0 - P)).sum(axis=1)
        return np.asarray(out)

    def curvatures(self, leaf: Leaf, state: State) -> Floats:
        """c p (1 - p) of each row, for all classes (K, n); of two classes (1, n)."""
        if self.two:
            return state[0][None]
        h = state[0] * (1.0 - state[0])
        return h if leaf.weights is None else h * leaf.weights

    def sizes(self, leaf: Leaf, state: State) -> Floats:
        """The sizes of the residuals for each vector, (K - 1, n)."""
        if self.two:
            out = state[1][None].copy()
        else:
            out = state[0].copy()
            out[numbers(leaf), np.arange(leaf.n)] = state[1]
            out = out[:-1]
        return out if leaf.weights is None else out * leaf.weights

    def spent(self, leaf: Leaf, state: State, S: Floats) -> float:
        """A bound of  sum c KL(p'|p)  for  p' = p - (diag p - pp') S;  inf where p' would leave (0, 1).

        With p' = p (1 - s) a row has  sum p ((1 - s) log(1 - s) + s),  for |s| <= 1/2 at most
        sum p (s^2/2 + |s|^3/6 + s^4/6):  the first terms of the series, and twice the third for all that follow. Of two
        classes, whose s are q S and -p S, that is at most  p q (S^2/2 + |S|^3/6 + S^4/6)  for |S| <= 1/2.
        """

        def part(block: tuple[int, int]) -> float:
            own = slice(*block)
            moved = S[:, own]
            if self.two:
                v, s = state[0][own], np.abs(moved[0])
            else:
                P = state[0][:, own]
                s = np.vstack([moved, np.zeros(moved.shape[1])])
                s -= np.einsum("ij,ij->j", P, s)
                v, s = P if leaf.weights is None else P * leaf.weights[own], np.abs(s, out=s)
            if float(s.max(initial=0.0)) <= 0.5:
                return float(np.vdot(v, s * s * (0.5 + s * (1.0 + s) / 6.0)))
            return self._spent_far(leaf, state, moved, own)

        with np.errstate(all="ignore"):
            return float(sum(kernels.each_part(part, kernels.row_blocks(leaf.n, TERMS * self.classes * leaf.n))))

    def _spent_far(self, leaf: Leaf, state: State, S: Floats, own: slice) -> float:
        """The same of some rows, by logarithms: nearly certain rows may move by more than half of a probability."""
        if self.two:
            q, ahead = state[1][own], signs(leaf)[own] > 0
            P = np.where(ahead, [q, 1.0 - q], [1.0 - q, q])
            s = np.array([-P[1] * S[0], P[0] * S[0]])
        else:
            P, s = state[0][:, own], np.vstack([S, np.zeros(S.shape[1])])
            s -= np.einsum("ij,ij->j", P, s)
        s = np.where(P > 0, s, 0.0)
        if not float(s.max(initial=0.0)) < 1.0:
            return np.inf
        rows = (P * ((1.0 - s) * np.log1p(-s) + s)).sum(axis=0)
        return float(rows.sum() if leaf.weights is None else leaf.weights[own] @ rows)

    def least(self, leaf: Leaf, state: State) -> Floats:
        """a_i with  D.s >= a_i (range of s)^2  in every row: c p (1 - p), of several classes half of c min p."""
        if self.two:
            return state[0]
        low = 0.5 * state[0].min(axis=0)
        return np.asarray(low if leaf.weights is None else low * leaf.weights)

    def kept_share(self, state: State, before: State) -> float:
        """The least share of its curvature at another point that a row has left."""
        with np.errstate(all="ignore"):
            ratios = state[0] / before[0]
            if self.two:
                return float(ratios.min(initial=1.0))
            lowest = np.partition(ratios, 1, axis=0)[:2]  # curvature between two classes is p_j p_k
            return float((lowest[0] * lowest[1]).min(initial=1.0))

    # -- the Hessian -------------------------------------------------------------------------------

    def product(self, leaf: Leaf, at: At, T: Floats, standard: Standard | None) -> Floats:
        """The Hessian times T; with ``standard`` by rows in single precision, to about six digits."""
        state = self.state(leaf, at)
        if self.two:
            out = np.zeros((1, leaf.d + 1))
            kernels.curvature_product(leaf.rows, state[0], np.ascontiguousarray(T[0]), 0, leaf.n, out[0])
            return out
        if standard is not None:
            return self._narrow_product(leaf, at, T, standard)
        X, P = table(leaf), state[0][:-1]

        def add(part: slice, out: Floats) -> float:
            s, p = np.empty((self.vectors, part.stop - part.start)), P[:, part]
            products(X[part], T[:, :-1], s)
            s += T[:, -1:]
            s *= p
            s -= p * s.sum(axis=0)
            if leaf.weights is not None:
                s *= leaf.weights[part]
            add_sums(out, X[part], s)
            return 0.0

        return over_chunks(add, leaf, self.classes, chunks(leaf, self.classes))[1]

    def _narrow_product(self, leaf: Leaf, at: At, T: Floats, standard: Standard) -> Floats:
        Z: Any = narrow(leaf, standard)
        if leaf.memo.named.get("narrow point", (-1, None))[0] != at[0]:
            c = None if leaf.weights is None else leaf.weights.astype(np.float32)
            leaf.memo.named["narrow point"] = at[0], self.state(leaf, at)[0][:-1].astype(np.float32), c
        _, P, c = leaf.memo.named["narrow point"]
        V = np.empty_like(T)
        with np.errstate(over="ignore", invalid="ignore"):
            np.multiply(T[:, :-1], standard.scale, out=V[:, :-1])
            np.add(T[:, -1], T[:, :-1] @ standard.mean, out=V[:, -1])
            unit = float(np.abs(V).max())
            unit = unit if 0 < unit < np.inf else 1.0
            vectors = (V / unit).astype(np.float32)

        def add(part: slice, out: Floats) -> float:
            s, p = np.empty((self.vectors, part.stop - part.start), np.float32), P[:, part]
            products(Z[part], vectors, s)
            s *= p
            s -= p * s.sum(axis=0)
            if c is not None:
                s *= c[part]
            if len(s) > FEW:
                out += s @ Z[part]
            else:
                for k, r in enumerate(s):
                    out[k] += r @ Z[part]
            return 0.0

        out = over_chunks(add, leaf, self.classes, chunks(leaf, self.classes))[1]
        with np.errstate(over="ignore"):
            out[:, :-1] = (out[:, :-1] * standard.scale + out[:, -1:] * standard.mean) * unit
            out[:, -1] *= unit
        return out

    def gram(self, leaf: Leaf, at: At) -> Any:
        """What the Hessian is made of: moments of two classes, the information (K - 1, p, K - 1, p) of more."""
        state = self.state(leaf, at)
        if self.two:
            return Moments(leaf.d).add(leaf.X, None, None, state[0])
        return class_information(lifted(leaf, self.lift), state[0][:-1], leaf.weights)

    def slope(self, leaf: Leaf, S: Floats, a: float, biases: Floats) -> float:
        """The derivative of the loss by a, at scores a S with these intercepts (K - 1,)."""
        if self.two:
            g = np.zeros(2)
            column, at = kernels.rows(np.ascontiguousarray(S.T)), np.array([a, float(biases[0])])
            kernels.logistic_pass(column, signs(leaf), leaf.weights, leaf.offset, at, 0, leaf.n, g, None, None)
            return float(g[0])
        s = np.vstack([a * S, np.zeros(leaf.n)])
        s = s if leaf.offset is None else s + leaf.offset.T
        R = np.empty_like(s)
        kernels.class_probabilities(s, np.append(biases, 0.0), numbers(leaf), leaf.weights, s, R, None, None)
        return float(np.vdot(R[:-1], S))


# -- what a leaf keeps for all points --


def signs(leaf: Leaf) -> Any:
    """+1 for the second class and -1 for the first."""
    return leaf.memo.named_or(
        "signs", lambda: kernels.in_blocks(lambda codes: 2 * (codes == 1).view(np.int8) - np.int8(1), leaf.codes)
    )


def numbers(leaf: Leaf) -> Any:
    """Class numbers of eight bytes."""
    return leaf.memo.named_or("numbers", lambda: np.ascontiguousarray(leaf.codes, dtype=np.int64))


def table(leaf: Leaf) -> Any:
    """The columns; of few numbers in single precision a copy in double: once, not in every pass."""
    if leaf.X.dtype != np.float32 or leaf.X.size > CACHE * 4:
        return leaf.X
    return leaf.memo.named_or("double", lambda: leaf.X.astype(np.float64))


def lifted(leaf: Leaf, lift: bool) -> Floats:
    """Dense rows (x, 1), or x without an intercept."""
    X = dense(leaf.X)
    return np.column_stack([X, np.ones(leaf.n)]) if lift else X


def dense(X: Any) -> Floats:
    """Rows as a float64 array."""
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)


def narrow(leaf: Leaf, standard: Standard) -> Any:
    """Rows ((x - mean)/scale, 1) in single precision."""

    def make() -> Any:
        keep_freed_blocks()
        Z = np.ones((leaf.n, leaf.d + 1), dtype=np.float32)
        with np.errstate(all="ignore"):
            unit = 1.0 / standard.scale
            for part in chunks(leaf, 2):
                np.multiply(leaf.X[part] - standard.mean, unit, out=Z[part, :-1], casting="same_kind")
        return Z

    return leaf.memo.named_or(("narrow", id(standard)), make)


def chunks(leaf: Leaf, classes: int) -> list[slice]:
    """Rows that stay in the cache between two products of a pass; of sparse rows all at once."""
    step = leaf.n if leaf.sparse else max(256, min(8192, CACHE // (leaf.d + 2 * classes)))
    return [slice(begin, min(leaf.n, begin + step)) for begin in range(0, leaf.n, step)]


def over_chunks(
    add: Callable[[slice, Floats], float], leaf: Leaf, classes: int, parts: list[slice]
) -> tuple[float, Floats]:
    """The sum of what ``add`` returns for the chunks of a leaf, and of what it adds to (K - 1, d + 1) numbers."""

    def run(own: tuple[int, int]) -> tuple[float, Floats]:
        G = np.zeros((classes - 1, leaf.d + 1))
        return sum(add(part, G) for part in parts[slice(*own)]), G

    blocks = kernels.row_blocks(len(parts), leaf.n * (leaf.d + classes), align=1)
    values, sums = zip(*kernels.each_part(run, blocks), strict=True)
    return sum(values), np.add.reduce(sums)


def products(X: Any, W: Any, out: Any) -> None:
    """W X' into ``out``, of dense or sparse rows."""
    if not isinstance(X, np.ndarray):
        out[:] = np.asarray(X @ W.T).T
    elif len(W) > FEW:
        np.matmul(W, X.T, out=out)
    else:
        X = X.astype(W.dtype, copy=False)
        for k, w in enumerate(W):
            np.matmul(X, w, out=out[k])


def add_sums(out: Floats, X: Any, R: Any) -> None:
    """Add  sum_i r_ki (x_i, 1)  to (k, d + 1) numbers."""
    out[:, -1] += R.sum(axis=1)
    if not isinstance(X, np.ndarray):
        out[:, :-1] += np.asarray((X.T @ np.ascontiguousarray(R.T)).T)
    elif len(R) > FEW:
        out[:, :-1] += R @ X
    else:
        X = X.astype(R.dtype, copy=False)
        for k, r in enumerate(R):
            out[k, :-1] += r @ X


# -- passes --


def _value(leaf: Leaf, loss: Logistic, at: At) -> tuple[float, Floats]:
    return loss.at(leaf, at)[:2]


def _product(leaf: Leaf, loss: Logistic, at: At, T: Floats, standard: Standard | None) -> Floats:
    return loss.product(leaf, at, T, standard)


def _gram(leaf: Leaf, loss: Logistic, at: At) -> Any:
    return loss.gram(leaf, at)


def _joined_gram(left: Any, right: Any) -> Any:
    return merge(left, right) if isinstance(left, Moments) else left + right


def _diagonal(leaf: Leaf, loss: Logistic, at: At) -> tuple[Floats, Floats]:
    """First and second sums of (x, 1) by the curvatures of each class."""
    H = loss.curvatures(leaf, loss.state(leaf, at))
    first, second = np.zeros((2, len(H), leaf.d + 1))
    for k, h in enumerate(H):
        kernels.curvature_diagonal(leaf.rows, np.ascontiguousarray(h), 0, leaf.n, first[k], second[k])
    return first, second


def _curvature(leaf: Leaf, loss: Logistic, at: At) -> Floats:
    state = loss.state(leaf, at)
    if loss.two:
        return np.array([kernels.total(state[0])])
    P = state[0]
    c = np.ones(leaf.n) if leaf.weights is None else leaf.weights
    return np.array([float((c * p) @ (1.0 - p)) for p in P])


def _reach(leaf: Leaf, loss: Logistic, T: Floats) -> float:
    """The greatest change of a score, of several classes the greatest range of changes."""
    S = loss.scores(leaf, T)
    if loss.two:
        return float(np.abs(S).max(initial=0.0))
    return float((np.maximum(S.max(axis=0), 0.0) - np.minimum(S.min(axis=0), 0.0)).max(initial=0.0))


def _rounding(leaf: Leaf, loss: Logistic, at: At) -> tuple[Floats, Floats]:
    """First and second sums of (x, 1) by the sizes of the residuals."""
    R = loss.sizes(leaf, loss.state(leaf, at))
    first, second = np.zeros((2, len(R), leaf.d + 1))
    for k, r in enumerate(R):
        kernels.curvature_diagonal(leaf.rows, np.ascontiguousarray(r), 0, leaf.n, first[k], second[k])
    return first, second


VALUE, PRODUCT = Pass(_value, added, "loss"), Pass(_product, added, "product with the Hessian")
GRAM, DIAGONAL = Pass(_gram, _joined_gram, "Hessian"), Pass(_diagonal, added, "diagonal of the Hessian")
CURVATURE, REACH = Pass(_curvature, added, "curvature"), Pass(_reach, max, "changes of scores")
ROUNDING = Pass(_rounding, added, "rounding")
