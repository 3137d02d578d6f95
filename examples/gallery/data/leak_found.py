"""
A leak found
============

A column that is filled in after the outcome is known predicts it perfectly. The audit sets it aside and says why.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import separatrix as sx

rng = np.random.default_rng(0)
relapse = rng.random(200) < 0.4
table = pd.DataFrame(
    {
        "age": rng.normal(60, 10, 200).round() + 4 * relapse,
        "pressure": rng.normal(130, 15, 200).round(),
        "second_visit_code": np.where(relapse, 7, rng.integers(0, 5, 200)),
        "relapse": np.where(relapse, "yes", "no"),
    }
)
with tempfile.TemporaryDirectory() as folder:
    result = sx.audit(table, "relapse", budget=15, ledger=Path(folder) / "ledger.jsonl")
print("\n".join(str(result).splitlines()[:12]))
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for label, group in table.groupby("relapse"):
    ax.hist(group["second_visit_code"], bins=np.arange(-0.5, 9), alpha=0.7, label=label)
ax.set(xlabel="second_visit_code", ylabel="rows")
drawn = ax.legend(title="relapse")
