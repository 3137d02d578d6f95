"""The same rows from every format and source give the same model; files that grow, are rotated and truncated."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest
from tests.commands import separatrix
from tests.stream.stream_files import csv_text, size_of, started, stream, svmlight_lines, table_rows

from separatrix import Perceptron, load
from separatrix.data.sparse_text import read_libsvm


def account(ended):
    assert ended.returncode == 0, ended.stderr.decode()
    return json.loads(ended.stdout)


def waits_for(path, size):
    for _ in range(3000):
        if size_of(path) >= size:
            return
        time.sleep(0.01)
    raise AssertionError(f"{path} has {size_of(path)} bytes and not {size}")


def rows(n, **options):
    return "".join(f"{line}\n" for line in svmlight_lines(n, **options))


def test_csv_and_json_lines_give_the_same_model_and_predict_takes_it(tmp_path):
    table = list(table_rows(2000))
    (tmp_path / "a.csv").write_text(csv_text(table))
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in table))
    (tmp_path / "a.tsv").write_text(csv_text(table).replace(",", "\t"))
    outs = {}
    for name in ("a.csv", "a.jsonl", "a.tsv"):
        words = ("--target", "relapse", "--scale", "standard", "--learner", "arow", "--json", "--scores")
        report = account(stream(tmp_path / name, "--model", tmp_path / f"{name}.sepx", "--out", tmp_path / "p", *words))
        assert report["labelled"] == sum(row["relapse"] is not None for row in table)
        assert report["new_categories"] == 4
        assert any("new category 'D' in 'ward'" in note for note in report["notes"])
        assert report["accuracy"]["value"] > 0.8
        outs[name] = (tmp_path / "p").read_bytes()
    assert outs["a.csv"] == outs["a.tsv"] == outs["a.jsonl"]
    model = load(tmp_path / "a.csv.sepx")
    assert {c.name for c in model.encoder.columns} == {"age", "ward", "dose"}
    done = separatrix("predict", tmp_path / "a.csv.sepx", tmp_path / "a.csv", "--out", tmp_path / "q.csv")
    assert done.returncode == 0, done.stderr
    predicted = [line.split(",")[-2:] for line in (tmp_path / "q.csv").read_text().splitlines()[1:]]
    right = [p[0] == row["relapse"] for p, row in zip(predicted, table, strict=True) if row["relapse"] is not None]
    assert np.mean(right) > 0.85


def test_numbers_go_by_the_native_reader_and_faults_line_by_line(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{b:.3f},{int(a + b > 0)}" for a, b in rng.normal(size=(500, 2))]
    (tmp_path / "a.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    with_faults = [*lines[:100], "1,2", '"0.5",0.25,1', "x,1,0", *lines[100:], "1,,1", "0.5,0.5,"]
    (tmp_path / "b.csv").write_text("\n".join(["a,b,y", *with_faults]) + "\n")
    words = ("--target", "y", "--learner", "perceptron", "--json", "--rejects", tmp_path / "r")
    plain = account(stream(tmp_path / "a.csv", "--out", tmp_path / "p", *words))
    faulty = account(stream(tmp_path / "b.csv", "--out", tmp_path / "q", *words))
    assert plain["rows"] == 500
    assert (faulty["rows"], faulty["labelled"], faulty["rejected"]) == (503, 502, 2)
    told = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    assert [own["line"] for own in told] == [102, 104]
    assert "the line has 2 cells, and the first line has 3" in told[0]["reason"]
    assert "'a' is 'x', not a number like those above it" in told[1]["reason"]
    own, other = (tmp_path / "p").read_text().splitlines(), (tmp_path / "q").read_text().splitlines()
    assert own[:100] == other[:100]


def test_vowpal_wabbits_text_with_weights_and_rows_without_labels(tmp_path):
    (tmp_path / "a.vw").write_text("1 | a b:2\n-1 2.0 'tag| c\n| a\nx | a\n1 0 | c\n")
    report = account(stream(tmp_path / "a.vw", "--out", tmp_path / "p", "--json", "--learner", "perceptron"))
    assert (report["rows"], report["labelled"], report["rejected"]) == (4, 2, 1)
    assert (tmp_path / "p").read_text() == "\n1\n1\n\n-1\n"


QUOTED = (
    'x,note,y\n1,"two\nlines",1\n-1,plain,0\n2,"three\n\n""lines""",1\n-2,5" pipe,0\n'
    '3,"open,1\n-3,plain,0\n4,plain,1\n' + '-4,"a\nb",0\n5,c,1\n' * 60 + '-5,"never closed,0\n6,c,1\n'
)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_row_may_go_over_several_lines_between_quotes_wherever_the_stream_is_cut(tmp_path, size):
    path = tmp_path / "a.csv"
    path.write_text(QUOTED)
    words = ("--target", "y", "--learner", "perceptron", "--json", "--classes", "0,1")
    out = ("--out", tmp_path / "p", "--rejects", tmp_path / "r", "--model", tmp_path / "p.sepx")
    report = account(stream(path, *words, *out))
    assert (report["rows"], report["rejected"]) == (127, 2)
    rejects = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    assert [(own["line"], own["text"]) for own in rejects] == [(9, '3,"open,1'), (192, '-5,"never closed,0')]
    levels = load(tmp_path / "p.sepx").encoder.columns[1].levels
    assert {"two\nlines", 'three\n\n"lines"', '5" pipe', "a\nb"} <= set(levels)
    reader, writer = os.pipe()
    piped = ("--out", tmp_path / "q", "--rejects", tmp_path / "s", "--model", tmp_path / "q.sepx", "--format", "csv")
    process = started("-", *words, *piped, stdin=reader, stdout=subprocess.PIPE)
    os.close(reader)
    with os.fdopen(writer, "wb", buffering=0) as file:
        for begin in range(0, len(QUOTED), size):
            file.write(QUOTED[begin : begin + size].encode())
            time.sleep(0.002 if begin < 100 else 0)
    assert process.wait(60) == 0
    process.stdout.close()
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()
    assert (tmp_path / "r").read_bytes() == (tmp_path / "s").read_bytes()
    assert load(tmp_path / "p.sepx").learner.coef_.tobytes() == load(tmp_path / "q.sepx").learner.coef_.tobytes()


