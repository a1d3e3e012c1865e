"""How far predicted distributions are from true ones. Both are of shape (rows, labels); vote counts are normalised.

Where both are tables with named columns, labels are found by name.

There is a function per measure of the engine. Those of ordered labels also need ``label_values``, the number that each label
stands for; their y_true may be one number per row.

>>> from ldlf.measures import intersection, kl, mae_mean
>>> kl([[0.5, 0.5]], [[0.5, 0.5]]), intersection([[1, 0]], [[0.25, 0.75]])
(0.0, 0.25)
>>> mae_mean([20], [[0.5, 0.5]], label_values=[20, 30])
5.0

:func:`per_row` gives a measure row by row.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _engine, _inputs, _targets


class Measure(NamedTuple):
    """What the engine says about a measure."""

    #: Its title in tables.
    title: str
    #: Whether a higher value is better.
    higher_is_better: bool
    #: Whether it needs labels that stand for numbers.
    ordered: bool


#: Every measure by its name.
MEASURES: dict[str, Measure] = {
    measure["name"]: Measure(measure["title"], measure["higher_is_better"], measure["ordered"])
    for measure in json.loads(_engine.describe_measures())
}


def _distributions(values: Any, what: str) -> np.ndarray:
    array = _inputs.aligned(np.asarray(values, dtype=np.float64))
    if array.ndim != 2:
        raise ValueError(f"{what} must have two dimensions, (rows, labels), got {array.ndim}")
    try:
        return _engine.normalise(array)
    except ValueError as error:
        # The engine calls all targets y.
        raise ValueError(re.sub(r"^y row", f"{what} row", str(error))) from None


def _predicted(y_true: Any, y_pred: Any) -> np.ndarray:
    """The predictions with their columns in the order of the truth, where both have names."""
    predicted = _distributions(y_pred, "y_pred")
    wanted, found = _inputs.column_labels(y_true), _inputs.column_labels(y_pred)
    if wanted is None or found is None or np.ndim(y_true) != 2:
        return predicted
    here, there = (_targets._distinct(_targets._texts(columns)) for columns in (found, wanted))
    order: Any = _targets.place_by_name(here, there, "y_pred", "y_true", must=True)
    return np.ascontiguousarray(predicted[:, order])


def _of_distributions(name: str) -> Callable[..., float]:
    def measure(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
        truth, predicted = _distributions(y_true, "y_true"), _predicted(y_true, y_pred)
        return _engine.measure(name, truth, predicted, _inputs.weights(sample_weight, truth))

    return measure


def _of_ordered_labels(name: str) -> Callable[..., float]:
    def measure(y_true: Any, y_pred: Any, *, label_values: Any, sample_weight: Any = None) -> float:
        truth, predicted, values, singles = _ordered(y_true, y_pred, label_values)
        return _engine.measure(name, truth, predicted, _inputs.weights(sample_weight, predicted), values, singles)

    return measure


def _ordered(
    y_true: Any, y_pred: Any, label_values: Any
) -> tuple[np.ndarray, np.ndarray, list[float], list[float] | None]:
    """What a measure of ordered labels compares: distributions, the numbers that labels stand for, and true numbers."""
    predicted = _predicted(y_true, y_pred)
    values = _targets._numbers(label_values, "label_values")
    truth, singles = _targets.for_ordered(y_true, values, lambda y: _distributions(y, "y_true"))
    return truth, predicted, values.tolist(), singles


def per_row(measure: str, y_true: Any, y_pred: Any, *, label_values: Any = None) -> np.ndarray:
    """A measure row by row, such as ``per_row("kl", y_true, y_pred)``: which rows are predicted badly.

    Parameters
    ----------
    measure : str
        A name of ``MEASURES``. ``"kappa"`` is a measure of all rows at once, and NaN for each.
    y_true, y_pred : arrays of shape (rows, labels)
        Of ordered labels, y_true may be one number per row.
    label_values : array of numbers, optional
        The number that each label stands for; measures of ordered labels need it.

    Returns
    -------
    ndarray of shape (rows,)

    >>> from ldlf.measures import per_row
    >>> per_row("intersection", [[1, 0], [1, 1]], [[0.25, 0.75], [0.5, 0.5]]).tolist()
    [0.25, 1.0]
    """
    if measure not in MEASURES:
        close = difflib.get_close_matches(measure, MEASURES, n=1)
        raise ValueError(
            f"unknown measure {measure!r}; {f'did you mean {close[0]!r}?' if close else 'MEASURES lists them'}"
        )
    if not MEASURES[measure].ordered:
        return _engine.measure_rows(measure, _distributions(y_true, "y_true"), _predicted(y_true, y_pred))
    if label_values is None:
        raise ValueError(f"{measure} needs label_values, the number that each label stands for")
    return _engine.measure_rows(measure, *_ordered(y_true, y_pred, label_values))


def _function(name: str, measure: Measure) -> Callable[..., float]:
    function = (_of_ordered_labels if measure.ordered else _of_distributions)(name)
    function.__name__ = function.__qualname__ = name
    better = "higher" if measure.higher_is_better else "lower"
    function.__doc__ = f"{measure.title}, the mean over the rows; {better} is better."
    return function


globals().update({name: _function(name, measure) for name, measure in MEASURES.items()})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., float]: ...


__all__ = ["MEASURES", "Measure", "per_row", *MEASURES]  # pyright: ignore[reportUnsupportedDunderAll]
