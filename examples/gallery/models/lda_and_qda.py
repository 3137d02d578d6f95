"""
Linear and quadratic discriminants
==================================

Normal classes: with a common covariance the boundary is a line, with one for each class a conic. The ellipses are one and
two standard deviations.
"""

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx

rng = np.random.default_rng(2)
X = np.vstack([rng.normal(size=(80, 2)) @ [[1.6, 0.9], [0.0, 0.5]], 0.6 * rng.normal(size=(80, 2)) + [1.5, 2.0]])
y = np.repeat(["a", "b"], 80)
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, learner in zip(axes, (sx.LinearDiscriminant(), sx.QuadraticDiscriminant()), strict=True):
    sx.plotting.plot_boundary(learner.fit(X, y), X, y, ax=ax)
    ax.set_title(f"{type(learner).__name__}: {learner.score(X, y):.1%} correct")
