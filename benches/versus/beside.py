#!/usr/bin/env python3
"""Puts the results of several files of one dataset into one, so that `ldlf report` and `ldlf plot` rank them together.

beside.py experiments/baselines/numbers/Movie.json experiments/accuracy/numbers/outside-Movie.json > target/results/Movie-beside.json
"""

import json
import sys
from pathlib import Path
from typing import Any

# What must agree before results may stand in one table.
SAME = ("dataset", "rows", "features", "labels", "protocol", "seed")


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    first, *others = (json.loads(Path(file).read_text()) for file in sys.argv[1:])
    for other in others:
        add(first, other)
    json.dump(first, sys.stdout, indent=2)


def add(report: dict[str, Any], other: dict[str, Any]) -> None:
    for name in SAME:
        if report[name] != other[name]:
            sys.exit(f"the files differ in their {name}: {report[name]} and {other[name]}")
    known = {result["learner"] for result in report["results"]}
    for result in other["results"]:
        if result["learner"] in known:
            sys.exit(f"{result['learner']} stands in more than one file")
        if len(result["folds"]) != len(report["results"][0]["folds"]):
            sys.exit(f"{result['learner']} has {len(result['folds'])} folds, the others {len(report['results'][0]['folds'])}")
    report["results"] += other["results"]


if __name__ == "__main__":
    main()
