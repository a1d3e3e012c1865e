"""Writes kernel_ridge.json: kernel-ridge by numpy.linalg.solve in double precision.

Centred log-ratios of floored targets, a Laplace kernel, a penalty divided by the weight of each row.
Run from this folder: python kernel_ridge.py
"""

import json

import numpy as np

PENALTY, CLIP, WIDTH = 0.2, 0.01, 0.7

rng = np.random.default_rng(3)
features = rng.normal(size=(30, 3)).round(3)
scores = np.c_[np.sin(2 * features[:, 0]), features[:, 1], np.cos(features[:, 2]), np.zeros(30)]
targets = np.exp(2 * scores)
targets = (targets / targets.sum(axis=1, keepdims=True)).round(4)
targets[:, 3] = 1 - targets[:, :3].sum(axis=1)
weights = rng.integers(1, 4, size=30).astype(float)
queries = rng.normal(size=(8, 3)).round(3)


def distances(a, b):
    return np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


def predict(w):
    between = distances(features, features)
    length = WIDTH * between[np.triu_indices(30, 1)].mean()
    logs = np.log(np.maximum(targets, CLIP))
    z = logs - logs.mean(axis=1, keepdims=True)
    bias = (w[:, None] * z).sum(axis=0) / w.sum()
    beta = np.linalg.solve(np.exp(-between / length) + PENALTY * np.diag(1 / w), z - bias)
    score = np.exp(-distances(queries, features) / length) @ beta + bias
    p = np.exp(score - score.max(axis=1, keepdims=True))
    return (p / p.sum(axis=1, keepdims=True)).tolist()


case = {
    "features": features.tolist(),
    "targets": targets.tolist(),
    "queries": queries.tolist(),
    "weights": weights.tolist(),
    "plain": predict(np.ones(30)),
    "weighted": predict(weights),
}
with open("kernel_ridge.json", "w") as file:
    json.dump(case, file)
