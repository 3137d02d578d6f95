"""Whether a maximum-likelihood estimate exists: what was proved, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from separatrix.errors import CertificateError, DataError
from separatrix.proofs.certificate import Certificate
from separatrix.proofs.separability import Given, Separability

NAMED = 200  # parameters up to which a warning decides which coefficients are infinite
PLAIN = {"complete": "completely", "quasi": "quasi-completely"}


@dataclass
class Existence:
    """The verdict on the rows that count; ``by`` is what proved it.

    ``"circulation"``: the fitted probabilities themselves (positive weights near them cancel the rows exactly);
    ``"separability"``: :func:`separatrix.separability`, whose evidence it then carries. The certificate and
    the fates of the coefficients are made when they are asked for.
    """

    verdict: str
    by: str
    _given: Given | None = field(repr=False)
    _found: Separability | None = field(default=None, repr=False)

    @staticmethod
    def decide(given: Given) -> Existence:
        found = _ask(given)
        return Existence(found.verdict, "separability", given, found)

    @property
    def exists(self) -> bool:
        """Whether a finite maximum exists, as far as is known."""
        return self.verdict not in PLAIN

    @cached_property
    def evidence(self) -> Separability:
        """The answer of :func:`separatrix.separability` on the same rows."""
        if self._found is not None:
            return self._found
        if self._given is None:
            raise DataError("a stored model has no rows to prove it with: call separability(X, y).")
        return _ask(self._given)

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
        if parameters > NAMED:
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
        return f"{self.verdict} (proved by {'the fit itself' if self.by == 'circulation' else 'separability'})"


def _ask(given: Given) -> Separability:
    if len(given.labels.classes) == 2:
        return given.two_groups([1], [0])
    from separatrix.proofs.multiclass import kesler

    return kesler(given)
