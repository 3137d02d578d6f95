"""Redraw docs/lab.png: the lab with the perceptron at the end of its run, under the proof of its bound.

    python docs/lab_picture.py

needs chromium on the path, playwright (the group browser), and Pillow, which matplotlib brings.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).with_name("lab.png")
WIDTH, HEIGHT, COLOURS = 1280, 800, 128


def main() -> None:
    """Serve, photograph, and keep a few colours."""
    command = [sys.executable, "-m", "separatrix", "lab", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        shot = photograph(found[0])
    finally:
        process.terminate()
        process.wait(30)
    with Image.open(io.BytesIO(shot)) as image:
        image.convert("RGB").quantize(COLOURS).save(PICTURE, optimize=True)
    sys.stdout.write(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes\n")


def photograph(address: str) -> bytes:
    """The lesson on margin and bound, after the run."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for _ in range(50):
            try:
                page.goto(address)
                break
            except Exception:  # playwright's error for a server that does not listen yet
                page.wait_for_timeout(200)
        page.wait_for_selector("html[data-state=answered]")
        page.select_option("#preset", "separable")
        page.wait_for_selector("html[data-state=answered]")
        page.click("#end")
        page.click("#tab-proof")
        page.click("#check")
        page.wait_for_selector("#checked .verdict")
        shot = page.screenshot()
        browser.close()
        return bytes(shot)


if __name__ == "__main__":
    main()
