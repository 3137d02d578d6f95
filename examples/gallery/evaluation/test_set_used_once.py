"""
A test set that is used once
============================

``holdout`` seals the test rows. Using them is recorded in a ledger; the result of a second model says that they were used before.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import separatrix as sx

X, y = load_wine(return_X_y=True)
with tempfile.TemporaryDirectory() as folder:
    parts = sx.holdout(X, y, random_state=0, ledger=Path(folder) / "ledger.jsonl")
    first = parts.open_test(sx.LinearDiscriminant().fit(*parts.development))
    print(first.accuracy, "|", first.openings)
    second = parts.open_test(sx.QuadraticDiscriminant().fit(*parts.development))
    print(second.accuracy, "|", second.openings)
    fig, ax = plt.subplots(figsize=(7, 1.6), layout="constrained")
    parts.plot(ax=ax)
