"""The classifier with the fewest mistakes: as good as its bracket says, and refused where it makes no sense."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.multiclass import OneVsOneClassifier

from separatrix import FewestMistakes, PocketPerceptron, load, save, verify
from separatrix.errors import CertificateError, DataError, ParameterError
from separatrix.numerics import Status


def noisy(n, d, share, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) > 0, "yes", "no")
    flipped = rng.choice(n, round(share * n), replace=False)
    y[flipped] = np.where(y[flipped] == "yes", "no", "yes")
    return X, y


def test_the_model_makes_the_mistakes_that_it_says():
    X, y = noisy(150, 4, 0.1)
    model = FewestMistakes().fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.errors_ == model.lower_ == len(model.wrong_) == (model.predict(X) != y).sum()
    assert set(np.flatnonzero(model.predict(X) != y)) == set(model.wrong_)
    assert model.score(X, y) == 1 - model.errors_ / 150
    assert f"at least {model.lower_} " in verify(model.bracket_.certificate, X, y)


@pytest.mark.parametrize("seed", range(5))
def test_no_pocket_is_better(seed):
    X, y = noisy(100, 3, 0.2, seed)
    assert FewestMistakes().fit(X, y).errors_ <= PocketPerceptron(random_state=seed).fit(X, y).errors_


def test_a_limit_leaves_a_bracket():
    X, y = noisy(200, 6, 0.25)
    model = FewestMistakes(max_nodes=3).fit(X, y)
    assert model.status_ is Status.BRACKETED
    assert model.lower_ < model.errors_
    near = FewestMistakes(gap=model.errors_ - model.lower_).fit(X, y)
    assert near.status_ is Status.OPTIMAL


def test_an_interrupt_keeps_the_partial_model(monkeypatch):
    X, y = noisy(200, 6, 0.25)
    model = FewestMistakes(verbose=True)
    calls = [5]

    def interrupt(*_):
        calls[0] -= 1
        if calls[0] == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(model, "_watch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ is Status.INTERRUPTED
    assert (model.predict(X) != y).sum() == model.errors_


def test_verbose_tells_the_bounds(capsys):
    FewestMistakes(max_nodes=5, verbose=True).fit(*noisy(100, 3, 0.2))
    assert "between" in capsys.readouterr().err


def test_more_than_two_classes_are_refused_and_pairs_can_be_had():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), np.repeat([0, 1, 2], 20)
    X[np.arange(60), y % 2] += 3 * y
    with pytest.raises(DataError, match="OneVsOneClassifier"):
        FewestMistakes().fit(X, y)
    assert OneVsOneClassifier(FewestMistakes(max_nodes=50)).fit(X, y).score(X, y) > 0.6


def test_senseless_parameters_leave_the_model_as_it_was():
    X, y = noisy(40, 2, 0.1)
    model = FewestMistakes().fit(X, y)
    before = model.coef_.copy()
    for name, value in [
        ("max_nodes", -3),
        ("time_limit", -1.0),
        ("gap", 0.5),
        ("fit_intercept", 2),
        ("boundary", "up"),
    ]:
        wrong = FewestMistakes().set_params(**model.get_params())
        wrong.__dict__.update(model.__dict__)
        setattr(wrong, name, value)
        with pytest.raises(ParameterError, match=name):
            wrong.fit(X, y)
        assert (wrong.coef_ == before).all()


def test_it_travels_without_its_rows(tmp_path):
    X, y = noisy(60, 3, 0.1)
    model = FewestMistakes().fit(X, y)
    copied = pickle.loads(pickle.dumps(model))
    assert (copied.predict(X) == model.predict(X)).all()
    assert (copied.bracket_.lower, copied.bracket_.upper) == (model.lower_, model.errors_)
    with pytest.raises(CertificateError, match="did not travel"):
        _ = copied.bracket_.certificate
    save(model, tmp_path / "model.sepx")
    again = load(tmp_path / "model.sepx")
    assert (again.predict(X) == model.predict(X)).all()
    assert again.lower_ == model.lower_
