"""
A path of ridge penalties
=========================

Thirty penalties from one pass over the rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import separatrix as sx

X, y = load_diabetes(return_X_y=True)
alphas = np.logspace(-4, 2, 30)
coef, _ = sx.LeastSquares().path(X, y, alphas)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.semilogx(alphas, coef)
ax.set(xlabel="penalty", ylabel="coefficients", title="ridge")
best = sx.Selector(sx.LeastSquares(), {"alpha": alphas}, random_state=0).fit(X, y).best_params_
print(f"chosen by cross-validation: alpha = {best['alpha']:.3g}")
