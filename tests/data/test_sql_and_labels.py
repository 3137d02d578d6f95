"""SQL over delimited files reads them as they are read without SQL; labels have one spelling."""

from __future__ import annotations

import json

import pytest
from tests.commands import separatrix

from separatrix.data.sources import open_source
from separatrix.errors import DataError

ROWS = "".join(f"{k % 9},{'yes' if k % 9 > 4 else 'no'}\n" for k in range(60))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(f"x,ok\n{ROWS}")
    return tmp_path


def test_yes_and_no_stay_words_in_sql(folder):
    for words in (("fit", "t.csv"), ("fit", "SELECT * FROM 't.csv' WHERE x >= 0"), ("fit", 'FROM "t.csv"')):
        report = json.loads(separatrix(*words, "-t", "ok", "-o", "m.sepx", "--json", cwd=folder).stdout)
        assert report["classes"] == ["no", "yes"], words
        judged = separatrix("evaluate", "m.sepx", "t.csv", "--json", cwd=folder)
        assert json.loads(judged.stdout)["metrics"]["accuracy"]["value"] > 0.9, judged.stderr


def test_decimal_commas_encodings_and_missing_words_are_read_in_sql_too(folder):
    text = "ort;größe\nUlm;1,5\nKöln;2,5\nBonn;N/A\n"
    (folder / "de.csv").write_bytes(text.encode("latin-1"))
    plain = open_source(str(folder / "de.csv")).read()
    asked = open_source(f"SELECT * FROM '{folder}/de.csv'").read()
    for column in plain.columns:
        twin = asked[column.name]
        assert twin.kind == column.kind
        assert [str(v) for v in twin.values] == [str(v) for v in column.values]


def test_a_cell_that_breaks_the_plan_far_below_is_refused_in_sql_too(folder):
    lines = [*(f"{k},a" for k in range(200_000)), "unknown,b"]
    (folder / "long.csv").write_text("x,y\n" + "\n".join(lines) + "\n")
    for source in (f"{folder}/long.csv", f"SELECT * FROM '{folder}/long.csv'"):
        with pytest.raises(DataError, match="unknown"):
            open_source(source).read()


def test_labels_that_are_all_unknown_are_refused(folder):
    assert separatrix("fit", "t.csv", "-t", "ok", "-o", "m.sepx", cwd=folder).returncode == 0
    (folder / "other.csv").write_text("x,ok\n1,JA\n2,NEIN\n")
    done = separatrix("evaluate", "m.sepx", "other.csv", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no row has a class of the model ('no', 'yes'): the labels are 'JA', 'NEIN'" in done.stderr


def test_a_folder_named_tilde_is_not_the_home_folder(folder):
    (folder / "~").mkdir()
    (folder / "~" / "t.csv").write_text(f'x,ok\n"1",yes\n{ROWS}')
    for source in ("~/t.csv", "SELECT * FROM '~/t.csv'", "~/*.csv"):
        done = separatrix("fit", source, "-t", "ok", "-o", "m.sepx", "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["rows"] == 61
