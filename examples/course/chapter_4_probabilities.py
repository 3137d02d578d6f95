r"""
4 Discriminants and logistic regression
=======================================

Two ways to a probability. **Discriminant analysis** models how the rows of each class are distributed and turns that
around by Bayes' rule: a **generative** model. **Logistic regression** models the log-odds of the class directly: a
**discriminative** model. Both end in a linear score.
"""

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx
from separatrix.data.examples import load_example

# %%
# Bayes' rule
# -----------
#
# With class shares :math:`\pi_\pm`, the **prior** probabilities, and densities :math:`p(x \mid \pm)`,
#
# .. math:: P(+ \mid x) = \frac{\pi_+ \, p(x \mid +)}{\pi_+ \, p(x \mid +) + \pi_- \, p(x \mid -)} ,
#
# whatever the densities are. Predict the class with the greater **posterior** :math:`P(\pm \mid x)`; equivalently the sign of
# :math:`f(x) = \ln \frac{P(+ \mid x)}{P(- \mid x)}`.
#
# Linear discriminant analysis
# ----------------------------
#
# If both classes are normal with the same covariance :math:`\Sigma`, the quadratic terms cancel:
#
# .. math:: f(x) = (\mu_+ - \mu_-)^T \Sigma^{-1} x + \frac{\mu_-^T \Sigma^{-1} \mu_- - \mu_+^T \Sigma^{-1} \mu_+}{2}
#           + \ln \frac{\pi_+}{\pi_-} .
#
# The means are estimated from each class, :math:`\Sigma` from both (the **pooled covariance**, divided by :math:`n` for maximum
# likelihood), :math:`\pi_+` is the share of positive rows. The direction :math:`\Sigma^{-1}(\mu_+ - \mu_-)` is **Fisher's linear
# discriminant** (1936).

rng = np.random.default_rng(1)
mixed = np.array([[1.0, 0.6], [0.0, 0.8]])
X = np.vstack([rng.normal(size=(60, 2)) @ mixed, rng.normal(size=(30, 2)) @ mixed + [2.0, 1.5]])
y = np.repeat([-1, 1], [60, 30])
lda = sx.LinearDiscriminant().fit(X, y)

minus, plus = X[y == -1], X[y == 1]
m0, m1 = minus.mean(axis=0), plus.mean(axis=0)
pooled = ((minus - m0).T @ (minus - m0) + (plus - m1).T @ (plus - m1)) / len(X)
K = np.linalg.inv(pooled)
w = K @ (m1 - m0)
b = (m0 @ K @ m0 - m1 @ K @ m1) / 2 + np.log(30 / 60)
assert np.allclose(lda.coef_[0], w)
assert np.isclose(lda.intercept_[0], b)
ax = sx.plotting.plot_boundary(lda, X, y)

# %%
# The posterior is :math:`1/(1 + e^{-f})`, and predictions change at 1/2.

f = lda.decision_function(X)
assert np.allclose(lda.predict_proba(X)[:, 1], 1 / (1 + np.exp(-f)))
assert (lda.predict(X) == np.where(f > 0, 1, -1)).all()

# %%
# **Spherical classes.** With :math:`\Sigma = \sigma^2 I` the rule is: predict + where
#
# .. math:: (\mu_+ - \mu_-) \cdot x \ge \frac{\lVert \mu_+ \rVert^2 - \lVert \mu_- \rVert^2}{2}
#           - \sigma^2 \ln \frac{\pi_+}{\pi_-} .
#
# A more common class has a lower threshold.

ball = sx.LinearDiscriminant(covariance="spherical").fit(X, y)
s2 = np.trace(pooled) / 2
threshold = (m1 @ m1 - m0 @ m0) / 2 - s2 * np.log(30 / 60)
assert (ball.predict(X) == np.where(X @ (m1 - m0) >= threshold, 1, -1)).all()

# %%
# **Whitened.** In coordinates :math:`z = \Sigma^{-1/2}(x - \frac{\mu_+ + \mu_-}{2})` the covariance is the identity, the means are
# :math:`m = \Sigma^{-1/2}\frac{\mu_+ - \mu_-}{2}` and :math:`-m`, and :math:`f = 2\,m \cdot z + \ln(\pi_+/\pi_-)`: up to the shares,
# the nearer mean wins. Distances there are **Mahalanobis distances**,
# :math:`\lVert z - z' \rVert^2 = (x - x')^T \Sigma^{-1} (x - x')`.

z, mean = lda.whiten(X), lda.whitened_means_[1]
assert np.allclose(2 * z @ mean + np.log(30 / 60), f)

# %%
# Quadratic discriminant analysis
# -------------------------------
#
# If the covariances differ, the quadratic terms stay, and the boundary is a conic. It is still a linear score, in the
# columns and their squares and products.

wide = np.vstack([0.6 * rng.normal(size=(80, 2)), rng.normal(size=(80, 2)) * [2.5, 0.6] + [0.0, 1.8]])
kind = np.repeat(["round", "flat"], 80)
qda = sx.QuadraticDiscriminant().fit(wide, kind)
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
sx.plotting.plot_boundary(sx.LinearDiscriminant().fit(wide, kind), wide, kind, ax=axes[0])
sx.plotting.plot_boundary(qda, wide, kind, ax=axes[1])
axes[0].set_title("LDA")
axes[1].set_title("QDA")
assert qda.score(wide, kind) > 0.9

