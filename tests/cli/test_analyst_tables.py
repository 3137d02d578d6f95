"""An office table through every command: encodings, semicolons, money, per cent, dates; exports; the positive class."""

from __future__ import annotations

import csv
import io
import json

import duckdb
import numpy as np
import pytest

from commands import separatrix
from separatrix.persistence import load

ROWS = 80
TARGET = "Kündigung"


def german(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def rows(money: str = "€") -> list[dict[str, str]]:
    rng = np.random.default_rng(4)
    made = []
    for i in range(ROWS):
        value = float(rng.normal())
        made.append(
            {
                "Stadt": ("München", "Köln", "Zürich")[i % 3],
                "Wert": german(value, 3),
                "Umsatz": f"{german(float(rng.lognormal(7, 1)), 2)} {money}",
                "Quote": f"{german(float(100 * rng.random()), 1)} %",
                "Datum": f"{i % 28 + 1:02}.{i % 12 + 1:02}.2024",
                TARGET: "yes" if value + 0.6 * rng.normal() > 0 else "no",
            }
        )
    return made


def write(path, made, encoding="utf-8"):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(made[0]), delimiter=";", lineterminator="\n")
    writer.writeheader()
    writer.writerows(made)
    path.write_bytes(text.getvalue().encode(encoding))


def run(folder, *words, code=0):
    done = separatrix(*words, cwd=folder, env={"SEPARATRIX_LEDGER": str(folder / "ledger")})
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "t.csv", rows())
    return tmp_path


@pytest.mark.parametrize(
    ("encoding", "money", "said"),
    [("latin-1", "EUR", "encoding = latin-1"), ("cp1252", "€", "encoding = cp1252"), ("utf-16", "€", ""),
     ("utf-8-sig", "€", "")],
)  # fmt: skip
def test_every_encoding_gives_the_model_of_the_table(folder, encoding, money, said):
    write(folder / "plain.csv", rows(money))
    write(folder / "other.csv", rows(money), encoding)
    run(folder, "fit", "plain.csv", "-t", TARGET, "-o", "plain.sepx", "-q")
    report = json.loads(run(folder, "fit", "other.csv", "-t", TARGET, "-o", "other.sepx", "--json").stdout)
    assert said in " · ".join(report["guesses"])
    assert "'Datum' as dates" in report["guesses"]
    plain, other = load(folder / "plain.sepx"), load(folder / "other.sepx")
    assert other.encoder.feature_names() == plain.encoder.feature_names()
    np.testing.assert_array_equal(other.learner.coef_, plain.learner.coef_)
    asked = run(folder, "fit", "other.csv", "-t", TARGET, "--encoding", encoding, "-o", "asked.sepx", "--json").stdout
    assert "encoding =" not in asked  # nothing was guessed
    np.testing.assert_array_equal(load(folder / "asked.sepx").learner.coef_, plain.learner.coef_)


def test_dates_that_are_text_in_parquet_are_those_of_the_csv(folder):
    days = [("2024-01-31", "2024-02-01"), ("31.01.2024", "01.02.2024"), ("03/04/2024", "05/04/2024"),
            ("2024-01-31 13:45:00", "2024-02-01 00:00:00")]  # fmt: skip
    for first, second in days:
        cells = [first if i % 3 else second for i in range(ROWS)]
        lines = "\n".join(f"{cell},{i % 2}" for i, cell in enumerate(cells))
        (folder / "d.csv").write_text(f"day,y\n{lines}\n")
        source = str(folder / "d.csv")
        duckdb.sql(f"SELECT * FROM read_csv('{source}', all_varchar=true)").write_parquet(str(folder / "d.parquet"))
        found = [
            json.loads(run(folder, "describe", name, "--json").stdout)["columns"][0] for name in ("d.csv", "d.parquet")
        ]
        assert found[0]["kind"] == "date"
        assert found[0] == found[1]


def test_exported_python_reads_the_cells_of_the_file_as_they_are_written(folder):
    run(folder, "fit", "t.csv", "-t", TARGET, "-o", "m.sepx", "-q")
    scope: dict = {}
    exec(run(folder, "export", "m.sepx", "--format", "python").stdout, scope)
    said = list(csv.DictReader(io.StringIO(run(folder, "predict", "m.sepx", "t.csv").stdout)))
    for row, predicted in zip(rows(), said, strict=True):
        label, scores = scope["predict"](row)
        assert label == predicted["prediction"]
        assert scores[0] == pytest.approx(float(predicted["score"]), rel=1e-12, abs=1e-12)
    first = rows()[0]
    numbers = {**first, "Wert": 1.5, "Umsatz": 2013.15, "Quote": 12}
    text = {**first, "Wert": "1,5", "Umsatz": "2.013,15 €", "Quote": "12 %"}
    assert scope["predict"](numbers) == scope["predict"](text)
    assert scope["predict"]({**first, "Umsatz": ""}) == scope["predict"]({**first, "Umsatz": None})
    sql = run(folder, "export", "m.sepx", "-o", "m.sql").stdout
    assert "it takes plain numbers for 'Wert', 'Umsatz', 'Quote'" in sql


