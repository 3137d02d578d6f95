"""
Six points on the blackboard
============================

The online perceptron without a bias makes three mistakes and ends at (3, 1). Every step is printed.
"""

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("six-points")
learner = sx.Perceptron.recipe("online", trace=True)
print(sx.models.perceptron.step_trace(learner, table.X, table.y))
model = learner.fit(table.X, table.y)
assert model.coef_.tolist() == [[3, 1]]

# %%

ax = sx.plotting.plot_boundary(model, table.X, table.y, updates=3)

# %%

ax = sx.plotting.plot_weight_path(model.trace_.replay(table.X, table.y).weights)
