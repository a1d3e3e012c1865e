"""The Python snippets of a page of the guide: fenced blocks, and comments `<!-- python ... -->` for what need not be shown."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# A fence or a comment: the words behind `python`, the code.
_BLOCK = re.compile(r"^(?:```python|<!-- python)([^\n]*)\n(.*?)^(?:```|-->)$", re.MULTILINE | re.DOTALL)


def pages() -> list[str]:
    """The pages with snippets that run, by their path from the root of the repository."""
    guide = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in [*guide, "README.md"] if snippets(page)]


def snippets(page: str) -> list[str]:
    """The code of a page in its order. A block whose fence gives a reason is left out; the tests of the command count these."""
    found = []
    text = (ROOT / page).read_text()
    for match in _BLOCK.finditer(text):
        if not match[1].strip():
            # Blank lines keep the line numbers of the page.
            found.append("\n" * (text.count("\n", 0, match.start()) + 1) + match[2])
    return found


def run(page: str) -> None:
    """Runs the snippets of a page one after another in one namespace."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for code in snippets(page):
        exec(compile(code, str(ROOT / page), "exec"), namespace)
