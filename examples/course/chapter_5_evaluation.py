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
from sklearn.tree import DecisionTreeClassifier

import separatrix as sx
from separatrix.data.examples import load_example

# %%
# The confusion matrix
# --------------------
#
# Count predictions against true labels, the positive class first:
#
# ================ ==================== ====================
# .                predicted positive   predicted negative
# ================ ==================== ====================
# actual positive  true positive (TP)   false negative (FN)
# actual negative  false positive (FP)  true negative (TN)
# ================ ==================== ====================
#
# Recall is also called **sensitivity** or true positive rate; :math:`TN/(TN + FP)` is the **specificity**.
#
# .. math:: \text{accuracy} &= \frac{TP + TN}{n}, & \text{precision} &= \frac{TP}{TP + FP}, \\
#           \text{recall} &= \frac{TP}{TP + FN}, & F_1 &= \frac{2\,TP}{2\,TP + FP + FN} .
#
# :math:`F_1` is the harmonic mean of precision and recall.

truth = np.array([1] * 10 + [0] * 30)
predicted = np.array([1] * 8 + [0] * 2 + [1] * 4 + [0] * 26)
result = sx.evaluate(truth, predicted)
TP, FN, FP, TN = result.cells.values()
print(f"accuracy {(TP + TN) / 40:.3f}, precision {TP / (TP + FP):.3f}, recall {TP / (TP + FN):.3f}")
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
print("AUC", judged.roc_auc, "  by counting pairs:", by_hand.round(4))
fig, ax = plt.subplots(figsize=(4, 4), layout="constrained")
drawn = judged.roc_curve().plot(ax=ax)
# figure: The ROC curve of a spam filter: the share of spam that is found against the share of honest messages that are taken for
# spam, for every threshold. It passes near the upper left corner; the diagonal would be guessing.

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
# figure: Polynomials of degree 1, 3 and 15 through the same points. The first is too stiff, the third follows single points and
# swings between them.

# %%
# The error on the rows learned from falls all the way; the error on others turns.

degrees = [1, 2, 3, 5, 8, 12, 15]
grown = sx.evaluation.overfitting_curve(polynomial, curve.X, curve.y, "polynomialmap__degree", degrees, random_state=0)
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
drawn = grown.plot(ax=ax, log=True)
print("least validation error at degree", degrees[grown.best])
# figure: Error against degree, on a logarithmic scale. On the training rows it falls all the way; on validation rows it falls
# first and then rises.

# %%
# The same with a boundary: XOR-like rows with noise, and feature maps of growing degree.

rng = np.random.default_rng(3)
X = rng.uniform(-1, 1, size=(60, 2))
y = np.where(X[:, 0] * X[:, 1] + 0.15 * rng.normal(size=60) > 0, "same", "different")
wiggly = make_pipeline(sx.PolynomialMap(), StandardScaler(), sx.LogisticRegression(C=100.0))
ax = sx.plotting.plot_overfitting(wiggly, X, y, "polynomialmap__degree", [1, 2, 9])
# figure: Boundaries of degree 1, 2 and 9 on noisy XOR-like rows. A line cannot do it, degree 2 follows the two axes, degree 9
# winds around single points.

# %%
# **A decision tree beside a linear model.** A tree cuts at one column at a time, so that its boundary is made of steps. Grown
# without a limit it has every training row right, whatever they are. On rows whose true boundary is an oblique line the
# linear model wins on *validation* rows:

X = rng.normal(size=(300, 2))
y = np.where(X @ [1.0, 1.0] + 0.5 * rng.normal(size=300) > 0, "plus", "minus")
train, validation = np.arange(150), np.arange(150, 300)
judged_on = {}
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for panel, model in zip(axes, (DecisionTreeClassifier(random_state=0), sx.LogisticRegression(C=1.0)), strict=True):
    model.fit(X[train], y[train])
    right = model.score(X[train], y[train]), model.score(X[validation], y[validation])
    judged_on[type(model).__name__] = right
    sx.plotting.plot_boundary(model, X[validation], y[validation], ax=panel)
    drawn = panel.set_title(f"{right[0]:.1%} of training rows, {right[1]:.1%} of validation rows")
# figure: Validation rows with the regions of a decision tree (left), boxes with many corners, and of logistic regression (right),
# one oblique line. The tree has all training rows right, and more validation rows wrong.

