"""
Imbalanced classes
==================

Three rows in a hundred are positive. Accuracy looks excellent for a model that finds nothing; precision, recall and
their curve do not.
"""

import numpy as np

import separatrix as sx

rng = np.random.default_rng(0)
y = (rng.random(2000) < 0.03).astype(int)
X = rng.normal(size=(2000, 3)) + 1.5 * y[:, None]
probabilities = sx.cross_validate(sx.LogisticRegression(), X, y, random_state=0).pooled
nothing = sx.evaluate(y, np.zeros(2000, dtype=int))
print("always negative: accuracy", nothing.accuracy, " recall", nothing.recall)
print("logistic:        accuracy", probabilities.accuracy, " recall", probabilities.recall)
print("average precision", probabilities.average_precision)

# %%

drawn = probabilities.precision_recall_curve().plot()
