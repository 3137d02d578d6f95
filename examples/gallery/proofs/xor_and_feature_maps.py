"""
XOR, and a feature map that separates it
========================================

No hyperplane separates XOR, and four rows prove it. With squares and products of the columns one does.
"""

from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix.data.examples import load_example

xor = load_example("xor")
print(sx.separability(xor.X, xor.y))
ax = sx.separability(xor.X, xor.y).plot()

# %%
# On the command line: ``separatrix fit example:xor --learner perceptron --map poly:2``.

model = make_pipeline(sx.PolynomialMap(2), sx.Perceptron()).fit(xor.X, xor.y)
assert (model.predict(xor.X) == xor.y).all()
ax = sx.plotting.plot_boundary(model, xor.X, xor.y)
