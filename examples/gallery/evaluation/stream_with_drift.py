"""
A stream that changes
=====================

Each row is predicted before it is learned. After 12,000 rows the classes change places; the drift test notices that the
rate of mistakes has risen. AROW, which grows sure of its weights, takes its time to recover.
"""

import numpy as np

from separatrix import AROW, progressive


def stream():
    """Chunks of rows, as a queue might give them."""
    rng = np.random.default_rng(0)
    for k in range(32):
        X = rng.normal(size=(1000, 5))
        y = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=1000) > 0
        yield X, ~y if k >= 12 else y


found = progressive(AROW(), stream())
found.plot()
print(found)
