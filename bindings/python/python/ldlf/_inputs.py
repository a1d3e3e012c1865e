"""From what users hand over to what the engine reads."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

PRECISIONS = (np.float64, np.float32)


def column_names(table: Any) -> list[str] | None:
    """The names of a table's columns (pandas, polars, pyarrow), or None where there are none or not all are text."""
    names = getattr(table, "column_names", None)
    if names is None:
        names = getattr(table, "columns", None)
    if names is None or callable(names):
        return None
    names = list(names)
    return names if names and all(isinstance(name, str) for name in names) else None


def features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Checks X, learns or compares its width and column names, and gives an array or CSR of single or double precision."""
    return validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=PRECISIONS, accept_large_sparse=True)


def for_engine(X: Any) -> Any:
    """What the engine reads: the array itself, or the parts of compressed sparse rows, ordered and without repeats."""
    if not sparse.issparse(X):
        return X
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return (X.indptr, X.indices, X.data, int(X.shape[1]))


def settings(estimator: Any, names: tuple[str, ...]) -> str:
    """The learner's own parameters as JSON."""
    return json.dumps({name: _plain(name, getattr(estimator, name)) for name in names})


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value}")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{name} must be a number, text, True, False or None, got {value!r}")


def seed(random_state: Any) -> int:
    """The engine's seed: a whole number as it is, else one drawn from the generator."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if not 0 <= random_state < 2**63:
            raise ValueError(f"random_state must be between 0 and 2**63 - 1, got {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads(n_jobs: int | None) -> int:
    """The number of threads that ``n_jobs`` means by joblib's rule."""
    return effective_n_jobs(n_jobs)
