"""A fixed binary tree over the partitions, so that sums have the same bits wherever their leaves are computed.

Leaves are numbered in the order of the source. Node (l, k) joins the leaves from k 2^l on, 2^l of them or as many as
there are. A worker joins what it holds as far up as both halves are its own, and the driver joins the rest: the same
pairs are joined in the same order for any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Value = TypeVar("Value")
Node = tuple[int, int]  # level, place
Join = Callable[[Value, Value], Value]


def condensed(nodes: Mapping[Node, Value | None], leaves: int, join: Join[Value]) -> dict[Node, Value | None]:
    """The same values in as few nodes as can be made of them; None is the value of nothing."""
    found = dict(nodes)
    for level in range(max(0, leaves - 1).bit_length()):
        for node in sorted(node for node in found if node[0] == level):
            if node not in found:
                continue
            place = node[1]
            beside = (level, place ^ 1)
            if (place ^ 1) << level >= leaves:
                found[level + 1, place // 2] = found.pop(node)
            elif beside in found:
                left, right = (found.pop((level, (place & ~1) + side)) for side in (0, 1))
                found[level + 1, place // 2] = joined(left, right, join)
    return found


def joined(left: Value | None, right: Value | None, join: Join[Value]) -> Value | None:
    """Two values as one, where one of them may be of nothing."""
    if left is None or right is None:
        return right if left is None else left
    return join(left, right)


def root(nodes: Mapping[Node, Value | None], leaves: int, join: Join[Value]) -> Value | None:
    """The value of all leaves."""
    found = condensed(nodes, leaves, join)
    if len(found) != 1:
        raise AssertionError("a node of the tree is missing")
    return next(iter(found.values()))