# %%
# Logistic regression
# -------------------
#
# Model the log-odds as a linear score, :math:`\ln \frac{p}{1 - p} = f(x) = \hat x \cdot \beta`. Then, with the **sigmoid** or
# logistic function :math:`\varphi`,
#
# .. math:: p = \frac{e^f}{1 + e^f} = \frac{e^{f/2}}{e^{f/2} + e^{-f/2}} = \varphi(f), \qquad \varphi(z) = \frac{1}{1 + e^{-z}} .
#
# With :math:`y^* = (1 + y)/2 \in \{0, 1\}` the log-likelihood is
#
# .. math:: \ell(\beta) = \sum_{i=1}^{n} \left[ y_i^* f(x_i) - \ln(1 + e^{f(x_i)}) \right] ,
#
# and its gradient has two equal forms:
#
# .. math:: \nabla \ell = \sum_{i=1}^{n} (y_i^* - p_i)\,\hat x_i = \sum_{i=1}^{n} \left(1 - \varphi(y_i f(x_i))\right) y_i\,\hat x_i .
#
# The equation :math:`\nabla\ell = 0` has no closed solution; Newton's method or gradient ascent finds it. The log-likelihood is
# concave, so that every local maximum is a global one. Where the lifted columns are linearly independent it is strictly
# concave, and there is at most one; with collinear columns a maximum belongs to a whole line of weights, all with the same
# probabilities.


def ascent_direction(beta):
    """Both forms of the gradient of the log-likelihood."""
    by_target = sx.numerics.logistic_gradient(X, y, beta[:2], beta[2], form="targets")
    by_sign = sx.numerics.logistic_gradient(X, y, beta[:2], beta[2], form="signs")
    assert np.allclose(by_target, by_sign)
    return by_target


lifted = np.column_stack([X, np.ones(len(X))])
guess = np.array([0.5, -0.2, 0.1])
p = 1 / (1 + np.exp(-lifted @ guess))
assert np.allclose(ascent_direction(guess), ((1 + y) / 2 - p) @ lifted)

logistic = sx.LogisticRegression().fit(X, y)
beta = np.append(logistic.coef_[0], logistic.intercept_)
assert np.abs(ascent_direction(beta)).max() < 1e-8


def minus_likelihood(beta):
    """The mean negative log-likelihood, for a descent."""
    return np.logaddexp(0, -y * (X @ beta[:2] + beta[2])).mean()


ascent = sx.models.descent.gradient_descent(
    minus_likelihood, np.zeros(3), gradient=lambda t: -ascent_direction(t) / len(X), step=1.0, max_iter=20_000
)
assert np.allclose(ascent.theta, beta, atol=1e-5)
print("w =", logistic.coef_[0].round(3), " b =", logistic.intercept_.round(3))

# %%
# **When there is no maximum.** If a hyperplane separates the classes, longer weights always have a greater likelihood,
# and no finite estimate exists. Every unpenalised fit proves which case it is; see :doc:`/logistic`.

six = load_example("six-points")
separated = sx.LogisticRegression().fit(six.X, six.y)
assert separated.separation_.verdict == "complete"
print(separated)

# %%
# Losses
# ------
#
# Most learners of this course minimise a loss of the margin :math:`m = y\,s(x)`: 0-1, squared :math:`(1 - m)^2`, logistic
# :math:`\ln(1 + e^{-m})`, hinge :math:`\max(0, 1 - m)`.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
sx.plotting.plot_losses(ax=axes[0])
sx.plotting.plot_losses(["squared", "logistic", "hinge"], slope=True, ax=axes[1])
axes[0].set_title("losses")
drawn = axes[1].set_title("their derivatives")

# %%
# Which of the two?
# -----------------
#
# LDA assumes normal classes with equal covariances. Where that holds, it needs fewer rows (Efron 1975). Logistic regression
# assumes only linear log-odds; rows far from the boundary, on their own side, hardly move it. Four such rows show the
# difference:

far = np.vstack([X, rng.normal(size=(4, 2)) + [15.0, 15.0]])
labels = np.append(y, np.ones(4, dtype=int))
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
mistakes = []
for panel, learner in zip(axes, (sx.LinearDiscriminant(), sx.LogisticRegression()), strict=True):
    sx.plotting.plot_boundary(learner.fit(far, labels), far, labels, ax=panel)
    mistakes.append(int((learner.predict(far) != labels).sum()))
    panel.set_title(f"{type(learner).__name__}: {mistakes[-1]} mistakes")
assert mistakes[0] > 1.5 * mistakes[1]

# %%
# Exercises
# ---------
#
# 1. Derive :math:`p` from :math:`f = \ln\frac{p}{1-p}` and check the symmetric form for :math:`f = 1.3`.
# 2. Show that maximum likelihood pools :math:`\Sigma` with the divisor :math:`n`, not :math:`n - 2`.
# 3. With :math:`\pi_+ = 9\pi_-`, where is the threshold of LDA between :math:`N(0, 1)` and :math:`N(2, 1)`?
#
# Solutions
# ---------
#
# 1. Solve for :math:`p`; multiply numerator and denominator by :math:`e^{-f/2}`.

score = 1.3
p = np.exp(score) / (1 + np.exp(score))
assert np.isclose(np.log(p / (1 - p)), score)
assert np.isclose(p, np.exp(score / 2) / (np.exp(score / 2) + np.exp(-score / 2)))

# %%
# 2. ``lda.coef_`` above was reproduced with the divisor :math:`n`. With :math:`n - 2` it is not.

other = np.linalg.solve(pooled * len(X) / (len(X) - 2), m1 - m0)
assert not np.allclose(lda.coef_[0], other)

# %%
# 3. At :math:`1 - \frac{\ln 9}{2} \approx -0.099` if :math:`N(2, 1)` is the common class: its side reaches beyond the other mean.

assert np.isclose((2**2 - 0) / 2 / 2 - np.log(9) / 2, 1 - np.log(9) / 2)
print(round(1 - np.log(9) / 2, 3))
