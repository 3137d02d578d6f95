r"""
2 Halfspaces and the perceptron
===============================

A **halfspace** classifier predicts the sign of the score:

.. math:: h(x) = \mathrm{sign}(w \cdot x + b) ,

with :math:`\mathrm{sign}(z) = +1` if :math:`z \ge 0`, and :math:`-1` otherwise.

The points with score 0 form a **hyperplane**, the **decision boundary**. The set of all halfspaces is the **hypothesis
class**. Where :math:`s(x) = 0` some texts leave the prediction undefined; here it is +1 unless ``boundary="negative"`` or
``"undefined"`` is given. The picture behind it is a **neuron**: inputs, weights, a sum and a threshold
(:doc:`history`).

.. include:: ../neuron.txt

.. plane:: -1 2 -, 1 0 +, 1 1 +, -1 0 -, -1 -2 -, 1 -1 +
   :line: 0.6 1 -0.5
   :show: scores

   Six rows and a line to drag. :math:`w` is **normal** (perpendicular) to the line and points to the side that is predicted
   plus. The number beside a row is its score; dotted rings are mistakes. The dot at the foot of :math:`w` moves the line: it
   changes :math:`b`. Make :math:`b` very negative, and nearly everything is predicted minus: a bias far below 0 favours minus.
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
risk = sx.numerics.zero_one(X @ w, y).mean(), sx.numerics.zero_one(X @ -w, y).mean()
print("empirical risk of w = (1, 0):", risk[0], "  of w = (−1, 0):", risk[1])

# %%
# The worked example
# ------------------
#
# The **online perceptron** starts at :math:`w = 0`, without a bias. It looks at a row, predicts, sees the label, and moves
# only on a mistake:
#
# .. math:: w \leftarrow w + y\,x .
#
# It has no step size and no other **hyperparameter**. It needs to know neither the radius of the rows nor their margin, and it
# assumes no distribution: all these occur in statements about it only.
#
# On these six rows it makes three mistakes, at rows 0, 2 and 4, and passes through (1, −2), (2, −1) and (3, 1).

model = sx.Perceptron.recipe("online", trace=True).fit(X, y)
steps = sx.models.perceptron.step_trace(sx.Perceptron.recipe("online"), X, y)
print(steps)

# %%
# .. plane:: -1 2 -, 1 0 +, 1 1 +, -1 0 -, -1 -2 -, 1 -1 +
#    :show: perceptron
#    :recipe: repeated
#    :bias: off
#    :view: -3 -3 6
#
#    The same run, to step through: *Next update* goes to the next mistake. The dashed line is the one before the update. Move or
#    flip a point, and the run is made anew. `Be the perceptron yourself <../lab/index.html#lesson=1>`_ in the lab.
#
# On the command line::
#
#     separatrix fit example:six-points --recipe online --trace

ax = sx.plotting.plot_weight_path(model.trace_.replay(X, y).weights)
# figure: The weights as a path: from (0, 0) to (1, −2), (2, −1) and (3, 1). Each arrow is y·x of the row of a mistake.

# %%

ax = sx.plotting.plot_boundary(model, X, y, updates=3)
# figure: The six rows and the last hyperplane, with earlier ones faded. Each arrow is the update y·x, drawn from its row.

# %%
# **Why (4, 1) elsewhere?** ``Perceptron(order="cyclic")`` has a bias and calls a score of zero a mistake while it learns.
# It makes four mistakes in two passes and ends at :math:`w = (4, 1), b = 0`. Both hyperplanes separate the rows.

default = sx.Perceptron(order="cyclic").fit(X, y)
print("default: w =", default.coef_[0], " b =", default.intercept_[0], " mistakes", default.mistakes_)

# %%
# One update
# ----------
#
# An update on a row :math:`(x, y)` moves its score by :math:`y\lVert x \rVert^2` (with a bias by
# :math:`y(\lVert x \rVert^2 + 1)`):
#
# .. math:: y\,(w + y x) \cdot x = y\, w \cdot x + y^2 \lVert x \rVert^2 = y\, w \cdot x + \lVert x \rVert^2 ,
#
# so that :math:`y\,s(x)` never gets worse on the row itself. Other rows may get worse.

ax = sx.plotting.plot_update([1, -2], [1, 1], +1, fit_intercept=False, X=X, signs=y)
# figure: One update. The row (1, 1) is a plus on the minus side of the old line (dashed). Adding y·x turns w towards the row;
# its score grows by ‖x‖² = 2.

# %%
# Versions of the algorithm
# -------------------------
#
# Texts agree on the update and differ in start, order of rows, meaning of a zero score, scaling, and when to stop.
# ``Perceptron.recipe`` has six versions by name; every choice is also a parameter of its own.

recipes = {}
for name in ("online", "repeated", "batch", "restart", "normalised", "rosenblatt"):
    run = recipes[name] = sx.Perceptron.recipe(name, random_state=0).fit(X, y)
    weights = f"w = {run.coef_[0].round(2)}  b = {run.intercept_[0]:.2f}"
    print(f"{name:<11} {weights}  mistakes {run.mistakes_}  rows looked at {run.visits_}")

# %%
# ============== ====================================================================================================
# recipe         what it is
# ============== ====================================================================================================
# ``online``     one pass over a stream: predict, reveal, update
# ``repeated``   passes over and over until one has no mistake, but at most 100 passes (``max_iter``)
# ``batch``      the batch perceptron, *while some row is wrong*: rows in order until :math:`n` in a row were right, but at most
#                100 passes
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
print("mistakes at rows", mistakes, " w =", stream.coef_[0])

# %%
# A set that needs the bias
# -------------------------
#
# Without a bias the hyperplane passes through the origin. ``example:bias`` (1, 2 negative; 3, 4 positive) can be separated
# only with one. Both halves are proved.

small = load_example("bias")
with_bias = sx.separability(small.X, small.y)
without = sx.separability(small.X, small.y, fit_intercept=False)
print("with a bias:", with_bias.verdict, "  without:", without.verdict)
ax = sx.plotting.plot_boundary(sx.MaxMargin().fit(small.X, small.y), small.X, small.y)
# figure: Four numbers on a line, two minus and two plus, separated at 2.5. Every line through the origin 0 has all four on one
# side.

# %%
# .. plane:: 1 1 -, 2 1 -, 3 2 +, 2 3 +
#    :bias: off
#    :line: -0.7 1 0
#    :show: verdict
#    :view: -1 -1 5
#
#    The bias is off: the line turns about the origin, and no position separates the classes. The rings are rows that prove it:
#    with the origin, their cones meet.
#
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
# 1. Prove that :math:`w` is perpendicular to the hyperplane :math:`w \cdot x + b = 0`.
# 2. Run the online perceptron on the six rows in reverse order, by hand. How many mistakes, and which :math:`w`?
# 3. Which rows does ``recipe("restart")`` look at before its second update?
# 4. Show that scaling all rows by 10 changes neither the mistakes nor the direction of :math:`w`, without a bias. What if each
#    row is scaled by its own positive number?
#
# .. dropdown:: Solutions
#
#    1. For two points :math:`p, q` of the hyperplane :math:`w \cdot p = -b = w \cdot q`, so that :math:`w \cdot (p - q) = 0`. Every
#       direction within the hyperplane is such a difference.
#    2. Two mistakes, at rows 1 and 5 of the reversed rows, and :math:`w = (2, 0)`. The order of rows matters.
#    3. Row 0 (a mistake at :math:`w = 0`), then row 0 and the rows after it up to the next mistake.
#    4. By induction: if :math:`w` was 10 times as long so far, every score is 100 times as large and no sign changes, so that
#       the same row is the next mistake, and its update is 10 times as long too. Scaling row :math:`i` by :math:`c_i > 0`
#       changes no sign at a given :math:`w`, but it changes the weights that the updates lead to, and so the later mistakes.

back = sx.Perceptron.recipe("online", trace=True).fit(X[::-1], y[::-1])
restart = sx.models.perceptron.step_trace(sx.Perceptron.recipe("restart"), X, y)
second = np.flatnonzero(restart.mistake)[1]
tenfold = sx.Perceptron.recipe("online", trace=True).fit(10 * X, y)
print("reversed: mistakes at", back.trace_.rows, " w =", back.coef_[0])
print("restart looks at", restart.row[: second + 1])
print("ten times the rows: mistakes at", tenfold.trace_.rows, " w =", tenfold.coef_[0])
