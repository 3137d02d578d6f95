"""The declared order of every sum (native/separatrix/lanes.hpp).

Products fall into lanes, eight to a vector. Full blocks go round the accumulators (four for dense
rows, two for sparse ones), what remains of whole vectors goes on with the first ones, and the last,
partial vector goes to the last accumulator. Accumulators are added pairwise, and the eight lanes by
halving: lane k and k + 4, then k and k + 2, then the last two. With the order fixed, a sum has the
same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

WIDTH = 8


def dot(a: Sequence[float], b: Sequence[float], accumulators: int) -> float:
    """The sum of a_k b_k in lanes."""
    lanes = [[0.0] * WIDTH for _ in range(accumulators)]
    block = WIDTH * accumulators
    blocks = len(a) // block * block
    whole = len(a) // WIDTH * WIDTH
    for k in range(len(a)):
        if k < blocks:
            accumulator = k % block // WIDTH
        elif k < whole:
            accumulator = (k - blocks) // WIDTH
        else:
            accumulator = accumulators - 1
        lanes[accumulator][k % WIDTH] += a[k] * b[k]
    while len(lanes) > 1:
        pairs = zip(lanes[::2], lanes[1::2], strict=True)
        lanes = [[p + q for p, q in zip(u, v, strict=True)] for u, v in pairs]
    (total,) = lanes
    while (half := len(total) // 2) > 0:
        total = [p + q for p, q in zip(total[:half], total[half:], strict=True)]
    return total[0]
