"""Where output goes: never onto an input, never in part, and a device that is full is one sentence."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from commands import CODE, process, refused, separatrix
from separatrix.errors import NO_MEMORY

ROWS = "x,ward,ok\n" + "".join(f"{i * 7 % 20},{'AB'[i % 2]},{'yes' if i * 7 % 20 > 9 else 'no'}\n" for i in range(60))
NUMBERS = "x\tz\ty\n1\t0\t0\n2\t1\t0\n3\t0\t0\n4\t2\t1\n5\t1\t1\n6\t7\t1\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    assert separatrix("fit", "rows.csv", "-t", "ok", "-o", "m.sepx", cwd=tmp_path).returncode == 0
    (tmp_path / "numbers.tsv").write_text(NUMBERS)
    (tmp_path / "c-rows.csv").write_text(NUMBERS)
    os.symlink("rows.csv", tmp_path / "link.csv")
    os.link(tmp_path / "rows.csv", tmp_path / "hard.csv")
    os.link(tmp_path / "m.sepx", tmp_path / "hard.sepx")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "rows.csv", "-t", "ok", "-o", "rows.csv"),
        ("fit", "rows.csv", "-t", "ok", "-o", "./link.csv"),
        ("fit", "link.csv", "-t", "ok", "-o", "hard.csv"),
        ("fit", "*.csv", "-t", "ok", "-o", "rows.csv"),
        ("fit", "SELECT * FROM 'rows.csv'", "-t", "ok", "-o", "hard.csv"),
        ("fit", "SELECT * FROM read_csv(['rows.csv', 'r*.csv'])", "-t", "ok", "-o", "rows.csv"),
        ("predict", "m.sepx", "rows.csv", "-o", "rows.csv"),
        ("predict", "m.sepx", "rows.csv", "-o", "m.sepx"),
        ("predict", "m.sepx", "rows.csv", "-o", "hard.sepx", "--format", "jsonl"),
        ("export", "m.sepx", "-o", "hard.sepx", "--format", "sql"),
        ("certify", "numbers.tsv", "-t", "y", "--out", "numbers.tsv"),
        ("certify", "c-rows.csv", "-t", "y", "--out", "c.json"),
        ("audit", "out/certified.csv", "-t", "y", "-o", "out"),
    ],
    ids=" ".join,
)
def test_no_input_is_overwritten(words, folder):
    if words[0] == "audit":
        assert separatrix("audit", "rows.csv", "-t", "ok", "-o", "out", "--budget", "1", cwd=folder).returncode == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    refused(separatrix(*words, cwd=folder), "the input")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_standard_input_is_an_input(folder):
    with (folder / "rows.csv").open() as given:
        done = process("predict", "m.sepx", "-", "-o", "hard.csv", cwd=folder, stdin=given)
    refused(done, "which is standard input")


@pytest.mark.parametrize("name", ["select rows.csv", "from x", "WITH t", "example:iris", "a[1]*?.csv", "https://x"])
def test_a_file_is_a_file_whatever_its_name_looks_like(name, tmp_path):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(ROWS)
    done = separatrix("describe", name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[0].endswith("60 rows · 3 columns")


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM, signal.SIGINT], ids=str)
@pytest.mark.parametrize("form", ["csv", pytest.param("parquet", marks=pytest.mark.slow)])
def test_a_process_that_is_ended_leaves_nothing_behind(ending, form, folder):
    for name in ("link.csv", "hard.csv", "hard.sepx", "c-rows.csv", "numbers.tsv"):
        (folder / name).unlink()
    (folder / "long.csv").write_text(ROWS + ROWS.split("\n", 1)[1] * 30_000)
    (folder / "temporary").mkdir()
    command = [sys.executable, "-c", CODE, "predict", "m.sepx", "-", "-o", f"p.{form}"]
    environment = {**os.environ, "TMPDIR": str(folder / "temporary")}
    with (folder / "long.csv").open() as given:
        running = subprocess.Popen(
            command, cwd=folder, stdin=given, stderr=subprocess.PIPE, env=environment, preexec_fn=hear_hangups
        )
    while running.poll() is None and not written(running.pid, folder) > 100_000:
        time.sleep(0.01)
    running.send_signal(ending)
    _, said = running.communicate(timeout=120)
    assert said.decode().strip() == ("interrupted" if ending == signal.SIGINT else "")
    assert running.returncode == (-ending if ending == signal.SIGKILL else 128 + ending)
    assert sorted(p.name for p in folder.rglob("*")) == ["long.csv", "m.sepx", "rows.csv", "temporary"]


def hear_hangups():
    """Undo what a child inherits where the tests themselves run under nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def written(pid, folder):
    """Bytes in files of the folder that the process has open for writing, named or not; its copy of input aside."""
    total = 0
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            place = os.readlink(entry.path)
            if place.startswith(str(folder)) and "temporary" not in place and "long.csv" not in place:
                total += os.stat(entry.path).st_size
        except OSError:
            continue
    return total


