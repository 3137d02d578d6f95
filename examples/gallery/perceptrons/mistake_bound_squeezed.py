"""
Novikoff's proof, squeezing a run
=================================

From below :math:`w^* \\cdot w_k` grows at least by the margin at each mistake; from above the length of :math:`w_k` grows at
most like a square root. The two curves must meet, and that ends the mistakes.
"""

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("separable")
model = sx.Perceptron(trace=True).fit(table.X, table.y)
bound = sx.mistake_bound(table.X, table.y)
print(bound)
print(bound.against(model))

# %%

ax = model.trace_.replay(table.X, table.y).plot(bound.coef, bound.intercept)
