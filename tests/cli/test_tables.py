"""fit, predict, describe and examples, in this process, and in one of its own where that matters."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from commands import CODE, refused, separatrix

ROWS = "x,ward,ok\n" + "".join(f"{2 * i},{'AB'[i % 2]},{'yes' if i > 20 else 'no'}\n" for i in range(50))


@pytest.fixture
def table(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    return tmp_path / "rows.csv"


def test_fit_predict_and_describe_a_table(table, tmp_path):
    model = tmp_path / "m.sepx"
    done = separatrix("fit", table, "--target", "ok", "-l", "perceptron", "--max-iter", "2000", "-o", model)
    assert done.returncode == 0, done.stderr
    assert "rows.csv   50 rows · 3 columns → 2 features · ok: no 21, yes 29" in done.stdout
    assert "guessed: positive = yes · 'ward' as categories (2)" in done.stdout
    assert "suspected leak: 'x'" in done.stdout
    assert "perceptron --max-iter 2000" in done.stdout
    predicted = separatrix("predict", model, table)
    rows = list(csv.DictReader(io.StringIO(predicted.stdout)))
    assert [row["x"] for row in rows] == [str(2 * i) for i in range(50)]
    assert all(row["prediction"] == row["ok"] for row in rows)
    assert all((float(row["score"]) > 0) == (row["ok"] == "yes") for row in rows)
    described = separatrix("describe", model)
    assert "target   ok: no, yes (positive: yes)" in described.stdout
    assert "ward=B" in described.stdout
    assert separatrix("describe", table).stdout.startswith("rows.csv   50 rows · 3 columns")


def test_json_and_pipes(table, tmp_path):
    model = tmp_path / "m.sepx"
    done = separatrix("fit", "-", "-t", "ok", "--json", "-o", model, input=ROWS)
    report = json.loads(done.stdout)
    assert (report["rows"], report["target"], report["positive"]) == (50, "ok", "yes")
    assert report["leaks"][0]["column"] == "x"
    lines = separatrix("predict", model, "-", "--format", "jsonl", input=ROWS).stdout.splitlines()
    assert len(lines) == 50
    assert json.loads(lines[7])["x"] == 14
    only = separatrix("predict", model, "-", "--only", input=ROWS).stdout.splitlines()
    assert only[0].startswith("prediction,score")
    assert json.loads(separatrix("describe", model, "--json").stdout)["kind"] == "model"
    assert json.loads(separatrix("describe", table, "--json").stdout)["rows"] == 50
    assert json.loads(separatrix("examples", "--json").stdout)[0]["name"] == "visits"
    assert separatrix("fit", table, "-t", "ok", "-q", "-o", model).stdout == ""


def test_parquet_out_keeps_rows_and_types(table, tmp_path):
    import duckdb

    model, out = tmp_path / "m.sepx", tmp_path / "out.parquet"
    separatrix("fit", table, "-t", "ok", "-o", model)
    assert separatrix("predict", model, table, "-o", out).returncode == 0
    rows = duckdb.sql(f"SELECT x, ward, ok, prediction, score FROM '{out}'").fetchall()
    assert [row[0] for row in rows] == list(range(0, 100, 2))
    assert isinstance(rows[0][4], float)


def sparse_rows(path, n, seed=0):
    """svmlight lines of 14 of 123 columns, half of them of each class; the first 40 columns separate the classes."""
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n):
        own = rng.choice(40, 5, replace=False) // 2 * 2 + i % 2
        columns = sorted({*own.tolist(), *rng.choice(np.arange(40, 122), 8, replace=False).tolist(), 122})
        lines.append(f"{1 if i % 2 else -1} " + " ".join(f"{j + 1}:1" for j in columns))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_an_example_is_written_as_the_table_that_its_name_reads(tmp_path):
    done = separatrix("examples", "visits", "-o", "visits.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "visits.csv   712 rows, 9 columns\n")
    text = (tmp_path / "visits.csv").read_text()
    assert separatrix("examples", "visits").stdout == text
    assert text.splitlines()[0] == "age,ward,year,smoker,dose,pressure,haemoglobin,marker,relapse"
    assert (text.count(",yes\n"), text.count(",no\n"), text.count("\n,")) == (288, 424, 3)
    reports = []
    for source in ("visits.csv", "example:visits"):
        report = json.loads(separatrix("fit", source, "-t", "relapse", "-o", "m.sepx", "--json", cwd=tmp_path).stdout)
        reports.append({key: report[key] for key in ("rows", "features", "classes", "guesses")})
    assert reports[0] == reports[1]
    assert reports[0]["features"] == 11
    only = separatrix("examples", "visits", "-o", "v.csv", "--json", cwd=tmp_path)
    assert [entry["name"] for entry in json.loads(only.stdout)] == ["visits"]
    refused(separatrix("examples", "-o", "v.csv", cwd=tmp_path), "name it, as in separatrix examples visits")
    refused(separatrix("examples", "visits", "-o", "v.parquet", cwd=tmp_path), "examples are written as CSV")
    refused(separatrix("examples", "visit"), "there is no example 'visit'")


def test_sparse_rows_examples_and_numbers(tmp_path, real_data):
    model = tmp_path / "m.sepx"
    sparse = sparse_rows(tmp_path / "rows.svm", 3000)
    done = separatrix("fit", sparse, "--learner", "arow", "--max-iter=2", "-o", model)
    assert "3,000 rows → 123 features · label: -1 1,500, 1 1,500" in done.stdout
    assert len(separatrix("predict", model, sparse).stdout.splitlines()) == 3001
    done = separatrix("fit", "example:iris", "-t", "species", "-o", model, "--json")
    assert json.loads(done.stdout)["classes"] == ["setosa", "versicolor", "virginica"]
    head = separatrix("predict", model, "example:iris").stdout.splitlines()[0]
    assert "prediction,score_setosa,score_versicolor,score_virginica,probability_setosa" in head
    done = separatrix("fit", real_data("diabetes.csv"), "-t", "progression", "-l", "least-squares", "-o", model)
    assert "residual sum of squares 1.26399e+06" in done.stdout


def test_vowpal_wabbit_rows_with_weights(tmp_path):
    (tmp_path / "t.vw").write_text("1 2 |f good fine\n-1 |f bad\n1 |f good\n-1 0.5 |f bad awful\n" * 5)
    done = separatrix("fit", tmp_path / "t.vw", "-l", "averaged-perceptron", "-o", tmp_path / "m.sepx")
    assert "20 rows → 262,144 features · label: -1 10, 1 10" in done.stdout
    assert "0 of 20 rows misclassified" in done.stdout
    assert separatrix("predict", tmp_path / "m.sepx", tmp_path / "t.vw").stdout.splitlines()[1].startswith("1,")


def test_options_that_a_learner_does_not_take():
    refused(separatrix("fit", "example:xor", "-l", "perceptron", "--depth", "3"), "perceptron has no option '--depth'")
    refused(separatrix("fit", "example:xor", "-l", "perceptrom"), "did you mean 'perceptron'?")
    refused(separatrix("fit", "example:xor", "-l", "arow", "--max-iter"), "--max-iter needs a value")
    refused(separatrix("fit", "example:xor", "-l", "arow", "--max-iter", "-3"), "--max-iter is -3")


@pytest.mark.parametrize(
    ("content", "arguments", "says"),
    [
        ("", ("-t", "y"), "is empty"),
        ("x,y\n", ("-t", "y"), "has no rows"),
        ("x,y\n1,0\n", ("-t", "y"), "is 0 in every row"),
        ("y\n0\n1\n", ("-t", "y"), "no column left to learn from: it has only the target"),
        ("x,y\n1,0\n2,1\n", ("-t", "z"), "has no column 'z'"),
        ("x,q\n1,0\n2,1\n", (), "needs --target"),
        ("x,y\n1,0\n2,\n", ("-t", "y"), "missing in 1 row (first: row 1"),
        ("x,y\n,0\n,1\n", ("-t", "y"), "'x' is missing in every row"),
        ("x,y\n" + "".join(f"1,n{i}\n" for i in range(1000)), ("-t", "y"), "1,000 different values in 1,000 rows"),
        ("x,y\n1,0.5\n2,1.5\n", ("-t", "y", "-l", "perceptron"), "not classes"),
        ("x,y\n1,0\n2,1\n", ("-t", "y", "--positive", "7"), "--positive is '7'"),
        ("x,y\n1,a\n2,b\n", ("-t", "y", "-l", "least-squares"), "is text: choose a classifier"),
        ("x,y\n1,a\n2,b\n", ("-t", "y", "-o", "/nowhere/m.sepx"), "does not exist"),
    ],
)
def test_bad_tables_are_one_sentence_and_exit_code_2(content, arguments, says, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(content)
    monkeypatch.chdir(tmp_path)
    refused(separatrix("fit", "t.csv", *arguments), says)
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_bad_models_and_rows(table, tmp_path):
    model = tmp_path / "m.sepx"
    separatrix("fit", table, "-t", "ok", "-o", model)
    model.write_bytes(model.read_bytes()[:-9])
    refused(separatrix("predict", model, table), "m.sepx is refused")
    separatrix("fit", table, "-t", "ok", "-o", model)
    (tmp_path / "other.csv").write_text("x,word\n1,A\n")
    refused(separatrix("predict", model, tmp_path / "other.csv"), "has no column 'ward'")
    (tmp_path / "new.csv").write_text("x,ward\n1,C7\n2,A\n")
    done = separatrix("predict", model, tmp_path / "new.csv")
    assert done.returncode == 0
    assert "1 rows have a category of 'ward' that did not occur in training (such as 'C7')" in done.stderr
    refused(separatrix("predict", model, tmp_path / "new.csv", "--strict"), "this category did not occur in training")
    refused(separatrix("predict", model, table, "--format", "parquet"), "needs --out")


def test_evaluate_holds_a_model_against_the_truth(table, tmp_path):
    model = tmp_path / "m.sepx"
    separatrix("fit", table, "-t", "ok", "-l", "perceptron", "--max-iter", "2000", "-o", model)
    done = separatrix("evaluate", model, table)
    assert done.returncode == 0, done.stderr
    assert "50 rows" in done.stdout
    report = json.loads(separatrix("evaluate", model, table, "--json").stdout)
    assert report["metrics"]["accuracy"]["value"] == 1
    assert report["positive"] == "yes"
    other = json.loads(separatrix("evaluate", model, table, "--json", "--positive", "no").stdout)
    assert other["positive"] == "no"
    assert other["metrics"]["roc_auc"]["value"] == 1
    separatrix("fit", sparse_rows(tmp_path / "rows.svm", 3000), "-l", "averaged-perceptron", "-o", model)
    tested = json.loads(separatrix("evaluate", model, sparse_rows(tmp_path / "test.svm", 1000, 1), "--json").stdout)
    assert tested["n"] == 1000
    assert tested["metrics"]["accuracy"]["value"] > 0.83
    separatrix("fit", "example:iris", "-t", "species", "-o", model)
    assert (
        json.loads(separatrix("evaluate", model, "example:iris", "--json").stdout)["metrics"]["accuracy"]["value"] > 0.6
    )
    separatrix("fit", "example:curve", "-t", "y", "-l", "least-squares", "-o", model)
    assert json.loads(separatrix("evaluate", model, "example:curve", "--json").stdout)["task"] == "regression"


def test_cross_validation_and_comparison_encode_inside_the_folds(tmp_path, real_data):
    model, titanic = tmp_path / "m.sepx", real_data("titanic.csv")
    done = separatrix("fit", titanic, "-t", "survived", "--drop", "alive", "--cv", "5", "-o", model, "--json")
    found = json.loads(done.stdout)["cross_validation"]
    assert found["folds"] == 5
    assert 0.7 < found["estimates"]["accuracy"]["value"] < 0.9
    told = separatrix("fit", "example:gaussians", "-t", "label", "--cv", "4", "-o", model).stdout
    assert "4-fold cross-validation: accuracy 0." in told
    words = ("compare", titanic, "-t", "survived", "--drop", "alive", "-l", "perceptron", "-l", "linear-discriminant")
    told = separatrix(*words, "--scale", "standard", "--folds", "3", "--repeats", "1").stdout
    assert "linear-discriminant" in told
    assert json.loads(separatrix(*words, "--json", "--folds", "3", "--repeats", "1").stdout)["source"] == "titanic.csv"


@pytest.mark.slow
def test_messages_as_text_are_told_apart(tmp_path, real_data):
    words = ("fit", real_data("sms_spam.txt"), "-t", "column0", "--cv", "5", "-o", tmp_path / "m.sepx", "--json")
    report = json.loads(separatrix(*words).stdout)
    assert report["rows"] == 5574
    assert report["cross_validation"]["estimates"]["accuracy"]["value"] >= 0.97


def test_export_writes_code_that_runs(table, tmp_path):
    model = tmp_path / "m.sepx"
    separatrix("fit", table, "-t", "ok", "-l", "perceptron", "--max-iter", "2000", "-o", model)
    room = {}
    exec(separatrix("export", model, "--format", "python").stdout, room)
    assert room["predict"]({"x": 3, "ward": "A"})[0] == "no"
    assert separatrix("export", model, "-o", tmp_path / "m.sql").returncode == 0
    assert "AS prediction" in (tmp_path / "m.sql").read_text()
    refused(separatrix("export", model), "the output format is not known")
    refused(separatrix("export", model, "--format", "onnx"), "give --out FILE")


def test_a_full_disk_and_limits_leave_nothing_behind(table, tmp_path):
    model = tmp_path / "m.sepx"
    separatrix("fit", table, "-t", "ok", "-o", model)
    refused(separatrix("predict", model, table, "-o", "/dev/full"), "No space left on device")
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", CODE, "predict", str(model), str(table)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600)); {CODE}"
    for arguments in (
        ("fit", table, "-t", "ok", "-o", tmp_path / "n.sepx"),
        ("predict", model, table, "-o", tmp_path / "p.csv"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", limited, *map(str, arguments)], capture_output=True, text=True, check=False
        )
        refused(done, "File too large")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.sepx", "rows.csv"]


def test_interrupted_with_nothing_half_written(tmp_path):
    (tmp_path / "xor.csv").write_text("a,b,y\n" + "0,0,0\n0,1,1\n1,0,1\n1,1,0\n" * 500)
    words = ["fit", "xor.csv", "-t", "y", "-l", "perceptron", "--max-iter", "inf", "--verbose"]
    command = [sys.executable, "-c", CODE, *words]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "mistakes" in running.stderr.readline()  # it is learning
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said.splitlines()[-1] == "interrupted"
    assert [p.name for p in tmp_path.iterdir()] == ["xor.csv"]


def test_a_reader_that_stops_early_is_no_error(table, tmp_path):
    model, long = tmp_path / "m.sepx", tmp_path / "long.csv"
    separatrix("fit", table, "-t", "ok", "-l", "averaged-perceptron", "-o", model)
    long.write_text(ROWS + "1,A,no\n" * 200_000)
    command = f'"{sys.executable}" -c "{CODE}" predict {model} {long} | head -1'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout == "x,ward,ok,prediction,score\n"
    assert "Traceback" not in done.stderr


def test_help_loads_neither_numpy_nor_duckdb():
    code = "import sys; from separatrix.cli.main import separatrix; "
    code += "separatrix.main(['fit', '--help'], standalone_mode=False); "
    code += "print(sorted(set(sys.modules) & {'numpy', 'duckdb'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "[]"
