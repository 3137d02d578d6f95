"""Exports of tables whose columns, levels and classes are named to collide with the exporter's own names."""

from __future__ import annotations

import math
import warnings

import duckdb
import numpy as np
import pytest

from separatrix import AveragedPerceptron, LinearDiscriminant
from separatrix.data.frame import Column, Frame
from separatrix.errors import ParameterError
from separatrix.export import to_onnx, to_python, to_sql
from separatrix.features.column_encoders import MISSING, RARE
from separatrix.features.encoder import Choices, Encoder
from separatrix.features.table_model import TableModel

N = 80
NAMES = {
    "graph": ["constant_0", "value_0", "scores", "label", "constant_1", "value_3", "n"],
    "prefix": ["separatrix/constant_0", "separatrix//value_0", "separatrix/", "separatrix", "separatrix/rows"],
    "outputs": ["scores", "scores_", "label", "label_", "score", "prediction", "score_a"],
    "words": ["select", "from", "def", "row", "scores", "s0", "v", "x", "gone", "None", "float"],
    "quotes": ['a"b', 'a""b', "a'b", "a'); DROP TABLE t; --", "a\\", 'a\\"', "$$", "`x`", "[y]", "a;b", "--", "/*"],
    "strange": [" ", "\t", "a\nb", "é", "e\u0301", "\u202ex", "\x1b[31m", "a.b", "a:0", "^c", "0", "x" * 300],
}


def table(names, seed=0):
    rng = np.random.default_rng(seed)
    columns = []
    for j, name in enumerate(names):
        if j % 3 == 2:
            levels = np.array(["it's", '"', "value_0", "", "NULL"], dtype=object)
            columns.append(Column(name, "text", levels[rng.integers(0, len(levels), size=N)]))
        else:
            values = rng.normal(size=N)
            if j % 3 == 1:
                values[:: 7 + j] = np.nan
            columns.append(Column(name, "number", values))
    return Frame(tuple(columns), N, "t")


