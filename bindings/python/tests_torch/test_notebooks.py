"""The notebook with PyTorch runs from top to bottom and shows what was committed with it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import notebooks


def test_the_notebook_shows_what_was_committed():
    kept = notebooks.read("images")
    assert any("image/png" in output.get("data", {}) for cell in kept.cells for output in cell.get("outputs", []))
    found = notebooks.differences(kept, notebooks.executed("images"))
    assert not found, "\n".join(["run tools/notebooks.py", *found])
