"""
Separation in a clinical table
==============================

A marker that occurs only among the ill makes the logistic estimate of its effect infinite. Most software prints a large
number with an enormous standard error. Here the fit proves what happens, names the column, and gives Firth's finite
estimate; the infinite one has a one-sided interval.
"""

import matplotlib.pyplot as plt
import pandas as pd

from separatrix import LogisticRegression

rows = pd.DataFrame({"age": [52, 61, 47, 58, 66, 71, 49, 63], "marker": [0, 0, 0, 0, 0, 1, 1, 1]})
ill = [0, 1, 1, 0, 0, 1, 1, 1]
model = LogisticRegression().fit(rows, ill)
print(model)
print(model.separation_.verdict, {name: str(model.separation_.coefficients[name]) for name in rows.columns})

# %%
# The profile interval of the infinite estimate is (0.283, ∞): the data speak for an effect, and bound it from below.

line = LogisticRegression(on_separation="ignore").fit(rows, ill).summary(intervals="profile")["marker"]
print(line.coef, line.low, line.high)
assert line.coef == line.high == float("inf")
assert round(line.low, 3) == 0.283
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.scatter(rows["age"], rows["marker"], c=ill, cmap="coolwarm", s=80, edgecolor="k")
drawn = ax.set(xlabel="age", ylabel="marker", yticks=[0, 1], title="every row with the marker is ill (red)")
