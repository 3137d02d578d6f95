"""A model fitted on one format and used on another: truth values, numbers that mean missing, labels, exports."""

from __future__ import annotations

import csv
import json

import duckdb
import numpy as np
import pandas as pd
import pytest

from commands import separatrix
from separatrix.export import to_python, to_sql
from separatrix.persistence import load

ROWS = 80


def run(folder, *words, code=0):
    done = separatrix(*words, cwd=folder, env={"SEPARATRIX_LEDGER": str(folder / "ledger")})
    assert done.returncode == code, done.stderr
    return done


def predicted(folder, source):
    return [
        json.loads(line)
        for line in run(folder, "predict", "m.sepx", source, "--only", "--format", "jsonl").stdout.splitlines()
    ]


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    made = pd.DataFrame(
        {"member": rng.random(ROWS) < 0.5, "x": rng.normal(size=ROWS), "code": rng.integers(1, 4, ROWS)}
    )
    made["code"] = made["code"].where(rng.random(ROWS) > 0.2, -9)
    made["paid"] = made["member"] ^ (rng.random(ROWS) < 0.2)
    return made


@pytest.mark.parametrize("kind", [[], ["--category", "member"]])
@pytest.mark.parametrize(("fitted", "other"), [("t.parquet", "t.csv"), ("t.csv", "t.parquet")])
def test_truth_values_are_those_of_the_other_format(tmp_path, frame, fitted, other, kind):
    frame.to_csv(tmp_path / "t.csv", index=False)  # True and False
    frame.to_parquet(tmp_path / "t.parquet")
    run(tmp_path, "fit", fitted, "-t", "paid", *kind, "-o", "m.sepx")
    assert [r["score"] for r in predicted(tmp_path, other)] == [r["score"] for r in predicted(tmp_path, fitted)]
    run(tmp_path, "predict", "m.sepx", other, "--strict", "-o", "p.csv")
    scope: dict = {}
    exec(to_python(load(tmp_path / "m.sepx")), scope)
    with (tmp_path / "t.csv").open(newline="") as file:
        said = [scope["predict"](row)[1][0] for row in csv.DictReader(file)]
    assert said == pytest.approx([r["score"] for r in predicted(tmp_path, fitted)], rel=1e-9)


def test_a_number_that_marks_missing_values_does_so_in_typed_columns(tmp_path, frame):
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    gone = int((frame["code"] == -9).sum())
    for source in ("t.csv", "t.parquet", "t.jsonl", "SELECT * FROM 't.parquet'"):
        said = run(tmp_path, "fit", source, "-t", "paid", "--na=-9", "--na", "nan", "-o", "m.sepx").stdout
        assert f"{gone} missing in 'code'" in " ".join(said.split())
        for other in ("t.csv", "t.parquet", "t.jsonl"):
            made = run(tmp_path, "predict", "m.sepx", other, "-o", "p.csv", "--json")
            assert json.loads(made.stdout)["missing"] == {"code": gone}


FORMS = {
    "truth.csv": ("True", "False"),
    "lower.csv": ("true", "false"),
    "truth.parquet": (True, False),
    "digits.csv": (1, 0),
    "digits.parquet": (1, 0),
    "text.parquet": ("1", "0"),
}


@pytest.mark.parametrize("fitted", FORMS)
def test_labels_are_compared_by_what_they_say(tmp_path, frame, fitted):
    """True in a CSV file is the truth value of a Parquet file, and '1' is 1; another label is named."""
    for name, (yes, no) in FORMS.items():
        made = frame[["x", "code"]].assign(y=[yes if paid else no for paid in frame["paid"]])
        (made.to_parquet if name.endswith("parquet") else made.to_csv)(tmp_path / name, index=False)
    run(tmp_path, "fit", fitted, "-t", "y", "-o", "m.sepx")
    words = [name for name in FORMS if ("truth" in name or "lower" in name) == ("truth" in fitted or "lower" in fitted)]
    found = [json.loads(run(tmp_path, "evaluate", "m.sepx", name, "--json").stdout) for name in words]
    assert len({json.dumps(one["metrics"]) for one in found}) == 1
    assert not any("unseen" in text for one in found for text in one["warnings"])


def test_a_label_of_another_type_is_named(tmp_path, frame):
    frame[["x", "code"]].assign(y=frame["paid"].astype(int)).to_csv(tmp_path / "t.csv", index=False)
    frame[["x", "code"]].assign(y=np.where(frame["paid"], "yes", "no")).to_csv(tmp_path / "w.csv", index=False)
    run(tmp_path, "fit", "t.csv", "-t", "y", "-o", "m.sepx")
    said = run(tmp_path, "evaluate", "m.sepx", "w.csv", code=2).stderr
    assert "w.csv has the label" in said
    assert "the classes of the model are 0, 1" in " ".join(said.split())


@pytest.mark.parametrize("labels", [("is bad", "is good"), ("a", "b", "c")])
@pytest.mark.parametrize("learner", ["logistic-regression", "max-margin", "perceptron"])
def test_exports_have_the_scores_of_predict(tmp_path, labels, learner):
    """The score is for the positive class, also where that is the first; three classes in pairs are refused."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=ROWS)
    codes = np.digitize(x + 0.5 * rng.normal(size=ROWS), [-0.5] if len(labels) == 2 else [-0.5, 0.5])
    cells = [f"{v:.3f}" if i % 9 else ("?", "n/a", "", "-99")[i % 4] for i, v in enumerate(x)]
    kind = [("red", "blue", "N/A", "-99")[k] for k in rng.integers(0, 4, ROWS)]
    made = pd.DataFrame({"x": cells, "kind": kind, "y": [labels[k] for k in codes]})
    made.to_csv(tmp_path / "t.csv", index=False)
    run(tmp_path, "fit", "t.csv", "-t", "y", "-l", learner, "--na=-99", "-o", "m.sepx")
    if learner == "max-margin" and len(labels) == 3:
        for form in ("python", "sql", "onnx"):
            said = run(tmp_path, "export", "m.sepx", "--format", form, "-o", "out", code=2).stderr
            assert "max-margin compares classes in pairs" in said
        assert load(tmp_path / "m.sepx").learner.pairs_.tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
        return
    model = load(tmp_path / "m.sepx")
    assert model.positive == ("is bad" if len(labels) == 2 else None)
    want = predicted(tmp_path, "t.csv")
    scope: dict = {}
    exec(to_python(model), scope)
    with (tmp_path / "t.csv").open(newline="") as file:
        listed = list(csv.DictReader(file))
    for row, own in zip(listed, want, strict=True):
        label, scores = scope["predict"](row)
        assert label == own["prediction"]
        assert scores == pytest.approx([v for k, v in own.items() if k.startswith("score")], rel=1e-9, abs=1e-12)
    x = "nullif(nullif(nullif(nullif(x, '?'), 'n/a'), ''), '-99')::DOUBLE"
    given = f"{x} AS x, nullif(nullif(kind, 'N/A'), '-99') AS kind"
    table = f"(SELECT {given}, row_number() OVER () AS i FROM read_csv('{tmp_path}/t.csv', all_varchar=true))"
    got = duckdb.sql(f"SELECT {to_sql(model)} FROM {table} ORDER BY i").fetchall()
    for row, own in zip(got, want, strict=True):
        assert row[-1] == own["prediction"]
        assert row[:-1] == pytest.approx([v for k, v in own.items() if k.startswith("score")], rel=1e-9, abs=1e-12)
    with pytest.raises(KeyError, match="kind"):
        scope["predict"]({"x": 1.0})