def model_of(frame, classes):
    encoder = Encoder.fitted(frame, Choices(scale="standard", rare=2))
    assert len(encoder.columns) == len(frame.columns)
    X, _ = encoder.encode(frame)
    sums = X @ np.random.default_rng(1).normal(size=X.shape[1])
    y = np.array(classes)[np.digitize(sums, np.quantile(sums, np.arange(1, len(classes)) / len(classes)))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = AveragedPerceptron(max_iter=20).fit(X, y)
    return TableModel(learner, encoder, "y"), learner.predict(X).tolist(), learner.decision_function(X).reshape(N, -1)


def listed(frame):
    cells = zip(*(column.values.tolist() for column in frame.columns), strict=True)
    return [
        {name: None if v is None or v != v else v for name, v in zip(frame.names, row, strict=True)} for row in cells
    ]


CLASSES = [["no", "it's"], ["prediction", 'a"', "A\\"], [1, 2, 3], [False, True]]


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("classes", CLASSES, ids=str)
def test_onnx(kind, classes):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    frame = table(NAMES[kind])
    model, said, scores = model_of(frame, classes)
    session = runtime.InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])
    assert [entry.name for entry in session.get_inputs()] == frame.names
    feeds = {c.name: c.values.reshape(-1, 1) for c in frame.columns}
    got = session.run(None, feeds)
    assert got[1].tolist() == said
    assert got[0] == pytest.approx(scores, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("classes", CLASSES, ids=str)
def test_python(kind, classes):
    frame = table(NAMES[kind])
    model, said, _ = model_of(frame, classes)
    room = {}
    exec(compile(to_python(model), "exported", "exec"), room)
    assert [room["predict"](row)[0] for row in listed(frame)] == said


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("classes", CLASSES, ids=str)
def test_sql(kind, classes):
    frame = table(NAMES[kind])
    model, said, _ = model_of(frame, classes)
    con = duckdb.connect()
    quoted = ['"' + name.replace('"', '""') + '"' for name in frame.names]
    kinds = ["VARCHAR" if column.kind == "text" else "DOUBLE" for column in frame.columns]
    con.execute(f"CREATE TABLE t (i INTEGER, {', '.join(map(' '.join, zip(quoted, kinds, strict=True)))})")
    marks = ", ".join("?" * (1 + len(quoted)))
    con.executemany(f"INSERT INTO t VALUES ({marks})", [[i, *row.values()] for i, row in enumerate(listed(frame))])
    con.execute(f"CREATE TABLE made AS SELECT i AS place, {to_sql(model)} FROM t")
    assert [row[0] for row in con.execute('SELECT "prediction" FROM made ORDER BY place').fetchall()] == said


def test_what_cannot_be_named_is_refused():
    pytest.importorskip("onnx")
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    for names, into, words in (
        (["a", "A"], to_sql, "differ in case only"),
        (["a", ""], to_onnx, "empty name"),
        (["a", ""], to_sql, "empty name"),
        (["a", "b\0"], to_sql, "zero byte"),
        (["a", "b\0"], to_onnx, "zero byte"),
        (["a", "b\ud800"], to_onnx, "half a character"),
        (["a", "a"], to_python, "two columns are named 'a'"),
    ):
        X = rng.normal(size=(N, 2))
        learner = LinearDiscriminant().fit(X, y)
        learner.feature_names_in_ = np.array(names, dtype=object)
        with pytest.raises(ParameterError, match=words):
            into(learner)
    for name in ("a b", "class", "f(x): pass\nimport os #", ""):
        with pytest.raises(ParameterError, match="name of a Python function"):
            to_python(LinearDiscriminant().fit(X, y), name)


def test_scores_of_classes_that_differ_in_case_have_names_of_their_own():
    frame = table(["u", "w"])
    model, _, _ = model_of(frame, ["a", "A", "a_"])
    con = duckdb.connect()
    con.execute("CREATE TABLE t (u DOUBLE, w DOUBLE)")
    con.execute(f"CREATE TABLE made AS SELECT {to_sql(model)} FROM t")
    assert con.execute("SELECT count(*) FROM made").fetchall() == [(0,)]


@pytest.mark.parametrize("word", [MISSING, RARE])
def test_cells_that_read_like_our_own_levels(word):
    """A cell that spells "(missing)" or "(rare)" is encoded by exports as by the model."""
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    rng = np.random.default_rng(2)
    values = np.array(["a", "b", "c", None], dtype=object)[rng.choice(4, p=[0.3, 0.3, 0.2, 0.2], size=N)]
    values[:3] = ["q1", "q2", "q3"]
    frame = Frame((Column("w", "text", values), Column("u", "number", rng.normal(size=N))), N, "t")
    encoder = Encoder.fitted(frame, Choices(rare=2))
    learner = LinearDiscriminant().fit(encoder.encode(frame)[0], np.arange(N) % 2)
    model = TableModel(learner, encoder, "y")
    fresh = Frame(
        (Column("w", "text", np.array([word, "new", None, "q1"], dtype=object)), Column("u", "number", np.zeros(4))),
        4,
        "t",
    )
    scores = learner.decision_function(encoder.encode(fresh)[0])
    room = {}
    exec(to_python(model), room)
    got = [room["predict"](row)[1][0] for row in listed(fresh)]
    assert got == pytest.approx(scores.tolist())
    con = duckdb.connect()
    con.execute("CREATE TABLE t (i INTEGER, w VARCHAR, u DOUBLE)")
    con.executemany("INSERT INTO t VALUES (?, ?, 0.0)", [[0, word], [1, "new"], [2, None], [3, "q1"]])
    assert [r[0] for r in con.execute(f"SELECT {to_sql(model)} FROM t ORDER BY i").fetchall()] == pytest.approx(scores)
    session = runtime.InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])
    feeds = {"w": np.array([[word], ["new"], [""], ["q1"]], dtype=object), "u": np.zeros((4, 1))}
    assert session.run(None, feeds)[0][:, 0] == pytest.approx(scores)


def test_onnx_refuses_empty_text_beside_missing_cells():
    pytest.importorskip("onnx")
    values = np.array(["", None, "a", "b"] * 20, dtype=object)
    frame = Frame((Column("w", "text", values),), N, "t")
    encoder = Encoder.fitted(frame, Choices(rare=2))
    learner = LinearDiscriminant().fit(encoder.encode(frame)[0], np.array([0, 1, 1, 0, 1, 0, 0, 1] * 10))
    with pytest.raises(ParameterError, match="cannot tell apart"):
        to_onnx(TableModel(learner, encoder))


def test_categories_of_numbers_in_sql():
    rng = np.random.default_rng(3)
    values = rng.choice([1.0, 2.5, 1e-7, np.nan], size=N)
    frame = Frame((Column("c", "number", values),), N, "t")
    encoder = Encoder.fitted(frame, Choices(category=("c",), rare=2))
    learner = LinearDiscriminant().fit(encoder.encode(frame)[0], rng.integers(0, 2, size=N))
    con = duckdb.connect()
    con.execute("CREATE TABLE t (i INTEGER, c DOUBLE)")
    con.executemany(
        "INSERT INTO t VALUES (?, ?)", [[i, None if math.isnan(v) else v] for i, v in enumerate(values.tolist())]
    )
    got = con.execute(f"SELECT {to_sql(TableModel(learner, encoder))} FROM t ORDER BY i").fetchall()
    expected = learner.decision_function(encoder.encode(frame)[0])
    assert [row[0] for row in got] == pytest.approx(expected.tolist())
