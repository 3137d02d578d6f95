"""Redraw docs/report.png: the first screen of the report of example:visits, as chromium shows it.

    python docs/report_picture.py

needs chromium on the path, and Pillow, which matplotlib brings.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

import separatrix

PICTURE = Path(__file__).with_name("report.png")
WIDTH, HEIGHT, COLOURS = 1180, 1060, 255


def main() -> None:
    """Audit, photograph, and keep a few colours."""
    with tempfile.TemporaryDirectory() as folder:
        audited = separatrix.audit("example:visits", ledger=Path(folder) / "ledger")
        report = audited.save(Path(folder) / "audit") / "report.html"
        sys.stdout.write(f"{audited}\n")  # the README shows lines of the same audit
        shot = Path(folder) / "shot.png"
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        size = [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={shot}"]
        subprocess.run(["chromium", *options, *size, report.as_uri()], check=True, capture_output=True)
        with Image.open(shot) as image:
            image.convert("RGB").quantize(COLOURS).save(PICTURE, optimize=True)
    sys.stdout.write(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
