"""
Overfitting, degree by degree
=============================

Polynomials of growing degree follow the rows more and more closely. Cross-validation says where to stop.
"""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("curve")
learner = make_pipeline(sx.PolynomialMap(), StandardScaler(), sx.LeastSquares())
ax = sx.plotting.plot_overfitting(learner, table.X, table.y, "polynomialmap__degree", [1, 3, 15])

# %%

degrees = [1, 2, 3, 5, 8, 12]
curve = sx.evaluation.overfitting_curve(learner, table.X, table.y, "polynomialmap__degree", degrees, random_state=0)
print(curve)
print("best degree:", degrees[curve.best])
