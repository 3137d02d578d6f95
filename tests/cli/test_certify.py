"""certify and verify."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest

import commands

CSV = "x,size,label\n1,0.5,no\n2,0.5,no\n3,1.5,no\n3,1.5,yes\n4,1,yes\n5,2,yes\n"


def separatrix(folder, *arguments, stdin=""):
    return commands.separatrix(*arguments, cwd=folder, input=stdin)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(CSV)
    (tmp_path / "t.svm").write_text("+1 1:1 3:2\n-1 2:1\n+1 3:1\n")
    return tmp_path


def test_certify_then_verify(folder):
    done = separatrix(folder, "certify", "t.csv", "--target", "label", "--out", "c.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Separability: quasi-complete (proved)\n  4 of 6 rows")
    assert "separatrix verify c.json t.csv)" in done.stdout
    for more in ([], ["--target", "label"]):
        checked = separatrix(folder, "verify", "c.json", "t.csv", *more)
        assert (checked.returncode, checked.stdout[:7]) == (0, "proved:")
    (folder / "u.csv").write_text(CSV.replace("0.5", "0.25"))
    other = separatrix(folder, "verify", "c.json", "u.csv")
    assert other.returncode == 1
    assert "other data" in other.stdout


def test_svmlight_json_and_expectation(folder):
    done = separatrix(folder, "certify", "t.svm", "--json", "--expect", "complete")
    assert done.returncode == 0
    assert json.loads(done.stdout)["verdict"] == "complete"
    assert separatrix(folder, "verify", "certificate.json", "t.svm").returncode == 0
    assert separatrix(folder, "certify", "t.svm", "--expect", "overlap").returncode == 1


@pytest.mark.parametrize("kind", ["ovr", "pairs", "kesler"])
def test_many_classes(folder, kind):
    (folder / "m.csv").write_text("x,y\n0,a\n1,b\n2,c\n3,c\n1,a\n")
    assert separatrix(folder, "certify", "m.csv", "--target", "y", "--multiclass", kind).returncode == 0
    assert separatrix(folder, "verify", "certificate.json", "m.csv").returncode == 0
    one = separatrix(folder, "certify", "m.csv", "--target", "y", "--positive", "c", "--reading", "decimal")
    assert "complete" in one.stdout
    assert separatrix(folder, "verify", "certificate.json", "m.csv").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["t.csv", "--target", "lable"], "t.csv has no column 'lable'; did you mean 'label'?"),
        (["m.csv"], "y has 3 classes"),
        (["unnamed.csv"], "unnamed.csv needs --target"),
        (["t.csv", "--drop", "label"], "--drop names 'label', which is the target"),
        (["t.csv", "--drop", "sise"], "t.csv has no column 'sise'; did you mean 'size'?"),
        (["t.svm", "--target", "label"], "t.svm has no column names: leave --target out"),
        (["t.svm", "--drop", "1"], "t.svm has no column names: leave --drop out"),
        (["text.tsv"], "column 'note' of text.tsv holds free text: leave it out (--drop)"),
        (["mixed.tsv"], "line 2: 'x' is 'unknown', not a number like those above it: add --na unknown"),
        (["only.tsv", "--drop", "x"], "only.tsv has no column but the target"),
        (["example:curve"], "target 'y' holds numbers"),
        (["example:irsi"], "no example"),
        (["short.csv", "--target", "y"], "short.csv line 2 has 1 cell, and the first line has 2"),
        (["m.csv", "--target", "y"], "y has 3 classes"),
        (["m.csv", "--target", "y", "--positive", "z"], "which is not a class"),
        (["bad.svm"], "bad.svm line 1: the indices of features do not ascend"),
        (["gone.csv", "--target", "y"], "does not exist"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(folder, arguments, says):
    (folder / "short.csv").write_text("x,y\n1\n")
    (folder / "m.csv").write_text("x,y\n1,0\n2,1\n3,2\n")
    (folder / "bad.svm").write_text("1 2:1 1:1\n")
    (folder / "unnamed.csv").write_text("a,b\n1,0\n2,1\n")
    said = "".join(f"{k}\tthe patient said {k} words\t{k % 2}\n" for k in range(30))
    (folder / "text.tsv").write_text(f"x\tnote\ty\n{said}")
    (folder / "mixed.tsv").write_text("x\ty\nunknown\t1\n" + "".join(f"{k}\t{k % 2}\n" for k in range(30)))
    (folder / "only.tsv").write_text("x\ty\n1\t0\n2\t1\n")
    done = separatrix(folder, "certify", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("claim", ["margin", "margin-lifted"])
def test_margins(folder, claim):
    more = ["--exact"] if claim == "margin" else []
    done = separatrix(folder, "certify", "t.svm", "--claim", claim, "--json", *more)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "complete"
    checked = separatrix(folder, "verify", "certificate.json", "t.svm")
    assert (checked.returncode, "margin" in checked.stdout or "half-width" in checked.stdout) == (0, True)
    none = separatrix(folder, "certify", "t.csv", "--target", "label", "--claim", claim, "--expect", "quasi")
    assert none.returncode == 0
    assert "none" in none.stdout
    assert separatrix(folder, "verify", "certificate.json", "t.csv").returncode == 0
    (folder / "m.csv").write_text("x,y\n0,a\n1,b\n2,c\n3,c\n1,a\n")
    one = separatrix(folder, "certify", "m.csv", "--target", "y", "--positive", "c", "--claim", claim, "--no-intercept")
    assert one.returncode == 0
    assert separatrix(folder, "verify", "certificate.json", "m.csv").returncode == 0
    both = separatrix(folder, "certify", "m.csv", "--target", "y", "--multiclass", "ovr", "--claim", claim)
    assert both.returncode == 2
    assert "--positive" in both.stderr


def test_the_fewest_mistakes_are_certified(folder):
    done = separatrix(folder, "certify", "t.csv", "--target", "label", "--claim", "min-errors", "--max-nodes", "50")
    assert done.returncode == 0, done.stderr
    assert "Fewest mistakes: 1 of 6 rows (proved)" in done.stdout
    checked = separatrix(folder, "verify", "certificate.json", "t.csv")
    assert " ".join(checked.stdout.split()).startswith(
        "proved: every hyperplane gets at least 1 of the 6 rows wrong, and one gets 1 wrong (a row on the hyperplane"
    )
    told = separatrix(folder, "certify", "t.svm", "--claim", "min-errors", "--time-limit", "5", "--json")
    assert json.loads(told.stdout)["upper"] == 0
    for more, says in ((["--expect", "overlap"], "--expect"), (["--max-nodes", "-1"], "max-nodes")):
        refused = separatrix(folder, "certify", "t.svm", "--claim", "min-errors", *more)
        assert refused.returncode == 2
        assert says in refused.stderr
        assert "Traceback" not in refused.stderr


def _sources(folder):
    """The table of t.csv in every form that a command takes."""
    import duckdb

    table = f"(SELECT * FROM read_csv('{folder / 't.csv'}', types={{'label': 'VARCHAR'}}))"
    for name, how in (("t.parquet", "parquet"), ("t.jsonl", "json"), ("semi.csv", "csv, delim ';'")):
        duckdb.sql(f"COPY {table} TO '{folder / name}' (FORMAT {how})")
    (folder / "t.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    (folder / "utf16.csv").write_text(CSV, encoding="utf-16")
    return ("t.parquet", "t.jsonl", "semi.csv", "t.csv.gz", "utf16.csv", "SELECT * FROM 't.parquet'", "-")


def test_rows_of_any_source_are_written_for_the_checker(folder):
    for source in _sources(folder):
        done = separatrix(folder, "certify", source, "--out", "c.json", "--json", stdin=CSV)
        assert done.returncode == 0, (source, done.stderr)
        said = json.loads(done.stdout)
        assert (said["verdict"], said["data"]) == ("quasi", "c-rows.csv"), source
        rows = (folder / "c-rows.csv").read_text().splitlines()
        assert rows[:2] == ["x,size,label", '1.0,0.5,"no"']
        checked = separatrix(folder, "verify", "c.json", "c-rows.csv")
        assert " ".join(checked.stdout.split()).startswith(
            "proved: no hyperplane has all of these 2 rows strictly on their correct sides: 2, 3"
        ), source
        (folder / "c-rows.csv").unlink()
    wrong = separatrix(folder, "verify", "c.json", "t.parquet")
    assert wrong.returncode == 2
    assert "name the file of rows that certify wrote beside the certificate" in wrong.stderr


def test_rows_without_names(folder):
    np.savez(folder / "t.npz", X=np.eye(4, dtype=np.float32) / 3, y=[0, 1, 1, 0])
    (folder / "t.svm.gz").write_bytes(gzip.compress((folder / "t.svm").read_bytes()))
    (folder / "t.vw").write_text("1 |a x:1 y:2\n-1 |a z\n1 2.0 |b q\n-1 0 |b q\n")  # the last row weighs nothing
    for source, rows in (("t.npz", "c-rows.csv"), ("t.svm.gz", "c-rows.svm"), ("t.vw", "c-rows.svm")):
        done = separatrix(folder, "certify", source, "--out", "c.json", "--expect", "complete")
        assert done.returncode == 0, (source, done.stderr)
        assert f"separatrix verify c.json {rows})" in done.stdout
        assert separatrix(folder, "verify", "c.json", rows).returncode == 0, source


def test_words_dates_and_missing_values_are_encoded_and_their_rows_are_verified(folder):
    assert separatrix(folder, "examples", "visits", "-o", "visits.csv").returncode == 0
    done = separatrix(folder, "certify", "visits.csv", "--target", "relapse", "--expect", "quasi")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "'ward' as categories (4) · 'smoker' as categories (2) · 3 missing in 'age' imputed, flagged" in said
    assert "separatrix verify certificate.json certificate-rows.csv" in said
    assert separatrix(folder, "verify", "certificate.json", "certificate-rows.csv").returncode == 0
    (folder / "days.csv").write_text("day,place,y\n2020-01-31,1,a\n2020-02-01,2,b\n2020-02-03,3,b\n,1,a\n")
    days = separatrix(folder, "certify", "days.csv", "--target", "y", "--category", "place", "--json")
    assert json.loads(days.stdout)["verdict"] == "complete"
    lines = (folder / "certificate-rows.csv").read_text().splitlines()
    assert lines[:2] == ["day,day=(missing),place=1,y", '18292.0,0.0,1.0,"a"']
    mixed = separatrix(folder, "certify", "days.csv", "--target", "y", "--category", "place", "--memory", "64MB")
    assert (mixed.returncode, "--category holds all rows in memory" in mixed.stderr) == (2, True)


def test_examples_and_columns_left_out(folder):
    done = separatrix(folder, "certify", "example:iris", "--positive", "setosa", "--claim", "margin", "--json")
    assert json.loads(done.stdout)["lower"] == pytest.approx((10427 / 156) ** 0.5 / 10, rel=1e-6)
    assert separatrix(folder, "verify", "certificate.json", "certificate-rows.csv").returncode == 0
    (folder / "town.csv").write_text(CSV.replace("size", "town").replace(",0.5", ",Ulm").replace(",1.5", ",Bonn"))
    left = separatrix(folder, "certify", "town.csv", "--drop", "town", "--expect", "quasi")
    assert left.returncode == 0, left.stderr
    assert left.stdout.startswith("guessed: target = label\n")
    assert separatrix(folder, "verify", "certificate.json", "town.csv").returncode == 0


def test_a_certificate_on_standard_output_replaces_nothing(folder):
    with (folder / "caught").open("w") as caught:
        caught.write("before\n")
        caught.flush()
        code = "import sys; from separatrix.cli.main import main; main(sys.argv[1:])"
        more = ["certify", "t.csv", "--out", "/dev/stdout", "--quiet"]
        subprocess.run([sys.executable, "-c", code, *more], stdout=caught, check=True, cwd=folder)
        caught.write("after\n")
    said = (folder / "caught").read_text()
    assert said.startswith('before\n{\n "format": "separability-certificate/3"')
    assert said.endswith("}\nafter\n")
    refused = separatrix(folder, "certify", "example:xor", "--out", "/dev/stdout")
    assert (refused.returncode, "not a file: the rows are to be written beside it" in refused.stderr) == (2, True)
    (folder / "link.json").symlink_to("real.json")
    assert separatrix(folder, "certify", "t.csv", "--out", "link.json").returncode == 0
    assert (folder / "link.json").is_symlink()
    assert separatrix(folder, "verify", "real.json", "t.csv").returncode == 0
