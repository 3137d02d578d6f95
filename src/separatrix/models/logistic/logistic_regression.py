"""Logistic regression: maximum likelihood where it exists, penalised or bias-reduced fits, one estimator."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import (
    CollinearWarning,
    DataError,
    IterationWarning,
    LocalMaximumWarning,
    ParameterError,
    SeparationWarning,
    warn_user,
)
from separatrix.models.class_labels import need_two_classes, weights_of_rows, with_reference
from separatrix.models.logistic.fit import fit_parts
from separatrix.models.logistic.grouped import check_grouped, check_offset
from separatrix.models.logistic.inference import LogisticInference
from separatrix.models.logistic.penalty_path import LEAST_C, LogisticPath, fit_path, fits_of
from separatrix.models.logistic.problem import MEASURED, FitOptions, LogisticResult, UsedRows, unfinished
from separatrix.numerics.gram_matrix import condition_of
from separatrix.numerics.status import Status, raise_interruption
from separatrix.parameters import boundary, categories, choice, class_weights, count, flag, learner, number, unchecked
from separatrix.proofs.certificate.certificate import CertifiedTable
from separatrix.validation import Labels, Table, check_labels, check_lengths, check_weights
from separatrix.validation.table import need_same_index

SUBSTITUTE = {"firth": "Firth's bias-reduced estimate", "ridge": "a ridge (C=1 on standardised columns)"}


@learner
class LogisticRegression(LogisticInference):
    """Logistic regression, unpenalised by default, with a proof of whether the estimate exists.

    Minimises, over w and b (the intercept is never penalised),

        C sum c_i log(1 + exp(-y_i (w.x_i + b + o_i))) + r |w|_1 + (1 - r)/2 |w|^2      for a finite C, r = l1_ratio,
          sum c_i log(1 + exp(-y_i (w.x_i + b + o_i)))                                  for C = inf, the default:

    minus the log-likelihood. For K > 2 classes the loss is  log sum_k exp(s_ik) - s_i,y_i  with one vector a
    class. Unpenalised, a finite minimum exists exactly where the classes are neither completely nor
    quasi-completely separated (Albert and Anderson 1984); every unpenalised fit proves which holds. Where none
    exists it warns which coefficients are infinite, and fits what ``on_separation`` says instead.

    Parameters
    ----------
    C : float, default=inf
        Inverse strength of the penalty; inf for none.
    l1_ratio : float in [0, 1], default=0.0
        The share of the penalty that is |w|_1, from 0 (a ridge) to 1 (the lasso); of no effect without a penalty.
    bias_reduction : {"firth", "flic", "flac"} or None, default=None
        "firth" maximises  l + log|I|/2  (Firth 1993), which is finite whatever the separation. Its probabilities are
        drawn towards one half; with "flic" (intercept correction) and "flac" (added covariate, for two classes) they
        add up to the class counts (Puhr and others 2017).
    on_separation : {"auto", "firth", "ridge", "raise", "ignore"}, default="auto"
        What an unpenalised fit without a maximum does. "auto": Firth where there are more rows than parameters of a
        class, and at most 1000 parameters, else "ridge" (C = 1 on columns scaled to standard deviation 1). "raise":
        SeparationError. "ignore": keep the vectors at which the search was stopped, without a warning.
    multiclass : {"multinomial", "ovr"}, default="multinomial"
        For more than two classes: all at once, or each against the rest.
    fit_intercept : bool, default=True
        Whether there is an intercept b.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows of a class.
    reference : label or None, default=None
        The class that the others are compared with: it comes first in ``classes_``. None: the first of the sorted
        labels, or of the categories of a categorical column.
    positive : label or None, default=None
        For two classes the same from the other side: the class whose log-odds are modelled.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference and named in the summary. None: such columns are an error.
    tol : float or None, default=None
        The proved relative gap at which a fit ends; None: 1e-8 with a penalty, and the last digits without one.
        Unpenalised, the bound that proves the gap also proves that a maximum exists (Bach 2010); where it proves
        nothing, the fit goes on to the last digits. At a gap g penalised weights are within sqrt(2 g F C/(1 -
        l1_ratio)) of the optimum, with F the loss plus the penalty divided by C; a ridge of several classes, or of
        fewer than some thousand rows, then takes one more Newton step, and a lasso none.
    max_iter : int or inf, default=1000
        Limit on the iterations of a solver.
    weights : {"frequency", "analytic"}, default="frequency"
        What sample_weight means. Frequencies count rows: a weight of two is the row twice, and standard errors
        shrink with it. Analytic weights say how rows compare, and are scaled to add up to the number of rows.
    warm_start : bool, default=False
        Start at the vectors of the previous fit.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts, for two classes. Both have probability 1/2 there; "positive" is the second
        class, as in every learner here, and ``predict_proba`` gives it the next double above 1/2.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (K, d) and (K,) for K > 2 classes, whose vectors then
        add up to zero where the penalty does not determine them otherwise
    classes_ : the labels, sorted, or in the order of a pandas categorical; for two a positive score favours the second
    status_ : a :class:`separatrix.numerics.Status`: OPTIMAL, NO_MAXIMUM, ILL_CONDITIONED, MAX_ITERATIONS, INTERRUPTED
    method_ : "maximum likelihood", "ridge", "lasso", "elastic net" or "Firth", with the reason if it is not what
        was asked for
    plan_ : which algorithm the sizes called for, and why, in a sentence
    separation_ : whether a maximum exists, with its proof, or None where that was not the question;
        a dict by class for ``multiclass="ovr"``
    gap_ : relative gap that was proved, or None where an unpenalised fit went to the last digits
    maxima_ : penalised log-likelihoods of Firth's estimate and of lower maxima, where several were found, else None
    unidentifiable_ : names of columns whose coefficients the rows do not determine: the shortest w is given
    loglik_ : log-likelihood of the fit
    trials_ : of grouped outcomes the numbers of trials and successes, else None
    n_iter_ : steps taken

    Notes
    -----
    Predictions are for an offset of zero, unless ``predict_proba`` is given one or a formula names it.
    Dense C-order float64 and float32 arrays and CSR matrices are read in place. Rows of weight zero are left out.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> model = LogisticRegression().fit(X, y)
    >>> model.coef_.round(3), model.intercept_.round(3), model.separation_.verdict
    (array([[1.214]]), array([-3.035]), 'overlap')
    """

    _routed: ClassVar[dict[str, tuple[str, ...]]] = {
        "fit": ("sample_weight", "offset", "trials"),
        "score": ("sample_weight",),
    }

    C: float = number(math.inf, above=0, inf=True)
    l1_ratio: float = number(0.0, least=0, most=1)
    bias_reduction: str | None = choice("firth", "flic", "flac", default=None)
    on_separation: str = choice("auto", "firth", "ridge", "raise", "ignore", default="auto")
    multiclass: str = choice("multinomial", "ovr", default="multinomial")
    fit_intercept: bool = flag(True)
    class_weight: Any = class_weights()
    reference: Any = unchecked(None, "label or None")
    positive: Any = unchecked(None, "label or None")
    categorical: str | None = categories()
    tol: float | None = number(None, above=0)
    max_iter: float = count(1000, inf=True)
    weights: str = choice("frequency", "analytic", default="frequency")
    warm_start: bool = flag(False)
    boundary: str = boundary()

    _warm_over: ClassVar[tuple[str, ...]] = ("C", "l1_ratio")
    _distributed: ClassVar[str | None] = "rounds"

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        name, _, rest = super().__repr__(N_CHAR_MAX)[:-1].partition("(")
        parts = [rest] if "C=" in rest else ["C=inf", *([rest] if rest else [])]  # scikit-learn's default is another
        return f"{name}({', '.join(parts)})"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.C < LEAST_C:
            raise ParameterError(f"C is {self.C!r}: a penalty of 1/C overflows; use at least {LEAST_C:g}.")
        if self.bias_reduction is not None and np.isfinite(self.C):
            raise ParameterError(f"bias_reduction={self.bias_reduction!r} has a penalty of its own: leave C at inf.")
        kind = self._calibration
        if kind is not None and not self.fit_intercept:
            lacks = f"{kind} needs an intercept beside columns, and fit_intercept=False, '0 +' and 'y ~ 1' have none"
            raise ParameterError(f"{lacks}: allow one, or leave {kind} out (alone it is that of maximum likelihood).")

    @property
    def _calibration(self) -> str | None:
        return None if self.bias_reduction == "firth" else self.bias_reduction

    def _options(self) -> FitOptions:
        """The parameters, all of which are checked."""
        self._check_parameters()
        return FitOptions(
            float(self.C),
            float(self.l1_ratio),
            self.bias_reduction is not None,
            self.on_separation,
            bool(self.fit_intercept),
            self._calibration,
            None if self.tol is None else float(self.tol),
            float(self.max_iter),
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, trials: Any = None) -> Self:
        """Fit all rows; ``offset`` is added to their scores (one number a row, or one a class for K > 2).

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        sample_weight : array or None
            Weights of the rows; None: all 1.
        offset : array or None
            Added to the scores: one number a row, or one a class for K > 2 classes.
        trials : array, int or None
            For grouped outcomes: y counts the successes of a row and ``trials`` its trials. The classes are 0
            (failure) and 1 (success).

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> LogisticRegression(C=1.0).fit(X, y).coef_.round(3)
        array([[0.767]])
        """
        options = self._options()
        rows, table = self._checked(X, y, sample_weight, offset, trials)
        results = fit_parts(self._parts(rows), options, self._start(rows))
        self._store(rows, table, results)
        self._row_labels = table.index
        if self.status_ is Status.INTERRUPTED:
            raise_interruption(self.status_)  # here and not before: the partial model is stored
        self._warn(results, rows)
        return self

    def path(self, X: Any, y: Any, Cs: Any = 10, *, sample_weight: Any = None, offset: Any = None) -> LogisticPath:
        """Fits with this ``l1_ratio`` for many C, each begun at the one before; the estimator is not changed.

        ``Cs`` are the penalties, or how many of them to choose: with an L1 part from the greatest C at which
        all weights are zero to a thousand times that, for a ridge from 1e-4 to 1e4.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        Cs : array or int
            The values of C, or how many.
        sample_weight : array or None
            Weights of the rows; None: all 1.
        offset : array or None
            Added to the scores.

        Returns
        -------
        LogisticPath

        Examples
        --------
        >>> from separatrix import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> LogisticRegression(l1_ratio=1.0).path(X, y, [0.01, 1.0]).nonzero
        array([0, 1])
        """
        options = self._options()
        rows, _ = self._checked(X, y, sample_weight, offset)
        return fit_path([part.problem(options.lift) for part in self._parts(rows)], Cs, options)

    def _fit_path(self, X: Any, y: Any, Cs: list[float], sample_weight: Any = None) -> Iterator[Self]:
        """This learner fitted with one C after the other; each fit begins where the one before it ended."""
        options = self._options()
        rows, table = self._checked(X, y, sample_weight, None)
        parts = [fits_of(part.problem(options.lift), Cs, options) for part in self._parts(rows)]
        for C in Cs:
            self.C = C
            results = [replace(next(part), method=options.penalty) for part in parts]
            for result in results:
                raise_interruption(result.status)
            self._store(rows, table, results)
            self._warn(results, rows)
            yield self

    # -- rows ---------------------------------------------------------------------------------------

    def _checked(self, X: Any, y: Any, sample_weight: Any, offset: Any, trials: Any = None) -> tuple[UsedRows, Table]:
        table = self._fit_table(X)
        need_same_index(X, offset, "offset")
        if trials is not None:
            return self._checked_groups(X, y, sample_weight, offset, trials, table), table
        labels = self._in_order(check_labels(y, rows=X))
        check_lengths(table.n, len(labels.codes), "y")
        if self._calibration == "flac" and len(labels.classes) > 2:
            raise ParameterError(
                f"bias_reduction='flac' is for two classes, and y has {len(labels.classes)}: use 'flic'."
            )
        if len(labels.classes) < 2:
            need_two_classes(labels, type(self).__name__)
        weights = None if sample_weight is None else check_weights(sample_weight, table.n, rows=X)
        if self.class_weight is not None:
            weights = weights_of_rows(labels, weights, self.class_weight)
        shift = None if offset is None else check_offset(offset, table.n, labels, self.multiclass)
        return UsedRows.of(table, labels, weights, shift, self.weights == "analytic"), table

    def _in_order(self, labels: Labels) -> Labels:
        chosen = self.reference is not None or self.positive is not None
        return with_reference(labels, self.reference, self.positive) if chosen else labels

    def _checked_groups(self, X: Any, y: Any, sample_weight: Any, offset: Any, trials: Any, table: Table) -> UsedRows:
        if sample_weight is not None or self.class_weight is not None:
            raise ParameterError("trials count the outcomes of a row: leave sample_weight and class_weight out.")
        successes, total = check_grouped(X, y, trials, table.n)
        two = Labels(np.array([0, 1]), np.zeros(0, dtype=np.intp))
        shift = None if offset is None else check_offset(offset, table.n, two, self.multiclass)
        rows = UsedRows.of_groups(table, successes, total, shift)
        labels = self._in_order(rows.labels)
        return (
            rows if labels is rows.labels else replace(rows, labels=labels, source=CertifiedTable(rows.table, labels))
        )

    def _parts(self, rows: UsedRows) -> list[UsedRows]:
        """The rows, once, or once for each class against the rest."""
        count = len(rows.labels.classes)
        one = count == 2 or self.multiclass == "multinomial"
        return [rows] if one else [rows.against_rest(k) for k in range(count)]

    def _start(self, rows: UsedRows) -> Floats | None:
        if not (self.warm_start and self.__sklearn_is_fitted__()):
            return None
        vectors = np.column_stack([self.coef_, self.intercept_])
        same = np.array_equal(self.classes_, rows.labels.classes) and vectors.shape[1] == rows.table.d + 1
        if not same:
            raise DataError(
                "warm_start needs the columns and classes of the previous fit, and they differ: fit a new estimator."
            )
        if not self.fit_intercept:
            vectors[:, -1] = 0.0
        return np.ascontiguousarray(vectors)

    # -- what is stored and said ----------------------------------------------------------------------

    def _store(self, rows: UsedRows, table: Table, results: list[LogisticResult]) -> None:
        alone = len(results) == 1
        if alone and results[0].loss is None:
            loss = rows.problem(bool(self.fit_intercept)).loss_at(results[0].vectors)
            results = [replace(results[0], loss=loss)]
        self._store_results(rows.labels.classes, rows, table, results)
        self._rows, self._facts = replace(rows, leverages=results[0].leverages), None
        if (whole := rows.grouped) is not None:
            self.trials_: dict[str, int] | None = {
                "trials": int(whole.trials.sum()),
                "successes": int(whole.successes.sum()),
            }

    def _store_results(
        self, classes: NDArray[Any], rows: UsedRows | None, table: Table, results: list[LogisticResult]
    ) -> None:
        """Set what is known without the rows."""
        vectors = np.vstack([result.vectors for result in results])
        if not np.isfinite(vectors).all():
            raise DataError("the coefficients overflow: scale the columns of X.")
        self.classes_ = classes
        self.coef_ = np.ascontiguousarray(vectors[:, :-1])
        self.intercept_ = vectors[:, -1].copy()
        self._remember_features(table)
        self.trials_ = None
        self.plan_ = "; ".join(dict.fromkeys(result.plan for result in results if result.plan))
        statuses = [result.status for result in results if result.status is not Status.OPTIMAL]
        ended = Status.INTERRUPTED if Status.INTERRUPTED in statuses else [*statuses, Status.OPTIMAL][0]
        self.status_ = ended
        self.method_ = next((r.method for r in results if r.status is ended), results[0].method)
        self.n_iter_ = max(result.steps for result in results)
        gaps = [result.gap for result in results if result.gap is not None]
        self.gap_ = max(gaps) if gaps and len(gaps) == len(results) else None
        self.maxima_ = next((result.maxima for result in results if len(result.maxima) > 1), None)
        dependent = sorted({j for result in results for j in result.dependent})
        columns = rows.names if dependent and rows is not None else []
        self.unidentifiable_ = tuple(columns[j] if columns else f"x{j}" for j in dependent)
        known, alone = [result.existence for result in results], len(results) == 1
        asked = not alone and any(existence is not None for existence in known)
        self.separation_ = dict(zip(self.classes_.tolist(), known, strict=True)) if asked else known[0]
        loss = results[0].loss
        self.loglik_ = -loss if alone and loss is not None else None

    def _warn(self, results: list[LogisticResult], rows: UsedRows) -> None:
        few = rows.table.d <= MEASURED and self.status_ is Status.ILL_CONDITIONED
        self._advise(results, condition_of(rows.table.X, rows.weights, self.fit_intercept) if few else 1.0)

    def _advise(self, results: list[LogisticResult], condition: float = 1.0) -> None:
        """At most one warning each of separation or dependent columns, of several maxima, and of a search cut short."""
        apart = [
            (k, r, r.existence) for k, r in enumerate(results) if r.existence is not None and not r.existence.exists
        ]
        if apart and self.on_separation != "ignore":
            k, first, existence = apart[0]
            alone = len(results) == 1
            d = self.coef_.shape[1]
            text = existence.sentence((d + 1) * max(1, len(self.classes_) - 1) if alone else d)
            if not alone:
                others = f" (and {len(apart) - 1} more classes)" if len(apart) > 1 else ""
                text = f"class {self.classes_.tolist()[k]!r} against the rest{others}: {text}"
            what = SUBSTITUTE["ridge" if "ridge" in first.method else "firth"]
            text += f". Fitted {what} instead; see separation_, or choose on_separation."
            warn_user(text, SeparationWarning)
        elif self.unidentifiable_:
            some = ", ".join(map(repr, self.unidentifiable_[:6])) + (", …" if len(self.unidentifiable_) > 6 else "")
            text = (
                f"columns are linearly dependent ({some}), so that their coefficients are not determined one by one: "
                "the shortest w is given; drop columns, or penalise."
            )
            warn_user(text, CollinearWarning)
        if self.maxima_ is not None:
            text = (
                f"Firth's penalised likelihood has more than one maximum: searches ended at {len(self.maxima_)}, from "
                f"{self.maxima_[0]:.6g} down to {self.maxima_[-1]:.6g}; the highest is kept; others may exist."
            )
            warn_user(text, LocalMaximumWarning)
        if (why := unfinished(self.status_, self.method_, self.gap_, float(self.C), condition)) is not None:
            warn_user(why, IterationWarning)
