"""Feature maps of tables: the right columns, the same after saving, refused where they do not apply."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix
from separatrix.cli.main import main
from separatrix.data.frame import Column, Frame
from separatrix.errors import DataError, ModelFileError, ParameterError
from separatrix.features.encoder import Choices, Encoder
from separatrix.features.table_map import TableMap


def frame_of(**columns):
    listed = tuple(
        Column(name, "text" if v.dtype == object else "number", v if v.dtype == object else v.astype(float))
        for name, v in columns.items()
    )
    return Frame(listed, len(listed[0].values), "t.csv")


def test_squares_and_products_by_name_and_value():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=30), rng.integers(0, 2, 30)
    encoder = Encoder.fitted(frame_of(a=a, b=b), Choices(map="poly:2"))
    assert encoder.feature_names() == ["a", "b", "a^2", "a × b"]  # b has two values: b^2 is b again
    X, _ = encoder.encode(frame_of(a=a, b=b))
    assert np.array_equal(X, np.column_stack([a, b, a * a, a * b]))
    assert encoder.width == 4


def test_splines_are_hinges_at_quantiles():
    x = np.arange(101.0)
    encoder = Encoder.fitted(frame_of(x=x), Choices(map="splines"))
    X, _ = encoder.encode(frame_of(x=x))
    assert np.array_equal(X, np.column_stack([x, *(np.maximum(x - k, 0) for k in (20, 40, 60, 80))]))
    assert encoder.feature_names()[1] == "max(0, x − 20)"


def test_new_rows_are_mapped_by_the_knots_of_the_fit():
    encoder = Encoder.fitted(frame_of(x=np.arange(101.0)), Choices(map="splines"))
    X, _ = encoder.encode(frame_of(x=np.array([1000.0])))
    assert X.tolist() == [[1000.0, 980.0, 960.0, 940.0, 920.0]]


@pytest.mark.parametrize("kind", ["poly:1", "poly:9", "poly", "cubes", ""])
def test_unknown_maps(kind):
    with pytest.raises(ParameterError, match="it can be poly:2"):
        Encoder.fitted(frame_of(x=np.arange(9.0)), Choices(map=kind))


def test_text_cannot_be_mapped():
    words = np.array([f"the patient number {i} feels well" for i in range(60)], dtype=object)
    with pytest.raises(DataError, match="free text"):
        Encoder.fitted(frame_of(x=np.arange(60.0), told=words), Choices(map="poly:2"))


def test_a_model_with_a_map_is_saved_and_predicts_alike(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    rows = [f"{a},{b},{'in' if a * b > 0 else 'out'}" for a, b in X.tolist()]
    (tmp_path / "xor.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    main(
        ["fit", "xor.csv", "-t", "y", "--learner", "logistic-regression", "--C", "1", "--map", "poly:2", "-o", "m.sepx"]
    )
    model = separatrix.load(tmp_path / "m.sepx")
    assert isinstance(model.encoder.map, TableMap)
    main(["predict", "m.sepx", "xor.csv", "-o", "out.csv"])
    right = sum(
        line.split(",")[2] == line.split(",")[3] for line in (tmp_path / "out.csv").read_text().splitlines()[1:]
    )
    assert right >= 190  # XOR is linear in a × b
    with pytest.raises(SystemExit):
        main(["export", "m.sepx", "-o", "m.py"])
    assert "with --map poly:2 cannot be exported: fit without it" in capsys.readouterr().err


@pytest.mark.parametrize(
    "node",
    [
        {"kind": "poly:2", "inputs": 2, "terms": [[[2, None]]]},
        {"kind": "poly:2", "inputs": 2, "terms": [[[0, float("inf")]]]},
        {"kind": "poly:2", "inputs": 2, "terms": []},
        {"kind": "eval", "inputs": 2, "terms": [[[0, None]]]},
        {"kind": "poly:2", "inputs": True, "terms": [[[0, None]]]},
        {"kind": "poly:2", "inputs": 2, "terms": [[]]},
    ],
)
def test_maps_from_strangers_are_refused(node):
    with pytest.raises((ValueError, TypeError, ModelFileError)):
        TableMap.from_dict(node)
