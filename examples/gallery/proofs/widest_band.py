"""
The widest band between two classes
===================================

Many hyperplanes separate the same rows. ``margin`` proves how far the best one keeps from all of them, and ``MaxMargin``
is that hyperplane as a classifier.
"""

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("separable")
found = sx.margin(table.X, table.y)
print(found)

# %%
# The ringed rows are enough to determine the band: while every other row stays outside it, nothing changes.

model = sx.MaxMargin().fit(table.X, table.y)
ax = sx.plotting.plot_boundary(model, table.X, table.y)
