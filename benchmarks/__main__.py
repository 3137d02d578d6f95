"""Run every benchmark, or those that are named: ``python -m benchmarks [NAME ...] [--quick]``."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

# Peers and we on one thread; the benchmark of many cores is about all of them.
if sys.argv[1:2] != ["cores"]:
    for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(threads, "1")

here = Path(__file__).parent
known = sorted(path.stem for path in here.glob("*.py") if not path.stem.startswith("_") and path.stem != "measure")

named = [word for word in sys.argv[1:] if not word.startswith("--")]  # the rest is for the benchmarks themselves
for name in named or known:
    if name not in known:
        sys.exit(f"there is no benchmark {name!r}: choose from {', '.join(known)}")
    print(f"\n## {name}\n", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
