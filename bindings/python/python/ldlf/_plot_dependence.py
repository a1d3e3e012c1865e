"""How predictions follow one column."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from . import _frames
from ._distribution import LabelDistribution
from ._plot_axes import PREDICTED, axes
from .scorers import _distributions as predicted_by
from .scorers import _last_step


def partial_dependence(
    estimator: Any, X: Any, column: Any, *, points: int = 30, rows: int = 200, ax: Any = None
) -> Any:
    """How the mean predicted distribution follows one column while the others stay as they are (partial dependence, Friedman 2001).

    Labels that stand for numbers: the mean, and the band between the means of the lower and upper ends of the 80 % intervals. Other
    labels: the share of each, stacked. A column of texts or booleans is a bar per value.

    Parameters
    ----------
    estimator : fitted estimator, or a pipeline or search around one
    X : array, sparse matrix or table
        Rows whose other columns are averaged over.
    column : int or str
        Place of the column, or its name in a table.
    points : int, default=30
        Most values of the column that are tried: all, or evenly between its 2 % and 98 % quantiles.
    rows : int, default=200
        Most rows of X that are used, evenly spaced.

    >>> from ldlf import MaximumEntropyLDL
    >>> from ldlf.datasets import make_mixture
    >>> from ldlf.plot import partial_dependence
    >>> X, y = make_mixture(100)
    >>> partial_dependence(MaximumEntropyLDL(l2=0.1).fit(X, y), X, 2).get_ylabel()
    'mean predicted share'
    """
    inner = _last_step(estimator)
    if inner is None or not inner._gives_distributions:
        raise TypeError(
            f"{type(estimator).__name__} predicts no distributions; scikit-learn's PartialDependenceDisplay may serve"
        )
    X = _some(_frames.collected(X), rows)
    name = _named(X, column)
    values = _values(X, name, points)
    found = np.stack([predicted_by(estimator, _replaced(X, name, value)) for value in values]).astype(np.float64)
    ordered = _has_order(values)
    ax = axes(ax)
    where: Any = values if ordered else np.arange(len(values))
    if inner.label_values_ is not None:
        _mean_and_interval(ax, where, found, inner.label_values_, ordered)
    else:
        _shares(ax, where, found.mean(axis=1), inner.classes_, ordered)
    if not ordered:
        told = [str(value) for value in values]
        ax.set_xticks(where, told, rotation=45 if max(map(len, told)) > 4 else 0)
    ax.set_xlabel(f"feature {name}" if isinstance(name, int) else str(name))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _mean_and_interval(ax: Any, where: Any, found: np.ndarray, values: np.ndarray, ordered: bool) -> None:
    each = [LabelDistribution(rows, values) for rows in found]
    mean = np.array([rows.mean().mean() for rows in each])
    low, high = np.array([rows.interval(0.8).mean(axis=0) for rows in each]).T
    if ordered:
        ax.fill_between(where, low, high, color=PREDICTED, alpha=0.2, linewidth=0, label="80 % interval")
        ax.plot(where, mean, color=PREDICTED, label="mean")
    else:
        ends = np.stack([mean - low, high - mean])
        ax.errorbar(where, mean, yerr=ends, fmt="o", color=PREDICTED, capsize=4, label="mean and 80 % interval")
    ax.set_ylabel("mean predicted value")
    ax.legend()


def _shares(ax: Any, where: Any, shares: np.ndarray, classes: np.ndarray, ordered: bool) -> None:
    names = [str(label) for label in classes]
    if ordered:
        ax.stackplot(where, shares.T, labels=names, alpha=0.85)
        ax.margins(x=0)
    else:
        below = np.zeros(len(where))
        for label, name in enumerate(names):
            ax.bar(where, shares[:, label], bottom=below, label=name, alpha=0.85)
            below += shares[:, label]
    ax.set(ylabel="mean predicted share", ylim=(0, 1))
    # From the top down, as the areas lie.
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def _some(X: Any, most: int) -> Any:
    """At most so many rows, evenly spaced; sparse ones as an array."""
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    count = X.shape[0]
    if count == 0:
        raise ValueError("X has no rows")
    chosen = np.linspace(0, count - 1, min(count, most)).astype(np.int64)
    if hasattr(X, "iloc"):
        return X.iloc[chosen]
    if hasattr(X, "column_names"):
        return X.take(chosen)
    some = X[chosen]
    return some.toarray() if sparse.issparse(some) else some


def _named(X: Any, column: Any) -> Any:
    """The name of a column in a table, or its place in an array."""
    names = list(getattr(X, "column_names", getattr(X, "columns", range(X.shape[1]))))
    if column in names:
        return column
    if isinstance(column, int) and 0 <= column < len(names):
        return names[column]
    told = (
        f"X has {len(names)} columns" if isinstance(X, np.ndarray) else f"the columns are {', '.join(map(str, names))}"
    )
    raise ValueError(f"no column {column!r}; {told}")


def _values(X: Any, name: Any, points: int) -> list[Any]:
    """The values to try: numbers and dates in their order, others by how often they come."""
    if isinstance(X, np.ndarray):
        held = X[:, name].tolist()
    elif hasattr(X, "iloc"):
        held = X[name].dropna().tolist()
    elif hasattr(X, "with_columns"):
        held = X[name].drop_nulls().to_list()
    else:
        held = X.column(name).drop_null().to_pylist()
    distinct = list(dict.fromkeys(value for value in held if value == value))
    if not distinct:
        raise ValueError(f"column {name!r} of X holds nothing but missing values")
    if not _has_order(distinct):
        return sorted(distinct, key=lambda value: (-held.count(value), str(value)))[:points]
    distinct.sort()
    if len(distinct) <= points:
        return distinct
    ordered = sorted(value for value in held if value == value)
    ranks = np.linspace(0.02, 0.98, points) * (len(ordered) - 1)
    return list(dict.fromkeys(ordered[round(rank)] for rank in ranks))


def _has_order(values: list[Any]) -> bool:
    """Whether values are numbers or dates."""
    return all((isinstance(value, Real) and not isinstance(value, bool)) or hasattr(value, "year") for value in values)


def _replaced(X: Any, name: Any, value: Any) -> Any:
    """The rows with one value in a column, which keeps its type."""
    if isinstance(X, np.ndarray):
        changed = X.copy()
        changed[:, name] = value
        return changed
    if hasattr(X, "iloc"):
        changed = X.copy()
        changed[name] = type(X[name])([value] * len(X), index=X.index).astype(X[name].dtype)
        return changed
    if hasattr(X, "with_columns"):
        return X.with_columns(type(X[name])(name, [value] * len(X), dtype=X[name].dtype))
    import pyarrow as pa

    place = X.column_names.index(name)
    return X.set_column(place, name, pa.array([value] * len(X), type=X.column(name).type))
