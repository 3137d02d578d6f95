"""scikit-learn's callbacks (1.9 and later) for every learner: a task for the fit, and one for each step of its solver.

``learner.set_callbacks(ProgressBar())`` is scikit-learn's own method. Without callbacks a fit pays one look-up and
imports nothing of scikit-learn. Steps are those of the one loop (:mod:`separatrix.numerics.driver`): passes of a
perceptron, Newton steps, rounds of a descent; where a step is itself a loop, the inner steps are the tasks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from separatrix.errors import MissingPackageError

HELD = "_skl_callbacks"  # where scikit-learn keeps them, and where its clone looks
PARENT = "_parent_callback_ctx"  # set on a learner by a pipeline or a search


class Steps:
    """Calls the callbacks at each step of the loops inside a fit."""

    def __init__(self, context: Any, learner: Any, X: Any, y: Any) -> None:
        self.context, self.learner, self.given, self.count = context, learner, {"X": X, "y": y}, 0

    def ended(self, before: int) -> None:
        """A step has ended; ``before`` is the count at its start, and a step that held a loop has counted more."""
        if self.count == before:
            self.count += 1
            task = self.context.subcontext(task_name="step")
            task.call_on_fit_task_begin(estimator=self.learner, **self.given)
            task.call_on_fit_task_end(estimator=self.learner, **self.given)


STEPS: ContextVar[Steps | None] = ContextVar("separatrix_steps", default=None)


def support() -> Any:
    """scikit-learn's own methods, or an error that says what to install."""
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError:
        raise MissingPackageError(
            "callbacks need scikit-learn 1.9 or later: pip install 'scikit-learn>=1.9'."
        ) from None
    return CallbackSupportMixin


def observed(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A learner's ``fit`` that calls its callbacks, where it has any."""

    @functools.wraps(fit)
    def told(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        if (HELD not in own and PARENT not in own) or "_callback_fit_ctx" in own:  # none, or a fit inside of this fit
            return fit(self, *args, **kwargs)
        from sklearn.callback._callback_support import callback_management_context

        with callback_management_context(self):
            context = support()._init_callback_context(self, max_subtasks=None)
            named = {**dict(zip(("X", "y", "sample_weight"), args, strict=False)), **kwargs}
            X, y = named.pop("X", None), named.pop("y", None)
            given = {"estimator": self, "X": X, "y": y, "metadata": named or None}
            context.call_on_fit_task_begin(**given)
            token = STEPS.set(Steps(context, self, X, y))
            try:
                fit(self, *args, **kwargs)
            finally:
                STEPS.reset(token)
            context.call_on_fit_task_end(**given, reconstruction_attributes={})
        return self

    return told
