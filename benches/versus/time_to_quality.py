#!/usr/bin/env python3
"""K-L divergence on held-out rows against the seconds of a fit: LightGBM, XGBoost, CatBoost, scikit-learn and ours, in one run.

Every tool fits with several budgets (rounds or trees) and as its users would (early stopping, our defaults). Seconds are those of the
processor, on one thread: a busy machine does not change them. Only the standard library is needed to start, as in forest.py.
"""

import argparse
import json
import platform
import subprocess
import tempfile
import time
from pathlib import Path

from environment import DATA, build, is_inside, start_again

REAL = ["Movie", "Natural_Scene", "SBU_3DFE"]
# Rows, features, labels, and the fraction of entries that differ from zero.
GENERATED = {"dense": (500_000, 100, 10, 1.0), "sparse": (200_000, 50_000, 5, 0.001)}

BOOSTERS = {
    "LightGBM": ("grow_lightgbm", {"learning_rate": 0.05, "num_leaves": 31}),
    "XGBoost": ("grow_xgboost", {"eta": 0.1, "max_depth": 6}),
    "CatBoost": ("grow_catboost", {"loss_function": "MultiCrossEntropy", "learning_rate": 0.1, "depth": 6}),
}
ROUNDS = [20, 100, 300]
FORESTS = {"RandomForestRegressor": 0.2, "ExtraTreesRegressor": 0.5}
TREES = [20, 100]
OURS = [
    ("random-forest", ["trees=20"]),
    ("random-forest", ["trees=100"]),
    ("extra-trees", ["trees=20"]),
    ("extra-trees", ["trees=100"]),
    ("ldlogitboost", ["rounds=100", "validation_fraction=0"]),
    ("ldlogitboost", []),
    ("sldlf", ["choose=false", "iterations=300"]),
    ("sldlf", ["choose=false"]),
    ("sldlf", []),
]


def main():
    given = arguments()
    if not is_inside():
        program = given.ours or build("ours", "ldlf-benches", "--no-default-features")
        wanted = ["requirements.txt", "requirements-forest.txt", "requirements-accuracy.txt"]
        start_again(__file__, "--ours", program, wanted, 1)
    points = []
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets:
            data = read(name, given, Path(folder))
            for point in runs(data, given):
                points.append({"set": name, "rows": data.shape[0], "features": data.shape[1], **point})
                line = points[-1]
                print(f"{name} | {line['tool']} | {line['setting']} | {line['seconds']:.2f} s | K-L {line['kl']:.4f}", flush=True)
    given.out.write_text(json.dumps({"versions": versions(), "points": points}, indent=1) + "\n")
    print("\n" + table(points))
    if given.figure:
        draw(points, given.figure)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder with ldl/NAME.mat and folds/NAME.txt")
    parser.add_argument("--ours", type=Path, help="our side, already built (default: cargo builds it)")
    parser.add_argument("--sets", nargs="+", default=[*REAL, *GENERATED], choices=[*REAL, *GENERATED], metavar="NAME")
    parser.add_argument("--rows", type=int, help="at most so many rows of a set")
    parser.add_argument("--seconds", type=float, default=300, help="leave out the larger budgets of a tool once one took so long")
    parser.add_argument("--out", type=Path, default=Path("time-to-quality.json"), help="the numbers")
    parser.add_argument("--figure", type=Path, help="the curves, .svg or .png")
    return parser.parse_args()


class Data:
    """Training and test rows as arrays, and as a file for ours."""

    def __init__(self, features, targets, test, file):
        import numpy
        import scipy.sparse
        from chosen import Rows

        self.shape = features.shape
        self.test_rows, self.train_rows = numpy.flatnonzero(test), numpy.flatnonzero(~test)
        self.training, self.test = (Rows(features[rows], targets[rows]) for rows in (self.train_rows, self.test_rows))
        self.file = file
        if scipy.sparse.issparse(features):
            parts = {f"features_{part}": getattr(features, part) for part in ("data", "indices", "indptr", "shape")}
            numpy.savez(file, labels=targets, **parts)
        else:
            numpy.savez(file, features=features, labels=targets)


def read(name, given, folder):
    import numpy
    import scipy.sparse

    if name in GENERATED:
        features, targets = generate(*GENERATED[name], given.rows)
        test = numpy.arange(len(targets)) % 10 == 0
    else:
        from scipy.io import loadmat

        raw = loadmat(given.data / "ldl" / f"{name}.mat")
        rows = slice(given.rows)
        features, targets = raw["features"][rows].astype(numpy.float32), raw["labels"][rows].astype(numpy.float64)
        test = numpy.loadtxt(given.data / "folds" / f"{name}.txt", dtype=int)[rows] == 0
        if (features != 0).mean() < 0.25:
            features = scipy.sparse.csr_matrix(features)
    return Data(features, targets / targets.sum(axis=1, keepdims=True), test, folder / f"{name}.npz")


