"""No maximum for many classes, proved on a few: two groups that a hyperplane separates, and classes that none does.

Let v.(x, 1) be at least zero on the rows of some classes S, at most zero on all others, and not zero on all rows. Along
w_k = v for the classes k of S, and 0 for the others, no probability of a row's own class falls, and some rise: the
likelihood has no maximum. That is a question about two groups and the columns as they are, where Kesler's construction
has a vector for each class and a row for each row and class. The classes of a table are completely separated only if
any of them are: two that are not, or some that overlap by a fit of their own, prove the verdict "quasi".

Which groups: in a search that runs away classes lose the probability that they gave to those on the other side. The
classes are joined by the tree of greatest probabilities that they give to each other, and its weakest links are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.losses.logistic import At, Logistic
from separatrix.losses.objective import Objective, Point
from separatrix.proofs.separability.verdict import Given
from separatrix.rows.protocol import Leaf, Pass, added

SPLITS, PAIRS = 32, 8  # groups and pairs of classes that are tried

Link = tuple[int, int]
Fit = Callable[[NDArray[np.intp]], tuple[Floats, bool]]


@dataclass(frozen=True)
class ClassGroups:
    """Rows with their classes, and a search on some of these: what they give to each other, and if they overlap."""

    given: Given
    fit: Fit

    def quasi_separated(self, between: Floats) -> bool:
        """Whether the verdict is proved, by what classes give to each other in a search; False proves nothing."""
        left = np.arange(len(between))
        while True:  # with fewer classes each time
            links = [(int(left[a]), int(left[b])) for a, b in tree(between)]
            apart = self._apart(links, left.tolist())
            if not apart:
                return False
            if any(self._verdict([b], [a]) in ("quasi", "overlap") for a, b in links[: -PAIRS - 1 : -1]):
                return True
            left = np.setdiff1d(left, list(apart))
            if len(left) <= 2:
                return len(left) == 2 and self._verdict(left[:1].tolist(), left[1:].tolist()) in ("quasi", "overlap")
            between, overlap = self.fit(left)
            if overlap:
                return True

    def _apart(self, links: list[Link], classes: list[int]) -> set[int]:
        """Classes of groups that can be separated from the others, the smaller ones of two."""
        apart = set[int]()
        for side in islice(splits(links), SPLITS):
            others = [k for k in classes if k not in side]
            if self._verdict(side, others) in ("complete", "quasi"):
                apart.update(side if len(side) <= len(others) else others)
        return apart

    def _verdict(self, positive: list[int], negative: list[int]) -> str:
        return self.given.two_groups(positive, negative).verdict


def _given(leaf: Leaf, loss: Logistic, at: At) -> Floats:
    """The probability that the rows of each class give to all classes."""
    P, codes = loss.state(leaf, at)[0], np.asarray(leaf.codes)
    return np.array([P[:, codes == k].sum(axis=1) for k in range(loss.classes)])


GIVEN = Pass(_given, added)


def exchanged_at(loss: Objective, point: Point) -> Floats:
    """The probability that rows of two classes give to the other one, of more than two."""
    given = loss.rows.reduce(GIVEN, loss.loss, point.place)
    return np.asarray(given + given.T)


def tree(between: Floats) -> list[Link]:
    """The links of the tree of greatest sum over all classes, the weakest first (Prim 1957)."""
    best, at = between[0].copy(), np.zeros(len(between), dtype=np.intp)
    inside = np.zeros(len(between), dtype=bool)
    inside[0], links = True, list[Link]()
    for _ in range(len(between) - 1):
        k = int(np.argmax(np.where(inside, -np.inf, best)))
        links.append((int(at[k]), k))
        inside[k] = True
        nearer = between[k] > best
        best[nearer], at[nearer] = between[k][nearer], k
    return sorted(links, key=lambda link: float(between[link]))


def splits(links: list[Link]) -> Iterator[list[int]]:
    """The classes on one side of each link."""
    for cut in links:
        side, left = {cut[1]}, [link for link in links if link != cut]
        while grown := [link for link in left if (link[0] in side) != (link[1] in side)]:
            side.update(k for link in grown for k in link)
        yield sorted(side)
