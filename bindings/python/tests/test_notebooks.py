"""The notebooks run from top to bottom and show what was committed with them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import notebooks

NAMES = ["ages", "cluster", "explaining", "onnx", "votes"]


@pytest.mark.parametrize("name", NAMES)
def test_the_notebook_shows_what_was_committed(name):
    kept = notebooks.read(name)
    assert any("image/png" in output.get("data", {}) for cell in kept.cells for output in cell.get("outputs", [])) or (
        name == "cluster"
    ), "run tools/notebooks.py"
    found = notebooks.differences(kept, notebooks.executed(name))
    assert not found, "\n".join(["run tools/notebooks.py", *found])


def test_every_notebook_is_run_here_or_beside_pytorch():
    assert {path.stem for path in notebooks.FOLDER.glob("*.ipynb")} == {*NAMES, "images"}


def test_other_words_and_numbers_are_differences_and_rounding_is_none():
    assert notebooks.agree("score -0.1734 of 3", "score -0.1733 of 3")
    assert not notebooks.agree("score -0.1734", "score -0.2734")
    assert not notebooks.agree("score 0.5", "loss 0.5")
    assert not notebooks.agree("[1, 2]", "[1, 2, 3]")
