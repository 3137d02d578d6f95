r"""
Slips that lecture notes make
=============================

Small errors travel from one set of notes to the next. Each entry has the statement as it is often written, the correct
one, and a check of a few lines.
"""

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx
from separatrix.data.examples import load_example

six = load_example("six-points")
X, y = six.X, six.y
rng = np.random.default_rng(0)

# %%
# Gradient descent
# ----------------
#
# **The loop that does not stop.** ``while k ≤ N or ‖θ_{k+1} − θ_k‖ ≤ ε`` goes on to step N after it has converged, and then for
# as long as its steps are *short*. Correct: ``while k < N and ‖θ_k − θ_{k−1}‖ > ε``, where the first difference counts as
# infinite.

found = sx.models.descent.gradient_descent(lambda t: float(t @ t), [1.0], step=0.25, tol=1e-3, max_iter=1000)
assert found.steps < 1000
assert np.abs(np.diff(found.path[:, 0]))[-1] <= 1e-3 < np.abs(np.diff(found.path[:, 0]))[-2]

# %%
# **One pass too many.** A test ``i ≥ maxiter`` *after* the pass, with ``i`` starting at 0, allows ``maxiter + 1`` passes.
# ``max_iter`` is the number of passes.

xor = load_example("xor")
assert sx.Perceptron(max_iter=7).fit(xor.X, xor.y).n_iter_ == 7

# %%
# Least squares
# -------------
#
# **A term in the unobserved noise.** :math:`\hat\beta = (X^TX + \lambda I)^{-1}X^Ty - (X^TX + \lambda I)^{-1}X^T\varepsilon` is not
# an estimate: nobody knows :math:`\varepsilon`. The estimate is the first term. The second is its random error; a ridge
# has the bias :math:`-\lambda (X^TX + \lambda I)^{-1}\beta` besides.

A, beta, noise, lam = rng.normal(size=(30, 3)), np.array([1.0, -2.0, 0.5]), rng.normal(size=30), 2.0
inverse = np.linalg.inv(A.T @ A + lam * np.eye(3))
ridge = sx.LeastSquares(alpha=lam, fit_intercept=False).fit(A, A @ beta + noise)
assert np.allclose(ridge.coef_, inverse @ A.T @ (A @ beta + noise))
assert np.allclose(ridge.coef_ - beta, inverse @ A.T @ noise - lam * inverse @ beta)

# %%
# Labels and probabilities
# ------------------------
#
# **0/1 labels.** :math:`y^* = (1 - y)/2` exchanges the classes. Correct: :math:`y^* = (1 + y)/2`.

assert ((1 + np.array([-1, 1])) / 2).tolist() == [0, 1]

# %%
# **Log-odds without the logarithm.** :math:`f = \ln\frac{P(+ \mid x)}{P(- \mid x)}`; the ratio itself is :math:`e^f`.

p = sx.LinearDiscriminant().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict_proba([[2.2]])[0]
f = sx.LinearDiscriminant().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).decision_function([[2.2]])[0]
assert np.isclose(np.log(p[1] / p[0]), f)

# %%
# **φ of an exponential.** :math:`P(y \mid x) = \varphi(y f(x))` with :math:`\varphi(z) = 1/(1 + e^{-z})`; not
# :math:`\varphi(e^{y f})`.

assert np.isclose(1 / (1 + np.exp(-f)), p[1])
assert not np.isclose(1 / (1 + np.exp(-np.exp(f))), p[1])

# %%
# **Sums that end at d.** The likelihood is a sum over the :math:`n` rows, not over the :math:`d` columns.

rows, labels = rng.normal(size=(40, 2)), rng.integers(0, 2, size=40)
model = sx.LogisticRegression().fit(rows, labels)
residuals = labels - model.predict_proba(rows)[:, 1]
assert np.allclose(residuals @ rows, 0, atol=1e-8)
assert not np.allclose(residuals[:2] @ rows[:2], 0, atol=1e-8)

# %%
# **The sign of the second bracket.** In the log-ratio of two normal densities the quadratic form of the second class is
# *added*: :math:`f = \ln\frac{\pi_+}{\pi_-} - \frac12 (x-\mu_+)^T K (x-\mu_+) + \frac12 (x-\mu_-)^T K (x-\mu_-)`.

low, high = rng.normal(size=(50, 1)), rng.normal(size=(25, 1)) + 2
lda = sx.LinearDiscriminant().fit(np.vstack([low, high]), np.repeat([0, 1], [50, 25]))
s2 = (((low - low.mean()) ** 2).sum() + ((high - high.mean()) ** 2).sum()) / 75
at = 1.3
correct = np.log(25 / 50) - (at - high.mean()) ** 2 / (2 * s2) + (at - low.mean()) ** 2 / (2 * s2)
assert np.isclose(lda.decision_function([[at]])[0], correct)

# %%
# **The threshold of spherical LDA.** It is :math:`\frac{\lVert\mu_+\rVert^2 - \lVert\mu_-\rVert^2}{2} - \sigma^2 \ln\frac{\pi_+}{\pi_-}`:
# the logarithm is *subtracted*, with the factor :math:`\sigma^2` that a lost :math:`1/(2\sigma^2)` takes away. Unequal shares
# show the sign: here the rare class must have the higher threshold.

threshold = ((high.mean() ** 2 - low.mean() ** 2) / 2 - s2 * np.log(25 / 50)) / (high.mean() - low.mean())
assert np.isclose(lda.decision_function([[threshold]])[0], 0)
assert threshold > (low.mean() + high.mean()) / 2

