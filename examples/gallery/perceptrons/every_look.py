"""
Every look of a run
===================

``step_trace`` runs a learner of the perceptron's family one row at a time: score, label, mistake, and the weights after
each look. The last line has the weights of the fit, to the bit.
"""

import numpy as np

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("six-points")
print(sx.models.perceptron.step_trace(sx.Perceptron.recipe("online"), table.X, table.y))

# %%
# On a larger set: which rows the mistakes came from, pass after pass.

rows = load_example("separable")
learner = sx.Perceptron(order="shuffle", random_state=1, trace=True)
steps = sx.models.perceptron.step_trace(learner, rows.X, rows.y)
model = learner.fit(rows.X, rows.y)
assert np.array_equal(steps.coef[-1], model.coef_[0])
ax = sx.plotting.plot_mistakes(steps.row[steps.mistake], len(rows.X))
