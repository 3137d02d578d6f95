"""
Least squares with intervals
============================

A cubic through noisy rows, the interval of its mean and the interval of a new row.
"""

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("curve")
powers = sx.PolynomialMap(3).fit(table.X)
model = sx.LeastSquares().fit(powers.transform(table.X), table.y)
print(model.summary())

# %%

grid = np.linspace(table.X.min(), table.X.max(), 100)[:, None]
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for kind, shade in (("prediction", 0.15), ("mean", 0.35)):
    low, high = model.predict_interval(powers.transform(grid), kind=kind)
    ax.fill_between(grid[:, 0], low, high, alpha=shade, color="C0", label=f"95% interval, {kind}")
ax.plot(table.X, table.y, "ko", markersize=4)
ax.plot(grid, model.predict(powers.transform(grid)), color="C0")
drawn = ax.legend()
