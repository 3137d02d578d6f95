"""
An update turns the line
========================

A mistake at a row :math:`x` with label :math:`y` adds :math:`y\\,x` to the weights. The score of that row moves by
:math:`y\\lVert x\\rVert^2`, towards its label; what it does to the other rows is not promised.
"""

import matplotlib.pyplot as plt

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("six-points")
model = sx.Perceptron.recipe("online", trace=True).fit(table.X, table.y)
replay = model.trace_.replay(table.X, table.y)
fig, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
for k, ax in enumerate(axes, start=1):
    replay.plot_update(k, ax=ax)

# %%
# All three updates as a path of the weights, from (0, 0) to (3, 1), and the two inequalities of Novikoff's proof (1962)
# beside it: :math:`w^*\cdot w_k` grows at least by :math:`\gamma` an update, :math:`\lVert w_k\rVert^2` at most by
# :math:`R^2`.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
replay.plot_path(ax=axes[0])
drawn = replay.plot([1.0, 0.0], ax=axes[1])
