"""The stream itself: read a piece, predict its rows, learn from them, write, and keep a checkpoint now and then.

Everything that a checkpoint keeps is the same however the source was cut into pieces, so that a stream that was
killed and taken up again ends with the same model and the same output as one that ran through.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.data.conversions import local_file
from separatrix.data.file_pieces import UTF16, Bytes, as_utf8, encoding_of, in_order, opened, workers
from separatrix.data.reading_plan import kept_of
from separatrix.data.row_files import csr_rows
from separatrix.data.sniffer import WINDOW
from separatrix.errors import CheckpointError, DataError, ParameterError
from separatrix.stream import checkpoint, growing_encoder
from separatrix.stream.block_learning import BlockArrivals, arrivals_of
from separatrix.stream.byte_sources import Feed, FileFeed, feed_of
from separatrix.stream.checkpoint import Saver
from separatrix.stream.formats import Format, begun_table, format_of, sparse_format, without_start
from separatrix.stream.growing_encoder import GrowingEncoder, table_model
from separatrix.stream.line_pieces import LineReader, Piece
from separatrix.stream.outputs import Output, StatusLine, prediction_lines, reject_lines
from separatrix.stream.row_batches import Reject, Rows, SparseRows
from separatrix.stream.scorecard import Scorecard, losses_of
from separatrix.stream.stopping import Stopping
from separatrix.stream.stream_plan import MOST_FEATURES, StreamPlan
from separatrix.stream.table_formats import Csv, JsonLines

MOST_NOTES = 1000
TRIED = 1 << 12  # bytes without a zero byte, in which text is known as such


class StreamRun:
    """One run of a stream, from its beginning or from a checkpoint."""

    def __init__(self, learner: Any, plan: StreamPlan, stopping: Stopping) -> None:
        self.plan, self.stopping = plan, stopping
        self.identity = plan.identity(learner)
        regression = learner._estimator_type == "regressor"
        self.arrivals = arrivals_of(learner, plan.classes, plan.block, grows=True)
        if isinstance(self.arrivals, BlockArrivals) and plan.features is not None:
            self.arrivals.make_room(plan.features)
        self.card = Scorecard(plan.window, plan.alarm, regression)
        self.encoder: GrowingEncoder | None = None
        self.format: Format | None = None
        self.format_name = plan.format
        self.least: int | None = None  # feature number of svmlight
        self.rejected = 0
        self.foreign = 0  # labels that are not among the declared classes
        self.notes: list[str] = []  # the first of them: a stream has no end
        self.resumed = 0  # rows of the checkpoint
        self.seconds = 0.0
        found = self._found()
        kept = {} if found is None else found.state
        self.position: dict[str, Any] | None = kept.get("position")
        self._opened = contextlib.ExitStack()
        try:
            self._open(kept)
            if found is not None:
                self._restore(kept)
        except BaseException:
            self.close()
            raise
        outputs = [own for own in (self.out, self.reject_file) if own is not None]
        self.saver = Saver(plan.checkpoint, plan.checkpoint_rows, plan.checkpoint_seconds, outputs)
        self.saver.rows = self.saver.kept = self.resumed

    def _open(self, kept: dict[str, Any]) -> None:
        plan, stopping = self.plan, self.stopping
        self.feed: Feed = self._opened.enter_context(contextlib.closing(feed_of(self._source(), plan.follow, stopping)))
        self.out = self._opened.enter_context(contextlib.closing(Output(plan.out, stopping, kept.get("output"))))
        self.reject_file: Output | None = None
        if plan.rejects is not None:
            rejects = Output(plan.rejects, stopping, kept.get("reject_output"))
            self.reject_file = self._opened.enter_context(contextlib.closing(rejects))

    def _source(self) -> str:
        """The source, or a copy in UTF-8 of a file of text in another encoding."""
        plan, path = self.plan, Path(local_file(self.plan.source))
        if plan.follow or not path.is_file():
            return plan.source
        with opened(path) as file:
            start = file.read(1 << 16).lstrip()
        kind = plan.format or format_of(plan.source, start.partition(b"\n")[0])
        if kind not in ("csv", "jsonl") or (b"\0" in start[:TRIED] and not start.startswith(UTF16)):
            return str(path)
        found = plan.columns.reading.encoding or encoding_of(path, path.name)
        if found is None:
            return str(path)
        self.notes += [f"encoding = {found}"] if plan.columns.reading.encoding is None else []
        return str(as_utf8(path, path.name, found))

    def close(self) -> None:
        """Close all files."""
        self._opened.close()

    def _found(self) -> checkpoint.FoundCheckpoint | None:
        plan = self.plan
        if plan.checkpoint is None:
            return None
        if not plan.resume:
            if any(own.exists() for own in checkpoint.generations(plan.checkpoint)):
                raise ParameterError(
                    f"{plan.checkpoint} is there already: add --resume to go on from it, or remove it to begin anew."
                )
            return None
        found = checkpoint.read(plan.checkpoint)
        if found is None:
            self.notes.append(f"there is no checkpoint {plan.checkpoint} yet: beginning with the first row")
            return None
        self.notes += [f"checkpoint refused: {why}" for why in found.refused]
        if found.refused:
            self.notes.append(f"going on from the one before it, {found.path.name}")
        for name, value in self.identity.items():
            if found.state["identity"].get(name) != value:
                raise CheckpointError(
                    f"{found.path.name} was made with {name} {found.state['identity'].get(name)!r}, and now it is "
                    f"{value!r}: use the same options, or start again without --resume."
                )
        return found

    def _restore(self, kept: dict[str, Any]) -> None:
        self.arrivals.restore(kept["arrivals"])
        self.card, self.encoder = kept["card"], kept["encoder"]
        self.format_name, self.least = kept["format"], kept["least"]
        self.rejected, self.foreign = kept["rejected"], kept["foreign"]
        self.resumed = self.card.rows
        if self.format_name is not None:
            self.format = sparse_format(self.format_name, self._most_features()) or kept["table"]
        if self.position is not None:
            self.feed.go_to(self.position)
        if not isinstance(self.feed, FileFeed):
            self.notes.append(
                f"{self.resumed:,} rows that were learned before were skipped, compared by their checksum"
            )
        if not self.out.regular:
            self.notes.append(
                f"{self.out.name} cannot be taken back: rows behind row {self.resumed:,} may be written again"
            )

    def _most_features(self) -> int:
        return (self.plan.features or MOST_FEATURES) + 1

    def snapshot(self) -> dict[str, Any]:
        """All that is needed to go on from here."""
        return {
            "identity": self.identity,
            "position": self.position,
            "output": self.out.offset if self.out.regular else None,
            "reject_output": 0 if self.reject_file is None else self.reject_file.offset,
            "arrivals": self.arrivals.state(),
            "card": deepcopy(self.card),
            "encoder": None if self.encoder is None else deepcopy(self.encoder),
            "format": self.format_name,
            "table": deepcopy(self.format) if isinstance(self.format, (Csv, JsonLines)) else None,
            "least": self.least,
            "rejected": self.rejected,
            "foreign": self.foreign,
        }

    def run(self) -> None:
        """Until the source ends; a signal raises StopAsked between two pieces."""
        started, status = time.monotonic(), StatusLine(self.plan.quiet)

        def between() -> None:
            if self.saver.due(self.card.rows):
                self.saver.save(self.card.rows, self.snapshot)
            self.notes = (self.notes + self.feed.notes)[:MOST_NOTES]
            self.feed.notes.clear()
            status.show(self.card, self.rejected)

        self.stopping.idle = between
        try:
            for piece, rows in self._parsed():
                self._take(piece, rows)
                between()
                self.stopping.check()
        finally:
            self.seconds = time.monotonic() - started
            status.clear()

    def finish(self) -> None:
        """A last checkpoint of all rows so far."""
        if isinstance(self.format, (Csv, JsonLines)) and self.format.missing:
            told = ", ".join(f"{many:,} of {name!r}" for name, many in self.format.missing.items())
            self.notes.append(f"cells called missing: {told}")
        if self.position is not None:
            self.saver.save(self.card.rows, self.snapshot, wait=True)
        self.saver.finish()

    def model(self) -> Any:
        """The model of all rows so far."""
        about: dict[str, Any] = {"source": self.plan.source, "rows": self.card.labelled, "streamed": True}
        if isinstance(self.format, (Csv, JsonLines)):
            about |= kept_of(self.plan.columns.reading, self.format.plans.get(self.plan.columns.target))
        first = 0 if self.least == 0 or self.format_name != "svmlight" else 1
        return table_model(self.arrivals, self.encoder, first, self.plan.columns.target or None, about)

    def _parsed(self) -> Iterator[tuple[Piece, Rows | None]]:
        reader = LineReader(self.feed, self._line(), self.plan.longest_line)
        before = self._begin() if self.format is None else 0
        if isinstance(self.format, Csv):
            reader.complete = self._complete
        pieces = _behind(iter(reader), before)
        threads = 1 if self.feed.live or self.format_name not in ("svmlight", "csv") else workers()
        yield from in_order(self._work, pieces, threads)

    def _complete(self, text: Bytes, more: int, last: bool) -> int:
        assert isinstance(self.format, Csv)
        return len(text) if last else self.format.complete(text, more)

    def _line(self) -> int:
        """The number of the next line; a file that was replaced begins anew."""
        return 1 if self.position is None or not self.feed.offset else int(self.position["line"])

    def _work(self, piece: Piece) -> tuple[Piece, Rows | None]:
        if piece.fault or self.format is None or not len(piece.text):
            return piece, None
        return piece, self.format.parse(piece.text)

    def _begin(self) -> int:
        """Find the format and, of a table, the plan of its first rows; how many bytes come before the first row."""
        plan = self.plan
        if self.format_name is None or sparse_format(self.format_name, 1) is None:
            head, whole = self.feed.head(WINDOW)
            line = head.lstrip().partition(b"\n")[0]
            if not line:
                return 0
            self.format_name = self.format_name or format_of(plan.source, line)
        self.format = sparse_format(self.format_name, self._most_features())
        if self.format is None:
            self.format, before = begun_table(self.format_name, head, whole, plan.source, deepcopy(plan.columns))
            return before
        return 0

    def _take(self, piece: Piece, rows: Rows | None) -> None:
        """Predict, score and learn the rows of a piece, and write what was predicted and rejected."""
        rejects = [] if rows is None else rows.rejects
        if piece.fault:
            rejects = [Reject(0, 0, 0, piece.fault, piece.text.tobytes())]
        if rejects and self.plan.strict:
            first = rejects[0]
            raise DataError(
                f"{self.plan.source} line {piece.line + first.line}: {first.reason}; leave --broken refuse out to "
                "go on."
            )
        lines = b"\n" * len(rejects)
        if rows is not None and rows.n:
            labelled = self._labelled(rows)
            judged = self.arrivals.take(self._matrix(rows), rows.labels, labelled, rows.weights)
            loss, unknown = losses_of(judged, rows.labels, labelled)
            for at in self.card.add(rows.n, loss, unknown):
                self.notes.append(f"drift warning after {at:,} labelled rows: the rate of mistakes has risen")
            lines = prediction_lines(judged, rejects, self.plan.scores)
        self.rejected += len(rejects)
        self.position = piece.position
        if self.reject_file is not None and rejects:
            self.reject_file.write(reject_lines(piece, rejects))
        self.out.write(lines)

    def _labelled(self, rows: Rows) -> Any:
        """Which rows are learned from: those with a label that may occur, and with a weight."""
        labelled = rows.labelled
        if rows.weights is not None and not rows.weights.all():
            labelled = (rows.weights > 0) & (True if labelled is None else labelled)
        declared = self.plan.classes
        if declared is not None and not self.card.regression:
            own = np.zeros(rows.n, dtype=np.bool_)
            for label in declared:
                own |= rows.labels == label
            if not own.all():
                has = own if labelled is None else own & labelled
                self.foreign += int(np.count_nonzero(~own if labelled is None else labelled & ~own))
                labelled = has
        return labelled

    def _matrix(self, rows: Rows) -> Any:
        """Rows as the learner takes them."""
        if isinstance(rows, SparseRows):
            if rows.least is not None:
                self.least = rows.least if self.least is None else min(self.least, rows.least)
            if isinstance(self.arrivals, BlockArrivals) and self.format_name == "svmlight":
                if self.least == 0:
                    raise DataError(f"{self.plan.source} has a feature number 0: this learner counts them from 1.")
                rows.indices -= 1
                return rows.matrix(self.arrivals.make_room(rows.most))
            return rows.matrix(self.arrivals.make_room(rows.most + 1))
        if self.encoder is None:
            self.encoder = GrowingEncoder(self.plan.standard, self.plan.features or growing_encoder.MOST_FEATURES)
        assert isinstance(self.format, (Csv, JsonLines))
        self.encoder.plans = self.format.plans
        if rows.cells is not None:
            values, columns, ends = self.encoder.sparse(rows.cells)
        elif rows.codes is None and rows.numbers is not None:
            self.encoder.begin(rows.numeric)
            self.arrivals.grows = False  # type: ignore[union-attr]  # nothing grows where all columns are numbers
            return self.encoder.standardised(rows.numbers)
        else:
            values, columns, ends = self.encoder.table(rows)
        return csr_rows(values, columns, ends, self.arrivals.make_room(self.encoder.width))


def _behind(pieces: Iterator[Piece], before: int) -> Iterator[Piece]:
    """Pieces without the bytes that come before the first row."""
    for piece in pieces:
        if before and not piece.fault:
            size = min(before, len(piece.text))
            before, piece = before - size, without_start(piece, size)
            if not len(piece.text):
                continue
        yield piece
