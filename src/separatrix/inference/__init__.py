"""What a least-squares fit says about its coefficients, and how sure it is: y = w.x + b + noise.

Everything here takes a fitted, unpenalised :class:`separatrix.LeastSquares`, and refuses with a reason
(:class:`separatrix.errors.InferenceError`) where an interval does not exist. Logistic regression has its
likelihood in ``likelihood.py`` and its summary in ``logistic.py``.
"""

from separatrix.inference.covariance import coefficient_covariance
from separatrix.inference.hypotheses import HypothesisTest, linear_hypothesis
from separatrix.inference.influence import Influence, influence, variance_inflation
from separatrix.inference.intervals import predict_interval
from separatrix.inference.summary import Summary, summarize

__all__ = [
    "HypothesisTest",
    "Influence",
    "Summary",
    "coefficient_covariance",
    "influence",
    "linear_hypothesis",
    "predict_interval",
    "summarize",
    "variance_inflation",
]
