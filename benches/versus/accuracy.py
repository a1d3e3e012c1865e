#!/usr/bin/env python3
"""Cross-validates the methods that users have outside `ldlf` on our clean folds and keeps their numbers beside ours.

Writes experiments/accuracy/numbers/outside-NAME.json, in the form of `ldlf cv --json`, for `ldlf report` and `ldlf plot`. Finished folds are
kept in target/results/outside-NAME.jsonl: after Ctrl-C the same command goes on from there. A method that takes longer than
`--seconds` for a fold, or fails, is left out of that set and named on standard error.

Only the standard library is needed to start: the script makes `.venv-versus` in the repository, installs the pinned
requirements there, builds the release command and starts itself again inside that environment.
"""

import argparse
import hashlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from environment import DATA, REPOSITORY, build, is_inside, start_again

# The cheap ones first.
SETS = ["SJAFFE", "Yeast_spo", "Yeast_alpha", "SBU_3DFE", "FG-Net", "Natural_Scene", "Movie"]
REQUIREMENTS = ["requirements.txt", "requirements-forest.txt", "requirements-accuracy.txt"]
NUMBERS = REPOSITORY / "experiments" / "accuracy" / "numbers"
JOURNALS = REPOSITORY / "target" / "results"
SEED = 0
# Below this share of entries that differ from 0 the features are handed over sparse, as ours are.
SPARSE = 0.25
# A row of labels that sums to 1 within this is kept as it is, as ours is; any other is divided by its sum.
SIMPLEX_TOLERANCE = 1e-4


def main() -> None:
    options = arguments()
    if not is_inside():
        program = options.ldlf or build("ldlf", "ldlf-cli")
        start_again(__file__, "--ldlf", program.resolve(), REQUIREMENTS, threads=1)
    os.environ.setdefault("KERAS_BACKEND", "torch")
    warnings.filterwarnings("ignore")
    from outside import METHODS

    for name in options.sets:
        table = Table(name, options.data)
        report = our_report(name, options)
        check_measures(table, report["results"][0])
        journal = Journal(JOURNALS / f"outside-{name}.jsonl")
        wanted = options.methods or list(METHODS)
        report["results"] = [result for method in METHODS
                             if (result := cross_validate(method, table, journal, method in wanted, options.seconds))]
        NUMBERS.joinpath(f"outside-{name}.json").write_text(json.dumps(report, indent=2) + "\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA,
                        help="the folder with ldl/NAME.mat and folds/NAME.txt (default: ../shared/data)")
    parser.add_argument("--ldlf", type=Path, help="the command that the measures are checked against (default: cargo builds it)")
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="NAME")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="run only these; what the journals hold of the others is kept (default: all)")
    parser.add_argument("--seconds", type=float, default=30,
                        help="leave a method out of a set when one fold takes it longer than this on one core (default: 30)")
    return parser.parse_args()


class Table:
    """A dataset with the fold in which each row is tested."""

    def __init__(self, name: str, data: Path) -> None:
        import numpy
        from chosen import Rows
        from scipy.io import loadmat
        from scipy.sparse import csr_matrix

        raw = loadmat(data / "ldl" / f"{name}.mat")
        features = raw["features"].astype(numpy.float32)
        labels = raw["labels"].astype(numpy.float64)
        self.name = name
        self.folds = numpy.loadtxt(data / "folds" / f"{name}.txt", dtype=int)
        sums = labels.sum(axis=1, keepdims=True)
        sums[numpy.abs(sums - 1) <= SIMPLEX_TOLERANCE] = 1
        targets = (labels / sums).astype(numpy.float32).astype(numpy.float64)
        is_sparse = (features != 0).mean() < SPARSE
        self.rows = Rows(csr_matrix(features) if is_sparse else features, targets)
        contents = b"".join(part.tobytes() for part in (features, targets, self.folds))
        self.fingerprint = hashlib.sha256(contents).hexdigest()[:32]

    def split(self, fold: int) -> tuple[Any, Any]:
        """The training rows and the test rows of a fold."""
        return self.rows.take(self.folds != fold), self.rows.take(self.folds == fold)

    def fold_numbers(self) -> range:
        return range(self.folds.max() + 1)


