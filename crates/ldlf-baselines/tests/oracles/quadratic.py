"""Writes quadratic.json: a penalised quadratic least squares fit by numpy's normal equations.

Run from this folder: python quadratic.py
"""

import json

import numpy as np

rng = np.random.default_rng(4)
rows = rng.normal(size=(15, 3)).astype(np.float32).round(3)
values = (20 + rows @ [3.0, -2.0, 0.5] + rows**2 @ [1.0, 0.0, -0.5] + rng.normal(size=15)).round(3)
weights = rng.integers(1, 4, size=15).astype(float)
penalty = 0.7
x = rows.astype(np.float64)
z = np.hstack([x, x**2 / np.sqrt(2), np.ones((15, 1))])
p = penalty * np.diag([1.0] * 6 + [0.0])
coefficients = np.linalg.solve(z.T @ (weights[:, None] * z) + p, z.T @ (weights * values))
case = {
    "rows": rows.tolist(),
    "values": values.tolist(),
    "weights": weights.tolist(),
    "penalty": penalty,
    "coefficients": coefficients.tolist(),
}
with open("quadratic.json", "w") as file:
    json.dump(case, file)
