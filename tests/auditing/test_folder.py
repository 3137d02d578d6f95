"""What an audit writes: atomic, the same for the same seed, readable by the other commands."""

from __future__ import annotations

import json

import pytest

import separatrix
from separatrix.auditing.audit import write_folder
from separatrix.errors import DataError

MEASURED = ("seconds", "run", "linear_seconds", "algorithm")


def without_times(value):
    """audit.json without what depends on when and where it ran."""
    if isinstance(value, dict):
        return {
            key: without_times(own)
            for key, own in value.items()
            if key not in ("seconds", "run", "linear_seconds", "algorithm")
        }
    return [without_times(own) for own in value] if isinstance(value, list) else value


def test_the_folder_holds_report_answers_certificate_data_and_model(audited, tmp_path):
    out = audited("example:spam").save(tmp_path / "audit")
    names = {path.name for path in out.iterdir()}
    assert names == {"report.html", "audit.json", "certificate.json", "certified.csv", "model.sepx"}
    assert json.loads((out / "audit.json").read_text())["format"] == "separatrix-audit/2"
    loaded = separatrix.load(out / "model.sepx")
    assert loaded.target == "kind"
    assert set(loaded.classes) == {"ham", "spam"}


def test_the_same_seed_gives_the_same_audit(tmp_path):
    first = separatrix.audit("example:spam", ledger=tmp_path / "first")  # no other test has opened the test rows
    again = separatrix.audit("example:spam", ledger=tmp_path / "again")
    assert without_times(again.to_dict()) == without_times(first.to_dict())
    other = separatrix.audit("example:spam", ledger=tmp_path / "other", random_state=1)
    assert without_times(other.to_dict()) != without_times(again.to_dict())


def test_an_old_audit_is_replaced_and_nothing_else_is(audited, tmp_path):
    out = tmp_path / "audit"
    found = audited("example:xor")
    found.save(out)
    found.save(out)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match=r"holds 'notes.txt', which is not part of an audit"):
        found.save(out)
    strange = tmp_path / "thesis"
    strange.mkdir()
    (strange / "chapter.tex").write_text("mine")
    with pytest.raises(DataError, match="exists and was not written by separatrix audit"):
        found.save(strange)
    with pytest.raises(DataError, match="does not exist"):
        found.save(tmp_path / "no" / "where")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="is not a folder"):
        found.save(tmp_path / "file")
    assert (strange / "chapter.tex").read_text() == "mine"


@pytest.mark.parametrize("moment", range(3))
@pytest.mark.parametrize("there_before", [False, True])
def test_an_interruption_leaves_the_old_folder_or_none(audited, tmp_path, moment, there_before):
    out = tmp_path / "audit"
    if there_before:
        audited("example:xor").save(out)
        before = (out / "audit.json").read_bytes()

    def write(folder):
        for k in range(3):
            if k == moment:
                raise KeyboardInterrupt
            (folder / f"part{k}").write_text("half")

    with pytest.raises(KeyboardInterrupt):
        write_folder(out, write)
    assert [path.name for path in tmp_path.iterdir()] == (["audit"] if there_before else [])
    if there_before:
        assert (out / "audit.json").read_bytes() == before


def test_frames_dicts_and_arrays_give_the_audit_of_the_file(ledger):
    import pandas as pd
    import polars as pl

    from separatrix.data.examples import load_example

    example = load_example("quasi")
    columns = {name: example.X[:, j] for j, name in enumerate(example.names)}
    given = [
        separatrix.audit({**columns, "label": example.y}, "label", ledger=ledger),
        separatrix.audit(pd.DataFrame({**columns, "label": example.y}), ledger=ledger),
        separatrix.audit(pl.DataFrame({**columns, "label": example.y}), "label", ledger=ledger),
        separatrix.audit(example.X, example.y, ledger=ledger),
    ]
    answers = [[answer.answer for key, answer in own.answers.items() if key != "algorithm"] for own in given]
    assert answers.count(answers[0]) == len(answers)
    assert given[0].facts.separation.verdict == "quasi"
    assert given[0].facts.separation.witness == given[3].facts.separation.witness
