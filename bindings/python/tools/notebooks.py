#!/usr/bin/env python3
"""Runs the notebooks and keeps their outputs, which the tests compare with a fresh run.

python bindings/python/tools/notebooks.py votes ages     # or all; PyTorch's needs the environment of tests_torch
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"

#: Processors round differently, and a training carries that on.
TOLERANCE = 0.02

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def read(name: str) -> Any:
    """A notebook as it is committed."""
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    return notebook


def executed(name: str) -> Any:
    """A notebook with the outputs of a fresh run, without what differs from run to run."""
    notebook = read(name)
    for cell in notebook.cells:
        cell.metadata = {}
    # Figures go into the notebook, whatever the caller draws on.
    environment = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute(env=environment)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stderr":
                raise RuntimeError(f"{name}: a cell writes on standard error: {output.text}")
    return notebook


def differences(kept: Any, fresh: Any) -> list[str]:
    """What a fresh run shows otherwise than the committed notebook, in words: texts, numbers beyond rounding, missing figures."""
    found = []
    for place, (old, new) in enumerate(zip(kept.cells, fresh.cells)):
        if old.cell_type != "code":
            continue
        if [_kinds(output) for output in old.outputs] != [_kinds(output) for output in new.outputs]:
            found.append(f"cell {place} shows {[_kinds(output) for output in new.outputs]}")
            continue
        for before, after in zip(map(_text, old.outputs), map(_text, new.outputs)):
            if not agree(before, after):
                found.append(f"cell {place} says\n{after}\ninstead of\n{before}")
    return found


def agree(before: str, after: str) -> bool:
    """Whether two texts are the same but for the last digits of their numbers."""
    if _wording(before) != _wording(after):
        return False
    pairs = zip(map(float, NUMBER.findall(before)), map(float, NUMBER.findall(after)))
    return all(abs(one - other) <= TOLERANCE * max(abs(one), abs(other), 1.0) for one, other in pairs)


def _wording(text: str) -> list[str]:
    return NUMBER.sub("#", text).split()


def _kinds(output: Any) -> list[str]:
    return sorted(output.get("data", {output.output_type: None}))


def _text(output: Any) -> str:
    """The text of an output; figures are compared by being there."""
    text = output.get("text") or output.get("data", {}).get("text/plain", "")
    return "" if "image/png" in output.get("data", {}) else re.sub(r"0x[0-9a-f]+", "0x", text)


def main(names: list[str]) -> None:
    for name in names or sorted(path.stem for path in FOLDER.glob("*.ipynb")):
        nbformat.write(executed(name), FOLDER / f"{name}.ipynb")
        print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
