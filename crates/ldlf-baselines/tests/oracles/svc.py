"""Writes svc.json: decision values of scikit-learn's SVC on two overlapping classes with weights of rows.

Run from this folder: python svc.py
"""

import json

import numpy as np
from sklearn.svm import SVC

GAMMA = 0.6

rng = np.random.default_rng(4)
features = rng.normal(size=(40, 2)).round(3)
signs = np.where(features[:, 0] + 0.5 * features[:, 1] ** 2 + 0.7 * rng.normal(size=40) > 0.4, 1.0, -1.0)
weights = rng.integers(1, 4, size=40).astype(float)


def decisions(**kernel):
    model = SVC(C=2.0, tol=1e-8, **kernel).fit(features, signs, sample_weight=weights)
    return model.decision_function(features).tolist()


case = {
    "features": features.tolist(),
    "signs": signs.tolist(),
    "weights": weights.tolist(),
    "gamma": GAMMA,
    "rbf": decisions(kernel="rbf", gamma=GAMMA),
    "linear": decisions(kernel="linear"),
}
with open("svc.json", "w") as file:
    json.dump(case, file)
