"""Streams that are cut off, malformed, endless or blocked: bounded memory, and a clear account."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import resource
import signal
import socket
import subprocess
import threading
import time

import numpy as np
import pytest
from tests.stream.stream_files import started, stream, svmlight_lines

from separatrix import AveragedPerceptron, load
from separatrix.data import cache_rows
from separatrix.data.sparse_text import read_libsvm

MEGABYTE = 1 << 20


def rows(n, **options):
    return "".join(f"{line}\n" for line in svmlight_lines(n, **options))


def account(ended):
    assert ended.returncode == 0, ended.stderr.decode()
    return json.loads(ended.stdout)


def limited(megabytes):
    """A limit on the memory of data, for the child."""

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes * MEGABYTE,) * 2)

    return limit


def test_the_model_is_that_of_partial_fit(tmp_path):
    (tmp_path / "a.svm").write_text(rows(3000))
    report = account(stream(tmp_path / "a.svm", "--model", tmp_path / "m.sepx", "--out", tmp_path / "p", "--json"))
    X, y = read_libsvm(tmp_path / "a.svm")
    expected = AveragedPerceptron().partial_fit(X, y)
    found = load(tmp_path / "m.sepx").learner
    assert np.array_equal(found.coef_, expected.coef_)
    assert np.array_equal(found.intercept_, expected.intercept_)
    assert (report["rows"], report["labelled"], report["rejected"]) == (3000, 3000, 0)
    assert len((tmp_path / "p").read_text().splitlines()) == 3000


def test_a_line_of_output_for_every_row_and_every_rejected_line(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2\n1 2:1 1:1\n\n# words\n-1 1:-2\nnot a row\n1 1:1\n")
    out = ("--out", tmp_path / "p", "--rejects", tmp_path / "r", "--json")
    report = account(stream(tmp_path / "a.svm", *out))
    assert (tmp_path / "p").read_text() == "\n\n1\n\n1\n"
    told = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    assert [(own["line"], own["byte"]) for own in told] == [(2, 6), (6, 33)]
    assert "ascend" in told[0]["reason"]
    assert told[1]["text"] == "not a row"
    assert (report["rows"], report["rejected"]) == (3, 2)
    ended = stream(tmp_path / "a.svm", "--out", tmp_path / "q", "--broken", "refuse")
    assert ended.returncode == 2
    assert b"line 2: the indices of features do not ascend; leave --broken refuse out" in ended.stderr


def test_a_feature_number_beyond_the_limit_is_rejected(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2\n# x\n1 2:1 2000000000:1\nno\n-1 1:-2\n1 7:1\n")
    out = ("--out", tmp_path / "p", "--rejects", tmp_path / "r", "--json", "--features", 6)
    report = account(stream(tmp_path / "a.svm", *out))
    told = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    assert [(own["line"], own["byte"]) for own in told] == [(3, 10), (4, 29), (6, 40)]
    assert "a feature number is 7 or more" in told[0]["reason"]
    assert (report["rows"], report["features"]) == (2, 2)
    assert (tmp_path / "p").read_text() == "\n\n\n1\n\n"


@pytest.mark.parametrize("content", [os.urandom(3 * MEGABYTE), b"\x00" * MEGABYTE, b"\xfe\xfe" + b"\n\x00" * 9999])
def test_binary_garbage_is_rejected_line_by_line(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    for kind in ("svmlight", "vw", "jsonl"):
        out = ("--out", tmp_path / f"p{kind}", "--rejects", tmp_path / f"r{kind}", "--json", "--target", "y")
        report = account(stream(tmp_path / "a", "--format", kind, *out))
        assert report["rejected"] > 0
        assert report["rows"] < 20


def test_a_stream_that_ends_within_a_row(tmp_path):
    text = b"1 1:2\n-1 1:-2\n1 1:3"
    (tmp_path / "a.svm").write_bytes(text)
    out = ("--out", tmp_path / "p", "--json", "--format", "svmlight")
    assert account(stream(tmp_path / "a.svm", *out))["rows"] == 3  # a file: its last row
    piped = account(stream("-", *out, "--rejects", tmp_path / "r", input=text))
    assert (piped["rows"], piped["rejected"]) == (2, 1)
    assert "ended within this row" in (tmp_path / "r").read_text()


def test_a_long_line_is_read_over_in_bounded_memory(tmp_path):
    read_over(tmp_path, 64)


@pytest.mark.slow
def test_a_line_of_a_gigabyte_is_read_over_in_bounded_memory(tmp_path):
    read_over(tmp_path, 1024)


def read_over(tmp_path, megabytes):
    reader, writer = os.pipe()

    def send():
        with os.fdopen(writer, "wb") as file:
            file.write(b"1 1:2\n-1 1:-2\n")
            file.write(b"1 ")
            for _ in range(megabytes):
                file.write(b"7" * MEGABYTE)
            file.write(b"\n1 1:3\n")

    sender = threading.Thread(target=send)
    sender.start()
    out = ("--out", tmp_path / "p", "--rejects", tmp_path / "r", "--json", "--format", "svmlight")
    report = account(stream("-", *out, stdin=reader, preexec_fn=limited(256)))
    sender.join()
    os.close(reader)
    assert (report["rows"], report["rejected"]) == (3, 1)
    (told,) = (tmp_path / "r").read_text().splitlines()
    assert json.loads(told)["line"] == 3
    assert len(told) < 500
    assert (tmp_path / "p").read_text() == "\n1\n\n1\n"


def many_bad_rows(folder, n):
    with (folder / "a.svm").open("w") as file:
        for _ in range(n // 1000):
            file.write("1 3:4 2:1 this is wrong\n" * 1000)
        file.write("1 1:2\n-1 1:-2\n")
    out = ("--out", folder / "p", "--rejects", folder / "r", "--json")
    report = account(stream(folder / "a.svm", *out, preexec_fn=limited(256)))
    assert (report["rows"], report["rejected"]) == (2, n)
    with (folder / "r").open() as file:
        assert sum(1 for _ in file) == n


def test_many_bad_rows(tmp_path):
    many_bad_rows(tmp_path, 50_000)


@pytest.mark.slow
def test_a_million_bad_rows(tmp_path):
    many_bad_rows(tmp_path, 1_000_000)


def test_a_consumer_that_stops_reading_is_waited_for_and_a_signal_ends_the_wait(tmp_path):
    (tmp_path / "a.svm").write_text(rows(100_000))
    state = ("--checkpoint", tmp_path / "c", "--checkpoint-rows", 1, "--model", tmp_path / "m.sepx")
    process = started(tmp_path / "a.svm", *state, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    read = os.read(process.stdout.fileno(), 1000)
    time.sleep(1.0)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 128 + signal.SIGTERM
    assert b"stopped by SIGTERM" in process.stderr.read()
    assert read.count(b"\n") > 100
    assert load(tmp_path / "m.sepx").learner.classes_.tolist() == [-1.0, 1.0]
    process.stdout.close()
    process.stderr.close()
    ended = stream(tmp_path / "a.svm", *state, "--resume", "--out", tmp_path / "p")
    assert ended.returncode == 0, ended.stderr.decode()


def test_a_consumer_that_goes_away_leaves_a_checkpoint(tmp_path):
    (tmp_path / "a.svm").write_text(rows(100_000))
    state = ("--checkpoint", tmp_path / "c", "--checkpoint-rows", 1000)
    process = started(tmp_path / "a.svm", *state, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    os.read(process.stdout.fileno(), 1000)
    process.stdout.close()
    assert process.wait(60) == 128 + signal.SIGPIPE
    assert (tmp_path / "c").exists()


def test_a_full_disk_is_one_sentence_and_the_last_checkpoint_is_good(tmp_path):
    (tmp_path / "a.svm").write_text(rows(100_000))
    once = stream(tmp_path / "a.svm", "--out", tmp_path / "once", "--model", tmp_path / "once.sepx")
    assert once.returncode == 0
    words = (tmp_path / "a.svm", "--out", tmp_path / "p", "--model", tmp_path / "m.sepx")
    state = ("--checkpoint", tmp_path / "c", "--checkpoint-rows", 1000)

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))

    full = stream(*words, *state, preexec_fn=small)
    assert full.returncode == 2
    (sentence,) = full.stderr.decode().splitlines()
    assert "File too large after" in sentence
    assert "run the same command with --resume" in sentence
    ended = stream(*words, *state, "--resume")
    assert ended.returncode == 0, ended.stderr.decode()
    assert (tmp_path / "p").read_bytes() == (tmp_path / "once").read_bytes()
    assert (tmp_path / "m.sepx").read_bytes() == (tmp_path / "once.sepx").read_bytes()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 2 MB, where the system lets this process mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("no disk may be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def sentence_of(done):
    assert done.returncode == 2
    (sentence,) = done.stderr.decode().splitlines()
    assert "No space left on device" in sentence
    return sentence


def test_a_disk_that_is_really_full(tmp_path, small_disk):
    (tmp_path / "a.svm").write_text(rows(100_000))
    once = stream(tmp_path / "a.svm", "--out", tmp_path / "once", "--scores")
    assert once.returncode == 0
    state = ("--checkpoint", tmp_path / "c", "--checkpoint-rows", 1000, "--scores")
    full = sentence_of(stream(tmp_path / "a.svm", "--out", small_disk / "p", *state))
    assert full.startswith(f"error: {small_disk / 'p'}: ")
    assert "run the same command with --resume" in full
    subprocess.run(["mount", "-o", "remount,size=100m", small_disk], check=True)
    ended = stream(tmp_path / "a.svm", "--out", small_disk / "p", *state, "--resume")
    assert ended.returncode == 0, ended.stderr.decode()
    assert (small_disk / "p").read_bytes() == (tmp_path / "once").read_bytes()


def test_a_full_disk_is_named_where_checkpoints_and_caches_are_to_be(tmp_path, small_disk):
    (tmp_path / "a.svm").write_text(rows(100_000))
    (small_disk / "filled").write_bytes(bytes(2**21 - 4096))
    words = ("--out", tmp_path / "p", "--checkpoint", small_disk / "c", "--checkpoint-rows", 1000)
    told = sentence_of(stream(tmp_path / "a.svm", *words))
    assert told.startswith(f"error: {small_disk / 'c'}: ")
    with pytest.raises(OSError, match="No space left on device") as full:
        cache_rows(tmp_path / "a.svm", folder=small_disk)
    assert full.value.filename == str(small_disk)
    (small_disk / "filled").unlink()
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_a_socket_of_this_machine(tmp_path, kind):
    text = rows(2000).encode()
    server = socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET)
    server.bind(str(tmp_path / "s") if kind == "unix" else ("127.0.0.1", 0))
    server.listen()
    name = f"unix:{tmp_path / 's'}" if kind == "unix" else f"tcp:localhost:{server.getsockname()[1]}"

    def serve():
        with server, server.accept()[0] as peer:
            for begin in range(0, len(text), 10_000):
                peer.sendall(text[begin : begin + 10_000])

    sender = threading.Thread(target=serve)
    sender.start()
    report = account(stream(name, "--out", tmp_path / "p", "--json"))
    sender.join()
    (tmp_path / "a.svm").write_bytes(text)
    assert report["rows"] == 2000
    once = stream(tmp_path / "a.svm", "--out", tmp_path / "once", "--json")
    assert (tmp_path / "p").read_bytes() == (tmp_path / "once").read_bytes()
    assert account(once)["mistakes"] == report["mistakes"]


def test_sockets_of_other_machines_are_refused():
    ended = stream("tcp:192.0.2.1:80", "--out", os.devnull)
    assert ended.returncode == 2
    assert b"only sockets of this machine are read" in ended.stderr
    gone = stream("unix:/nowhere", "--out", os.devnull)
    assert gone.returncode == 2
    assert b"cannot be connected to" in gone.stderr


def test_a_gigabyte_of_rows_in_little_memory_small(tmp_path):
    learned_in(tmp_path, megabytes=24, memory=160)


@pytest.mark.slow
def test_a_gigabyte_of_rows_in_little_memory(tmp_path):
    learned_in(tmp_path, megabytes=1000, memory=256)


def learned_in(folder, megabytes, memory):
    text = rows(20_000).encode()
    with (folder / "a.svm").open("wb") as file:
        while file.tell() < megabytes * 1_000_000:
            file.write(text)
    out = ("--out", folder / "p", "--model", folder / "m.sepx", "--json")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    report = account(stream(folder / "a.svm", *out, preexec_fn=limited(memory), env=environment, timeout=600))
    repeats = report["rows"] // 20_000
    (folder / "a.svm").unlink()
    (folder / "one.svm").write_bytes(text)
    X, y = read_libsvm(folder / "one.svm")
    expected = AveragedPerceptron()
    for _ in range(repeats):
        expected.partial_fit(X, y)
    assert np.array_equal(load(folder / "m.sepx").learner.coef_, expected.coef_)


def test_labels_cannot_steer_a_terminal(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,\x1b]0;owned\x07\n2,b\n1,b\n1,\x1b]0;owned\x07\n" * 50)
    primary, secondary = pty.openpty()
    process = started(tmp_path / "a.csv", "--target", "y", "--quiet", stdout=secondary, stderr=subprocess.DEVNULL)
    os.close(secondary)
    said = b""
    with contextlib.suppress(OSError):  # how a terminal ends whose other side is closed
        while more := os.read(primary, 4096):
            said += more
    os.close(primary)
    assert process.wait(30) == 0
    assert b"owned" in said
    assert b"\x1b" not in said
    assert b"\x07" not in said


def test_many_short_rows_with_names_of_their_own_take_little_memory(tmp_path):
    lines = (f'{{"f{k}": {k % 7}, "g{k % 5}": {k % 3}, "y": "{"ab"[k % 2]}"}}\n' for k in range(100_000))
    (tmp_path / "a.jsonl").write_text("".join(lines))
    for scale in ("none", "standard"):
        out = ("--target", "y", "--out", tmp_path / "p", "--json", "--scale", scale)
        report = account(stream(tmp_path / "a.jsonl", *out, preexec_fn=limited(400)))
        assert (report["rows"], report["features"]) == (100_000, 100_005)


def test_names_beyond_the_limit_of_features_are_left_out_and_counted(tmp_path):
    lines = (f'{{"x": {k % 3}, "f{k}": 1, "ward": "w{k}", "y": "{"ab"[k % 2]}"}}\n' for k in range(20))
    (tmp_path / "a.jsonl").write_text("".join(lines))
    words = ("--target", "y", "--features", 11, "--model", tmp_path / "m.sepx")
    report = account(stream(tmp_path / "a.jsonl", "--out", tmp_path / "p", "--json", *words))
    assert (report["rows"], report["features"]) == (20, 11)
    assert (
        "30 cells of new columns or categories were left out: there are 11 features already; raise --features"
        in (report["notes"])
    )
    assert len(load(tmp_path / "m.sepx").encoder.inputs) == 7


@pytest.mark.parametrize("cell", [r'"y": "\ud800"', r'"y": "a", "ward": "\udFFF"', r'"y": "a", "\uD812": 1'])
def test_half_a_character_is_rejected_and_the_model_is_saved(tmp_path, cell):
    good = ['{"x": 1, "y": "a"}', '{"x": 2, "y": "b", "ward": "\\ud83d\\ude00"}'] * 5
    (tmp_path / "a.jsonl").write_text("\n".join([*good[:5], f'{{"x": 3, {cell}}}', *good]) + "\n")
    out = ("--target", "y", "--out", tmp_path / "p", "--rejects", tmp_path / "r", "--model", tmp_path / "m.sepx")
    report = account(stream(tmp_path / "a.jsonl", *out, "--json"))
    assert (report["rows"], report["rejected"]) == (15, 1)
    told = json.loads((tmp_path / "r").read_text())
    assert told["line"] == 6
    assert "is half of a character, not text" in told["reason"]
    assert load(tmp_path / "m.sepx").classes == ["a", "b"]


def test_a_full_disk_names_the_file_that_is_full(tmp_path):
    (tmp_path / "a.svm").write_text(rows(300, bad_every=10))
    full = stream(tmp_path / "a.svm", "--out", tmp_path / "p", "--rejects", "/dev/full")
    assert full.returncode == 2
    assert full.stderr.startswith(b"error: /dev/full: No space left on device")


def test_a_disk_that_fills_soon_leaves_a_checkpoint_of_the_first_rows(tmp_path):
    (tmp_path / "a.svm").write_text(rows(100_000))

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))

    words = (tmp_path / "a.svm", "--out", tmp_path / "p", "--checkpoint", tmp_path / "c")  # every ten seconds
    full = stream(*words, preexec_fn=small)
    assert full.returncode == 2
    assert b"run the same command with --resume" in full.stderr
    assert stream(*words, "--resume").returncode == 0
    assert stream(tmp_path / "a.svm", "--out", tmp_path / "once").returncode == 0
    assert (tmp_path / "p").read_bytes() == (tmp_path / "once").read_bytes()
