"""The certificate of an audit, and the matrix it speaks of in a file that the stand-alone checker reads.

A large table that is not separable is certified by the few rows that decide it: if no hyperplane separates
some of the rows, none separates all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.best import Best
from separatrix.auditing.existence import Existence
from separatrix.auditing.phrasing import count, plural
from separatrix.auditing.study import Study
from separatrix.checker import label_name
from separatrix.errors import CertificateError
from separatrix.persistence.checkable_rows import write_csv, write_svmlight
from separatrix.proofs.certificate import Certificate, Source, Subject
from separatrix.proofs.separability import Given, Separability, certificate_of
from separatrix.validation import Labels, Table

WHOLE = 5_000_000  # cells up to which all rows are written
LONGEST = 5_000_000  # bytes of a certificate of the second answer
LABEL = 100  # letters of a label that a file of the checker's carries


@dataclass(frozen=True)
class Certified:
    """A certificate, and the rows that its file holds (None: all)."""

    certificate: Certificate
    rows: NDArray[np.intp] | None
    names: tuple[str, ...] | None
    target: str
    labels: tuple[str, ...]  # of each class, as the file has them
    study: Study

    @property
    def file_name(self) -> str:
        return "certified.svm" if self.study.sparse else "certified.csv"

    @property
    def content(self) -> dict[str, Any]:
        n = self.study.n if self.rows is None else len(self.rows)
        parts = self.certificate.content.get("certificates", [self.certificate.content])
        about = "all rows" if self.rows is None else f"the {plural(n, 'row')} that decide it"
        return {
            "claims": [part["claim"] for part in parts],
            "about": about,
            "rows": None if self.rows is None else self.rows.tolist(),
            "bytes": self.certificate.size,
            "data": self.file_name,
        }

    def save(self, folder: Path) -> None:
        """Write both files."""
        self.certificate.save(folder / "certificate.json")
        X, codes = self.study.rows, self.study.codes
        if self.rows is not None:
            X, codes = X[self.rows], codes[self.rows]
        labels = [self.labels[k] for k in codes.tolist()]
        path = folder / self.file_name
        if self.study.sparse:
            write_svmlight(path, X, labels)
        else:
            assert self.names is not None
            write_csv(path, self.names, X, self.target, labels)


def certify(study: Study, existence: Existence, best: Best) -> Certified | None:
    """The certificate of the first answer; None where nothing was proved."""
    if existence.verdict == "undecided":
        study.clock.leave_out("certificate", "nothing was proved")
        return None
    target, names, labels = _header(study)
    rows = None
    if study.plan.cells > WHOLE and existence.verdict != "complete":
        rows = _deciding_rows(study, existence)
    try:
        source = _source(study, rows, target, names, labels)
        certificate = _certificate(study, existence, best, rows, source)
    except CertificateError as error:
        study.clock.leave_out("certificate", str(error))
        return None
    return Certified(certificate, rows, names, target, labels, study)


def _header(study: Study) -> tuple[str, tuple[str, ...] | None, tuple[str, ...]]:
    """Target, columns and classes by names that a file can carry and the checker tells apart."""
    labels = [str(c) for c in study.classes.tolist()]
    odd = any(not label.isprintable() or len(label) > LABEL or label != label.strip() for label in labels)
    if study.sparse:
        odd = odd or any(c in label for label in labels for c in " \t#")
    names = [label_name(label) for label in labels]
    if odd or len(set(names)) < len(names) or "" in names:
        labels = [f"class_{k}" for k in range(len(labels))]
    if study.sparse:
        return study.task.target, None, tuple(labels)
    seen, columns = {study.task.target}, []
    for name in study.feature_names:
        made, k = name, 2
        while made in seen:
            made, k = f"{name} ({k})", k + 1
        seen.add(made)
        columns.append(made)
    return study.task.target, tuple(columns), tuple(labels)


def _source(
    study: Study, rows: NDArray[np.intp] | None, target: str, names: tuple[str, ...] | None, labels: tuple[str, ...]
) -> Source:
    """The table of the file; svmlight has neither a name for the target nor for columns."""
    X = study.rows if rows is None else study.rows[rows]
    codes = study.codes if rows is None else study.codes[rows]
    classes = Labels(np.array(labels, dtype=object), codes)
    return Source(Table(X, names), classes, (), None if study.sparse else target)


def _given(source: Source) -> Given:
    return Given(source.table, source.labels, None, source, True, "binary64")


def _certificate(
    study: Study, existence: Existence, best: Best, rows: NDArray[np.intp] | None, source: Source
) -> Certificate:
    """The proofs that were found, under the names of the file; the rows of a short one are decided by themselves."""
    if rows is not None:
        return _given(source).two_groups([study.positive], [1 - study.positive]).certificate

    def renamed(found: Separability) -> Certificate:
        return certificate_of(found._reduction, _in_file(found._subject, source))

    if existence.two is not None:
        first, more = renamed(existence.two), _about_best(study, best, source)
        return first if more is None else Certificate.bundle([first, more])
    assert existence.each is not None
    every = [existence.together] if existence.together is not None else []
    return Certificate.bundle(renamed(part) for part in [*every, *existence.each.parts.values()])


def _about_best(study: Study, best: Best, source: Source) -> Certificate | None:
    """The proof of the second answer, where there is one of readable size."""
    found: Any = best.raw if best.mistakes is None else best.mistakes.whole
    if found is None:
        return None
    made: Certificate = replace(found, _subject=_in_file(found._subject, source)).certificate
    if made.size <= LONGEST:
        return made
    study.clock.leave_out("certificate of the second answer", f"it would have {made.size / 1e6:.0f} MB")
    return None


def _in_file(subject: Subject, source: Source) -> Subject:
    """What a proof is about, with the columns and classes called as the file calls them."""
    called = {str(k): name for k, name in enumerate(source.classes)}
    sides = {
        part: None if listed is None else [called[name] for name in listed] for part, listed in subject.sides.items()
    }
    return replace(subject, source=source, sides=sides)


def _deciding_rows(study: Study, existence: Existence) -> NDArray[np.intp] | None:
    """Rows that alone prove the verdict, or at least that no hyperplane separates; None: all are needed."""
    found = existence.two
    if found is None:
        study.clock.leave_out("a short certificate", f"{count(len(study.classes))} classes need all rows")
        return None
    support = _support(found)
    if support is not None and support < study.n:
        rows = np.array(sorted(found._reduction.circulation), dtype=np.intp)
        given = _given(_source(study, rows, "", None, tuple(study.labels)))
        part = given.two_groups([study.positive], [1 - study.positive])
        if part.verdict == "overlap" and "null" not in part.certificate.content:
            return rows
    return np.sort(found.witness).astype(np.intp)


def _support(found: Separability) -> int | None:
    return len(found._reduction.circulation) if found.verdict == "overlap" else None
