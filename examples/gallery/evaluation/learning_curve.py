"""
Would more rows help?
=====================

Error on the rows learned from and on the others, as the training set grows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx

X, y = load_breast_cancer(return_X_y=True)
learner = make_pipeline(StandardScaler(), sx.LinearDiscriminant())
curve = sx.evaluation.learning_curve(learner, X, y, sizes=[60, 100, 150, 250, 450], random_state=0)
print(curve)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
drawn = curve.plot(ax=ax)
