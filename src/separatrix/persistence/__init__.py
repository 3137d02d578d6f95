"""Model files: a fitted learner, with the encoder of its table, as data that is safe to mail.

A ``.sepx`` file is a safetensors file whose metadata hold one JSON text, the header. Loading runs no code
of the file: the learner's name is looked up among ours, parameters and fitted attributes are checked one by
one, and whatever is unexpected is refused.
"""

from __future__ import annotations

from separatrix.persistence.model_files import load as load
from separatrix.persistence.model_files import save as save
