"""Writes svr.json: scikit-learn's SVR with weights of rows, RBF and linear.

Run from this folder: python svr.py
"""

import json

import numpy as np
from sklearn.svm import SVR

rng = np.random.default_rng(5)
features = rng.normal(size=(30, 2)).astype(np.float32).round(3)
values = (2 * features[:, 0] - np.sin(3 * features[:, 1]) + 0.3 * rng.normal(size=30)).round(3)
weights = rng.integers(1, 4, size=30).astype(float)
gamma = 0.7


def predictions(**kernel):
    model = SVR(C=3, epsilon=0.2, tol=1e-8, **kernel).fit(features, values, sample_weight=weights)
    return model.predict(features).tolist()


case = {
    "features": features.tolist(),
    "values": values.tolist(),
    "weights": weights.tolist(),
    "gamma": gamma,
    "rbf": predictions(kernel="rbf", gamma=gamma),
    "linear": predictions(kernel="linear"),
}
with open("svr.json", "w") as file:
    json.dump(case, file)
