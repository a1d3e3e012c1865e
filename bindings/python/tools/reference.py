#!/usr/bin/env python3
"""Builds the API reference of the package as HTML pages: python bindings/python/tools/reference.py FOLDER. Any warning is an error."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import warnings
from pathlib import Path

import pdoc

MODULES = ["dask", "datasets", "measures", "pipeline", "plot", "scorers", "torch"]


def build(folder: Path) -> list[str]:
    """Writes the pages and gives the names of the modules; one whose package is not installed is left out."""
    import ldlf

    # Names are imported when they are first used; pdoc shows what is there.
    for name in ldlf.__all__:
        getattr(ldlf, name)
    modules = ["ldlf"]
    for name in MODULES:
        if name not in ("dask", "torch") or importlib.util.find_spec(name) is not None:
            importlib.import_module(f"ldlf.{name}")
            modules.append(f"ldlf.{name}")
    pdoc.render.configure(docformat="numpy", footer_text=f"ldlf {ldlf.__version__}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pdoc.pdoc(*modules, output_directory=folder)
    unlink(folder)
    return modules


def unlink(folder: Path) -> None:
    """Makes plain text of links to what the pages do not show: pdoc links every name that it knows, also of inherited methods."""
    pages = {path.resolve(): path.read_text() for path in folder.rglob("*.html")}
    shown = {path: set(re.findall(r'\bid="([^"]*)"', text)) for path, text in pages.items()}
    for path, text in pages.items():

        def kept(link: re.Match[str], path: Path = path) -> str:
            page, anchor = link[1].split("#", 1)
            target = (path.parent / page).resolve() if page else path
            return link[0] if anchor in shown.get(target, {anchor}) else link[2]

        path.write_text(re.sub(r'(?s)<a href="([^":]*#[^"]*)">(.*?)</a>', kept, text))


if __name__ == "__main__":
    print("\n".join(build(Path(sys.argv[1]))))
