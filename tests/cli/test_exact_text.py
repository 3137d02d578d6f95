"""Cells of which a double holds the first digits only: refused as decimals, said where two of them become one."""

from __future__ import annotations

import pytest

from separatrix.cli.main import main

STAMPS = "a,label\n1704067200000000001,x\n1704067200000000002,y\n1704067200000000001,x\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_decimals_that_a_double_does_not_hold_are_refused(folder, capsys):
    (folder / "t.csv").write_text(STAMPS)
    with pytest.raises(SystemExit) as ended:
        main(["certify", "t.csv", "--reading", "decimal"])
    printed = capsys.readouterr()
    assert ended.value.code == 2
    assert "column 'a' of row 0 (counted from 0) is 1704067200000000001" in " ".join(printed.err.split())
    assert "proved" not in printed.out
    assert not (folder / "certificate.json").exists()


@pytest.mark.filterwarnings("always")
def test_different_cells_that_become_one_double_are_named(folder, capsys):
    (folder / "t.csv").write_text(STAMPS)
    main(["certify", "t.csv"])
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "row 0 (counted from 0) is 1704067200000000001, column 'a' of row 1 (counted from 0) is 1704067200000000002"
        in said
    )


@pytest.mark.parametrize("reading", ["binary64", "decimal"])
@pytest.mark.parametrize("name", ["t.csv", "t.svm"])
def test_ordinary_numbers_are_proved_without_a_word(folder, capsys, reading, name):
    rows = [("x", "0.1"), ("y", "5.25"), ("x", "-3e2"), ("y", "12")]
    text = "a,label\n" + "".join(f"{cell},{label}\n" for label, cell in rows)
    if name == "t.svm":
        text = "".join(f"{'+1' if label == 'x' else '-1'} 1:{cell}\n" for label, cell in rows)
    (folder / name).write_text(text)
    main(["certify", name, "--reading", reading])
    printed = capsys.readouterr()
    assert "proved" in printed.out
    assert "warning" not in printed.err
