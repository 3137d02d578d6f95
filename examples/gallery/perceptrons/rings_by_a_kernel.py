"""
Two rings and a kernel
======================

A perceptron that sees rows through a Gaussian kernel separates what no line can.
"""

import numpy as np

import separatrix as sx

rng = np.random.default_rng(0)
angle, radius = rng.uniform(0, 2 * np.pi, 160), np.repeat([1.0, 2.5], 80) + 0.2 * rng.normal(size=160)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
y = np.repeat(["inner", "outer"], 80)
print(sx.separability(X, y).verdict, "in the plane")
model = sx.KernelPerceptron(kernel="rbf").fit(X, y)
print(model.errors_, "errors with the kernel,", len(model.support_vectors_), "rows kept")
ax = sx.plotting.plot_boundary(model, X, y)
