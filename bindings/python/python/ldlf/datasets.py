"""Built-in data, the same as ``ldlf generate`` makes, and public sets, which their owners publish."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

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


class PublicSet(NamedTuple):
    """A public set of label distributions; none is part of this package."""

    name: str
    rows: int
    #: None where the rows are images.
    features: int | None
    labels: int
    what: str
    #: How to get it, what to cite, and what its licence says.
    get: str
    cite: str
    licence: str


def public_sets() -> dict[str, PublicSet]:
    """The public sets by name, each with where to get it.

    >>> from ldlf.datasets import public_sets
    >>> movie = public_sets()["Movie"]
    >>> movie.rows, movie.features, movie.labels, "palm.seu.edu.cn" in movie.get
    (7755, 1869, 5, True)
    """
    told = json.loads(_engine.describe_datasets())
    sources = {source["key"]: source for source in told["sources"]}
    sets = {}
    for known in told["datasets"]:
        source = sources[known.pop("source")]
        sets[known["name"]] = PublicSet(**known, **{key: source[key] for key in ("get", "cite", "licence")})
    return sets


def load_mat(path: str | os.PathLike[str]) -> tuple[Any, np.ndarray]:
    """Reads a MATLAB file (v5 or v7) with the variables ``features`` and ``labels``: the form of the public sets.

    Returns
    -------
    X of shape (rows, features), a CSR matrix where few entries differ from zero; y of shape (rows, labels).
    """
    if not os.path.exists(path):
        raise FileNotFoundError(f"{os.fspath(path)} does not exist; public_sets() says where to get each set")
    read: Any = _engine.read_mat(path)
    return _rows(read[0]), read[1]


def _generate(name: str, rows: int, seed: int, options: dict[str, Any]) -> tuple[Any, np.ndarray]:
    X, y = _engine.generate(name, rows, seed, json.dumps(options))
    return _rows(X), y


def _rows(features: Any) -> Any:
    """Features of the engine as an array, or as a CSR matrix where they are sparse."""
    if not isinstance(features, tuple):
        return features
    indptr, indices, data, columns = features
    return sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, columns))


__all__ = ["PublicSet", "load_mat", "make_artificial", "make_mixture", "public_sets"]
