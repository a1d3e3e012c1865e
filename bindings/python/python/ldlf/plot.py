"""Figures of distributions, fits and trees. Every function draws on ``ax`` (or on new axes) and returns the Axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .measures import _distributions

#: The two colours of truth and prediction.
TRUE, PREDICTED = "0.45", "C0"


def _axes(ax: Any) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("figures need matplotlib; install it with: pip install 'ldlf[plot]'") from None
    return ax if ax is not None else plt.subplots(layout="constrained")[1]


def _ticks(labels: Any, count: int) -> tuple[np.ndarray, list[str] | None]:
    """Where labels stand on an axis, and their names where they are no numbers."""
    if labels is None:
        return np.arange(count), None
    labels = np.asarray(labels)
    if labels.dtype.kind in "iuf":
        return labels.astype(float), None
    return np.arange(count), [str(label) for label in labels]


def distributions(y_true: Any, y_pred: Any, *, labels: Any = None, row: int = 0, ax: Any = None) -> Any:
    """The true distribution of a row as bars and the predicted one as a line.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (rows, labels)
    labels : array, optional
        What the columns stand for, such as ``classes_``.
    row : int, default=0
    ax : Axes, optional

    >>> from ldlf.plot import distributions
    >>> distributions([[1, 3]], [[0.3, 0.7]]).get_ylabel()
    'probability'
    """
    ax = _axes(ax)
    truth, predicted = _distributions(y_true, "y_true")[row], _distributions(y_pred, "y_pred")[row]
    places, names = _ticks(labels, len(truth))
    width = 0.8 * (np.diff(places).min() if len(places) > 1 else 1.0)
    ax.bar(places, truth, width=width, color=TRUE, label="true")
    ax.plot(places, predicted, color=PREDICTED, marker="o", markersize=3, label="predicted")
    if names is not None:
        ax.set_xticks(places, names, rotation=45 if max(map(len, names)) > 4 else 0)
    ax.set(xlabel="label", ylabel="probability", title=f"row {row}")
    ax.legend()
    return ax


def learning_curve(estimator: Any, *, ax: Any = None) -> Any:
    """The training loss over the iterations of a fitted estimator, and the K-L divergence on held-out rows.

    >>> from ldlf import BFGSLDL
    >>> from ldlf.datasets import make_mixture
    >>> from ldlf.plot import learning_curve
    >>> learning_curve(BFGSLDL(iterations=10, l2=0.1).fit(*make_mixture(100))).get_xlabel()
    'iteration'
    """
    if not estimator.loss_curve_ and not estimator.validation_curve_:
        raise ValueError(
            f"{type(estimator).__name__} kept no learning curve: it does not iterate, or was loaded from a file"
        )
    ax = _axes(ax)
    losses = estimator.loss_curve_
    ax.plot(np.arange(1, len(losses) + 1), losses, color=TRUE, linewidth=1, label="training loss")
    ax.set(xlabel="iteration", ylabel="training loss")
    lines = ax.get_lines()
    if estimator.validation_curve_:
        right = ax.twinx()
        iterations, kl = zip(*estimator.validation_curve_)
        lines = [*lines, *right.plot(iterations, kl, color=PREDICTED, marker=".", label="validation K-L")]
        right.set_ylabel("validation K-L")
    ax.legend(handles=lines)
    return ax


def label_errors(y_true: Any, y_pred: Any, *, labels: Any = None, ax: Any = None) -> Any:
    """How far off the predictions are label by label: the mean absolute difference of probabilities.

    >>> from ldlf.plot import label_errors
    >>> bars = label_errors([[1, 0], [0, 1]], [[1, 0], [0.5, 0.5]]).patches
    >>> [float(bar.get_height()) for bar in bars]
    [0.25, 0.25]
    """
    ax = _axes(ax)
    errors = np.abs(_distributions(y_true, "y_true").astype(float) - _distributions(y_pred, "y_pred")).mean(axis=0)
    places, names = _ticks(labels, len(errors))
    width = 0.8 * (np.diff(places).min() if len(places) > 1 else 1.0)
    ax.bar(places, errors, width=width, color=PREDICTED)
    if names is not None:
        ax.set_xticks(places, names, rotation=45 if max(map(len, names)) > 4 else 0)
    ax.set(xlabel="label", ylabel="mean absolute difference")
    return ax


def sweep(search: Any, parameter: str, *, ax: Any = None) -> Any:
    """The mean test score over the values of one parameter, with the standard deviation over the folds.

    Parameters
    ----------
    search : fitted GridSearchCV, or its ``cv_results_``
    parameter : str
        Such as ``"trees"``, or ``"ldlforest__trees"`` in a pipeline.

    >>> from sklearn.model_selection import GridSearchCV
    >>> from ldlf import AAKNN
    >>> from ldlf.datasets import make_mixture
    >>> from ldlf.plot import sweep
    >>> search = GridSearchCV(AAKNN(), {"neighbors": [1, 5, 20]}, cv=3).fit(*make_mixture(90))
    >>> sweep(search, "neighbors").get_xlabel()
    'neighbors'
    """
    results = getattr(search, "cv_results_", search)
    column = results[f"param_{parameter}"]
    ax = _axes(ax)
    values = list(dict.fromkeys(np.ma.getdata(column).tolist()))
    # Where several parameters were searched, each value shows its best score.
    best = {value: -1 for value in values}
    for place, value in enumerate(np.ma.getdata(column).tolist()):
        if best[value] < 0 or results["mean_test_score"][place] > results["mean_test_score"][best[value]]:
            best[value] = place
    places = [best[value] for value in values]
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    where = values if numeric else np.arange(len(values))
    ax.errorbar(
        where, results["mean_test_score"][places], yerr=results["std_test_score"][places], marker="o", capsize=3
    )
    if not numeric:
        ax.set_xticks(where, [str(value) for value in values])
    ax.set(xlabel=parameter, ylabel="mean test score")
    return ax


def _soft_trees(estimator: Any) -> tuple[Any, Any]:
    """Leaves and units of a forest; of one that checks itself, those of its first soft forest."""
    for prefix in ("", "soft.0."):
        try:
            return estimator.model_.array(f"{prefix}leaves"), estimator.model_.array(f"{prefix}units")
        except KeyError:
            continue
    raise ValueError(f"{type(estimator).__name__} has no soft trees to draw")


def tree(estimator: Any, tree: int = 0, *, ax: Any = None) -> Any:
    """A tree of a fitted forest with its splits, and the distribution in each leaf as small bars.

    Each split shows the unit behind it. Trees deeper than 6 levels are too wide for a page and are refused.

    >>> from ldlf import LDLForest
    >>> from ldlf.datasets import make_mixture
    >>> from ldlf.plot import tree
    >>> forest = LDLForest(choose=False, trees=2, depth=3, min_iterations=50, epochs=1).fit(*make_mixture(100))
    >>> tree(forest).get_title()
    'tree 0'
    """
    leaves, units = _soft_trees(estimator)
    if not 0 <= tree < len(leaves):
        raise ValueError(f"tree must be between 0 and {len(leaves) - 1}, got {tree}")
    count, labels = leaves.shape[1:]
    depth = count.bit_length()
    if depth > 6:
        raise ValueError(f"a tree of depth {depth} is too wide to draw; at most 6 levels are")
    ax = _axes(ax)
    places = {}
    for node in range(2 * count - 1):
        level = (node + 1).bit_length() - 1
        places[node] = ((node + 1 - 2**level + 0.5) * count / 2**level, depth - 1 - level)
    for node in range(count - 1):
        for child in (2 * node + 1, 2 * node + 2):
            ax.plot(*zip(places[node], places[child]), color="0.8", zorder=1)
        ax.annotate(
            f"unit {units[tree, node]}",
            places[node],
            ha="center",
            va="center",
            fontsize=8,
            bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "0.6"},
        )
    height = 0.7 / max(leaves[tree].max(), 1e-9)
    for leaf in range(count):
        x, y = places[count - 1 + leaf]
        lefts = x - 0.4 + 0.8 * np.arange(labels) / labels
        ax.bar(lefts, leaves[tree, leaf] * height, width=0.8 / labels, bottom=y - 0.8, align="edge", color=PREDICTED)
    ax.set(title=f"tree {tree}", xlim=(0, count), ylim=(-0.9, depth - 0.6))
    ax.set_axis_off()
    return ax


__all__ = ["distributions", "label_errors", "learning_curve", "sweep", "tree"]
