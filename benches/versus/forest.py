#!/usr/bin/env python3
"""Times the forest side by side with PyTorch, PyLDL, scikit-learn, LightGBM and with plain matrix products, in one run.

Only the standard library is needed to start: the script makes `.venv-versus` in the repository, installs the pinned
requirements there, builds our side and starts itself again inside that environment. What cannot be had is named and skipped.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import time
from pathlib import Path

from environment import DATA, build, is_inside, start_again

SMALL = {"n": 7000, "m": 300, "tau": 64, "K": 5, "h": 7, "C": 5, "batch": 256}
LARGE = {"n": 8192, "m": 1024, "tau": 512, "K": 20, "h": 7, "C": 20, "batch": 4096}
MOVIE = {**SMALL, "m": 1869}
SCALING = {**SMALL, "batch": 1024}

# No further round of a comparison is started after so many seconds.
PATIENCE = 40

NOTES = """\
Ours and theirs in turn, up to {rounds} rounds; a time is the median of a round's calls, a ratio the median over the rounds (least..most) [rounds].
Both sides have {threads} threads and the same rows, sizes and optimiser (AdamW); reading and making the data is not timed. Ours
scales its rows inside the step, theirs get them scaled.

A step is forward, backward and optimiser. Small: 300 dense features, 64 units, 5 trees of depth 7, 5 labels, batch 256. Movie: the
same forest on 1869 features, sparse for ours, dense for PyTorch. Large: 1024 features, 512 units, 20 trees, 20 labels, batch
4096. The leaf update has 20 iterations over 7000 rows of the small forest."""


def main():
    options = arguments()
    if not is_inside():
        program = options.ours or build("ours", "ldlf-benches", "--no-default-features")
        start_again(__file__, "--ours", program, ["requirements.txt", "requirements-forest.txt"], options.threads)
    print(f"{describe(options)}\n\n{NOTES.format(rounds=options.rounds, threads=options.threads)}\n")
    print("| work | against | ours | theirs | ratio, theirs / ours | asked |")
    print("|---|---|---:|---:|---:|---:|")
    ours = Ours(options)
    for part in (against_torch, against_pyldl, against_the_machine, threads_against_one, against_trees, latency):
        try:
            part(ours, options)
        except (ImportError, FileNotFoundError) as missing:
            print(f"| {part.__name__.replace('_', ' ')} | skipped: {missing} | | | | |", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder with ldl/NAME.mat and folds/NAME.txt")
    parser.add_argument("--ours", type=Path, help="our side, already built (default: cargo builds it)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def describe(options):
    from importlib.metadata import PackageNotFoundError, version

    def known(name):
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:
            return f"no {name}"

    theirs = ", ".join(map(known, ("torch", "python-ldl", "scikit-learn", "lightgbm", "numpy")))
    return (f"{theirs}, Python {platform.python_version()}; {platform.machine()}, {os.cpu_count()} cores, "
            f"{options.threads} threads each side.")


class Ours:
    """The program that does our side, waiting for requests."""

    def __init__(self, options):
        self.options = options
        self.process = subprocess.Popen([options.ours], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, work, sizes, calls, **more):
        request = {"work": work, "sizes": sizes, "calls": calls, "threads": self.options.threads, **more}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return statistics.median(json.loads(self.process.stdout.readline())["seconds"])


def timed(call, calls):
    call()
    seconds = []
    for _ in range(calls):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def compare(work, against, ours, theirs, rounds, asked=None, scale=1e3, unit="ms"):
    """Prints one row: the medians of both sides, and the ratio with its spread."""
    started, pairs = time.perf_counter(), []
    while len(pairs) < rounds and (not pairs or time.perf_counter() - started < PATIENCE):
        pairs.append((after_a_rest(ours), after_a_rest(theirs)))
    ratios = sorted(other / own for own, other in pairs)
    own, other = (statistics.median(side) * scale for side in zip(*pairs))
    ratio = statistics.median(ratios)
    verdict = "" if asked is None else f"{asked}: {'met' if ratio >= asked else 'missed'}"
    print(f"| {work} | {against} | {own:.3g} {unit} | {other:.3g} {unit} | {ratio:.2f} ({ratios[0]:.2f}..{ratios[-1]:.2f}) [{len(ratios)}] "
          f"| {verdict} |", flush=True)
    return ratio


def after_a_rest(side):
    """The other side's OpenMP threads go on spinning for a while after their work; they must not be in the way."""
    time.sleep(0.4)
    return side()