def test_dates_are_exported_as_days(folder):
    from datetime import date, datetime

    run(folder, "fit", "t.csv", "-t", TARGET, "-o", "m.sepx", "-q")
    scope: dict = {}
    exec(run(folder, "export", "m.sepx", "--format", "python").stdout, scope)
    first = {**rows()[0], "Datum": "03.02.2024"}
    for same in (date(2024, 2, 3), datetime(2024, 2, 3), "03.02.2024 00:00", "3.2.2024", "03.02.2024 01:00:00+01:00"):
        assert scope["predict"]({**first, "Datum": same}) == scope["predict"](first)
    said = run(folder, "export", "m.sepx", "-o", "m.sql").stdout
    assert "it takes dates or timestamps for 'Datum'" in said
    con = duckdb.connect()
    plain = {**first, "Wert": "1.5", "Umsatz": "2013.15", "Quote": "12", "Datum": "2024-02-03"}
    listed = ", ".join(f"'{v}'::{'DATE' if k == 'Datum' else 'VARCHAR'} AS \"{k}\"" for k, v in plain.items())
    score, label = con.execute(f"SELECT {(folder / 'm.sql').read_text()} FROM (SELECT {listed})").fetchone()
    own = scope["predict"]({**plain, "Wert": 1.5, "Umsatz": 2013.15, "Quote": 12, "Datum": date(2024, 2, 3)})
    assert (label, score) == (own[0], pytest.approx(own[1][0], rel=1e-12))
    run(folder, "fit", "t.csv", "-t", TARGET, "--dates", "parts", "-o", "m.sepx", "-q")
    assert "'Datum' has parts of dates" in run(folder, "export", "m.sepx", "-o", "m.py", code=2).stderr


def test_another_currency_is_named_and_is_not_a_decimal_mark(folder):
    write(folder / "eur.csv", rows("EUR"))
    run(folder, "fit", "t.csv", "-t", TARGET, "-o", "m.sepx", "-q")
    said = run(folder, "predict", "m.sepx", "eur.csv", code=2).stderr
    assert "eur.csv line 2: 'Umsatz' is" in said  # the first such row, in every run
    assert said.endswith("convert the column.\n")
    assert "--decimal" not in said


@pytest.mark.parametrize("command", ["fit", "evaluate", "compare", "audit"])
def test_the_positive_class_can_be_named_everywhere(folder, command):
    run(folder, "fit", "t.csv", "-t", TARGET, "-o", "m.sepx", "-q")
    words = {
        "fit": ("fit", "t.csv", "-t", TARGET, "-o", "n.sepx"),
        "evaluate": ("evaluate", "m.sepx", "t.csv"),
        "compare": ("compare", "t.csv", "-t", TARGET, "--metric", "recall"),
        "audit": ("audit", "t.csv", "-t", TARGET, "--budget", "5"),
    }[command]
    said = {}
    for label in ("no", "yes"):
        done = run(folder, *words, "--positive", label, "--json")
        report = json.loads(done.stdout)
        assert "positive =" not in done.stdout  # named, not guessed
        said[label] = {
            "fit": lambda: load(folder / "n.sepx").positive,
            "evaluate": lambda report=report: report["positive"],
            "compare": lambda report=report: json.dumps(report["learners"]),
            "audit": lambda report=report: report["table"]["positive"],
        }[command]()
    assert said["no"] != said["yes"]
    if command != "compare":  # of which the recall differs
        assert (said["no"], said["yes"]) == ("no", "yes")
    done = run(folder, *words, "--positive", "maybe", code=2)
    assert "--positive is 'maybe', which is not a class of" in done.stderr


def test_compare_without_learners_takes_those_that_suit_the_target(folder):
    said = run(folder, "compare", "t.csv", "-t", TARGET, "--repeats", "1").stdout
    assert "standardised columns" in said
    for name in ("logistic-regression --C 1", "linear-discriminant", "averaged-perceptron"):
        assert f"  {name}  " in said
    assert max(map(len, said.splitlines())) <= 80
    said = run(folder, "compare", "t.csv", "-t", "Wert", "--repeats", "1").stdout
    assert "2 learners on the same 5 folds: mse" in said
    assert "least-squares --alpha 1 − least-squares" in said


def test_describe_shows_what_a_model_reads(folder):
    run(folder, "fit", "t.csv", "-t", TARGET, "-o", "m.sepx", "-q")
    said = " ".join(run(folder, "describe", "m.sepx").stdout.split())
    assert "Stadt (category), Wert (number), Umsatz (number), Quote (number), Datum (date)" in said


def test_an_audit_of_a_quantity_has_nothing_to_verify(folder):
    run(folder, "audit", "t.csv", "-t", "Wert", "--budget", "5", "-o", "a", "-q")
    said = run(folder, "verify", "a", code=2).stderr
    assert said == "error: a is an audit without a certificate: nothing in it is marked as proved.\n"
