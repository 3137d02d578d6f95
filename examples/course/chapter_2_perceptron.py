r"""
2 Halfspaces and the perceptron
===============================

A **halfspace** classifier predicts the sign of the score:

.. math:: h(x) = \mathrm{sign}(w \cdot x + b), \qquad \mathrm{sign}(z) = +1 \text{ if } z \ge 0, \text{ else } -1 .

The points with score 0 form a **hyperplane**, the **decision boundary**, and :math:`w` is normal to it. The set of all
halfspaces is the **hypothesis class**. Where :math:`s(x) = 0` some texts leave the
prediction undefined; here it is +1 unless ``boundary="negative"`` or ``"undefined"`` is given.
"""

import numpy as np

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("six-points")
X, y = table.X, table.y
print(np.column_stack([X, y]).astype(int))

# %%
# The 0-1 loss
# ------------
#
# The loss of a prediction is 1 if it is wrong and 0 if it is right. Its mean over the training rows is the **empirical
# risk**; minimising it is **empirical risk minimisation**. Finding the minimum over all halfspaces is NP-hard in general
# (Johnson and Preparata 1978). Where some halfspace has no mistake at all it is easy, and the perceptron (Rosenblatt 1958)
# does it.

w = np.array([1.0, 0.0])
assert sx.numerics.zero_one(X @ w, y).mean() == 0
assert sx.numerics.zero_one(X @ -w, y).mean() == 1

# %%
# The worked example
# ------------------
#
# The **online perceptron** starts at :math:`w = 0`, without a bias. It looks at a row, predicts, sees the label, and moves
# only on a mistake:
#
# .. math:: w \leftarrow w + y\,x .
#
# On these six rows it makes three mistakes, at rows 0, 2 and 4, and passes through (1, −2), (2, −1) and (3, 1).

model = sx.Perceptron.recipe("online", trace=True).fit(X, y)
steps = sx.models.perceptron.step_trace(sx.Perceptron.recipe("online"), X, y)
print(steps)
assert model.coef_.tolist() == [[3, 1]]
assert model.trace_.rows.tolist() == [0, 2, 4]
assert model.trace_.replay(X, y).weights[:, :2].tolist() == [[0, 0], [1, -2], [2, -1], [3, 1]]

# %%
# On the command line::
#
#     separatrix fit example:six-points --recipe online --trace
#
# The weights as a path, and the last hyperplane with its updates:

ax = sx.plotting.plot_weight_path(model.trace_.replay(X, y).weights)

# %%

ax = sx.plotting.plot_boundary(model, X, y, updates=3)

# %%
# **Why (4, 1) elsewhere?** ``Perceptron()`` with its defaults has a bias and calls a score of zero a mistake while it learns.
# It makes four mistakes in two passes and ends at :math:`w = (4, 1), b = 0`. Both hyperplanes separate the rows.

default = sx.Perceptron().fit(X, y)
assert (default.coef_.tolist(), default.intercept_.tolist(), default.mistakes_) == ([[4, 1]], [0], 4)

# %%
# One update
# ----------
#
# An update on a row :math:`(x, y)` moves its score by :math:`y\lVert x \rVert^2` (with a bias by
# :math:`y(\lVert x \rVert^2 + 1)`), so that :math:`y\,s(x)` never gets worse on the row itself. Other rows may get worse.

ax = sx.plotting.plot_update([1, -2], [1, 1], +1, fit_intercept=False, X=X, signs=y)
w, row, label = np.array([1.0, -2.0]), X[2], y[2]
assert label * (w + label * row) @ row - label * w @ row == row @ row == 2

# %%
# Versions of the algorithm
# -------------------------
#
# Texts agree on the update and differ in start, order of rows, meaning of a zero score, scaling, and when to stop.
# ``Perceptron.recipe`` has six versions by name; every choice is also a parameter of its own.

