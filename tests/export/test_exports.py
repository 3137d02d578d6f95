"""Exports say what the model says: run in Python, in DuckDB and in onnxruntime."""

from __future__ import annotations

import math
import sqlite3
import warnings

import duckdb
import numpy as np
import pytest

from separatrix import LinearDiscriminant, LogisticRegression, Perceptron, QuadraticDiscriminant
from separatrix.data.frame import Column, Frame, frame_from
from separatrix.errors import ParameterError
from separatrix.export import to_onnx, to_python, to_sql
from separatrix.features.encoder import Choices, Encoder
from separatrix.features.table_model import TableModel
from separatrix.models.registry import learner_class

RNG = np.random.default_rng(3)
N = 120
AGE = RNG.normal(40, 12, size=N)
AGE[::11] = np.nan
WARD = np.array([["A", "B", "it's", None][k] for k in RNG.integers(0, 4, size=N)], dtype=object)
WARD[[3, 5]] = ["C7", "C8"]
DOSE = RNG.normal(size=N)
TABLE = Frame(
    (Column("age", "number", AGE), Column('the "ward"', "text", WARD), Column("dose", "number", DOSE)), N, "t.csv"
)
TARGETS = {
    "two": np.where(DOSE + 0.02 * np.nan_to_num(AGE, nan=40) > 0.8, "yes", "no").astype(object),
    "three": np.array([10, 20, 30])[np.digitize(DOSE, [-0.4, 0.4])],
    "number": 3 * DOSE + np.nan_to_num(AGE, nan=40),
}
FRESH = [
    {"age": 30.0, 'the "ward"': "A", "dose": 0.1},
    {"age": None, 'the "ward"': "new", "dose": -2.0},
    {"age": 80.5, 'the "ward"': None, "dose": 1e6},
    {"age": 0.0, 'the "ward"': "C7", "dose": 0.0},
]


def made(target, learner, scale="standard"):
    encoder = Encoder.fitted(TABLE, Choices(scale=scale, rare=3))
    X, _ = encoder.encode(TABLE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TableModel(learner_class(learner)().fit(X, TARGETS[target]), encoder, "y"), X


CASES = [
    ("two", "perceptron"),
    ("two", "linear-discriminant"),
    ("three", "averaged-perceptron"),
    ("three", "arow"),
    ("number", "least-squares"),
]


def rows():
    names = TABLE.names
    for i in range(N):
        cells = [column.values[i] for column in TABLE.columns]
        yield {n: None if v is None or v != v else v for n, v in zip(names, cells, strict=True)}


def expected(model):
    listed = [*rows(), *FRESH]
    columns = tuple(
        Column(
            c.name,
            c.kind,
            np.array([r[c.name] for r in listed], dtype=object if c.kind == "text" else np.float64),
        )
        for c in TABLE.columns
    )
    X, _ = model.encoder.encode(Frame(columns, len(listed), "t"))
    said = model.learner.predict(X)
    scores = said if model.classes is None else model.learner.decision_function(X)
    return listed, said.tolist(), np.asarray(scores).reshape(len(listed), -1)


@pytest.mark.parametrize(("target", "learner"), CASES)
def test_python(target, learner):
    model, _ = made(target, learner)
    listed, said, scores = expected(model)
    room = {}
    exec(
        compile(to_python(model), "exported", "exec"), {"__builtins__": {"float": float, "str": str, "max": max}}, room
    )
    for row, label, own in zip(listed, said, scores, strict=True):
        predicted, got = room["predict"](row)
        assert got == pytest.approx(own.tolist(), rel=1e-12, abs=1e-9)
        assert predicted == label if model.classes is not None else predicted == pytest.approx(label)


@pytest.mark.parametrize(("target", "learner"), CASES)
@pytest.mark.parametrize("scale", ["none", "standard"])
def test_sql_in_duckdb(target, learner, scale):
    model, _ = made(target, learner, scale)
    listed, said, scores = expected(model)
    con = duckdb.connect()
    con.execute('CREATE TABLE t (i INTEGER, age DOUBLE, "the ""ward""" VARCHAR, dose DOUBLE)')
    con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [[i, *row.values()] for i, row in enumerate(listed)])
    got = con.execute(f"SELECT {to_sql(model)} FROM t ORDER BY i").fetchall()
    if model.classes is None:
        assert [row[0] for row in got] == pytest.approx(said, rel=1e-12)
        return
    assert np.array([row[:-1] for row in got]) == pytest.approx(scores, rel=1e-12, abs=1e-9)
    assert [row[-1] for row in got] == said


