"""Kernels that read every row, on all cores: blocks of rows of a fixed size, and sums joined in their order."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.kernels.look_ahead import lookahead_of
from separatrix.kernels.thread_pool import each_part, thread_count

BLOCK = 2**18  # numbers that are worth a part of their own: about a fifth of a millisecond
MOST = 64  # parts of a pass
ROWWISE = 2  # numbers that are read in the time of numpy's few operations on a score, which take Python's lock in turn
IN_KERNEL = 8  # and of those of a kernel
ALIGN = 64  # rows: parts of a vector of bytes do not share a line of the cache


def row_blocks(n: int, size: int, align: int = ALIGN) -> list[tuple[int, int]]:
    """Blocks of rows of a table that stores ``size`` numbers: the same ones for every number of threads."""
    parts = min(MOST, size // BLOCK, n // align)
    if parts < 2:
        return [(0, n)]
    step = -(-n // parts)
    step += -step % align
    return [(begin, min(begin + step, n)) for begin in range(0, n, step)]


def total(values: Floats) -> float:
    """The sum of a vector, by blocks that its length decides."""
    return float(sum(each_part(lambda own: values[slice(*own)].sum(), row_blocks(len(values), len(values)))))


def in_blocks(work: Callable[[NDArray[Any]], NDArray[Any]], scores: NDArray[Any]) -> NDArray[Any]:
    """What work says of each row of scores, computed block by block: work treats every row alone."""
    blocks = row_blocks(len(scores), ROWWISE * scores.size)
    if len(blocks) == 1:
        return work(scores)
    first = work(scores[:1])
    out = np.empty((len(scores), *first.shape[1:]), first.dtype)

    def part(block: tuple[int, int]) -> None:
        out[slice(*block)] = work(scores[slice(*block)])

    each_part(part, blocks)
    return out


def as_int64(codes: NDArray[Any]) -> NDArray[np.int64]:
    """Codes of classes as whole numbers of eight bytes; those that are so already are returned as they are."""
    if codes.dtype == np.int64:
        return codes
    return in_blocks(lambda own: own.astype(np.int64), codes)


def row_numbers(n: int) -> NDArray[np.int64]:
    """0, 1, ..., n - 1."""
    out = np.empty(n, dtype=np.int64)

    def part(block: tuple[int, int]) -> None:
        out[slice(*block)] = np.arange(*block)

    each_part(part, row_blocks(n, ROWWISE * n))
    return out


def by_rows(kernel: Callable[..., Any], per_row: tuple[int, ...]) -> Callable[..., Any]:
    """A kernel of (X, ...) that treats each row alone; arguments ``per_row`` have an entry for every row."""

    def run(*arguments: Any, **named: Any) -> Any:
        if named:  # as tests call it, argument by argument
            return kernel(*arguments, **named)
        X, *given = arguments
        blocks = row_blocks(X.n, X.size)
        if len(blocks) == 1 or any(given[i] is not None and len(given[i]) != X.n for i in per_row if i < len(given)):
            return kernel(X, *given)

        def part(block: tuple[int, int]) -> Any:
            own = slice(*block)
            cut = (a[own] if i in per_row and a is not None else a for i, a in enumerate(given))
            return kernel(X.part(*block), *cut)

        done = each_part(part, blocks)
        return None if done[0] is None else sum(done)

    return run


def by_sums(
    kernel: Callable[..., Any], begin: int, sums: tuple[int, ...], sum_parts: Callable[..., None]
) -> Callable[..., Any]:
    """A kernel of (X, ..., begin, end, ...) that adds its rows to the vectors ``sums``, and may return a sum."""

    def joined(parts: Floats) -> Floats:
        out = np.empty(parts.shape[1])
        sum_parts(parts, out)
        return out

    def run(*arguments: Any, **named: Any) -> Any:
        if named:
            return kernel(*arguments, **named)
        X, *given = arguments
        blocks = row_blocks(X.n, X.size) if given[begin : begin + 2] == [0, X.n] else []
        if len(blocks) < 2:
            return kernel(X, *given)
        parts = {i: np.zeros((len(blocks), len(given[i]))) for i in sums if given[i] is not None}

        def part(k: int) -> Any:
            cut = [parts[i][k] if i in parts else a for i, a in enumerate(given)]
            cut[begin : begin + 2] = blocks[k]
            return kernel(X, *cut)

        done = each_part(part, range(len(blocks)))
        for i, added in parts.items():
            given[i][:] += joined(added)
        return None if done[0] is None else float(joined(np.array(done)[:, None])[0])

    return run


def on_all_cores(backend: ModuleType) -> dict[str, Callable[..., Any]]:
    """The kernels of a backend that are spread over rows, by name."""

    def first_nonfinite(x: NDArray[Any]) -> int:
        if x.size < 2 * BLOCK:
            return int(backend.first_nonfinite(x))
        blocks = row_blocks(x.size, x.size)
        flat = x.reshape(-1)
        found = each_part(lambda block: backend.first_nonfinite(flat[slice(*block)]), blocks)
        return next((begin + at for (begin, _), at in zip(blocks, found, strict=True) if at >= 0), -1)

    def exact_signs(X: Any, y: Any, intercept: bool, w: Floats, active: Any, sign: Any) -> Any:
        rows = X.n if active is None else len(active)
        blocks = row_blocks(rows, X.size // max(1, X.n) * rows)
        if len(blocks) == 1 or len(sign) != rows or len(y) != X.n:
            return backend.exact_signs(X, y, intercept, w, active, sign)

        def part(block: tuple[int, int]) -> Any:
            own = slice(*block)
            if active is None:
                return backend.exact_signs(X.part(*block), y[own], intercept, w, None, sign[own])
            return backend.exact_signs(X, y, intercept, w, active[own], sign[own])

        return sum(each_part(part, blocks))

    def decide(*arguments: Any, **named: Any) -> Any:
        if named or thread_count() < 2 or len(row_blocks(arguments[0].n, arguments[0].size)) < 2:
            return backend.decide(*arguments, **named)
        return backend.decide(*arguments, lambda work, count: each_part(work, range(count)))

    def two_probabilities(scores: Floats, zero_is_second: bool, out: Floats) -> None:
        blocks = row_blocks(len(scores), IN_KERNEL * len(scores))
        if len(blocks) == 1 or len(out) != len(scores):
            backend.two_probabilities(scores, zero_is_second, out)
            return

        def part(block: tuple[int, int]) -> None:
            backend.two_probabilities(scores[slice(*block)], zero_is_second, out[slice(*block)])

        each_part(part, blocks)

    return {
        "first_nonfinite": first_nonfinite,
        "exact_signs": exact_signs,
        "decide": decide,
        "two_probabilities": two_probabilities,
        "looking_ahead": lookahead_of(backend),
        "scores": by_rows(backend.scores, (1,)),
        "class_scores": by_rows(backend.class_scores, (2, 3)),
        "norms2": by_rows(backend.norms2, (0,)),
        "errors": by_rows(backend.errors, (0,)),
        "class_errors": by_rows(backend.class_errors, (0,)),
        "rows_above": by_rows(backend.rows_above, (1,)),
        "logistic_pass": by_sums(backend.logistic_pass, 4, (6,), backend.sum_parts),
        "curvature_product": by_sums(backend.curvature_product, 2, (4,), backend.sum_parts),
        "curvature_diagonal": by_sums(backend.curvature_diagonal, 1, (3, 4), backend.sum_parts),
    }
