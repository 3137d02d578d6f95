"""A sample of many rows: a start, a Hessian for passes over all rows, and a proof of how much is left.

On many rows a sixteenth of them or less gives a start and the Hessian there, with which each pass over all rows divides
what is left to gain by about a hundred (Byrd, Chin, Neveitt and Nocedal 2011). The same rows also prove how much is
left. Every k-th row may miss nearly all rows that a rare column depends on. How many rows of a sample inform about
column j is

    (sum x_ij^2)^2 / sum x_ij^4,

the count of the ones for a column of zeros and ones. Where that is small, all rows in which the column is far above
its mean square are taken, with a weight that counts them once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.losses.objective import Objective
from separatrix.numerics.driver import Driven
from separatrix.numerics.status import Status
from separatrix.rows.places import TableRows
from separatrix.rows.protocol import Leaf, Rows, stacked
from separatrix.solvers.choose import sample_parameters, sample_size
from separatrix.solvers.lbfgs import with_model
from separatrix.solvers.newton import newton
from separatrix.solvers.two_hessians import hessian_at, two_hessians

COARSE = 4  # the sample itself begins at the minimum of each so many of its rows
ENOUGH = 200  # rows for each parameter, from which a quarter of them has a start of its own
ROUGH = 0.1  # how exactly a sample is solved, in parameters a row: its minimum is some ten times as far off
RARE = 100.0  # rows of a sample that must inform about each column
MOST = 4  # the rows of rare columns are taken where they are at most one in so many
POWERS = 8  # numbers that are read in the time of the powers of one, which stay in the first cache
STEPS = 50


def rough_minimum(loss: Objective) -> Driven[Any]:
    """Roughly the minimum of a sample, for which the Hessian of a quarter of its rows is good enough, and so on.

    Where it is not, as on classes that are nearly separated, one of the sample leads on from where that has led.
    """
    some = sample_parameters(loss.rows, loss.lift)
    enough = ROUGH * some / loss.n
    leaf = loss.rows.take(COARSE)
    share = leaf.n / loss.n
    few = Objective(table_of(leaf, loss.rows), loss.loss, loss.ridge * share)
    first = rough_minimum(few) if few.n > ENOUGH * some else two_hessians(few, few.zero(), STEPS, enough)[0]
    if first.status is not Status.OPTIMAL:
        return first
    start, model = loss.point(first.state.point.at), few.hessian(first.state.point, share)
    run = with_model(loss, start, model, enough, STEPS)
    if run.status in (Status.OPTIMAL, Status.INTERRUPTED):
        return run
    own = hessian_at(loss, run.state.point)
    if own is not None:
        run = with_model(loss, run.state.point, own, enough, STEPS)
    return run if run.status in (Status.OPTIMAL, Status.INTERRUPTED) else newton(loss, run.state.point, STEPS, enough)


def table_of(leaf: Leaf, rows: Rows) -> TableRows:
    """Some rows as a place of their own."""
    return TableRows(leaf.X, leaf.codes, rows.classes, leaf.weights, leaf.offset, leaf.targets)


def sampled(rows: Rows, lift: bool, stride: int) -> tuple[Leaf, Leaf, float]:
    """Some of the rows with their own weights, the same with those that they have in a sample, and the share of all.

    By that share penalties of the sample are scaled.
    """
    plain, share = rows.take(stride), -(-rows.n // stride) / rows.n
    few = slice(None, None, max(1, plain.n // sample_size(rows, lift)))
    if rows.sparse or not np.isfinite(rare_limits(plain.X[few])).any():  # enough of these, enough of all
        return plain, plain, share
    sizes = rare_limits(plain.X)
    if not np.isfinite(sizes).any():
        return plain, plain, share
    if sum(rows.gather(rare_rows, sizes)) * MOST > rows.n:
        return plain, plain, share
    leaves, own = zip(*rows.gather(with_rare, sizes, stride), strict=True)
    whole, needed = stacked(list(leaves)), np.concatenate(own)
    weights = np.where(needed, share, 1.0)
    return whole, Leaf(whole.X, 0, whole.codes, whole.targets, weights * whole.counts, whole.offset), share


def rare_rows(leaf: Leaf, limits: Floats) -> int:
    """How many rows of a leaf rare columns need."""
    return int(exceeding(leaf, limits).sum())


def with_rare(leaf: Leaf, limits: Floats, stride: int) -> tuple[Leaf | None, Any]:
    """The rows of a sample in a leaf, and which of them rare columns need."""
    needed = exceeding(leaf, limits)
    chosen = needed.copy()
    chosen[-leaf.first % stride :: stride] = True
    rows = np.flatnonzero(chosen)
    return leaf.part(rows) if len(rows) else None, needed[rows]


def exceeding(leaf: Leaf, limits: Floats) -> Any:
    """Rows in which a column is larger than its limit."""
    out = np.empty(leaf.n, dtype=np.int8)
    kernels.rows_above(leaf.rows, limits, out)
    return out.view(np.bool_)


def rare_limits(X: Any) -> Floats:
    """For each column that too few rows inform about, the size above which its rows are needed; inf for the others."""
    blocks = kernels.row_blocks(len(X), POWERS * X.size)

    def largest(own: tuple[int, int]) -> Any:
        rows = X[slice(*own)]
        return np.maximum(rows.max(axis=0), -rows.min(axis=0))

    def powers(own: tuple[int, int]) -> Floats:
        squares = np.square(X[slice(*own)] * unit)
        return np.array([squares.sum(axis=0), np.square(squares, out=squares).sum(axis=0)])

    with np.errstate(all="ignore"):
        top = np.max(kernels.each_part(largest, blocks), axis=0).astype(np.float64)
        unit = 1.0 / np.where(top > 0, top, 1.0)
        second, fourth = np.add.reduce(kernels.each_part(powers, blocks))
        common = np.square(second) >= RARE * fourth
        limits = top * np.sqrt(second / RARE)
    return np.where(common & (top > 0), np.inf, limits)
