"""The mistakes of each pass of a learner."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError
from separatrix.evaluation.curves import Drawn
from separatrix.evaluation.folds import final_step


@dataclass
class MistakesCurve(Drawn):
    """Mistakes made in each pass of a perceptron."""

    mistakes: NDArray[np.int64]
    status: str

    def __str__(self) -> str:
        shown_of = ", ".join(str(m) for m in self.mistakes[:20])
        more = f", … ({len(self.mistakes)} passes)" if len(self.mistakes) > 20 else ""
        return f"mistakes in each pass: {shown_of}{more}; {self.status}"

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Mistakes against passes."""
        ax = self._axes(ax)
        passes = np.arange(1, len(self.mistakes) + 1)
        ax.plot(passes, self.mistakes, "o-" if len(passes) <= 60 else "-", markersize=4, label=name)
        ax.set(xlabel="pass", ylabel="mistakes", title=fill(self.status.partition(";")[0], 56))
        ax.title.set_fontsize(9)
        ax.set_ylim(bottom=0)
        if name:
            ax.legend(frameon=False)
        return self


def mistakes_curve(model: Any) -> MistakesCurve:
    """The mistakes of each pass of a fitted mistake-driven learner (the last step, for a pipeline).

    Parameters
    ----------
    model : a fitted mistake-driven learner, or a pipeline that ends in one

    Returns
    -------
    MistakesCurve
        With ``plot``.

    Examples
    --------
    >>> from separatrix import Perceptron, mistakes_curve
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> mistakes_curve(Perceptron().fit(X, y)).mistakes
    array([2, 2, 2, 1, 1, 0])
    """
    last = final_step(model)
    counts = getattr(last, "epoch_mistakes_", None)
    if counts is None:
        raise DataError(f"{type(last).__name__} does not count mistakes per pass: fit a perceptron first.")
    status = getattr(last, "status_", None)
    return MistakesCurve(np.asarray(counts), getattr(status, "value", ""))
