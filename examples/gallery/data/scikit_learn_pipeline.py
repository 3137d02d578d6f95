"""
In scikit-learn's pipelines and searches
========================================

Every learner follows scikit-learn's protocol: pipelines, grid searches, calibration and cloning work as ever.
"""

from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx

X, y = load_iris(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), sx.PolynomialMap(), sx.LogisticRegression(C=1.0))
search = GridSearchCV(pipeline, {"polynomialmap__degree": [1, 2], "logisticregression__C": [0.1, 1.0, 10.0]}, cv=5)
search.fit(X[:, 2:], y)
print(search.best_params_, f"{search.best_score_:.3f}")
ax = sx.plotting.plot_boundary(search.best_estimator_, X[:, 2:], y)
drawn = ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
