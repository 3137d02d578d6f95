"""``categorical="dummies"`` in every learner: the same columns at fit and predict, in files, copies and streams."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import separatrix as sx
from separatrix.errors import DataError, ModelFileError
from separatrix.models.registry import homes, learner_class

LEARNERS = [learner_class(name) for name in homes()]
STREAMS = [cls for cls in LEARNERS if hasattr(cls, "partial_fit")]
pytestmark = pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")


def patients(n=60):
    """Rows with categories, the same encoded by hand, classes and numbers."""
    rng = np.random.default_rng(0)
    sex = pd.Categorical(rng.choice(["m", "f"], n), categories=["x", "m", "f"])
    data = pd.DataFrame({"age": rng.normal(size=n), "ward": rng.choice(list("CAB"), n), "sex": sex})
    by_hand = pd.DataFrame(
        {
            "age": data["age"],
            "ward[T.B]": (data["ward"] == "B").astype(float),
            "ward[T.C]": (data["ward"] == "C").astype(float),
            "sex[T.f]": (data["sex"] == "f").astype(float),
        }
    )
    score = data["age"] + (data["ward"] == "A") + 0.4 * rng.normal(size=n)
    return data, by_hand, np.where(score > 0.5, "ill", "well"), score.to_numpy()


def made(cls, **options):
    extra = {"max_nodes": 500} if cls is sx.FewestMistakes else {"random_state": 0} if cls is sx.LinearDescent else {}
    return cls(**extra, **options)


@pytest.mark.parametrize("cls", LEARNERS)
def test_every_learner_takes_categories(cls, tmp_path):
    data, by_hand, classes, numbers = patients()
    y = numbers if cls is sx.LeastSquares else classes
    model, plain = made(cls, categorical="dummies").fit(data, y), made(cls).fit(by_hand, y)
    assert list(model.feature_names_in_) == list(by_hand.columns)
    assert model.references_ == {"ward": "A", "sex": "m"}
    expected = plain.predict(by_hand)
    np.testing.assert_array_equal(model.predict(data[["sex", "ward", "age"]]), expected)
    np.testing.assert_array_equal(model.predict(by_hand), expected)
    pd.testing.assert_frame_equal(model.model_matrix(data), by_hand)
    assert model.score(data, y) == plain.score(by_hand, y)
    sx.save(model, tmp_path / "model.sepx")
    again = [sx.load(tmp_path / "model.sepx"), pickle.loads(pickle.dumps(model)), clone(model).fit(data, y)]
    for other in again:
        assert other.categorical == "dummies"
        assert other.references_ == model.references_
        np.testing.assert_array_equal(other.predict(data.head(7)), expected[:7])
        with pytest.raises(DataError, match=r"'ward' has the level 'Z', which the fit did not have \(A, B, C\)"):
            other.predict(data.assign(ward="Z"))
        with pytest.raises(DataError, match="'ward' has no value at row 2"):
            other.predict(data.assign(ward=["A", "B", None, *data["ward"][3:]]))
        with pytest.raises(DataError, match="no column 'ward'"):
            other.predict(data.drop(columns="ward"))
    assert "references_" not in vars(model.fit(by_hand.to_numpy(), y))


@pytest.mark.parametrize("cls", STREAMS)
def test_a_stream_keeps_the_levels_that_its_categories_declare(cls):
    data, by_hand, classes, numbers = patients()
    y = numbers if cls is sx.LeastSquares else classes
    options = {"batch_size": 1} if cls is sx.LinearDescent else {}
    declared = {} if cls is sx.LeastSquares else {"classes": ["ill", "well"]}
    data["ward"], data["sex"] = pd.Categorical(data["ward"], list("ABC")), data["sex"].cat.remove_unused_categories()
    first = np.flatnonzero((data["ward"] != "C").to_numpy())[:12]
    rest = np.setdiff1d(np.arange(60), first)
    text = data.astype({"ward": str, "sex": str})
    stream, plain = made(cls, categorical="dummies", **options), made(cls, **options)
    stream.partial_fit(data.iloc[first], y[first], **declared).partial_fit(text.iloc[rest], y[rest])
    plain.partial_fit(by_hand.iloc[first], y[first], **declared).partial_fit(by_hand.iloc[rest], y[rest])
    np.testing.assert_array_equal(stream.predict(text), plain.predict(by_hand))
    assert list(stream.feature_names_in_) == list(by_hand.columns)
    turned = data.assign(ward=data["ward"].cat.reorder_categories(list("CBA")))  # the first rows decide
    np.testing.assert_array_equal(
        stream.partial_fit(turned, y).predict(data), plain.partial_fit(by_hand, y).predict(by_hand)
    )
    with pytest.raises(DataError, match="the level 'Z'"):
        stream.partial_fit(text.assign(ward="Z"), y)


def test_single_rows_have_levels():
    data, by_hand, y, _ = patients()
    data["sex"] = data["sex"].cat.remove_unused_categories()
    model = sx.Perceptron(categorical="dummies").partial_fit(data, y)
    plain = sx.Perceptron().partial_fit(by_hand, y)
    row = {"ward": "C", "age": 3.0, "sex": "f"}
    assert model.decision_one(row) == plain.decision_one([3.0, 0.0, 1.0, 1.0])
    model.learn_one(row, "well")
    plain.learn_one([3.0, 0.0, 1.0, 1.0], "well")
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    with pytest.raises(DataError, match="no column 'sex'"):
        model.predict_one({"ward": "C", "age": 3.0})


@pytest.mark.parametrize(
    "learner", [sx.LinearDiscriminant, sx.LeastSquares, sx.LogisticRegression, sx.Perceptron, sx.LinearDescent]
)
def test_folds_encode_their_own_rows(learner):
    data, by_hand, classes, numbers = patients()
    data["ward"] = pd.Categorical(data["ward"].map({"A": 1, "B": 2, "C": 3}))  # never to be taken for numbers
    data["sex"] = data["sex"].cat.remove_unused_categories()
    y = numbers if learner is sx.LeastSquares else classes
    ours = sx.cross_validate(learner(categorical="dummies"), data, y, folds=3, random_state=0)
    plain = sx.cross_validate(learner(), by_hand, y, folds=3, random_state=0)
    metric = "rmse" if learner is sx.LeastSquares else "accuracy"
    assert ours[metric].value == pytest.approx(plain[metric].value, rel=1e-9)


def test_proofs_are_about_the_encoded_rows():
    data, _, y, _ = patients()
    model = sx.LogisticRegression(categorical="dummies").fit(data, y)
    assert sx.verify(model.separation_.certificate, model.model_matrix(data), y)
    fewest = sx.FewestMistakes(max_nodes=500, categorical="dummies").fit(data, y)
    assert fewest.bracket_.upper == int((fewest.predict(data) != y).sum())
    traced = sx.Perceptron(categorical="dummies", trace=True).fit(data, y)
    assert len(traced.trace_.replay(traced.model_matrix(data), y).weights) == traced.mistakes_ + 1


def test_frames_of_other_libraries():
    polars, arrow, duckdb = (pytest.importorskip(name) for name in ("polars", "pyarrow", "duckdb"))
    data, by_hand, y, _ = patients()
    data = data.astype({"sex": str})
    expected = sx.LinearDiscriminant().fit(by_hand[["age", "ward[T.B]", "ward[T.C]"]], y).coef_
    frame = data[["age", "ward"]]
    kinds = [polars.from_pandas(frame), polars.from_pandas(frame).lazy(), arrow.Table.from_pandas(frame)]
    kinds += [duckdb.from_arrow(arrow.Table.from_pandas(frame)), frame.to_dict("list")]
    for rows in kinds:
        model = sx.LinearDiscriminant(categorical="dummies").fit(rows, y)
        np.testing.assert_allclose(model.coef_, expected, rtol=1e-12)
        assert model.references_ == {"ward": "A"}
    ordered = polars.from_pandas(frame).with_columns(polars.col("ward").cast(polars.Enum(["C", "B", "A"])))
    assert sx.LinearDiscriminant(categorical="dummies").fit(ordered, y).references_ == {"ward": "C"}


def test_what_is_a_category_and_what_is_not():
    data, _, y, numbers = patients()
    rest = data[["age"]].assign(yes=data["ward"] == "A", n=pd.Series(np.arange(60) % 7, dtype=object))
    assert list(sx.LeastSquares(categorical="dummies").fit(rest, numbers).feature_names_in_) == ["age", "yes", "n"]
    grade = pd.Series(pd.Categorical(np.arange(60) % 3))
    model = sx.LeastSquares(categorical="dummies").fit(data[["age"]].assign(grade=grade), numbers)
    assert list(model.feature_names_in_) == ["age", "grade[T.1]", "grade[T.2]"]
    whole, floats = (data[["age"]].assign(grade=grade.astype(kind)) for kind in (int, float))
    np.testing.assert_array_equal(model.predict(whole), model.predict(floats))
    numbered = data[["age", "ward"]].set_axis([0, 1], axis=1)
    assert list(sx.AROW(categorical="dummies").fit(numbered, y).feature_names_in_) == ["0", "1[T.B]", "1[T.C]"]
    for wrong, message in [
        (data.assign(day=pd.date_range("2020", periods=60)), "'day' is dates or times"),
        (data.set_axis(["a", "a", "b"], axis=1), r"several columns of one name \('a' 2 times\)"),
        (data["ward"], "pass a frame with named columns"),
        (data[["ward"]].assign(ward="A"), "one level only"),
    ]:
        with pytest.raises(DataError, match=message):
            sx.Perceptron(categorical="dummies").fit(wrong, y)
    with pytest.raises(TypeError, match='categorical="dummies"'):
        sx.Perceptron().fit(data, y)


def test_a_file_whose_levels_do_not_fit_is_refused():
    data, _, y, _ = patients()
    model = sx.Perceptron(categorical="dummies").fit(data, y)
    model.design_["levels"]["ward"] = ["A", "B"]
    with pytest.raises(ModelFileError, match="names a level that it does not list"):
        model.predict(data)
