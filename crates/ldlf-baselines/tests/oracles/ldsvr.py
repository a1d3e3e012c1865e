"""Writes ldsvr.json: ldsvr by direct numpy solutions of its full (n + 1) x (n + 1) linear systems, label by label.

Geng and Hou 2015: re-weighted least squares with a backtracking step, from beta = 0 and b = mean logit.
Run from this folder: python ldsvr.py
"""

import json

import numpy as np

PENALTY, EPSILON, CLIP, WIDTH = 5.0, 0.1, 0.01, 0.7

rng = np.random.default_rng(2)
features = rng.normal(size=(30, 3)).round(3)
scores = np.c_[np.sin(2 * features[:, 0]), features[:, 1], np.cos(features[:, 2]), np.zeros(30)]
targets = np.exp(2 * scores)
targets = (targets / targets.sum(axis=1, keepdims=True)).round(4)
targets[:, 3] = 1 - targets[:, :3].sum(axis=1)
queries = rng.normal(size=(8, 3)).round(3)


def distances(a, b):
    return np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


between = distances(features, features)
deviation = WIDTH * between[np.triu_indices(30, 1)].mean()
kernel = np.exp(-(between**2) / (2 * deviation**2))
query_kernel = np.exp(-(distances(queries, features) ** 2) / (2 * deviation**2))
clipped = np.clip(targets, CLIP, 1 - CLIP)
z = -np.log(1 / clipped - 1)


def objective(beta, b):
    u = np.linalg.norm(z - kernel @ beta - b, axis=1)
    loss = np.maximum(u / 4 - EPSILON, 0) ** 2
    return 0.5 * np.sum(beta * (kernel @ beta)) + PENALTY * loss.sum(), u


def solve(u):
    inside = np.flatnonzero(u > 4 * EPSILON)
    a = PENALTY * (u[inside] - 4 * EPSILON) / (8 * u[inside])
    k = kernel[np.ix_(inside, inside)]
    system = np.block([[k + np.diag(1 / a), np.ones((len(inside), 1))], [(a @ k)[None, :], np.array([[a.sum()]])]])
    beta, b = np.zeros_like(z), np.zeros(z.shape[1])
    for label in range(z.shape[1]):
        right = np.r_[z[inside, label], a @ z[inside, label]]
        solution = np.linalg.solve(system, right)
        beta[inside, label], b[label] = solution[:-1], solution[-1]
    return beta, b


def predict(beta, b):
    p = 1 / (1 + np.exp(-(query_kernel @ beta + b)))
    return p / p.sum(axis=1, keepdims=True)


beta, b = np.zeros_like(z), z.mean(axis=0)
value, u = objective(beta, b)
steps = []
for iteration in range(60):
    new_beta, new_b = solve(u)
    step = 1.0
    while True:
        try_beta, try_b = beta + step * (new_beta - beta), b + step * (new_b - b)
        try_value, try_u = objective(try_beta, try_b)
        if try_value < value or step < 1e-4:
            break
        step /= 2
    if try_value >= value:
        break
    beta, b, value, u = try_beta, try_b, try_value, try_u
    steps.append({"objective": value, "predictions": predict(beta, b).tolist()})

case = {
    "features": features.tolist(),
    "targets": targets.tolist(),
    "queries": queries.tolist(),
    "penalty": PENALTY,
    "epsilon": EPSILON,
    "clip": CLIP,
    "width": WIDTH,
    "first": steps[0],
    "second": steps[1],
    "converged": steps[-1],
}
with open("ldsvr.json", "w") as file:
    json.dump(case, file)
