"""Names, labels and files that hold escape sequences, C1 controls or marks of direction never reach a terminal."""

from __future__ import annotations

import json

import pytest

from commands import separatrix
from separatrix.cli.main import COMMANDS
from separatrix.printable import HIDDEN, printable

ESC, C1, BIDI, INVISIBLE = "\x1b]0;owned\x07", "\x9b31m", "\u202egnp\u2066", "\U000e0041\u200b\u2028\x85"
HOSTILE = {
    "controls": ESC + C1 + BIDI + INVISIBLE + ".",
    "lines": "a\nerror: forged\r.",
}  # blanks at an end are no part of a name


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


@pytest.fixture(scope="module", params=HOSTILE)
def folder(request, tmp_path_factory):
    """Tables whose columns, levels, labels and file names hold one kind of hidden characters."""
    mark = HOSTILE[request.param]
    place = tmp_path_factory.mktemp("terminal")
    names = [quoted(f"{name}{mark}") for name in ("x", "z", "ward", "const", "ok")]
    rows = [
        f"{i * 7 % 20},{i % 3 if i % 11 else ''},{quoted('AB'[i % 2] + mark)},{quoted('c' + mark)},"
        f"{quoted(('yes' if i * 7 % 20 + i % 5 > 11 else 'no') + mark)}"
        for i in range(60)
    ]
    name = f"t{mark.replace(chr(10), '')}.csv"
    (place / name).write_text(",".join(names) + "\n" + "\n".join(rows) + "\n", newline="")
    numbers = [quoted(f"{name}{mark}") for name in ("u", "w", "y")]
    body = "".join(f"{i * 3 % 7},{i % 4},{quoted('pq'[i * 3 % 7 > 3] + mark)}\n" for i in range(28))
    (place / "numbers.csv").write_text(",".join(numbers) + "\n" + body, newline="")
    (place / "new.csv").write_text(
        ",".join(names) + "\n" + "\n".join(rows[:9]) + f"\n,1,{quoted('new' + mark)},c,{quoted('maybe' + mark)}\n",
        newline="",
    )
    done = separatrix("fit", name, "-t", f"ok{mark}", "-o", f"m{mark[:-1]}.sepx".replace("\n", ""), cwd=place)
    assert done.returncode == 0, done.stderr
    done = separatrix("certify", "numbers.csv", "-t", f"y{mark}", "--out", "c.json", cwd=place)
    assert done.returncode == 0, done.stderr
    return place, mark, name, f"m{mark[:-1]}.sepx".replace("\n", "")


def runs(mark, table, model):
    target = ("-t", f"ok{mark}")
    return {
        "fit": [(table, *target, "-o", "new.sepx", "--cv", "2"), (table, *target, "--drop", f"no{mark}"), (f"{mark}",)],
        "predict": [(model, "new.csv", "-o", "p.csv"), (model, "new.csv", "--strict"), (model, f"no{mark}.csv")],
        "stream": [
            (table, *target, "-o", "s.txt", "-m", "s.sepx"),
            (table, *target, "-o", "s.txt", "--category", f"no{mark}"),
            (table, *target, "-o", "s.txt", "--learner", f"none{mark}"),
            (f"no{mark}.csv", "-o", "s.txt"),
        ],
        "evaluate": [(model, "new.csv"), (model, table), (model, table, "--positive", f"q{mark}")],
        "compare": [
            (table, *target, "-l", "perceptron", "-l", "arow", "--folds", "2", "--repeats", "1"),
            (table, *target, "-l", f"none{mark}"),
            (table, *target, "-l", "perceptron", "--metric", f"m{mark}"),
        ],
        "describe": [(model,), (table,), (f"no{mark}.sepx",)],
        "export": [(model, "-o", f"e{mark[:-1]}.sql".replace("\n", "")), (model, "--format", f"sql{mark}")],
        "examples": [(), (f"--{mark}",)],
        "audit": [(table, *target, "--budget", "1", "-o", "out"), (table, "-t", f"no{mark}", "-o", "other")],
        "certify": [
            ("numbers.csv", "-t", f"y{mark}", "--out", "d.json"),
            ("numbers.csv", "-t", f"no{mark}"),
            ("numbers.csv", "-t", f"y{mark}", "--positive", f"r{mark}"),
        ],
        "verify": [("c.json", "numbers.csv"), ("c.json", table), (f"no{mark}.json", table)],
        "lab": [(f"no{mark}.csv", "--no-browser"), (table, "-t", f"no{mark}", "--no-browser")],
        "schema": [(), (f"fit{mark}",)],
        "completion": [("bash",), (f"fish{mark}",)],
        f"fits{mark}": [()],
    }


@pytest.mark.parametrize("command", [*COMMANDS, "unknown"])
def test_nothing_hidden_is_printed(command, folder):
    place, mark, table, model = folder
    listed = runs(mark, table, model)
    assert set(COMMANDS) < set(listed)
    name = command if command in listed else f"fits{mark}"
    for words in listed[name]:
        for more in ((), ("--json",)):
            done = separatrix(name, *words, *more, cwd=place, env={"SEPARATRIX_LEDGER": str(place / "ledger")})
            assert "Traceback" not in done.stderr
            assert done.returncode in (0, 1, 2)
            for text in (done.stdout, done.stderr):
                assert not HIDDEN.findall(text.replace("\n", "")), (words, text)
            assert not any(line.startswith("error: forged") for line in (done.stdout + done.stderr).split("\n"))
            if done.returncode == 2:
                assert done.stderr.count("\n") == 1
            if more and done.returncode == 0:
                json.loads(done.stdout)


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "describe", "export", "audit", "certify"])
def test_terminals_get_colours_of_ours_alone(command, folder):
    place, mark, table, model = folder
    words = runs(mark, table, model)[command][0]
    words = words[:2] if command == "predict" else words
    words = (model, "--format", "sql") if command == "export" else words
    done = separatrix(command, *words, cwd=place, tty=True, env={"SEPARATRIX_LEDGER": str(place / "ledger")})
    assert done.returncode == 0, done.stderr
    for character in "\x07\x9b\u202e\u2066\U000e0041\u200b\u2028\x85":
        assert character not in done.stdout + done.stderr
    assert "\x1b]" not in done.stdout + done.stderr


def test_data_in_a_pipe_are_as_they_are(folder):
    place, mark, table, model = folder
    done = separatrix("predict", model, table, cwd=place)
    assert done.stdout.count(mark.replace("\r", "")) >= 60 or done.stdout.count(mark) >= 60
    assert separatrix("export", model, "--format", "sql", cwd=place).stdout.count(mark) >= 3


def test_json_keeps_the_characters_as_escapes(folder):
    place, mark, _, model = folder
    described = json.loads(separatrix("describe", model, "--json", cwd=place).stdout)
    assert described["target"] == f"ok{mark}"


def test_letters_of_every_script_stay():
    text = "größe ✓ 病 مرحبا \u200dनमस्ते 👩\u200d🔬"
    assert printable(text) == text
    assert printable("a\tb\n") == "a\\tb\\n"
    assert printable("\ud800") == "\\ud800"
