"""Commands as they are typed: without arguments, with -o, interrupted, on the rows of the fit, with a bar."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from commands import separatrix
from separatrix.cli import output as bars
from separatrix.cli.main import COMMANDS

NEED_ARGUMENTS = sorted(set(COMMANDS) - {"examples", "schema", "completion", "lab"})


@pytest.mark.parametrize("command", NEED_ARGUMENTS)
def test_without_arguments_a_command_says_how_it_is_used(command):
    done = separatrix(command)
    assert done.returncode == 2
    assert f"Usage: separatrix {command} [OPTIONS]" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_a_shell(shell):
    done = separatrix("completion", shell)
    assert done.returncode == 0
    assert "_SEPARATRIX_COMPLETE" in done.stdout
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=done.stdout, text=True, check=False).returncode == 0
    assert separatrix("completion", env={"SHELL": f"/bin/{shell}"}).stdout == done.stdout


def test_completion_for_another_shell_is_refused():
    for words, env in ((("completion",), {"SHELL": "/bin/tcsh"}), (("completion", "tcsh"), {})):
        done = separatrix(*words, env=env)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1


def test_certify_takes_a_short_out(tmp_path):
    assert separatrix("certify", "example:six-points", "-o", "c.json", cwd=tmp_path).returncode == 0
    assert (tmp_path / "c.json").is_file()


def test_evaluate_says_when_the_rows_are_those_of_the_fit(tmp_path):
    separatrix("fit", "example:spam", "-o", "m.sepx", cwd=tmp_path)
    separatrix("fit", "example:spam", "-o", "h.sepx", "--holdout", "0.3", "--ledger", "l.jsonl", cwd=tmp_path)
    assert "fitted on these very rows" in separatrix("evaluate", "m.sepx", "example:spam", cwd=tmp_path).stderr
    assert (
        "fitted on these very rows" in separatrix("evaluate", "m.sepx", "example:spam", "--json", cwd=tmp_path).stdout
    )
    assert "fitted on" not in separatrix("evaluate", "h.sepx", "example:spam", cwd=tmp_path).stderr


def test_the_audit_counts_its_budget_from_the_start_of_the_command(tmp_path, monkeypatch):
    from separatrix.auditing import audit as auditing

    seen = {}

    def spy(source, **options):
        seen.update(options, at=time.perf_counter())
        raise KeyboardInterrupt

    monkeypatch.setattr(auditing, "audit", spy)
    before = time.perf_counter()
    assert separatrix("audit", "example:spam", cwd=tmp_path).returncode == 130
    assert before <= seen["began"] <= seen["at"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_counts_from_the_beginning_of_the_work(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(bars.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", Terminal())
    with bars.Progress("work") as progress:
        now[0] = 130.0  # nothing was said for half a minute
        progress.at(lambda: 0.25)
        assert progress.times() == " 25%  0:30 elapsed, 1:30 left"
        now[0] = 140.0
        assert progress.times() == " 25%  0:40 elapsed, 1:20 left"
        now[0] = 190.0
        progress.at(lambda: 0.5)
        assert progress.times() == " 50%  1:30 elapsed, 1:30 left"
    assert progress.times() == "100%  1:30 elapsed"
    assert "100%" in sys.stderr.getvalue()


def test_progress_without_a_known_end(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with bars.Progress("work") as progress:
        progress.start()
        assert progress.times() == "0:00 elapsed"
    assert bars.clock(3 * 3600 + 62) == "3:01:02"


def test_work_that_fails_is_not_shown_as_done(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    progress = bars.Progress("work")
    progress.started -= 9
    progress.at(lambda: 0.5)
    with contextlib.suppress(ValueError), progress:
        raise ValueError("broken")
    assert "100%" not in sys.stderr.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.3, 0.8, 1.5, 2.5])
@pytest.mark.parametrize("words", [("describe", "t.csv"), ("fit", "t.csv"), ("audit", "t.csv")], ids=lambda w: w[0])
def test_an_interruption_is_130_at_any_moment(tmp_path, words, seconds):
    with (tmp_path / "t.csv").open("w") as file:
        file.write("a,word,y\n")
        file.writelines(f"{i * 7919 % 1000 / 7},w{i % 13},{i % 2}\n" for i in range(600_000))
    command = [sys.executable, "-m", "separatrix", *words]
    started = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    os.kill(started.pid, signal.SIGINT)
    _, said = started.communicate(timeout=120)
    if started.returncode != 0:  # it was done before
        assert abs(started.returncode) in (130, signal.SIGINT), said
    if started.returncode == 130:
        assert "Traceback" not in said


def test_threads_are_an_option_of_commands_that_read_many_rows(tmp_path):
    before = os.environ.get("SEPARATRIX_NUM_THREADS")
    models = []
    for count in ("1", "3"):
        out = tmp_path / f"{count}.sepx"
        done = separatrix("fit", "example:spam", "--threads", count, "-o", out)
        assert done.returncode == 0, done.stderr
        models.append(out.read_bytes())
    assert models[0] == models[1]
    assert os.environ.get("SEPARATRIX_NUM_THREADS") == before
    refused = separatrix("audit", "example:spam", "--threads", "0")
    assert refused.returncode == 2
    assert "--threads" in refused.stderr
