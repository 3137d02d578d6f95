r"""
5 Evaluation, data splitting and the five questions
===================================================

A learner sees the training rows; it is meant for new ones. How well does it do there?
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.data.examples import load_example

# %%
# The confusion matrix
# --------------------
#
# Count predictions against true labels:
#
# ================ ==================== ====================
# .                predicted negative   predicted positive
# ================ ==================== ====================
# actual negative  true negative (TN)   false positive (FP)
# actual positive  false negative (FN)  true positive (TP)
# ================ ==================== ====================
#
# Recall is also called **sensitivity** or true positive rate; :math:`TN/(TN + FP)` is the **specificity**.
#
# .. math:: \text{accuracy} = \frac{TP + TN}{n}, \quad \text{precision} = \frac{TP}{TP + FP}, \quad
#           \text{recall} = \frac{TP}{TP + FN}, \quad F_1 = \frac{2 \cdot \text{precision} \cdot \text{recall}}{\text{precision} + \text{recall}}

truth = np.array([1] * 10 + [0] * 30)
predicted = np.array([1] * 8 + [0] * 2 + [1] * 4 + [0] * 26)
result = sx.evaluate(truth, predicted)
TP, FN, FP, TN = result.cells.values()
assert (TP, FN, FP, TN) == (8, 2, 4, 26)
assert np.isclose(result.accuracy.value, (TP + TN) / 40)
assert np.isclose(result.precision.value, TP / (TP + FP))
assert np.isclose(result.recall.value, TP / (TP + FN))
assert np.isclose(result.f1.value, 2 * TP / (2 * TP + FP + FN))
print(result)

# %%
# **Imbalanced classes.** Where 1 row in 100 is positive, always predicting the other class is 99% correct and finds
# nothing. Look at precision and recall of the rare class, or at the area under the ROC curve (AUC): the probability that
# a positive row has a higher score than a negative one.

spam = load_example("spam")
learner = make_pipeline(StandardScaler(), sx.LogisticRegression(C=1.0))
scores = learner.fit(spam.X, spam.y).decision_function(spam.X)
judged = sx.evaluate(spam.y, scores=scores, positive="spam")
positive, negative = scores[spam.y == "spam"], scores[spam.y == "ham"]
by_hand = (positive[:, None] > negative).mean() + (positive[:, None] == negative).mean() / 2
assert np.isclose(judged.roc_auc.value, by_hand)
print("AUC", judged.roc_auc)
fig, ax = plt.subplots(figsize=(4, 4), layout="constrained")
drawn = judged.roc_curve().plot(ax=ax)

# %%
# A classifier predicts + where the score is at least 0. Another **threshold** trades precision for recall:

print(judged.threshold_table([-2.0, 0.0, 2.0]))

# %%
# Overfitting
# -----------
#
# A larger model follows the training rows more closely, noise included. Polynomials of degree 1, 3 and 15, fitted to the same
# rows:

curve = load_example("curve")
polynomial = make_pipeline(sx.PolynomialMap(), StandardScaler(), sx.LeastSquares())
ax = sx.plotting.plot_overfitting(polynomial, curve.X, curve.y, "polynomialmap__degree", [1, 3, 15])

# %%
# The error on the rows learned from falls all the way; the error on others turns.

degrees = [1, 2, 3, 5, 8, 12, 15]
grown = sx.evaluation.overfitting_curve(polynomial, curve.X, curve.y, "polynomialmap__degree", degrees, random_state=0)
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
drawn = grown.plot(ax=ax, log=True)
assert degrees[grown.best] in (3, 5)

# %%
# The same with a boundary: XOR-like rows with noise, and feature maps of growing degree.

rng = np.random.default_rng(3)
X = rng.uniform(-1, 1, size=(60, 2))
y = np.where(X[:, 0] * X[:, 1] + 0.15 * rng.normal(size=60) > 0, "same", "different")
wiggly = make_pipeline(sx.PolynomialMap(), StandardScaler(), sx.LogisticRegression(C=100.0))
ax = sx.plotting.plot_overfitting(wiggly, X, y, "polynomialmap__degree", [1, 2, 9])

# %%
# Training, validation, test
# --------------------------
#
# *Training* rows are learned from, *validation* rows choose between models (**model selection**: a degree, a penalty or
# another **hyperparameter** that the fit itself does not choose), and *test* rows are used **once**, at the end.
# ``holdout`` splits them; test rows can be used only through ``open_test``, and a ledger records every use.

with tempfile.TemporaryDirectory() as folder:
    parts = sx.holdout(spam.X, spam.y, random_state=0, ledger=Path(folder) / "ledger.jsonl")
    assert parts.sizes == {"train": 240, "validation": 80, "test": 80}
    candidates = [make_pipeline(StandardScaler(), sx.LogisticRegression(C=C)) for C in (0.01, 0.1, 1.0, 10.0)]
    best = max(candidates, key=lambda candidate: candidate.fit(*parts.train).score(*parts.validation))
    final = best.fit(*parts.development)
    tested = parts.open_test(final, positive="spam")
    print("test rows:", tested.accuracy)
    fig, ax = plt.subplots(figsize=(7, 1.6), layout="constrained")
    drawn = parts.plot(ax=ax)

# %%
# Cross-validation
# ----------------
#
# With few rows, let every row be judged once: divide the rows into five folds, learn from four and judge the fifth, five
# times.

cv = sx.cross_validate(learner, spam.X, spam.y, random_state=0)
print(cv["accuracy"])
assert cv.folds == 5
assert (cv.predictions() == spam.y).mean() == cv["accuracy"].value
ax = cv.plot("accuracy")

# %%
# The five questions
# ------------------
#
# For :math:`\min_w \frac1n \sum_i 1[h_w(x_i) \ne y_i]`: does a solution without mistakes exist? Is the best one unique? Is
# there an efficient algorithm? How does it do on new rows? Which assumptions does that need? ``separatrix audit
# example:spam`` answers all five.

with tempfile.TemporaryDirectory() as folder:
    audit = sx.audit("example:spam", budget=20, ledger=Path(folder) / "ledger.jsonl")
for answer in audit.answers.values():
    print(answer.question, "\n   ", answer.answer)
print("\n".join(audit.answers["best"].lines))
assert audit.answers["separation"].answer == "No (proved)"
assert audit.answers["best"].answer.startswith("16 mistakes is the minimum")
assert "not unique" in audit.answers["best"].lines[0]

# %%
# Exercises
# ---------
#
# 1. A classifier finds 45 of 50 ill people and gives 30 false alarms among 950 healthy ones. Accuracy, precision, recall,
#    :math:`F_1`?
# 2. Why may the test rows not choose the degree of a polynomial?
# 3. What is the AUC of scores that are all equal?
#
# Solutions
# ---------
#
# 1. 96.5%, 60%, 90%, 72%.

ill = sx.evaluate([1] * 50 + [0] * 950, [1] * 45 + [0] * 5 + [1] * 30 + [0] * 920)
assert np.allclose([ill.accuracy.value, ill.precision.value, ill.recall.value, ill.f1.value], [0.965, 0.6, 0.9, 0.72])

# %%
# 2. The choice fits the noise of the rows it is made on: with labels that have nothing to do with the features, the mean
#    of the chosen model is the best of several draws, here above one half. Nested cross-validation, which judges each
#    choice on rows that took no part in it, covers one half.

unrelated = load_example("random-labels")
grid = {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}
choice = sx.Selector(sx.LogisticRegression(), grid, random_state=0).fit(unrelated.X, unrelated.y)
nested = sx.cross_validate(choice, unrelated.X, unrelated.y, random_state=0)
print("chosen on the same folds:", round(choice.best_score_, 3), "  nested:", nested["accuracy"])

# %%
# 3. One half: ties count half.

assert sx.evaluate([0, 0, 1], scores=[0.0, 0.0, 0.0]).roc_auc.value == 0.5
