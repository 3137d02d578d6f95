"""Linear predictors that prove what they say about your data.

Names are imported when they are first used: ``import separatrix`` by itself loads nothing, and a dense fit
loads numpy and the kernels only.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix import errors, kernels
    from separatrix.auditing.audit import Audit, audit
    from separatrix.evaluation.comparison import Comparison, compare
    from separatrix.evaluation.cross_validation import CrossValidation, cross_validate
    from separatrix.evaluation.estimate import Estimate
    from separatrix.evaluation.evaluation import evaluate
    from separatrix.evaluation.growth import learning_curve, mistakes_curve, overfitting_curve
    from separatrix.evaluation.results import Evaluation
    from separatrix.evaluation.seal import Holdout, holdout
    from separatrix.evaluation.selection import Selection, select
    from separatrix.evaluation.selector import Selector
    from separatrix.features.fourier import FourierMap
    from separatrix.features.maps import HashingMap
    from separatrix.features.polynomial import PolynomialMap
    from separatrix.features.splines import SplineMap
    from separatrix.models.descent.gradient_descent import gradient_descent
    from separatrix.models.descent.linear_descent import LinearDescent
    from separatrix.models.discriminant.linear_discriminant import LinearDiscriminant
    from separatrix.models.discriminant.quadratic_discriminant import QuadraticDiscriminant
    from separatrix.models.fewest_mistakes import FewestMistakes
    from separatrix.models.least_squares.least_squares import LeastSquares
    from separatrix.models.least_squares.least_squares_classifier import LeastSquaresClassifier
    from separatrix.models.logistic.logistic_regression import LogisticRegression
    from separatrix.models.logistic.penalty_path import LogisticPath
    from separatrix.models.max_margin.max_margin import MaxMargin
    from separatrix.models.perceptron.arow import AROW
    from separatrix.models.perceptron.averaged_perceptron import AveragedPerceptron
    from separatrix.models.perceptron.kernel_perceptron import KernelPerceptron
    from separatrix.models.perceptron.margin_perceptron import MarginPerceptron
    from separatrix.models.perceptron.passive_aggressive import PassiveAggressive
    from separatrix.models.perceptron.perceptron import Perceptron
    from separatrix.models.perceptron.pocket_perceptron import PocketPerceptron
    from separatrix.models.perceptron.trace import Trace
    from separatrix.models.perceptron.voted_perceptron import VotedPerceptron
    from separatrix.numerics.status import Status
    from separatrix.persistence.model_files import load, save
    from separatrix.proofs.certificate import Certificate, verify
    from separatrix.proofs.fewest_mistakes import MistakeBracket, fewest_mistakes
    from separatrix.proofs.margin import Margin, margin
    from separatrix.proofs.multiclass import MulticlassSeparability
    from separatrix.proofs.novikoff import MistakeBound, mistake_bound
    from separatrix.proofs.separability import Separability, separability

__version__ = "0.1.0"

_HOMES = {
    "AROW": "separatrix.models.perceptron.arow",
    "Audit": "separatrix.auditing.audit",
    "AveragedPerceptron": "separatrix.models.perceptron.averaged_perceptron",
    "Certificate": "separatrix.proofs.certificate",
    "Comparison": "separatrix.evaluation.comparison",
    "CrossValidation": "separatrix.evaluation.cross_validation",
    "Estimate": "separatrix.evaluation.estimate",
    "Evaluation": "separatrix.evaluation.results",
    "FewestMistakes": "separatrix.models.fewest_mistakes",
    "FourierMap": "separatrix.features.fourier",
    "HashingMap": "separatrix.features.maps",
    "Holdout": "separatrix.evaluation.seal",
    "KernelPerceptron": "separatrix.models.perceptron.kernel_perceptron",
    "LeastSquares": "separatrix.models.least_squares.least_squares",
    "LeastSquaresClassifier": "separatrix.models.least_squares.least_squares_classifier",
    "LogisticPath": "separatrix.models.logistic.penalty_path",
    "LogisticRegression": "separatrix.models.logistic.logistic_regression",
    "LinearDescent": "separatrix.models.descent.linear_descent",
    "LinearDiscriminant": "separatrix.models.discriminant.linear_discriminant",
    "Margin": "separatrix.proofs.margin",
    "MarginPerceptron": "separatrix.models.perceptron.margin_perceptron",
    "MaxMargin": "separatrix.models.max_margin.max_margin",
    "MistakeBound": "separatrix.proofs.novikoff",
    "MistakeBracket": "separatrix.proofs.fewest_mistakes",
    "MulticlassSeparability": "separatrix.proofs.multiclass",
    "PassiveAggressive": "separatrix.models.perceptron.passive_aggressive",
    "Perceptron": "separatrix.models.perceptron.perceptron",
    "PocketPerceptron": "separatrix.models.perceptron.pocket_perceptron",
    "PolynomialMap": "separatrix.features.polynomial",
    "QuadraticDiscriminant": "separatrix.models.discriminant.quadratic_discriminant",
    "Selection": "separatrix.evaluation.selection",
    "Selector": "separatrix.evaluation.selector",
    "Separability": "separatrix.proofs.separability",
    "SplineMap": "separatrix.features.splines",
    "Status": "separatrix.numerics.status",
    "Trace": "separatrix.models.perceptron.trace",
    "VotedPerceptron": "separatrix.models.perceptron.voted_perceptron",
    "audit": "separatrix.auditing.audit",
    "compare": "separatrix.evaluation.comparison",
    "cross_validate": "separatrix.evaluation.cross_validation",
    "evaluate": "separatrix.evaluation.evaluation",
    "fewest_mistakes": "separatrix.proofs.fewest_mistakes",
    "gradient_descent": "separatrix.models.descent.gradient_descent",
    "holdout": "separatrix.evaluation.seal",
    "learning_curve": "separatrix.evaluation.growth",
    "load": "separatrix.persistence.model_files",
    "margin": "separatrix.proofs.margin",
    "mistake_bound": "separatrix.proofs.novikoff",
    "mistakes_curve": "separatrix.evaluation.growth",
    "overfitting_curve": "separatrix.evaluation.growth",
    "save": "separatrix.persistence.model_files",
    "select": "separatrix.evaluation.selection",
    "separability": "separatrix.proofs.separability",
    "verify": "separatrix.proofs.certificate",
}

_ROOMS = ("errors", "kernels")

__all__ = [
    "AROW",
    "Audit",
    "AveragedPerceptron",
    "Certificate",
    "Comparison",
    "CrossValidation",
    "Estimate",
    "Evaluation",
    "FewestMistakes",
    "FourierMap",
    "HashingMap",
    "Holdout",
    "KernelPerceptron",
    "LeastSquares",
    "LeastSquaresClassifier",
    "LinearDescent",
    "LinearDiscriminant",
    "LogisticPath",
    "LogisticRegression",
    "Margin",
    "MarginPerceptron",
    "MaxMargin",
    "MistakeBound",
    "MistakeBracket",
    "MulticlassSeparability",
    "PassiveAggressive",
    "Perceptron",
    "PocketPerceptron",
    "PolynomialMap",
    "QuadraticDiscriminant",
    "Selection",
    "Selector",
    "Separability",
    "SplineMap",
    "Status",
    "Trace",
    "VotedPerceptron",
    "__version__",
    "audit",
    "compare",
    "cross_validate",
    "errors",
    "evaluate",
    "fewest_mistakes",
    "gradient_descent",
    "holdout",
    "kernels",
    "learning_curve",
    "load",
    "margin",
    "mistake_bound",
    "mistakes_curve",
    "overfitting_curve",
    "save",
    "select",
    "separability",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"separatrix.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
