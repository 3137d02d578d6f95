"""Tables of the tour: small worlds with a known rule, from which as many rows as wanted can be drawn.

The rule of a world is fixed; a seed decides only which rows are drawn. Cells are what a file would hold: text,
dates, money as people write it, empty cells.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

Columns = dict[str, Any]
Draw = Callable[[int, np.random.Generator], Columns]


@dataclass(frozen=True)
class World:
    """A rule that makes rows, the column to predict, and the rows of the tour's table and of the study of advice."""

    name: str
    draw: Draw
    target: str
    rows: int
    few: int = 0  # rows of each table in the study of advice; 0: not part of it


def xor_cloud(n: int, rng: np.random.Generator) -> Columns:
    X = rng.normal(size=(n, 2)).round(4)
    return {"a": X[:, 0], "b": X[:, 1], "y": np.where(X[:, 0] * X[:, 1] > 0, "same", "different")}


def normal_classes(n: int, rng: np.random.Generator) -> Columns:
    """Two normal classes with one covariance: the home of the linear discriminant and of logistic regression."""
    y = rng.random(n) < 0.4
    X = rng.normal(size=(n, 4)) + np.outer(y, [1.2, -0.6, 0.0, 0.4])
    X[:, 3] += 0.8 * X[:, 0]
    return {f"x{j}": X[:, j].round(4) for j in range(4)} | {"y": np.where(y, "ill", "well")}


def fraud(share: float) -> Draw:
    """Payments of which few are fraud: larger, later at night and to newer accounts than others, on average."""

    def draw(n: int, rng: np.random.Generator) -> Columns:
        guilty = np.zeros(n, dtype=bool)
        guilty[rng.choice(n, max(2, round(share * n)), replace=False)] = True
        return {
            "amount": np.exp(rng.normal(3.5 + 1.5 * guilty, 1.0)).round(2),
            "hour": np.where(guilty & (rng.random(n) < 0.6), rng.integers(0, 6, n), rng.integers(0, 24, n)),
            "account_days": np.exp(rng.normal(6.5 - 2.0 * guilty, 1.0)).round(0),
            "country": rng.choice(["DE", "FR", "IT", "PL"], n),
            "transfers_today": rng.poisson(1.0 + 2.0 * guilty),
            "balance": rng.normal(2000, 900, n).round(2),
            "fraud": guilty.astype(int),
        }

    return draw


GOOD_WORDS = ["thanks", "great", "helpful", "quick", "friendly", "works", "fine", "happy", "renewal", "easy"]
BAD_WORDS = ["slow", "broken", "refund", "angry", "cancel", "late", "again", "nobody", "waiting", "expensive"]
PLAIN_WORDS = [
    "the",
    "bill",
    "phone",
    "app",
    "support",
    "call",
    "today",
    "order",
    "account",
    "service",
    "line",
    "plan",
    "month",
    "email",
    "box",
]


def churn(n: int, rng: np.random.Generator) -> Columns:
    """Customers with an ID, a date, money as it is written, a note in words, and missing ages."""
    months = rng.integers(1, 72, n)
    spend = np.exp(rng.normal(6.5, 0.7, n))
    calls = rng.poisson(1.5, n)
    plan = rng.choice(["basic", "plus", "family"], n, p=[0.5, 0.3, 0.2])
    log_odds = -0.6 - 0.03 * months + 0.55 * calls - 0.5 * (plan == "family") + 0.2 * (np.log(spend) - 6.5)
    left = rng.random(n) < 1 / (1 + np.exp(-log_odds))
    age = np.where(rng.random(n) < 0.05, np.nan, rng.normal(45, 14, n).round(0))
    return {
        "customer_id": [f"C-{k:07d}" for k in rng.permutation(10 * n)[:n]],
        "since": [(date(2025, 12, 31) - timedelta(days=int(30.4 * m + rng.integers(30)))).isoformat() for m in months],
        "plan": plan,
        "spend": [f"${value:,.2f}" for value in spend],
        "calls": calls,
        "age": ["" if np.isnan(a) else f"{a:.0f}" for a in age],
        "note": [_note(bool(gone), rng) for gone in left],
        "churned": np.where(left, "yes", "no"),
    }


def _note(gone: bool, rng: np.random.Generator) -> str:
    telling = BAD_WORDS if rng.random() < (0.65 if gone else 0.3) else GOOD_WORDS
    words = [*rng.choice(PLAIN_WORDS, 4), *rng.choice(telling, 2)]
    return " ".join(str(w) for w in rng.permutation(words))


