#!/usr/bin/env python3
"""Writes `THIRD-PARTY.txt`: the crates that the wheel links on any platform, and the licence texts that they ship, equal ones once.

Run it when Cargo.lock changes; a test compares the list of crates. Needs cargo and the crates' sources (`cargo fetch`). For the program
that a release brings: third_party.py ldlf-cli FILE
"""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
TARGET = HERE / "THIRD-PARTY.txt"
WHEEL = "ldlf-python"


def crates(package=WHEEL):
    """Name, version and licence of every crate that is linked, ours left out."""
    told = subprocess.run(
        ["cargo", "tree", "--locked", "--package", package, "--edges", "normal,no-proc-macro"]
        + ["--target", "all", "--prefix", "none", "--format", "{p}|{l}"],
        cwd=HERE,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = set()
    for line in filter(None, told.splitlines()):
        package, licence = line.replace(" (*)", "").rsplit("|", 1)
        name, version, *where = package.split()
        if not where:
            found.add((name, version.removeprefix("v"), licence.strip()))
    return sorted(found)


def texts(name, version):
    """The licence files of a crate."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    for folder in (home / "registry" / "src").glob(f"*/{name}-{version}"):
        for path in sorted(folder.iterdir()):
            if re.match(r"(?i)(licen[cs]e|copying|notice|unlicense|copyright)", path.name) and path.is_file():
                yield path.read_text(errors="replace").replace("\r\n", "\n").strip()


def table(entries):
    """The list that stands at the head of the file."""
    return "".join(f"{name} {version}: {licence}\n" for name, version, licence in entries)


def notices(package=WHEEL):
    """The whole file."""
    entries = crates(package)
    what = "The compiled part of this package" if package == WHEEL else "This program"
    head = f"{what} contains the following crates, under the licences named. Their licence texts follow.\n\n"
    shared = {}
    for name, version, _ in entries:
        for text in texts(name, version):
            # White space and line breaks differ between copies of the same text.
            key = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()
            shared.setdefault(key, (text, []))[1].append(f"{name} {version}")
    parts = [
        f"{'=' * 100}\n{', '.join(dict.fromkeys(names))}\n{'-' * 100}\n{text}\n" for text, names in shared.values()
    ]
    return head + table(entries) + "\n" + "\n".join(parts)


if __name__ == "__main__":
    package, target = sys.argv[1:] or (WHEEL, TARGET)
    Path(target).write_text(notices(package), encoding="utf-8")
