"""How far predicted distributions are from true ones. Both are of shape (rows, labels); vote counts are normalised.

>>> from ldlf.measures import kl, intersection
>>> kl([[0.5, 0.5]], [[0.5, 0.5]]), intersection([[1, 0]], [[0.25, 0.75]])
(0.0, 0.25)
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from . import _engine

#: Every measure: its name, its title in tables, and whether a higher value is better.
MEASURES: dict[str, tuple[str, bool]] = {
    measure["name"]: (measure["title"], measure["higher_is_better"])
    for measure in json.loads(_engine.describe_measures())
}


def _distributions(values: Any) -> np.ndarray:
    return _engine.normalise(np.asarray(values, dtype=np.float64))


def _function(name: str, title: str, higher: bool) -> Callable[..., float]:
    def measure(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
        truth, predicted = _distributions(y_true), _distributions(y_pred)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, truth, dtype=np.float64)
        return _engine.measure(name, truth, predicted, weights)

    measure.__name__ = measure.__qualname__ = name
    measure.__doc__ = f"{title}, the mean over the rows; {'higher' if higher else 'lower'} is better."
    return measure


kl = _function("kl", *MEASURES["kl"])
euclidean = _function("euclidean", *MEASURES["euclidean"])
sorensen = _function("sorensen", *MEASURES["sorensen"])
squared_chi2 = _function("squared_chi2", *MEASURES["squared_chi2"])
fidelity = _function("fidelity", *MEASURES["fidelity"])
intersection = _function("intersection", *MEASURES["intersection"])
chebyshev = _function("chebyshev", *MEASURES["chebyshev"])
clark = _function("clark", *MEASURES["clark"])
canberra = _function("canberra", *MEASURES["canberra"])
cosine = _function("cosine", *MEASURES["cosine"])

__all__ = ["MEASURES", *MEASURES]
