"""The guide's page about PyTorch runs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import book


def test_the_snippets_of_the_page_about_pytorch_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book.run("docs/pytorch.md")
