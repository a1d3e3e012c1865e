"""Writes docs/results/age.md and numbers.json from the results of experiments/age/run: tables.py LABELS.CSV RESULTS."""

import csv
import json
import re
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "results" / "age.md"
LEARNERS = ["dldlf", "dldl", "dndf-ldl"]
NETWORKS = {
    "small-cnn": "Small CNN, from scratch",
    "lite0-tuned": "EfficientNet-Lite0, fine-tuned from ImageNet",
    "lite0-scratch": "EfficientNet-Lite0, from scratch",
    "alexnet": "AlexNet, from scratch",
}
YEARS = range(1, 16)


def figures(run: Path, truths: dict) -> dict:
    """Settings and figures of one run."""
    network, learner, seed = split(run)
    read = {truth: json.loads(run.with_name(f"{run.name}.{truth}.json").read_text()) for truth in ("apparent_mean", "real_age")}
    trained = json.loads(run.with_name(f"{run.name}.train.json").read_text())
    if trained["parameters"]["weights"]:
        trained["parameters"]["weights"] = Path(trained["parameters"]["weights"]).name
    measures = read["apparent_mean"]["measures"]
    with open(f"{run}.means.csv", newline="") as file:
        errors = {row["file"]: float(row["mean"]) - truths[row["file"]] for row in csv.DictReader(file)}
    off = [abs(error) for error in errors.values()]
    return {
        "network": network,
        "learner": learner,
        "seed": seed,
        "parameters": trained["parameters"],
        "iterations": trained["iterations"],
        "seconds": round(trained["seconds"]),
        "validation_kl": trained["validation_kl"],
        "validation_mae": validation_mae(run),
        "validation_curve": validation_curve(run, trained["parameters"]["epochs"]),
        "rows": read["real_age"]["rows"],
        "kl": measures["kl"],
        "intersection": measures["intersection"],
        "mae_apparent": measures["mae_mean"],
        "mae_real": read["real_age"]["measures"]["mae_mean"],
        "by_age": {f"{least} to {least + 19}": by_age(errors, truths, least) for least in (0, 20, 40, 60, 80)},
        "cs": {str(years): sum(error <= years for error in off) / len(off) for years in YEARS},
    }


def by_age(errors: dict, truths: dict, least: int) -> dict:
    """Count, mean absolute error and mean error of the faces in a range of apparent ages."""
    chosen = [error for file, error in errors.items() if least <= truths[file] < least + 20]
    return {"faces": len(chosen), "mae": statistics.mean(map(abs, chosen)), "error": statistics.mean(chosen)}


