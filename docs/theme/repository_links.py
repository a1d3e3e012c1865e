"""Preprocessor of the book: turns links that leave docs/ into links to the repository.

Pages link to files of the repository by relative paths, which work in a checkout and on GitHub. The book has only docs/.
"""

import json
import posixpath
import re
import sys

LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def rewritten(text: str, page: str, repository: str) -> str:
    """The text of a page with its outside links turned."""

    def turned(match: re.Match[str]) -> str:
        target = match[2]
        if "://" in target or target.startswith("#"):
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if not path.startswith(".."):
            # mdBook calls a README index.html, and leaves links to its headings as they are.
            return match[0].replace("README.md#", "index.md#")
        return f"{match[1]}{repository}/blob/main/{path.removeprefix('../')}{match[3]}"

    return LINK.sub(turned, text)


def walk(items: list, repository: str) -> None:
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            if chapter["path"]:
                chapter["content"] = rewritten(
                    chapter["content"], chapter["path"], repository
                )
            walk(chapter["sub_items"], repository)


def main() -> None:
    if len(sys.argv) > 2 and sys.argv[1] == "supports":
        return
    context, book = json.load(sys.stdin)
    repository = context["config"]["output"]["html"]["git-repository-url"]
    walk(book.get("items") or book.get("sections"), repository)
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
