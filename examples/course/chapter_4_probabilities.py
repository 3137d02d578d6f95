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
# .. math:: f(x) = {} & (\mu_+ - \mu_-)^T \Sigma^{-1} x \\
#           & + \frac{\mu_-^T \Sigma^{-1} \mu_- - \mu_+^T \Sigma^{-1} \mu_+}{2} + \ln \frac{\pi_+}{\pi_-} .
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
print("by the formula: w =", w.round(3), " b =", b.round(3))
print("by the fit:     w =", lda.coef_[0].round(3), " b =", lda.intercept_[0].round(3))
ax = sx.plotting.plot_boundary(lda, X, y)
# figure: Two normal classes with one covariance, their ellipses of one and two standard deviations, and the line of LDA. It is
# not perpendicular to the line between the means, and lies nearer to the rarer class.

# %%
# The posterior is :math:`1/(1 + e^{-f})`, and predictions change at 1/2.

f = lda.decision_function(X)
print("f of row 0:", f[0].round(3), "  posterior:", lda.predict_proba(X)[0, 1].round(4))

# %%
# **Why the pooled covariance?** Maximum likelihood gives it. With :math:`K = \Sigma^{-1}` the log-likelihood of all rows is, up to
# a constant,
#
# .. math:: \frac{n}{2} \ln \det K - \frac12 \sum_{i=1}^{n} (x_i - \mu_{y_i})^T K (x_i - \mu_{y_i}) .
#
# For any :math:`K` the means of the classes maximise it. The sum is the trace of :math:`K S` with the scatter
# :math:`S = \sum_i (x_i - \hat\mu_{y_i})(x_i - \hat\mu_{y_i})^T` of all rows about the means of their own classes. The
# derivative of :math:`\ln\det K` by :math:`K` is :math:`K^{-1}`, so that :math:`\frac n2 K^{-1} - \frac12 S = 0`, and
#
# .. math:: \hat\Sigma = \frac1n S = \frac{n_+ \hat\Sigma_+ + n_- \hat\Sigma_-}{n} :
#
# each class counts by its number of rows.

weighted = (60 * np.cov(minus.T, bias=True) + 30 * np.cov(plus.T, bias=True)) / 90
print("S/n:", pooled.round(4).tolist(), "  the weighted mean:", weighted.round(4).tolist())

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
by_threshold = np.where(X @ (m1 - m0) >= threshold, 1, -1)
print("rows on which the threshold and the fit agree:", int((ball.predict(X) == by_threshold).sum()), "of", len(X))

# %%
# **Whitened.** In coordinates :math:`z = \Sigma^{-1/2}(x - \frac{\mu_+ + \mu_-}{2})` the covariance is the identity, the means are
# :math:`m = \Sigma^{-1/2}\frac{\mu_+ - \mu_-}{2}` and :math:`-m`, and :math:`f = 2\,m \cdot z + \ln(\pi_+/\pi_-)`: up to the shares,
# the nearer mean wins. Distances there are **Mahalanobis distances**,
# :math:`\lVert z - z' \rVert^2 = (x - x')^T \Sigma^{-1} (x - x')`.

z, mean = lda.whiten(X), lda.whitened_means_[1]
print("2 m·z + ln(π₊/π₋) of row 0:", (2 * z @ mean + np.log(30 / 60))[0].round(3))

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
drawn = axes[1].set_title("QDA")
# figure: A round class and a flat one above it. LDA (left) draws one line through both; QDA (right) draws a curve around the
# flat class, along which both densities are equal.

