"""The table that the documentation uses: generated hospital visits, and whether the patient relapsed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.data.chance import Chance

ROWS, RELAPSES = 712, 288
WARDS = ("A", "B", "C", "D")
NOISE = 1.1  # standard deviations of what the columns do not explain, where they explain about 1.5


def visit_columns() -> dict[str, NDArray[Any]]:
    """Nine columns: numbers as float64, words as objects; three ages are missing, ``marker`` is 1 for some relapses."""
    chance = Chance(9)
    age = np.clip(np.round(56 + 16 * chance.normal(ROWS)), 18, 93)
    ward = np.array(WARDS, dtype=object)[np.floor(4 * chance.uniform(ROWS) ** 1.3).astype(int)]
    year = 2018 + np.floor(7 * chance.uniform(ROWS))
    smoker = chance.uniform(ROWS) < 0.3
    dose = np.round(np.clip(60 + 20 * chance.normal(ROWS), 10, 150), 1)
    pressure = np.round(128 + 0.3 * (age - 56) + 14 * chance.normal(ROWS))
    haemoglobin = np.round(13.6 + 1.4 * chance.normal(ROWS), 1)
    risk = 0.06 * (age - 56) + 0.9 * smoker - 0.04 * (dose - 60) - 0.3 * (haemoglobin - 13.6)
    risk += 0.8 * (ward == "C") - 0.5 * (ward == "D") + NOISE * chance.normal(ROWS)
    relapse = np.zeros(ROWS, dtype=bool)
    relapse[np.argsort(risk)[-RELAPSES:]] = True
    marker = (relapse & (chance.uniform(ROWS) < 0.12)).astype(np.float64)
    age[np.argsort(chance.uniform(ROWS))[:3]] = np.nan
    return {
        "age": age,
        "ward": ward,
        "year": year,
        "smoker": np.where(smoker, "yes", "no").astype(object),
        "dose": dose,
        "pressure": pressure,
        "haemoglobin": haemoglobin,
        "marker": marker,
        "relapse": np.where(relapse, "yes", "no").astype(object),
    }
