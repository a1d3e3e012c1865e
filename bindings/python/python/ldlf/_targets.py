"""What y may be: probabilities, vote counts, or one label per row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from . import _engine
from ._inputs import column_names


@dataclass(frozen=True)
class Labels:
    """What the columns of the distributions stand for."""

    classes: np.ndarray
    names: list[str] | None
    values: np.ndarray | None
    #: The single labels that the targets were made from by a sigma.
    singles: list[float] | None = None


def learn(y: Any, label_values: Any, sigma: float | None) -> tuple[np.ndarray, Labels]:
    """Targets ``[rows, labels]`` in double precision, and what their columns stand for."""
    array, names = _array(y)
    given = None if label_values is None else _numbers(label_values, "label_values")
    if array.ndim == 2:
        classes = given if given is not None else np.arange(array.shape[1])
        if given is None and names is not None:
            classes = np.asarray(names, dtype=object)
        if given is not None and names is None:
            names = [_name(value) for value in given]
        return _floats(array), Labels(_whole(classes), names, given)
    if sigma is not None:
        singles = _numbers(array, "y")
        values = given if given is not None else _engine.implied_labels(singles)
        targets = _engine.spread(singles, values.tolist(), float(sigma)).astype(np.float64)
        names = [_name(value) for value in values]
        return targets, Labels(_whole(values), names, values, singles.tolist())
    if given is not None:
        return _one_hot(array, given), Labels(_whole(given), [_name(value) for value in given], given)
    classes = np.unique(array)
    # An array of objects may hold numbers too.
    plain = np.asarray(classes.tolist())
    numbers = plain.astype(np.float64) if np.issubdtype(plain.dtype, np.number) else None
    return _one_hot(array, classes), Labels(classes, [_name(value) for value in classes], numbers)


def encoded(y: Any, labels: Labels, sigma: float | None) -> np.ndarray:
    """Distributions ``[rows, labels]`` in single precision over labels learnt before."""
    array, _ = _array(y)
    if array.ndim == 1:
        if sigma is not None and labels.values is not None:
            return _engine.spread(_numbers(array, "y"), labels.values.tolist(), float(sigma))
        return _one_hot(array, labels.classes).astype(np.float32)
    if array.shape[1] != len(labels.classes):
        raise ValueError(f"y has {array.shape[1]} labels, the model {len(labels.classes)}")
    return _engine.normalise(_floats(array))


def for_ordered(
    y: Any, values: np.ndarray, distributions: Callable[[Any], np.ndarray]
) -> tuple[np.ndarray, list[float] | None]:
    """What measures of ordered labels compare with: true distributions, and the true numbers where y is one number per row.

    The distribution of a number is all on the label whose value is nearest.
    """
    array, _ = _array(y)
    if array.ndim == 2:
        return distributions(y), None
    singles = _numbers(array, "y")
    nearest = np.abs(singles[:, None] - values[None, :]).argmin(axis=1)
    return np.eye(len(values), dtype=np.float32)[nearest], singles.tolist()


def _array(y: Any) -> tuple[np.ndarray, list[str] | None]:
    if sparse.issparse(y):
        raise TypeError("Sparse targets are not supported; pass a dense y, for instance y.toarray()")
    names = column_names(y)
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        # One column cannot be a distribution: it is taken for one label per row.
        return array[:, 0], None
    if array.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions, got {array.ndim}")
    return array, names


def _floats(array: np.ndarray) -> np.ndarray:
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("y with several columns must hold probabilities or vote counts") from None


def _numbers(values: Any, what: str) -> np.ndarray:
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must hold numbers, got {values!r}") from None


def _one_hot(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    places = {value: place for place, value in enumerate(classes.tolist())}
    targets = np.zeros((len(labels), len(classes)))
    for row, label in enumerate(labels.tolist()):
        place = places.get(label)
        if place is None:
            raise ValueError(f"y row {row}: the label {label!r} is none of {list(places)}")
        targets[row, place] = 1.0
    return targets


def _whole(values: np.ndarray) -> np.ndarray:
    """Numbers without fractions as integers: the label of 3 stars is 3, not 3.0."""
    if values.dtype.kind == "f" and np.all(values == np.round(values)):
        return values.astype(np.int64)
    return values


def _name(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
