"""Writes maximum_entropy.json: the minimum of the maximum entropy loss by SciPy's L-BFGS-B.

Run with numpy and scipy: python maximum_entropy.py
"""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

rng = np.random.default_rng(7)
ROWS, FEATURES, LABELS = 40, 4, 3
x = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
scores = x @ rng.normal(size=(FEATURES, LABELS)) + rng.normal(scale=0.7, size=(ROWS, LABELS))
d = np.exp(scores)
d = (d / d.sum(1, keepdims=True)).astype(np.float32)


def mean_loss(flat, l2):
    """Mean K-L divergence plus l2/2 |theta|^2 / rows; the last row of theta is the bias, without penalty."""
    theta = flat.reshape(FEATURES + 1, LABELS)
    z = x.astype(float) @ theta[:-1] + theta[-1]
    z -= z.max(1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(1, keepdims=True))
    target = d.astype(float)
    kl = (target * (np.log(target) - log_p)).sum()
    return (kl + 0.5 * l2 * (theta[:-1] ** 2).sum()) / ROWS


def minimum(l2):
    theta = minimize(
        mean_loss, np.zeros((FEATURES + 1) * LABELS), args=(l2,), method="L-BFGS-B",
        options={"maxiter": 10_000, "maxfun": 1_000_000, "ftol": 1e-15, "gtol": 1e-9},
    )
    return {"l2": l2, "loss": float(theta.fun)}


fixture = {
    "features": x.tolist(),
    "targets": d.tolist(),
    "minima": [minimum(l2) for l2 in (0.0, 1.5, 40.0)],
}
Path(__file__).with_suffix(".json").write_text(json.dumps(fixture, indent=1) + "\n")
