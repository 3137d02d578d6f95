"""The benchmark page shows every stored result, and marks those that we lose."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from benchmarks._page import page
from benchmarks._stored import FOLDER

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")


def test_the_page_is_written_from_the_stored_results():
    assert page() == PAGE, "run python -m benchmarks, which writes the page; nothing on it is typed"


def test_every_cell_is_shown_and_every_loss_is_marked():
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")]
    ratios = [cell["ratio"] for run in runs for cell in run["cells"] if cell["ratio"] is not None]
    assert len(ratios) >= 150
    below = re.findall(r"\| (0\.\d+) \|", PAGE)
    assert not below, f"losses that are not marked: {below}"
    losses = sum(ratio < 1 for ratio in ratios)
    assert losses >= 3
    assert PAGE.count('<span class="loss">0.') >= losses
    for run in runs:
        assert run["command"] in PAGE
        assert run["system"] in PAGE


def test_a_run_stores_its_cells_with_system_seeds_and_command(tmp_path):
    """A cell without a tolerance and one with an objective, on the smallest shape."""
    only = "^(least squares|logistic C=1), tiny"
    command = ["-m", "benchmarks.matrix", "--only", only, "--results", str(tmp_path)]
    subprocess.run([sys.executable, *command], check=True, capture_output=True, cwd=ROOT, timeout=300)
    run = json.loads((tmp_path / "matrix.json").read_text(encoding="utf-8"))
    cells = {cell["work"]: cell for cell in run["cells"]}
    assert list(cells) == ["logistic C=1", "least squares"]
    for cell in cells.values():
        assert abs(cell["theirs"] / cell["ours"] / cell["ratio"] - 1) < 1e-9
    assert abs(cells["logistic C=1"]["excess"]) < 1e-5
    assert cells["least squares"]["excess"] is None
    assert "cores of" in run["system"]
    assert "seed" in run["seeds"]
    assert run["packages"]["scikit-learn"]
    text = page(tmp_path)
    assert all(work in text for work in cells)
