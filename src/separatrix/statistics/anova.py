"""Analysis of variance or deviance term by term, from the fall of a criterion when columns leave the model.

Type I adds terms in their order, II compares each with the model of all terms that do not contain it, III takes each
out of the whole model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import ParameterError
from separatrix.statistics.distributions import chi2_tail, f_tail
from separatrix.statistics.summary import ResultTable

Without = Callable[[frozenset[str]], tuple[float, int]]  # of the terms left out: the criterion, the coefficients left
KINDS = ("I", "II", "III")
ALIASED = "aliased columns are left out of every model"


def factors(term: str) -> frozenset[str]:
    """The factors of a term: those of "a:b" are a and b."""
    return frozenset(term.split(":"))


def comparisons(terms: Sequence[str], kind: Any) -> list[tuple[str, frozenset[str], frozenset[str]]]:
    """For each term what is left out of the larger and of the smaller model that are compared."""
    if kind not in KINDS:
        raise ParameterError(f"kind is {kind!r}: it can be 'I', 'II' or 'III'.")
    out = []
    for k, term in enumerate(terms):
        larger: frozenset[str] = frozenset()
        if kind == "I":
            larger = frozenset(terms[k + 1 :])
        elif kind == "II":
            larger = frozenset(other for other in terms if factors(other) > factors(term))
        out.append((term, larger, larger | {term}))
    return out


def droppable(terms: Sequence[str]) -> list[str]:
    """The terms that no other contains: "a" is not dropped while "a:b" is there."""
    return [term for term in terms if not any(factors(other) > factors(term) for other in terms)]


def deviance_table(without: Without, terms: Sequence[str], kind: Any, title: str, note: str) -> ResultTable:
    """Likelihood ratios; ``without`` gives the maximum of a log-likelihood."""
    pairs = [(without(larger), without(smaller)) for _, larger, smaller in comparisons(terms, kind)]
    # nested maxima are found apart: the smaller model's may come out larger by rounding
    ratio = np.array([max(0.0, 2.0 * (large[0] - small[0])) for large, small in pairs])
    df = np.array([float(large[1] - small[1]) for large, small in pairs])
    p = np.array([chi2_tail(x, k) for x, k in zip(ratio.tolist(), df.tolist(), strict=True)])
    labels = {"stat": "chi²"}
    return ResultTable(title, tuple(terms), {"df": df, "stat": ratio, "p": p}, (), (note,) if note else (), labels)


def variance_table(
    without: Without, terms: Sequence[str], kind: Any, rss: float, df_resid: float, title: str, note: str = ""
) -> ResultTable:
    """Sums of squares and F tests with the residual variance of the whole model; ``without`` gives residual sums."""
    pairs = [(without(larger), without(smaller)) for _, larger, smaller in comparisons(terms, kind)]
    squares = [max(0.0, small[0] - large[0]) for large, small in pairs]
    df = [float(large[1] - small[1]) for large, small in pairs]
    sigma2 = rss / df_resid
    F = [s / k / sigma2 if k else float("nan") for s, k in zip(squares, df, strict=True)]
    p = [f_tail(f, k, df_resid) if k else float("nan") for f, k in zip(F, df, strict=True)]
    columns = {
        "df": [*df, df_resid],
        "sum_sq": [*squares, rss],
        "mean_sq": [*(s / k if k else float("nan") for s, k in zip(squares, df, strict=True)), sigma2],
        "stat": [*F, float("nan")],
        "p": [*p, float("nan")],
    }
    arrays = {name: np.array(values) for name, values in columns.items()}
    notes = (note,) if note else ()
    return ResultTable(title, (*terms, "residuals"), arrays, (), notes, {"stat": "F"})


def model_names(models: Sequence[Any]) -> tuple[str, ...]:
    """Models by their formulas, or by number."""
    named = [getattr(model, "formula_", f"model {k + 1}") for k, model in enumerate(models)]
    return tuple(name if named.count(name) == 1 else f"{name} [{k + 1}]" for k, name in enumerate(named))


def likelihood_table(models: Sequence[Any], penalised: str) -> ResultTable:
    """Each model with the next larger one, by its ``likelihood_ratio_test``; the smallest comes first."""
    for model in models:
        if not hasattr(model, "likelihood_ratio_test"):
            raise ParameterError(f"anova compares fitted logistic models, and one is a {type(model).__name__}.")
    by_size = sorted(models, key=lambda model: int(np.isfinite(model._wald_summary({}).coef).sum()))
    tests = [large.likelihood_ratio_test(small) for small, large in pairwise(by_size)]
    nothing = float("nan")
    columns = {"loglik": np.array([model._wald_summary({}).loglik for model in by_size])}
    for k, name in ((1, "df"), (0, "stat"), (2, "p")):
        columns[name] = np.array([nothing, *(float(test[k]) for test in tests)])
    notes = (penalised,) if any("Firth" in model.method_ for model in by_size) else ()
    return ResultTable("Comparison of nested models", model_names(by_size), columns, (), notes, {"stat": "chi²"})


def spans(large: Floats, small: Floats) -> bool:
    """Whether the columns of the small table are combinations of those of the large one, up to rounding."""
    scale = np.linalg.norm(large, axis=0)
    unit = large / np.where(scale > 0, scale, 1.0)
    coefficients, *_ = np.linalg.lstsq(unit, small, rcond=None)
    residuals = np.linalg.norm(unit @ coefficients - small, axis=0)
    return bool((residuals <= 1e-8 * np.linalg.norm(small, axis=0)).all())


def drop_table(
    without: Without,
    terms: Sequence[str],
    criterion: Callable[[float, int], float],
    test: ResultTable,
    name: str = "aic",
) -> ResultTable:
    """AIC of the whole model and without each term, beside the test of the term (type III).

    ``name`` is another one for the criterion of a penalised likelihood, which is not the AIC of the summary.
    """
    whole = without(frozenset())
    aic = [criterion(*whole)] + [criterion(*without(frozenset({term}))) for term in terms]
    nothing = float("nan")
    columns: dict[str, Floats] = {"df": np.array([nothing, *test["df"][: len(terms)]]), name: np.array(aic)}
    columns |= {key: np.array([nothing, *test[key][: len(terms)]]) for key in ("stat", "p")}
    return ResultTable("Single term deletions", ("<none>", *terms), columns, (), test.notes, test.labels)


class SubmodelSums:
    """Residual sums of squares of all submodels of a least-squares fit, from its coefficients and covariance.

    No row is looked at again: the sum rises by b_o' (V_oo/sigma^2)^-1 b_o where the coefficients b_o leave. The columns
    are scaled by their errors, so that units cost no digits.
    """

    def __init__(self, beta: Floats, V: Floats, sigma2: float, rss: float, places: Mapping[str, Sequence[int]]) -> None:
        scale = np.sqrt(np.diagonal(V) / sigma2)
        self.G = np.linalg.inv(V / sigma2 / scale / scale[:, None])  # of scaled coefficients beta/scale
        self.c = self.G @ (beta / scale)
        self.rss, self.places = rss, places
        self.whole = float(beta / scale @ self.c)

    def __call__(self, gone: frozenset[str]) -> tuple[float, int]:
        dropped = {j for term in gone for j in self.places[term]}
        left = np.array([j for j in range(len(self.c)) if j not in dropped], dtype=np.intp)
        if len(left) == len(self.c):
            return self.rss, len(left)
        explained = 0.0
        if len(left):
            explained = float(self.c[left] @ np.linalg.solve(self.G[np.ix_(left, left)], self.c[left]))
        return self.rss + self.whole - explained, len(left)
