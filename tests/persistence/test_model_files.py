"""Model files: what goes in comes out to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from saved_models import Y2, Y3, X, fitted, saved_header, table_model

from separatrix import load, save
from separatrix.errors import ModelFileError, NotFittedError
from separatrix.models.registry import command_name, homes, learner_class, learner_names
from separatrix.persistence.model_headers import FORMAT


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


def test_everything_that_a_fit_computes_is_carried_or_known_not_to_be(tmp_path):
    """A new fitted attribute gets its kind in ``persistence/fitted_attributes.py``, or a place in this list."""
    import pandas as pd

    from separatrix import LeastSquares, LogisticRegression

    frame = pd.DataFrame(X, columns=["p", "q", "r", "s"]).assign(
        ward=np.array(["A", "B", "C"])[np.arange(60) % 3], y=Y2
    )
    models = [fitted(name, Y2) for name in homes()]
    models += [kind.from_formula("y ~ p + ward", frame) for kind in (LeastSquares, LogisticRegression)]
    models += [kind(categorical="dummies").fit(frame[["q", "ward"]], Y2) for kind in (LeastSquares, LogisticRegression)]
    models.append(LeastSquares().fit(X[:, :2], X[:, 2:]))
    for model in models:
        header = saved_header(save(model, tmp_path / "m.sepx"))
        assert set(header["left_out"]) <= {"trace_", "separation_", "bracket_"}, model


def test_a_note_of_the_users_own_does_not_prevent_saving(tmp_path):
    model = fitted("perceptron", Y2)
    model.note_ = "my best"
    assert saved_header(save(model, tmp_path / "m.sepx"))["left_out"] == ["note_"]
    assert not hasattr(load(tmp_path / "m.sepx"), "note_")


def test_a_label_that_is_not_text_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(ModelFileError, match=r"'\\ud800', half of a character"):
        save(fitted("perceptron", np.where(Y2, "\ud800", "b")), tmp_path / "m.sepx")
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_labels_of_every_kind_names_and_parameters_come_back(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X, columns=["p", "q", "r", "s"])
    weights = {"no": 1.0, "yes": 2.5}
    model = learner_class("perceptron")(class_weight=weights, max_iter=np.inf, max_updates=500)
    model.fit(frame, np.where(Y2 == 1, "yes", "no"))
    twin = load(save(model, tmp_path / "m.sepx"))
    assert twin.class_weight == weights
    assert twin.max_iter == np.inf
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


def test_command_names():
    assert command_name("AROW") == "arow"
    assert command_name("AveragedPerceptron") == "averaged-perceptron"
    assert "perceptron" in learner_names()


def test_a_stored_file_of_this_format_stays_loadable():
    """Made by fixtures/make.py when the format was introduced; never made anew."""
    model = load(Path(__file__).parent / "fixtures" / f"format_{FORMAT}.sepx")
    assert model.learner.coef_.tolist() == [[1.0, 22.0, 6.0, 65.0]]
    assert (model.target, model.positive, model.classes) == ("ok", "yes", ["no", "yes"])
    assert model.encoder.feature_names() == ["age", "age=(missing)", "ward=(missing)", "ward=B"]
    frame = table_model()[1]
    said = model.predict(model.encoder.encode(frame)[0])
    assert said["score"].tolist() == [-10.0, 81.0, 5.0, -19.0, -6.0, 74.0]
    assert model.learner.certificate_digest_ == "ab" * 32


def test_save_writes_the_format_of_the_fixture(tmp_path):
    header = saved_header(save(table_model()[0], tmp_path / "m.sepx"))
    assert header["format"] == FORMAT
    assert [path.name for path in (Path(__file__).parent / "fixtures").glob("*.sepx")] == [f"format_{FORMAT}.sepx"]


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


def test_copies_of_a_fit_without_penalty_are_saved(tmp_path):
    """The rows that prove its existence are left behind by a copy, so that there is no certificate to keep."""
    import copy
    import pickle

    from separatrix import LogisticRegression

    model = LogisticRegression().fit(X, Y2)
    assert model.separation_.exists
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        again = load(save(twin, tmp_path / "m.sepx"))
        assert np.array_equal(again.predict(X), model.predict(X))
        assert not hasattr(again, "certificate_digest_")


def test_wide_models_of_few_entries_are_read(tmp_path):
    from scipy.sparse import csr_array

    wide = csr_array((np.ones(8), np.arange(8) * 100_000, np.arange(9)), shape=(8, 10**6))
    for name in ("KernelPerceptron", "VotedPerceptron", "Perceptron"):
        model = learner_class(name)().fit(wide, np.arange(8) % 2)
        save(model, tmp_path / "m.sepx")
        np.testing.assert_array_equal(load(tmp_path / "m.sepx").predict(wide), model.predict(wide))


@pytest.mark.parametrize("C", [float("inf"), 1.0])
def test_a_model_for_each_class_has_no_log_likelihood_and_is_saved(C, tmp_path):
    model = learner_class("LogisticRegression")(C=C, multiclass="ovr", on_separation="ridge").fit(X, Y3)
    assert model.loglik_ is None
    assert (model.separation_ is None) == (C == 1.0)
    again = load(save(model, tmp_path / "m.sepx"))
    assert again.loglik_ is None
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
