"""Numbers, names and lists as text; what comes from the data is cut to a readable length."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NAME = 48  # letters of a name that are shown


@dataclass(frozen=True, slots=True)
class Answer:
    """A question as printed, its answer in a few words, how it is known, and the sentences below it."""

    question: str
    answer: str
    badge: str
    lines: list[str]


@dataclass(frozen=True, slots=True)
class EstimateFacts:
    """A value with its interval; None where it is undefined."""

    value: float | None
    low: float | None
    high: float | None


def short(text: Any, width: int = NAME) -> str:
    """A name on one line, cut where it is long, without letters that steer a terminal."""
    line = "".join(c if c.isprintable() else " " for c in str(text)[: 4 * width + 64])
    line = " ".join(line.split())
    return line if len(line) <= width and len(str(text)) <= 4 * width + 64 else line[: width - 1].rstrip() + "…"


def brief(text: str) -> str:
    """A sentence in which words longer than a name is shown are cut."""
    return re.sub(rf"\S{{{NAME + 1},}}", lambda m: m[0][: NAME - 1] + "…", text)


def unique(names: Sequence[str], width: int = NAME, taken: Sequence[str] = ()) -> list[str]:
    """Short names that are all different."""
    seen, out = set(taken), []
    for name in names:
        made = base = short(name, width) or "(no name)"
        k = 2
        while made in seen:
            made = f"{base[: width - 5]} ({k})"
            k += 1
        seen.add(made)
        out.append(made)
    return out


def count(n: float) -> str:
    """7,840; larger ones in a few digits."""
    return f"{n:,.0f}" if abs(n) < 1e9 else number(n)


def bound(n: float) -> str:
    """A bound on a count: in full while that can be read."""
    return count(math.floor(n)) if n < 1e7 else number(n)


def number(x: float | None, digits: int = 3) -> str:
    """A number in a few digits: 0.0312, 1,306, 2.18 × 10⁸."""
    if x is None or (isinstance(x, float) and math.isnan(x)):
        return "–"
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    if x == 0:
        return "0"
    size = abs(x)
    if 1e-4 <= size < 1e7:
        places = max(0, digits - 1 - math.floor(math.log10(size)))
        text = f"{size:,.{places}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return ("−" if x < 0 else "") + text
    mantissa, _, power = f"{size:.{digits - 1}e}".partition("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return ("−" if x < 0 else "") + f"{mantissa} × 10{raised}"


def share(x: float | None) -> str:
    """0.7912 is 79.1%; digits enough not to round to 0% or 100% what is neither."""
    if x is None or math.isnan(x):
        return "–"
    return f"{_percent(x)}%"


def _percent(x: float) -> str:
    if not 0 < x < 1:
        return f"{100 * x:.0f}"
    text = ""
    for places in range(1, 13):
        text = f"{100 * x:.{places}f}"
        if 0 < float(text) < 100:
            break
    return text


def interval(low: float | None, high: float | None, as_share: bool = False) -> str:
    """[75.8, 82.0] for shares, [0.71, 0.84] for numbers; nothing where there is none."""
    if low is None or high is None:
        return ""
    if as_share:
        return f"[{_percent(low)}, {_percent(high)}]"
    return f"[{number(low)}, {number(high)}]"


def estimate(e: EstimateFacts, as_share: bool = False) -> str:
    """A value with its interval: 94.4% [91.3, 96.4], or 0.990 [0.976, 1.000]."""
    if e.value is None:
        return "undefined"
    if as_share:
        return f"{share(e.value)} {interval(e.low, e.high, True)}".strip()
    return with_interval(e.value, e.low, e.high)


def estimate_in_words(e: EstimateFacts, level: float, as_share: bool, unit: str = "") -> str:
    """94.4% correct (95% interval 91.3 to 96.4)."""
    if e.value is None:
        return "undefined"
    value = share(e.value) if as_share else number(e.value)
    if e.low is None or e.high is None:
        return f"{value}{unit}"
    low, high = (_percent(v) if as_share else number(v) for v in (e.low, e.high))
    return f"{value}{unit} ({share(level).replace('.0%', '%')} interval {low} to {high})"


def open_interval(low: float | None, high: float | None) -> str:
    """An interval that may be open at either end, or nothing."""
    if low is None and high is None:
        return ""
    if low is not None and high is not None:
        return with_interval(low, low, high).split(" ", 1)[1]
    return f"[{'−∞' if low is None else number(low)}, {'∞' if high is None else number(high)}]"


def with_interval(value: float, low: float | None, high: float | None) -> str:
    """0.990 [0.976, 1.000]: a value and its interval to the same place behind the point.

    A value below 1 is not rounded to it; the upper end of an interval may be, which makes the interval no shorter.
    """
    parts = [value] if low is None or high is None else [value, low, high]
    size = max(abs(x) for x in parts)
    if not 1e-4 <= size < 1e7 or not all(map(math.isfinite, parts)):
        return f"{number(value)} {interval(low, high)}".strip()
    places = 3 if 0.1 <= size <= 1 else max(0, 2 - math.floor(math.log10(size)))
    while places < 9 and size <= 1 and any(x < 1 and round(x, places) == 1 for x in parts[:2]):
        places += 1
    digits = [f"{abs(x):,.{places}f}" for x in parts]
    signed = [f"−{text}" if x < 0 and text.strip("0.") else text for x, text in zip(parts, digits, strict=True)]
    return signed[0] if len(signed) == 1 else f"{signed[0]} [{signed[1]}, {signed[2]}]"


def nearly_one(x: float) -> str:
    """0.518, 0.99999: as many nines as there are, and one digit more."""
    rest = 1 - x
    places = 3 if rest > 5e-4 or rest <= 0 else min(12, 1 - math.floor(math.log10(rest)))
    return f"{x:.{places}f}"


_UNIT = re.compile(
    r"(?<=[\d∞]) (?=(µs|ms|ns|s)(?!\w))|(?<=\d) (?=× 10)|(?<=×) (?=10)|(?<=\bp) (?=[=<])|(?<=[=<]) (?=\d)"
    r"|(?<=[✓✗]) |(?<=· [!?]) "
)
_PAIR = re.compile(r"\[−?[\d.,∞]+, −?[\d.,∞]+\]")


def unbroken(text: str) -> str:
    """The text with spaces at which a line must not end (before units, inside intervals) made hard."""
    text = _UNIT.sub("\u00a0", text)
    return _PAIR.sub(lambda m: m[0].replace(" ", "\u00a0"), text)


def unbroken_text(value: Any) -> Any:
    """A text of the page so; markup, and what is not text, as it is."""
    return unbroken(value) if type(value) is str else value


def seconds(s: float) -> str:
    """3 ms, 0.41 s, 12 s."""
    if s < 999.5e-9:
        return f"{s * 1e9:.0f} ns"
    if s < 999.5e-6:
        return f"{s * 1e6:.0f} µs"
    if s < 0.1:
        return f"{s * 1e3:.0f} ms" if s >= 0.01 else f"{s * 1e3:.1f} ms"
    return f"{s:.2f} s" if s < 10 else f"{s:.0f} s"


def p_value(p: float) -> str:
    if p < 1e-4:
        return "p < 0.0001"
    return f"p = {p:.{4 if p < 0.001 else 3 if p < 0.1 else 2}f}"


def numbered(rows: Sequence[int]) -> str:
    """row 5, or rows 1, 2, 8, the first six of them."""
    return f"row{'' if len(rows) == 1 else 's'} {', '.join(map(str, rows[:6]))}{', …' if len(rows) > 6 else ''}"


def named(names: Sequence[str], most: int = 4) -> str:
    """'a', 'b' and 3 more."""
    quoted = [f"'{name}'" for name in names[:most]]
    return f"{', '.join(quoted)} and {len(names) - most} more" if len(names) > most else listing(quoted)


def listing(names: Sequence[str]) -> str:
    """a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def plural(n: int, word: str, many: str | None = None) -> str:
    """1 row, 2 rows."""
    return f"{count(n)} {word if n == 1 else many or word + 's'}"


_METRICS = {
    "roc_auc": "area under the ROC curve",
    "f1": "F1",
    "mcc": "Matthews correlation",
    "brier": "Brier score",
    "mse": "mean squared error",
    "rmse": "RMSE",
    "mae": "mean absolute error",
    "r2": "R²",
}


def metric_name(name: str) -> str:
    """The common name of a metric."""
    return _METRICS.get(name, name.replace("_", " "))
