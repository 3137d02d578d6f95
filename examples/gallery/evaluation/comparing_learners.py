"""
Comparing learners with intervals
=================================

All learners on the same folds, differences fold by fold. Each interval is for its own pair; the p-values are adjusted for all
pairs (Holm 1979), and there is a winner only where they say so.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx

X, y = load_breast_cancer(return_X_y=True)
learners = {
    "ridge logistic": make_pipeline(StandardScaler(), sx.LogisticRegression(C=1.0)),
    "discriminant": make_pipeline(StandardScaler(), sx.LinearDiscriminant()),
    "least squares": make_pipeline(StandardScaler(), sx.LeastSquaresClassifier()),
    "averaged perceptron": make_pipeline(StandardScaler(), sx.AveragedPerceptron()),
}
found = sx.compare(learners, X, y, random_state=0)
print(found)

# %%

fig = found.plot()