for name in ("online", "repeated", "batch", "restart", "normalised", "rosenblatt"):
    run = sx.Perceptron.recipe(name, random_state=0).fit(X, y)
    print(
        f"{name:<11} w = {run.coef_[0].round(2)}  b = {run.intercept_[0]:.2f}  mistakes {run.mistakes_}  rows looked at {run.visits_}"
    )
    assert run.errors_ == 0

# %%
# ============== ====================================================================================================
# recipe         what it is
# ============== ====================================================================================================
# ``online``     one pass over a stream: predict, reveal, update
# ``repeated``   passes over and over, until one has no mistake
# ``batch``      the batch perceptron, *while some row is wrong*: rows in order, until :math:`n` in a row were right
# ``restart``    back to row 0 after every update, at most ``max_updates`` of them; with a bias
# ``normalised`` every row scaled to length 1 first
# ``rosenblatt`` a random start, passes until at most ``max_mistakes`` mistakes or ``max_iter`` passes; with a bias
# ============== ====================================================================================================
#
# Rows one at a time
# ------------------
#
# ``predict_one`` and ``learn_one`` are the online protocol itself: predict, see the label, update on a mistake. Before the
# first row the score is 0, which predicts +1: row 0 is the first mistake. Rows may be arrays or dicts of features.

stream = sx.Perceptron.recipe("online")
mistakes = []
for i, (row, label) in enumerate(zip(X, y, strict=True)):
    if stream.predict_one(row, classes=[-1, 1]) != label:
        mistakes.append(i)
    stream.learn_one(row, label, classes=[-1, 1])
assert mistakes == [0, 2, 4]
assert stream.coef_.tolist() == [[3, 1]]

# %%
# A set that needs the bias
# -------------------------
#
# Without a bias the hyperplane passes through the origin. ``example:bias`` (1, 2 negative; 3, 4 positive) can be separated
# only with one. Both halves are proved.

small = load_example("bias")
assert sx.separability(small.X, small.y).verdict == "complete"
assert sx.separability(small.X, small.y, fit_intercept=False).verdict != "complete"
ax = sx.plotting.plot_boundary(sx.MaxMargin().fit(small.X, small.y), small.X, small.y)

# %%
# Coefficients as effects
# -----------------------
#
# In a spam filter :math:`s(x) = w_0 + w_1 x_1 + \ldots + w_4 x_4` with links, a known sender, misspelling and length. A
# positive weight means: more of this, more like spam.

spam = load_example("spam")
fitted = sx.LogisticRegression().fit(spam.X, spam.y)
for name, weight in zip(spam.names, fitted.coef_[0], strict=True):
    print(f"{name:<12} {weight:+.3f}")

# %%
# Exercises
# ---------
#
# 1. Run the online perceptron on the six rows in reverse order. How many mistakes, and which :math:`w`?
# 2. Which rows does ``recipe("restart")`` look at before its second update?
# 3. Show that scaling all rows by 10 changes neither the mistakes nor the direction of :math:`w`, without a bias.
#
# Solutions
# ---------
#
# 1. Two mistakes, at rows 1 and 5 of the reversed rows, and :math:`w = (2, 0)`. The order of rows matters.

back = sx.Perceptron.recipe("online", trace=True).fit(X[::-1], y[::-1])
assert (back.coef_.tolist(), back.trace_.rows.tolist(), back.errors_) == ([[2, 0]], [1, 5], 0)

# %%
# 2. Row 0 (a mistake at :math:`w = 0`), then row 0 and the rows after it up to the next mistake.

restart = sx.models.perceptron.step_trace(sx.Perceptron.recipe("restart"), X, y)
second = np.flatnonzero(restart.mistake)[1]
print(restart.row[: second + 1].tolist())
assert restart.row[:2].tolist() == [0, 0]

# %%
# 3. Every score is multiplied by 100, no sign changes.

tenfold = sx.Perceptron.recipe("online", trace=True).fit(10 * X, y)
assert tenfold.trace_.rows.tolist() == [0, 2, 4]
assert tenfold.coef_.tolist() == [[30, 10]]