# %%
# Training, validation, test
# --------------------------
#
# *Training* rows are learned from, *validation* rows choose between models (**model selection**: a degree, a penalty or
# another **hyperparameter** that the fit itself does not choose), and *test* rows are used **once**, at the end.
# ``holdout`` splits them; test rows can be used only through ``open_test``, and a ledger records every use.

with tempfile.TemporaryDirectory() as folder:
    parts = sx.holdout(spam.X, spam.y, random_state=0, ledger=Path(folder) / "ledger.jsonl")
    sizes = parts.sizes
    print(sizes)
    candidates = [make_pipeline(StandardScaler(), sx.LogisticRegression(C=C)) for C in (0.01, 0.1, 1.0, 10.0)]
    best = max(candidates, key=lambda candidate: candidate.fit(*parts.train).score(*parts.validation))
    final = best.fit(*parts.development)
    tested = parts.open_test(final, positive="spam")
    print("test rows:", tested.accuracy)
    fig, ax = plt.subplots(figsize=(7, 1.6), layout="constrained")
    drawn = parts.plot(ax=ax)
    # figure: One bar, cut in three: 240 training rows, 80 validation rows, 80 test rows.

# %%
# Cross-validation
# ----------------
#
# With few rows, let every row be judged once: divide the rows into five folds, learn from four and judge the fifth, five
# times.

cv = sx.cross_validate(learner, spam.X, spam.y, random_state=0)
print(cv["accuracy"], " = share of right predictions:", (cv.predictions() == spam.y).mean())
ax = cv.plot("accuracy")
# figure: Five folds: the rows of each, and the accuracy on it of the model that was fitted on the other four.

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

# %%
# .. plane:: -2 1 -, -1 2 -, -2 -1 -, 0 1.4 -, 1 -0.5 -, 2 0 +, 1 -2 +, 2 2 +, 0 -1 +, -1 -0.3 +
#    :line: 1 -0.4 0
#    :show: fewest verdict
#    :view: -3 -3 6
#
#    Three of the five questions on a table of ten rows. Does a hyperplane without mistakes exist? What is the fewest, and can you
#    reach it by hand? `Lessons 7 and 8 <../lab/index.html#lesson=7>`_ of the lab are about the other two: overfitting, precision
#    and recall (they need Python: ``separatrix lab``).
#
# Exercises
# ---------
#
# 1. A classifier finds 45 of 50 ill people and gives 30 false alarms among 950 healthy ones. Accuracy, precision, recall,
#    :math:`F_1`?
# 2. Why may the test rows not choose the degree of a polynomial?
# 3. What is the AUC of scores that are all equal, and why does it not change if all scores are doubled?
# 4. Show that :math:`F_1` lies between precision and recall, and nearer to the smaller one.
#
# .. dropdown:: Solutions
#
#    1. 96.5%, 60%, 90%, 72%.
#    2. The choice fits the noise of the rows it is made on. If each of ten degrees has the same true error, the least of the
#       ten measured errors is still below it: the minimum of several noisy numbers is too small on average. With labels that
#       have nothing to do with the features, the mean of the chosen model is above one half (printed below). Nested
#       cross-validation, which judges each choice on rows that took no part in it, covers one half.
#    3. One half: every pair is a tie, and ties count half. The AUC depends on the order of the scores only.
#    4. :math:`1/F_1` is the mean of :math:`1/\text{precision}` and :math:`1/\text{recall}`, so that it lies between them. The
#       harmonic mean is at most the arithmetic one: :math:`F_1` is at most halfway up from the smaller one.

ill = sx.evaluate([1] * 50 + [0] * 950, [1] * 45 + [0] * 5 + [1] * 30 + [0] * 920)
print(f"accuracy {ill.accuracy.value:.1%}, precision {ill.precision.value:.1%}, recall {ill.recall.value:.1%}")

unrelated = load_example("random-labels")
grid = {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}
choice = sx.Selector(sx.LogisticRegression(), grid, random_state=0).fit(unrelated.X, unrelated.y)
nested = sx.cross_validate(choice, unrelated.X, unrelated.y, random_state=0)
print("chosen on the same folds:", round(choice.best_score_, 3), "  nested:", nested["accuracy"])
