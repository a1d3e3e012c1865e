"""What y may be: probabilities, vote counts, or one label per row."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from . import _engine
from ._frames import collected, is_number
from ._inputs import aligned, column_labels

#: Text that is a number without doubt.
NUMBER = re.compile(r"-?\d+(\.\d+)?")

#: Different whole numbers beyond which y holds no classes, if a third of the rows differ.
MOST_NUMBERS = 100


@dataclass(frozen=True)
class Labels:
    """What the columns of the distributions stand for."""

    classes: np.ndarray
    names: list[str] | None
    values: np.ndarray | None
    #: The single labels that the targets were made from by a sigma.
    singles: list[float] | None = None
    #: That sigma: one for all labels, or one for each.
    sigma: list[float] | None = None
    #: Whether the names are those of y's columns.
    named: bool = False


def learn(y: Any, label_values: Any, sigma: Any, *, rows: int | None = None) -> tuple[np.ndarray, Labels]:
    """Targets ``[rows, labels]`` in double precision, and what their columns stand for.

    ``rows`` is how many rows y stands for, where it holds every label once.
    """
    array, columns = _array(y)
    given = None if label_values is None else _numbers(label_values, "label_values")
    if array.ndim == 2:
        return _floats(array), _of_columns(array.shape[1], columns, given)
    if sigma is not None:
        singles = _numbers(array, "y")
        values = given if given is not None else _engine.implied_labels(singles)
        sigmas = widths(sigma)
        targets = _engine.spread(singles, values.tolist(), sigmas).astype(np.float64)
        names = [_name(value) for value in values]
        return targets, Labels(_whole(values), names, values, singles.tolist(), sigmas)
    _refuse_missing(array)
    if given is not None:
        return _one_hot(array, given), Labels(_whole(given), [_name(value) for value in given], given)
    classes = _declared_classes(y)
    classes = _classes(array, len(array) if rows is None else rows) if classes is None else classes
    # An array of objects may hold numbers too.
    plain = np.asarray(classes.tolist())
    numbers = plain.astype(np.float64) if np.issubdtype(plain.dtype, np.number) else None
    return _one_hot(array, classes), Labels(classes, _distinct([_name(value) for value in classes]), numbers)


def widths(sigma: Any) -> list[float]:
    """One sigma for all labels, or one for each, as the engine reads it."""
    return [float(width) for width in np.atleast_1d(_numbers(sigma, "sigma"))]


def _of_columns(labels: int, columns: Sequence[Any] | None, given: np.ndarray | None) -> Labels:
    if columns is None:
        if given is None:
            return Labels(np.arange(labels), None, None)
        return Labels(_whole(given), [_name(value) for value in given], given)
    names = _distinct(_texts(columns))
    if given is not None:
        return Labels(_whole(given), names, given, named=True)
    values = _as_numbers(columns)
    classes = np.asarray(names, dtype=object)
    if values is not None and not any(isinstance(column, str) for column in columns):
        classes = _whole(values)
    rising = values is not None and bool(np.all(np.diff(values) > 0))
    return Labels(classes, names, values if rising else None, named=True)


def encoded(y: Any, labels: Labels) -> np.ndarray:
    """Distributions ``[rows, labels]`` in single precision over labels learnt before."""
    return scored(y, labels, strict=True)[0]


def scored(y: Any, labels: Labels, *, strict: bool) -> tuple[np.ndarray, int]:
    """Distributions over labels learnt before, columns found by name, and the number of columns added for labels that were not learnt.

    Where labels were given, one that is none of them is an error (``strict``). Where they were learnt from training rows, which may be
    some of the folds, it counts: a number outside their range as the nearest label, a class as a label that was given no probability.
    """
    array, columns = _array(y)
    if array.ndim == 2:
        if array.shape[1] != len(labels.classes):
            raise ValueError(f"y has {array.shape[1]} labels, the model {len(labels.classes)}")
        return _engine.normalise(_floats(array)[:, _order(columns, labels)]), 0
    if labels.sigma is not None and labels.values is not None:
        singles = _numbers(array, "y")
        inside = np.clip(singles, labels.values[0], labels.values[-1])
        outside = int((inside != singles).sum())
        if outside and not strict:
            _warn(f"{outside} rows of y lie outside the labels of the training rows and count as the nearest label")
            singles = inside
        return _engine.spread(singles, labels.values.tolist(), labels.sigma), 0
    _refuse_missing(array)
    known = labels.classes
    unseen = [] if strict else sorted(set(array.tolist()) - set(known.tolist()), key=str)
    if unseen:
        _warn(f"y has the label {unseen[0]!r}, which no training row has; the model gives it no probability")
        known = np.asarray([*known.tolist(), *unseen], dtype=object)
    return _one_hot(array, known).astype(np.float32), len(unseen)


def votes(y: Any, word: str) -> np.ndarray:
    """The number of votes of every row."""
    if word != "votes":
        raise ValueError(f"sample_weight must hold numbers or be 'votes', got {word!r}")
    array, _ = _array(y)
    if array.ndim != 2:
        raise ValueError("sample_weight='votes' needs the counts of votes, but y is one label per row")
    counts: np.ndarray = _floats(array).sum(axis=1)
    if np.allclose(counts, 1.0, atol=1e-3):
        raise ValueError("sample_weight='votes': every row of y sums to 1, so that nothing says how many votes it had")
    return counts


def _warn(sentence: str) -> None:
    warnings.warn(f"{sentence}; pass label_values to fix the labels", stacklevel=4)


def _order(columns: Sequence[Any] | None, labels: Labels) -> Any:
    """Where the model's labels stand among y's columns."""
    if columns is None or labels.names is None:
        return slice(None)
    return place_by_name(_distinct(_texts(columns)), labels.names, "y", "the model", must=labels.named)


def place_by_name(found: list[str], wanted: list[str], here: str, there: str, *, must: bool) -> Any:
    """The places in ``found`` of the wanted names; as they stand where other names need not agree."""
    if found == wanted:
        return slice(None)
    if set(found) == set(wanted):
        return [found.index(name) for name in wanted]
    if not must:
        return slice(None)
    other = next(name for name in found if name not in wanted)
    missing = next(name for name in wanted if name not in found)
    raise ValueError(f"{here} has the label {other!r}, {there} has not; {there} has {missing!r}, {here} has not")


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


def _array(y: Any) -> tuple[np.ndarray, list[Any] | None]:
    if sparse.issparse(y):
        raise TypeError("Sparse targets are not supported; pass a dense y, for instance y.toarray()")
    y = collected(y)
    columns = column_labels(y)
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        # One column cannot be a distribution: it is taken for one label per row.
        return array[:, 0], None
    if array.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions, got {array.ndim}")
    if array.dtype.kind == "O" and array.ndim == 1:
        for row, label in enumerate(array):
            if isinstance(label, list | tuple | dict | set | np.ndarray):
                raise ValueError(
                    f"y row {row}: the label is a {type(label).__name__}; give one label per row, or one column per label"
                )
    return array, columns


def _declared_classes(y: Any) -> np.ndarray | None:
    """The labels that an ordered Categorical of pandas or an Enum of polars declares, in its order, also those that no row has."""
    kind = getattr(y, "dtype", None)
    categories = getattr(kind, "categories", None)
    if categories is None or not (getattr(kind, "ordered", False) or str(kind).startswith("Enum")):
        return None
    labels = categories.to_numpy() if hasattr(categories, "to_numpy") else np.asarray(categories)
    return labels if labels.dtype.kind in "biuf" else labels.astype(object)


def _classes(array: np.ndarray, rows: int) -> np.ndarray:
    """The distinct labels; refuses what is no class."""
    remedy = "pass sigma, the spread of an ordered label, and label_values, the numbers it may take; or use LDLForestRegressor"
    if array.dtype.kind in "mM":
        raise ValueError(f"y holds dates or times, which are no classes; turn them into numbers and {remedy}")
    if array.dtype.kind == "f" and (odd := array != np.round(array)).any():
        row = int(np.argmax(odd))
        raise ValueError(
            f"y row {row}: {array[row]} has a fraction: continuous numbers are no classes (Unknown label type: continuous); {remedy}"
        )
    try:
        classes: np.ndarray = np.unique(array)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in array.tolist()})
        raise ValueError(f"y must hold labels of one kind, numbers or text, got {' and '.join(kinds)}") from None
    if array.dtype.kind in "iuf" and len(classes) > MOST_NUMBERS and 3 * len(classes) >= rows:
        raise ValueError(
            f"y holds {len(classes)} different numbers in {rows} rows, and each would be a class; for prices, counts and the like "
            f"{remedy}; if they are classes, pass them as text, y.astype(str)"
        )
    return classes


def _refuse_missing(array: np.ndarray) -> None:
    if array.dtype.kind in "fO":
        missing = np.array([label is None or label != label for label in array.tolist()], dtype=bool)
        if missing.any():
            raise ValueError(f"y row {int(np.argmax(missing))}: the label is missing (NaN or None)")


def _floats(array: np.ndarray) -> np.ndarray:
    try:
        return aligned(np.asarray(array, dtype=np.float64))
    except (TypeError, ValueError):
        row, label, cell = next(
            (row, label, cell) for (row, label), cell in np.ndenumerate(array) if not is_number(cell)
        )
        raise ValueError(
            f"y row {row}, label {label}: {cell!r} is no number; y with several columns must hold probabilities or vote counts"
        ) from None


def _numbers(values: Any, what: str) -> np.ndarray:
    try:
        numbers = aligned(np.ascontiguousarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        first = np.ravel(np.asarray(values, dtype=object))[:1].tolist()
        raise ValueError(f"{what} must hold numbers, got {first[0] if first else values!r}") from None
    if what == "y" and np.isnan(numbers).any():
        raise ValueError(f"y row {int(np.argmax(np.isnan(numbers)))}: the label is missing (NaN or None)")
    return numbers


def _one_hot(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    places = {value: place for place, value in enumerate(classes.tolist())}
    targets = np.zeros((len(labels), len(classes)))
    for row, label in enumerate(labels.tolist()):
        place = places.get(label)
        if place is None:
            known = ", ".join(map(repr, list(places)[:20])) + (", ..." if len(places) > 20 else "")
            raise ValueError(f"y row {row}: the label {label!r} is none of [{known}]")
        targets[row, place] = 1.0
    return targets


def _texts(columns: Sequence[Any]) -> list[str]:
    """The names of columns as text; those of several levels are joined."""
    return ["/".join(map(str, column)) if isinstance(column, tuple) else _name(column) for column in columns]


def _distinct(names: list[str]) -> list[str]:
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise ValueError(f"y has two labels named {twice!r}; rename one")
    return names


def _as_numbers(columns: Sequence[Any]) -> np.ndarray | None:
    """Column names as numbers, where all of them are numbers or the text of one."""
    if all(isinstance(column, str) for column in columns):
        if not all(NUMBER.fullmatch(column) for column in columns):
            return None
    elif any(isinstance(c, bool | np.bool_) or not isinstance(c, int | float | np.number) for c in columns):
        return None
    values = np.asarray([float(column) for column in columns])
    return values if np.isfinite(values).all() else None


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