# %%
# Logistic regression
# -------------------
#
# Model the log-odds as a linear score, :math:`\ln \frac{p}{1 - p} = f(x) = \hat x \cdot \beta`. Then, with the **sigmoid** or
# logistic function :math:`\varphi`,
#
# .. math:: p &= \frac{e^f}{1 + e^f} = \frac{e^{f/2}}{e^{f/2} + e^{-f/2}} = \varphi(f), \\
#           \varphi(z) &= \frac{1}{1 + e^{-z}} .
#
# With :math:`y^* = (1 + y)/2 \in \{0, 1\}` the log-likelihood is
#
# .. math:: \ell(\beta) = \sum_{i=1}^{n} \left[ y_i^* f(x_i) - \ln(1 + e^{f(x_i)}) \right] ,
#
# and its gradient has two equal forms:
#
# .. math:: \nabla \ell &= \sum_{i=1}^{n} (y_i^* - p_i)\,\hat x_i \\
#           &= \sum_{i=1}^{n} \left(1 - \varphi(y_i f(x_i))\right) y_i\,\hat x_i .
#
# **One row pulls along itself.** In the gradient row :math:`i` contributes a multiple of :math:`\hat x_i`: along :math:`x_i`, with
# the sign of :math:`y_i`, and with the weight :math:`1 - \varphi(y_i f(x_i))`, the probability of the wrong class. The perceptron's
# update has the same direction, and the weight 1 or 0.
#
# .. plane:: -2 -1 -, -1 -2 -, -1.5 0.5 -, 0.3 -0.4 -, 1.5 1 +, 2.2 0 +, 0.8 2 +, -0.4 0.8 +
#    :line: 1 0.6 0
#    :show: pull
#    :view: -4 -4 8
#
#    Your line, and how each row would pull it by one step of gradient ascent: an arrow along the row (away from the origin for a
#    plus, towards it for a minus), as long as the number beside it, the probability of its wrong class. Make :math:`w` longer:
#    rows on their correct sides stop pulling.
#
# **Its derivative.** :math:`\varphi(z) = (1 + e^{-z})^{-1}` has the derivative
#
# .. math:: \varphi'(z) &= \frac{e^{-z}}{(1 + e^{-z})^2} = \frac{1}{1 + e^{-z}} \cdot \frac{e^{-z}}{1 + e^{-z}} \\
#           &= \varphi(z)\,(1 - \varphi(z)) .
#
# Some texts write :math:`\sigma` for :math:`\varphi`: :math:`\sigma' = \sigma(1 - \sigma)`. It is at most 1/4, at :math:`z = 0`.
# Hence both forms of the gradient, since :math:`\frac{d}{df} \ln \varphi(y f) = y\,(1 - \varphi(y f))`; and hence the curvature
# :math:`-p_i(1 - p_i)` of each row, which is never positive: the log-likelihood is concave.
#
# **Cross-entropy.** The mean **negative log-likelihood**
# :math:`-\frac1n \sum_i [y_i^* \ln p_i + (1 - y_i^*) \ln (1 - p_i)] = \frac1n \sum_i \ln(1 + e^{-y_i f(x_i)})` is called
# cross-entropy, log loss or logistic loss: three names for one number. Least squares minimises the **mean squared error**
# instead.
#
# The equation :math:`\nabla\ell = 0` has no closed solution; Newton's method or gradient ascent finds it. The log-likelihood is
# concave, so that every local maximum is a global one. Where the lifted columns are linearly independent it is strictly
# concave, and there is at most one; with collinear columns a maximum belongs to a whole line of weights, all with the same
# probabilities.


def ascent_direction(beta):
    """Both forms of the gradient of the log-likelihood."""
    by_target = sx.numerics.logistic_gradient(X, y, beta[:2], beta[2], form="targets")
    by_sign = sx.numerics.logistic_gradient(X, y, beta[:2], beta[2], form="signs")
    return (by_target + by_sign) / 2


lifted = np.column_stack([X, np.ones(len(X))])
guess = np.array([0.5, -0.2, 0.1])
print("by targets:", sx.numerics.logistic_gradient(X, y, guess[:2], guess[2], form="targets").round(4))
print("by signs:  ", sx.numerics.logistic_gradient(X, y, guess[:2], guess[2], form="signs").round(4))

logistic = sx.LogisticRegression().fit(X, y)
beta = np.append(logistic.coef_[0], logistic.intercept_)
print("largest entry of the gradient at the estimate:", f"{np.abs(ascent_direction(beta)).max():.1g}")


def minus_likelihood(beta):
    """The mean negative log-likelihood, for a descent."""
    return np.logaddexp(0, -y * (X @ beta[:2] + beta[2])).mean()


ascent = sx.models.descent.gradient_descent(
    minus_likelihood, np.zeros(3), gradient=lambda t: -ascent_direction(t) / len(X), step=1.0, max_iter=20_000
)
print("Newton's method:", beta.round(4), "  gradient ascent:", ascent.theta.round(4), "after", ascent.steps, "steps")
print("cross-entropy:", round(minus_likelihood(beta), 4))

# %%
# **When there is no maximum.** If a hyperplane separates the classes, longer weights always have a greater likelihood,
# and no finite estimate exists. Every unpenalised fit proves which case it is; see :doc:`/logistic`.

