"""Columns that count the rows are left out by every command, said, and used where they are asked for or alone."""

from __future__ import annotations

import json

import numpy as np
import pytest

import separatrix
from separatrix import checker
from separatrix.cli.main import main

N = 300


def table_of(seed=0):
    """A counter in file order of rows sorted by class, a shuffled one from 0, and a column that says something."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=N)
    y = np.sort(rng.integers(0, 2, N))
    return {"row_id": np.arange(1, N + 1), "shuffled": rng.permutation(N), "x": x.round(4), "y": y}


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger"


@pytest.fixture
def file(tmp_path):
    columns = table_of()
    path = tmp_path / "t.csv"
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


def dropped(audit):
    return [note for note in audit.facts.table.notes if "dropped" in note]


def test_an_audit_leaves_counters_out_and_says_so(ledger):
    found = separatrix.audit(table_of(), "y", ledger=ledger, budget=5)
    assert found.facts.table.features == 1
    assert dropped(found) == [
        "'row_id' dropped: it counts the rows from 1 to 300 (--keep row_id uses it)",
        "'shuffled' dropped: it counts the rows from 0 to 299 (--keep shuffled uses it)",
    ]
    assert found.facts.separation.verdict == "overlap"  # with row_id a threshold separates the classes
    assert found.facts.prediction.estimate.value < 0.7


def test_a_counter_that_is_asked_for_is_used(ledger):
    found = separatrix.audit(table_of(), "y", keep=("row_id",), ledger=ledger, budget=5)
    assert found.facts.separation.verdict == "complete"
    assert found.facts.table.features == 2


def test_the_only_column_is_used_though_it_counts(ledger):
    """Days 1 to 300 of a trend."""
    day = np.arange(1, N + 1)
    found = separatrix.audit({"day": day, "y": 3.0 + 0.1 * day + np.sin(day)}, "y", ledger=ledger, budget=5)
    assert found.facts.table.features == 1
    assert dropped(found) == []


def test_arrays_and_formulas_keep_every_column(ledger):
    columns = table_of()
    X = np.column_stack([columns["row_id"], columns["x"]])
    assert separatrix.audit(X, columns["y"], ledger=ledger, budget=5).facts.separation.verdict == "complete"
    pd = pytest.importorskip("pandas")
    found = separatrix.audit(pd.DataFrame(columns), formula="y ~ row_id + x", ledger=ledger, budget=5)
    assert found.facts.separation.verdict == "complete"


def test_years_and_repeated_numbers_are_no_counters(ledger):
    rng = np.random.default_rng(0)
    table = {"year": np.arange(1990, 2030), "week": np.arange(40) % 20 + 1, "y": rng.integers(0, 2, 40)}
    assert separatrix.audit(table, "y", ledger=ledger, budget=5).facts.table.features == 2


@pytest.mark.parametrize("memory", [[], ["--memory", "50MB"]], ids=["in memory", "on disk"])
@pytest.mark.parametrize("keep", [[], ["--keep", "row_id"]], ids=["left out", "kept"])
def test_every_command_leaves_the_same_counters_out(file, tmp_path, capsys, monkeypatch, memory, keep):
    monkeypatch.setenv("SEPARATRIX_LEDGER", str(tmp_path / "ledger"))
    wanted = ["row_id", "x"] if keep else ["x"]
    main(["fit", str(file), "-q", "-o", str(tmp_path / "m.sepx"), *memory, *keep])
    assert separatrix.load(tmp_path / "m.sepx").encoder.inputs == wanted
    main(["certify", str(file), "-o", str(tmp_path / "c.json"), *memory, *keep])
    assert json.loads((tmp_path / "c.json").read_text())["data"]["columns"] == wanted
    assert "'shuffled' dropped: it counts the rows from 0 to 299" in " ".join(capsys.readouterr().out.split())
    assert checker.main([str(tmp_path / "c.json"), str(file)]) == 0
    main(["compare", str(file), *keep])
    said = " ".join(capsys.readouterr().out.split())
    assert "'shuffled' dropped: it counts the rows from 0 to 299" in said
    assert ("'row_id' dropped" in said) == (not keep)
