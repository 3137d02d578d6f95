"""Proofs about files in partitions: pricing on the workers, the exact proof on the driver."""

from __future__ import annotations

from typing import Any

from separatrix.cluster.bounds import bound_of
from separatrix.cluster.fitting import AnySource, opened
from separatrix.cluster.rounds import LOG
from separatrix.cluster.separation import SourceSeparability, decided
from separatrix.errors import ParameterError
from separatrix.models.linear_classifier import LinearClassifier
from separatrix.proofs.novikoff import MistakeBound
from separatrix.validation import need_flag


def separability(
    source: AnySource, *, target: str | None = None, intercept: bool = True, **options: Any
) -> SourceSeparability:
    """Decide whether a hyperplane separates the two classes of files in partitions, and prove it.

    Columns are taken as they are: each number as the double it is read as. The certificate is that of one machine: its
    fingerprint is of the rows in the order of the source, so that a single file is checked as it is, and several files
    as their rows one after the other.

    Parameters
    ----------
    source : str, path or list of paths
        As in :func:`fit`.
    target : str or None
        The column of the classes.
    intercept : bool
        Whether the hyperplane may have one.
    **options
        As in :func:`fit`: address, workers, choices (``drop``), reading, partition_bytes, progress.

    Returns
    -------
    SourceSeparability

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from separatrix import cluster
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "xor.csv").write_text("a,b,y\\n0,0,0\\n0,1,1\\n1,0,1\\n1,1,0\\n")
    ...     found = cluster.separability(f"{folder}/xor.csv", address="here")
    ...
    >>> found.verdict, found.witness.tolist()
    ('overlap', [0, 1, 2, 3])
    """
    need_flag("intercept", intercept)
    with opened(LinearClassifier, source, target, as_numbers=True, **options) as (_, rows):
        if len(rows.classes) != 2:
            raise ParameterError(f"{rows.name} has {len(rows.classes)} classes: on a cluster two can be asked about.")
        return decided(rows, None, intercept, certify=True)


def mistake_bound(
    source: AnySource, *, target: str | None = None, intercept: bool = True, **options: Any
) -> MistakeBound:
    """The most mistakes that a perceptron from zero can make on files in partitions, and that mixing can weigh.

    Parameters
    ----------
    source : str, path or list of paths
        As in :func:`fit`.
    target : str or None
        The column of the two classes.
    intercept : bool
        Whether the perceptron has a bias.
    **options
        As in :func:`separability`.

    Returns
    -------
    MistakeBound

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from separatrix import cluster
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = "a,b,y\\n-1,2,0\\n1,0,1\\n1,1,1\\n-1,0,0\\n-1,-2,0\\n1,-1,1\\n"
    ...     _ = (Path(folder) / "rows.csv").write_text(rows)
    ...     cluster.mistake_bound(f"{folder}/rows.csv", intercept=False, address="here").most
    ...
    5
    """
    need_flag("intercept", intercept)
    with opened(LinearClassifier, source, target, as_numbers=True, **options) as (_, rows):
        found = bound_of(rows, intercept)
        made = found.certificate  # while the workers can still be asked for the fingerprint
        LOG.info("%s", made)
        return found
