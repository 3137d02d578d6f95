"""Fit any learner to files larger than memory: the rows go through a cache on disk, and are mapped into memory.

Files whose rows are numbers already are read once. Tables are read once too, into a file of their columns; rounds over
that file decide how columns are encoded, as on a cluster, and the encoded rows go into the cache.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.cluster.cluster_fit import AnySource
from separatrix.cluster.encoded_source import EncodedSource, encoded_source
from separatrix.cluster.partitions import SourcePart, partitions_of, paths_of
from separatrix.cluster.rounds import Progress, SpilledRounds
from separatrix.data.cached_chunks import Chunk, chunks_of_file
from separatrix.data.file_kinds import kind_of
from separatrix.data.number_writing import Writing
from separatrix.data.reading_plan import ColumnPlan, Reading, kept_of
from separatrix.data.row_cache import MEMORY, CacheContent, RowCache, cached, need_memory, piece_of, place_of, signature
from separatrix.data.tasks import label_values, positive_class
from separatrix.errors import DataError
from separatrix.features.encoder import Choices, Encoder, summary
from separatrix.features.table_model import TableModel, fingerprint
from separatrix.persistence.json_values import pack, plain, unpack
from separatrix.persistence.table_headers import encoder_from, encoder_header

SHARE = 32  # a partition of a table has this part of the memory, as text
LEAST = 1 << 20  # bytes of a partition


@dataclass
class CachedSource:
    """A source on disk, ready to learn from: rows and labels, the encoder, and what was noticed."""

    rows: RowCache
    name: str
    target: str
    y: NDArray[Any]
    encoder: Encoder | None
    notes: list[str]
    counts: dict[Any, int] | None = None  # of the classes, where they were counted
    plan: ColumnPlan | None = None  # how the target is written

    def classes(self) -> tuple[list[Any], list[int]]:
        """The classes, and how many rows each has."""
        if self.counts is not None:
            return list(self.counts), list(self.counts.values())
        labels, counts = np.unique(self.y, return_counts=True)
        return labels.tolist(), counts.tolist()


def fit_source(
    learner: Any,
    source: AnySource,
    target: str | None = None,
    *,
    memory: int = MEMORY,
    folder: str | os.PathLike[str] | None = None,
    keep: bool = False,
    positive: Any = None,
    choices: Choices | None = None,
    reading: Reading | None = None,
    progress: Progress | None = None,
) -> TableModel:
    """Fit any learner to files larger than memory, on this machine.

    Parameters
    ----------
    learner : any learner
        It is fitted in place.
    source : str, path or list of paths
        A file, a glob or files: svmlight, Vowpal Wabbit's text, CSV, Parquet.
    target : str or None
        The column to learn; guessed if it is named target, label, class or y.
    memory : int
        Approximate memory for reading, in bytes. Vectors with a number for every row come on top.
    folder : path or None
        Folder of the cache; None: the folder that SEPARATRIX_CACHE names, or the user's folder for caches. Only
        the user may read it.
    keep : bool
        Whether the cache is kept and reused while the files are unchanged; False: it is removed when the process
        ends, however it ends.
    positive : label or None
        The class that scores are for, of two.
    choices : Choices or None
        What columns are, and whether they are standardised.
    reading : Reading or None
        How the files are written.
    progress : callable or None
        Called before each pass over a table with what is done, the number of the pass and the rows of the source.

    Returns
    -------
    TableModel
        The learner with the encoder of its table, as ``separatrix fit`` makes it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from separatrix import AveragedPerceptron
    >>> from separatrix.cluster import fit_source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_text("x,y\\n" + "1,yes\\n2,yes\\n-1,no\\n-3,no\\n" * 1000)
    ...     model = fit_source(AveragedPerceptron(), path, "y", folder=folder)
    ...
    >>> model.about["rows"], model.learner.errors_, model.positive
    (4000, 0, 'yes')
    """
    regression = learner._estimator_type == "regressor"
    found = cached_source(source, target, regression, memory, folder, keep, choices, reading, progress)
    return fit_cached(learner, found, positive, reading)


def fit_cached(learner: Any, found: CachedSource, positive: Any, reading: Reading | None) -> TableModel:
    """Fit a learner to rows that lie in a cache."""
    chosen, X, weights = None, found.rows.X, found.rows.weights
    if learner._estimator_type != "regressor":
        chosen = positive_class(*found.classes(), found.target, positive, found.notes)
    learner.fit(X, found.y, **({} if weights is None or bool((weights == 1).all()) else {"sample_weight": weights}))
    about = {"source": found.name, "rows": found.rows.n, "fingerprint": fingerprint(X, found.y)}
    kept = kept_of(reading or Reading(), found.plan)
    return TableModel(learner, found.encoder, found.target, chosen, {**about, **kept})


def cached_source(
    source: AnySource,
    target: str | None,
    regression: bool,
    memory: int = MEMORY,
    folder: str | os.PathLike[str] | None = None,
    keep: bool = False,
    choices: Choices | None = None,
    reading: Reading | None = None,
    progress: Progress | None = None,
    as_numbers: bool = False,
) -> CachedSource:
    """The rows of a source in a cache, with their labels; ``as_numbers`` takes columns as they are, for proofs."""
    need_memory(memory)
    choices, reading = choices or Choices(), reading or Reading()
    paths = paths_of(source)
    several = os.fspath(source) if isinstance(source, (str, os.PathLike)) else f"{len(paths)} files"
    name = paths[0].name if len(paths) == 1 else several
    about: dict[str, Any] = {"files": [signature(path) for path in paths], "target": target}
    kinds = {kind_of(path) for path in paths if path.stat().st_size}
    if kinds and kinds <= {"svmlight", "vw"}:
        if len(kinds) > 1:
            raise DataError(f"the files of {name} are of several kinds (svmlight, vw): name files of one kind.")
        if choices != Choices():
            raise DataError(f"{name} has no columns to choose from: its rows are numbers already.")
        if target is not None:
            raise DataError(f"{name} has no column names: its labels are the target; leave target out.")
        pieces = (chunks_of_file(path, None, piece_of(memory)) for path in paths)
        rows = cached(lambda: CacheContent(chain.from_iterable(pieces)), about, folder, keep)
        return CachedSource(rows, name, "label", rows.y if regression else label_values(rows.y), None, [])
    choices.check()
    own = reading.with_text(choices.text)
    about |= {"choices": asdict(choices), "reading": asdict(reading), "regression": regression, "proof": as_numbers}
    parts = partitions_of(paths, own, max(LEAST, memory // SHARE))
    need_divisible(parts, memory)
    with SpilledRounds(parts, place_of(folder), progress) as rounds:

        def content() -> CacheContent:
            found = encoded_source(rounds, name, target, regression, choices, own, as_numbers)
            facts, tensors = facts_of(found)
            return CacheContent(chunks_of_parts(rounds), facts, tensors)

        rows = cached(content, plain(about), folder, keep)
    return source_from_facts(rows, name)


def need_divisible(parts: list[SourcePart], memory: int) -> None:
    """Refuse files that can only be read whole, and are too large for that."""
    for part in parts:
        if part.end is None and part.kind != "parquet" and part.size > memory // 4:
            raise DataError(
                f"{Path(part.path).name} can only be read whole ({part.size:,} bytes, with memory for {memory:,}): "
                "unpack it, write it as CSV or Parquet, or allow more memory."
            )


def chunks_of_parts(rounds: SpilledRounds) -> Iterator[Chunk]:
    """Encoded rows and class numbers or targets, partition by partition."""
    for index in range(rounds.leaves):
        part = rounds.part(index)
        if not part.n:
            continue
        if isinstance(part.X, np.ndarray):
            yield Chunk(part.y, np.asarray(part.X, dtype=np.float64), weights=part.weights)
        else:
            sparse = (part.X.data, part.X.indices, part.X.indptr[1:])
            yield Chunk(part.y, None, sparse, part.X.shape[1], weights=part.weights)


def facts_of(found: EncodedSource) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a cache keeps of a table beside its rows."""
    tensors: dict[str, Any] = {}
    assert found.encoder is not None
    facts = {
        "target": found.target.name,
        "classes": pack(found.target.classes, "classes", tensors),
        "counts": list(found.target.counts),
        "encoder": encoder_header(found.encoder, tensors),
        "notes": summary(found.encoder, found.noted),
        "writing": None if found.target.writing is None else found.target.writing.to_dict(),
    }
    return facts, tensors


def source_from_facts(rows: RowCache, name: str) -> CachedSource:
    """A table by what its cache keeps."""
    facts = rows.facts
    classes = unpack(facts["classes"], rows.tensors, set())
    encoder = encoder_from(facts["encoder"], rows.tensors, set())
    y = rows.y if classes is None else classes[rows.y]
    counts = None if classes is None else dict(zip(classes.tolist(), facts["counts"], strict=True))
    written = None if facts["writing"] is None else ColumnPlan("number", Writing.from_dict(facts["writing"]))
    return CachedSource(rows, name, facts["target"], y, encoder, list(facts["notes"]), counts, written)
