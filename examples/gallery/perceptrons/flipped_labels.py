"""
Flipped labels: average the weights
===================================

With a tenth of the labels flipped no hyperplane separates the training rows, and the last weights of a perceptron depend
on the last mistake. Their average does much better on rows with true labels.
"""

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx

rng = np.random.default_rng(4)
X = rng.normal(size=(300, 2))
true = np.where(X @ [1.0, 1.0] > 0, 1, -1)
given = np.where(rng.random(300) < 0.1, -true, true)
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, learner in zip(axes, (sx.Perceptron(max_iter=20), sx.AveragedPerceptron()), strict=True):
    model = learner.fit(X, given)
    sx.plotting.plot_boundary(model, X, given, ax=ax)
    ax.set_title(f"{type(learner).__name__}: {(model.predict(X) == true).mean():.1%} of true labels")
