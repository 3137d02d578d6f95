"""
Hulls that meet, hulls that do not
==================================

A hyperplane separates two classes exactly where their convex hulls have no point in common. ``separability`` proves
which it is: by a hyperplane, or by a few rows whose hulls meet in a point.
"""

import matplotlib.pyplot as plt

import separatrix as sx
from separatrix.data.examples import load_example

fig, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
for ax, name in zip(axes, ("separable", "noise", "quasi"), strict=True):
    table = load_example(name)
    found = sx.separability(table.X, table.y)
    found.plot(ax=ax)
    print(f"{name}: {found.verdict}; witness: {found.witness.tolist()}")

# %%
# Where the hulls are apart, ``margin`` finds their nearest points; the widest band lies between them.

separable = load_example("separable")
ax = sx.margin(separable.X, separable.y).plot()
