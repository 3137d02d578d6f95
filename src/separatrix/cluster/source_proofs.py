"""Proofs about files in partitions: pricing on the workers, the exact proof on the driver.

Novikoff's bound follows from the margin of working rows, priced by all. The hull of the working rows lies in that of
all rows, so that any point of it bounds the margin of all rows from above. The least score of all rows in the direction
found, exact in every partition, bounds it from below. Rows below the level of the working rows join them until both
bounds agree to nine digits, or no row is below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.cluster.cluster_fit import AnySource, opened
from separatrix.cluster.encoded_source import EncodedSource
from separatrix.cluster.rounds import LOG, HeldPart
from separatrix.cluster.separation import Question, SourceSeparability, decided, first_working, subject_of
from separatrix.errors import DataError, ParameterError
from separatrix.models.linear_predictors import LinearClassifier
from separatrix.proofs.exact.algebra import Row
from separatrix.proofs.margin.exact_hull import Side, side
from separatrix.proofs.margin.hull_search import Hulls
from separatrix.proofs.margin.margin import bracketed
from separatrix.proofs.margin.novikoff import MistakeBound, longest2, most_mistakes
from separatrix.proofs.separability.verdict import Given
from separatrix.validation import Labels, need_flag


def separability(
    source: AnySource, *, target: str | None = None, fit_intercept: bool = True, **options: Any
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
    fit_intercept : bool
        Whether the hyperplane may have an intercept.
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
    need_flag("fit_intercept", fit_intercept)
    with opened(LinearClassifier, source, target, as_numbers=True, **options) as (_, rows):
        if len(rows.classes) != 2:
            raise ParameterError(f"{rows.name} has {len(rows.classes)} classes: proofs on a cluster are for two.")
        return decided(rows, None, fit_intercept, certify=True)


def mistake_bound(
    source: AnySource, *, target: str | None = None, fit_intercept: bool = True, **options: Any
) -> MistakeBound:
    """The most mistakes that a perceptron from zero can make on files in partitions, and that mixing can weigh.

    Parameters
    ----------
    source : str, path or list of paths
        As in :func:`fit`.
    target : str or None
        The column of the two classes.
    fit_intercept : bool
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
    ...     cluster.mistake_bound(f"{folder}/rows.csv", fit_intercept=False, address="here").most
    ...
    5
    """
    need_flag("fit_intercept", fit_intercept)
    with opened(LinearClassifier, source, target, as_numbers=True, **options) as (_, rows):
        found = bound_of(rows, fit_intercept)
        made = found.certificate  # while the workers can still be asked for the fingerprint
        LOG.info("%s", made)
        return found


CLOSE = Fraction(1, 10**9)
ROUNDS = 500


@dataclass(frozen=True, slots=True)
class Level:
    """The exact least score of a partition, and rows of it below the level that was asked about."""

    least: Fraction
    ids: NDArray[np.int64]
    X: Any
    codes: NDArray[Any]


def lowest(part: HeldPart, question: Question, w: Row, level: Fraction, most: int) -> Level:
    """The least z.w of a partition, exactly, and its lowest rows where that is below the level."""
    hulls = Hulls(part.X, question.signs(part.y), lifted=question.intercept, groups=1)
    least = side(hulls, w).least[0]
    chosen = np.empty(0, dtype=np.int64)
    if least < level:
        top = max(abs(v) for v in w).bit_length()
        scores = hulls.scores(np.array([v / (1 << top) for v in w]), np.empty(part.n))
        chosen = np.sort(np.argpartition(scores, min(most, part.n) - 1)[:most])
    return Level(least, chosen + part.first_row, part.X[chosen], part.y[chosen])


def part_radius(part: HeldPart, question: Question) -> Fraction:
    """The square of the longest lifted row, exactly."""
    return longest2(Hulls(part.X, question.signs(part.y), lifted=question.intercept, groups=1))


def bound_of(source: EncodedSource, intercept: bool) -> MistakeBound:
    """(R/g)^2 of all rows, proved."""
    if len(source.classes) != 2:
        raise DataError(f"{source.name} has {len(source.classes)} classes: the bound is for two.")
    question = Question(None, intercept)
    working = first_working(source)
    most = max(20, 4 * (source.d + 1) // source.rounds.leaves)
    for _ in range(ROUNDS):
        subject = subject_of(source, working, question)
        codes = np.asarray(working.codes, dtype=np.intp)
        given = Given(subject.table, Labels(source.classes, codes), working.ids, subject.source, intercept, "binary64")
        given = replace(given, table=replace(given.table, names=subject.source.table.names))
        hulls = Hulls(subject.table.X, subject.labels, lifted=intercept, groups=1)
        bracket = bracketed(hulls, given, subject, False)
        if bracket.side is None:
            verdict = decided(source, None, intercept).verdict
            raise DataError(
                f"no hyperplane is known to separate the rows of {source.name} ({verdict}): there is no bound."
            )
        level = bracket.side.least[0]
        found = source.rounds.gather("pricing", lowest, question, bracket.side.w, level, most)
        least = min(own.least for own in found)
        if least >= level * (1 - CLOSE):
            bracket = replace(bracket, side=Side.of(bracket.side.w, (least,)))
            break
        working.add([own for own in found if len(own.ids)])
    else:
        raise DataError(f"the margin of {source.name} was not settled in {ROUNDS} rounds of pricing.")
    radius2: Fraction = source.rounds.reduce("longest row", part_radius, question, join=max)
    first, one = np.zeros(source.d + int(intercept)), Fraction(1)
    bound = most_mistakes(bracket, radius2, first, one, one)
    return MistakeBound._of(bracket, radius2, bound, first, (one, one), False, given, subject)
