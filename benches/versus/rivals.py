#!/usr/bin/env python3
"""Times the same work in `ldlf` and in the libraries that a Python user has, in one run, and prints the ratios.

Only the standard library is needed to start: the script makes `.venv-versus` in the repository, installs the pinned
`requirements.txt` beside it, builds the release command and starts itself again inside that environment.
"""

import argparse
import copy
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from environment import DATA, build, is_inside, start_again

TARGETS = {"training": 3.0, "prediction": 5.0}
BFGS_ITERATIONS = 200
# A linear map of one fold's test rows takes less than a millisecond: too little to time once.
TEST_COPIES = {"bfgs-ldl": 20}

# What ours is told (`ldlf cv --set`), so that both sides do the same work.
OURS = {
    "bfgs-ldl": ["l2=0", f"iterations={BFGS_ITERATIONS}", "tolerance=0", "memory=10", "scaling=raw"],
    "aa-knn": ["neighbors=5", "scaling=raw"],
    "random-forest": ["trees=200", "min_leaf_weight=3", "max_features=0.2", "bootstrap=true"],
    "extra-trees": ["trees=200", "min_leaf_weight=3", "max_features=0.5", "bootstrap=false"],
    "ldsvr": ["c=1", "epsilon=0.025", "width=1", "target_clip=2.220446049250313e-16", "scaling=raw"],
}

HELD_EQUAL = f"""\
Held equal: the rows of fold 0, features as the file has them, two threads (`--threads 2`; `n_jobs=2`, and two threads for
BLAS and OpenMP); reading is not timed. Ours keeps single precision, and Movie (1% of its entries differ from 0) sparse, as it
does for every user; PyLDL takes dense double precision only, scikit-learn's forests are timed with both forms. K-L on the test
rows stands beside the times to show that both sides learnt.

- `bfgs-ldl` and PyLDL `SA_BFGS`: summed K-L divergence without penalty, L-BFGS with 10 pairs, {BFGS_ITERATIONS} iterations.
  Ours starts at 0 and has a bias, theirs starts at random weights in [0, 1) and has none. The test rows are predicted
  {TEST_COPIES['bfgs-ldl']} times over.
- `aa-knn` and PyLDL `AA_KNN`: 5 neighbours, Euclidean distance. Training only keeps the rows.
- `ldsvr` and PyLDL `LDSVR`: RBF kernel as wide as the mean distance, C = 1, a tube of 0.1 in logits, targets kept 2.2e-16
  from 0 and 1. The problem differs: ours regresses all labels at once on a squared loss (Geng and Hou), theirs is one
  scikit-learn `SVR` a label. Each stops by its own rule (a step takes less than 0.001 off the objective; libsvm to 1e-7).
- `random-forest`, `extra-trees` and scikit-learn's `RandomForestRegressor`, `ExtraTreesRegressor`: 200 trees, at least 3 rows a
  leaf, 0.2 and 0.5 of the features a split, bootstrap for the first only."""


def main():
    options = arguments()
    if not is_inside():
        program = options.ldlf or build("ldlf", "ldlf-cli")
        start_again(__file__, "--ldlf", program, ["requirements.txt"], options.threads)
    import numpy

    print(f"{describe(options)}\n\n{HELD_EQUAL}\n")
    print("| data | learner | against | part | ours, s | theirs, s | times faster | target | K-L ours | K-L theirs |")
    print("|---|---|---|---|---:|---:|---:|---:|---:|---:|")
    numpy.random.seed(0)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.sets:
            table = Table(name, options, Path(folder))
            for learner in options.learners:
                compare(learner, table, options)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA,
                        help="the folder with ldl/NAME.mat and folds/NAME.txt (default: ../shared/data)")
    parser.add_argument("--ldlf", type=Path, help="the command to time (default: cargo builds it)")
    parser.add_argument("--sets", nargs="+", default=["Natural_Scene", "Movie"], metavar="NAME")
    parser.add_argument("--learners", nargs="+", default=list(OURS), choices=list(OURS), metavar="NAME")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=150,
                        help="start no further repeat of a comparison after this long (default: 150)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rows", type=int, help="only the first so many rows: to try the script, not to measure")
    return parser.parse_args()


