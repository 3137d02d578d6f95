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
// One plain read: eight independent accumulators of 64 bytes.
typedef uint64_t wide __attribute__((vector_size(64), aligned(8), may_alias));
uint64_t read_all(const uint64_t* p, size_t words) {
    wide a = {0}, b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (size_t k = 0; k + 64 <= words; k += 64) {
        const wide* q = (const wide*)(p + k);
        a ^= q[0], b ^= q[1], c ^= q[2], d ^= q[3], e ^= q[4], f ^= q[5], g ^= q[6], h ^= q[7];
    }
    a ^= b ^ c ^ d ^ e ^ f ^ g ^ h;
    return a[0] ^ a[1] ^ a[2] ^ a[3] ^ a[4] ^ a[5] ^ a[6] ^ a[7];
}
// Products with w and their sums in double for n rows, all of them the same one, which stays in the first-level cache;
// of the columns those that fill blocks of 32.
#define ARITHMETIC(name, number)                                                  \
    double name(const number* x, const double* w, size_t n, size_t d) {           \
        double s[32] = {0}, sum = 0;                                              \
        for (size_t i = 0; i < n; ++i) {                                          \
            for (size_t k = 0; k + 32 <= d; k += 32)                              \
                for (int l = 0; l < 32; ++l) s[l] += (double)x[k + l] * w[k + l]; \
            __asm__ volatile("" ::: "memory");                                    \
        }                                                                         \
        for (int l = 0; l < 32; ++l) sum += s[l];                                 \
        return sum;                                                               \
    }
ARITHMETIC(arithmetic_float64, double)
ARITHMETIC(arithmetic_float32, float)
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
            "-ffp-contract=off",
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
    library.arithmetic_float64.restype = library.arithmetic_float32.restype = ctypes.c_double
    return library


def read_once(X: Any) -> None:
    """One plain read of an array's memory: the limit of anything that must look at every number."""
    _library().read_all(ctypes.c_void_p(X.ctypes.data), ctypes.c_size_t(X.nbytes // 8))


def arithmetic(X: Any, w: Any) -> None:
    """What products of rows with w and their sums in double take where no row has to be fetched: the other limit."""
    work = getattr(_library(), f"arithmetic_{X.dtype}")
    work(ctypes.c_void_p(X.ctypes.data), ctypes.c_void_p(w.ctypes.data), *map(ctypes.c_size_t, X.shape))


def interleaved(
    contenders: Mapping[str, Callable[[], Any]],
    repeats: int = 9,
    clock: Callable[[], float] = time.perf_counter,
    patience: float = float("inf"),
) -> dict[str, float]:
    """The least time of each contender, all of them taking turns; one that is slower than ``patience`` has one turn."""
    best = dict.fromkeys(contenders, float("inf"))
    gc.collect()
    for turn in range(repeats):
        for name, work in contenders.items():
            if turn and best[name] > patience:
                continue
            begin = clock()
            work()
            best[name] = min(best[name], clock() - begin)
    return best


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A Markdown table."""
    print("| " + " | ".join(header) + " |")
    print("|" + " --- |" * len(header))
    for row in rows:
        print("| " + " | ".join(f"{v:.2f}" if isinstance(v, float) else str(v) for v in row) + " |", flush=True)
