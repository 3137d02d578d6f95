"""Every exception and warning of the package.

    SeparatrixError
    ├── DataError (ValueError)            the data cannot be used as they are
    │   └── DataTypeError (TypeError)     ... because they are of the wrong kind
    ├── ParameterError (ValueError)       an option has a value that it cannot have
    ├── FoldError (RuntimeError, ValueError)  a learner failed in a fold
    ├── ModelFileError (ValueError)       a model file cannot be written, or is refused
    ├── CheckpointError (ValueError)      a checkpoint or a row cache is damaged, or belongs to something else
    ├── LedgerError (OSError)             the ledger of test openings cannot be written: nothing is opened
    ├── SeparationError (ValueError)      no finite estimate exists, and on_separation='raise'
    ├── CertificateError (ValueError)     a certificate does not prove what it claims, or cannot be made
    ├── InferenceError (ValueError)       the fit has no such interval or test
    ├── BugError (RuntimeError)           results that contradict each other: a bug of this package, exit code 3
    ├── ClusterError (RuntimeError)       a cluster cannot be reached, or its workers keep dying
    ├── MissingPackageError (ImportError)  a package of an extra is not installed
    ├── NotFittedError (ValueError, AttributeError; also scikit-learn's)
    └── BackendError (ImportError)        the compiled kernels cannot be loaded

    SeparatrixWarning (UserWarning)
    ├── AccuracyWarning                   accuracy says less than it seems to
    ├── FoldWarning                       a fold failed and was left out
    ├── OpenedWarning                     rows of the test set had been opened before
    ├── RoundingWarning                   numbers were changed by becoming float64
    ├── DroppedRowsWarning                a proof leaves rows with missing values out
    ├── SeparationWarning                 no finite maximum-likelihood estimate exists
    ├── LocalMaximumWarning               a likelihood with several maxima was fitted
    ├── IterationWarning                  a run ended at its limit (also scikit-learn's ConvergenceWarning)
    ├── ScaleWarning                      columns differ so much in scale that the large ones decide alone
    ├── CollinearWarning                  columns are linearly dependent
    └── PrecisionWarning                  the result has fewer right digits than usual

Messages are one sentence: what is wrong, where, and what to do.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import FrameType
from typing import Any, NoReturn

NO_MEMORY = "there is not enough memory: use fewer rows or columns, or raise the limit (ulimit -v)."


class SeparatrixError(Exception):
    """Whatever this package raises on purpose."""


class MissingPackageError(SeparatrixError, ImportError):
    """A package that an extra brings is not installed."""


class DataError(SeparatrixError, ValueError):
    """The data cannot be used as they are."""


class DataTypeError(DataError, TypeError):
    """The data are of a kind that cannot be used."""


class ParameterError(SeparatrixError, ValueError):
    """An option has a value that it cannot have."""


class FoldError(SeparatrixError, RuntimeError, ValueError):
    """A learner failed in a fold; the cause is chained."""


class ModelFileError(SeparatrixError, ValueError):
    """A model file cannot be written, or is not what it should be and is refused."""


class CheckpointError(SeparatrixError, ValueError):
    """A checkpoint or a row cache is damaged, or belongs to something else."""


class LedgerError(SeparatrixError, OSError):
    """The ledger of test openings cannot be read or written, so the test set stays closed."""


class CertificateError(SeparatrixError, ValueError):
    """A certificate does not prove what it claims, or cannot be made."""


class InferenceError(SeparatrixError, ValueError):
    """The fit has no such interval or test, and the message says why."""


class BugError(SeparatrixError, RuntimeError):
    """Two results contradict each other, so that one of them is false: a bug of this package."""


class ClusterError(SeparatrixError, RuntimeError):
    """A cluster cannot be reached, has no room, or its workers keep dying."""


class SeparationError(SeparatrixError, ValueError):
    """No finite maximum-likelihood estimate exists."""


class NotFittedError(SeparatrixError, ValueError, AttributeError):
    """A model was asked for something that it learns only in ``fit``."""


class BackendError(SeparatrixError, ImportError):
    """The compiled kernels cannot be loaded."""


class SeparatrixWarning(UserWarning):
    """Whatever this package warns of."""


class AccuracyWarning(SeparatrixWarning):
    """Accuracy says less than it seems to: predicting the most common class does as well."""


class FoldWarning(SeparatrixWarning):
    """A fold failed and was left out of the estimate."""


class OpenedWarning(SeparatrixWarning):
    """Rows of the test set had been opened before."""


class RoundingWarning(SeparatrixWarning):
    """Numbers were changed by becoming float64."""


class DroppedRowsWarning(SeparatrixWarning):
    """A formula left rows with missing values out of a proof, which numbers the others."""


class SeparationWarning(SeparatrixWarning):
    """No finite maximum-likelihood estimate exists; something else was fitted."""


class IterationWarning(SeparatrixWarning):
    """A run ended at its limit, or in a place that more passes would not improve.

    Where scikit-learn is loaded, warnings of this kind are its ``ConvergenceWarning`` too.
    """


class ScaleWarning(SeparatrixWarning):
    """Columns differ so much in scale that the large ones decide alone."""


class LocalMaximumWarning(SeparatrixWarning):
    """The likelihood has several maxima: the highest of those found is kept."""


class CollinearWarning(SeparatrixWarning):
    """Columns are linearly dependent, so that coefficients are not determined one by one."""


class PrecisionWarning(SeparatrixWarning):
    """The result has fewer right digits than usual."""


@cache
def _of_both(ours: Any, name: str) -> Any:
    """A class that is both ours and scikit-learn's; it is sent between processes as a call of ``_rebuilt``."""
    try:
        theirs = getattr(importlib.import_module("sklearn.exceptions"), name)
    except ImportError:
        return ours
    body = {"__module__": __name__, "__doc__": ours.__doc__, "__reduce__": lambda it: (_rebuilt, (ours, name, it.args))}
    return type(ours.__name__, (ours, theirs), body)


def _rebuilt(ours: Any, name: str, args: tuple[Any, ...]) -> Any:
    return _of_both(ours, name)(*args)


def not_fitted(message: str) -> NotFittedError:
    """The error of a model that is not fitted; it can be sent between processes."""
    made: NotFittedError = _of_both(NotFittedError, "NotFittedError")(message)
    return made


def raise_not_fitted(owner: object) -> NoReturn:
    """Raise the error of a model that is not fitted."""
    raise not_fitted(f"This {type(owner).__name__} is not fitted yet: call fit (or partial_fit) first.")


_held: ContextVar[list[tuple[type[Warning], str]] | None] = ContextVar("held warnings", default=None)


@contextmanager
def held_warnings() -> Iterator[list[tuple[type[Warning], str]]]:
    """Keep the warnings of this thread in a list, for code that fits many models to sum up."""
    kept: list[tuple[type[Warning], str]] = []
    token = _held.set(kept)
    try:
        yield kept
    finally:
        _held.reset(token)


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the line of the caller outside this package."""
    kept = _held.get()
    if kept is not None:
        kept.append((category, message))
        return
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "separatrix":
        level, frame = level + 1, frame.f_back
    if category is IterationWarning and "sklearn.exceptions" in sys.modules:
        category = _of_both(IterationWarning, "ConvergenceWarning")
    warnings.warn(message, category, stacklevel=level + 1)
