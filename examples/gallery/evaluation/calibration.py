"""
Are the probabilities right?
============================

A calibration curve compares what was said with what happened, with intervals. Logistic regression on linear log-odds is
calibrated; a sigmoid of a perceptron's score is not a probability.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

import separatrix as sx

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 3))
y = (rng.random(3000) < expit(X @ [1.0, -1.0, 0.5])).astype(int)
train, test = slice(0, 1500), slice(1500, None)
logistic = sx.LogisticRegression().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
squashed = expit(sx.Perceptron(max_iter=5).fit(X[train], y[train]).decision_function(X[test]))
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (name, said) in zip(axes, {"logistic": logistic, "perceptron, squashed": squashed}.items(), strict=True):
    result = sx.evaluate(y[test], probabilities=said)
    result.calibration_curve().plot(ax=ax)
    ax.set_title(f"{name}: Brier {result.brier.value:.3f}")
