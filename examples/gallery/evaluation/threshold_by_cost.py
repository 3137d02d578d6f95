"""
A threshold by cost
===================

If a missed case costs ten false alarms, 1/2 is the wrong threshold.
"""

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx

rng = np.random.default_rng(1)
y = (rng.random(1500) < 0.2).astype(int)
X = rng.normal(size=(1500, 2)) + y[:, None]
scores = sx.LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
result = sx.evaluate(y, probabilities=scores)
choice = result.threshold_by_cost(false_negative=10.0)
print(choice)
at = np.linspace(0.02, 0.9, 60)
cost = [(10 * ((scores < t) & (y == 1)).sum() + ((scores >= t) & (y == 0)).sum()) / len(y) for t in at]
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(at, cost)
ax.axvline(choice.threshold, color="C1", linestyle="--")
drawn = ax.set(xlabel="threshold of the probability", ylabel="mean cost")
