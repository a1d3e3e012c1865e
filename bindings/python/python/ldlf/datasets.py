"""Built-in data, the same as ``ldlf generate`` makes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from scipy import sparse

from . import _engine


def make_mixture(
    rows: int = 2000,
    *,
    features: int = 20,
    labels: int = 5,
    density: float | None = None,
    votes: int | None = None,
    seed: int = 0,
) -> tuple[Any, np.ndarray]:
    """Rows whose distributions are mixtures of four prototypes: a forest can fit them, a linear model cannot.

    Parameters
    ----------
    rows, features, labels : int
        Sizes; five signals decide, the other features are noise.
    density : float, optional
        Fraction of features that are not zero; X is then a CSR matrix.
    votes : int, optional
        Votes drawn for each row from its distribution; without it, y is the distribution itself.
    seed : int

    Returns
    -------
    X of shape (rows, features), y of shape (rows, labels): distributions, or vote counts.

    >>> X, y = make_mixture(100, labels=3, votes=10)
    >>> X.shape, y.shape, float(y[0].sum())
    ((100, 20), (100, 3), 10.0)
    """
    options = {"features": features, "labels": labels, "density": density, "votes": votes}
    X, y = _generate("mixture", rows, seed, options)
    return (X, np.round(y * votes)) if votes is not None else (X, y)


def make_artificial(rows: int = 500, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three features and three labels: the smooth artificial set of Geng 2016.

    >>> X, y = make_artificial(10)
    >>> X.shape, y.shape
    ((10, 3), (10, 3))
    """
    return _generate("artificial", rows, seed, {})


def _generate(name: str, rows: int, seed: int, options: dict[str, Any]) -> tuple[Any, np.ndarray]:
    X, y = _engine.generate(name, rows, seed, json.dumps(options))
    if isinstance(X, tuple):
        indptr, indices, data, columns = X
        X = sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, columns))
    return X, y


__all__ = ["make_artificial", "make_mixture"]
