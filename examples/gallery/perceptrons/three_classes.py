"""
Three classes: one against the rest, or Kesler's rule
=====================================================

One against the rest learns three separate hyperplanes. Kesler's rule moves the vectors of the true class and of the best
wrong one together.
"""

import matplotlib.pyplot as plt

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("gaussians")
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, how in zip(axes, ("ovr", "kesler"), strict=True):
    model = sx.AveragedPerceptron(multiclass=how).fit(table.X, table.y)
    sx.plotting.plot_boundary(model, table.X, table.y, ax=ax)
    ax.set_title(f"{how}: {model.score(table.X, table.y):.1%} correct")
