"""The certificate of an audit, and the matrix that it refers to in a file that the stand-alone checker reads.

A large table that is not separable is certified by the few rows that decide it: if no hyperplane separates
some of the rows, none separates all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.best_hyperplane import BestHyperplane
from separatrix.auditing.budget import Session
from separatrix.auditing.hyperplane_answers import CertificateFacts
from separatrix.auditing.phrasing import count
from separatrix.auditing.separation import DecidedSeparation
from separatrix.checker import label_name
from separatrix.errors import CertificateError
from separatrix.proofs.certificate.certificate import Certificate, CertifiedTable, Subject
from separatrix.proofs.certificate.checkable_rows import put_csv, put_svmlight
from separatrix.proofs.separability.verdict import Given, Separability
from separatrix.proofs.separability.verdict_certificate import certificate_of
from separatrix.validation import Labels, Table

WHOLE = 5_000_000  # cells up to which all rows are written
LONGEST = 5_000_000  # bytes of a certificate of the second answer
LABEL = 100  # letters of a label in the file


@dataclass(frozen=True)
class FileNames:
    """Target, columns (None: sparse rows have none) and classes, by names that a file can carry."""

    target: str
    columns: tuple[str, ...] | None
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Certified:
    """A certificate, and the rows that its file holds (None: all)."""

    certificate: Certificate
    rows: NDArray[np.intp] | None
    names: FileNames
    table: AuditTable

    @property
    def file_name(self) -> str:
        return "certified.svm" if self.table.sparse else "certified.csv"

    @property
    def facts(self) -> CertificateFacts:
        parts = self.certificate.content.get("certificates", [self.certificate.content])
        rows = None if self.rows is None else self.rows.tolist()
        return CertificateFacts([part["claim"] for part in parts], rows, self.certificate.size, self.file_name)

    @property
    def size(self) -> int:
        """How many rows the file holds."""
        return self.table.n if self.rows is None else len(self.rows)

    def save(self, folder: Path) -> None:
        """Write both files."""
        self.certificate.save(folder / "certificate.json")
        with (folder / self.file_name).open("w", newline="", encoding="utf-8") as file:
            self._put_rows(file, self.rows)

    def rows_text(self, numbers: list[int] | None, most: int) -> str | None:
        """The file, or these rows of it, as text; None where that has more than so many bytes."""
        rows = self.rows if numbers is None else np.array(numbers) if self.rows is None else self.rows[numbers]
        held = self.size if numbers is None else len(numbers)
        cells = self.table.rows.nnz if self.table.sparse else held * self.table.rows.shape[1]
        if 2 * cells > most and not (self.table.sparse and numbers is not None):
            return None
        file = StringIO()
        self._put_rows(file, rows)
        text = file.getvalue()
        return text if len(text.encode()) <= most else None

    def _put_rows(self, file: TextIO, rows: NDArray[np.intp] | None) -> None:
        X, codes = self.table.rows, self.table.codes
        if rows is not None:
            X, codes = X[rows], codes[rows]
        labels = [self.names.labels[k] for k in codes.tolist()]
        if self.names.columns is None:
            put_svmlight(file, X, labels)
        else:
            put_csv(file, self.names.columns, X, self.names.target, labels)


def certify(
    table: AuditTable, session: Session, separation: DecidedSeparation, best: BestHyperplane
) -> Certified | None:
    """The certificate of the first two answers; None where nothing was proved."""
    if separation.verdict == "undecided":
        session.clock.leave_out("certificate", "nothing was proved")
        return None
    names = _file_names(table)
    rows = None
    if table.cells > WHOLE and separation.verdict != "complete":
        rows = _deciding_rows(table, session, separation, best)
    try:
        source = _source(table, rows, names)
        if rows is None:
            certificate = _of_all_rows(table, session, separation, best, source)
        else:
            certificate = _of_some_rows(table, session, rows, best, source)
    except CertificateError as error:
        session.clock.leave_out("certificate", str(error))
        return None
    return Certified(certificate, rows, names, table)


def _file_names(table: AuditTable) -> FileNames:
    """Names that a file can carry and the checker tells apart."""
    labels = [str(c) for c in table.classes.tolist()]
    odd = any(not label.isprintable() or len(label) > LABEL or label != label.strip() for label in labels)
    if table.sparse:
        odd = odd or any(c in label for label in labels for c in " \t#")
    names = [label_name(label) for label in labels]
    if odd or len(set(names)) < len(names) or "" in names:
        labels = [f"class_{k}" for k in range(len(labels))]
    target = table.task.target
    if table.sparse:
        return FileNames(target, None, tuple(labels))
    seen, columns = {target}, []
    for name in table.feature_names:
        made, k = name, 2
        while made in seen:
            made, k = f"{name} ({k})", k + 1
        seen.add(made)
        columns.append(made)
    return FileNames(target, tuple(columns), tuple(labels))


def _source(table: AuditTable, rows: NDArray[np.intp] | None, names: FileNames) -> CertifiedTable:
    """The table of the file; svmlight names neither the target nor the columns."""
    X = table.rows if rows is None else table.rows[rows]
    codes = table.codes if rows is None else table.codes[rows]
    labels = Labels(np.array(names.labels, dtype=object), codes)
    return CertifiedTable(Table(X, names.columns), labels, (), None if table.sparse else names.target)


def _given(source: CertifiedTable) -> Given:
    return Given(source.table, source.labels, None, source, True, "binary64")


def _of_some_rows(
    table: AuditTable, session: Session, rows: NDArray[np.intp], best: BestHyperplane, source: CertifiedTable
) -> Certificate:
    """The rows in the file are decided by themselves; those of them that prove the least number of mistakes do so."""
    first = _given(source).two_groups([table.positive], [1 - table.positive]).certificate
    second = _of_best(session, best, source, rows)
    return first if second is None else Certificate.bundle([first, second])


def _of_all_rows(
    table: AuditTable, session: Session, separation: DecidedSeparation, best: BestHyperplane, source: CertifiedTable
) -> Certificate:
    """The proofs that were found, under the names of the file."""

    def renamed(found: Separability) -> Certificate:
        return certificate_of(found._reduction, _in_file(found._subject, source))

    if separation.binary is not None:
        first, second = renamed(separation.binary), _of_best(session, best, source)
        return first if second is None else Certificate.bundle([first, second])
    assert separation.each is not None
    every = [separation.together] if separation.together is not None else []
    return Certificate.bundle(renamed(part) for part in [*every, *separation.each.parts.values()])


def _of_best(
    session: Session, best: BestHyperplane, source: CertifiedTable, rows: NDArray[np.intp] | None = None
) -> Certificate | None:
    """The proof of the second answer, where there is one of reasonable size; of these rows, or all."""
    if best.mistakes is not None:
        bracket = best.mistakes.proof
        made = bracket.certificate_in(_in_file(bracket.subject, source), rows)
    elif best.margin is not None and rows is None:
        made = replace(best.margin, _subject=_in_file(best.margin._subject, source)).certificate
    else:
        return None
    if made.size <= LONGEST:
        return made
    session.clock.leave_out("certificate of the second answer", f"it would have {made.size / 1e6:.0f} MB")
    return None


def _in_file(subject: Subject, source: CertifiedTable) -> Subject:
    """What a proof is about, with the columns and classes as the file names them."""
    called = {str(k): name for k, name in enumerate(source.classes)}
    sides = {
        part: None if listed is None else [called[name] for name in listed] for part, listed in subject.sides.items()
    }
    return replace(subject, source=source, sides=sides)


def _deciding_rows(
    table: AuditTable, session: Session, separation: DecidedSeparation, best: BestHyperplane
) -> NDArray[np.intp] | None:
    """Rows that alone prove the verdict (or at least that no hyperplane separates) and the lower bound."""
    found = separation.binary
    if found is None:
        session.clock.leave_out("a short certificate", f"{count(len(table.classes))} classes need all rows")
        return None
    rows = np.sort(found.witness).astype(np.intp)
    if found.verdict == "overlap" and len(found._reduction.circulation) < table.n:
        spanning = np.array(sorted(found._reduction.circulation), dtype=np.intp)
        given = _given(_source(table, spanning, _file_names(table)))
        part = given.two_groups([table.positive], [1 - table.positive])
        if part.verdict == "overlap" and "null" not in part.certificate.content:
            rows = spanning
    if best.mistakes is not None:
        rows = np.union1d(rows, best.mistakes.proof.proof_rows).astype(np.intp)
    return rows
