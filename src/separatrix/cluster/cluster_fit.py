"""Fit a learner to a source in partitions, on a Ray cluster or in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.cluster.checkpoints import Checkpoint
from separatrix.cluster.encoded_source import EncodedSource, encoded_source
from separatrix.cluster.partitions import PARTITION_BYTES, partitions_of
from separatrix.cluster.rounds import LocalRounds, Progress, Rounds
from separatrix.data.reading_plan import ColumnPlan, Reading, kept_of
from separatrix.data.tasks import positive_class
from separatrix.errors import ParameterError
from separatrix.features.encoder import Choices
from separatrix.features.table_model import TableModel
from separatrix.models.registry import homes, learner_class

HERE = "here"
AnySource = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def fit(
    learner: Any,
    source: AnySource,
    *,
    target: str | None = None,
    address: str | None = None,
    workers: int | None = None,
    positive: Any = None,
    choices: Choices | None = None,
    reading: Reading | None = None,
    partition_bytes: int = PARTITION_BYTES,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> TableModel:
    """Fit a learner to files that are read where the workers are, and stay there.

    Parameters
    ----------
    learner : LeastSquares, LeastSquaresClassifier, LinearDiscriminant, QuadraticDiscriminant, LogisticRegression, \
Perceptron, AveragedPerceptron, PassiveAggressive or AROW
        It is fitted in place.
    source : str, path or list of paths
        A file, a glob or files, under paths that every worker sees; in sorted order.
    target : str or None
        The column to learn; guessed if it is named target, label, class or y.
    address : str or None
        None starts Ray on this machine's processors; "auto", "HOST:PORT" or "ray://HOST:PORT" joins a cluster; "here"
        does the same work in this process, without Ray, and gives the same bits.
    workers : int or None
        How many; None: all free processors of the cluster.
    positive : label or None
        The class that scores are for, of two.
    choices : Choices or None
        What columns are, and whether they are standardised.
    reading : Reading or None
        How the files are written.
    partition_bytes : int
        Files larger than this are divided; the bits of a fit depend on it, and not on the number of workers.
    checkpoint : path or None
        A file that keeps the state of an iterative fit after each step: a driver that died begins again from there.
    progress : callable or None
        Called before each round with what is done, the number of the round and the rows of the source.

    Returns
    -------
    TableModel
        The learner with the encoder of its table, as ``separatrix fit`` makes it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from separatrix import LeastSquares, cluster
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for k in range(3):
    ...         _ = (Path(folder) / f"{k}.csv").write_text(f"x,y\\n{k},{2 * k + 1}\\n{k + 0.5},{2 * k + 2}\\n")
    ...     model = cluster.fit(LeastSquares(), f"{folder}/*.csv", address="here")
    ...
    >>> model.learner.coef_.round(9), round(model.learner.intercept_, 9)
    (array([2.]), 1.0)
    """
    need_distributed(learner)
    options = (target, choices, reading, partition_bytes)
    with opened(learner, source, *options, address=address, workers=workers, progress=progress) as (rounds, rows):
        kept = Checkpoint(checkpoint, _about(learner, rounds, rows))
        more = fit_rows(learner, rows, kept)
        kept.done()
        about = {"source": rows.name, "rows": rows.n, "partitions": rounds.leaves, **more}
        about |= kept_of(reading or Reading(), ColumnPlan("number", rows.target.writing))
        return TableModel(learner, rows.encoder, rows.target.name, _positive(rows, positive), about)


def path(
    learner: Any, source: AnySource, alphas: ArrayLike, *, target: str | None = None, **options: Any
) -> tuple[Floats, Floats]:
    """Coefficients (m, d) and intercepts (m,) of least squares for m penalties, from one round over the rows.

    Parameters
    ----------
    learner : LeastSquares
        Its other options; it is not changed.
    source : str, path or list of paths
        As in :func:`fit`.
    alphas : array
        The penalties.
    target : str or None
        The column to learn.
    **options
        As in :func:`fit`.

    Returns
    -------
    (coefficients, intercepts)

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from separatrix import LeastSquares, cluster
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "rows.csv").write_text("x,y\\n0,1\\n1,3\\n2,5\\n")
    ...     coef, _ = cluster.path(LeastSquares(), f"{folder}/rows.csv", [0.0, 1.0, 2.0], address="here")
    ...
    >>> coef[:, 0].round(3)
    array([2.   , 1.333, 1.   ])
    """
    from separatrix.cluster.partition_rows import PartitionRows
    from separatrix.models.least_squares.least_squares import LeastSquares
    from separatrix.validation import check_finite_vector

    if not isinstance(learner, LeastSquares):
        raise ParameterError(f"only LeastSquares has a path of penalties, not {type(learner).__name__}.")
    given = check_finite_vector(np.ravel(np.asarray(alphas, dtype=np.float64)), what="alphas")
    with opened(learner, source, target, **options) as (_, rows):
        return learner._path_of_rows(PartitionRows(rows), given)


def need_distributed(learner: Any) -> None:
    """Refuse a learner that has no distributed form."""
    if getattr(learner, "_distributed", None) is None or not type(learner).__module__.startswith("separatrix."):
        able = [name for name in homes() if learner_class(name)._distributed is not None]
        raise ParameterError(f"{type(learner).__name__} has no distributed form: {', '.join(able)} have one.")


@contextmanager
def opened(
    learner: Any,
    source: AnySource,
    target: str | None = None,
    choices: Choices | None = None,
    reading: Reading | None = None,
    partition_bytes: int = PARTITION_BYTES,
    *,
    address: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    as_numbers: bool = False,
) -> Iterator[tuple[Rounds, EncodedSource]]:
    """A source on workers, ready to learn from."""
    choices = choices or Choices()
    reading = (reading or Reading()).with_text(choices.text)
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else f"{len(source)} files"
    regression = learner._estimator_type == "regressor"
    with rounds_on(partitions_of(source, reading, partition_bytes), address, workers, progress) as rounds:
        yield rounds, encoded_source(rounds, name, target, regression, choices, reading, as_numbers)


def rounds_on(partitions: Any, address: str | None, workers: int | None, progress: Progress | None) -> Rounds:
    """Rounds in this process, or on Ray."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ParameterError(f"workers is {workers!r}: it must be a whole number of at least 1.")
    if address == HERE:
        return LocalRounds(partitions, progress)
    from separatrix.cluster.ray_rounds import RayRounds

    return RayRounds(partitions, address, workers, progress)


