"""What to do about a run that ended before its rows were separated, as one warning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import IterationWarning, ScaleWarning, warn_user
from separatrix.numerics.status import Status

FAR_APART = 100.0  # ratio of the largest entries of two columns from which on they should be scaled
LOOKED_AT = 10_000  # rows that tell the scale of their columns
HARDLY = 2 / 3  # mistakes of a class against the rest, as a share of its rows, from which on it is hardly told apart
LIMITS = {Status.MAX_EPOCHS: "max_epochs", Status.MAX_UPDATES: "max_updates"}


def warn_of_run(
    model: Any,
    X: Any,
    codes: NDArray[np.integer[Any]],
    in_order: bool,
    scale_free: bool = False,
    against_rest: Sequence[int] = (),
) -> None:
    """Warn of a run that ended at a limit, and of what kept it from separating the rows.

    ``codes`` numbers the classes of the rows that count, in the order they lie, and ``in_order`` says that they
    were learned from in that order; ``scale_free`` learners adapt to columns of any scale; ``against_rest`` has
    the rows that each class, learned against the rest, gets wrong. A single pass is what the caller asked for, and its
    end is not a limit.
    """
    status = model.status_
    if status is Status.NONFINITE:
        warn_user(f"{type(model).__name__}: {status.value}.", IterationWarning)
        return
    if status not in LIMITS and status is not Status.PLATEAU:
        return
    advice = []
    if in_order and is_sorted(codes):
        advice.append('rows are sorted by class; shuffle them (order="shuffle")')
    if not scale_free and (factor := scale_factor(X)) > FAR_APART:
        advice.append(f"columns differ in scale by a factor of {factor:,.0f}; standardise them")
    once = status is Status.MAX_EPOCHS and model.max_epochs == 1
    if not advice and not once and (name := lost_class(model, codes, against_rest)) is not None:
        who = "" if "multiclass" in model.get_params(deep=False) else "AveragedPerceptron with "
        advice.append(
            f"no hyperplane was found that keeps class {name} apart from the rest; compare all classes at once "
            f'({who}multiclass="kesler")'
        )
    if not advice and status in LIMITS and not once:
        advice.append(f"raise {LIMITS[status]}, or no hyperplane separates the classes (see separability)")
    if advice:
        passes = "a pass" if model.n_iter_ == 1 else f"{model.n_iter_:,} passes"
        found = f"{model.errors_:,} of {len(codes):,} rows misclassified"
        warn_user(
            f"{type(model).__name__} stopped after {passes} with {found}: {', and '.join(advice)}.", IterationWarning
        )


def lost_class(model: Any, codes: NDArray[np.integer[Any]], against_rest: Sequence[int]) -> str | None:
    """The class that is hardest to keep apart, where that saves less than a third of never predicting it."""
    if len(against_rest) < 3:
        return None
    left = np.array(against_rest) / np.bincount(codes, minlength=len(against_rest)).clip(1)
    k = int(left.argmax())
    return repr(model.classes_.tolist()[k]) if left[k] > HARDLY else None


def warn_of_scale(model: Any, X: Any) -> None:
    """Warn of columns that a kernel of distances or products cannot see beside larger ones."""
    if (factor := scale_factor(X)) > FAR_APART:
        name = type(model).__name__
        warn_user(f"{name}: columns differ in scale by a factor of {factor:,.0f}; standardise them.", ScaleWarning)


def is_sorted(codes: NDArray[np.integer[Any]]) -> bool:
    """Whether the rows of every class lie together, and some class has more than one."""
    classes = len(np.unique(codes))
    return len(codes) > classes and np.count_nonzero(np.diff(codes)) == classes - 1


def scale_factor(X: Any) -> float:
    """The largest absolute entry of a column over the smallest such, of some of the rows; zero columns do not count."""
    if (stride := X.shape[0] // LOOKED_AT) > 1:
        X = X[::stride]
    if isinstance(X, np.ndarray):
        most = np.maximum(X.max(axis=0), -X.min(axis=0))
    else:
        most = np.zeros(X.shape[1], dtype=X.dtype)
        np.maximum.at(most, X.indices, np.abs(X.data))
    most = most[most > 0]
    return float(most.max()) / float(most.min()) if len(most) else 1.0
