"""Writes trees.json: what scikit-learn's trees and forests and a direct numpy boosting give on small data.

Run from this folder: python trees.py
"""
import json

import numpy as np
import sklearn
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor


def rounded(x):
    return [[float(f"{v:.9g}") for v in row] for row in np.atleast_2d(x)]


def kl(d, p):
    p = np.maximum(p / p.sum(1, keepdims=True), 1e-12)
    return float(np.where(d > 0, d * np.log(np.where(d > 0, d, 1) / p), 0).sum(1).mean())


def softmax(f):
    e = np.exp(f - f.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def single_tree(rng):
    """One tree without randomness, on features with few distinct values: every split is exact."""
    x = rng.integers(-4, 5, size=(60, 3)) / 2.0
    d = rng.dirichlet([1.0, 2.0, 1.5], size=60).astype(np.float32).astype(float)
    w = rng.integers(1, 4, size=60).astype(float)
    tree = DecisionTreeRegressor(max_depth=4, min_weight_fraction_leaf=5 / w.sum(), random_state=0)
    tree.fit(x, d, sample_weight=w)
    grid = rng.uniform(-2.5, 2.5, size=(40, 3)).astype(np.float32).astype(float)
    return {
        "features": rounded(x), "targets": rounded(d), "weights": w.tolist(), "max_depth": 4, "min_leaf": 5,
        "queries": rounded(grid), "predictions": rounded(tree.predict(grid)), "nodes": int(tree.tree_.node_count),
        "root": [int(tree.tree_.feature[0]), float(tree.tree_.threshold[0])],
    }


def forests():
    """K-L of both forests on the closed formula that the Rust test repeats, over ten seeds."""
    n, m = 300, 6
    i = np.arange(2 * n)[:, None]
    k = np.arange(m)[None, :]
    x = np.sin(1.0 + i * (k + 1) * 0.7 + k * k).astype(np.float32).astype(float)
    d = softmax(np.stack([2 * x[:, 0] * x[:, 1], x[:, 2] + x[:, 3], 1.5 * np.abs(x[:, 4])], axis=1))
    out = {}
    for name, kind, options in [
        ("random-forest", RandomForestRegressor, {"bootstrap": True}),
        ("extra-trees", ExtraTreesRegressor, {"bootstrap": False}),
    ]:
        scores = [
            kl(d[n:], kind(50, min_samples_leaf=3, max_features=0.5, random_state=seed, **options)
               .fit(x[:n], d[:n]).predict(x[n:]))
            for seed in range(10)
        ]
        out[name] = {"mean": float(np.mean(scores)), "std": float(np.std(scores))}
    return out


def best_stump(x, h, g):
    """The split with the largest fall of sum g^2 / sum h, by trying every one."""
    best = None
    for j in range(x.shape[1]):
        values = np.unique(x[:, j])
        for t in (values[:-1] + values[1:]) / 2:
            left = x[:, j] <= t
            gain = g[left].sum() ** 2 / h[left].sum() + g[~left].sum() ** 2 / h[~left].sum()
            if best is None or gain > best[0] + 1e-12:
                best = (gain, j, t)
    return best


def boosters(rng):
    """The first two rounds of both boosters with stumps, rate 0.5, no penalty, all rows and features.

    The first starts at the mean distribution, the second at the uniform one.
    """
    x = rng.integers(0, 6, size=(24, 2)) / 1.0
    d = rng.dirichlet([1.0, 2.0, 1.5, 0.7], size=24).astype(np.float32).astype(float)
    rate, labels = 0.5, d.shape[1]
    out = {"features": rounded(x), "targets": rounded(d), "learning_rate": rate}
    f = np.log(np.repeat(d.mean(0, keepdims=True), len(x), axis=0))
    rounds = []
    for _ in range(2):
        p = softmax(f)
        trees = np.zeros_like(f)
        for j in range(labels):
            h, g = p[:, j] * (1 - p[:, j]), d[:, j] - p[:, j]
            _, feature, t = best_stump(x, h, g)
            left = x[:, feature] <= t
            for side in (left, ~left):
                trees[side, j] = np.clip(g[side].sum() / h[side].sum(), -4, 4)
        f = f + rate * (labels - 1) / labels * (trees - trees.mean(1, keepdims=True))
        rounds.append(rounded(softmax(f)))
    out["ldlogitboost"] = rounds

    f = np.zeros_like(d)
    rounds = []

    def pair(rows, p):
        g = (d - p)[rows].sum(0)
        r = int(np.argmax(np.abs(g)))
        q = p[rows]
        h = (q[:, [r]] * (1 - q[:, [r]]) + q * (1 - q) + 2 * q[:, [r]] * q).sum(0)
        gain = (g[r] - g) ** 2 / h
        gain[r] = -np.inf
        return r, int(np.argmax(gain))

    for _ in range(2):
        p = softmax(f)

        def derivatives(r, s):
            h = p[:, r] * (1 - p[:, r]) + p[:, s] * (1 - p[:, s]) + 2 * p[:, r] * p[:, s]
            return h, (d - p)[:, r] - (d - p)[:, s]

        h, g = derivatives(*pair(np.ones(len(x), bool), p))
        _, feature, t = best_stump(x, h, g)
        left = x[:, feature] <= t
        for side in (left, ~left):
            r, s = pair(side, p)
            h, g = derivatives(r, s)
            step = rate * np.clip(g[side].sum() / h[side].sum(), -4, 4)
            f[side, r] += step
            f[side, s] -= step
        rounds.append(rounded(softmax(f)))
    out["aoso-ldlogitboost"] = rounds
    return out


rng = np.random.default_rng(7)
document = {
    "made_with": f"scikit-learn {sklearn.__version__}, numpy {np.__version__}",
    "single_tree": single_tree(rng),
    "forests": forests(),
    "boosters": boosters(rng),
}
with open("trees.json", "w") as file:
    json.dump(document, file)
    file.write("\n")
