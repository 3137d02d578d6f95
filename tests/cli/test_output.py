"""Every command: --json is one line that its schema knows, --quiet the result alone."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from commands import separatrix
from separatrix.cli.main import COMMANDS
from separatrix.cli.schema import schemas

ROWS = "x,ward,ok\n" + "".join(
    f"{i * 7 % 20 if i % 9 else ''},{'AB'[i % 2]},{'yes' if i * 7 % 20 > 9 else 'no'}\n" for i in range(60)
)
NUMBERS = "x,z,y\n1,0,0\n2,1,0\n3,0,0\n4,2,1\n5,1,1\n6,7,1\n"
LEARNERS = ("-l", "perceptron", "-l", "arow")
RUNS = {
    "fit": ("rows.csv", "-t", "ok", "-o", "new.sepx", "--cv", 2),
    "predict": ("m.sepx", "new.csv", "-o", "p.jsonl"),
    "stream": ("rows.csv", "-t", "ok", "-o", "s.txt", "-m", "s.sepx"),
    "evaluate": ("m.sepx", "rows.csv"),
    "compare": ("rows.csv", "-t", "ok", *LEARNERS, "--folds", 2, "--repeats", 1),
    "describe": ("m.sepx",),
    "export": ("m.sepx", "-o", "m.sql"),
    "examples": (),
    "audit": ("example:six-points", "--budget", 2, "-o", "out"),
    "certify": ("t.csv", "--target", "y", "--out", "new.json", "--expect", "overlap"),
    "verify": ("c.json", "u.csv"),
    "schema": (),
}
JUDGED = {"certify": 1, "verify": 1}  # not as expected, not proved
PRODUCTS = {
    "fit": "new.sepx",
    "predict": "p.jsonl",
    "stream": "s.txt",
    "export": "m.sql",
    "audit": "out",
    "certify": "new.json",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("said")
    (place / "rows.csv").write_text(ROWS)
    (place / "new.csv").write_text(ROWS + ",C,no\n")
    (place / "t.csv").write_text(NUMBERS)
    (place / "u.csv").write_text(NUMBERS.replace("6,7,1", "6,8,1"))
    assert separatrix("fit", "rows.csv", "-t", "ok", "-o", "m.sepx", "-q", cwd=place).returncode == 0
    assert separatrix("certify", "t.csv", "--target", "y", "--out", "c.json", "-q", cwd=place).returncode == 0
    return place


def check(command, done):
    assert done.returncode == JUDGED.get(command, 0), done.stderr
    (line,) = done.stdout.splitlines()
    content = json.loads(line)
    Draft202012Validator(json.loads(schemas()[command])).validate(content)
    return content


def test_there_is_a_run_and_a_schema_for_every_command():
    assert set(RUNS) == set(COMMANDS) - {"completion", "lab"} == set(schemas())  # which print no result


@pytest.mark.parametrize("command", RUNS)
def test_json_is_one_line_that_the_schema_knows(command, folder):
    done = separatrix(command, *RUNS[command], "--json", "--quiet", cwd=folder)
    found = check(command, done)
    assert done.stderr == ""
    if command == "predict":
        assert (found["rows"], found["missing"]) == (61, {"x": 8})
        assert found["unseen"] == {"ward": {"rows": 1, "such_as": "C"}}
    if command == "export":
        assert found["bytes"] == (folder / "m.sql").stat().st_size
        assert found["code"] is None


@pytest.mark.parametrize("command", RUNS)
def test_quiet_prints_the_result_alone(command, folder):
    for name in {PRODUCTS.get(command)} - {None, "out"}:
        (folder / name).unlink(missing_ok=True)
    done = separatrix(command, *RUNS[command], "-q", cwd=folder)
    assert done.returncode == JUDGED.get(command, 0)
    assert done.stderr == ""
    if command in PRODUCTS or command == "verify":
        assert done.stdout == ""
        assert command == "verify" or (folder / PRODUCTS[command]).exists()
    elif command == "evaluate":
        loud = separatrix(command, *RUNS[command], cwd=folder).stdout
        assert loud.partition("\n")[0] == "m.sepx on rows.csv   60 rows"
        assert loud.partition("\n")[2] == done.stdout
    elif command == "examples":
        assert done.stdout.split()[:2] == ["example:visits", "example:six-points"]
    else:
        assert done.stdout


def test_what_goes_to_standard_output_goes_there_quietly_too(folder):
    loud, quiet = (separatrix("predict", "m.sepx", "new.csv", *more, cwd=folder) for more in ((), ("-q",)))
    assert loud.stdout == quiet.stdout
    assert loud.stderr.count("\n") == 2
    assert quiet.stderr == ""
    code = separatrix("export", "m.sepx", "--format", "python", "-q", cwd=folder).stdout
    assert check("export", separatrix("export", "m.sepx", "--format", "python", "--json", cwd=folder))["code"] == code
    assert check("schema", separatrix("schema", "fit", "--json", cwd=folder))["title"] == "separatrix fit --json"
    done = separatrix("predict", "m.sepx", "new.csv", "--json", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--json needs --out" in done.stderr


@pytest.mark.parametrize("command", ["fit", "predict", "verify", "describe"])
def test_errors_are_said_all_the_same(command, folder):
    words = {"fit": ("no.csv",), "predict": ("m.sepx", "no.csv"), "verify": ("t.csv", "t.csv"), "describe": ("no.csv",)}
    for more in (("-q",), ("--json",)):
        done = separatrix(command, *words[command], *more, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
