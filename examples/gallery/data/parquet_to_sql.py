"""
From Parquet to SQL
===================

Fit from a Parquet file, export the model as an SQL expression, and score the rows inside the database: the numbers agree.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
age, dose = rng.normal(60, 8, 300).round(1), rng.normal(2, 0.5, 300).round(2)
ill = np.where(0.1 * (age - 60) - (dose - 2) + rng.normal(size=300) > 0, "yes", "no")
table = pd.DataFrame({"age": age, "dose": dose, "ill": ill})
with tempfile.TemporaryDirectory() as folder:
    table.to_parquet(Path(folder) / "rows.parquet")
    for words in (
        "fit rows.parquet --target ill -o m.sepx",
        "export m.sepx -o m.sql",
        "predict m.sepx rows.parquet -o s.csv",
    ):
        subprocess.run(
            [sys.executable, "-m", "separatrix", *words.split()], cwd=folder, check=True, capture_output=True
        )
    sql = (Path(folder) / "m.sql").read_text()
    inside = duckdb.sql(f"SELECT {sql} FROM '{folder}/rows.parquet'").df()
    scored = pd.read_csv(Path(folder) / "s.csv")
print(sql)

# %%
# The database and the command line agree.

assert np.allclose(inside["score"], scored["score"], atol=1e-12)
assert (inside["prediction"] == scored["prediction"]).all()
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.scatter(age, dose, c=scored["score"], cmap="coolwarm", s=12)
drawn = ax.set(xlabel="age", ylabel="dose", title="scores")