# %%
# The perceptron
# --------------
#
# **Misclassified: y s < 0 or y s ≤ 0?** They differ at the zero start, where every score is 0. With ``<`` nothing would ever
# move from :math:`w = 0`. With sign(0) = +1 a zero score is a mistake for negative rows only (``tie="positive"``); with
# ``≤`` for all (``tie="mistake"``).

assert sx.models.perceptron.step_trace(sx.Perceptron(fit_intercept=False), X, y).mistake[0]
assert not sx.models.perceptron.step_trace(
    sx.Perceptron(fit_intercept=False, tie="positive"), X[[1, 0]], y[[1, 0]]
).mistake[0]

# %%
# **"Inversely proportional to γ".** The bound is inversely proportional to the *square* of the margin.

bounds = [sx.mistake_bound([[e, 1.0], [-e, 1.0]], [1, -1], fit_intercept=False).bound for e in (0.02, 0.01)]
assert np.isclose(bounds[1] / bounds[0], 4, rtol=1e-3)

# %%
# **"Smaller than R²/γ²".** At most: equality happens.

one = sx.Perceptron.recipe("repeated").fit([[-1.0], [1.0]], [-1, 1])
assert one.mistakes_ == 1 == sx.mistake_bound([[-1.0], [1.0]], [-1, 1], fit_intercept=False).bound

# %%
# **R or R².** Lemma 2 is :math:`\lVert w_k \rVert^2 \le k R^2`; after the root :math:`\lVert w_k \rVert \le \sqrt{k}\,R`.

proof = sx.Perceptron.recipe("online", trace=True).fit(X, y).trace_.replay(X, y).proof([1.0, 0.0])
assert (np.sqrt(proof.norms2) <= np.sqrt(np.arange(4) * proof.radius2)).all()

# %%
# **1/γ² from a random start.** The bound holds from :math:`w_0 = 0`. A start that points the wrong way must first be undone;
# ``mistake_bound(start=...)`` has the bound for any start.

unit, signs = np.array([[1.0], [-1.0]]), [1, -1]
from_far = sx.Perceptron.recipe("repeated", start=[-9.5]).fit(unit, signs)
assert from_far.mistakes_ == 10 > sx.mistake_bound(unit, signs, fit_intercept=False).bound == 1
assert from_far.mistakes_ <= sx.mistake_bound(unit, signs, fit_intercept=False, start=[-9.5]).most

# %%
# **"The cosine increases at each update".** Only its lower bound :math:`\gamma\sqrt{k}/R` does.

spread = load_example("separable")
run = sx.Perceptron(order="cyclic", trace=True).fit(spread.X, spread.y)
best = sx.mistake_bound(spread.X, spread.y)
cosine = run.trace_.replay(spread.X, spread.y).proof(best.coef, best.intercept).cosine[1:]
assert (np.diff(cosine) < 0).any()
k = np.arange(1, len(cosine) + 1)
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(k, cosine, "o-", label="cosine of w_k and w*")
ax.plot(k, best.margin[0] / best.radius * np.sqrt(k), "--", label="its lower bound")
ax.set(xlabel="updates k", ylim=(0, 1.05))
drawn = ax.legend()

# %%
# **n R²/γ² steps.** There is one more pass, the clean one: at most :math:`n R^2/\gamma^2 + n` rows are looked at.

n, bound = 2, 1  # the two rows above
assert n * bound < one.visits_ == n * bound + n

# %%
# **Separable as "y = sign(w* · x)".** With sign(0) = +1 that allows :math:`\gamma = 0`, and no bound follows. Separable means
# *strictly*: (1, 0) +, (−1, 0) + and (0, −1) − are classified by :math:`w^* = (0, 1)`, and not separable without a bias.

flat, sides = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]), np.array([1, 1, -1])
assert (np.where(flat @ [0.0, 1.0] >= 0, 1, -1) == sides).all()
assert sx.separability(flat, sides, fit_intercept=False).verdict != "complete"

# %%
# **"Converges to a solution with some errors".** Where the rows are not separable the perceptron does not converge: its
# weights keep moving within a bounded region (Block and Levin 1970).

for passes in (50, 51, 52):
    assert sx.Perceptron(max_iter=passes).fit(xor.X, xor.y).status_.name == "MAX_ITERATIONS"

# %%
# **"Thereafter classifies any point".** On a stream the total number of mistakes is finite, but no moment is known after
# which there are none: the next row may always be the one.

stream, answers = [[-1.0, 0.0]] * 500 + [[0.0, -1.0]], [-1] * 501
steps = sx.models.perceptron.step_trace(sx.Perceptron.recipe("online"), stream + [[1.0, 1.0]], answers + [1])
assert np.flatnonzero(steps.mistake).tolist()[-1] == 500

# %%
# **Two margins in one formula.** The bound needs the margin of the lifted rows, :math:`\gamma/\lVert(w, b)\rVert`, not the geometric
# margin :math:`\gamma/\lVert w \rVert`: with rows 12 (−) and 18 (+), :math:`R^2/\delta^2` says 36, and the perceptron makes 367
# mistakes.

line = sx.Perceptron(order="cyclic", max_iter=1000).fit([[12.0], [18.0]], [-1, 1])
assert line.mistakes_ == 367 > 18**2 / 3**2 == 36
assert line.mistakes_ <= sx.mistake_bound([[12.0], [18.0]], [-1, 1]).most