def our_report(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """What `ldlf cv --json` says of the set, with the learner `mean`."""
    command = [options.ldlf, "--quiet", "cv", options.data / "ldl" / f"{name}.mat", "--learner", "mean", "--json",
               "--fold-file", options.data / "folds" / f"{name}.txt", "--seed", str(SEED), "--threads", "1"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def check_measures(table: Table, ours: dict[str, Any]) -> None:
    """Stops unless the mean training distribution has the same measures here as in `ldlf`, fold by fold."""
    import numpy
    from measures import score

    for fold in table.fold_numbers():
        training, test = table.split(fold)
        here = score(test.targets, numpy.tile(training.targets.mean(axis=0), (len(test.targets), 1)))
        for measure, value in here.items():
            if abs(value - ours["folds"][fold][measure]) > 1e-9:
                sys.exit(f"{table.name}, fold {fold}: {measure} of the mean distribution is {value!r} here "
                         f"and {ours['folds'][fold][measure]!r} in ldlf; the two must agree")


class Journal:
    """Finished folds, one JSON object a line; a line that was cut short is run again."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.finished: dict[str, dict[str, Any]] = {}
        for line in file.read_text().splitlines() if file.exists() else []:
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue
            self.finished[identity(entry["key"])] = entry["result"]

    def find(self, key: dict[str, Any]) -> dict[str, Any] | None:
        return self.finished.get(identity(key))

    def add(self, key: dict[str, Any], result: dict[str, Any]) -> None:
        self.finished[identity(key)] = result
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as journal:
            journal.write(json.dumps({"key": key, "result": result}) + "\n")


def identity(key: dict[str, Any]) -> str:
    return json.dumps(key, sort_keys=True)


def cross_validate(name: str, table: Table, journal: Journal, is_wanted: bool, seconds: float) -> dict[str, Any] | None:
    """The method's entry in the report, or nothing when it does not come through all folds."""
    from outside import METHODS

    library, make = METHODS[name]
    parameters = describe(make(), library)
    folds = []
    for fold in table.fold_numbers():
        key = {"dataset": table.name, "fingerprint": table.fingerprint, "learner": name, "parameters": parameters,
               "seed": SEED, "fold": fold}
        result = journal.find(key)
        if result is None and not is_wanted:
            return None
        if result is None or result.get("seconds", seconds) < seconds:
            result = run(make(), table, fold, seconds)
            journal.add(key, result)
        if "failed" in result:
            print(f"{table.name}: {name} is left out: {result['failed']}", file=sys.stderr, flush=True)
            return None
        folds.append(result["scores"])
    entry = {"learner": name, "parameters": parameters, "folds": folds, **summarise(folds)}
    print(f"{table.name}: {name} K-L {entry['mean']['kl']:.4f} ({entry['mean']['fit_seconds']:.1f} s a fold)", file=sys.stderr, flush=True)
    return entry


def describe(method: Any, library: str) -> dict[str, Any]:
    """The settings, with a list of values for each that is chosen inside the training rows."""
    chosen = {name: list(dict.fromkeys(candidate[name] for candidate in method.candidates))
              for candidate in method.candidates[:1] for name in candidate}
    return {"library": f"{library} {version(library)}", **method.fixed, **chosen}


def run(method: Any, table: Table, fold: int, seconds: float) -> dict[str, Any]:
    """Scores and seconds of one fold, with what was chosen in it; or why there are none."""
    from chosen import as_distributions
    from measures import score

    training, test = table.split(fold)
    try:
        with at_most(seconds):
            started = time.process_time()
            predict = method.fit(training, SEED + fold)
            fitted = time.process_time()
            predicted = predict(test.features)
            ended = time.process_time()
    except TimeoutError:
        return {"failed": f"fold {fold} takes longer than {seconds:g} seconds", "seconds": seconds}
    except Exception as error:  # whatever a library raises, the other methods go on
        return {"failed": f"fold {fold}: {type(error).__name__}: {' '.join(str(error).split())[:200]}"}
    scores = score(test.targets, as_distributions(predicted))
    return {"scores": {**scores, "fit_seconds": fitted - started, "predict_seconds": ended - fitted},
            "choice": method.choice}


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises TimeoutError after so many seconds of this process, which do not depend on what else the machine does."""
    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def summarise(folds: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    columns = {name: [fold[name] for fold in folds] for name in folds[0]}
    return {"mean": {name: statistics.fmean(values) for name, values in columns.items()},
            "std": {name: statistics.pstdev(values) for name, values in columns.items()}}


if __name__ == "__main__":
    main()
