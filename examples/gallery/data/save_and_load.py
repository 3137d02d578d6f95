"""
Model files without code
========================

A ``.sepx`` file holds numbers and names, never code. It is written atomically, checked by a digest, and gives back the same
predictions to the bit; a pickle or a changed file is refused.
"""

import tempfile
from pathlib import Path

import separatrix as sx
from separatrix.data.examples import load_example
from separatrix.errors import SeparatrixError

table = load_example("separable")
model = sx.MaxMargin().fit(table.X, table.y)
with tempfile.TemporaryDirectory() as folder:
    path = sx.save(model, Path(folder) / "model.sepx")
    again = sx.load(path)
    assert (again.decision_function(table.X) == model.decision_function(table.X)).all()
    print(f"{path.stat().st_size:,} bytes")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    try:
        sx.load(path)
    except SeparatrixError as refused:
        print("refused:", refused)

# %%

ax = sx.plotting.plot_boundary(again, table.X, table.y)
