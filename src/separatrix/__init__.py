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
    from separatrix.evaluation.selection import Selection, Selector, select
    from separatrix.features.fourier import FourierMap
    from separatrix.features.maps import HashingMap
    from separatrix.features.polynomial import PolynomialMap
    from separatrix.features.splines import SplineMap
    from separatrix.learners.arow import AROW
    from separatrix.learners.averaged import AveragedPerceptron
    from separatrix.learners.fewest_mistakes import FewestMistakes
    from separatrix.learners.kernel import KernelPerceptron
    from separatrix.learners.least_squares import LeastSquares
    from separatrix.learners.least_squares_classifier import LeastSquaresClassifier
    from separatrix.learners.linear_descent import LinearDescent
    from separatrix.learners.linear_discriminant import LinearDiscriminant
    from separatrix.learners.logistic import LogisticRegression
    from separatrix.learners.logistic_path import LogisticPath
    from separatrix.learners.margin import MarginPerceptron
    from separatrix.learners.max_margin import MaxMargin
    from separatrix.learners.passive_aggressive import PassiveAggressive
    from separatrix.learners.perceptron import Perceptron
    from separatrix.learners.pocket import PocketPerceptron
    from separatrix.learners.quadratic_discriminant import QuadraticDiscriminant
    from separatrix.learners.voted import VotedPerceptron
    from separatrix.maths.descent import gradient_descent
    from separatrix.maths.stopping import Status
    from separatrix.maths.trace import Trace
    from separatrix.persist.files import load, save
    from separatrix.theory.certificate import Certificate, verify
    from separatrix.theory.fewest import MistakeBracket, fewest_mistakes
    from separatrix.theory.margin import Margin, margin
    from separatrix.theory.mistakes import MistakeBound, mistake_bound
    from separatrix.theory.multiclass import MulticlassSeparability
    from separatrix.theory.separability import Separability, separability

__version__ = "0.1.0"

_HOMES = {
    "AROW": "separatrix.learners.arow",
    "Audit": "separatrix.auditing.audit",
    "AveragedPerceptron": "separatrix.learners.averaged",
    "Certificate": "separatrix.theory.certificate",
    "Comparison": "separatrix.evaluation.comparison",
    "CrossValidation": "separatrix.evaluation.cross_validation",
    "Estimate": "separatrix.evaluation.estimate",
    "Evaluation": "separatrix.evaluation.results",
    "FewestMistakes": "separatrix.learners.fewest_mistakes",
    "FourierMap": "separatrix.features.fourier",
    "HashingMap": "separatrix.features.maps",
    "Holdout": "separatrix.evaluation.seal",
    "KernelPerceptron": "separatrix.learners.kernel",
    "LeastSquares": "separatrix.learners.least_squares",
    "LeastSquaresClassifier": "separatrix.learners.least_squares_classifier",
    "LogisticPath": "separatrix.learners.logistic_path",
    "LogisticRegression": "separatrix.learners.logistic",
    "LinearDescent": "separatrix.learners.linear_descent",
    "LinearDiscriminant": "separatrix.learners.linear_discriminant",
    "Margin": "separatrix.theory.margin",
    "MarginPerceptron": "separatrix.learners.margin",
    "MaxMargin": "separatrix.learners.max_margin",
    "MistakeBound": "separatrix.theory.mistakes",
    "MistakeBracket": "separatrix.theory.fewest",
    "MulticlassSeparability": "separatrix.theory.multiclass",
    "PassiveAggressive": "separatrix.learners.passive_aggressive",
    "Perceptron": "separatrix.learners.perceptron",
    "PocketPerceptron": "separatrix.learners.pocket",
    "PolynomialMap": "separatrix.features.polynomial",
    "QuadraticDiscriminant": "separatrix.learners.quadratic_discriminant",
    "Selection": "separatrix.evaluation.selection",
    "Selector": "separatrix.evaluation.selection",
    "Separability": "separatrix.theory.separability",
    "SplineMap": "separatrix.features.splines",
    "Status": "separatrix.maths.stopping",
    "Trace": "separatrix.maths.trace",
    "VotedPerceptron": "separatrix.learners.voted",
    "audit": "separatrix.auditing.audit",
    "compare": "separatrix.evaluation.comparison",
    "cross_validate": "separatrix.evaluation.cross_validation",
    "evaluate": "separatrix.evaluation.evaluation",
    "fewest_mistakes": "separatrix.theory.fewest",
    "gradient_descent": "separatrix.maths.descent",
    "holdout": "separatrix.evaluation.seal",
    "learning_curve": "separatrix.evaluation.growth",
    "load": "separatrix.persist.files",
    "margin": "separatrix.theory.margin",
    "mistake_bound": "separatrix.theory.mistakes",
    "mistakes_curve": "separatrix.evaluation.growth",
    "overfitting_curve": "separatrix.evaluation.growth",
    "save": "separatrix.persist.files",
    "select": "separatrix.evaluation.selection",
    "separability": "separatrix.theory.separability",
    "verify": "separatrix.theory.certificate",
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
