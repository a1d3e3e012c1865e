"""Writes pt_bayes.json: scikit-learn's GaussianNB on rows repeated once per label and weighted by the distribution.

Run from this folder: python pt_bayes.py
"""

import json

import numpy as np
from sklearn.naive_bayes import GaussianNB

rng = np.random.default_rng(3)
features = rng.normal(size=(25, 4)).round(2)
features[rng.random(size=features.shape) < 0.4] = 0
targets = rng.dirichlet(np.ones(3), size=25).round(4)
targets[:, 2] = 1 - targets[:, :2].sum(axis=1)
queries = rng.normal(size=(7, 4)).round(2)

rows = np.repeat(features, 3, axis=0)
labels = np.tile(np.arange(3), 25)
model = GaussianNB().fit(rows, labels, sample_weight=targets.ravel())
case = {
    "features": features.tolist(),
    "targets": targets.tolist(),
    "queries": queries.tolist(),
    "predictions": model.predict_proba(queries).tolist(),
}
with open("pt_bayes.json", "w") as file:
    json.dump(case, file)
