"""How many files and functions a call visits, how deep it goes, and which files call each other.

Run with ``python -m benchmarks.call_trace``. What the package calls is counted, without numpy and the kernels.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import separatrix as sx

ROOT = str(Path(sx.__file__).parent)
KERNELS = str(Path(ROOT, "kernels"))  # how a kernel is run is its own business


@dataclass(frozen=True)
class CallTrace:
    """Files and functions visited, the deepest nesting, and pairs of files that call each other."""

    files: frozenset[str]
    functions: int
    nesting: int
    mutual: frozenset[tuple[str, str]]


def trace(call: Callable[[], Any]) -> CallTrace:
    """Run a call and record where it goes."""
    functions, calls, stack, deepest = set[tuple[str, str]](), set[tuple[str, str]](), list[str](), 0

    def visit(frame: FrameType, event: str, _: Any) -> None:
        nonlocal deepest
        file = frame.f_code.co_filename
        if not file.startswith(ROOT) or file.startswith(KERNELS) or event not in ("call", "return"):
            return
        if event == "return":
            if stack:
                stack.pop()
            return
        functions.add((file, frame.f_code.co_qualname))
        if stack and stack[-1] != file:
            calls.add((stack[-1], file))
        stack.append(file)
        deepest = max(deepest, len(stack))

    sys.setprofile(visit)
    try:
        call()
    finally:
        sys.setprofile(None)
    short = {file: str(Path(file).relative_to(ROOT)) for file, _ in functions}
    mutual = frozenset((short[a], short[b]) for a, b in calls if a < b and (b, a) in calls)
    return CallTrace(frozenset(short.values()), len(functions), deepest, mutual)


def logistic_fits() -> dict[str, tuple[dict[str, Any], Any, Any]]:
    """Options and rows of the fits that are traced."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 4)), rng.integers(0, 2, 300)
    X[:, 0] += y
    many = rng.standard_normal((20_000, 4))
    return {
        "maximum likelihood": ({}, X, y),
        "ridge": ({"C": 1.0}, X, y),
        "lasso": ({"C": 0.1, "l1_ratio": 1.0}, X, y),
        "Firth": ({"bias_reduction": "firth"}, X, y),
        "separated classes": ({}, X, (X[:, 0] > 0).astype(int)),
        "ridge on 20,000 rows": ({"C": 1.0}, many, (many[:, 0] + rng.standard_normal(20_000) > 0).astype(int)),
    }


def command(*words: str) -> Callable[[], None]:
    """A command line, run in this process without its output."""

    def run() -> None:
        from separatrix.cli.main import main as command_line

        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                command_line(list(words))
            except SystemExit as end:
                if end.code:
                    raise

    return run


def journeys(folder: Path) -> dict[str, Callable[[], Any]]:
    """What people do: prove, estimate, predict from a file, audit a file."""
    options, X, y = logistic_fits()["maximum likelihood"]
    table, model = folder / "t.csv", str(folder / "m.sepx")
    lines = [",".join(f"{v:.4f}" for v in x) + (",yes" if label else ",no") for x, label in zip(X, y, strict=True)]
    table.write_text("a,b,c,d,label\n" + "\n".join(lines) + "\n")
    return {
        "separability(X, y)": lambda: sx.separability(X, y),
        "cross_validate(...)": lambda: sx.cross_validate(sx.LogisticRegression(**options), X, y, random_state=0),
        "fit t.csv": command("fit", str(table), "--target", "label", "--out", model),
        "predict model t.csv": command("predict", model, str(table)),
        # Time enough that nothing is left out, however slow the trace and the machine are.
        "audit t.csv": command(*f"audit {table} --target label --budget 600 --out {folder / 'audit'}".split()),
    }


def line(name: str, call: Callable[[], Any]) -> CallTrace:
    """Run a call twice, the second time traced, and print what was counted."""
    call()  # modules are imported
    found = trace(call)
    pairs = ", ".join(f"{Path(a).stem} and {Path(b).stem}" for a, b in sorted(found.mutual)) or "none"
    print(f"{name:<22} {len(found.files):>5} {found.functions:>9} {found.nesting:>7}  {pairs}")
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'call':<22} {'files':>5} {'functions':>9} {'nesting':>7}  pairs that call each other")
    for name, (options, X, y) in logistic_fits().items():
        # Defaults bind the loop's variables now, which mypy cannot type.
        line(name, lambda options=options, X=X, y=y: sx.LogisticRegression(**options).fit(X, y))  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder:
        for name, call in journeys(Path(folder)).items():
            found = line(name, call)
    rooms = Counter(file.split("/")[0] if "/" in file else "top" for file in found.files)
    print("files of the audit by room:", ", ".join(f"{room} {count}" for room, count in rooms.most_common()))


if __name__ == "__main__":
    main()
