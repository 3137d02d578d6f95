"""A saved model."""

from __future__ import annotations

import pytest
from saved_models import Y3, fitted

from separatrix import save


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "m.sepx"
    save(fitted("Perceptron", Y3), path)
    return path