def generate(rows, features, labels, density, most):
    """Scores that are sums of smooth, step and product terms of a few features each, with noise, through a softmax."""
    import numpy
    import scipy.sparse
    from scipy.special import softmax

    rows = min(rows, most or rows)
    random = numpy.random.default_rng(0)
    if density < 1:
        # Some columns are frequent, most are rare, as words are.
        each = max(1, int(features * density))
        columns = (features * random.random((rows, each)) ** 4).astype(numpy.int32)
        places = (numpy.repeat(numpy.arange(rows), each), columns.ravel())
        x = scipy.sparse.csr_matrix((numpy.ones(rows * each, numpy.float32), places), shape=(rows, features))
        x.data[:] = 1.0
        weights = random.normal(size=(features, labels)).astype(numpy.float32)
        scores = x @ weights / 4
    else:
        x = random.normal(size=(rows, features)).astype(numpy.float32)
        scores = numpy.zeros((rows, labels))
        for label in range(labels):
            a, b, c, d, e = random.choice(features, 5, replace=False)
            scores[:, label] = numpy.sin(2 * x[:, a]) + (x[:, b] > 0.3) + 0.7 * x[:, c] * x[:, d] + 0.5 * numpy.abs(x[:, e])
    return x, softmax(scores + 0.3 * random.normal(size=scores.shape), axis=1)


def runs(data, given):
    """The points of every tool on one set."""
    for tool, (grow, setting) in BOOSTERS.items():
        yield from within(given, [booster(data, tool, grow, setting, rounds) for rounds in [*ROUNDS, None]])
    for kind, share in FORESTS.items():
        yield from within(given, [forest(data, kind, share, trees) for trees in TREES])
    process = subprocess.Popen([given.ours], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for learner, settings in OURS:
        yield own(process, data, learner, settings)
    process.stdin.close()
    process.wait()


def within(given, budgets):
    """Runs budgets, the smallest first, until one takes too long."""
    for run in budgets:
        point = run()
        yield point
        if point["seconds"] > given.seconds:
            break


def booster(data, tool, grow, setting, rounds):
    import boosted
    import numpy
    from measures import mean_kl

    def run():
        started, rows = time.process_time(), data.training
        if rounds is None:
            held = numpy.arange(len(rows.targets)) % 10 == 3
            _, predict = getattr(boosted, grow)(setting, rows.take(~held), 0, held=rows.take(held))
        else:
            _, predict = getattr(boosted, grow)(setting, rows, 0, rounds=rounds)
        seconds = time.process_time() - started
        kl = mean_kl(data.test.targets, predict(data.test.features))
        return {"tool": tool, "setting": f"{rounds} rounds" if rounds else "early stopping", "seconds": seconds, "kl": kl}

    return run


def forest(data, kind, share, trees):
    from measures import mean_kl
    from sklearn import ensemble

    def run():
        model = getattr(ensemble, kind)(n_estimators=trees, max_features=share, min_samples_leaf=3, n_jobs=1, random_state=0)
        started = time.process_time()
        model.fit(data.training.features, data.training.targets)
        seconds = time.process_time() - started
        kl = mean_kl(data.test.targets, model.predict(data.test.features))
        return {"tool": "scikit-learn", "setting": f"{kind}, {trees} trees", "seconds": seconds, "kl": kl}

    return run


def own(process, data, learner, settings):
    sizes = dict.fromkeys(["n", "m", "tau", "K", "h", "C", "batch"], 1)
    request = {"work": "quality", "sizes": sizes, "threads": 1, "calls": 1, "data": str(data.file), "learner": learner,
               "settings": settings, "train": data.train_rows.tolist(), "test": data.test_rows.tolist()}
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    setting = f"{learner}, {', '.join(settings) or 'defaults'}"
    return {"tool": "ldlf", "setting": setting, "seconds": answer["seconds"][0], "kl": answer["kl"]}


def versions():
    from importlib.metadata import version

    return {"python": platform.python_version(), **{name: version(name) for name in
                                                    ("lightgbm", "xgboost-cpu", "catboost", "scikit-learn", "numpy")}}


def table(points):
    """For every set and other tool: its best K-L, when it got there, and when ours did."""
    lines = ["| set | tool | its best K-L | its seconds | ours reach it after | by |", "|---|---|---:|---:|---:|---|"]
    for name in dict.fromkeys(point["set"] for point in points):
        here = [point for point in points if point["set"] == name]
        for tool in dict.fromkeys(point["tool"] for point in here if point["tool"] != "ldlf"):
            best = min((point for point in here if point["tool"] == tool), key=lambda point: point["kl"])
            as_good = [point for point in here if point["tool"] == "ldlf" and point["kl"] <= best["kl"]]
            first = min(as_good, key=lambda point: point["seconds"], default=None)
            reached = ("not reached", "") if first is None else (f"{first['seconds']:.2f} s", first["setting"])
            lines.append(f"| {name} | {tool} ({best['setting']}) | {best['kl']:.4f} | {best['seconds']:.2f} s | {reached[0]} | {reached[1]} |")
    return "\n".join(lines)


def draw(points, file):
    """One panel per set: every fit, and for every tool the best K-L so far."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(point["set"] for point in points))
    figure, panels = pyplot.subplots(1, len(names), figsize=(4.2 * len(names), 3.6), squeeze=False)
    tools = list(dict.fromkeys(point["tool"] for point in points))
    for panel, name in zip(panels[0], names, strict=True):
        for number, tool in enumerate(tools):
            own = sorted(((p["seconds"], p["kl"]) for p in points if (p["set"], p["tool"]) == (name, tool)))
            best = [min(kl for _, kl in own[: at + 1]) for at in range(len(own))]
            panel.step([seconds for seconds, _ in own], best, where="post", color=f"C{number}", label=tool)
            panel.scatter(*zip(*own, strict=True), color=f"C{number}", s=12)
        panel.set(title=name, xscale="log", xlabel="seconds of the processor", ylabel="K-L on held-out rows")
    panels[0][0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file)


if __name__ == "__main__":
    main()
