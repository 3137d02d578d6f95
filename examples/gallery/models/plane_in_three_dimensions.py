"""
A hyperplane in three dimensions
================================

In three columns a linear model is a plane, and its weights are the plane's normal. Of more columns the picture shows
the signed distance from the hyperplane, and the direction along it in which the rows spread most.
"""

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx
from separatrix.data.examples import load_example

rng = np.random.default_rng(1)
X = rng.normal(size=(80, 3))
score = X @ [1.0, 2.0, -1.0] + 0.3
X, y = X[abs(score) > 0.6], np.where(score > 0, "above", "below")[abs(score) > 0.6]
fig = plt.figure(figsize=(11, 4.6), layout="constrained")
sx.plotting.plot_boundary(
    sx.MaxMargin().fit(X, y), X, y, columns=(0, 1, 2), ax=fig.add_subplot(1, 2, 1, projection="3d")
)
cancer = load_example("breast-cancer")
spread = (cancer.X - cancer.X.mean(axis=0)) / cancer.X.std(axis=0)
model = sx.LogisticRegression(C=1.0).fit(spread, cancer.y)
ax = sx.plotting.plot_boundary(model, spread, cancer.y, ax=fig.add_subplot(1, 2, 2))