def validation_curve(run: Path, epochs: int) -> dict[str, float]:
    """K-L on the validation part after the epochs that the log of the run reports."""
    logged = re.findall(r"iteration (\d+) of (\d+) .*validation K-L ([\d.]+)", run.with_name(f"{run.name}.log").read_text())
    return {str(int(now) * epochs // int(total)): float(kl) for now, total, kl in logged}


def validation_mae(run: Path) -> float:
    """MAE on the validation part at the epoch of the best K-L among those that the log of the run reports."""
    logged = re.findall(r"validation K-L ([\d.]+) MAE ([\d.]+)", run.with_name(f"{run.name}.log").read_text())
    return min((float(kl), float(mae)) for kl, mae in logged)[1]


def split(run: Path) -> tuple[str, str, int]:
    """The parts of a name such as lite0-tuned-dndf-ldl-2."""
    rest, seed = run.name.rsplit("-", 1)
    learner = next(name for name in sorted(LEARNERS, key=len, reverse=True) if rest.endswith(f"-{name}"))
    return rest.removesuffix(f"-{learner}"), learner, int(seed)


def spread(values: list[float], digits: int) -> str:
    """Mean and, with several seeds, the standard deviation."""
    mean = f"{statistics.mean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean


def settings(runs: list[dict]) -> str:
    kept = runs[0]["parameters"]
    parts = [f"side {kept['side']}", f"{kept['epochs']} epochs", f"batch {kept['batch_size']}", kept["optimizer"]]
    if kept["learning_rate"]:
        parts.append(f"learning rate {kept['learning_rate']}")
    return ", ".join(parts)


def table(runs: list[dict]) -> list[str]:
    lines = [
        "| learner | seeds | K-L | intersection | MAE to the apparent age | MAE to the real age | CS(5) | minutes per run |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for learner in LEARNERS:
        rows = [run for run in runs if run["learner"] == learner]
        if rows:
            cells = [
                learner,
                str(len(rows)),
                spread([run["kl"] for run in rows], 4),
                spread([run["intersection"] for run in rows], 4),
                spread([run["mae_apparent"] for run in rows], 2),
                spread([run["mae_real"] for run in rows], 2),
                spread([100 * run["cs"]["5"] for run in rows], 1) + " %",
                f"{statistics.mean(run['seconds'] for run in rows) / 60:.0f}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def curve_table(runs: list[dict]) -> list[str]:
    """The cumulative score: the fraction of faces at most so many years off."""
    shown = [1, 2, 3, 4, 5, 7, 10, 15]
    lines = ["| network | learner | " + " | ".join(f"CS({years})" for years in shown) + " |", "|---|---|" + "---|" * len(shown)]
    for network in NETWORKS:
        for learner in LEARNERS:
            rows = [run for run in runs if (run["network"], run["learner"]) == (network, learner)]
            if rows:
                cells = [f"{100 * statistics.mean(run['cs'][str(years)] for run in rows):.1f} %" for years in shown]
                lines.append(f"| {network} | {learner} | {' | '.join(cells)} |")
    return lines


def ages_table(runs: list[dict]) -> list[str]:
    """Mean absolute and mean error of the small CNN by the apparent age."""
    runs = [run for run in runs if run["network"] == "small-cnn"]
    lines = []
    for learner in LEARNERS:
        rows = [run["by_age"] for run in runs if run["learner"] == learner]
        if rows:
            if not lines:
                groups = [f"{ages} ({group['faces']} faces)" for ages, group in rows[0].items()]
                lines = [f"| learner | {' | '.join(groups)} |", "|---|" + "---|" * len(groups)]
            means = [[statistics.mean(row[ages][what] for row in rows) for what in ("mae", "error")] for ages in rows[0]]
            cells = [f"{mae:.1f} ({error:+.1f})" for mae, error in means]
            lines.append(f"| {learner} | {' | '.join(cells)} |")
    return lines


def validation_table(runs: list[dict]) -> list[str]:
    """Learning curves: K-L on the validation part, mean over the seeds."""
    shown = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24]
    lines = ["| learner | " + " | ".join(map(str, shown)) + " | best | MAE then |", "|---|" + "---|" * (len(shown) + 2)]
    for learner in LEARNERS:
        rows = [run for run in runs if (run["network"], run["learner"]) == ("small-cnn", learner)]
        if rows:
            curves = [[run["validation_curve"][str(epoch)] for run in rows if str(epoch) in run["validation_curve"]] for epoch in shown]
            cells = [f"{statistics.mean(values):.3f}" if values else "" for values in curves]
            cells.append(f"{statistics.mean(run['validation_kl'] for run in rows):.3f}")
            cells.append(f"{statistics.mean(run['validation_mae'] for run in rows):.2f}")
            lines.append(f"| {learner} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    labels, results = Path(sys.argv[1]), Path(sys.argv[2])
    with open(labels, newline="") as file:
        truths = {row["file"]: float(row["apparent_mean"]) for row in csv.DictReader(file)}
    done = sorted(results.glob("*.means.csv"))
    runs = [figures(path.with_name(path.name.removesuffix(".means.csv")), truths) for path in done]
    (HERE / "numbers.json").write_text(json.dumps(runs, indent=1) + "\n")
    page = [(HERE / "head.md").read_text().rstrip()]
    for network, title in NETWORKS.items():
        rows = [run for run in runs if run["network"] == network]
        if rows:
            page += ["", f"## {title}", "", f"{settings(rows)}.", "", *table(rows)]
    page += ["", "## Cumulative score", "", "The fraction of test faces whose predicted mean is at most so many years from the apparent age.", ""]
    page += curve_table(runs)
    page += ["", "## By age", "", "MAE of the small CNN on the test part by apparent age, with the mean error in brackets; mean over the seeds.", ""]
    page += ages_table(runs)
    page += ["", "## During training", "", "K-L on the validation part after the given number of epochs of the small CNN, mean over the seeds.", ""]
    page += validation_table(runs)
    PAGE.write_text("\n".join(page) + "\n")


main()
