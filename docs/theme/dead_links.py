"""Names the links of a built book that lead nowhere within it, or out of it without being an address: dead_links.py FOLDER."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(
        self, tag: str, attributes: list[tuple[str, str | None]]
    ) -> None:
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            # The script and style of a page are links too: the book must not need a network.
            if name in ("href", "src") and value:
                self.links.append(value)
                if tag in ("script", "link", "img") and urlsplit(value).scheme not in (
                    "",
                    "data",
                ):
                    self.links.append(f"loaded from elsewhere: {value}")


def main(folder: Path) -> int:
    pages = {
        path.resolve(): Page(path)
        for path in folder.rglob("*.html")
        if path.name not in ("print.html", "404.html")
    }
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme and not link.startswith("loaded"):
                continue
            target = (
                (path.parent / unquote(parts.path)).resolve() if parts.path else path
            )
            anchored = (
                target not in pages
                or not parts.fragment
                or unquote(parts.fragment) in pages[target].anchors
            )
            if not target.exists() or not anchored:
                dead.append(f"{path.relative_to(folder.resolve())}: {link}")
    print("\n".join(sorted(set(dead))) or f"{len(pages)} pages, no dead links")
    return 1 if dead or not pages else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
