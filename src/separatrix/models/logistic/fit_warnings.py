"""The warnings of a logistic fit: what the numbers alone do not say."""

from __future__ import annotations

import warnings
from typing import Any

from separatrix.errors import CollinearWarning, IterationWarning, LocalMaximumWarning, SeparationWarning
from separatrix.models.logistic.fit import Fitted
from separatrix.models.logistic.used_rows import Counted
from separatrix.numerics.status import Status

SUBSTITUTE = {"firth": "Firth's bias-reduced estimate", "ridge": "a ridge (C=1 on standardised columns)"}


def tell(model: Any, fitted: list[Fitted], rows: Counted) -> None:
    """At most one warning of separation or dependent columns, and one of a search that did not end well."""
    apart = [(k, f) for k, f in enumerate(fitted) if f.existence is not None and not f.existence.exists]
    if apart and model.on_separation != "ignore":
        k, first = apart[0]
        assert first.existence is not None
        parameters = (rows.table.d + 1) * max(1, len(rows.labels.classes) - 1) if len(fitted) == 1 else rows.table.d
        text = first.existence.sentence(parameters)
        if len(fitted) > 1:
            others = f" (and {len(apart) - 1} more classes)" if len(apart) > 1 else ""
            text = f"class {model.classes_.tolist()[k]!r} against the rest{others}: {text}"
        what = SUBSTITUTE["ridge" if "ridge" in first.method else "firth"]
        warnings.warn(
            f"{text}. Fitted {what} instead; see separation_, or choose on_separation.",
            SeparationWarning,
            stacklevel=3,
        )
    elif model.unidentifiable_:
        some = ", ".join(map(repr, model.unidentifiable_[:6])) + (", …" if len(model.unidentifiable_) > 6 else "")
        warnings.warn(
            f"columns depend on each other ({some}), so that their coefficients are not determined one by one: "
            "the shortest w is given; drop columns, or penalise.",
            CollinearWarning,
            stacklevel=3,
        )
    if model.maxima_ is not None:
        high, low = model.maxima_
        warnings.warn(
            f"Firth's penalised likelihood has more than one maximum: searches from two starts ended at {high:.6g} and "
            f"at {low:.6g}; the higher one is kept, and a higher one still may exist.",
            LocalMaximumWarning,
            stacklevel=3,
        )
    if model.status_ is Status.ILL_CONDITIONED and model.gap_ is not None:
        warnings.warn(
            f"no step improves any more, but the optimum is only proved to a relative gap of {model.gap_:.1e}: columns "
            f"nearly depend on each other, or rounding hides a penalty of C={model.C:g}; scale or drop columns, or "
            "lower C.",
            IterationWarning,
            stacklevel=3,
        )
    elif model.status_ is Status.ILL_CONDITIONED and "maximum likelihood" in model.method_:
        warnings.warn(
            "the estimate has few correct digits: the classes are nearly separated, or columns are nearly linearly "
            "dependent; scale or drop columns, or fit with a penalty (C=) or bias_reduction='firth'.",
            IterationWarning,
            stacklevel=3,
        )
    elif model.status_ in (Status.MAX_ITERATIONS, Status.ILL_CONDITIONED, Status.NONFINITE):
        warnings.warn(f"not at the optimum: {model.status_.value}.", IterationWarning, stacklevel=3)
