"""
Text
====

A column of free text becomes hashed words and pairs of words; the command line does it by itself. With ``--words tfidf`` the
words keep their names.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
good, bad = ["lovely", "fresh", "quick", "friendly", "warm"], ["cold", "slow", "rude", "stale", "late"]
plain = ["the", "food", "was", "and", "service", "table", "we", "had"]
labels = np.repeat(["good", "bad"], 150)
texts = [
    " ".join([*rng.choice(plain, 5), *rng.choice(good if k == "good" else bad, 2), rng.choice(good + bad)])
    for k in labels
]
with tempfile.TemporaryDirectory() as folder:
    pd.DataFrame({"review": texts, "label": labels}).to_csv(Path(folder) / "reviews.csv", index=False)
    command = [
        sys.executable,
        "-m",
        "separatrix",
        "fit",
        "reviews.csv",
        "--words",
        "tfidf",
        "--cv",
        "5",
        "-o",
        "m.sepx",
    ]
    print(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)
counts = pd.Series(" ".join(texts).split()).value_counts().head(12)
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.barh(counts.index, counts)
drawn = ax.set(xlabel="occurrences")
