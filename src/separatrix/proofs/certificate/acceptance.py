"""Nothing is handed out or printed as proved before the checker has accepted it.

The checker is asked about the rows that a claim names, or about all rows where the claim is about all of them: signs
by columns, with a bound on their rounding errors (L1). Only the fingerprint is left out, since the rows are at hand. A
refusal is a bug of this package, so the rows and the certificate are kept in a folder that reproduces it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix import __version__, checker
from separatrix.errors import BugError
from separatrix.proofs.certificate.checkable_rows import exact_table, put_csv, put_svmlight

if TYPE_CHECKING:
    from separatrix.proofs.certificate.certificate import CertifiedTable

ANY = [-1100 + 1, 1100 - 1]  # binary exponents that no double exceeds
ABOUT_ROWS = ("not-complete", "overlap")  # claims that few rows prove, unless they come with null vectors


def need_accepted(source: CertifiedTable, content: dict[str, Any], used: int) -> None:
    """Have the checker accept a claim about this table, given without the table's description, or raise BugError.

    ``used``: how many rows of the table the claim is about. One that names all of them is about all rows.
    """
    few = content["claim"] in ABOUT_ROWS and not content.get("null")
    named = sorted({row[0] if isinstance(row, list) else row for row in _rows_of(content)}) if few else []
    few = few and len(named) < used
    told = {**source.unsealed, "exponents": ANY}
    if not few and source.reading == "decimal":
        told["decimals"] = source.exact.column_words()
    try:
        table = _few(source, named, content, told) if few else source.exact
        checker.check({**content, "data": told}, table, sealed=False)
    except checker.Rejected as why:
        raise BugError(
            f"not proved: this is a bug of separatrix {__version__}: its checker refuses a claim "
            f"{content['claim']!r} with {str(why)!r}. {_kept(source, content)}"
        ) from None


def _rows_of(content: dict[str, Any]) -> Iterable[Any]:
    """The rows that a claim about few rows names."""
    yield from content["support"]
    yield from content.get("witness", content)["support"]


def _few(source: CertifiedTable, ids: list[int], content: dict[str, Any], told: dict[str, Any]) -> checker.CarriedRows:
    """These rows as a checker has them that has no others; ``told`` is changed to classes of the sides alone."""
    X, codes, classes = source.table.X[ids], source.labels.codes[ids], list(source.classes)
    named = [*content.get("positive", ()), *(content.get("negative") or classes)]
    if "kesler" not in content and len(set(named)) < len(classes):  # other classes take no part
        kept = [k for k, name in enumerate(classes) if name in named]
        codes, classes = np.searchsorted(kept, codes), [classes[k] for k in kept]
        told["classes"] = classes
    rows = exact_table(X, codes, classes, source.reading)
    starts, places, values = rows.starts, rows.places, np.asarray(rows.values, dtype=np.float64).ravel()
    if starts is None:
        starts, places = np.arange(len(ids) + 1) * rows.d, np.tile(np.arange(rows.d), len(ids))
    told["dropped"], told["decimals"], told["sha256"] = [], rows.column_words(), ""
    at = {i: k for k, i in enumerate(ids)}
    return checker.CarriedRows(
        rows.d,
        classes,
        codes,
        values,
        starts,
        places,
        rows.scales,
        rows.whole,
        source.exact_names,
        source.target,
        at=at,
    )


def _kept(source: CertifiedTable, content: dict[str, Any]) -> str:
    """A folder with the certificate and the rows, as the command verify takes them, in a sentence."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="separatrix-not-proved-"))
        sealed = {**content, "data": source.data}
        (folder / "certificate.json").write_text(json.dumps(sealed, indent=1), encoding="utf-8")
        labels = [source.classes[k] for k in source.labels.codes.tolist()]
        X, target = source.table.X, source.target or "target"
        if isinstance(X, np.ndarray):
            rows = folder / "rows.csv"
            names = source.exact_names or [f"x{j}" for j in range(X.shape[1])]
            with rows.open("w", newline="", encoding="utf-8") as file:
                put_csv(file, names, np.asarray(X, dtype=np.float64), target, labels)
        else:
            rows = folder / "rows.svm"
            with rows.open("w", encoding="utf-8") as file:
                put_svmlight(file, X, labels)
    except OSError as error:
        return f"The rows and the certificate could not be kept ({error}): please report this line and the data."
    again = f"separatrix verify {folder / 'certificate.json'} {rows}" + ("" if source.target else f" --target {target}")
    return f"The rows and the certificate are kept in {folder}: please report them ({again})."
