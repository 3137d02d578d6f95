"""Model files that were damaged or made to deceive are refused."""

from __future__ import annotations

import json
import pickle
import shutil

import numpy as np
import pytest
from saved_models import Y2, Y3, X, fitted, saved_header, table_model, tampered

from separatrix import load, save
from separatrix.errors import ModelFileError
from separatrix.models.registry import homes


def test_pickles_are_refused_by_name(tmp_path):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        path = tmp_path / "m.pkl"
        path.write_bytes(pickle.dumps(fitted("perceptron", Y2), protocol=protocol))
        with pytest.raises(ModelFileError, match="it is a pickle"):
            load(path)


def test_every_truncation_and_every_changed_byte_is_refused(model_file):
    content = model_file.read_bytes()
    for end in [*range(0, 40), *range(40, len(content), 37), len(content) - 1]:
        model_file.write_bytes(content[:end])
        with pytest.raises(ModelFileError):
            load(model_file)
    for at in [*range(0, 16), *range(16, len(content), 13)]:
        changed = bytearray(content)
        changed[at] ^= 0x41
        model_file.write_bytes(bytes(changed))
        with pytest.raises(ModelFileError):
            load(model_file)
    model_file.write_bytes(content + b"more")
    with pytest.raises(ModelFileError):
        load(model_file)


def swap(header, tensors):
    a, b = "attribute.coef_", "attribute.intercept_"
    tensors[a], tensors[b] = tensors[b], tensors[a]


def other_type(header, tensors):
    tensors["attribute.coef_"] = tensors["attribute.coef_"].astype("<f4")


def set_header(*path, to):
    def change(header, tensors):
        node = header
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = to

    return change


def not_finite(header, tensors):
    tensors["attribute.coef_"] = tensors["attribute.coef_"] * np.nan


def add_tensor(header, tensors):
    tensors["extra"] = np.zeros(3)


def wide(header, tensors):
    tensors["attribute.coef_"] = np.zeros((0, 2**40))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (swap, "shapes"),
        (other_type, "coef_ is an array of float32: it must be an array of numbers"),
        (not_finite, "not finite numbers"),
        (add_tensor, "nothing names"),
        (wide, "shapes"),
        (set_header("learner", to="os.system"), "not a learner of Separatrix"),
        (set_header("learner", to="Status"), "not a learner of Separatrix"),
        (set_header("learner", to="LogisticPath"), "not a learner of Separatrix"),
        (set_header("learner", to=["Perceptron"]), "not a learner of Separatrix"),
        (set_header("parameters", "evil", to=1), "no parameter 'evil'"),
        (set_header("parameters", "tie", to="maybe"), "tie is 'maybe'"),
        (set_header("attributes", "__class__", to="x"), "no attribute"),
        (set_header("attributes", "predict_", to=None), "no attribute 'predict_'"),
        (set_header("attributes", "mistakes_", to="many"), "mistakes_ is 'many': it must be a whole number"),
        (set_header("attributes", "n_iter_", to=-5), "n_iter_ is -5: it must be a whole number of at least 0"),
        (set_header("attributes", "errors_", to=True), "errors_ is True"),
        (set_header("attributes", "status_", to="CONVERGED"), "it must be a status"),
        (set_header("attributes", "trace_", to="x"), "trace_ is 'x': it must be None"),
        (set_header("attributes", "predict", to=1), "no attribute"),
        (set_header("attributes", "n_features_in_", to=9), "shapes"),
        (set_header("attributes", "n_features_in_", to="4"), "n_features_in_ is '4': it must be a whole number"),
        (set_header("attributes", "n_features_in_", to=0), "number of features"),
        (set_header("attributes", "coef_", to={"$tensor": "attribute.intercept_"}), "was used already"),
        (set_header("attributes", "coef_", to={"$code": "1"}), "unknown kind of value"),
        (set_header("attributes", "classes_", to={"$strings": ["a", "a", "c"], "object": True}), "not different"),
        (set_header("format", to=5), "format 5, and this version reads 4: update separatrix"),
        (set_header("format", to=3), "format 3, and this version reads 4: fit the model again"),
        (set_header("format", to=True), "format True"),
        (set_header("certificate", to="x" * 64), "digest"),
        (set_header("certificate", to=7), "digest"),
        (set_header("state", to=[]), "state"),
        (set_header("parameters", to=[1]), "not a table"),
        (set_header("attributes", "coef_", to={"$tensor": "nothing"}), "not there"),
        (set_header("attributes", "coef_", to={"$strings": [1], "object": False}), "holds something else"),
        (set_header("attributes", "intercept_", to={"$float": "1e9"}), "unknown kind of value"),
        (set_header("surprise", to=1), "other keys"),
        (set_header("table", to={"target": "x"}), "other keys"),
    ],
)
def test_hostile_headers_are_refused(model_file, change, says):
    tampered(model_file, change)
    with pytest.raises(ModelFileError, match=says):
        load(model_file)


