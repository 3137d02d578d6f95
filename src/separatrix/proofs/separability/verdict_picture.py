"""A verdict drawn: the hulls of both classes, with a hyperplane between them or the rows that prove that they meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import ParameterError
from separatrix.plotting.hulls import plot_hulls
from separatrix.plotting.planes import column_names, dense
from separatrix.proofs.certificate.certificate import Subject

if TYPE_CHECKING:
    from separatrix.proofs.separability.verdict import Separability

TITLES = {
    "complete": "complete separation (proved)",
    "quasi": "quasi-complete separation (proved)",
    "overlap": "no hyperplane separates the classes (proved)",
    "undecided": "undecided",
}


def separability_picture(found: Separability, ax: Any) -> Any:
    """Both hulls with a separating hyperplane, or with the witness and a point that lies in both."""
    subject = found._subject
    if "kesler" in subject.sides:
        raise ParameterError("all classes at once have no two hulls to draw: ask with multiclass='ovr' or 'pairs'.")
    X = dense(subject.table)
    witness = np.array(sorted(found._reduction.witness), dtype=np.int64)
    shares = np.array([float(found._reduction.witness[i]) for i in witness.tolist()])
    meeting = None
    if len(witness) and subject.intercept and np.isfinite(shares).all():
        meeting = weighted_mean(X, witness, shares, subject.labels[witness] == 1)
    hyperplane = None
    if found.coef is not None and found.intercept is not None and found.coef.any():
        hyperplane = (found.coef, found.intercept)
    return plot_hulls(
        X,
        subject.labels,
        side_names(subject),
        column_names(subject.table),
        hyperplane=hyperplane,
        witness=witness if len(witness) else None,
        meeting=meeting,
        title=TITLES[found.verdict],
        ax=ax,
    )


def side_names(subject: Subject) -> tuple[str, str]:
    """The negative and the positive side by their classes."""
    positive, negative = subject.sides["positive"], subject.sides["negative"]
    plus = ", ".join(map(str, positive))
    return f"not {plus}" if negative is None else ", ".join(map(str, negative)), plus


def weighted_mean(X: Floats, rows: NDArray[np.int64], weights: Floats, own: NDArray[np.bool_]) -> Floats:
    """The weighted mean of the rows of one side."""
    shares = weights[own] / weights[own].sum()
    return np.asarray(shares @ X[rows[own]])
