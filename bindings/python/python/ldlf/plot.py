"""Figures of distributions, fits and trees. Every function draws on ``ax`` (or on new axes) and returns the Axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._distribution import LabelDistribution
from ._plot_axes import PREDICTED, TRUE, pyplot
from ._plot_axes import axes as _axes
from ._plot_dependence import partial_dependence
from ._plot_quality import calibration, critical_differences, importance, pit
from ._plot_tree import tree
from .measures import _distributions


def _ticks(labels: Any, count: int) -> tuple[np.ndarray, list[str] | None]:
    """Where labels stand on an axis, and their names where they are no numbers."""
    if labels is None:
        return np.arange(count), None
    labels = np.asarray(labels)
    if labels.dtype.kind in "iuf":
        return labels.astype(float), None
    return np.arange(count), [str(label) for label in labels]


def distributions(
    y_true: Any, y_pred: Any, *, labels: Any = None, row: int | None = None, rows: Any = None, ax: Any = None
) -> Any:
    """True and predicted distributions: bars side by side where labels are names, areas where they are numbers, with the predicted mean
    and the central interval of 80 %.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (rows, labels)
    labels : array, optional
        What the columns stand for, such as ``classes_``; numbers make an ordered axis.
    row : int, default=0
        The row to draw.
    rows : sequence of int, optional
        Several rows, as small multiples on one scale; the Axes come as an array.
    ax : Axes, optional
        For a single row.

    >>> from ldlf.plot import distributions
    >>> distributions([[1, 3]], [[0.3, 0.7]]).get_ylabel()
    'probability'
    >>> distributions([[1, 3], [2, 2]], [[0.3, 0.7], [0.5, 0.5]], rows=[0, 1]).shape
    (2,)
    """
    truth, predicted = _distributions(y_true, "y_true"), _distributions(y_pred, "y_pred")
    if truth.shape != predicted.shape:
        raise ValueError(f"y_true has the shape {truth.shape}, y_pred {predicted.shape}")
    wanted = [row or 0] if rows is None else list(rows)
    odd = next((place for place in wanted if not -len(truth) <= place < len(truth)), None)
    if odd is not None:
        raise ValueError(f"row {odd} is not there; y_true has {len(truth)} rows")
    if rows is None:
        ax = _axes(ax)
        _one_row(ax, truth[wanted[0]], predicted[wanted[0]], labels)
        ax.set_title(f"row {wanted[0]}")
        ax.legend()
        return ax
    plt = pyplot()

    across = min(len(wanted), 3)
    down = -(-len(wanted) // across)
    figure, axes = plt.subplots(
        down, across, figsize=(3.2 * across, 2.4 * down), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    flat = axes.ravel()
    for place, one in zip(wanted, flat):
        _one_row(one, truth[place], predicted[place], labels)
        one.set_title(f"row {place}", fontsize=9)
        one.label_outer()
        one.set_ylim(0, 1.05 * max(truth[wanted].max(), predicted[wanted].max()))
    for lowest in flat[max(len(wanted) - across, 0) : len(wanted)]:
        lowest.tick_params(labelbottom=True)
    for empty in flat[len(wanted) :]:
        empty.set_axis_off()
    figure.legend(*flat[0].get_legend_handles_labels(), loc="outside upper right", ncols=4, fontsize=8)
    return flat[: len(wanted)]


def _one_row(ax: Any, truth: np.ndarray, predicted: np.ndarray, labels: Any) -> None:
    places, names = _ticks(labels, len(truth))
    if labels is None or names is not None:
        width = 0.4
        ax.bar(places - width / 2, truth, width=width, color=TRUE, label="true")
        ax.bar(places + width / 2, predicted, width=width, color=PREDICTED, label="predicted")
        ax.set_xticks(places, names)
        if names is not None and max(map(len, names)) > 4:
            ax.tick_params(axis="x", labelrotation=45)
    else:
        ax.fill_between(places, truth, color=TRUE, alpha=0.5, linewidth=0, label="true")
        ax.plot(places, predicted, color=PREDICTED, linewidth=1.5, label="predicted")
        ax.fill_between(places, predicted, color=PREDICTED, alpha=0.15, linewidth=0)
        rows = LabelDistribution(predicted[None], places)
        (low, high), mean = rows.interval(0.8)[0], rows.mean()[0]
        ax.plot(
            [low, high],
            [0, 0],
            color=PREDICTED,
            linewidth=4,
            solid_capstyle="butt",
            clip_on=False,
            label="80 % interval",
        )
        ax.plot([mean], [0], color=PREDICTED, marker="|", markersize=12, linestyle="", clip_on=False, label="mean")
    ax.set(xlabel="label", ylabel="probability")
    ax.set_ylim(bottom=0)


def learning_curve(estimator: Any, *, ax: Any = None) -> Any:
    """The training loss over the iterations of a fitted estimator, and the K-L divergence on held-out rows.

    >>> from ldlf import MaximumEntropyLDL
    >>> from ldlf.datasets import make_mixture
    >>> from ldlf.plot import learning_curve
    >>> learning_curve(MaximumEntropyLDL(iterations=10, l2=0.1).fit(*make_mixture(100))).get_xlabel()
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
    if estimator.best_iteration_ < estimator.n_iter_:
        lines = [*lines, ax.axvline(estimator.best_iteration_, color="0.6", linestyle=":", label="kept iteration")]
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
    >>> from ldlf import KNeighborsLDL
    >>> from ldlf.datasets import make_mixture
    >>> from ldlf.plot import sweep
    >>> search = GridSearchCV(KNeighborsLDL(), {"neighbors": [1, 5, 20]}, cv=3).fit(*make_mixture(90))
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
    if not numeric or len(values) <= 8:
        ax.set_xticks(where, [f"{value:g}" if numeric else str(value) for value in values])
    ax.set(xlabel=parameter, ylabel="mean test score (higher is better)")
    return ax


__all__ = [
    "calibration",
    "critical_differences",
    "distributions",
    "importance",
    "label_errors",
    "learning_curve",
    "partial_dependence",
    "pit",
    "sweep",
    "tree",
]
