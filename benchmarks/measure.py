"""Interleaved timing: contenders take turns, the minimum counts, and only ratios are meant."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

LIMIT = r"""
#include <stdint.h>
#include <stddef.h>
// One plain read: eight independent streams of words, as wide as the compiler can make them.
uint64_t read_all(const uint64_t* p, size_t words) {
    uint64_t s[64] = {0};
    size_t k = 0;
    for (; k + 64 <= words; k += 64)
        for (int q = 0; q < 64; ++q) s[q] ^= p[k + q];
    uint64_t all = 0;
    for (int q = 0; q < 64; ++q) all ^= s[q];
    return all;
}
"""


@cache
def _library() -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp())
    source = folder / "limit.c"
    source.write_text(LIMIT)
    subprocess.run(
        [
            "cc",
            "-O3",
            "-march=native",
            "-mprefer-vector-width=512",
            "-shared",
            "-fPIC",
            "-o",
            folder / "limit.so",
            source,
        ],
        check=True,
    )
    library = ctypes.CDLL(str(folder / "limit.so"))
    library.read_all.restype = ctypes.c_uint64
    return library


def read_once(X: Any) -> None:
    """One plain read of an array's memory: the limit of anything that must look at every number."""
    _library().read_all(ctypes.c_void_p(X.ctypes.data), ctypes.c_size_t(X.nbytes // 8))


def interleaved(contenders: Mapping[str, Callable[[], Any]], repeats: int = 9) -> dict[str, float]:
    """The least time of each contender, all of them taking turns."""
    best = dict.fromkeys(contenders, float("inf"))
    gc.collect()
    for _ in range(repeats):
        for name, work in contenders.items():
            begin = time.perf_counter()
            work()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A Markdown table."""
    print("| " + " | ".join(header) + " |")
    print("|" + " --- |" * len(header))
    for row in rows:
        print("| " + " | ".join(f"{v:.2f}" if isinstance(v, float) else str(v) for v in row) + " |", flush=True)
