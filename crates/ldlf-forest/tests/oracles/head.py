#!/usr/bin/env python3
"""Writes head.json: one forest head by the paper's equations alone, for the Rust head and for both PyTorch paths.

Eqn. 1 and 2 are written out leaf by leaf; gradients are complex-step derivatives, exact to the last digits; the leaf update is
Eqn. 12 with the pull towards a base distribution. Needs NumPy only.
"""

import json
from pathlib import Path

import numpy as np

TREES, DEPTH, UNITS, LABELS, ROWS = 2, 4, 9, 3, 5
LEAVES, SPLITS = 2 ** (DEPTH - 1), 2 ** (DEPTH - 1) - 1
STEP = 1e-30


def shares(activations, units):
    """[rows, trees, leaves] (Eqn. 1)."""
    splits = 1 / (1 + np.exp(-activations[:, units]))
    out = np.ones((len(activations), TREES, LEAVES), dtype=activations.dtype)
    for leaf in range(LEAVES):
        node = leaf + SPLITS
        while node > 0:
            parent = (node - 1) // 2
            s = splits[:, :, parent]
            out[:, :, leaf] *= s if node == 2 * parent + 1 else 1 - s
            node = parent
    return out


def outputs(activations, units, leaves):
    """[rows, trees, labels] (Eqn. 2)."""
    return np.einsum("nkl,klc->nkc", shares(activations, units), leaves)


def loss(activations, units, leaves, targets, weights):
    """Eqn. 3, averaged over trees and, by their weights, over rows."""
    of_rows = -(targets[:, None, :] * np.log(outputs(activations, units, leaves))).sum(axis=2).mean(axis=1)
    return (weights * of_rows).sum() / weights.sum()


def gradient(function, at):
    """Complex-step derivative of a real function of an array."""
    out = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        moved = at.astype(complex)
        moved[place] += 1j * STEP
        out[place] = function(moved).imag / STEP
    return out


def leaf_update(activations, units, leaves, targets, weights, iterations, prior, base):
    """Eqn. 12."""
    routed = shares(activations, units)
    for _ in range(iterations):
        ratios = weights[:, None, None] * targets[:, None, :] / np.einsum("nkl,klc->nkc", routed, leaves)
        counts = leaves * np.einsum("nkl,nkc->klc", routed, ratios) + prior * base
        leaves = counts / counts.sum(axis=2, keepdims=True)
    return leaves


def main():
    generator = np.random.default_rng(7)
    units = np.array([generator.permutation(UNITS)[:SPLITS] for _ in range(TREES)])
    activations = generator.normal(size=(ROWS, UNITS)) * 1.5
    leaves = generator.dirichlet(np.ones(LABELS), size=(TREES, LEAVES))
    targets = generator.dirichlet(np.ones(LABELS), size=ROWS)
    targets[0] = [1.0, 0.0, 0.0]
    weights = generator.uniform(0.5, 2.0, size=ROWS)
    above = generator.normal(size=(ROWS, LABELS))
    base = (weights[:, None] * targets).sum(axis=0) / weights.sum()
    fixture = {
        "trees": TREES,
        "depth": DEPTH,
        "units": units,
        "activations": activations,
        "leaves": leaves,
        "targets": targets,
        "weights": weights,
        "above": above,
        "base": base,
        "shares": shares(activations, units),
        "predictions": outputs(activations, units, leaves).mean(axis=1),
        "loss": loss(activations, units, leaves, targets, weights),
        "loss_gradient": gradient(lambda a: loss(a, units, leaves, targets, weights), activations),
        "prediction_gradient": gradient(lambda a: (above * outputs(a, units, leaves).mean(axis=1)).sum(), activations),
        "updated_once": leaf_update(activations, units, leaves, targets, weights, 1, 0.0, base),
        "updated_with_prior": leaf_update(activations, units, leaves, targets, weights, 3, 0.5, base),
    }
    plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in fixture.items()}
    Path(__file__).with_suffix(".json").write_text(json.dumps(plain) + "\n")


if __name__ == "__main__":
    main()