def test_svmlight_rows_whose_label_is_a_question_mark_are_predicted_only(tmp_path):
    text = "1 1:2\n? 1:3\n-1 1:-2\n?\n?x 1:3\n? 1:z\n# one ? more\n1 1:1 # ?\n? 900:5\n? 2:5"
    (tmp_path / "a.svm").write_text(text)
    words = ("--learner", "perceptron", "--classes=-1,1", "--features", "800", "--json")
    report = account(stream(tmp_path / "a.svm", *words, "--out", tmp_path / "p", "--rejects", tmp_path / "r"))
    assert (report["rows"], report["labelled"], report["rejected"]) == (6, 3, 3)
    told = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    assert [(own["line"], own["text"]) for own in told] == [(5, "?x 1:3"), (6, "? 1:z"), (9, "? 900:5")]
    labelled = "".join(f"{line}\n" for line in text.splitlines() if line[:1] in "-1")
    (tmp_path / "b.svm").write_text(labelled)
    models = [tmp_path / f"{name}.sepx" for name in "ab"]
    for name, model in zip("ab", models, strict=True):
        stream(tmp_path / f"{name}.svm", *words, "--out", tmp_path / f"{name}.txt", "--model", model)
    one, two = (load(model).learner for model in models)
    assert one.coef_.ravel()[:1] == two.coef_.ravel()[:1]
    assert one.intercept_ == two.intercept_


