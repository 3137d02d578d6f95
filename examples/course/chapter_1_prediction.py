r"""
1 Prediction, least squares and gradient descent
================================================

A linear predictor gives a row :math:`x` of :math:`d` numbers the **score**

.. math:: s(x) = w \cdot x + b .

:math:`w` are the weights, :math:`b` is the bias (or intercept). A regressor predicts the score itself; a classifier
predicts its sign. All learners of this course have this one formula. They differ in how they choose :math:`w` and
:math:`b`.

**Lifted rows.** Write :math:`\hat x = (x, 1)` and :math:`\beta = (w, b)`; then :math:`s(x) = \hat x \cdot \beta`, and the
bias is one more weight. The letters are listed in :doc:`/notation`.
"""

import numpy as np

import separatrix as sx

x = np.array([2.0, 3.0])
w, b = np.array([1.0, -1.0]), 0.5
assert w @ x + b == np.append(x, 1) @ np.append(w, b) == -0.5

# %%
# Lazy and eager
# --------------
#
# A nearest-neighbour rule keeps all :math:`n` rows and compares each new row with all of them: :math:`n d` numbers in
# memory and of the order of :math:`n d` operations for every prediction. It is *lazy*. A linear predictor does its work
# when it is fitted; afterwards it keeps :math:`d + 1` numbers and needs :math:`d` products. It is *eager*, or
# *parametric*. The third answer of :func:`separatrix.audit` prints both numbers for a table.

n, d = 400, 4
print(f"nearest neighbours keep {n * d:,} numbers, a linear predictor {d + 1}")

# %%
# Linear regression
# -----------------
#
# The model is :math:`y_i = \hat x_i \cdot \beta + \varepsilon_i` with independent noise
# :math:`\varepsilon_i \sim N(0, \sigma^2)`. Least squares minimises :math:`\lVert y - \hat X \beta \rVert^2`. With more rows
# than columns the minimiser solves the normal equations
#
# .. math:: \hat X^T \hat X \, \hat\beta = \hat X^T y ,
#
# with the **normal matrix** :math:`\hat X^T \hat X` and the **moment vector** :math:`\hat X^T y`.

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 2))
y = X @ [1.0, -2.0] + 3 + 0.5 * rng.normal(size=50)
model = sx.LeastSquares().fit(X, y)
lifted = np.column_stack([X, np.ones(50)])
beta = np.linalg.solve(lifted.T @ lifted, lifted.T @ y)
assert np.allclose(np.append(model.coef_, model.intercept_), beta)
print("w =", model.coef_.round(2), " b =", round(model.intercept_, 2), " σ² =", round(model.sigma2_, 3))

# %%
# ``sigma2_`` is the sum of squared residuals divided by :math:`n - d - 1`; ``summary`` adds standard errors, tests and
# intervals.

residuals = y - model.predict(X)
assert np.isclose(model.sigma2_, residuals @ residuals / (50 - 3))
print(model.summary())

# %%
# Ridge
# -----
#
# Regularised least squares: a penalty :math:`\lambda \lVert \beta \rVert^2` keeps the weights small,
#
# .. math:: \hat\beta_\lambda = (\hat X^T \hat X + \lambda I)^{-1} \hat X^T y .
#
# This textbook form penalises the bias as well. ``LeastSquares(alpha)`` leaves the bias free, because predictions should
# not depend on where the origin of :math:`y` lies; ``penalize_intercept=True`` gives the textbook form.

lam = 10.0
textbook = np.linalg.solve(lifted.T @ lifted + lam * np.eye(3), lifted.T @ y)
ridge = sx.LeastSquares(alpha=lam, penalize_intercept=True).fit(X, y)
assert np.allclose(np.append(ridge.coef_, ridge.intercept_), textbook)
assert np.allclose(ridge.normal_matrix_, lifted.T @ lifted + lam * np.eye(3))
assert np.allclose(ridge.moment_vector_, lifted.T @ y)
free = sx.LeastSquares(alpha=lam).fit(X, y)
print("penalised bias", round(ridge.intercept_, 3), "  free bias", round(free.intercept_, 3))

# %%
# The least norm
# --------------
#
# With fewer rows than columns many :math:`\beta` fit exactly. The shortest of them is
# :math:`\hat\beta = X^T (X X^T)^{-1} y`; it is what ``LeastSquares`` returns.

