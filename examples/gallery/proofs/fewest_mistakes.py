"""
The fewest mistakes of any hyperplane
=====================================

Where the classes overlap, some hyperplane is still the best one. ``FewestMistakes`` finds it and proves that no other
makes fewer mistakes; logistic regression minimises another loss and makes more.
"""

import matplotlib.pyplot as plt

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("overlap")
best = sx.FewestMistakes().fit(table.X, table.y)
smooth = sx.LogisticRegression().fit(table.X, table.y)
print(f"between {best.lower_} and {best.errors_} mistakes are the fewest; {best.status_.name}")
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, model in zip(axes, (best, smooth), strict=True):
    sx.plotting.plot_boundary(model, table.X, table.y, ax=ax)
    ax.set_title(f"{type(model).__name__}: {(model.predict(table.X) != table.y).sum()} mistakes")