def dense(sizes):
    """Rows and targets as ours makes them: features around 0, targets that sum to 1."""
    import torch

    torch.manual_seed(1)
    rows = torch.rand(sizes["n"], sizes["m"]) - 0.5
    targets = torch.rand(sizes["n"], sizes["C"]) + 0.01
    return rows / rows.std(0), targets / targets.sum(1, keepdim=True)


def training_rows(options, name):
    import numpy
    from scipy.io import loadmat

    file = options.data / "ldl" / f"{name}.mat"
    if not file.exists():
        raise FileNotFoundError(f"{file} is not there")
    raw = loadmat(file)
    train = numpy.loadtxt(options.data / "folds" / f"{name}.txt", dtype=int) != 0
    return file, raw["features"].astype("float32"), raw["labels"].astype("float32"), train


def torch_step(sizes, rows, targets):
    from torch_forest import TorchForest

    forest = TorchForest(rows.shape[1], sizes["tau"], sizes["K"], sizes["h"], targets.shape[1])
    batches = len(rows) // sizes["batch"]
    state = {"at": 0}

    def step():
        first = state["at"] % batches * sizes["batch"]
        state["at"] += 1
        forest.step(rows[first:first + sizes["batch"]], targets[first:first + sizes["batch"]])

    return forest, step


def against_torch(ours, options):
    import torch

    torch.set_num_threads(options.threads)
    for name, sizes, calls, asked in (("step, small", SMALL, 300, 8), ("step, large", LARGE, 8, 2.5)):
        _, step = torch_step(sizes, *dense(sizes))
        compare(name, "PyTorch", lambda: ours.seconds("step", sizes, calls), lambda: timed(step, calls),
                options.rounds, asked)
    rows, targets = dense(SMALL)
    forest, _ = torch_step(SMALL, rows, targets)
    compare("leaf update", "PyTorch", lambda: ours.seconds("leaves", SMALL, 8, iterations=20),
            lambda: timed(lambda: forest.update_leaves(rows, targets, 20), 8), options.rounds, 4)
    file, features, labels, _ = training_rows(options, "Movie")
    rows = torch.from_numpy(features / features.std(0).clip(1e-6))
    _, step = torch_step(MOVIE, rows, torch.from_numpy(labels))
    compare("step, Movie", "PyTorch, dense", lambda: ours.seconds("step", MOVIE, 300, data=str(file)),
            lambda: timed(step, 20), options.rounds, 20)


def against_pyldl(ours, options):
    os.environ.setdefault("KERAS_BACKEND", "torch")
    file, features, labels, train = training_rows(options, "Movie")
    small = tuple(part.numpy() for part in dense(SMALL))
    for name, sizes, data, more, asked in (("step, small", SMALL, small, {}, 200),
                                           ("step, Movie", MOVIE, (features[train], labels[train]), {"data": str(file)}, None)):
        compare(name, "PyLDL LDLF", lambda: ours.seconds("step", sizes, 300, **more), lambda: pyldl_step(sizes, *data),
                min(options.rounds, 3), asked)


def pyldl_step(sizes, rows, targets, batches=5):
    """Seconds of one of its training steps, told by its own callbacks; the first step is not counted."""
    import keras
    from pyldl.algorithms import LDLF

    class Clock(keras.callbacks.Callback):
        seconds = []

        def on_train_batch_begin(self, batch, logs=None):
            self.started = time.perf_counter()

        def on_train_batch_end(self, batch, logs=None):
            self.seconds.append(time.perf_counter() - self.started)

    clock, count = Clock(), batches * sizes["batch"]
    # Its depth counts splits, ours counts levels; a tree of its kind takes as many units as it has leaves.
    forest = LDLF(n_estimators=sizes["K"], n_depth=sizes["h"] - 1, n_latent=sizes["tau"])
    forest.fit(rows[:count], targets[:count], epochs=1, batch_size=sizes["batch"], callbacks=[clock])
    return statistics.median(clock.seconds[1:])