wide, target = rng.normal(size=(3, 6)), rng.normal(size=3)
short = sx.LeastSquares(fit_intercept=False).fit(wide, target)
assert np.allclose(short.coef_, wide.T @ np.linalg.solve(wide @ wide.T, target))
assert np.allclose(short.predict(wide), target)

# %%
# Gradient descent
# ----------------
#
# Where there is no closed form, follow the gradient :math:`\nabla J`, the vector of partial derivatives, downhill:
#
# .. math:: \theta_{k+1} = \theta_k - \alpha(k) \, \nabla J(\theta_k)
#
# until :math:`\lVert \theta_{k+1} - \theta_k \rVert \le \varepsilon` (the **tolerance**) or :math:`N` steps have been made.
# :math:`\alpha(k)` is the **learning rate** or step size.
# :func:`separatrix.models.descent.gradient_descent` does that for any :math:`J`. Without ``gradient`` the derivatives are central
# differences; ``verify_gradient=True`` compares yours with them. ``schedule`` is :math:`\alpha(k)`: constant, inverse,
# root, exponential, step, a line search, or a function of :math:`k`.


def J(theta):
    """A bowl that is four times as steep one way as the other."""
    return theta[0] ** 2 + 4 * theta[1] ** 2


def gradient(theta):
    """Its partial derivatives."""
    return np.array([2 * theta[0], 8 * theta[1]])


found = sx.models.descent.gradient_descent(J, [2.0, 1.0], gradient=gradient, verify_gradient=True, step=0.1, tol=1e-6)
assert np.allclose(found.theta, 0, atol=1e-5)
numerical = sx.models.descent.gradient_descent(J, [2.0, 1.0], step=0.1, tol=1e-6)
assert np.allclose(found.theta, numerical.theta, atol=1e-6)
print(found.status.name, "after", found.steps, "steps")

# %%
# The path over the **contours** of :math:`J` (lines of equal value): the steep direction is settled first.

ax = sx.plotting.plot_descent(J, found.path)

# %%
# The same run as :math:`J(\theta_k)` against :math:`k`, from the start :math:`\theta_0` to the last step.

ax = sx.plotting.plot_convergence([J(theta) for theta in found.path])
assert len(found.path) == found.steps + 1

# %%
# Too long a step diverges. Here the steep direction multiplies by :math:`1 - 8\alpha` at every step, so that
# :math:`\alpha` must stay below 1/4.

for alpha in (0.2, 0.3):
    run = sx.models.descent.gradient_descent(J, [2.0, 1.0], gradient=gradient, step=alpha, max_iter=20)
    print(f"α = {alpha}: J = {J(run.theta):.3g} after {run.steps} steps, {run.status.name}")

# %%
# Exercises
# ---------
#
# 1. Show that least squares is gradient descent's limit: minimise the mean of :math:`(y_i - \hat x_i \cdot \beta)^2` and
#    compare with ``LeastSquares``.
# 2. What is :math:`\hat\beta_\lambda` for very large :math:`\lambda`, with the bias penalised and with it free?
# 3. How many numbers does a nearest-neighbour rule keep for ``example:digits`` (1,797 rows of 64 pixels), and a linear
#    predictor for its ten classes?
#
# Solutions
# ---------
#
# 1. Both give the same :math:`\beta`.

descent = sx.models.descent.gradient_descent(lambda t: np.mean((y - lifted @ t) ** 2), np.zeros(3), step=0.2, tol=1e-10)
assert np.allclose(descent.theta, beta, atol=1e-5)

# %%
# 2. All weights tend to 0. With a free bias the prediction tends to the mean of :math:`y`, otherwise to 0.

heavy = sx.LeastSquares(alpha=1e12).fit(X, y)
assert np.isclose(heavy.predict(X[:1])[0], y.mean())
assert abs(sx.LeastSquares(alpha=1e12, penalize_intercept=True).fit(X, y).predict(X[:1])[0]) < 1e-8

# %%
# 3. :math:`1797 \cdot 64 = 115{,}008` numbers against :math:`10 \cdot 65 = 650`.

assert 1797 * 64 == 115_008
assert 10 * (64 + 1) == 650
