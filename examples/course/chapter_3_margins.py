r"""
3 Separability, margins and convergence
=======================================

Rows are **linearly separable** if some :math:`\hat w = (w, b)` has every row strictly on its side: for some
:math:`\gamma > 0`

.. math:: y_i \, \hat w \cdot \hat x_i \ge \gamma \quad \text{for all } i .

:math:`y_i \, \hat w \cdot \hat x_i` is the **functional margin** of row :math:`i`. It doubles when :math:`\hat w` does, so
that only :math:`\gamma / \lVert \hat w \rVert` has a meaning of its own.

Whether that is so can be *decided*, in exact arithmetic, either way.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("six-points")
X, y = table.X, table.y
found = sx.separability(X, y)
print(found)
print(sx.verify(found.certificate, X, y))
assert found.verdict == "complete"

# %%
# On the command line: ``separatrix certify example:six-points``, then ``separatrix verify certificate.json
# certificate-rows.csv``.
#
# XOR
# ---
#
# No hyperplane separates XOR (Minsky and Papert 1969). The proof is four rows with positive weights under which both
# classes have the same mean: a hyperplane would have that point on both sides (Gordan 1873).

xor = load_example("xor")
crossed = sx.separability(xor.X, xor.y)
assert crossed.verdict == "overlap"
assert crossed.witness.tolist() == [0, 1, 2, 3]
ax = crossed.plot()

# %%
# A **feature transformation** helps: with the product of the two columns as a third column XOR is separable. A non-linear
# boundary in the old columns is a hyperplane in the new ones.

lifted = sx.PolynomialMap(2).fit_transform(xor.X)
assert sx.separability(lifted, xor.y).verdict == "complete"

# %%
# A hyperplane in three dimensions:

cube = np.column_stack([xor.X, xor.X[:, 0] * xor.X[:, 1]])
ax = sx.plotting.plot_boundary(sx.MaxMargin().fit(cube, xor.y), cube, xor.y, columns=[0, 1, 2])

# %%
# Margins
# -------
#
# The signed distance of a row from the hyperplane is :math:`s(x)/\lVert w \rVert`. The **geometric margin** of a separating
# hyperplane is the least distance, :math:`\eta = \min_i y_i s(x_i)/\lVert w \rVert`; the nearest point of the hyperplane
# to :math:`x` is its **foot point** :math:`x - s(x)\,w/\lVert w \rVert^2`.
# Many hyperplanes separate the same rows; the one with the **maximum margin** is unique (Boser, Guyon and Vapnik 1992).
# Some of the rows nearest to it are enough to determine it: **support vectors**. They need not be unique. Here all six rows
# lie at distance 1, on the edges of the margin, and rows 1 and 3 are enough: move another row away from the hyperplane, and
# it stays where it is.

best = sx.margin(X, y, exact=True)
assert best.squared == 1
assert best.support.tolist() == [1, 3]
assert (y * (X @ best.coef + best.intercept)).tolist() == [1] * 6
ax = sx.plotting.plot_boundary(sx.MaxMargin().fit(X, y), X, y, feet=[1, 3])

# %%
# ``margin`` proves the half-width between two bounds, here exactly 1. Its plot shows the two hulls and their nearest points.

ax = best.plot()

# %%
# The mistake bound
# -----------------
#
# **Convergence theorem (Novikoff 1962).** Let :math:`\lVert \hat x_i \rVert \le R`, the **radius** of the rows, and
# :math:`y_i\, w^* \cdot \hat x_i \ge \gamma > 0` for all rows. From :math:`w_0 = 0`, in any order of rows, the perceptron makes
# at most :math:`R^2 \lVert w^* \rVert^2 / \gamma^2` mistakes.
#
# With :math:`\hat\gamma = \gamma / \lVert w^* \rVert`, the margin of the lifted rows, the bound is :math:`R^2/\hat\gamma^2`.
#
# *Proof.* Each update adds :math:`y_i \hat x_i` to :math:`w`.
#
# * :math:`w^* \cdot w_k` grows by at least :math:`\gamma`: :math:`w^* \cdot w_k \ge k\gamma` (lemma 1).
# * :math:`\lVert w_k \rVert^2` grows by at most :math:`R^2`, since :math:`2 y_i\, w_k \cdot \hat x_i \le 0` at a mistake:
#   :math:`\lVert w_k \rVert^2 \le k R^2` (lemma 2).
# * The cosine of the angle between them is at most 1: :math:`k\gamma \le w^* \cdot w_k \le \lVert w^* \rVert \lVert w_k \rVert
#   \le \lVert w^* \rVert \sqrt{k}\,R`. Hence :math:`k \le R^2 \lVert w^* \rVert^2/\gamma^2`. ∎
#
# A fitted perceptron can be held against both lemmas, update by update:

model = sx.Perceptron.recipe("repeated", trace=True).fit(X, y)
proof = model.trace_.replay(X, y).proof([1.0, 0.0])
assert proof.inner.tolist() == [0, 1, 2, 3]
assert proof.norms2.tolist() == [0, 5, 5, 10]
assert (proof.inner >= proof.inner_bound).all()
assert (proof.norms2 <= proof.norms2_bound).all()
assert proof.bound == 5
ax = proof.plot()

# %%
# The cosine itself, from the first update on: it need not rise at every update; only its lower bound :math:`\hat\gamma\sqrt{k}/R` does.

print("cosine", proof.cosine[1:].round(3))

# %%
# ``mistake_bound`` uses the best possible :math:`w^*`, with a proof.

bound = sx.mistake_bound(X, y, fit_intercept=False)
assert bound.most == 5
print(bound.against(model))

# %%
# For rows of length 1 the bound is :math:`1/\hat\gamma^2` with
# :math:`\hat\gamma = \min_i \lvert w^* \cdot x_i \rvert/(\lVert w^* \rVert \lVert x_i \rVert)`; ``recipe("normalised")`` scales rows so,
# which keeps them separable.

unit = sx.mistake_bound(X, y, fit_intercept=False, normalize_rows=True)
run = sx.Perceptron.recipe("normalised").fit(X, y)
assert math.isclose(unit.bound, 1 / unit.margin[0] ** 2, rel_tol=1e-9)
assert run.mistakes_ <= unit.most
print(f"unit rows: {run.mistakes_} mistakes of at most {unit.most}")

# %%
# Over and over
# -------------
#
# Passes end after the first one without a mistake. Every pass before it has at least one, so that at most
# :math:`R^2/\hat\gamma^2` passes have mistakes, and at most :math:`n R^2/\hat\gamma^2 + n` rows are looked at: the last
# :math:`n` are the clean pass.

n = len(X)
assert model.visits_ == 12
assert model.visits_ <= bound.most_visits == n * bound.most + n

# %%
# Small margins are slow
# ----------------------
#
# The bound grows with the *square* of :math:`1/\hat\gamma`. Two points on a line, :math:`c - 1` and :math:`c + 1`: the farther they
# are from the origin, the smaller the lifted margin.

for c in (2.0, 4.0, 8.0, 16.0):
    near = np.array([[c - 1], [c + 1]])
    slow = sx.Perceptron(max_iter=100_000).fit(near, [-1, 1])
    tight = sx.mistake_bound(near, [-1, 1])
    assert slow.mistakes_ <= tight.most
    print(f"c = {c:>2.0f}  margin {tight.margin[0]:.4f}  mistakes {slow.mistakes_:>5,} of at most {tight.most:,}")

# %%
# Not separable: no convergence
# -----------------------------
#
# Where no hyperplane separates the rows, every pass has a mistake. The run ends at its limit and says so;
# the weights at that moment are not a solution of anything.

noisy = sx.Perceptron(max_iter=200).fit(xor.X, xor.y)
print(noisy.status_.name, "after", noisy.n_iter_, "passes and", noisy.mistakes_, "mistakes")
fig, ax = plt.subplots(figsize=(6, 3))
drawn = sx.evaluation.mistakes_curve(noisy).plot(ax=ax)

# %%
# **Label noise** is enough: in ``example:noise`` a hyperplane separated 200 rows before 20 labels were flipped. The best
# hyperplane still makes mistakes, and ``fewest_mistakes`` proves how few it can be.

flipped = load_example("noise")
assert sx.separability(flipped.X, flipped.y).verdict == "overlap"
fewest = sx.FewestMistakes().fit(flipped.X, flipped.y)
print("fewest mistakes:", fewest.errors_, fewest.status_.name)
assert fewest.errors_ <= 20
ax = sx.plotting.plot_boundary(fewest, flipped.X, flipped.y)

# %%
# What the theorem does not say: nothing about new rows. A separating hyperplane of the training rows may be wrong on
# others; chapter 5 estimates how often. On an endless stream whose rows all keep the margin, the total number of
# mistakes is at most :math:`R^2/\hat\gamma^2`, but nobody knows at which moment the last one has been made.
#
# Exercises
# ---------
#
# 1. The rows 12 (negative) and 18 (positive) on a line: what are :math:`R^2/\delta^2` with the half-width
#    :math:`\delta = 3`, the true bound, and the number of mistakes?
# 2. Show that scaling each row to length 1 keeps the six points separable without a bias.
# 3. What is the least number of mistakes that any hyperplane makes on XOR?
#
# Solutions
# ---------
#
# 1. 36, and far more: the bound needs the margin of the *lifted* rows.

line, labels = np.array([[12.0], [18.0]]), [-1, 1]
twelve = sx.Perceptron(max_iter=1000).fit(line, labels)
assert twelve.mistakes_ == 367
assert sx.margin(line, labels, exact=True).squared == 9
lifted_bound = sx.mistake_bound(line, labels)
print(f"R²/δ² = {18**2 / 9:.0f}, proved bound {lifted_bound.most:,}, mistakes {twelve.mistakes_}")
assert twelve.mistakes_ <= lifted_bound.most

# %%
# 2. Dividing a row by its length does not change the sign of its score.

assert sx.separability(X / np.linalg.norm(X, axis=1)[:, None], y, fit_intercept=False).verdict == "complete"

# %%
# 3. One, proved.

least = sx.fewest_mistakes(xor.X, xor.y)
assert (least.lower, least.upper) == (1, 1)
