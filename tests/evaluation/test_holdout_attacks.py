"""Attempts to read sealed labels without an opening on record: each must be counted."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.errors.OpenedWarning")
N = 200


class Fixed:
    """A model with these scores, whatever the rows are."""

    classes_ = np.array([0, 1])

    def __init__(self, scores, predicted=None):
        self.scores = np.asarray(scores, dtype=float)
        self.predicted = np.zeros(len(self.scores), dtype=int) if predicted is None else np.asarray(predicted)

    def predict(self, X):
        return self.predicted

    def decision_function(self, X):
        return self.scores


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 4)), rng.integers(0, 2, size=N)


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger.jsonl"


def openings(ledger):
    return len(ledger.read_text().splitlines()) if ledger.exists() else 0


def test_labels_cannot_be_read_from_auc_by_tiny_changes_of_scores(table, ledger):
    h = sx.holdout(*table, random_state=0, ledger=ledger)
    base = h.open_test(Fixed(np.zeros(40))).roc_auc.value
    recovered = []
    for i in range(40):
        scores = np.zeros(40)
        scores[i] = 1e-9
        found = h.open_test(Fixed(scores))
        assert not found.openings.reread
        recovered.append(int(found.roc_auc.value > base))
    assert recovered == h._sealed.y.tolist()  # the attack works ...
    assert openings(ledger) == 41  # ... and every step of it is on record
    assert h.openings().times == 41


@pytest.mark.parametrize("kind", ["last bit", "label", "classes", "positive"])
def test_whatever_changes_the_evaluation_is_an_opening(table, ledger, kind):
    h = sx.holdout(*table, random_state=0, ledger=ledger)
    scores = np.linspace(-1, 1, 40)
    model, options = Fixed(scores), {}
    h.open_test(model)
    assert h.open_test(model).openings.reread
    if kind == "last bit":
        model = Fixed(np.where(np.arange(40) == 7, np.nextafter(scores, 2), scores))
    elif kind == "label":
        model = Fixed(scores, np.arange(40) == 3)
    elif kind == "classes":
        model.classes_ = np.array([1, 0])
    else:
        options = {"positive": 0}
    assert not h.open_test(model, **options).openings.reread
    assert openings(ledger) == 2


def test_predictions_belong_to_rows_and_not_to_places(table, ledger):
    X, y = table
    test = np.arange(N) >= 160
    moment = np.where(test, 1, 0)
    h = sx.holdout(X, y, time=moment, validation=0, test=40, ledger=ledger)
    h.open_test(Fixed(np.arange(40.0)))
    order = np.concatenate([np.arange(160), np.random.default_rng(1).permutation(np.arange(160, N))])
    mixed = sx.holdout(X[order], y[order], time=moment[order], validation=0, test=40, ledger=ledger)
    assert not mixed.open_test(Fixed(np.arange(40.0))).openings.reread  # the same numbers for other rows
    own = np.argsort(np.argsort(order[160:]))
    assert mixed.open_test(Fixed(own.astype(float))).openings.reread  # the same numbers for the same rows


def test_equal_rows_with_different_labels_are_not_exchanged(ledger):
    X = np.vstack([np.arange(20.0).reshape(-1, 1), [[19.0]]])
    y = np.concatenate([np.arange(19) % 2, [0, 1]])  # the last two rows are equal, their labels are not
    time = np.arange(21)
    last = sx.holdout(X, y, time=time, validation=0, test=1, ledger=ledger)
    last.open_test(Fixed([0.0]))
    keep = np.arange(20)  # without the last row, its twin is the test
    twin = sx.holdout(X[keep], y[keep], time=time[keep], validation=0, test=1, ledger=ledger)
    assert not twin.open_test(Fixed([0.0])).openings.reread
    swapped = sx.holdout(X, y[[*range(19), 20, 19]], time=time, validation=0, test=1, ledger=ledger)
    assert not swapped.open_test(Fixed([0.0])).openings.reread


@pytest.mark.parametrize("classes", [None, [0], [1], [0, 1], [0, 2]])
@pytest.mark.parametrize("positive", [None, 0, 1, 2])
def test_no_error_before_the_record_depends_on_a_sealed_label(tmp_path, classes, positive):
    class Labels:
        def predict(self, X):
            return np.zeros(1, dtype=int)

    if classes is not None:
        Labels.classes_ = np.array(classes)
    unrecorded = []
    for label in (0, 1):
        ledger = tmp_path / f"{label}.jsonl"
        X, y = np.arange(21.0).reshape(-1, 1), np.append(np.arange(20) % 2, label)
        h = sx.holdout(X, y, time=np.arange(21), validation=0, test=1, ledger=ledger)
        said = ""
        try:
            h.open_test(Labels(), positive=positive)
        except ValueError as error:
            said = str(error)
        unrecorded.append("recorded" if openings(ledger) else said)
    assert unrecorded[0] == unrecorded[1]


def test_a_typing_error_opens_nothing(table, ledger):
    h = sx.holdout(*table, random_state=0, ledger=ledger)
    with pytest.raises(ParameterError, match="positive is 'yes'"):
        h.open_test(Fixed(np.zeros(40)), positive="yes")
    assert openings(ledger) == 0


def test_a_deep_line_of_the_ledger_is_a_damaged_one(table, ledger):
    ledger.write_text('{"rows": ' + "[" * 100_000 + "\n")
    h = sx.holdout(*table, random_state=0, ledger=ledger)
    found = h.open_test(Fixed(np.zeros(40)))
    assert (found.openings.number, found.openings.damaged) == (1, 1)
    assert h.openings().damaged == 1


class Masked(str):
    """A text that is written like any other of its class."""

    __slots__ = ()

    def __repr__(self):
        return "a label"


def test_labels_that_are_all_written_alike_are_told_apart(ledger):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), np.array([Masked("no"), Masked("yes")], dtype=object)[rng.integers(0, 2, 50)]
    h = sx.holdout(X, y, random_state=0, ledger=ledger)
    for k in range(4):
        said = np.array([Masked("yes") if i == k else Masked("no") for i in range(10)], dtype=object)

        class Says:
            predict = staticmethod(lambda X, said=said: said)

        assert not h.open_test(Says()).openings.reread
        assert h.open_test(Says()).openings.reread
    assert openings(ledger) == 4


def test_what_is_known_of_equal_rows_does_not_depend_on_how_their_labels_lie(ledger):
    rng = np.random.default_rng(1)
    X = np.repeat(rng.normal(size=(60, 2)), 2, axis=0)
    y = np.tile([0, 1], 60)
    h = sx.holdout(X, y, random_state=0, stratify=False, ledger=ledger)
    h.open_test(Fixed(np.zeros(24)))
    known = h.openings()
    assert (known.before, known.times, known.rows) == (1.0, 1, 24)
    for pair in range(60):
        flipped = y.copy()
        flipped[2 * pair : 2 * pair + 2] = flipped[2 * pair : 2 * pair + 2][::-1]
        assert sx.holdout(X, flipped, random_state=0, stratify=False, ledger=ledger).openings() == known
