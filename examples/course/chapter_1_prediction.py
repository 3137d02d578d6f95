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
print("s(x) =", w @ x + b, "  the same, lifted:", np.append(x, 1) @ np.append(w, b))

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
# .. plane:: -2 1 -, -1.5 -0.5 -, -0.8 1.6 -, -1 -1.6 -, 0.4 2 -, 0.6 0.7 -, 1.6 1.2 +, 1.2 -0.6 +, 2 0 +, 0.4 -1.6 +, 2.2 -1.4 +,
#            -0.2 -0.6 +
#    :show: neighbours squares
#    :neighbours: 3
#    :view: -3 -3 6
#
#    The regions of three nearest neighbours (shaded) beside the line of least squares on the same points. Drag a point: the
#    regions change around it only, the line turns as a whole. Flip one far inside the other class, and an island appears.
#
# Linear regression
# -----------------
#
# The model is :math:`y_i = \hat x_i \cdot \beta + \varepsilon_i` with independent noise
# :math:`\varepsilon_i \sim N(0, \sigma^2)`. Least squares minimises the **mean squared error**
# :math:`\frac1n \lVert y - \hat X \beta \rVert^2`. With more rows than columns the minimiser solves the normal equations
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
print("w =", model.coef_.round(2), " b =", round(model.intercept_, 2), "  by the normal equations:", beta.round(2))

# %%
# **Least squares is maximum likelihood.** Under the model above the density of all targets is
#
# .. math:: \prod_{i=1}^{n} \frac{1}{\sqrt{2\pi\sigma^2}} e^{-(y_i - \hat x_i \cdot \beta)^2 / (2\sigma^2)} ,
#
# so that the **negative log-likelihood** is
# :math:`\frac{n}{2}\ln(2\pi\sigma^2) + \frac{1}{2\sigma^2} \sum_i (y_i - \hat x_i \cdot \beta)^2`. Whatever :math:`\sigma` is, it is
# least where the sum of squares is least: the normal errors are the reason for the squares. Minimising over :math:`\sigma^2`
# as well gives :math:`\sum_i (y_i - \hat x_i \cdot \hat\beta)^2 / n`. That estimate is too small on average; ``sigma2_`` divides by
# :math:`n - d - 1` and is unbiased.

residuals = y - model.predict(X)
print("maximum likelihood σ² =", round(residuals @ residuals / 50, 3), "  unbiased:", round(model.sigma2_, 3))
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
free = sx.LeastSquares(alpha=lam).fit(X, y)
print("formula:", textbook.round(3), "  penalised bias:", ridge.coef_.round(3), round(ridge.intercept_, 3))
print("free bias:", free.coef_.round(3), round(free.intercept_, 3))

# %%
# The least norm
# --------------
#
# With fewer rows than columns many :math:`\beta` fit exactly. The shortest of them is
# :math:`\hat\beta = X^T (X X^T)^{-1} y`; it is what ``LeastSquares`` returns.

wide, target = rng.normal(size=(3, 6)), rng.normal(size=3)
short = sx.LeastSquares(fit_intercept=False).fit(wide, target)
print("the formula:", (wide.T @ np.linalg.solve(wide @ wide.T, target)).round(3))
print("the fit:    ", short.coef_.round(3))

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
numerical = sx.models.descent.gradient_descent(J, [2.0, 1.0], step=0.1, tol=1e-6)
print(found.status.name, "after", found.steps, "steps at", found.theta.round(5))
print("with derivatives by differences:", numerical.theta.round(5))

# %%

ax = sx.plotting.plot_descent(J, found.path)
# figure: The path of θ over the contours of J, lines of equal value. The steep direction is settled first; then the path
# follows the valley, in ever smaller steps, to the minimum.

# %%

ax = sx.plotting.plot_convergence([J(theta) for theta in found.path])
# figure: The same run: J at each step k on a logarithmic scale, a line that falls straight. Each step removes the same
# share of what is left.

# %%
# Too long a step diverges. Here the steep direction multiplies by :math:`1 - 8\alpha` at every step, so that
# :math:`\alpha` must stay below 1/4.

ends = {}
for alpha in (0.2, 0.3):
    run = sx.models.descent.gradient_descent(J, [2.0, 1.0], gradient=gradient, step=alpha, max_iter=20)
    ends[alpha] = J(run.theta)
    print(f"α = {alpha}: J = {ends[alpha]:.3g} after {run.steps} steps, {run.status.name}")

# %%
# Exercises
# ---------
#
# 1. Show that the gradient of :math:`\lVert y - \hat X\beta \rVert^2` vanishes exactly where the residuals are perpendicular to
#    every column of :math:`\hat X`. What follows for their mean?
# 2. What is :math:`\hat\beta_\lambda` for very large :math:`\lambda`, with the bias penalised and with it free?
# 3. Why does descent with a constant step converge to the least-squares solution for every start, if
#    :math:`0 < \alpha < 2/L` with :math:`L` the largest eigenvalue of the Hessian?
# 4. How many numbers does a nearest-neighbour rule keep for ``example:digits`` (1,797 rows of 64 pixels), and a linear
#    predictor for its ten classes?
#
# .. dropdown:: Solutions
#
#    1. The gradient is :math:`-2 \hat X^T (y - \hat X\beta)`: it is zero where every column has the inner product 0 with
#       the residuals. One column is all ones, so that the residuals sum to 0, and the mean prediction is the mean target.
#    2. All penalised weights tend to 0, since any other :math:`\beta` costs :math:`\lambda\lVert\beta\rVert^2 \to \infty`. With a free
#       bias what is left is :math:`\min_b \sum_i (y_i - b)^2`: the prediction tends to the mean of :math:`y`; otherwise to 0.
#    3. The error :math:`e_k = \theta_k - \hat\beta` follows :math:`e_{k+1} = (I - \alpha H) e_k`. The eigenvalues of the symmetric
#       matrix :math:`I - \alpha H` are :math:`1 - \alpha\lambda_j`, between :math:`1 - \alpha L > -1` and 1, and below 1 where
#       :math:`\lambda_j > 0`. So the error shrinks by a fixed factor, in every direction in which :math:`J` is curved.
#    4. :math:`1797 \cdot 64 = 115{,}008` numbers against :math:`10 \cdot 65 = 650`.

heavy = sx.LeastSquares(alpha=1e12).fit(X, y)
print("free bias, large λ: prediction", round(heavy.predict(X[:1])[0], 4), "  mean of y", round(y.mean(), 4))
