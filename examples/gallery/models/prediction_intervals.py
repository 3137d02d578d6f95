"""
Least squares with intervals
============================

A cubic through noisy rows, the interval of its mean and the interval of a new row.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("curve")
powers = sx.PolynomialMap(3).set_output(transform="pandas").fit(pd.DataFrame(table.X, columns=["x"]))
model = sx.LeastSquares().fit(powers.transform(pd.DataFrame(table.X, columns=["x"])), table.y)
print(model.summary())

# %%

grid = pd.DataFrame({"x": np.linspace(table.X.min(), table.X.max(), 100)})
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for kind, shade in (("prediction", 0.15), ("mean", 0.35)):
    low, high = model.predict_interval(powers.transform(grid), kind=kind)
    ax.fill_between(grid.x, low, high, alpha=shade, color="C0", label=f"95% interval, {kind}")
ax.plot(table.X, table.y, "ko", markersize=4)
ax.plot(grid.x, model.predict(powers.transform(grid)), color="C0")
drawn = ax.legend()
