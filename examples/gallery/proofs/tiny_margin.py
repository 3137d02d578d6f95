"""
A margin that tolerances do not see
===================================

Four rows, separable by a margin near 1e-9. A solver that works to a tolerance of 1e-6 calls them overlapping; exact
arithmetic does not.
"""

import numpy as np
from scipy.optimize import linprog

import separatrix as sx
from separatrix.data.examples import load_example

table = load_example("tiny-margin")
signs = np.where(table.y == np.unique(table.y)[1], 1.0, -1.0)
Z = signs[:, None] * np.column_stack([table.X, np.ones(len(table.X))])
solved = linprog(
    [0, 0, 0, -1], A_ub=np.column_stack([-Z, np.ones(len(Z))]), b_ub=np.zeros(len(Z)), bounds=[(-1, 1)] * 4
)
print("linear programme:", "separable" if solved.x[-1] > 1e-6 else "not separable, by its tolerance")
found = sx.separability(table.X, table.y)
print("exact:", found.verdict)
print(sx.margin(table.X, table.y))
assert found.verdict == "complete"

# %%

ax = found.plot()
