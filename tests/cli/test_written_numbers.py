"""Tables as people write them, through every command: recognised, said, remembered, and never silently wrong."""

from __future__ import annotations

import csv
import io
import json

import duckdb
import numpy as np
import pytest

from commands import separatrix
from separatrix.persistence import load

ROWS = 60
X = [(37 * i % 60 - 30) / 4 for i in range(ROWS)]
Y = ["yes" if x + i % 5 > 1 else "no" for i, x in enumerate(X)]
MONEY = [f"{1000 * x + 9000:,.2f}" for x in X]


def table(columns, delimiter=","):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def fit(folder, text, *words, name="t.csv", code=0, encoding="utf-8"):
    (folder / name).write_bytes(text.encode(encoding))
    done = separatrix("fit", name, "-t", "y", "-o", "m.sepx", "--json", *words, cwd=folder)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if code == 0 else done.stderr


def kinds(folder, name="t.csv", *words):
    done = separatrix("describe", name, "--json", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    return {column["name"]: column["kind"] for column in report["columns"]}, report


def guessed(report):
    return " · ".join(report["guesses"])


@pytest.mark.parametrize(
    ("cells", "says", "value"),
    [
        (MONEY, "thousands commas", 1500.0),
        ([f"${cell}" for cell in MONEY], "$ left out, thousands commas", 1500.0),
        ([f"{x:.2f}".replace(".", ",") for x in X], "decimal comma", -7.5),
        ([f"{1000 * x:,.1f}".translate(str.maketrans(",.", ".,")) + " €" for x in X], "€ left out, thousands points, "
         "decimal comma", -7500.0),
        ([f"{x + 50:.1f}%" for x in X], "% left out", 42.5),
        ([f"{1000 * x + 9000:,.0f}".replace(",", "\u202f") for x in X], "thousands spaces", 1500.0),
    ],
    ids=["thousands", "dollars", "comma", "euros", "percent", "spaces"],
)  # fmt: skip
def test_numbers_are_recognised_said_and_remembered(tmp_path, cells, says, value):
    report = fit(tmp_path, table({"v": cells, "y": Y}))
    assert f"'v' as numbers ({says}" in guessed(report)
    (least,) = (column["least"] for column in kinds(tmp_path)[1]["columns"] if column["name"] == "v")
    assert least == value
    (column,) = load(tmp_path / "m.sepx").encoder.columns
    assert column.writing is not None
    predicted = separatrix("predict", "m.sepx", "t.csv", "--only", "--format", "jsonl", cwd=tmp_path)
    scores = [json.loads(line)["score"] for line in predicted.stdout.splitlines()]
    (tmp_path / "one.csv").write_text(table({"v": cells[:1]}))  # one row alone is read like the table
    alone = separatrix("predict", "m.sepx", "one.csv", "--only", "--format", "jsonl", cwd=tmp_path)
    assert json.loads(alone.stdout)["score"] == scores[0]
    assert "accuracy" in separatrix("evaluate", "m.sepx", "t.csv", cwd=tmp_path).stdout


def test_a_new_file_is_read_as_the_training_table_was(tmp_path):
    """1.234 in a file of its own would be a plain number; the model knows that the point separates thousands."""
    cells = [f"{1000 * x + 9000:,.1f}".translate(str.maketrans(",.", ".,")) for x in X]
    fit(tmp_path, table({"v": cells, "y": Y}, ";"))
    (tmp_path / "new.csv").write_text("v;z\n1.234;1\n")
    (tmp_path / "same.csv").write_text("v;z\n1234,0;1\n")
    new, same = (separatrix("predict", "m.sepx", f, "--only", cwd=tmp_path).stdout for f in ("new.csv", "same.csv"))
    assert new == same != ""
    (tmp_path / "other.csv").write_text("v,z\n1.5,1\n")
    refused = separatrix("predict", "m.sepx", "other.csv", cwd=tmp_path)
    assert refused.returncode == 2
    assert "other.csv line 2: 'v' is '1.5', not a number as the model reads them" in refused.stderr
    assert separatrix("predict", "m.sepx", "other.csv", "--decimal", ".", cwd=tmp_path).returncode == 0


def test_decimal_commas_of_a_whole_file_are_remembered(tmp_path):
    fit(tmp_path, table({"v": [f"{x:.3f}".replace(".", ",") for x in X], "y": Y}, ";"))
    (tmp_path / "new.tsv").write_text("v\tz\n1,234\tq\n")
    (tmp_path / "same.csv").write_text("v;z\n1,2340;q\n")
    new, same = (separatrix("predict", "m.sepx", f, "--only", cwd=tmp_path).stdout for f in ("new.tsv", "same.csv"))
    assert new == same != ""


@pytest.mark.parametrize(
    ("other", "words", "least"),
    [
        ({}, (), 1100),  # nothing decides: the comma separates thousands
        ({"w": ["1,5", "2,5"] * 30}, (), 1.1),  # another column has decimal commas
        ({"w": ["1.5", "2.5"] * 30}, (), 1100),
        ({}, ("--decimal", ","), 1.1),
        ({"w": ["1,5", "2,5"] * 30}, ("--decimal", "."), 1100),
    ],
    ids=["alone", "commas", "points", "told comma", "told point"],
)
def test_three_digits_behind_the_only_mark(tmp_path, other, words, least):
    cells = [f"{1 + i % 7},{100 + i}" for i in range(ROWS)]
    (tmp_path / "t.csv").write_text(table({"v": cells, **other, "y": Y}))
    _, report = kinds(tmp_path, "t.csv", *words)
    assert report["columns"][0]["least"] == least
    assert ("--decimal" in guessed(report)) == (not words)
    fit(tmp_path, table({"v": cells, **other, "y": Y}), *words)
    column = load(tmp_path / "m.sepx").encoder.columns[0]
    assert column.writing.decimal == ("," if least == 1.1 else ".")


def test_a_semicolon_file_has_decimal_commas_and_a_clear_column_overrules(tmp_path):
    cells = [f"{1 + i % 7},{100 + i}" for i in range(ROWS)]
    (tmp_path / "t.csv").write_text(table({"v": cells, "y": Y}, ";"))
    assert kinds(tmp_path)[1]["columns"][0]["least"] == 1.1
    (tmp_path / "t.csv").write_text(table({"v": cells, "w": [f"{c}.5" for c in cells], "y": Y}, ";"))
    assert kinds(tmp_path)[1]["columns"][0]["least"] == 1100


def test_points_and_commas_in_one_column_are_an_error(tmp_path):
    cells = [f"{x:.1f}".replace(".", ",.,"[i % 3]) for i, x in enumerate(X)]
    said = fit(tmp_path, table({"v": cells, "y": Y}), code=2)
    assert "'v' in t.csv looks like numbers, but" in said
    assert "disagree" in said
    for words in (("--category", "v"), ("--drop", "v")):
        fit(tmp_path, table({"v": cells, "w": X, "y": Y}), *words)
    said = fit(tmp_path, table({"v": cells, "y": Y}), "--number", "v", code=2)
    assert "is not a number throughout" in said


def test_units_do_not_mix(tmp_path):
    cells = [f"{x} {'€$'[i % 2]}" for i, x in enumerate(X)]
    assert "disagree" in fit(tmp_path, table({"v": cells, "y": Y}), code=2)
    fit(tmp_path, table({"v": [f"{x} €" for x in X], "y": Y}))
    (tmp_path / "new.csv").write_text("v,z\n5 $,1\n")
    assert "'v' is '5 $', not a number as the model reads them (€ left out)" in separatrix(
        "predict", "m.sepx", "new.csv", cwd=tmp_path
    ).stderr  # fmt: skip


def test_missing_by_many_words(tmp_path):
    words = ["N/A", "n/a", "null", "NaN", "-", "?", "NA", ""]
    numbers = [words[i // 5] if i % 5 == 0 and i < 40 else f"{x}" for i, x in enumerate(X)]
    days = ["?" if i % 9 == 0 else f"2020-01-{i % 28 + 1:02}" for i in range(ROWS)]
    levels = ["+-"[i % 2] if i % 7 else "null" for i in range(ROWS)]
    (tmp_path / "t.csv").write_text(table({"v": numbers, "day": days, "sign": levels, "y": Y}))
    found, report = kinds(tmp_path)
    assert found == {"v": "number", "day": "date", "sign": "text", "y": "text"}
    missing = {column["name"]: column["missing"] for column in report["columns"]}
    assert missing == {"v": 8, "day": 7, "sign": 9, "y": 0}
    assert "'-', '?', 'NA' is missing" in guessed(report)
    fit(tmp_path, table({"v": numbers, "day": days, "sign": levels, "y": Y}))
    (tmp_path / "new.csv").write_text("v,day,sign\n-,?,-\n,,-\n")
    done = separatrix("predict", "m.sepx", "new.csv", "--only", cwd=tmp_path)
    first, second = done.stdout.splitlines()[1:]
    assert first == second


def test_marks_for_missing_in_a_column_that_had_none_in_training(tmp_path):
    days = [f"2020-01-{i % 28 + 1:02}" for i in range(ROWS)]
    fit(tmp_path, table({"v": X, "day": days, "y": Y}))
    (tmp_path / "new.csv").write_text("v,day\n-,?\n1,2020-01-05\n")
    done = separatrix("predict", "m.sepx", "new.csv", "--only", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3


def test_words_for_missing_values_are_remembered(tmp_path):
    cells = ["none" if i % 9 == 0 else x for i, x in enumerate(X)]
    fit(tmp_path, table({"v": cells, "y": Y}), "--na", "none")
    (tmp_path / "new.csv").write_text("v,z\nnone,1\n,2\n")
    first, second = separatrix("predict", "m.sepx", "new.csv", "--only", cwd=tmp_path).stdout.splitlines()[1:]
    assert first == second


def test_number_on_text_says_what_was_not_a_number(tmp_path):
    cells = ["28,326.50" if i % 4 else "about ten" for i in range(ROWS)]
    said = fit(tmp_path, table({"v": cells, "w": X, "y": Y}), "--number", "v", code=2)
    assert "'v' in t.csv is not a number in 60 of 60 rows: 'about ten' (row 0)" in said or "'about ten' (row 0)" in said
    assert "--na '28,326.50'" not in said
    assert "--na 'about ten' calls such a cell missing" in said


def test_number_on_words_advises_levels(tmp_path):
    cells = ["yes" if i % 3 else "no" for i in range(ROWS)]
    said = fit(tmp_path, table({"v": cells, "w": X, "y": Y}), "--number", "v", code=2)
    assert "'no' (row 0)" in said
    assert "--category v takes them as levels" in said
    assert "--na" not in said


def test_a_target_with_currency_signs(tmp_path):
    report = fit(tmp_path, table({"v": X, "y": [f"${1000 * x + 9000:,.2f}" for x in X]}))
    assert report["learner"].startswith("LeastSquares")
    done = separatrix("evaluate", "m.sepx", "t.csv", cwd=tmp_path)
    assert "rmse" in done.stdout, done.stderr


def test_certify_writes_the_rows_that_the_checker_cannot_read(tmp_path):
    (tmp_path / "t.csv").write_text(table({"v": MONEY, "y": Y}))
    done = separatrix("certify", "t.csv", "-t", "y", "-o", "c.json", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["data"] == "c-rows.csv"
    rows = list(csv.DictReader((tmp_path / "c-rows.csv").read_text().splitlines()))
    assert [float(row["v"]) for row in rows] == [float(cell.replace(",", "")) for cell in MONEY]
    assert separatrix("verify", "c.json", "c-rows.csv", cwd=tmp_path).returncode == 0
    assert separatrix("verify", "c.json", "t.csv", cwd=tmp_path).returncode == 2
    (tmp_path / "p.csv").write_text(table({"v": X, "y": Y}))
    done = separatrix("certify", "p.csv", "-t", "y", "-o", "c.json", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["data"] == "p.csv"


def test_certify_and_fit_treat_labels_and_names_alike(tmp_path):
    labels = ["N/A" if i == 3 else y for i, y in enumerate(Y)]
    (tmp_path / "t.csv").write_text(table({"v": X, "y": labels}))
    for command in ("fit", "certify"):
        done = separatrix(command, "t.csv", "-t", "y", cwd=tmp_path)
        assert done.returncode == 2
        assert "missing in 1 row (first: row 3, counted from 0): --skip-missing-target" in done.stderr
        done = separatrix(command, "t.csv", "-t", "y", "--skip-missing-target", cwd=tmp_path)
        assert "1 row without a value of 'y' left out" in " ".join(done.stdout.split()), done.stderr
    done = separatrix("certify", "t.csv", "-t", "y", "--skip-missing-target", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["data"] == "certificate-rows.csv"
    text = "v,v,y\n" + "".join(f"{x},{2 * x},{y}\n" for x, y in zip(X, Y, strict=True))
    (tmp_path / "t.csv").write_text(text)
    for command in ("fit", "certify"):
        said = " ".join(separatrix(command, "t.csv", "-t", "y", cwd=tmp_path).stdout.split())
        assert "another column named 'v' got a number behind its name" in said
    assert (tmp_path / "certificate-rows.csv").read_text().startswith("v,v_1,y\n")
    (tmp_path / "t.csv").write_text(text.replace("v,v,y", "v,y,y"))
    for command in ("fit", "certify"):
        done = separatrix(command, "t.csv", "-t", "y", cwd=tmp_path)
        assert done.returncode == 2
        assert "several columns named 'y'" in done.stderr


def test_targets_that_are_missing_everywhere(tmp_path):
    (tmp_path / "t.csv").write_text(table({"v": X, "y": ["N/A"] * ROWS}))
    for command in ("fit", "certify", "audit"):
        done = separatrix(command, "t.csv", "-t", "y", "--skip-missing-target", cwd=tmp_path)
        assert done.returncode == 2
        assert "missing in every row" in done.stderr


def test_skipped_targets_in_evaluate_and_audit(tmp_path):
    fit(tmp_path, table({"v": X, "y": Y}))
    (tmp_path / "t.csv").write_text(table({"v": X, "y": ["" if i < 20 else y for i, y in enumerate(Y)]}))
    assert separatrix("evaluate", "m.sepx", "t.csv", cwd=tmp_path).returncode == 2
    done = separatrix("evaluate", "m.sepx", "t.csv", "--skip-missing-target", cwd=tmp_path)
    assert "40 rows" in done.stdout
    done = separatrix("audit", "t.csv", "-t", "y", "--skip-missing-target", "--budget", "2", cwd=tmp_path)
    assert "40 rows" in done.stdout, done.stderr


@pytest.mark.parametrize("form", ["parquet", "json"])
def test_typed_tables_follow_the_same_rules(tmp_path, form):
    days = ["?" if i % 9 == 0 else f"{i % 28 + 1}.1.2020" for i in range(ROWS)]
    text = table({"v": MONEY, "day": days, "code": [f"0{100 + i % 30}" for i in range(ROWS)], "y": Y})
    (tmp_path / "t.csv").write_text(text)
    read = f"read_csv('{tmp_path / 't.csv'}', all_varchar=true)"
    duckdb.sql(f"COPY (SELECT * FROM {read}) TO '{tmp_path / f't.{form}'}' (FORMAT {form})")
    found, report = kinds(tmp_path, f"t.{form}")
    assert found == {"v": "integer", "day": "date", "code": "text", "y": "text"}
    plain, same = kinds(tmp_path)
    assert (plain["v"], plain["day"]) == ("integer", "date")
    assert report["columns"][:2] == same["columns"][:2]


@pytest.mark.parametrize(("encoding", "letter"), [("latin-1", "ö"), ("cp1252", "“"), ("utf-16", "ö"), ("utf-8", "ö")])
def test_encodings_are_detected_and_said(tmp_path, encoding, letter):
    towns = [f"K{letter}ln" if i % 3 else "Ulm" for i in range(ROWS)]
    report = fit(tmp_path, table({"v": X, "town": towns, "y": Y}), encoding=encoding)
    assert (f"encoding = {encoding}" in guessed(report)) == (encoding in ("latin-1", "cp1252"))
    model = load(tmp_path / "m.sepx")
    assert f"K{letter}ln" in (model.encoder.columns[1].baseline, *model.encoder.columns[1].levels)
    report = fit(tmp_path, table({"v": X, "town": towns, "y": Y}), "--encoding", encoding, encoding=encoding)
    assert "encoding" not in guessed(report)


def test_bytes_beyond_the_first_megabyte_are_looked_at(tmp_path):
    text = "v,town,y\n" + "".join(f"{i},Ulm,{i % 2}\n" for i in range(120_000)) + "1,K\xf6ln,1\n"
    (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
    assert "encoding = latin-1" in guessed(kinds(tmp_path)[1])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--encoding", "klingon"), "--encoding is 'klingon', which is not known"),
        (("--encoding", "base64"), "--encoding is 'base64', which is not known"),
        (("--encoding", "utf-8\0"), "--encoding is 'utf-8"),
        (("--encoding", "ascii"), "t.csv is not in ascii (from line 1 on"),
        (("--sep", "::"), "--sep is '::': it must be one character"),
        (("--sep", ""), "--sep is ''"),
        (("--sep", '"'), "--sep is"),
        (("--sep", "x"), "--sep is 'x'"),
        (("--sep", ";"), "has no column 'y'"),
        (("--decimal", "p"), "'p' is not one of"),
    ],
)
def test_wrong_options_are_one_sentence(tmp_path, words, says):
    (tmp_path / "t.csv").write_text(table({"v": X, "town": ["Köln", "Ulm"] * 30, "y": Y}))
    done = separatrix("fit", "t.csv", "-t", "y", *words, cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert says in line


def test_a_separator_that_is_named(tmp_path):
    text = table({"v": X, "y": Y})
    for sep, mark in (("|", "|"), ("tab", "\t"), ("~", "~")):
        assert fit(tmp_path, text.replace(",", mark), "--sep", sep)["columns"] == 2


@pytest.mark.parametrize("where", [2, 40, 59])
@pytest.mark.parametrize("extra", [",7", ",7,8,9"])
def test_a_line_with_too_many_cells_is_named(tmp_path, where, extra):
    lines = table({"v": X, "w": X, "y": Y}).splitlines()
    lines[where] += extra
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    done = separatrix("fit", "t.csv", "-t", "y", cwd=tmp_path)
    assert done.returncode == 2
    assert f"t.csv line {where + 1} has {3 + extra.count(',')} cells, and the first line has 3" in done.stderr


def test_describe_shows_dates_and_what_is_cut(tmp_path):
    days = [f"2020-01-{i % 28 + 1:02}" for i in range(ROWS)]
    long = [f"{'word ' * 20}{i}" for i in range(ROWS)]
    (tmp_path / "t.csv").write_text(table({"day": days, "long": long, "y": [f"c{i % 12}" for i in range(ROWS)]}))
    said = separatrix("describe", "t.csv", cwd=tmp_path).stdout
    assert "date     2020-01-01 … 2020-01-28, 28 different" in said
    assert "word…'" in said
    separatrix("fit", "t.csv", "-t", "y", "-o", "m.sepx", "--drop", "long", cwd=tmp_path)
    assert ", … (12 classes)" in separatrix("describe", "m.sepx", cwd=tmp_path).stdout


def test_plain_tables_make_the_models_that_they_made(tmp_path):
    """Nothing is kept about plain numbers: the file is as it was."""
    fit(tmp_path, table({"v": X, "y": Y}))
    model = load(tmp_path / "m.sepx")
    assert [column.writing for column in model.encoder.columns] == [None]
    assert set(model.about) == {"source", "rows", "fingerprint"}
    assert np.isfinite(model.learner.coef_).all()


@pytest.mark.parametrize("rows", [3, 5])
def test_a_long_line_of_a_table_of_few_rows_is_named(tmp_path, rows):
    lines = ["a,b,y", *(f"{i},{i % 7},{i % 2}" for i in range(rows))]
    lines[-1] += ",5,9"
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    for words in (("describe", "t.csv"), ("fit", "t.csv", "-t", "y")):
        done = separatrix(*words, cwd=tmp_path)
        assert done.returncode == 2
        assert f"t.csv line {rows + 1} has 5 cells, and the first line has 3" in done.stderr
