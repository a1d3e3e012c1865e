"""The guide's Python runs, and its reference of the package is what the sources say."""

from importlib.util import module_from_spec, spec_from_file_location

import book
import pytest

PYTORCH = "docs/pytorch.md"


@pytest.mark.parametrize("page", [page for page in book.pages() if page != PYTORCH])
def test_the_snippets_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book.run(page)


def test_the_guide_has_snippets():
    assert len(book.pages()) > 6


def test_the_reference_is_what_the_sources_say():
    path = book.ROOT / "bindings/python/tools/generate_reference.py"
    spec = spec_from_file_location("generate_reference", path)
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.TARGET.read_text() == tool.page(), f"run {path.relative_to(book.ROOT)}"
