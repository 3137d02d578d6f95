"""``compare``: learners on the same folds, pair by pair.

The difference of two learners is taken fold by fold; its mean gets the t interval with the variance of
Nadeau & Bengio (2003), (1/J + n_test/n_train) s^2 with J - 1 degrees of freedom, because folds share
training rows and the plain t test finds differences where there are none. p-values of all pairs are
adjusted after Holm (1979). On separate rows, two classifiers are also compared by the exact test of
McNemar (1947) on the rows where only one of them is right. Nobody wins where zero is in the interval.
The tests are in intervals.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import FoldError, ParameterError
from separatrix.evaluation.cross_validation import CrossValidation, cross_validate
from separatrix.evaluation.evaluation_text import COLUMNS, as_html, named_rows, percent, short, table
from separatrix.evaluation.fold_assignment import dealt_anew, folds_for
from separatrix.evaluation.fold_runs import GOES_ON, final_step, fit, need_learner, seeded_clone
from separatrix.evaluation.grid_candidates import greater_is_better
from separatrix.evaluation.intervals import Estimate, McNemar, holm, mcnemar, paired, shown
from separatrix.evaluation.predictions import is_regressor
from separatrix.evaluation.splits import labelled_rows, seed_of
from separatrix.statistics.distributions import need_level
from separatrix.validation import check_lengths, check_outcomes, check_weights, count_rows


@dataclass(frozen=True)
class PairDifference:
    """``first`` minus ``second`` in the metric; ``p`` for that pair alone, ``holm`` adjusted for all pairs."""

    first: str
    second: str
    difference: Estimate
    p: float
    holm: float
    mcnemar: McNemar | None = None

    @property
    def decided(self) -> bool:
        """Whether the pair differs at the level, all pairs considered."""
        return self.holm < 1 - self.difference.level and self.difference.has_interval and 0.0 not in self.difference


@dataclass(frozen=True)
class Comparison:
    """Learners on the same folds: estimates, paired differences, and a winner only where there is one.

    Attributes
    ----------
    metric, level : str, float
        What was compared, and the confidence level.
    runs : dict of CrossValidation
        Each learner on the same folds.
    pairs : tuple of PairDifference
        Differences with intervals and p-values.
    estimates : dict of Estimate
        The metric of each learner.
    ranking : list of str
        From the best mean to the worst.
    winner : str or None
        The learner that is better than every other one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LeastSquaresClassifier, LinearDiscriminant, compare
    >>> X, y = load_iris(return_X_y=True)
    >>> learners = {"discriminant": LinearDiscriminant(), "least squares": LeastSquaresClassifier()}
    >>> found = compare(learners, X, y, random_state=0)
    >>> found.pairs[0].decided
    True
    """

    metric: str
    level: float
    runs: dict[str, CrossValidation] = field(repr=False)
    pairs: tuple[PairDifference, ...]

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The metric of each learner with its own interval."""
        return {name: run[self.metric] for name, run in self.runs.items()}

    @property
    def ranking(self) -> list[str]:
        """Names from the best mean to the worst."""
        sign = -1 if greater_is_better(self.metric) else 1
        return sorted(self.runs, key=lambda name: sign * self.runs[name][self.metric].value)

    @property
    def winner(self) -> str | None:
        """The learner that is better than every other one, all pairs considered; None where there is none."""
        first = self.ranking[0]
        with_first = [p for p in self.pairs if first in (p.first, p.second)]
        return first if all(p.decided for p in with_first) else None

    def __str__(self) -> str:
        any_run = next(iter(self.runs.values()))
        times = f", {any_run.repeats} times" if any_run.repeats > 1 else ""
        metric = self.metric.replace("_", " ")
        lines = [f"{len(self.runs)} learners on the same {any_run.folds} folds{times}: {metric}"]
        rows = [["learner", metric, "", "seconds"]]
        for name in self.ranking:
            e = self.estimates[name]
            interval = f"[{shown(e.low)}, {shown(e.high)}]" if e.has_interval else ""
            rows.append([short(name, 32), shown(e.value), interval, f"{self.runs[name].seconds:.2g}"])
        lines += table(rows)
        rows = [["difference", metric, f"{percent(self.level)} interval", "p", "Holm", "McNemar"]]
        for pair in self.pairs:
            d = pair.difference
            interval = f"[{d.low:+.4f}, {d.high:+.4f}]" if d.has_interval else (d.reason or "")
            apart = "" if pair.mcnemar is None else f"{pair.mcnemar.p:.3g}"
            pair_name = f"{short(pair.first, 26)} − {short(pair.second, 26)}"
            rows.append([pair_name, f"{d.value:+.4f}", interval, f"{pair.p:.3g}", f"{pair.holm:.3g}", apart])
        lines += ["", *named_rows(rows)]
        winner = self.winner
        verdict = (
            f"{winner} is better than every other" if winner else "no winner: a difference of zero is not excluded"
        )
        how = f"({percent(self.level)}, corrected for shared training rows and for all pairs)"
        lines += [
            "",
            *([f"  {verdict} {how}"] if len(verdict) + len(how) < COLUMNS - 2 else [f"  {verdict}", f"  {how}"]),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return as_html(str(self), self.estimates)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON.

        Returns
        -------
        dict
            Plain numbers, texts and lists.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LeastSquaresClassifier, LinearDiscriminant, compare
        >>> X, y = load_iris(return_X_y=True)
        >>> learners = {"discriminant": LinearDiscriminant(), "least squares": LeastSquaresClassifier()}
        >>> found = compare(learners, X, y, random_state=0)
        >>> found.to_dict()["winner"]
        'discriminant'
        """
        return {
            "metric": self.metric,
            "level": self.level,
            "learners": {name: e.to_dict() for name, e in self.estimates.items()},
            "pairs": [asdict(p) | {"difference": p.difference.to_dict()} for p in self.pairs],
            "winner": self.winner,
        }

    def plot(self, fig: Any = None) -> Any:
        """A figure: each learner with its interval, and the difference of each to the best.

        Parameters
        ----------
        fig : matplotlib Figure or None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib Figure

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LeastSquaresClassifier, LinearDiscriminant, compare
        >>> X, y = load_iris(return_X_y=True)
        >>> learners = {"discriminant": LinearDiscriminant(), "least squares": LeastSquaresClassifier()}
        >>> found = compare(learners, X, y, random_state=0)
        >>> len(found.plot().axes)
        2
        """
        from separatrix.evaluation.figures import comparison_figure

        return comparison_figure(self, fig)


def compare(
    learners: Any,
    X: Any,
    y: Any,
    *,
    metric: str | None = None,
    folds: Any = 5,
    repeats: int = 2,
    stratify: bool = True,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    positive: Any = None,
    validation: tuple[Any, Any] | None = None,
    executor: Any = None,
    n_jobs: int | None = None,
    progress: Any = None,
    level: float = 0.95,
    random_state: Any = None,
) -> Comparison:
    """Compare learners on the same folds.

    Parameters
    ----------
    learners : dict of estimators or pipelines by name, or a list of them
    X, y : rows and labels (or targets) in any form the learners take
    metric : name of a metric, default: accuracy, or mse for regressions
    validation : (X, y) of separate rows, for McNemar's test of classifiers fitted on all of X, y
    folds, repeats, stratify, groups, time, sample_weight, positive : as in :func:`cross_validate`
    executor, n_jobs, progress, level, random_state : as in :func:`cross_validate`

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LeastSquaresClassifier, LinearDiscriminant, compare
    >>> X, y = load_iris(return_X_y=True)
    >>> learners = {"discriminant": LinearDiscriminant(), "least squares": LeastSquaresClassifier()}
    >>> found = compare(learners, X, y, random_state=0)
    >>> found.ranking, found.winner
    (['discriminant', 'least squares'], 'discriminant')
    """
    level, seed = need_level(level), seed_of(random_state)
    entrants = _named(learners)
    kinds = {is_regressor(learner) for learner in entrants.values()}
    if len(kinds) > 1:
        raise ParameterError("learners mix classifiers and regressions: compare them separately.")
    regression = kinds.pop()
    if not dealt_anew(folds, time):
        repeats = 1
    chosen = metric or ("mse" if regression else "accuracy")
    n = labelled_rows(X, y)
    fold_list, _ = folds_for(n, folds, repeats, y, stratify, groups, time, seed, regression)
    runs = {}
    for name, learner in entrants.items():
        try:
            run = cross_validate(
                learner,
                X,
                y,
                folds=folds,
                repeats=repeats,
                stratify=stratify,
                groups=groups,
                time=time,
                sample_weight=sample_weight,
                positive=positive,
                executor=executor,
                n_jobs=n_jobs,
                progress=progress,
                level=level,
                random_state=seed,
            )
        except FoldError as failed:
            raise FoldError(str(failed).removesuffix(f" ({GOES_ON})")) from failed
        if chosen not in run.fold_values:
            raise ParameterError(f"metric is {chosen!r}, which {name} does not give: {', '.join(run.fold_values)}.")
        runs[name] = run
    ratio = float(np.mean([len(fold.test) / fold.learned_from for fold in fold_list]))
    right = _right_rows(entrants, X, y, sample_weight, validation, seed) if validation is not None else {}
    tested = []
    for a, b in combinations(entrants, 2):
        difference, p = paired(runs[a].fold_values[chosen] - runs[b].fold_values[chosen], ratio, level)
        tested.append((a, b, difference, p, mcnemar(right[a], right[b]) if right else None))
    adjusted = holm([p for _, _, _, p, _ in tested])
    pairs = tuple(PairDifference(a, b, d, p, h, m) for (a, b, d, p, m), h in zip(tested, adjusted, strict=True))
    return Comparison(chosen, level, runs, pairs)


def _named(learners: Any) -> dict[str, Any]:
    if isinstance(learners, Mapping):
        out = {str(name): learner for name, learner in learners.items()}
        if len(out) < len(learners):
            raise ParameterError("two learners have the same name: give each its own.")
    elif isinstance(learners, (list, tuple)):
        out = {}
        for learner in learners:
            name = type(final_step(learner)).__name__
            count = sum(other == name or other.startswith(name + " ") for other in out)
            out[name if not count else f"{name} {count + 1}"] = learner
    else:
        raise ParameterError("learners must be a dict of estimators by name, or a list of them.")
    if len(out) < 2:
        raise ParameterError(f"{len(out)} learner(s) to compare: pass at least two.")
    for learner in out.values():
        need_learner(learner)
    return out


def _right_rows(
    entrants: dict[str, Any], X: Any, y: Any, sample_weight: Any, validation: tuple[Any, Any], seed: int
) -> dict[str, NDArray[np.bool_]]:
    if any(is_regressor(learner) for learner in entrants.values()):
        raise ParameterError("McNemar's test is for classifiers: leave validation out.")
    if not isinstance(validation, (tuple, list)) or len(validation) != 2:
        raise ParameterError("validation must be a pair (X, y) of separate rows and their labels.")
    X_apart, y_apart = validation
    check_lengths(count_rows(X_apart), count_rows(y_apart, what="y"), "y of the validation rows")
    weights = check_weights(sample_weight, count_rows(X))
    out = {}
    for name, learner in entrants.items():
        fitted = fit(seeded_clone(learner, seed), X, y, weights)
        judged = check_outcomes(y_apart, fitted.predict(X_apart))
        out[name] = np.asarray(judged.truth == judged.predicted)
    return out
