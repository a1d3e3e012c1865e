"""From what users hand over to what the engine reads."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names, _check_sample_weight, validate_data

from . import _engine, _frames, _images

PRECISIONS = (np.float64, np.float32)

#: Up to so many numbers, the time of a prediction is that of its checks.
FEW_NUMBERS = 1 << 14


def column_labels(table: Any) -> list[Any] | None:
    """The names of a table's columns (pandas, polars, pyarrow); None where there are none, or only the numbers that pandas gives."""
    names = getattr(table, "column_names", None)
    if names is None:
        names = getattr(table, "columns", None)
    if names is None or callable(names):
        return None
    if type(names).__name__ == "RangeIndex" and (names.start, names.step) == (0, 1):
        return None
    return list(names) or None


def features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Checks X, learns or compares its columns, and gives an array or CSR of single or double precision.

    A table with named columns is encoded by what training decided about them (:mod:`ldlf._frames`).
    """
    if estimator._reads_images():
        return _images.read(X)
    if not reset and _is_plain(estimator, X):
        return X
    if isinstance(X, str | os.PathLike):
        raise ValueError(
            f"X is the path {os.fspath(X)!r}, where rows are needed: read the table with pandas or polars; images are learnt by ldlf.DeepLDLForest"
        )
    X = _frames.collected(X)
    if reset:
        columns = None if _frames.is_sparse(X) else _frames.raw_columns(X)
        estimator._columns = estimator._left_out = None
        more = _frames.needs_encoding(columns or [])
        if columns and len(columns[0][2]) and (more or (estimator._infers_numbers and _frames.are_named(X))):
            estimator._columns, used, left_out, rows = _frames.learn(columns)
            estimator._left_out = None if more else left_out
            estimator.feature_names_in_ = np.asarray(used, dtype=object)
            estimator.n_features_in_ = len(used)
            return rows
    elif estimator._columns is not None:
        numbers = _frames.are_numbers(estimator._columns)
        if _frames.is_frame(X) and (_frames.are_named(X) or not numbers):
            if estimator._left_out is not None:
                _check_feature_names(estimator, _frames.without(X, estimator._left_out), reset=False)
            return _frames.encoded(estimator._columns, X)
        if not numbers:
            named = ", ".join(map(repr, estimator.feature_names_in_[:5]))
            raise ValueError(f"the model was trained on a table with named columns ({named}, ...); give such a table")
    names = column_labels(X)
    if not reset and names is not None and (date := _frames.dates_among(X, names)) is not None:
        raise ValueError(date)
    try:
        return validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=PRECISIONS,
            accept_large_sparse=True,
            ensure_min_samples=1 if reset else 0,
        )
    except (TypeError, ValueError) as error:
        # scikit-learn's own sentences go on to recommend other estimators, and name no column.
        for word, odd in (("NaN", np.isnan), ("infinity", np.isinf)):
            if str(error).startswith(f"Input X contains {word}"):
                remedy = _ABOUT_NAN[reset] if word == "NaN" else "replace it"
                raise ValueError(f"Input X contains {word}{_place_of(odd, X)}; {remedy}") from None
        if str(error).startswith("Found array with dim"):
            raise ValueError(f"{error} Images are learnt by ldlf.DeepLDLForest.") from None
        if names is not None and not str(error).startswith("The feature names"):
            sentence = _frames.not_a_number(X, names)
            if sentence is not None:
                raise ValueError(sentence) from None
        raise


def _is_plain(estimator: Any, X: Any) -> bool:
    """Whether X is a few rows of an array that scikit-learn's checks would return as they are: they take longer than the prediction."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and 0 < X.size <= FEW_NUMBERS
        and X.dtype in PRECISIONS
        and X.shape[1] == estimator.n_features_in_
        and estimator._columns is None
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(X).all())
    )


_ABOUT_NAN = {
    True: "fill it, or fit on a table with named columns (pandas, polars, pyarrow), whose missing values are handled",
    False: "the training rows had no missing values; fill it",
}


def _place_of(odd_ones: Any, X: Any) -> str:
    """Where the first number of this kind stands, if that can be told."""
    names = column_labels(X)
    try:
        odd = odd_ones(np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError):
        return ""
    if odd.ndim != 2 or not odd.any():
        return ""
    row, column = (int(place) for place in np.argwhere(odd)[0])
    return f" in row {row}, column {column if names is None else repr(names[column])}"


def weights(sample_weight: Any, rows: Any) -> np.ndarray | None:
    """Checks the rows' weights; names a row by its place, counted from 0 as in X and y."""
    if sample_weight is None:
        return None
    try:
        checked = aligned(np.ascontiguousarray(_check_sample_weight(sample_weight, rows, dtype=np.float64)))
    except ValueError as error:
        if not str(error).startswith("Input sample_weight contains"):
            raise
        row = int(np.argmax(~np.isfinite(np.asarray(sample_weight, dtype=np.float64))))
        raise ValueError(f"{str(error).rstrip('.')} in row {row}") from None
    if (checked < 0).any():
        row = int(np.argmax(checked < 0))
        raise ValueError(f"sample_weight row {row}: {checked[row]:g} is negative; weights are at least 0")
    return checked


def one_eval_set(eval_set: Any) -> tuple[Any, Any]:
    """The X and y of an evaluation set, given as a pair or as a list of one pair."""
    if isinstance(eval_set, list) and all(isinstance(pair, tuple) for pair in eval_set):
        eval_set = eval_set[0] if len(eval_set) == 1 else None
    if not isinstance(eval_set, list | tuple) or len(eval_set) != 2:
        raise ValueError("eval_set must be one pair (X, y)")
    return eval_set[0], eval_set[1]


def stacked(above: Any, below: Any) -> Any:
    """Rows and other rows under them; sparse if either is."""
    if isinstance(above, _engine.Images):
        return above.followed_by(below)
    if sparse.issparse(above) or sparse.issparse(below):
        return sparse.vstack([above, below], format="csr")
    return np.concatenate([above, below])


def aligned(array: np.ndarray) -> np.ndarray:
    """The array, or a copy of one that lies at an odd place in memory (a field of a record, a slice of a message)."""
    return array if array.flags.aligned else array.copy()


def for_engine(X: Any) -> Any:
    """What the engine reads: the array itself, the parts of compressed sparse rows, ordered and without repeats, or images."""
    if isinstance(X, _engine.Images):
        return X
    if not sparse.issparse(X):
        return aligned(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return (aligned(X.indptr), aligned(X.indices), aligned(X.data), int(X.shape[1]))


def settings(estimator: Any, names: tuple[str, ...]) -> str:
    """The learner's own parameters as JSON."""
    return json.dumps({name: _plain(name, getattr(estimator, name)) for name in names})


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
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
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(np.iinfo(np.int32).max))
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def uniform(random_state: Any, size: tuple[int, ...]) -> np.ndarray:
    """Numbers between 0 and 1 from a seed or a generator of either kind."""
    if isinstance(random_state, np.random.Generator):
        return random_state.uniform(size=size)
    found: np.ndarray = check_random_state(random_state).uniform(size=size)
    return found


def threads(n_jobs: int | None) -> int:
    """The number of threads that ``n_jobs`` means by joblib's rule. Unlike processes, threads may be started anywhere."""
    if n_jobs is None or n_jobs == 0:
        return int(effective_n_jobs(n_jobs))  # pyright: ignore[reportArgumentType]
    return n_jobs if n_jobs > 0 else max(cpu_count() + 1 + n_jobs, 1)