def test_one_long_text_among_many_is_refused_before_memory_is_asked_for(model_file):
    import tracemalloc

    words = ["x" * 100_000, *map(str, range(10_000))]
    tampered(model_file, set_header("attributes", "classes_", to={"$strings": words, "object": False}))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="10,001 texts of up to 100,000 letters is too large"):
        load(model_file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50_000_000


def test_an_attribute_that_a_learner_computes_is_not_set_by_a_file(tmp_path):
    save(fitted("LeastSquares", Y2), tmp_path / "m.sepx")
    tampered(tmp_path / "m.sepx", set_header("attributes", "plan_", to="none"))
    with pytest.raises(ModelFileError, match="LeastSquares computes plan_"):
        load(tmp_path / "m.sepx")


def test_a_deep_or_double_header_is_refused(model_file):
    deep = 1
    for _ in range(100):
        deep = [deep]
    tampered(model_file, set_header("attributes", "coef_", to=deep))
    with pytest.raises(ModelFileError, match="nested too deeply"):
        load(model_file)
    text = b'{"__metadata__":{"separatrix":"x {}"},"__metadata__":{}}'
    model_file.write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(ModelFileError, match="a key twice"):
        load(model_file)
    text = b'{"a":' * 100_000
    model_file.write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(ModelFileError, match="damaged"):
        load(model_file)


def test_a_file_above_the_limit_is_not_read(model_file):
    with pytest.raises(ModelFileError, match="above limit=10"):
        load(model_file, limit=10)


@pytest.mark.parametrize(
    ("column", "key", "wrong"),
    [
        (0, "fill", "much"),
        (0, "scale", 0),
        (0, "shift", {"$float": "inf"}),
        (0, "indicator", 1),
        (0, "name", 7),
        (0, "kind", "object"),
        (1, "levels", [1]),
        (1, "baseline", None),
        (1, "extra", 1),
        (2, "months", [0, 12]),
        (2, "weekdays", [3, 1]),
        (2, "clock", 1),
        (3, "terms", ["a"]),
        (3, "terms", ["a"] * 3),
        (3, "name", "age"),
    ],
)
def test_damaged_encoders_are_refused(column, key, wrong, tmp_path):
    path = save(table_model()[0], tmp_path / "m.sepx")

    def change(header, tensors):
        header["table"]["encoder"]["columns"][column][key] = wrong

    tampered(path, change)
    with pytest.raises(ModelFileError, match="encoder"):
        load(path)


@pytest.mark.parametrize(
    "shape",
    [[2**40, 4], [2**62, 2**62], [-1, 4], [0], [4, 3, 1]],
    ids=["huge", "overflow", "negative", "empty", "deep"],
)
def test_shapes_that_do_not_fit_the_bytes_are_refused_before_memory_is_asked_for(model_file, shape):
    content = model_file.read_bytes()
    size = int.from_bytes(content[:8], "little")
    outer = json.loads(content[8 : 8 + size])
    outer["attribute.coef_"]["shape"] = shape
    text = json.dumps(outer).encode()
    model_file.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + size :])
    with pytest.raises(ModelFileError):
        load(model_file)


def test_a_pickle_under_any_name_is_refused_by_name(tmp_path):
    for name in ("m.sepx", "m.joblib", "m"):
        path = tmp_path / name
        path.write_bytes(pickle.dumps({"a": 1}, protocol=0 if name == "m" else 5 if name == "m.sepx" else 1))
        with pytest.raises(ModelFileError, match=f"{name} is refused: it is a pickle"):
            load(path)


def no_class(header, tensors):
    header["attributes"]["classes_"] = {"$strings": ["a", None, "c"], "object": True}


def many_dimensions(header, tensors):
    tensors["attribute.coef_"] = tensors["attribute.coef_"].reshape([1] * 62 + [3, 4])


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("Perceptron", set_header("attributes", "status_", to={"$status": ["CONVERGED"]}), "unknown kind of value"),
        ("Perceptron", set_header("attributes", "status_", to={"$status": {}}), "unknown kind of value"),
        ("Perceptron", many_dimensions, "has 64 dimensions"),
        ("Perceptron", no_class, "classes are not all text"),
        ("KernelPerceptron", set_header("parameters", "gamma", to=[1]), "gamma"),
        ("KernelPerceptron", set_header("parameters", "gamma", to={"$dict": []}), "gamma"),
        ("VotedPerceptron", set_header("attributes", "n_features_in_", to=2**31 - 1), "more than it has numbers"),
        ("QuadraticDiscriminant", set_header("attributes", "n_features_in_", to=2**31 - 1), "more than it has numbers"),
        ("KernelPerceptron", set_header("attributes", "n_features_in_", to=2**31 - 1), "more than it has numbers"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(name, change, says, tmp_path):
    save(fitted(name, Y3), tmp_path / "m.sepx")
    tampered(tmp_path / "m.sepx", change)
    with pytest.raises(ModelFileError, match=says) as refusal:
        load(tmp_path / "m.sepx")
    assert isinstance(refusal.value.__cause__, ModelFileError)  # found by a check, not by the last resort


def without(attribute):
    def change(header, tensors):
        value = header["attributes"].pop(attribute)
        if isinstance(value, dict) and "$tensor" in value:
            tensors.pop(f"attribute.{attribute}")

    return change


@pytest.mark.parametrize("attribute", ["method_", "status_", "unidentifiable_"])
def test_a_file_without_an_attribute_that_only_other_methods_need_is_refused(attribute, tmp_path):
    save(fitted("LogisticRegression", Y2), tmp_path / "m.sepx")
    tampered(tmp_path / "m.sepx", without(attribute))
    with pytest.raises(ModelFileError, match=f"do not describe a fitted model: {attribute} is missing") as refusal:
        load(tmp_path / "m.sepx")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", sorted(homes()))
def test_a_file_without_any_one_attribute_is_refused_or_works(name, tmp_path):
    save(fitted(name, Y2), tmp_path / "whole.sepx")
    for attribute in saved_header(tmp_path / "whole.sepx")["attributes"]:
        shutil.copy(tmp_path / "whole.sepx", tmp_path / "m.sepx")
        tampered(tmp_path / "m.sepx", without(attribute))
        try:
            model = load(tmp_path / "m.sepx")
        except ModelFileError:
            continue
        assert len(model.predict(X)) == len(X)
        assert repr(model)
