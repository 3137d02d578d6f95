"""The lifted margin of rows scaled to length 1, z_i / |z_i|: squares stay rational, so bounds can be proved.

Below: min z_i.w / (|z_i| |w|) has the rational square min (z_i.w)^2 / |z_i|^2 / |w|^2 where every z_i.w > 0. Above: for
t_i >= 0 with r_i <= |z_i| and sum t_i r_i = 1, the point sum t_i z_i is no nearer than the point of the hull of the
z_i / |z_i| in its direction, since sum t_i |z_i| >= 1.
"""

from __future__ import annotations

import math
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np

from separatrix.numerics.exact_signs import dot, integer_row
from separatrix.numerics.linear_scores import lifted_norms
from separatrix.proofs.certificate.certificate import Subject
from separatrix.proofs.exact.algebra import combination, rational_root
from separatrix.proofs.margin.exact_hull import HullPoint, Side, rounded
from separatrix.proofs.margin.hull_search import Hulls
from separatrix.proofs.margin.margin import Bracket
from separatrix.proofs.separability.facial_reduction import reduce
from separatrix.proofs.separability.verdict import Given, result


def bracketed_unit_rows(given: Given, subject: Subject) -> Bracket:
    """Search among the scaled rows, prove on the given ones."""
    hulls = Hulls(subject.table.X, subject.labels, lifted=given.intercept, groups=1)
    norms = lifted_norms(hulls.view, given.intercept)
    unit = Hulls(scaled_rows(subject.table.X, norms, given.intercept), subject.labels, lifted=False, groups=1)
    found = unit.search()
    side = None if found.origin else unit_side(hulls, norms, integer_row(found.v.tolist())[0])
    if side is None:
        start = perf_counter()
        reduction = reduce(given.rows(subject.table.X, subject.labels, given.intercept))
        verdict = result(reduction, subject, given.names, perf_counter() - start)
        if verdict.verdict != "complete" or reduction.w is None:
            return Bracket(hulls, None, None, verdict)
        side = unit_side(hulls, norms, reduction.w)
    return Bracket(hulls, side, unit_point(hulls, found.support, found.weights.tolist()))


def scaled_rows(X: Any, norms: Any, intercept: bool) -> Any:
    """(x_i, 1) / |(x_i, 1)| as a table."""
    if isinstance(X, np.ndarray):
        rows = np.asarray(X, dtype=np.float64) / norms[:, None]
        return np.column_stack([rows, 1 / norms]) if intercept else rows
    from scipy import sparse

    rows = sparse.diags_array(1 / norms) @ sparse.csr_array(X, dtype=np.float64)
    table = sparse.csr_array(sparse.hstack([rows, (1 / norms)[:, None]], format="csr") if intercept else rows)
    table.sort_indices()
    return table


def unit_side(hulls: Hulls, norms: Any, w: list[int]) -> Side | None:
    """The least (z_i.w / |z_i|)^2, by exact comparison of the rows that rounding cannot tell from it."""
    score, bound = hulls.bounds(rounded(hulls, w))
    low, high = (score - bound) / norms * (1 - 1e-14), (score + bound) / norms * (1 + 1e-14)
    limit = np.fmin.reduce(np.where(high > 0, high, np.nan))
    least: Fraction | None = None
    near = np.flatnonzero(~(low > limit))
    if len(near) > 1000 and isinstance(hulls.X, np.ndarray):  # many ties are mostly equal rows
        near = near[np.unique(hulls.plain(near) * hulls.y[near][:, None], axis=0, return_index=True)[1]]
    for row, _ in hulls.exact(near.tolist()):
        if (s := dot(row, w)) <= 0:
            return None
        here = Fraction(s * s, dot(row, row))
        least = here if least is None else min(least, here)
    return None if least is None else Side(w, (), least / dot(w, w))


def unit_point(hulls: Hulls, support: list[int], weights: list[float]) -> HullPoint:
    """An upper bound from weights of the scaled rows."""
    rows = [row for row, _ in hulls.exact(support)]  # a positive multiple of z_i serves as well
    lengths = [rational_root(Fraction(dot(row, row)))[0] for row in rows]
    shares = {i: Fraction(t) for i, t in zip(support, weights, strict=True)}
    total = sum(shares.values())
    scaled = [q / total / r for q, r in zip(shares.values(), lengths, strict=True)]
    common = math.lcm(*(q.denominator for q in scaled))
    v = combination(rows, [q.numerator * (common // q.denominator) for q in scaled])
    return HullPoint({i: q / total for i, q in shares.items()}, Fraction(dot(v, v), common * common))
