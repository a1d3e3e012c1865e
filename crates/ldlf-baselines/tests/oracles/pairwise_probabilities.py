"""Writes pairwise_probabilities.json: pairwise coupling and Platt's sigmoid by general solvers.

Wu, Lin and Weng 2004, equation 21: [Q 1; 1^T 0] [p; b] = [0; 1]. Platt 2000: cross-entropy with smoothed targets.
Run from this folder: python pairwise_probabilities.py
"""

import json

import numpy as np
from scipy.optimize import minimize

rng = np.random.default_rng(5)
classes = 4
pairwise = np.full((classes, classes), 0.5)
for i in range(classes):
    for j in range(i + 1, classes):
        pairwise[i, j] = round(rng.uniform(0.1, 0.9), 3)
        pairwise[j, i] = 1 - pairwise[i, j]
q = -pairwise.T * pairwise
for i in range(classes):
    q[i, i] = sum(pairwise[j, i] ** 2 for j in range(classes) if j != i)
system = np.block([[q, np.ones((classes, 1))], [np.ones((1, classes)), np.zeros((1, 1))]])
coupled = np.linalg.solve(system, np.r_[np.zeros(classes), 1.0])[:classes]

decisions = rng.normal(size=30).round(3)
signs = np.where(decisions + rng.normal(size=30) > 0.2, 1.0, -1.0)
weights = rng.integers(1, 4, size=30).astype(float)
first, second = weights[signs > 0].sum(), weights[signs < 0].sum()
targets = np.where(signs > 0, (first + 1) / (first + 2), 1 / (second + 2))


def loss(at):
    s = at[0] * decisions + at[1]
    return np.sum(weights * (targets * np.logaddexp(0, s) + (1 - targets) * np.logaddexp(0, -s)))


a, b = minimize(loss, [0.0, 0.0], method="BFGS", options={"gtol": 1e-9}).x
case = {
    "pairwise": pairwise.tolist(),
    "coupled": coupled.tolist(),
    "decisions": decisions.tolist(),
    "signs": signs.tolist(),
    "weights": weights.tolist(),
    "a": a,
    "b": b,
}
with open("pairwise_probabilities.json", "w") as file:
    json.dump(case, file)
