"""Model files: what goes in comes out to the bit, and hostile files are refused."""

from __future__ import annotations

import json
import pickle
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save as to_safetensors

from separatrix import Perceptron, load, save
from separatrix.data.frame import Column, Frame
from separatrix.errors import ModelFileError, NotFittedError
from separatrix.features.encode import Choices, Encoder
from separatrix.features.table_model import TableModel
from separatrix.models.names import command_name
from separatrix.models.registry import homes, learner_class, learner_names
from separatrix.persistence.model_files import checksum
from separatrix.persistence.model_headers import FORMATS

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 4))
Y2 = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)
Y3 = np.array(["a", "b", "c"], dtype=object)[np.argmax(X[:, :3], axis=1)]


def fitted(name, y):
    learner = learner_class(name)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner.fit(X, X[:, 0] if learner._estimator_type == "regressor" else y)


def tampered(path, change):
    """A file with a changed header and a right checksum."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    outer = json.loads(content[8 : 8 + size])
    header = json.loads(outer["__metadata__"]["separatrix"].partition(" ")[2])
    tensors = {}
    for name, entry in outer.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8"}
            data = content[8 + size + begin : 8 + size + end]
            tensors[name] = np.frombuffer(data, dtype=kinds[entry["dtype"]]).reshape(entry["shape"])
    change(header, tensors)
    text = json.dumps(header, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    path.write_bytes(to_safetensors(tensors, {"separatrix": f"{checksum(text, tensors)} {text}"}))


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "m.sepx"
    save(fitted("Perceptron", Y3), path)
    return path


@pytest.mark.parametrize("name", sorted(homes()))
@pytest.mark.parametrize("y", [Y2, Y3], ids=["two", "three"])
def test_every_learner_comes_back_with_the_same_predictions(name, y, tmp_path):
    try:
        model = fitted(name, y)
    except Exception as unfit:  # a learner for other data, such as two classes only
        pytest.skip(f"{name} does not fit these rows: {unfit}")
    path = tmp_path / "m.sepx"
    save(model, path)
    twin = load(path)
    assert type(twin) is type(model)
    assert repr(twin) == repr(model)
    assert np.array_equal(twin.predict(X), model.predict(X))
    if hasattr(model, "decision_function"):
        assert np.array_equal(twin.decision_function(X), model.decision_function(X))
    if hasattr(model, "status_"):
        assert twin.status_ is model.status_


def test_the_mistake_driven_learners_and_least_squares_can_all_be_saved(tmp_path):
    for name in ("Perceptron", "AveragedPerceptron", "MarginPerceptron", "PassiveAggressive", "AROW", "LeastSquares"):
        assert save(fitted(name, Y2), tmp_path / f"{name}.sepx").stat().st_size < 5000


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_labels_of_every_kind_names_and_parameters_come_back(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X, columns=["p", "q", "r", "s"])
    weights = {"no": 1.0, "yes": 2.5}
    model = learner_class("perceptron")(class_weight=weights, max_epochs=np.inf, max_updates=500)
    model.fit(frame, np.where(Y2 == 1, "yes", "no"))
    twin = load(save(model, tmp_path / "m.sepx"))
    assert twin.class_weight == weights
    assert twin.max_epochs == np.inf
    assert twin.classes_.tolist() == ["no", "yes"]
    assert twin.classes_.dtype == model.classes_.dtype
    assert twin.feature_names_in_.tolist() == ["p", "q", "r", "s"]
    assert np.array_equal(twin.predict(frame), model.predict(frame))
    for labels in (Y2 == 1, Y2.astype(np.int32), Y2 * 2.0):
        twin = load(save(fitted("perceptron", labels), tmp_path / "m.sepx"))
        assert twin.classes_.dtype == labels.dtype


def test_a_loaded_model_learns_on(tmp_path):
    model = fitted("perceptron", Y2)
    twin = load(save(model, tmp_path / "m.sepx"))
    assert np.array_equal(twin.partial_fit(X, Y2).coef_, model.partial_fit(X, Y2).coef_)


def test_the_same_model_gives_the_same_bytes(tmp_path):
    one, two = save(fitted("arow", Y2), tmp_path / "1.sepx"), save(fitted("arow", Y2), tmp_path / "2.sepx")
    assert one.read_bytes() == two.read_bytes()


def test_saving_over_a_file_leaves_the_old_one_when_it_fails(model_file):
    before = model_file.read_bytes()
    with pytest.raises(NotFittedError):
        save(learner_class("perceptron")(), model_file)
    with pytest.raises(ModelFileError, match="not a learner of Separatrix"):
        save({"a": 1}, model_file)
    unsaved = fitted("perceptron", Y2)
    unsaved.random_state = np.random.default_rng(0)
    with pytest.raises(ModelFileError, match="random_state is a Generator"):
        save(unsaved, model_file)
    assert model_file.read_bytes() == before
    assert [p.name for p in model_file.parent.iterdir()] == ["m.sepx"]


def test_what_is_no_regular_file_is_not_replaced():
    with pytest.raises(ModelFileError, match="not a regular file"):
        save(fitted("perceptron", Y2), "/dev/null")


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
        (other_type, "not finite numbers"),
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
        (set_header("attributes", "predict_", to=None), None),
        (set_header("attributes", "predict", to=1), "no attribute"),
        (set_header("attributes", "n_features_in_", to=9), "shapes"),
        (set_header("attributes", "n_features_in_", to="4"), "number of features"),
        (set_header("attributes", "coef_", to={"$tensor": "attribute.intercept_"}), "was used already"),
        (set_header("attributes", "coef_", to={"$code": "1"}), "unknown kind of value"),
        (set_header("attributes", "classes_", to={"$strings": ["a", "a", "c"], "object": True}), "not different"),
        (set_header("format", to=4), "format 4, and this version reads 1, 2 and 3"),
        (set_header("format", to=1), "other keys"),
        (set_header("format", to=True), "other keys"),
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
    if says is None:
        load(model_file)  # an attribute of a later version: harmless data under a name that nothing calls
        return
    with pytest.raises(ModelFileError, match=says):
        load(model_file)


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


def test_command_names():
    assert command_name("AROW") == "arow"
    assert command_name("AveragedPerceptron") == "averaged-perceptron"
    assert "perceptron" in learner_names()


def table_model():
    frame = Frame(
        (
            Column("age", "number", np.array([31.0, np.nan, 40.0, 22.0, 35.0, 50.0])),
            Column("ward", "text", np.array(["A", "B", None, "A", "A", "B"], dtype=object)),
            Column("seen", "date", 86400.0 * np.array([1, 40, 80, 3, 5, 7])),
            Column("says", "text", np.array(["a b", "a c", "b c", "a", None, "c"], dtype=object)),
        ),
        6,
        "t.csv",
    )
    y = np.array(["no", "yes", "yes", "no", "no", "yes"], dtype=object)
    encoder = Encoder.fitted(frame, Choices(text=("says",), words="tfidf", dates="parts"))
    return TableModel(Perceptron(max_epochs=50).fit(encoder.encode(frame)[0], y), encoder, "ok", "yes"), frame


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


@pytest.mark.parametrize("version", FORMATS)
def test_a_file_of_every_format_stays_loadable(version):
    """Made by fixtures/make.py when the format was the newest; never made anew."""
    model = load(Path(__file__).parent / "fixtures" / f"format_{version}.sepx")
    assert model.learner.coef_.tolist() == [[1.0, 22.0, 6.0, 65.0]]
    assert (model.target, model.positive, model.classes) == ("ok", "yes", ["no", "yes"])
    assert model.encoder.feature_names() == ["age", "age=(missing)", "ward=(missing)", "ward=B"]
    frame = table_model()[1]
    said = model.predict(model.encoder.encode(frame)[0])
    assert said["score"].tolist() == [-10.0, 81.0, 5.0, -19.0, -6.0, 74.0]
    assert getattr(model.learner, "certificate_digest_", None) == (None if version == 1 else "ab" * 32)


def test_the_newest_format_has_a_fixture_and_is_what_save_writes(tmp_path):
    header = saved_header(save(table_model()[0], tmp_path / "m.sepx"))
    assert header["format"] == max(FORMATS)
    assert (Path(__file__).parent / "fixtures" / f"format_{max(FORMATS)}.sepx").exists()


def saved_header(path):
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    return json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["separatrix"].partition(" ")[2])


def test_the_digest_of_a_certificate_is_kept(tmp_path):
    from hashlib import sha256

    from separatrix import LogisticRegression, separability

    proof = separability(X, Y2).certificate
    proof.save(tmp_path / "c.json")
    expected = sha256((tmp_path / "c.json").read_bytes()).hexdigest()
    for given in (proof, tmp_path / "c.json"):
        twin = load(save(fitted("perceptron", Y2), tmp_path / "m.sepx", certificate=given))
        assert twin.certificate_digest_ == expected
    again = load(save(twin, tmp_path / "n.sepx"))
    assert again.certificate_digest_ == expected
    with pytest.raises(ModelFileError, match="certificate is a int"):
        save(twin, tmp_path / "n.sepx", certificate=7)
    model = LogisticRegression().fit(X, Y2)
    model.separation_.certificate.save(tmp_path / "own.json")
    own = load(save(model, tmp_path / "m.sepx")).certificate_digest_
    assert own == sha256((tmp_path / "own.json").read_bytes()).hexdigest()


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


def test_a_file_without_an_attribute_that_the_printed_form_needs_is_refused(tmp_path):
    save(fitted("LogisticRegression", Y2), tmp_path / "m.sepx")
    tampered(tmp_path / "m.sepx", without("method_"))
    with pytest.raises(ModelFileError, match=r"do not describe a fitted model .*method_") as refusal:
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


def test_wide_models_of_few_entries_are_read(tmp_path):
    from scipy.sparse import csr_array

    wide = csr_array((np.ones(8), np.arange(8) * 100_000, np.arange(9)), shape=(8, 10**6))
    for name in ("KernelPerceptron", "VotedPerceptron", "Perceptron"):
        model = learner_class(name)().fit(wide, np.arange(8) % 2)
        save(model, tmp_path / "m.sepx")
        np.testing.assert_array_equal(load(tmp_path / "m.sepx").predict(wide), model.predict(wide))