def describe(options):
    from importlib.metadata import version

    ours = subprocess.run([options.ldlf, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    theirs = ", ".join(f"{name} {version(name)}" for name in ("python-ldl", "scikit-learn", "scipy", "numpy"))
    return (f"{ours}; {theirs}, Python {platform.python_version()}; {platform.machine()}, {os.cpu_count()} cores, "
            f"{options.threads} threads each side.\n"
            f"Median of up to {options.repeats} repeats, ours and theirs in turn (least..most; repeats in brackets).")


class Table:
    """Fold 0 of a dataset: arrays for Python, and one file with a split column for ours, so that one fit has all threads."""

    def __init__(self, name, options, folder):
        import numpy
        from scipy.io import loadmat

        raw = loadmat(options.data / "ldl" / f"{name}.mat")
        rows = slice(options.rows)
        features, labels = raw["features"][rows].astype(float), raw["labels"][rows].astype(float)
        test = numpy.loadtxt(options.data / "folds" / f"{name}.txt", dtype=int)[rows] == 0
        self.name, self.folder = name, folder
        self.training = features[~test], labels[~test]
        self.test = features[test], labels[test]
        self.is_sparse = (features != 0).mean() < 0.25

    def first_rows(self, count):
        table = copy.copy(self)
        table.training, table.test = (tuple(part[:count] for part in side) for side in (self.training, self.test))
        return table

    def with_test_rows(self, copies):
        """The same table with its test rows so many times over, written for ours."""
        import numpy

        table = copy.copy(self)
        table.test = tuple(numpy.tile(part, (copies, 1)) for part in self.test)
        features, labels = (numpy.concatenate(parts) for parts in zip(table.training, table.test))
        split = numpy.repeat(["train", "test"], [len(table.training[0]), len(table.test[0])])
        table.file = self.folder / f"{self.name}.npz"
        numpy.savez(table.file, features=features.astype("float32"), labels=labels, split=split)
        return table


def compare(learner, table, options):
    """Prints two rows, for training and prediction, against each library, or one that says why there are none."""
    table = table.with_test_rows(TEST_COPIES.get(learner, 1))
    try:
        opponents = theirs(learner, table, options.threads)
    except ImportError as missing:
        print(f"| {table.name} | {learner} | cannot be imported: {missing} |", flush=True)
        return
    few = table.first_rows(50)
    for against, make, form in opponents:
        run_theirs(make(), few, form, options.threads)  # imports what is imported late
        started, ours_runs, their_runs = time.perf_counter(), [], []
        while len(ours_runs) < options.repeats:
            ours_runs.append(run_ours(learner, table, options))
            their_runs.append(run_theirs(make(), table, form, options.threads))
            if time.perf_counter() - started > options.seconds:
                break
        for part, (what, target) in enumerate(TARGETS.items()):
            times = [(ours[part], other[part]) for ours, other in zip(ours_runs, their_runs)]
            ours_median, their_median = (statistics.median(side) for side in zip(*times))
            ratios = sorted(other / ours for ours, other in times)
            ratio = statistics.median(ratios)
            print(f"| {table.name} | {learner} | {against} | {what} | {ours_median:.3g} | {their_median:.3g} "
                  f"| {ratio:.1f} ({ratios[0]:.1f}..{ratios[-1]:.1f}) [{len(ratios)}] "
                  f"| {target:.0f}: {'met' if ratio >= target else 'missed'} "
                  f"| {ours_runs[-1][2]:.4f} | {their_runs[-1][2]:.4f} |", flush=True)


def run_ours(learner, table, options):
    """Seconds to fit, seconds to predict and mean K-L of one run of `ldlf cv`, which times the library's calls alone."""
    command = [options.ldlf, "--quiet", "cv", table.file, "--split-column", "split", "--learner", learner,
               "--threads", str(options.threads), "--json"]
    for setting in OURS[learner]:
        command += ["--set", setting]
    report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    fold = report["results"][0]["folds"][0]
    return fold["fit_seconds"], fold["predict_seconds"], fold["kl"]


def theirs(learner, table, threads):
    """What a Python user has for the same work: names, functions that make one, the form of features if not dense."""
    if learner == "bfgs-ldl":
        from pyldl.algorithms import SA_BFGS

        class Limited(SA_BFGS):
            def fit(self, rows, targets):
                return super().fit(rows, targets, max_iterations=BFGS_ITERATIONS, convergence_criterion=0.0)

        return [("PyLDL SA_BFGS", Limited, None)]
    if learner == "aa-knn":
        from pyldl.algorithms import AA_KNN

        return [("PyLDL AA_KNN", lambda: AA_KNN(k=5), None)]
    if learner == "ldsvr":
        from pyldl.algorithms import LDSVR

        return [("PyLDL LDSVR", LDSVR, None)]
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

    kind, share = {"random-forest": (RandomForestRegressor, 0.2), "extra-trees": (ExtraTreesRegressor, 0.5)}[learner]

    def make():
        return kind(n_estimators=200, min_samples_leaf=3, max_features=share, n_jobs=threads)

    sparse = [("scikit-learn, sparse", make, compressed)] if table.is_sparse else []
    return [("scikit-learn, dense", make, None), *sparse]


def compressed(training, test):
    """The sparse forms that scikit-learn's trees ask for."""
    from scipy.sparse import csc_matrix, csr_matrix

    return csc_matrix(training), csr_matrix(test)


def run_theirs(model, table, form, threads):
    """Seconds to fit, seconds to predict and mean K-L. PyLDL sets no `n_jobs`: the surrounding joblib gives it threads."""
    import joblib

    training, test = form(table.training[0], table.test[0]) if form else (table.training[0], table.test[0])
    with joblib.parallel_config(backend="threading", n_jobs=threads):
        started = time.perf_counter()
        model.fit(training, table.training[1])
        fitted = time.perf_counter()
        predicted = model.predict(test)
        ended = time.perf_counter()
    return fitted - started, ended - fitted, mean_kl(table.test[1], predicted)


def mean_kl(targets, predicted):
    import numpy

    tiny = 1e-12
    return float(numpy.mean(numpy.sum(
        targets * numpy.log(numpy.maximum(targets, tiny) / numpy.maximum(predicted, tiny)), axis=1)))


if __name__ == "__main__":
    main()