def test_a_pipe_that_is_sent_again_goes_on_where_it_was(tmp_path):
    text = rows(15_000).encode()
    words = ("--learner", "perceptron", "--format", "svmlight")
    stream("-", "--out", tmp_path / "once", "--model", tmp_path / "once.sepx", *words, input=text)
    own = ("-", "--out", tmp_path / "p", "--model", tmp_path / "m.sepx", *words)
    state = ("--checkpoint", tmp_path / "c", "--checkpoint-rows", 1000)
    process = started(*own, *state, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    process.stdin.write(text[: len(text) // 2])
    process.stdin.flush()
    waits_for(tmp_path / "p", 10_000)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    process.stdin.close()
    process.stderr.close()
    other = stream(*own, *state, "--resume", input=b"-1 1:1\n" + text)
    assert other.returncode == 2
    assert b"are not those that were learned from" in other.stderr
    short = stream(*own, *state, "--resume", input=text[:1000])
    assert b"ended" in short.stderr
    again = stream(*own, *state, "--resume", input=text)
    assert again.returncode == 0, again.stderr.decode()
    assert b"were skipped, compared by their checksum" in b" ".join(again.stdout.split())
    assert (tmp_path / "p").read_bytes() == (tmp_path / "once").read_bytes()
    assert load(tmp_path / "m.sepx").learner.coef_.tolist() == load(tmp_path / "once.sepx").learner.coef_.tolist()


def test_a_file_that_grows_is_rotated_and_is_truncated(tmp_path):
    first, second, third = rows(300, seed=1), rows(200, seed=2), rows(100, seed=3)
    path = tmp_path / "log.svm"
    path.write_text(first)
    words = (path, "--follow", "--out", tmp_path / "p", "--model", tmp_path / "m.sepx", "--learner", "perceptron")
    process = started(*words, "--checkpoint", tmp_path / "c", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    sizes = np.cumsum([0, *(len(line) + 1 for line in expected(first + second + third, tmp_path))])
    waits_for(tmp_path / "p", sizes[300])
    with path.open("a") as file:
        file.write(second[:50])
        file.flush()
        time.sleep(0.5)
        file.write(second[50:1000])
    os.rename(path, tmp_path / "log.svm.1")
    with (tmp_path / "log.svm.1").open("a") as file:
        file.write(second[1000:])
    path.write_text(third[:2000])
    with path.open("a") as file:
        file.write(third[2000:])
    waits_for(tmp_path / "p", sizes[600])
    path.write_text("1 1:1\n")
    waits_for(tmp_path / "p", sizes[600] + 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err.decode()
    assert b"was replaced" in out
    assert b"was truncated" in out
    assert (tmp_path / "p").read_text().splitlines()[:600] == expected(first + second + third, tmp_path)


def expected(text, folder):
    """The predictions of a perceptron, row by row."""
    (folder / "all.svm").write_text(text)
    X, y = read_libsvm(folder / "all.svm")
    model, said = Perceptron(), []
    for i, label in enumerate(y.tolist()):
        row = (X[[i]].indices, X[[i]].data)
        said.append("" if i == 0 else f"{model.predict(X[[i]])[0]:.0f}")
        assert len(row[0])
        model.partial_fit(X[[i]], [label])
    return said


def test_a_stream_goes_on_in_the_rotated_file_after_a_restart(tmp_path):
    first, second, third = rows(300, seed=1), rows(200, seed=2), rows(100, seed=3)
    said, cut = expected(first + second + third, tmp_path), third.index("\n", 1000) + 1
    path = tmp_path / "log.svm"
    path.write_text(first + second)
    state = ("--checkpoint", tmp_path / "c", "--out", tmp_path / "p", "--learner", "perceptron", "--follow")
    process = started(path, *state, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    waits_for(tmp_path / "p", sum(len(line) + 1 for line in said[:500]))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    with path.open("a") as file:
        file.write(third[:cut])
    os.rename(path, tmp_path / "log.svm.1")
    path.write_text(third[cut:])
    process = started(path, *state, "--resume", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    waits_for(tmp_path / "p", sum(len(line) + 1 for line in said))
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert b"reading the rest of log.svm.1 first" in b" ".join(out.split())
    assert (tmp_path / "p").read_text().splitlines() == said


def test_a_followed_file_that_is_gone_is_said_and_the_new_one_is_read(tmp_path):
    first, second = rows(300, seed=1), rows(100, seed=2)
    said = expected(first + second, tmp_path)
    path = tmp_path / "log.svm"
    path.write_text(first)
    state = ("--checkpoint", tmp_path / "c", "--out", tmp_path / "p", "--learner", "perceptron", "--follow")
    process = started(path, *state, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    waits_for(tmp_path / "p", sum(len(line) + 1 for line in said[:300]))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    path.unlink()
    path.write_text(second)
    process = started(path, *state, "--resume", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    waits_for(tmp_path / "p", sum(len(line) + 1 for line in said))
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert b"the rest of what was being read is gone" in b" ".join(out.split())
    assert (tmp_path / "p").read_text().splitlines() == said


def test_a_checkpoint_refuses_other_options_and_other_files(tmp_path):
    (tmp_path / "a.svm").write_text(rows(3000))
    (tmp_path / "b.svm").write_text(rows(3000, seed=7))
    state = ("--checkpoint", tmp_path / "c", "--out", tmp_path / "p")
    assert stream(tmp_path / "a.svm", *state).returncode == 0
    for words, sentence in (
        ((tmp_path / "a.svm", *state), b"add --resume to go on from it"),
        ((tmp_path / "a.svm", *state, "--resume", "--learner", "arow"), b"was made with learner"),
        ((tmp_path / "b.svm", *state, "--resume"), b"is not the file of the checkpoint"),
        ((tmp_path / "a.svm", "--resume"), b"need --checkpoint FILE"),
        ((tmp_path / "a.svm", "--out", tmp_path / "p", "--model", tmp_path / "p"), b"must be different files"),
    ):
        ended = stream(*words)
        assert ended.returncode == 2
        assert sentence in ended.stderr, ended.stderr.decode()
    assert stream(tmp_path / "a.svm", *state, "--resume").returncode == 0


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "foreign"])
def test_a_damaged_checkpoint_is_seen_and_the_one_before_it_is_used(tmp_path, damage):
    (tmp_path / "a.svm").write_text(rows(60_000))
    words = (tmp_path / "a.svm", "--model", tmp_path / "m.sepx", "--out", tmp_path / "p")
    state = ("--checkpoint", tmp_path / "c", "--checkpoint-rows", 1)
    assert stream(*words, *state).returncode == 0
    once = (tmp_path / "p").read_bytes(), (tmp_path / "m.sepx").read_bytes()
    content = (tmp_path / "c").read_bytes()
    changed = bytearray(content)
    changed[len(content) // 2] ^= 4
    (tmp_path / "c").write_bytes(
        {"cut": content[:-100], "bit": bytes(changed), "empty": b"", "foreign": b"something else"}[damage]
    )
    assert (tmp_path / "c.1").exists()
    ended = stream(*words, *state, "--resume")
    assert ended.returncode == 0, ended.stderr.decode()
    assert b"checkpoint refused: c:" in ended.stdout
    assert b"going on from the one before it, c.1" in ended.stdout
    assert ((tmp_path / "p").read_bytes(), (tmp_path / "m.sepx").read_bytes()) == once
    for name in ("c", "c.1", "c.2"):
        (tmp_path / name).write_bytes(b"")
    ended = stream(*words, *state, "--resume")
    assert ended.returncode == 2
    assert b"no checkpoint can be read" in ended.stderr


@pytest.mark.parametrize("learner", ["least-squares", "linear-discriminant", "linear-descent", "voted-perceptron"])
def test_learners_without_a_rule_for_rows_learn_in_blocks_and_resume(tmp_path, learner):
    text = rows(3000, d=8, entries=8)
    (tmp_path / "a.svm").write_text(text)
    words = ("--learner", learner, "--features", 8)
    once = stream(tmp_path / "a.svm", "--out", tmp_path / "once", "--model", tmp_path / "once.sepx", *words)
    assert once.returncode == 0, once.stderr.decode()
    (tmp_path / "b.svm").write_text(text[: len(text) // 2 + 7])
    own = ("--out", tmp_path / "p", "--model", tmp_path / "m.sepx", *words, "--checkpoint", tmp_path / "c")
    with (tmp_path / "b.svm").open("w") as file:
        file.write(text[: text.index("\n", len(text) // 2) + 1])
    assert stream(tmp_path / "b.svm", *own).returncode == 0
    with (tmp_path / "b.svm").open("a") as file:
        file.write(text[text.index("\n", len(text) // 2) + 1 :])
    ended = stream(tmp_path / "b.svm", *own, "--resume")
    assert ended.returncode == 0, ended.stderr.decode()
    assert (tmp_path / "p").read_bytes() == (tmp_path / "once").read_bytes()
    one, two = load(tmp_path / "m.sepx").learner, load(tmp_path / "once.sepx").learner
    assert np.array_equal(one.predict(np.eye(8)), two.predict(np.eye(8)))
