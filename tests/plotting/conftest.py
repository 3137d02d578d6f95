"""Figures are drawn without a screen, and closed after each test."""

from __future__ import annotations

import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
