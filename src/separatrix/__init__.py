"""Linear predictors that prove what they say about your data.

Names are imported when they are first used: ``import separatrix`` by itself loads no part of the package, and a dense
fit loads numpy and the kernels only. The public names are those of ``__init__.pyi``, here and in the packages that it
names: learners and the questions to ask of data are here, results, plots and helpers where they belong.
"""

from __future__ import annotations

from separatrix.lazy_names import offer

__version__ = "0.1.0"
__getattr__, __dir__, _HOMES = offer(__name__, __file__)
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604: names of the table
