"""
A certificate that a stranger verifies
======================================

The claim "no hyperplane separates these rows" travels as a small JSON file. ``verify`` checks it in exact arithmetic,
without the solver; so does ``separatrix verify`` and a stand-alone file of the standard library. A changed label, or a
changed certificate, is refused.
"""

import tempfile
from pathlib import Path

import separatrix as sx
from separatrix.data.examples import load_example
from separatrix.errors import CertificateError

table = load_example("overlap")
found = sx.separability(table.X, table.y)
with tempfile.TemporaryDirectory() as folder:
    found.certificate.save(Path(folder) / "certificate.json")
    print(sx.verify(Path(folder) / "certificate.json", table.X, table.y))

# %%
# The rows of the witness: their hulls meet.

ax = found.plot()

# %%
# One flipped label, and the certificate is not about these data.

flipped = table.y.copy()
flipped[0] = table.y[table.y != table.y[0]][0]
try:
    sx.verify(found.certificate, table.X, flipped)
except CertificateError as refused:
    print("refused:", refused)