FULL = {
    "describe": ("rows.csv",),
    "describe --json": ("rows.csv", "--json"),
    "predict": ("m.sepx", "rows.csv"),
    "evaluate": ("m.sepx", "rows.csv"),
    "export": ("m.sepx", "--format", "sql"),
    "examples": (),
    "schema": ("fit",),
    "fit": ("--help",),
}


@pytest.mark.parametrize("command", FULL)
def test_a_full_device_is_one_sentence(command, folder):
    words = (*command.split()[:1], *FULL[command])
    with open("/dev/full", "w") as full:
        done = process(*words, cwd=folder, stdout=full)
        assert (done.returncode, done.stderr) == (2, "error: the output: No space left on device.\n")
        if command == "describe":
            assert process(*words, cwd=folder, stdout=full, stderr=full).returncode == 2
            assert process("describe", "no.csv", cwd=folder, stderr=full).returncode == 2


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as Linux does")
@pytest.mark.parametrize("megabytes", [60, 120, 200, 300, 400])
def test_a_limit_on_memory_is_a_sentence(megabytes, folder):
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 10**6, megabytes * 10**6))

    words = ("fit", "rows.csv", "-t", "ok", "-l", "logistic-regression", "-o", "new.sepx")
    done = process(*words, cwd=folder, preexec_fn=limited)
    assert done.returncode in (0, 2), done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert "there is not enough memory" in done.stderr.splitlines()[-1]
        assert not (folder / "new.sepx").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as Linux does")
def test_too_little_memory_to_begin_is_a_sentence(folder):
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (19 * 10**6, 19 * 10**6))

    words = [sys.executable, "-m", "separatrix", "describe", "rows.csv"]
    done = subprocess.run(words, cwd=folder, preexec_fn=limited, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert done.stderr == f"error: {NO_MEMORY}\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at threads as Linux shows them")
@pytest.mark.parametrize("ended", [False, True])
def test_a_library_that_waits_for_its_own_lock_is_ended(ended):
    """As one did whose allocation failed while it was loaded, or while the process ended."""
    wait = "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()"
    if ended:
        wait = f"import atexit; atexit.register(lambda: exec({wait!r}))"
    code = f"""import resource
resource.setrlimit(resource.RLIMIT_AS, (8 * 10**9, 8 * 10**9))
from separatrix.cli.process import watch_memory
watch_memory()
{wait}"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (2, f"error: {NO_MEMORY}\n")


def test_exit_codes_pass_through_the_guard_of_memory(folder):
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (8 * 10**9, 8 * 10**9))

    words = ("certify", "numbers.tsv", "-t", "y", "--out", "c.json", "--expect", "overlap")
    assert process(*words, cwd=folder, preexec_fn=limited).returncode == 1
    refused(process("fit", "no.csv", cwd=folder, preexec_fn=limited), "no.csv does not exist")


def test_a_deep_line_of_the_ledger(folder):
    (folder / "ledger").write_text('{"rows": ' + "[" * 100_000 + "\n")
    words = ("fit", "rows.csv", "-t", "ok", "--holdout", "0.25", "--ledger", "ledger", "-o", "new.sepx")
    done = separatrix(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
