"""The tables of accuracy.md from the committed numbers; standard library only.

    tables.py page HEAD                 the page: the text of HEAD, in which a line `TABLE name` stands for a table
    tables.py collect CHANGE... < JSON  one object of the results of `ldlf cv --json`, one for each change
    tables.py merge NAME                all results of a set in the form of `ldlf cv --json`
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

SETS = ["Movie", "Natural_Scene", "SBU_3DFE", "SJAFFE", "Yeast_alpha", "Yeast_spo", "FG-Net"]
ABLATED = ["Movie", "Natural_Scene", "SBU_3DFE"]
# The six of the paper, and whether more is better.
MEASURES = {"kl": False, "euclidean": False, "sorensen": False, "squared_chi2": False, "fidelity": True, "intersection": True}
HERE = Path(__file__).parent
BASELINES = HERE.parent / "baselines"

Means = dict[str, dict[str, float]]


def main() -> None:
    command, *rest = sys.argv[1:]
    if command == "collect":
        json.dump(collect(rest), sys.stdout, indent=1)
        print()
    elif command == "merge":
        json.dump(merge(rest[0]), sys.stdout)
    else:
        tables = {"kl": divergences, "ranks": ranks, "ablation": ablation}
        for line in Path(rest[0]).read_text().splitlines():
            word, _, name = line.partition(" ")
            print("\n".join(tables[name]()) if word == "TABLE" else line)


def collect(changes: list[str]) -> dict[str, dict[str, float]]:
    decoder, text = json.JSONDecoder(), sys.stdin.read().strip()
    collected = {}
    for change in changes:
        report, end = decoder.raw_decode(text)
        text = text[end:].lstrip()
        collected[change] = report["results"][0]["mean"]
    return collected


def merge(name: str) -> dict:
    """The results of a set, ours and others, as one report."""
    files = [BASELINES / f"numbers/{name}.json", HERE / f"numbers/ours-{name}.json", HERE / f"numbers/outside-{name}.json"]
    reports = [json.loads(path.read_text()) for path in files if path.exists()]
    return reports[0] | {"results": [result for report in reports for result in report["results"]]}


def means_on(name: str) -> Means:
    """The means over the folds of every learner on a set, ours and others."""
    return {result["learner"]: result["mean"] for result in merge(name)["results"]}


def average_ranks(means: Means) -> dict[str, float]:
    """The average rank over the six measures; equal values share the mean of their ranks."""
    ranks = dict.fromkeys(means, 0.0)
    for measure, more_is_better in MEASURES.items():
        value = {learner: (-1 if more_is_better else 1) * mean[measure] for learner, mean in means.items()}
        for learner in means:
            below = sum(other < value[learner] for other in value.values())
            equal = sum(other == value[learner] for other in value.values())
            ranks[learner] += (below + (equal + 1) / 2) / len(MEASURES)
    return ranks


def table(columns: dict[str, dict[str, float]], form: str) -> Iterator[str]:
    """Rows of learners, those that are best on average over their columns first; the lowest of each column in bold."""
    ranks = {name: average_ranks(means_on(name)) for name in SETS}
    learners = {learner for column in columns.values() for learner in column}
    place = {learner: [ranks[name][learner] for name in SETS if learner in ranks[name]] for learner in learners}
    yield "| learner | " + " | ".join(columns) + " |"
    yield "|---|" + "---|" * len(columns)
    for learner in sorted(learners, key=lambda learner: (sum(place[learner]) / len(place[learner]), learner)):
        cells = []
        for column in columns.values():
            text = format(column[learner], form) if learner in column else "-"
            lowest = learner in column and text == format(min(column.values()), form)
            cells.append(f"**{text}**" if lowest else text)
        yield f"| `{learner}` | " + " | ".join(cells) + " |"


def divergences() -> Iterator[str]:
    return table({name: {learner: mean["kl"] for learner, mean in means_on(name).items()} for name in SETS}, ".4f")


def ranks() -> Iterator[str]:
    return table({name: average_ranks(means_on(name)) for name in SETS}, ".1f")


def ablation() -> Iterator[str]:
    """K-L of each change, and by how much it differs from that of the first."""
    numbers = {name: json.loads((HERE / f"ablation/{name}.json").read_text()) for name in ABLATED}
    base, *changes = next(iter(numbers.values()))
    yield "| changed | " + " | ".join(ABLATED) + " |"
    yield "|---|" + "---|" * len(ABLATED)
    yield f"| nothing (`{base}`) | " + " | ".join(f"{numbers[name][base]['kl']:.4f}" for name in ABLATED) + " |"
    for change in changes:
        cells = []
        for name in ABLATED:
            kl, start = numbers[name][change]["kl"], numbers[name][base]["kl"]
            cells.append(f"{kl:.4f} ({100 * (kl / start - 1):+.1f} %)")
        yield f"| `{change}` | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