def against_the_machine(ours, options):
    """The two products of a large step alone, and a copy of the bytes that a sparse step touches."""
    import numpy
    import torch

    torch.set_num_threads(options.threads)
    rows, weights, gradient = (torch.rand(*shape) for shape in
                               ((LARGE["batch"], LARGE["m"]), (LARGE["m"], LARGE["tau"]), (LARGE["batch"], LARGE["tau"])))

    def torch_products():
        return rows @ weights, rows.T @ gradient

    arrays = [part.numpy() for part in (rows, weights, gradient)]

    def numpy_products():
        return arrays[0] @ arrays[1], arrays[0].T @ arrays[2]

    best = min((torch_products, numpy_products), key=lambda products: timed(products, 8))
    name = {"torch_products": "its two products in PyTorch's BLAS", "numpy_products": "its two products in NumPy's BLAS"}
    ratio = compare("step, large", name[best.__name__], lambda: ours.seconds("step", LARGE, 8), lambda: timed(best, 8),
                    options.rounds)
    print(f"| step, large | time over that limit, at most 1.7 asked | | | {1 / ratio:.2f} "
          f"| 1.7: {'met' if 1 / ratio <= 1.7 else 'missed'} |", flush=True)
    file, features, _, _ = training_rows(options, "Movie")
    touched = statistics.median(int((features[first:first + 256] != 0).any(0).sum()) for first in range(0, 7000, 256))
    state = numpy.zeros(int(touched) * MOVIE["tau"] * 3, "float32")
    compare("step, Movie", f"a copy of the weights and moments of {touched:.0f} touched inputs",
            lambda: ours.seconds("step", MOVIE, 300, data=str(file)), lambda: timed(state.copy, 60), options.rounds)


def threads_against_one(ours, options):
    for name, sizes, calls in (("step, small, batch 1024", SCALING, 200), ("step, large", LARGE, 8)):
        compare(name, "ours with one thread", lambda: ours.seconds("step", sizes, calls),
                lambda: ours.seconds("step", sizes, calls, threads=1), options.rounds, 1.7)


def against_trees(ours, options):
    """Fit and prediction of whole models; the forest with its defaults and with the paper's sizes."""
    for name in ("Movie", "Natural_Scene"):
        file, features, labels, train = training_rows(options, name)
        chosen = [int(row) for row in train.nonzero()[0]]
        sizes = {"n": 0, "m": 0, "tau": 620, "K": 20, "h": 6, "C": 0, "batch": 256}
        paper = {**sizes, "tau": 64, "K": 5, "h": 7}
        for library, make, form in tree_libraries(options):
            model = make()
            rows = form(features[train])
            rounds = min(options.rounds, 3)
            compare(f"fit, {name}, defaults", library,
                    lambda: ours.seconds("fit", sizes, 1, data=str(file), train=chosen),
                    lambda: once(lambda: model.fit(rows, labels[train])), rounds, unit="s", scale=1)
            everything = form(features)
            for what, shape in (("defaults", sizes), ("the paper's sizes", paper)):
                asked = 20 if library.startswith("scikit") and name == "Movie" else None
                compare(f"prediction, {name}, {what}", library,
                        lambda: ours.seconds("predict", shape, 15, data=str(file)),
                        lambda: timed(lambda: model.predict(everything), 3), rounds, asked)


def once(call):
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def tree_libraries(options):
    """Names, functions that make one, and the form of features each works on best."""
    from sklearn.ensemble import RandomForestRegressor

    yield ("scikit-learn RandomForestRegressor, 100 trees", lambda: RandomForestRegressor(100, n_jobs=options.threads),
           lambda features: features)
    try:
        from lightgbm import LGBMRegressor
    except (ImportError, OSError) as missing:
        print(f"| fit and prediction | LightGBM cannot be had: {missing} | | | | |", flush=True)
        return
    from sklearn.multioutput import MultiOutputRegressor

    yield ("LightGBM, 100 rounds a label",
           lambda: MultiOutputRegressor(LGBMRegressor(n_jobs=options.threads, verbose=-1)), lambda features: features)


def latency(ours, options):
    from torch_forest import TorchForest

    rows, _ = dense(SMALL)
    forest = TorchForest(SMALL["m"], SMALL["tau"], SMALL["K"], SMALL["h"], SMALL["C"])
    compare("a single row, small", "PyTorch", lambda: ours.seconds("row", SMALL, 2000, threads=1),
            lambda: timed(lambda: forest.predict(rows[:1]), 200), options.rounds, scale=1e6, unit="us")


if __name__ == "__main__":
    main()
