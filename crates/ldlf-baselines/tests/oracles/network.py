"""Writes network.json: what the two small networks give by a few lines of numpy.

Run with numpy: python network.py
"""

import json
from pathlib import Path

import numpy as np

INPUTS, HIDDEN, LABELS, ROWS = 3, 4, 3, 5
VALUES = np.array([-1.0, 0.25, 1.0])


def wave(count, phase):
    """Weights from a closed formula, so that the test can make the same."""
    return np.sin(0.7 * np.arange(count) + phase)


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


x = wave(ROWS * INPUTS, 0.3).astype(np.float32).astype(float).reshape(ROWS, INPUTS)


def per_label():
    flat = wave(INPUTS * HIDDEN + HIDDEN + HIDDEN * LABELS + LABELS, 1.1)
    w, b, v, c = np.split(flat, np.cumsum([INPUTS * HIDDEN, HIDDEN, HIDDEN * LABELS]))
    h = sigmoid(x @ w.reshape(INPUTS, HIDDEN) + b)
    return softmax(h @ v.reshape(HIDDEN, LABELS) + c)


def ordered():
    flat = wave(INPUTS * HIDDEN + HIDDEN + HIDDEN + HIDDEN, 1.1)
    w, b, v, u = np.split(flat, np.cumsum([INPUTS * HIDDEN, HIDDEN, HIDDEN]))
    before = x @ w.reshape(INPUTS, HIDDEN) + b
    scores = [[v @ sigmoid(row + u * y) for y in VALUES] for row in before]
    return softmax(np.array(scores))


fixture = {"per_label": per_label().tolist(), "ordered": ordered().tolist()}
Path(__file__).with_suffix(".json").write_text(json.dumps(fixture, indent=1) + "\n")
