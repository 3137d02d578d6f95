"""Dates by parts of the calendar, and free text by a vocabulary."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from separatrix import Perceptron, load, save
from separatrix.data.frame import Column, Frame
from separatrix.errors import ParameterError
from separatrix.features.dates import MONTHS, WEEKDAYS, calendar
from separatrix.features.encoder import Choices, Encoder
from separatrix.features.table_model import TableModel

MOMENTS = [datetime.datetime(1969, 1, 31, 23, 59), datetime.datetime(2024, 2, 29), datetime.datetime(2026, 11, 15, 6)]
MOMENTS += [datetime.datetime(1999, 12, 31, 18), datetime.datetime(2024, 2, 1)]


def seconds(moments):
    return np.array([m.replace(tzinfo=datetime.UTC).timestamp() if m else np.nan for m in moments])


def test_the_calendar_is_that_of_python():
    many = [datetime.datetime(1900, 1, 1) + datetime.timedelta(days=37.77 * k) for k in range(3000)]
    months, weekdays = calendar(seconds(many))
    assert months.tolist() == [m.month - 1 for m in many]
    assert weekdays.tolist() == [m.weekday() for m in many]


def test_dates_become_days_months_weekdays_and_a_point_on_the_clock():
    frame = Frame((Column("seen", "date", seconds([*MOMENTS, None])),), 6, "t")
    encoder = Encoder.fitted(frame, Choices(dates="parts"))
    names = encoder.feature_names()
    X, noted = encoder.encode(frame)
    assert noted["seen"].missing == 1
    assert X[:, names.index("seen=(missing)")].tolist() == [0, 0, 0, 0, 0, 1]
    for i, moment in enumerate(MOMENTS):
        assert X[i, names.index("seen")] == pytest.approx(seconds([moment])[0] / 86400)
        for name, value in zip(names, X[i], strict=True):
            if name.removeprefix("seen=") in MONTHS:
                assert value == (name == f"seen={MONTHS[moment.month - 1]}")
            if name.removeprefix("seen=") in WEEKDAYS:
                assert value == (name == f"seen={WEEKDAYS[moment.weekday()]}")
    assert "seen=Feb" not in names  # the most common month is the baseline
    late, early = X[0, names.index("seen:cos(time)")], X[1, names.index("seen:cos(time)")]
    assert late == pytest.approx(early, abs=1e-4)
    assert Encoder.fitted(frame).feature_names() == ["seen", "seen=(missing)"]


SAYS = ["Free prize, call now!", "call me now", "lunch at noon?", "free lunch", None, "prize prize prize"]


def test_a_vocabulary_holds_the_terms_that_two_rows_share():
    frame = Frame((Column("says", "text", np.array(SAYS, dtype=object)),), 6, "t")
    encoder = Encoder.fitted(frame, Choices(text=("says",), words="tfidf"))
    assert encoder.feature_names() == ["says:call", "says:free", "says:lunch", "says:now", "says:prize"]
    X = encoder.encode(frame)[0].toarray()
    assert np.sqrt((X**2).sum(axis=1)) == pytest.approx([1, 1, 1, 1, 0, 1])
    assert X[1] == pytest.approx(np.array([1, 0, 0, 1, 0]) / np.sqrt(2))  # two terms in two rows each
    unseen = Frame((Column("says", "text", np.array(["other words"], dtype=object)),), 1, "t")
    assert encoder.encode(unseen)[0].nnz == 0


def test_weights_are_those_of_scikit_learn():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["the cat sat", "the cat sat on the mat", "a dog sat", "the dog and the cat"]
    frame = Frame((Column("t", "text", np.array(texts, dtype=object)),), 4, "t")
    encoder = Encoder.fitted(frame, Choices(text=("t",), words="tfidf"))
    theirs = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"[^\W_]+")
    expected = theirs.fit_transform(texts).toarray()
    assert [name.removeprefix("t:") for name in encoder.feature_names()] == theirs.get_feature_names_out().tolist()
    assert encoder.encode(frame)[0].toarray() == pytest.approx(expected)


def test_text_without_a_shared_word_is_dropped_and_wrong_choices_are_named():
    values = np.array([f"w{i} v{i} u{i}" for i in range(30)], dtype=object)
    frame = Frame((Column("t", "text", values), Column("x", "number", np.arange(30.0))), 30, "t")
    encoder = Encoder.fitted(frame, Choices(text=("t",), words="tfidf"))
    assert encoder.dropped == {"t": "has no word that two rows share"}
    with pytest.raises(ParameterError, match="words is 'bag': it can be 'hashed' or 'tfidf'"):
        Encoder.fitted(frame, Choices(words="bag"))
    with pytest.raises(ParameterError, match="dates is 'age'"):
        Encoder.fitted(frame, Choices(dates="age"))


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_both_come_back_from_a_model_file(tmp_path):
    frame = Frame(
        (Column("seen", "date", seconds([*MOMENTS, None])), Column("says", "text", np.array(SAYS, dtype=object))),
        6,
        "t",
    )
    choices = Choices(text=("says",), words="tfidf", dates="parts")
    encoder = Encoder.fitted(frame, choices)
    X, y = encoder.encode(frame)[0], np.array([1, 0, 1, 0, 1, 0])
    model = TableModel(Perceptron(max_iter=3).fit(X, y), encoder, "y", 1)
    twin = load(save(model, tmp_path / "m.sepx"))
    assert twin.encoder.feature_names() == encoder.feature_names()
    assert (twin.encoder.encode(frame)[0] != X).nnz == 0
