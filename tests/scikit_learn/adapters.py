"""scikit-learn's names and parameters for learners of Separatrix, so that scikit-learn's own tests run on them.

A parameter that has a counterpart is translated; a value without one is an error, by which the test that asks for it
fails, and a table of the documentation says why. Nothing is computed here.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

import separatrix as sx


class NoCounterpart(ValueError):
    """A value of a parameter that has none here."""


def need(condition: bool, what: str) -> None:
    if not condition:
        raise NoCounterpart(what)


def shrinkage_of(value: Any) -> Any:
    """scikit-learn's name for Ledoit and Wolf's choice."""
    return "ledoit-wolf" if isinstance(value, str) and value == "auto" else value


class Adapter(BaseEstimator):
    """A learner under scikit-learn's parameters; fitted attributes and methods are the learner's."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.model_ = self.made()
        self.model_.fit(X, y) if sample_weight is None else self.model_.fit(X, y, sample_weight=sample_weight)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "model_" or "model_" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.__dict__["model_"], name)

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)


class LinearDiscriminantAnalysis(ClassifierMixin, Adapter):
    def __init__(
        self, solver="svd", shrinkage=None, priors=None, n_components=None, store_covariance=False, tol=1e-4,
        covariance_estimator=None,
    ):  # fmt: skip
        self.solver, self.shrinkage, self.priors, self.n_components = solver, shrinkage, priors, n_components
        self.store_covariance, self.tol, self.covariance_estimator = store_covariance, tol, covariance_estimator

    def made(self):
        need(self.covariance_estimator is None, "covariance_estimator")
        need(self.solver in ("svd", "lsqr", "eigen"), "solver")
        return sx.LinearDiscriminant(shrinkage=shrinkage_of(self.shrinkage), priors=self.priors)

    def transform(self, X):
        made = self.model_.transform(X)
        return made if self.n_components is None else made[:, : self.n_components]


class QuadraticDiscriminantAnalysis(ClassifierMixin, Adapter):
    def __init__(
        self, *, solver="svd", shrinkage=None, priors=None, reg_param=0.0, store_covariance=False, tol=1e-4,
        covariance_estimator=None,
    ):  # fmt: skip
        self.solver, self.shrinkage, self.priors, self.reg_param = solver, shrinkage, priors, reg_param
        self.store_covariance, self.tol, self.covariance_estimator = store_covariance, tol, covariance_estimator

    def made(self):
        need(self.covariance_estimator is None, "covariance_estimator")
        need(self.reg_param == 0.0, "reg_param")
        return sx.QuadraticDiscriminant(shrinkage=shrinkage_of(self.shrinkage), priors=self.priors, divisor="unbiased")


class LinearRegression(RegressorMixin, Adapter):
    def __init__(self, *, fit_intercept=True, copy_X=True, tol=1e-6, n_jobs=None, positive=False):
        self.fit_intercept, self.copy_X, self.tol, self.n_jobs, self.positive = (
            fit_intercept, copy_X, tol, n_jobs, positive,
        )  # fmt: skip

    def made(self):
        return sx.LeastSquares(fit_intercept=self.fit_intercept, positive=self.positive)


# scikit-learn's test module, the module that holds the learners, and what is put in their place.
FILES = {
    "discriminant": ("sklearn.tests.test_discriminant_analysis", "sklearn.discriminant_analysis",
                     (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis)),
    "base": ("sklearn.linear_model.tests.test_base", "sklearn.linear_model", (LinearRegression,)),
}  # fmt: skip
