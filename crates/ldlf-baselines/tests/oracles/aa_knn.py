"""Writes aa_knn.json: scikit-learn's KNeighborsRegressor on the distributions of a few rows.

Run from this folder: python aa_knn.py
"""

import json

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

rng = np.random.default_rng(1)
features = rng.normal(size=(40, 3)).astype(np.float32).round(3)
targets = rng.dirichlet(np.ones(4), size=40).round(4)
targets[:, 3] = 1 - targets[:, :3].sum(axis=1)
queries = rng.normal(size=(9, 3)).astype(np.float32).round(3)

model = KNeighborsRegressor(n_neighbors=7, algorithm="brute").fit(features, targets)
case = {
    "features": features.tolist(),
    "targets": targets.tolist(),
    "queries": queries.tolist(),
    "k": 7,
    "predictions": model.predict(queries).tolist(),
}
with open("aa_knn.json", "w") as file:
    json.dump(case, file)
