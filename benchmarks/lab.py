"""The lab: scripting of a drag, an answered step, the first page; ``--clients`` adds fifty clients for a minute.

Limits: 8 ms of scripting for a drag event at 200 points, 30 ms for a step at 500 points, 200 kB and 1 s for the first
page. ``checker.js`` is loaded when a certificate is checked, and not counted.
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EVENTS, CLIENTS, SECONDS = 120, 50, 60
FILES = ["", *(path.name for path in Path("src/separatrix/lab/static").glob("*") if path.suffix != ".html")]


@contextmanager
def served() -> Iterator[tuple[str, int, str, int]]:
    """Address, port, token and process id of a lab of its own."""
    command = [sys.executable, "-m", "separatrix", "lab", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)/#token=([\w-]+)", process.stdout.readline())
        assert found is not None
        port = int(found[1])
        for _ in range(200):
            try:
                http.client.HTTPConnection("127.0.0.1", port, timeout=5).connect()
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        yield found[0], port, found[2], process.pid
    finally:
        process.terminate()
        process.wait(30)


def scene(count: int) -> dict[str, Any]:
    """Points in two classes that overlap, so that a run is long."""
    points = [
        {"x": k * 37 % 101 / 10, "y": k * 53 % 97 / 10, "label": 1 if k * 37 % 101 > 50 else -1} for k in range(count)
    ]
    points[0]["label"] = -points[0]["label"]
    return {"points": points, "choices": {"max_iter": 10}}


def asked(port: int, token: str, path: str, body: Any = None) -> tuple[float, float, int]:
    """Seconds to the first line of the answer and to its end, and its bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    start = time.perf_counter()
    sent = None if body is None else json.dumps(body)
    connection.request("GET" if body is None else "POST", path, sent, {"X-Separatrix-Token": token})
    response = connection.getresponse()
    assert response.status == 200, response.status
    first = response.readline() if body is not None else b""
    early = time.perf_counter() - start
    rest = response.read()
    connection.close()
    return early, time.perf_counter() - start, len(first) + len(rest)


def main() -> None:
    with served() as (address, port, token, pid):
        size = sum(asked(port, token, f"/{name}")[2] for name in FILES) + asked(port, token, "/api/start")[2]
        print(f"first page with its scripts and scenes: {size / 1000:.0f} kB (limit 200)")
        steps = [asked(port, token, "/api/run/stream", scene(500)) for _ in range(30)]
        early = [first for first, _, _ in steps[5:]]
        usual, most = statistics.median(early) * 1e3, max(early) * 1e3
        print(f"a step at 500 points: {usual:.1f} ms, of 25 at most {most:.1f} ms (limit 30)")
        if shutil.which("chromium") is None:
            print("Chromium is not installed: the page was not measured (.ci/browser installs it)")
        else:
            in_browser(address)
        if "--clients" in sys.argv:
            many_clients(port, token, pid)


def in_browser(address: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        ready = []
        for _ in range(6):
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(address)
            page.wait_for_selector("html[data-state=answered]")
            ready.append(page.evaluate("performance.getEntriesByName('interactive')[0].startTime"))
            page.close()
        usual, most = statistics.median(ready[1:]), max(ready[1:])
        print(f"interactive after {usual:.0f} ms, of 5 at most {most:.0f} ms (limit 1000)")
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        page.wait_for_selector("html[data-state=answered]")
        page.select_option("#preset", "separable")  # 200 points
        page.wait_for_selector("html[data-state=answered]")
        page.wait_for_timeout(500)
        meter = page.context.new_cdp_session(page)
        meter.send("Performance.enable")

        def scripting() -> float:
            return {own["name"]: own["value"] for own in meter.send("Performance.getMetrics")["metrics"]}[
                "ScriptDuration"
            ]

        box = page.locator("[data-index='0']").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        before = scripting()
        for k in range(EVENTS):
            page.mouse.move(x + k % 20, y + k // 20)
        spent = scripting() - before
        page.mouse.up()
        print(f"scripting of a drag event at 200 points: {spent / EVENTS * 1e3:.2f} ms, mean of {EVENTS} (limit 8)")
        browser.close()


def memory(pid: int) -> float:
    """Megabytes of a process."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1000


def many_clients(port: int, token: str, pid: int) -> None:
    until, answered, failed = time.monotonic() + SECONDS, [0] * CLIENTS, []
    own = scene(30)

    def work(k: int) -> None:
        while time.monotonic() < until:
            try:
                asked(port, token, "/api/run/stream", own)
                answered[k] += 1
            except (OSError, AssertionError, http.client.HTTPException) as error:
                failed.append(repr(error))

    asked(port, token, "/api/run/stream", own)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(CLIENTS)]
    for thread in threads:
        thread.start()
    sizes = []
    while time.monotonic() < until:
        time.sleep(SECONDS / 6)
        sizes.append(memory(pid))
    for thread in threads:
        thread.join()
    grown = ", ".join(f"{size:.0f}" for size in sizes)
    print(f"{CLIENTS} clients for {SECONDS} s: {sum(answered)} runs, {len(failed)} errors; memory {grown} MB")
    for error in failed[:3]:
        print(f"  {error}")
