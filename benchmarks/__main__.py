"""Run every benchmark, or those that are named: ``python -m benchmarks [NAME ...] [options]``, the names first."""

from __future__ import annotations

import importlib
import os
import sys
from itertools import takewhile
from pathlib import Path

# Peers and we on one thread; the benchmark of many cores is about all of them.
if sys.argv[1:2] != ["cores"]:
    for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(threads, "1")

here = Path(__file__).parent
known = sorted(path.stem for path in here.glob("*.py") if not path.stem.startswith("_") and path.stem != "measure")

named = list(takewhile(lambda word: not word.startswith("--"), sys.argv[1:]))  # the rest is for the benchmarks
if unknown := [name for name in named if name not in known]:
    sys.exit(f"there is no benchmark {unknown[0]!r}: choose from {', '.join(known)}")
for name in named or known:
    print(f"\n## {name}\n", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
importlib.import_module("benchmarks._page").write()  # docs/benchmarks.md, from the results that are stored
