"""``holdout``: training rows, validation rows, and a test set that is used once.

The test part is not an attribute. ``open_test(model)`` asks the model what it says about the test rows,
records this use in the ledger (ledger.py), and only then compares its predictions with the labels.
The count belongs to the rows, not to this object: another seed, another split, a copy or another process
finds the same rows in the same ledger. Rows are known by their values, so a row that was changed (scaled,
a column dropped) before ``holdout`` counts as another row: split first, or name the rows with ``ids``.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, OpenedWarning
from separatrix.evaluation import splits
from separatrix.evaluation.evaluation import evaluate_numbers, evaluate_outcomes
from separatrix.evaluation.ledger import EqualRows, Ledger, Openings, TestedTable, ledger_path
from separatrix.evaluation.predictions import Said, outcomes_of, predictions_of
from separatrix.evaluation.splits import time_parts
from separatrix.statistics.distributions import need_level
from separatrix.validation import check_lengths, check_targets, count_rows, take_rows
from separatrix.validation.row_hashes import numbered, value_marks

Part = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Sealed:
    """The test rows, their labels and their marks."""

    X: Any
    y: Any
    marks: NDArray[np.uint64]
    copies: tuple[tuple[int, int], ...]  # marks of rows that have equals in the table, and how many
    equals: EqualRows
    table: TestedTable

    def __repr__(self) -> str:
        return f"<{len(self.marks)} held-out rows>"


@dataclass(frozen=True)
class Holdout:
    """Three parts of a table; see :func:`holdout`.

    Attributes
    ----------
    train, validation, development : (X, y)
        Training rows, validation rows, and both together.
    test : held out; an error says how to use these rows
    train_rows, validation_rows : arrays of int
        Which rows they are.
    sizes : dict
        Rows in each part.
    how, random_state : str; int or None
        How the split was made.
    ledger : Path
        File that records the use of test rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LinearDiscriminant, holdout
    >>> X, y = load_iris(return_X_y=True)
    >>> parts = holdout(X, y, random_state=0)
    >>> X_train, y_train = parts.train
    >>> X_train.shape
    (90, 4)
    """

    train: Part = field(repr=False)
    train_rows: NDArray[np.intp] = field(repr=False)
    validation_rows: NDArray[np.intp] = field(repr=False)
    sizes: dict[str, int]
    how: str
    random_state: int | None
    ledger: Path
    _validation: Part | None = field(repr=False)
    _development: Part = field(repr=False)
    _sealed: Sealed = field(repr=False)

    @property
    def validation(self) -> Part:
        """Rows and labels to choose by."""
        if self._validation is None:
            raise DataError("this holdout has no validation part: pass validation=0.2, or choose by cross-validation.")
        return self._validation

    @property
    def development(self) -> Part:
        """Training and validation rows together, in their order: what the chosen model is fitted on at the end."""
        return self._development

    @property
    def test(self) -> Part:
        """Held out: always an error that says how to use them."""
        raise DataError(
            "the test rows are held out: evaluate your final model with open_test(model), which is recorded."
        )

    def openings(self) -> Openings:
        """What the ledger knows about the test rows, without opening them.

        Returns
        -------
        Openings

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LinearDiscriminant, holdout
        >>> X, y = load_iris(return_X_y=True)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(holdout(X, y, random_state=0, ledger=Path(folder) / "ledger.jsonl").openings())
        ...
        held-out test rows, not used yet
        """
        return Ledger(self.ledger).look(self._sealed.table, self._sealed.equals)

    def open_test(self, model: Any, *, positive: Any = None, level: float = 0.95, note: str = "") -> Any:
        """Evaluate a fitted model on the test rows, once it is on record that they were opened for it.

        Parameters
        ----------
        model : anything fitted, with ``predict``
        positive : the positive one of two classes, default: the second
        level : confidence level of the intervals
        note : text to keep in the ledger's line

        Returns
        -------
        An evaluation with ``.openings``; a warning where rows had been opened before.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LinearDiscriminant, holdout
        >>> X, y = load_iris(return_X_y=True)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     parts = holdout(X, y, random_state=0, ledger=Path(folder) / "ledger.jsonl")
        ...     result = parts.open_test(LinearDiscriminant().fit(*parts.development))
        ...
        >>> print(result.accuracy)
        1.000 [0.886, 1.000]
        """
        level = need_level(level)
        said = predictions_of(model, self._sealed.X)
        # Errors are found on training labels before the opening is recorded; the test labels are read only after it.
        self._outcomes(self._stand_in(), said, positive)
        digest = said.digest(np.argsort(self._sealed.marks), positive, self._sealed.copies)
        note = note or type(model).__name__
        record = Ledger(self.ledger).record(self._sealed.marks, digest, self._sealed.table, note)
        if record.times and not record.reread:
            warnings.warn(str(record), OpenedWarning, stacklevel=2)
        judged = self._outcomes(self._sealed.y, said, positive)
        if isinstance(judged, tuple):
            return replace(evaluate_outcomes(judged[0], level, notes=judged[1]), openings=record)
        return replace(evaluate_numbers(judged, said.labels, level=level), openings=record)

    def _stand_in(self) -> Any:
        """As many training labels as there are test rows."""
        return take_rows(self.train[1], np.resize(np.arange(self.sizes["train"]), self.sizes["test"]))

    @staticmethod
    def _outcomes(y: Any, said: Said, positive: Any) -> Any:
        return check_targets(y) if said.numbers else outcomes_of(y, said, positive)

    def __str__(self) -> str:
        total = sum(self.sizes.values())
        parts = ", ".join(f"{name} {m:,} ({100 * m / total:.0f}%)" for name, m in self.sizes.items() if m)
        return f"{total:,} rows, {self.how}: {parts}; the test rows are held out"

    def plot(self, ax: Any = None) -> Any:
        """The bar of the three parts.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LinearDiscriminant, holdout
        >>> X, y = load_iris(return_X_y=True)
        >>> len(holdout(X, y, random_state=0).plot().patches)
        3
        """
        from separatrix.plotting.style import axes_for

        ax = axes_for(ax, (7.2, 1.3))
        left = 0
        for (name, m), colour in zip(self.sizes.items(), ("#4c78a8", "#54a24b", "#79706e"), strict=True):
            if not m:
                continue
            ax.barh(0, m, left=left, color=colour, edgecolor="white", hatch="//" if name == "test" else None)
            box = {"facecolor": colour, "edgecolor": "none", "pad": 1.5}  # readable over the hatch
            ax.text(left + m / 2, 0, f"{name}\n{m:,}", ha="center", va="center", color="white", fontsize=9, bbox=box)
            left += m
        ax.set(yticks=[], xlabel="rows", xlim=(0, left))
        for side in ("top", "left", "right"):
            ax.spines[side].set_visible(False)
        return ax


def holdout(
    X: Any,
    y: Any,
    *,
    test: float = 0.2,
    validation: float = 0.2,
    stratify: bool = True,
    groups: Any = None,
    time: Any = None,
    ids: Any = None,
    random_state: Any = None,
    ledger: Any = None,
) -> Holdout:
    """Split rows into training, validation and a held-out test part.

    Parameters
    ----------
    X, y : rows and their labels or targets, in any form; parts keep that form
    test, validation : shares of all rows, or numbers of rows; ``validation`` may be 0
    stratify : whether classes keep their shares in each part (targets that are not whole numbers have none)
    groups : one label a row; rows of a group stay together, and classes are then not balanced
    time : one moment a row; the latest rows are the test, those before them the validation part
    ids : one name a row, by which the ledger knows it; default: the values of the row
    random_state : seed of the split
    ledger : file of the openings, default: SEPARATRIX_LEDGER or one in the user's state folder

    Returns
    -------
    Holdout

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LinearDiscriminant, holdout
    >>> X, y = load_iris(return_X_y=True)
    >>> parts = holdout(X, y, random_state=0)
    >>> parts.sizes
    {'train': 90, 'validation': 30, 'test': 30}
    """
    n = splits.labelled_rows(X, y)
    sizes = [splits.share_of("test", test, n), splits.share_of("validation", validation, n)]
    if not sizes[0]:
        raise DataError(f"test={test!r} of {n} rows leaves no test rows: raise it.")
    seed: int | None = None
    if time is not None:
        if groups is not None:
            raise DataError("groups and time cannot both define the split: choose one.")
        test_rows, validation_rows, train_rows = time_parts(time, sizes, n)
        how = "the latest rows for the test"
    else:
        seed = splits.seed_of(random_state)
        rng = np.random.default_rng(seed)
        if groups is not None:
            check_lengths(n, count_rows(groups, what="groups"), "groups")
            test_rows, validation_rows, train_rows = splits.group_parts(groups, sizes, rng)
            how = "whole groups"
        else:
            labels = splits.classes_to_balance(y, stratify)
            test_rows, validation_rows, train_rows = splits.random_parts(n, sizes, labels, rng)
            how = "at random" if labels is None else "stratified"
    # Equal rows are numbered by their labels, so that a mark stands for one label in whatever order rows come.
    values = value_marks(X if ids is None else ids)
    check_lengths(n, len(values), "ids")
    marks = numbered(values, value_marks(y))
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    copies = [(int(marks[i]), int(counts[which[i]])) for i in test_rows.tolist() if counts[which[i]] > 1]

    def part(rows: NDArray[np.intp]) -> Part:
        return take_rows(X, rows), take_rows(y, rows)

    tested = np.where(counts > 1, np.bincount(which[test_rows], minlength=len(counts)), 0)
    listed = tested[which] > 0
    tested_table = TestedTable.of(marks, np.unique(marks[test_rows[counts[which[test_rows]] == 1]]))
    equals = EqualRows(marks[listed], which[listed], tested)
    return Holdout(
        train=part(train_rows),
        train_rows=train_rows,
        validation_rows=validation_rows,
        sizes={"train": len(train_rows), "validation": len(validation_rows), "test": len(test_rows)},
        how=how,
        random_state=seed,
        ledger=ledger_path(ledger),
        _validation=part(validation_rows) if len(validation_rows) else None,
        _development=part(np.sort(np.concatenate([train_rows, validation_rows]))),
        _sealed=Sealed(*part(test_rows), marks[test_rows], tuple(sorted(copies)), equals, tested_table),
    )
