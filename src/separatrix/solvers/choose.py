"""Which method runs: the one decision, and its one table of limits.

A Hessian is made, or of several classes approximated by that at zero, or only multiplied with, by what each costs
beside a pass over the rows. ``choose`` reads from top to bottom; the first line that holds decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.losses.objective import Objective
from separatrix.rows.protocol import Rows


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits, each with its unit; how the result is proved does not depend on them."""

    hessian: float = 2000  # parameters up to which a Hessian is made
    hessian_sparse: float = 300  # the same of sparse rows
    hessian_work: float = 1e6  # rows times squared parameters up to which it is made of several classes
    products: float = 200  # parameters from which products with the Hessian of dense rows, two classes, cost less
    products_sparse: float = 40  # the same of sparse rows
    filled: float = 0.25  # of which at most this share is stored
    pass_work: float = 2**18  # numbers of dense rows from which a pass costs more than what L-BFGS does besides
    wide_two: float = 4  # columns for each row from which rows are known by inner products, of two classes
    wide_many: float = 2  # and of more
    wide_rows: float = 1000  # rows up to which they are
    lengths: float = 16  # rows that tell how long rows are, for that
    strong: float = 0.2  # times a penalty, that the mean squared length of a row must exceed for that
    sample: float = 50  # rows of a sample for each parameter
    sample_least: float = 40  # parameters that a sample is made for at least
    sample_stride: float = 16  # rows for each one of a sample, from which a search begins with it
    exact_stride: float = 4  # the same where the last digits are asked for
    sample_most: float = 2**24  # numbers of a sample, at most: rows may lie in a file that is larger than memory
    blocks: float = 6  # blocks of the Hessian precondition products up to so many squared columns for each row
    shared: float = 2  # rows for each column from which the Hessian at zero of several classes is worth its time
    firth: float = 1000  # parameters up to which a maximum that does not exist is replaced by Firth's estimate


LIMITS = Limits()


def limits() -> Limits:
    """The table that decides."""
    return LIMITS


@dataclass(frozen=True, slots=True)
class Plan:
    """How a search begins and goes on, and why.

    ``begin`` is "rows" (inner products of rows), "sample", "gradients" (L-BFGS around a rough Hessian) or "nothing";
    then come products with the Hessian, or Hessians.
    """

    begin: str
    products: bool
    blocks: bool
    why: str
    stride: int = 1


def parameters(rows: Rows, lift: bool) -> int:
    """Free parameters of a likelihood: a vector for each class but one."""
    return (rows.d + int(lift)) * (rows.classes - 1)


def too_many(rows: Rows, lift: bool) -> bool:
    """Whether a Hessian is better not made at all."""
    t = limits()
    return parameters(rows, lift) > (t.hessian_sparse if rows.sparse else t.hessian)


def many_columns(rows: Rows, lift: bool) -> bool:
    """Whether one vector alone has so many parameters that a Gram matrix of the columns is better not made."""
    t = limits()
    return rows.d + int(lift) > (t.hessian_sparse if rows.sparse else t.hessian)


def by_products(rows: Rows, lift: bool, ridge: bool) -> bool:
    """Whether the Hessian is only multiplied with; where a read costs much, it is made as long as it can be."""
    t = limits()
    p = parameters(rows, lift)
    if too_many(rows, lift):
        return True
    if rows.reread > 1:
        return False
    if rows.classes > 2:
        return rows.n * p**2 > t.hessian_work
    if not ridge:
        return False
    if rows.sparse:
        return p >= t.products_sparse and rows.filled <= t.filled
    return p >= t.products


def sample_parameters(rows: Rows, lift: bool) -> int:
    """The parameters that a sample is made for."""
    return int(max(parameters(rows, lift), min(limits().sample_least, rows.n)))


def sample_size(rows: Rows, lift: bool) -> int:
    """The rows of a sample."""
    return int(min(max(1.0, limits().sample * sample_parameters(rows, lift)), 2.0**62))


def sample_stride(rows: Rows, lift: bool, ridge: bool) -> int:
    """Every how many-th row a sample has."""
    t = limits()
    stride = rows.n // sample_size(rows, lift)
    if not ridge or rows.sparse:
        return stride
    return min(stride, max(int(min(t.sample_stride, 2.0**62)), int(rows.n * rows.d // max(1.0, t.sample_most))))


def choose(p: Objective) -> Plan:
    """How the minimum of an objective with a ridge is found."""
    t = limits()
    rows, lift, many = p.rows, p.lift, p.loss.classes > 2
    products = by_products(rows, lift, True)
    blocks = many and not rows.sparse and rows.d**2 <= t.blocks * rows.n
    size, stride = f"{parameters(rows, lift):,} parameters", sample_stride(rows, lift, True)
    if by_inner_products(p):
        return Plan("rows", products, blocks, f"{rows.d:,} columns are many for {rows.n:,} rows")
    if not many and not too_many(rows, lift) and stride >= t.sample_stride:
        return Plan("sample", products, blocks, f"{rows.n:,} rows are many for {size}", max(1, stride))
    if products and rows.reread <= 1 and (many or (not rows.sparse and rows.n * rows.d >= t.pass_work)):
        return Plan("gradients", products, blocks, f"{size}: a pass costs less than a Hessian")
    why = "products cost less than a Hessian" if products else "few enough for a Hessian"
    return Plan("nothing", products, blocks, f"{size}: {why}")


def by_inner_products(p: Objective) -> bool:
    """Whether the inner products of dense rows solve a ridge: the rows are few for so many columns.

    Where the penalty outweighs most of the curvature, a few passes over the rows cost less: they cost as much as the
    inner products of a number of rows, and more the more classes there are.
    """
    t = limits()
    rows = p.rows
    wide = rows.d > rows.n and rows.d >= (t.wide_two if p.loss.two else t.wide_many) * rows.n
    if rows.sparse or not rows.keeps or not wide or rows.n > t.wide_rows:
        return False
    some = rows.take(int(max(1, rows.n // max(1.0, t.lengths))))
    X = np.asarray(some.X, dtype=np.float64)
    lengths = some.counts @ np.einsum("ij,ij->i", X, X) / some.n
    return not lengths * p.k**2 <= t.strong * rows.n * p.ridge