def letters(n: int, rng: np.random.Generator) -> Columns:
    """26 classes of 16 small whole numbers, each class from two prototypes."""
    shapes = np.random.default_rng(26).normal(7.5, 2.6, size=(26, 2, 16))
    k, which = rng.integers(26, size=n), rng.integers(2, size=n)
    X = np.clip(np.rint(shapes[k, which] + rng.normal(scale=1.6, size=(n, 16))), 0, 15).astype(int)
    return {f"f{j:02d}": X[:, j] for j in range(16)} | {"letter": [chr(65 + c) for c in k]}


def houses(n: int, rng: np.random.Generator) -> Columns:
    """Prices by the square metre that depend on where a house stands: two hills that no plane follows."""
    east, north = rng.uniform(0, 10, n), rng.uniform(0, 10, n)
    area = np.exp(rng.normal(4.7, 0.15, n))
    hills = sum(np.exp(-((east - x) ** 2 + (north - y) ** 2) / 3) for x, y in ((2, 7), (7, 3), (8, 9)))
    price = area * (1200 + 4500 * hills) + rng.normal(0, 12_000, n)
    return {
        "east_km": east.round(3),
        "north_km": north.round(3),
        "area_m2": area.round(1),
        "price": np.maximum(price, 20_000).round(-2),
    }


def line_prices(n: int, rng: np.random.Generator) -> Columns:
    """A quantity with a linear mean."""
    X = rng.normal(size=(n, 5))
    y = 40 + X @ np.array([3.0, -2.0, 1.0, 0.0, 0.0]) + rng.normal(scale=2.5, size=n)
    return {f"x{j}": X[:, j].round(4) for j in range(5)} | {"cost": y.round(3)}


def wide_text(n: int, rng: np.random.Generator) -> Columns:
    """Messages of thirty words out of four thousand, with a few words that one class uses more often."""
    words = np.array([f"w{k:04d}" for k in range(4000)])
    base = 1 / np.arange(5, 4005)
    heavy = base.copy()
    heavy[50:400:7] *= 6
    spam = rng.random(n) < 0.35
    chances = {True: heavy / heavy.sum(), False: base / base.sum()}
    text = [" ".join(rng.choice(words, int(rng.integers(15, 45)), p=chances[bool(s)])) for s in spam]
    return {"message": text, "kind": np.where(spam, "spam", "ham")}


def ten_rows(n: int, rng: np.random.Generator) -> Columns:
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 3)) + 0.9 * y[:, None]
    return {f"x{j}": X[:, j].round(3) for j in range(3)} | {"y": np.where(y == 1, "yes", "no")}


def million(n: int, rng: np.random.Generator) -> Columns:
    w = np.random.default_rng(1).normal(size=20)
    X = rng.normal(size=(n, 20))
    y = X @ w + 2.0 * rng.normal(size=n) > 0
    return {f"x{j}": X[:, j] for j in range(20)} | {"y": y.astype(np.int64)}


WORLDS = (
    World("xor cloud", xor_cloud, "y", 400, 400),
    World("normal classes", normal_classes, "y", 300, 300),
    World("fraud 1:10,000", fraud(1e-4), "fraud", 200_000),
    World("fraud 1:50", fraud(0.02), "fraud", 2000, 2000),
    World("churn", churn, "churned", 2000, 1000),
    World("letters", letters, "letter", 20_000, 800),
    World("house prices", houses, "price", 2000, 800),
    World("linear costs", line_prices, "cost", 400, 200),
    World("wide text", wide_text, "kind", 2000, 500),
    World("ten rows", ten_rows, "y", 10),
    World("1e6 x 20", million, "y", 1_000_000),
)


def write(world: World, path: Path, rows: int, seed: int = 0) -> Path:
    """The table as a file: CSV, or Parquet from 500,000 rows on."""
    made = world.draw(rows, np.random.default_rng(seed))
    if rows >= 500_000:
        import duckdb

        path = path.with_suffix(".parquet")
        con = duckdb.connect()
        con.register("made", made)
        con.execute(f"COPY (SELECT * FROM made) TO '{path}' (FORMAT parquet)")
        return path
    path = path.with_suffix(".csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(made)
        writer.writerows(zip(*(_cells(column) for column in made.values()), strict=True))
    return path


def _cells(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)
