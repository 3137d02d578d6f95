"""The encoder of a source in partitions is that of one machine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sources import table, write_parts

from separatrix.cluster.merged_encoder import merged_encoder, need_mergeable
from separatrix.cluster.merged_medians import from_bits, medians, ordered_bits
from separatrix.cluster.partition_reading import loaded
from separatrix.cluster.partitions import SourcePart, partitions_of
from separatrix.cluster.rounds import LocalRounds
from separatrix.data.frame import Column, Frame
from separatrix.data.reading_plan import Reading
from separatrix.data.sources import open_source
from separatrix.errors import DataError, ParameterError
from separatrix.features.encoder import Choices, Encoder

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def both(tmp_path, choices, header=None, lines=None):
    """The encoders of eight partitions and of the whole file."""
    made = table() if header is None else (header, lines)
    source = write_parts(tmp_path, *made)
    rounds = LocalRounds(partitions_of(source))
    schema = loaded(rounds, Reading(), source)
    whole = open_source(str(tmp_path / "whole.csv")).read()
    return merged_encoder(rounds, schema.names, choices, source), Encoder.fitted(whole, choices)


def same(merged, alone):
    assert merged.dropped == alone.dropped
    assert merged.notes == alone.notes
    assert [type(c) for c in merged.columns] == [type(c) for c in alone.columns]
    for one, two in zip(merged.columns, alone.columns, strict=True):
        for (name, a), b in zip(one.to_dict().items(), two.to_dict().values(), strict=True):
            if name in ("shift", "scale"):
                assert a == pytest.approx(b, rel=1e-14, abs=1e-14)
            else:
                assert a == b


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_numbers_categories_constants_and_copies(tmp_path, scale):
    merged, alone = both(tmp_path, Choices(scale=scale))
    assert set(merged.dropped) == {"constant", "copy"}
    same(merged, alone)


def test_choices_of_columns(tmp_path):
    same(*both(tmp_path, Choices(drop=("q", "copy"), category=("constant", "group"), number=("p",))))


def test_free_text_ids_and_renamed_copies(tmp_path):
    rng = np.random.default_rng(5)
    words = ["red", "green", "blue", "tall", "small", "old", "new", "house", "tree"]
    lines = []
    for k in range(1200):
        level = rng.choice(["x", "y", "z"])
        text = " ".join(rng.choice(words, 6))
        lines.append(f"{text},row-{k}-end,{level},{level.upper()},{'u' if level == 'x' else 'v'},{rng.normal()}")
    merged, alone = both(tmp_path, Choices(), "text,id,level,renamed,coarser,number", lines)
    assert "repeats 'level'" in merged.dropped["renamed"]
    assert "ID column" in merged.dropped["id"]
    same(merged, alone)
    text = next(c for c in merged.columns if c.name == "text")
    np.testing.assert_array_equal(text.idf, next(c for c in alone.columns if c.name == "text").idf)


def test_levels_that_agree_in_each_partition_but_not_in_all_are_no_copies(tmp_path):
    lines = [f"{'x' if k < 600 else 'y'}{k % 2},{'ab'[k % 2]},{k}" for k in range(1200)]
    merged, alone = both(tmp_path, Choices(), "one,two,number", lines)
    assert "repeats" not in merged.dropped.get("one", "") + merged.dropped.get("two", "")
    same(merged, alone)


@given(st.lists(arrays.arrays(np.float64, st.integers(0, 9), elements=NUMBERS), min_size=1, max_size=5))
@example([np.array([1e308])])
def test_medians_are_exact(parts):
    rounds = LocalRounds([SourcePart(k, f"{k}", "csv", 0) for k in range(len(parts))])
    for k, values in enumerate(parts):
        rounds.worker.parts[k].table = Frame((Column("x", "number", values),), len(values)) if len(values) else None
    whole = np.concatenate(parts)
    found = medians(rounds, {"x": len(whole)})["x"]
    with np.errstate(over="ignore"):
        assert found == (np.median(whole) if len(whole) else 0.0)


@given(arrays.arrays(np.float64, 20, elements=NUMBERS))
def test_bits_are_ordered_as_numbers_are(values):
    bits = ordered_bits(values)
    np.testing.assert_array_equal(np.argsort(bits, kind="stable"), np.argsort(values + 0.0, kind="stable"))
    assert [from_bits(b) for b in bits.tolist()] == (values + 0.0).tolist()


@pytest.mark.parametrize("choices", [Choices(words="tfidf"), Choices(dates="parts"), Choices(map="poly:2")])
def test_encodings_that_need_all_rows_are_refused(choices):
    with pytest.raises(ParameterError, match="needs all rows in one place"):
        need_mergeable(choices)


def test_an_unknown_column_is_named(tmp_path):
    with pytest.raises(DataError, match="has no column 'grup'; did you mean 'group'"):
        both(tmp_path, Choices(drop=("grup",)))