six = load_example("six-points")
separated = sx.LogisticRegression().fit(six.X, six.y)
print(separated.separation_.verdict)
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
# figure: Losses over the margin m (left) and their slopes (right). The 0-1 loss is a step at 0; the hinge falls to 0 at m = 1;
# the logistic loss never reaches 0; the squared loss grows again beyond m = 1, where a row is right.

# %%
# Which loss belongs to which method:
#
# .. list-table::
#    :header-rows: 1
#
#    * - loss of :math:`m = y\,s(x)`
#      - name
#      - method
#      - minimum
#    * - 1 if wrong, else 0
#      - 0-1
#      - fewest mistakes (NP-hard)
#      - search
#    * - :math:`\max(0, -m)`
#      - perceptron
#      - the perceptron: descent, one row at a time
#      - stops at 0
#    * - :math:`\max(0, 1 - m)`
#      - hinge
#      - soft margin, support vector machine
#      - quadratic programme
#    * - :math:`(1 - m)^2 = (y - s(x))^2`
#      - squared
#      - least squares on labels −1 and +1
#      - closed form
#    * - :math:`\ln(1 + e^{-m})`
#      - logistic, cross-entropy
#      - logistic regression
#      - Newton’s method
#
# LDA is not in the table: it maximises the likelihood of rows *and* labels, and its estimates are means and a covariance.

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
    drawn = panel.set_title(f"{type(learner).__name__}: {mistakes[-1]} mistakes")
# figure: The same rows with four far ones on the plus side. They turn the line of LDA (left) into the classes; that of logistic
# regression (right) hardly notices them.

# %%
# .. plane:: -2 0 -, -1 1 -, -1.2 -1 -, 0.4 -0.2 -, -0.5 0.4 -, 1 0 +, 1.8 1 +, 1.3 -1 +, -0.2 0.3 +, 0.6 0.6 +
#    :show: lda logistic probability
#    :view: -4 -4 8
#
#    LDA and logistic regression on the same points; the shading is the probability of logistic regression in tenths. Drag a plus
#    point far to the upper right, and watch which line turns. `Lesson 6 <../lab/index.html#lesson=6>`_ makes it a task.
#
#
# Exercises
# ---------
#
# 1. Derive :math:`p` from :math:`f = \ln\frac{p}{1-p}`, and the symmetric form. Check both for :math:`f = 1.3`.
# 2. Show that :math:`1 - \varphi(z) = \varphi(-z)`, and that both forms of the gradient are equal.
# 3. Which divisor makes the pooled covariance unbiased, and does it matter for the line of LDA?
# 4. With :math:`\pi_+ = 9\pi_-`, where is the threshold of LDA between :math:`N(0, 1)` and :math:`N(2, 1)`?
# 5. Why has logistic regression no finite estimate on separable rows?
#
# .. dropdown:: Solutions
#
#    1. :math:`e^f (1 - p) = p`, so :math:`p = e^f/(1 + e^f)`; multiply numerator and denominator by :math:`e^{-f/2}`.
#    2. :math:`1 - \frac{1}{1 + e^{-z}} = \frac{e^{-z}}{1 + e^{-z}} = \frac{1}{1 + e^{z}}`. For :math:`y = 1` both forms are
#       :math:`(1 - p)\,\hat x`. For :math:`y = -1`: :math:`(0 - p)\,\hat x`, and :math:`(1 - \varphi(-f)) \cdot (-\hat x) =
#       -\varphi(f)\,\hat x = -p\,\hat x`.
#    3. :math:`n - 2`, one less for each estimated mean. It multiplies :math:`w` and the part of :math:`b` without the logarithm by
#       one factor: with equal shares the line stays; otherwise it moves a little, since :math:`\ln(\pi_+/\pi_-)` is not scaled.
#    4. Where :math:`2x - 2 + \ln 9 = 0`: at :math:`1 - \frac{\ln 9}{2} \approx -0.099`. The side of the common class reaches beyond
#       the other mean.
#    5. Let :math:`\beta` separate. Then :math:`y_i f(x_i) > 0` for all rows, and :math:`\ell(c\beta) = -\sum_i \ln(1 + e^{-c\,y_i
#       f(x_i)})` grows with :math:`c` towards 0, a value that no finite :math:`\beta` has.

score = 1.3
p = np.exp(score) / (1 + np.exp(score))
symmetric = np.exp(score / 2) / (np.exp(score / 2) + np.exp(-score / 2))
print("p =", p.round(4), "  symmetric form:", symmetric.round(4), "  back:", np.log(p / (1 - p)).round(4))
print("threshold:", (1 - np.log(9) / 2).round(3))