@pytest.mark.parametrize(("target", "learner"), CASES)
def test_onnx_in_onnxruntime(target, learner):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    model, _ = made(target, learner)
    listed, said, scores = expected(model)
    session = runtime.InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])
    feeds = {
        "age": np.array([[math.nan if r["age"] is None else r["age"]] for r in listed]),
        'the "ward"': np.array([[r['the "ward"'] or ""] for r in listed], dtype=object),
        "dose": np.array([[r["dose"]] for r in listed]),
    }
    got = session.run(None, feeds)
    size = np.maximum(1.0, np.abs(scores))
    assert (np.abs(got[0] - scores) / size).max() < 1e-12
    if model.classes is not None:
        assert got[1].tolist() == said


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_bare_learners_and_refusals():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1])
    room = {}
    exec(to_python(Perceptron().fit(X, y)), room)
    assert room["predict"]({"x0": 1.0, "x1": 0.0})[0] == 1
    quadratic = QuadraticDiscriminant().fit(RNG.normal(size=(40, 2)), np.arange(40) % 2)
    with pytest.raises(ParameterError, match="no coefficients"):
        to_python(quadratic)
    with pytest.raises(ParameterError, match="boundary='undefined'"):
        to_sql(Perceptron(boundary="undefined").fit(X, y))
    words = Column("says", "text", np.array([f"a few words number {i} of {i * i}" for i in range(40)], dtype=object))
    encoder = Encoder.fitted(Frame((words,), 40, "t"))
    learner = Perceptron(max_iter=2).fit(encoder.encode(Frame((words,), 40, "t"))[0], np.arange(40) % 2)
    with pytest.raises(ParameterError, match="is free text"):
        to_onnx(TableModel(learner, encoder))


def test_an_empty_cell_is_missing_in_exported_python():
    """As csv.DictReader gives it."""
    frame = frame_from({"v": [1.0, None, 3.0, 4.0] * 5, "w": ["a", None, "b", "a"] * 5, "y": [0, 1, 0, 1] * 5})
    encoder = Encoder.fitted(frame.without(["y"]), Choices())
    y = frame["y"].labels()
    model = TableModel(LogisticRegression(C=1.0).fit(encoder.encode(frame)[0], y), encoder, "y", 1)
    scope: dict = {}
    exec(to_python(model), scope)
    assert scope["predict"]({"v": "", "w": ""}) == scope["predict"]({"v": None, "w": None})
    assert scope["predict"]({"v": "3", "w": "b"}) == scope["predict"]({"v": 3.0, "w": "b"})


def test_the_sql_of_many_classes_grows_with_their_number():
    """Each score stands there twice, whatever the number of classes; ties go to the first class."""
    sizes = {}
    for k in (4, 8, 26):
        rng = np.random.default_rng(k)
        X, y = rng.normal(size=(20 * k, 16)), np.repeat(np.arange(k), 20)
        model = LinearDiscriminant().fit(X, y)
        text = to_sql(model)
        sizes[k] = len(text)
        columns = ", ".join(f"{value!r}::DOUBLE AS x{j}" for j, value in enumerate(X[7].tolist()))
        got = duckdb.sql(f"SELECT {text} FROM (SELECT {columns})").fetchall()[0]
        assert got[-1] == model.predict(X[7:8])[0]
    assert sizes[26] < 80_000
    assert sizes[26] / sizes[8] < 4
    con = sqlite3.connect(":memory:")
    con.execute(f"CREATE TABLE t ({', '.join(f'x{j} REAL' for j in range(16))})")
    con.executemany(f"INSERT INTO t VALUES ({', '.join('?' * 16)})", X.tolist())
    found = [row[-1] for row in con.execute(f"SELECT {to_sql(model)} FROM t")]
    con.close()
    assert found == model.predict(X).tolist()
    tied = LinearDiscriminant().fit(X, y)
    tied.coef_[:] = 0.0
    tied.intercept_[:] = 0.0
    assert duckdb.sql(f"SELECT {to_sql(tied)} FROM (SELECT {columns})").fetchall()[0][-1] == 0
