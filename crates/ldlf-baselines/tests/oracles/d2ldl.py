"""Writes d2ldl.json: weights that reconstruct a row from others, by scipy.optimize.nnls.

1/2 |x - A w|^2 + penalty 1^T w with w >= 0 is 1/2 |b - L^T w|^2 up to a constant, where L L^T = A^T A and L b = A^T x - penalty.

Run from this folder: python d2ldl.py
"""

import json

import numpy as np
from scipy.optimize import nnls

rng = np.random.default_rng(2)
rows = rng.normal(size=(6, 6)).round(3)  # the row itself, then its neighbours: fewer than features, so that A^T A has full rank
rows[0] = (0.5 * rows[1] + 0.4 * rows[2] + 0.3 * rows[3] - 0.2 * rows[4] + 0.05).round(3)
sparsity = 0.1
x, a = rows[0], rows[1:].T
wanted = a.T @ x
penalty = sparsity * max(0, wanted.max())
factor = np.linalg.cholesky(a.T @ a)
weights, _ = nnls(factor.T, np.linalg.solve(factor, wanted - penalty))
with open("d2ldl.json", "w") as file:
    json.dump({"rows": rows.tolist(), "sparsity": sparsity, "weights": weights.tolist()}, file)
print(weights)
