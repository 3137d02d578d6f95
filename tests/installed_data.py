"""Data sets that installed packages carry, written as the files that tests read: the same rows, names and targets.

scikit-learn has iris, wine, breast cancer, digits and diabetes; statsmodels has Spector and Mazzeo's grades and
Longley's series; scipy has NIST's Norris. So a clone without ``SEPARATRIX_DATA`` tests with real rows too.
Only the passengers are invented: no installed package has those of the Titanic, and tests ask for columns like theirs.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np


def written(path: Path, names: Iterable[str], rows: Iterable[Iterable[Any]]) -> Path:
    """A file of comma-separated cells; whole numbers without a point."""
    lines = [",".join(names), *(",".join(map(cell, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)


def bundle(kind: str, **options: Any) -> Any:
    from sklearn import datasets

    return getattr(datasets, f"load_{kind}")(**options)


def iris(path: Path) -> Path:
    found = bundle("iris")
    names = ("sepal_length", "sepal_width", "petal_length", "petal_width", "species")
    species = found.target_names[found.target].tolist()
    return written(path, names, ([*x, s] for x, s in zip(found.data.tolist(), species, strict=True)))


def wine(path: Path) -> Path:
    found = bundle("wine")
    names = [name.replace("od280/od315_of_diluted_wines", "od280_od315") for name in found.feature_names]
    return written(path, [*names, "class"], np.column_stack([found.data, found.target]).tolist())


def breast_cancer(path: Path) -> Path:
    found = bundle("breast_cancer")
    names = [name.replace(" ", "_") for name in found.feature_names]
    return written(path, [*names, "malignant"], np.column_stack([found.data, 1 - found.target]).tolist())


def digits(path: Path) -> Path:
    found = bundle("digits")
    names = [f"pixel_{i}_{j}" for i in range(8) for j in range(8)]
    return written(path, [*names, "digit"], np.column_stack([found.data, found.target]).tolist())


def diabetes(path: Path) -> Path:
    found = bundle("diabetes", scaled=False)
    return written(path, [*found.feature_names, "progression"], np.column_stack([found.data, found.target]).tolist())


def spector(path: Path) -> Path:
    from statsmodels.datasets import spector as source

    frame = source.load_pandas().data
    return written(path, frame.columns.tolist(), frame.to_numpy().tolist())


def longley(path: Path) -> Path:
    from statsmodels.datasets import longley as source

    frame = source.load_pandas()
    names = [f"x{j}" for j in range(1, 7)]
    return written(path, [*names, "y"], np.column_stack([frame.exog, frame.endog]).tolist())


def norris(path: Path) -> Path:
    where = Path(importlib.util.find_spec("scipy").origin).parent / "stats/tests/data/nist_linregress/Norris.dat"
    lines = where.read_text(encoding="utf-8").splitlines()
    begin = next(k for k, line in enumerate(lines) if line.split() == ["Data:", "y", "x"])
    pairs = [line.split() for line in lines[begin + 1 :] if line.strip()]
    return written(path, ("x", "y"), ((float(x), float(y)) for y, x in pairs))


def passengers(path: Path) -> Path:
    """Columns as in the Titanic's list: some say the same, cells are missing, and ``alive`` repeats the target."""
    rng, n = np.random.default_rng(1912), 891
    rank, woman, port, alone = rng.integers(1, 4, n), rng.random(n) < 0.35, rng.integers(0, 3, n), rng.random(n) < 0.6
    age = np.where(rng.random(n) < 0.2, np.nan, rng.gamma(4.0, 7.5, n).round(1))
    survived = rng.random(n) < 1 / (1 + np.exp(1.7 - 3.2 * woman + 0.8 * (rank - 2)))
    who = np.where(age < 16, "child", np.where(woman, "woman", "man"))
    columns = {
        "survived": survived.astype(int),
        "pclass": rank,
        "sex": np.where(woman, "female", "male"),
        "age": np.where(np.isnan(age), "", age.astype(str)),
        "sibsp": np.where(alone, 0, rng.integers(1, 4, n)),
        "parch": np.where(alone, 0, rng.integers(0, 3, n)),
        "fare": (rng.gamma(2.0, 6.0, n) * 3.0 ** (3 - rank)).round(4),
        "embarked": np.array(list("CQS"))[port],
        "class": np.array(["First", "Second", "Third"])[rank - 1],
        "who": who,
        "adult_male": who == "man",
        "deck": np.where(rng.random(n) < 0.7, "", np.array(list("ABCDE"))[rng.integers(0, 5, n)]),
        "embark_town": np.array(["Cherbourg", "Queenstown", "Southampton"])[port],
        "alive": np.where(survived, "yes", "no"),
        "alone": alone,
    }
    words = ([str(own) if isinstance(own, bool) else own for own in column.tolist()] for column in columns.values())
    return written(path, columns, zip(*words, strict=True))


MADE: dict[str, Callable[[Path], Path]] = {
    "iris.csv": iris,
    "wine.csv": wine,
    "breast_cancer.csv": breast_cancer,
    "digits.csv": digits,
    "diabetes.csv": diabetes,
    "spector.csv": spector,
    "nist_longley.csv": longley,
    "nist_norris.csv": norris,
    "titanic.csv": passengers,
}
