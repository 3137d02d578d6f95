"""Redraw docs/lab.png: the lab with the perceptron at the end of its run, under the proof of its bound.

    python docs/lab_picture.py

needs chromium on the path, playwright (the group browser), and Pillow, which matplotlib brings.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from separatrix.lab.static_files import write_lab

PICTURE = Path(__file__).with_name("lab.png")
WIDTH, HEIGHT, COLOURS = 1280, 800, 128


def main() -> None:
    """Write the page, photograph it, and keep a few colours."""
    with tempfile.TemporaryDirectory() as folder:
        write_lab(Path(folder))
        shot = photograph(f"file://{folder}/index.html#lesson=2")
    with Image.open(io.BytesIO(shot)) as image:
        image.convert("RGB").quantize(COLOURS).save(PICTURE, optimize=True)
    sys.stdout.write(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes\n")


def photograph(address: str) -> bytes:
    """The lesson on margin and bound, after three updates."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(address)
        page.wait_for_selector("html[data-state=answered]")
        for _ in range(3):
            page.click("#update")
        shot = page.screenshot()
        browser.close()
        return bytes(shot)


if __name__ == "__main__":
    main()