def fit_rows(learner: Any, rows: EncodedSource, checkpoint: Checkpoint) -> dict[str, Any]:
    """Fit by the form that the learner has; what else there is to say about the fit."""
    if learner._distributed == "moments":
        from separatrix.cluster.partition_rows import PartitionRows

        classes = rows.target.classes
        learner._fit_rows(PartitionRows(rows), rows.table, None if classes is None else classes.tolist())
    elif learner._distributed == "rounds":
        from separatrix.cluster.logistic_fit import fit_logistic

        fit_logistic(learner, rows, checkpoint)
    else:
        from separatrix.cluster.parameter_mixing import fit_by_mixing

        return {"mixing": fit_by_mixing(learner, rows, checkpoint)}
    return {}


def _about(learner: Any, rounds: Rounds, rows: EncodedSource) -> dict[str, Any]:
    """What a checkpoint is of."""
    return {
        "learner": repr(learner),
        "parameters": {name: repr(value) for name, value in sorted(learner.get_params().items())},
        "partitions": [asdict(part) for part in rounds.partitions],
        "features": rows.d,
        "rows": rows.n,
        "columns": None if rows.encoder is None else [repr(c.to_dict()) for c in rows.encoder.columns],
    }


def _positive(rows: EncodedSource, wanted: Any) -> Any:
    """The class that scores are for, of two."""
    if rows.target.classes is None or len(rows.classes) != 2:
        return None
    return positive_class(rows.classes.tolist(), rows.target.counts, rows.target.name, wanted, [])
