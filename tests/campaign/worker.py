"""Runs cases one after another in a process of its own, so that a hang or a crash of one is only that one's failure.

    python tests/campaign/worker.py sets 1234 1     # case 1234 again, as the campaign ran it

Each case has SECONDS of wall time and BYTES of address space. What fails is printed with its number and its data.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

SECONDS = 60  # for one case; the slowest takes less than one on an idle machine
BYTES = 4 << 30
MOST = 20  # failures that are reported before the rest is left off


def work(kind, first, count, seconds):
    """In the process of its own: each case, and at the end what was counted, as lines of JSON."""
    sys.path.append(str(Path(__file__).parent.parent))
    if kind == "larger":
        from larger_sets import both_checkers

        both_checkers()
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")
    faulthandler.enable()
    from kinds import KINDS

    check, show = KINDS[kind]
    tally = Counter()
    for case in range(first, first + count):
        say({"at": case})
        faulthandler.dump_traceback_later(seconds, exit=True)
        try:
            check(case, tally)
        except Exception:
            say({"failed": case, "why": traceback.format_exc(limit=-6), "data": show(case)})
        faulthandler.cancel_dump_traceback_later()
        tally["cases"] += 1
    say({"tally": tally})


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def shown(kind, case):
    """The data of a case."""
    sys.path.append(str(Path(__file__).parent.parent))
    from kinds import KINDS

    return KINDS[kind][1](case)


def campaign(kind, first, count, seconds=SECONDS):
    """All cases, whatever happens to the processes: (failures, tally)."""
    failures, tally, at = [], Counter(), first
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    while at < first + count and len(failures) < MOST:
        command = [sys.executable, str(Path(__file__)), "--work", kind, *map(str, (at, first + count - at, seconds))]
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ, **threads}
            )
            begun = at
            for text in process.stdout:
                line = json.loads(text)
                if "failed" in line:
                    failures.append(f"{kind} {line['failed']}: {line['data']}\n{line['why']}")
                    if len(failures) >= MOST:
                        process.kill()
                        break
                elif "tally" in line:
                    tally.update(line["tally"])
                else:
                    at = line["at"]
            process.stdout.close()
            if process.wait() == 0:
                break
            if len(failures) < MOST:  # a hang, a crash, or memory
                errors.seek(0)
                tally["cases"] += at - begun + 1
                ended = f"the process ended with {process.returncode}\n{errors.read()[-3000:]}"
                failures.append(f"{kind} {at}: {shown(kind, at)}\n{ended}")
        at += 1
    return failures, tally


def main(kind, first, count):
    failures, tally = campaign(kind, int(first), int(count))
    sys.stdout.write("\n".join([*failures, json.dumps(tally, indent=1, sort_keys=True), ""]))
    return bool(failures)


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        work(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        sys.exit(main(*sys.argv[1:]))
