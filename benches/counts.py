#!/usr/bin/env python3
"""Counts the instructions of hot paths under callgrind and compares them with counts.json: wall times of a shared machine say little, counts are
the same in every run. Fails when one has grown by more than 3 %.

    python3 benches/counts.py            # compares
    python3 benches/counts.py --write    # keeps the counts of this build

Valgrind has no AVX-512, so the code that is counted is that for AVX2. Without valgrind nothing is compared, which is an error in CI.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
KEPT = REPOSITORY / "benches" / "counts.json"
MOST_GROWTH = 1.03


def build():
    options = ["--release", "--locked", "--no-default-features", "--package", "ldlf-benches", "--bin", "counts"]
    subprocess.run(["cargo", "build", "--quiet", *options], cwd=REPOSITORY, check=True)
    return REPOSITORY / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "counts"


def count(program, work):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*counted*", program, work]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", ended.stderr)
    if ended.returncode != 0 or not found or int(found[1]) == 0:
        sys.exit(f"{work}: nothing was counted\n{ended.stderr}")
    return int(found[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the counts of this build")
    parser.add_argument("--program", type=Path, help="a program `counts` that is already built")
    given = parser.parse_args()
    if shutil.which("valgrind") is None:
        line = "instruction counts: skipped, valgrind is not installed"
        sys.exit(line if os.environ.get("CI") else print(line))
    program = given.program or build()
    works = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    counts = {work: count(program, work) for work in works}
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"compiler": compiler, "counts": {}}
    if given.write:
        KEPT.write_text(json.dumps({"compiler": compiler, "counts": counts}, indent=2) + "\n")
    grown = []
    for work, now in counts.items():
        before = kept["counts"].get(work)
        print(f"{work:28} {now:>14,}  {'new' if before is None else f'{now / before - 1:+.1%}'}")
        if before is None or now > before * MOST_GROWTH:
            grown.append(work)
    gone = sorted(set(kept["counts"]) - set(counts))
    if given.write:
        return
    if grown or gone:
        because = "" if compiler == kept["compiler"] else f" (they are of {kept['compiler']}, this is {compiler})"
        sys.exit(f"more instructions than counts.json keeps, or not in both: {', '.join(grown + gone)}{because}; "
                 "when that is meant, python3 benches/counts.py --write")


if __name__ == "__main__":
    main()
