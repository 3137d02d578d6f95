"""Encoders: the same cells give the same numbers, whatever was missing, rare, unseen, constant or repeated."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix import Perceptron, load, save
from separatrix.data.frame import Column, Frame
from separatrix.data.row_files import Matrix
from separatrix.data.sources import open_source
from separatrix.errors import DataError, ModelFileError, ParameterError
from separatrix.features.encoder import Choices, Encoder, summary
from separatrix.features.table_model import TableModel


def frame(**columns):
    made = []
    for name, values in columns.items():
        text = any(isinstance(v, str) for v in values)
        array = np.array(values, dtype=object) if text else np.array(values, dtype=np.float64)
        made.append(Column(name, "text" if text else "number", array))
    return Frame(tuple(made), len(made[0].values), "t.csv")


MIXED = frame(
    age=[31.0, np.nan, 40.0, 22.0, 35.0, 50.0],
    ward=["A", "B", None, "A", "A", "B"],
    same=[1.0] * 6,
    empty=[np.nan] * 6,
    again=[31.0, np.nan, 40.0, 22.0, 35.0, 50.0],
    renamed=["x", "y", None, "x", "x", "y"],
)


def test_numbers_categories_missing_constants_and_copies():
    encoder = Encoder.fitted(MIXED)
    X, noted = encoder.encode(MIXED)
    assert encoder.feature_names() == ["age", "age=(missing)", "ward=(missing)", "ward=B"]
    assert X.tolist() == [
        [31, 0, 0, 0],
        [35, 1, 0, 1],
        [40, 0, 1, 0],
        [22, 0, 0, 0],
        [35, 0, 0, 0],
        [50, 0, 0, 1],
    ]
    assert encoder.dropped == {
        "same": "is 1 in every row",
        "empty": "is missing in every row",
        "again": "repeats 'age'",
        "renamed": "repeats 'ward'",
    }
    lines = summary(encoder, noted)
    assert "1 missing in 'age' imputed, flagged" in lines
    assert "'same' dropped: it is 1 in every row" in lines


def test_unseen_levels_and_new_missing_values_at_prediction():
    levels = ["a"] * 50 + ["b"] * 30 + ["c", "d", "e"]
    encoder = Encoder.fitted(frame(g=levels, x=np.arange(83.0) / 2))
    assert encoder.columns[0].rare == ("c", "d", "e")
    new = frame(g=["zzz", "c", "a", "b", None], x=[1.0, 2.0, np.nan, 4.0, 5.0])
    X, noted = encoder.encode(new)
    assert X[:, :2].tolist() == [[1, 0], [1, 0], [0, 0], [0, 1], [1, 0]]
    assert X[2, 2] == np.median(np.arange(83)) / 2
    assert noted["g"].unseen == 1
    assert noted["g"].first_unseen == (0, "zzz")
    assert (noted["x"].missing, noted["g"].missing) == (1, 1)
    with pytest.raises(DataError, match=r"'zzz' in row 0 .*this category did not occur in training"):
        encoder.encode(new, strict=True)
    with pytest.raises(DataError, match="no column 'g'"):
        encoder.encode(frame(x=[1.0]))


def test_standard_scale_is_that_of_the_training_rows():
    x = np.array([1.0, 2.0, 3.0, 6.0])
    encoder = Encoder.fitted(frame(x=x), Choices(scale="standard"))
    assert encoder.encode(frame(x=x))[0][:, 0] == pytest.approx((x - x.mean()) / x.std())
    assert encoder.encode(frame(x=[3.0]))[0][0, 0] == 0
    with pytest.raises(ParameterError, match="scale is 'big'"):
        Encoder.fitted(frame(x=x), Choices(scale="big"))


def test_choices_overrule_guesses():
    table = frame(code=[1.0, 2.0, 1.0, 2.0], note=["5", "6", "7", "5"], x=[1.0, 2.0, 3.0, 4.0])
    encoder = Encoder.fitted(table, Choices(category=("code",), number=("note",), drop=("x",)))
    X, _ = encoder.encode(table)
    assert encoder.feature_names() == ["code=2", "note"]
    assert X.tolist() == [[0, 5], [1, 6], [0, 7], [1, 5]]
    with pytest.raises(DataError, match="no column 'nope'"):
        Encoder.fitted(table, Choices(drop=("nope",)))
    with pytest.raises(DataError, match="no column left"):
        Encoder.fitted(table, Choices(drop=("code", "note", "x")))


def test_a_word_among_numbers_is_named_with_its_row():
    values = [str(i) for i in range(40)]
    values[17] = "n/a"
    with pytest.raises(DataError, match=r"'age' in t.csv row 17 .* is 'n/a': not a number. Add na='n/a'"):
        Encoder.fitted(frame(age=values))


def test_infinities_are_refused_with_their_row():
    with pytest.raises(DataError, match=r"'x' in t.csv is inf in row 1"):
        Encoder.fitted(frame(x=[1.0, np.inf]))


def test_a_column_that_names_rows_is_dropped_and_text_is_hashed():
    n = 60
    table = frame(
        id=[f"P{i:04d}" for i in range(n)],
        says=[f"the patient number {i} feels {'well' if i % 2 else 'ill'} today" for i in range(n)],
        x=np.arange(float(n)) / 2,
    )
    encoder = Encoder.fitted(table)
    assert encoder.dropped == {"id": "looks like an ID column: nearly every value is unique"}
    X, _ = encoder.encode(table)
    assert X.shape == (60, 2**18 + 1)
    lengths = np.sqrt(X[:, : 2**18].multiply(X[:, : 2**18]).sum(axis=1))
    assert lengths == pytest.approx(np.ones(n))
    again, _ = encoder.encode(table.take([3, 5]))
    assert (again != X[[3, 5]]).nnz == 0


def test_leaks_are_flagged_with_evidence(real_data):
    table = open_source(str(real_data("titanic.csv"))).read()
    y = table["survived"].labels()
    encoder = Encoder.fitted(table.without(["survived"]), None, y, "survived")
    assert [leak.column for leak in encoder.leaks] == ["alive"]
    assert "determine 'survived' in 891 of 891 rows" in encoder.leaks[0].evidence


def test_a_threshold_is_a_leak_and_real_features_are_not(real_files):
    n = 40
    y = np.arange(n) % 2
    count = Column("count", "integer", np.arange(1.0, 1 + n))  # left out, and no leak
    score = Column("score", "number", y * 10 + np.linspace(0, 1, n))
    fine = Column("fine", "number", np.sin(np.arange(n)))
    encoder = Encoder.fitted(Frame((count, score, fine), n, "t"), None, y, "y")
    assert [leak.column for leak in encoder.leaks] == ["score"]
    targets = {"iris.csv": "species", "banknote.csv": "class", "breast_cancer.csv": "malignant"}
    for name, path in real_files(targets).items():
        table, target = open_source(str(path)).read(), targets[name]
        assert Encoder.fitted(table.without([target]), None, table[target].labels(), target).leaks == []


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_a_model_with_its_encoder_comes_back(tmp_path, real_data):
    table = open_source(str(real_data("titanic.csv"))).read()
    y, rest = table["survived"].labels(), table.without(["survived", "alive"])
    encoder = Encoder.fitted(rest, Choices(scale="standard", text=("who",)), y, "survived")
    X, _ = encoder.encode(rest)
    model = TableModel(Perceptron(max_iter=5).fit(X, y), encoder, "survived", 1, {"rows": 891})
    twin = load(save(model, tmp_path / "m.sepx"))
    assert twin.encoder.feature_names() == encoder.feature_names()
    assert (twin.target, twin.positive, twin.about) == ("survived", 1, {"rows": 891})
    again, _ = twin.encoder.encode(rest)
    assert (again != X).nnz == 0
    assert np.array_equal(twin.predict(again)["score"], model.predict(X)["score"])
    content = (tmp_path / "m.sepx").read_bytes()
    for at in range(16, len(content), 20011):
        changed = bytearray(content)
        changed[at] ^= 1
        (tmp_path / "c.sepx").write_bytes(bytes(changed))
        with pytest.raises(ModelFileError):
            load(tmp_path / "c.sepx")


def test_rows_of_the_wrong_kind_are_refused():
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    bare = TableModel(Perceptron().fit(X, y))
    with pytest.raises(DataError, match="is a table, but the model was fitted on rows"):
        bare.rows(frame(x=[1.0]))
    with pytest.raises(DataError, match="has 2 features, but the model was fitted on 1"):
        bare.rows(Matrix(np.ones((1, 2)), None, "z"))
    named = TableModel(bare.learner, Encoder.fitted(frame(x=[0.0, 1.0])))
    with pytest.raises(DataError, match="holds rows without column names"):
        named.rows(Matrix(X, None, "z"))
