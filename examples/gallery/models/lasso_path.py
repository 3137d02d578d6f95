"""
A path of lasso penalties
=========================

Logistic regression with an L1 penalty sets weights to exactly zero. Every point of the path has a proved duality gap.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import separatrix as sx

X, y = load_breast_cancer(return_X_y=True)
path = sx.LogisticRegression(l1_ratio=1.0).path(StandardScaler().fit_transform(X), y, 30)
print("columns in use:", path.nonzero.tolist(), " largest gap:", f"{path.gap.max():.1e}")
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.semilogx(path.C, path.coef[:, 0])
drawn = ax.set(xlabel="C", ylabel="coefficients", title="lasso, 30 columns")
