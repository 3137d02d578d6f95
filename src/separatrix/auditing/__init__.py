"""The main job: a table in, five answers out, as a screen, as JSON, and as a report that explains itself."""

from __future__ import annotations

from separatrix.lazy_names import offer

__getattr__, __dir__, _ = offer(__name__, __file__)
