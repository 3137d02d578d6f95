"""
Gradient descent: step sizes
============================

A narrow valley. A constant step zigzags, momentum straightens the path, and a line search chooses the steps itself.
"""

import matplotlib.pyplot as plt

import separatrix as sx


def J(theta):
    """Ten times as steep one way as the other."""
    return 0.5 * theta[0] ** 2 + 5 * theta[1] ** 2


settings = {
    "constant 0.18": {"step": 0.18},
    "momentum 0.6": {"step": 0.1, "momentum": 0.6},
    "line search": {"schedule": "line-search", "step": 1.0},
}
fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, (name, options) in zip(axes, settings.items(), strict=True):
    found = sx.models.descent.gradient_descent(J, [4.0, 1.0], tol=1e-4, **options)
    sx.plotting.plot_descent(J, found.path, ax=ax)
    ax.set_title(f"{name}: {found.steps} steps")
