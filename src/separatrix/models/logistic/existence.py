"""Whether a maximum-likelihood estimate exists: the verdict, and vectors that prove that it does not.

A maximum exists where no direction separates the classes (Albert and Anderson 1984). The fit itself proves that, by a
bound of what is left to gain at a point near the maximum (:mod:`separatrix.solvers.left_to_gain`). Vectors of a fit
that have every row strictly on its side prove the opposite. Where the fit proves nothing, separability decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import CertificateError, DataError
from separatrix.losses.logistic import signs
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.proofs.certificate.certificate import Certificate
from separatrix.proofs.separability.verdict import Given, Separability
from separatrix.rows.protocol import Leaf, Pass

NAMED = {"complete": 21, "quasi": 200}  # parameters up to which a warning decides which coefficients are infinite
PLAIN = {"complete": "completely", "quasi": "quasi-completely"}
UNIT = 2.0**-53  # of rounding


@dataclass
class Existence:
    """The verdict on the rows that count; ``by`` is what proved it.

    ``"bound"``: a bound of what is left to gain where the fit is;
    ``"scores"``: those of a fit, which have every row strictly on its side;
    ``"groups"``: two groups of the classes that a hyperplane separates, and classes that none does (class_groups.py);
    ``"separability"``: :func:`separatrix.separability`, whose evidence it then carries. The certificate and
    the fates of the coefficients are made when they are asked for.
    """

    verdict: str
    by: str
    _given: Given | None = field(repr=False)
    _class: int | None = field(default=None, repr=False)  # against the rest, or None for all classes
    _found: Separability | None = field(default=None, repr=False)

    @staticmethod
    def decide(given: Given, against_rest: int | None = None) -> Existence:
        found = _ask(given, against_rest)
        return Existence(found.verdict, "separability", given, against_rest, found)

    @property
    def exists(self) -> bool:
        """Whether a finite maximum exists, as far as is known."""
        return self.verdict not in PLAIN

    @property
    def provable(self) -> bool:
        """Whether the rows are still there to prove it with: copies, stored models and clusters have left them."""
        return self._found is not None or self._given is not None

    @cached_property
    def evidence(self) -> Separability:
        """The answer of :func:`separatrix.separability` on the same rows."""
        if self._found is not None:
            return self._found
        if self._given is None:
            raise DataError("a stored model has no rows to prove it with: call separability(X, y).")
        return _ask(self._given, self._class)

    @property
    def certificate(self) -> Certificate:
        """The verdict in a form that anyone can check."""
        return self.evidence.certificate

    @property
    def coefficients(self) -> Mapping[str, str]:
        """What the maximum-likelihood estimate does at each coefficient, by name."""
        return self.evidence.coefficients

    def infinite(self) -> dict[str, str]:
        """Coefficients that are infinite on every maximising sequence, with their signs."""
        if self.exists:
            return {}
        return {name: fate for name, fate in self.coefficients.items() if fate in ("+inf", "-inf")}

    def sentence(self, parameters: int) -> str:
        """What a warning says."""
        text = f"no finite maximum-likelihood estimate exists: the classes are {PLAIN[self.verdict]} separated"
        if not self.provable:
            return text
        if parameters > NAMED[self.verdict]:
            return text + " (ask separation_.coefficients which are infinite)"
        signs = {"+inf": "+∞", "-inf": "−∞"}
        try:
            ends = [f"{name!r} tends to {signs[fate]}" for name, fate in self.infinite().items()]
        except CertificateError:
            return f"{text} (which coefficients are infinite could not be decided)"
        if not ends:
            return f"{text}, and which coefficients are infinite depends on the path"
        return f"{text}: " + ", ".join(ends[:8]) + (f" and {len(ends) - 8} more do likewise" if len(ends) > 8 else "")

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k != "evidence"}
        return {**state, "_given": None, "_found": None}

    def __str__(self) -> str:
        asked = {"separability": "separability", "groups": "separability of groups of classes"}
        return f"{self.verdict} (proved by {asked.get(self.by, 'the fit itself')})"


def _ask(given: Given, against_rest: int | None) -> Separability:
    if against_rest is not None:
        return given.two_groups([against_rest], None)
    if len(given.labels.classes) == 2:
        return given.two_groups([1], [0])
    from separatrix.proofs.separability.multiclass import kesler

    return kesler(given)


# -- separation, proved from fitted vectors ----------------------------------------------------------


def separates(problem: LogisticProblem, vectors: Floats) -> bool:
    """Whether these vectors, without an offset, provably have every row strictly on its side; False proves nothing."""
    return bool(problem.rows.reduce(AHEAD, vectors))


def _ahead(leaf: Leaf, vectors: Floats) -> bool:
    """The same of a leaf: a score is wrong by at most d + 2 units of  sum |x_j||w_j| + |b| <= |x||w| + |b|."""
    W, b = np.ascontiguousarray(vectors[:, :-1]), vectors[:, -1].copy()
    scores, squares, own = np.empty((leaf.n, len(W))), np.empty(leaf.n), (np.arange(leaf.n), leaf.codes)
    with np.errstate(all="ignore"):
        kernels.class_scores(leaf.rows, W, b, scores)
        kernels.norms2(leaf.rows, squares)
        if len(W) == 1:
            ahead = signs(leaf) * scores[:, 0]
        else:
            ahead = scores[own]
            scores[own] = -np.inf
            ahead = ahead - scores.max(axis=1)
        lengths = np.sqrt(squares + leaf.d * 1e-300)  # squares of tiny numbers underflow
        sizes = lengths * (float(np.linalg.norm(W, axis=1).max()) + 1e-150) + float(np.abs(b).max())
        return bool((ahead > 2.02 * (leaf.d + 4) * UNIT * sizes + 1e-300).all())


AHEAD = Pass(_ahead, min)
