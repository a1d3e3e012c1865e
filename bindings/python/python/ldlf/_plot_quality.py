"""How far predictions can be trusted, what they rest on, and which learner is better."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._distribution import LabelDistribution
from ._plot_axes import PREDICTED, TRUE, axes
from .measures import _distributions


def calibration(y_true: Any, y_pred: Any, *, bins: int = 10, ax: Any = None) -> Any:
    """Whether probabilities are what they say: the mean true probability of all labels and rows whose prediction lies in a bin.

    On the diagonal predictions are calibrated; the size of a point tells how many predictions it stands for.

    >>> from ldlf.plot import calibration
    >>> calibration([[1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.8]]).get_xlabel()
    'predicted probability'
    """
    truth, predicted = _distributions(y_true, "y_true").ravel(), _distributions(y_pred, "y_pred").ravel()
    edges = np.linspace(0, 1, bins + 1)
    which = np.clip(np.digitize(predicted, edges) - 1, 0, bins - 1)
    filled = [place for place in range(bins) if (which == place).any()]
    said = [float(predicted[which == place].mean()) for place in filled]
    came = [float(truth[which == place].mean()) for place in filled]
    count = np.array([(which == place).sum() for place in filled])
    ax = axes(ax)
    ax.plot([0, 1], [0, 1], color=TRUE, linewidth=1, linestyle="--", label="calibrated")
    ax.plot(said, came, color=PREDICTED, linewidth=1)
    ax.scatter(said, came, s=12 + 150 * count / count.max(), color=PREDICTED, alpha=0.8, label="predictions")
    most = max(*said, *came) * 1.05
    ax.set(xlabel="predicted probability", ylabel="mean true probability", xlim=(0, most), ylim=(0, most))
    ax.set_aspect("equal")
    ax.legend(loc="upper left")
    return ax


def pit(y_true: Any, y_pred: Any, *, label_values: Any, bins: int = 10, ax: Any = None) -> Any:
    """Probability integral transform of ordered labels: how often the true value falls into each tenth of its predicted distribution.

    Flat is calibrated; a hump means that distributions are too wide, two horns that they are too narrow, a slope that they are shifted.
    The part of a label's own probability is spread evenly, as for counts (Czado, Gneiting, Held 2009).

    Parameters
    ----------
    y_true : array of shape (rows,)
        One number per row.
    y_pred : array of shape (rows, labels), or LabelDistribution
    label_values : array of shape (labels,)

    >>> from ldlf.plot import pit
    >>> bars = pit([1, 2], [[0.5, 0.5], [0.5, 0.5]], label_values=[1, 2], bins=2).patches
    >>> [float(bar.get_height()) for bar in bars]
    [1.0, 1.0]
    """
    rows = (
        y_pred
        if isinstance(y_pred, LabelDistribution)
        else LabelDistribution(_distributions(y_pred, "y_pred"), label_values)
    )
    values = np.asarray(y_true, dtype=np.float64)
    if values.shape != (len(rows),):
        raise ValueError(f"y_true should have the shape ({len(rows)},), got {values.shape}")
    nearest = np.abs(values[:, None] - rows.values[None, :]).argmin(axis=1)
    upper = np.cumsum(rows.probabilities, axis=1, dtype=np.float64)[np.arange(len(rows)), nearest]
    own = np.maximum(rows.probabilities[np.arange(len(rows)), nearest].astype(np.float64), 1e-12)
    edges = np.linspace(0, 1, bins + 1)
    # The share of a row's own step below each edge.
    below = np.clip((edges[None, :] - (upper - own)[:, None]) / own[:, None], 0, 1)
    heights = np.diff(below.mean(axis=0)) * bins
    ax = axes(ax)
    ax.bar(edges[:-1], heights, width=1 / bins, align="edge", color=PREDICTED, alpha=0.8, edgecolor="white")
    ax.axhline(1, color=TRUE, linewidth=1, linestyle="--")
    ax.set(xlabel="probability integral transform", ylabel="relative frequency", xlim=(0, 1))
    return ax


def importance(importances: Any, *, names: Any = None, most: int = 20, ax: Any = None) -> Any:
    """The most important features as bars.

    Parameters
    ----------
    importances : array of shape (features,), or a fitted estimator
        Of an estimator its ``feature_importances_``.
    names : sequence of str, optional
        What features are called.
    most : int, default=20

    >>> from ldlf.plot import importance
    >>> [tick.get_text() for tick in importance([0.1, 0.4], names=["a", "b"]).get_yticklabels()]
    ['b', 'a']
    """
    if hasattr(importances, "feature_importances_"):
        names = names if names is not None else getattr(importances, "feature_names_in_", None)
        importances = importances.feature_importances_
    rises = np.asarray(importances, dtype=np.float64)
    if rises.ndim != 1 or (names is not None and len(names) != len(rises)):
        raise ValueError(f"importances should be one number per feature, got the shape {rises.shape}")
    order = np.argsort(-rises, kind="stable")[:most]
    told = [f"feature {place}" if names is None else str(names[place]) for place in order]
    ax = axes(ax, figsize=(6, 0.8 + 0.26 * len(order)))
    ax.barh(np.arange(len(order)), rises[order], color=PREDICTED)
    ax.set_yticks(np.arange(len(order)), told)
    ax.invert_yaxis()
    ax.set_xlabel("rise of the K-L divergence when shuffled")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def critical_differences(scores: Any, *, names: Any = None, alpha: float = 0.05, ax: Any = None) -> Any:
    """Mean ranks of learners over data sets, the best at the left; a bar joins those that Nemenyi's test cannot tell apart.

    J. Demšar: Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006.

    Parameters
    ----------
    scores : table of shape (data sets, learners)
        Higher is better, such as ``score``; names of columns are the learners.
    names : sequence of str, optional
    alpha : float, default=0.05

    >>> import numpy as np
    >>> from ldlf.plot import critical_differences
    >>> scores = np.array([[0.9, 0.7, 0.1]] * 8)
    >>> critical_differences(scores, names=["a", "b", "c"]).get_title()
    'critical difference 1.17'
    """
    from scipy.stats import rankdata, studentized_range

    if names is None:
        names = [str(name) for name in getattr(scores, "columns", range(np.shape(scores)[1]))]
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 2:
        raise ValueError(f"scores should have the shape (data sets, learners), both at least 2, got {table.shape}")
    sets, learners = table.shape
    ranks = rankdata(-table, axis=1).mean(axis=0)
    difference = studentized_range.ppf(1 - alpha, learners, np.inf) / np.sqrt(2)
    difference *= np.sqrt(learners * (learners + 1) / (6 * sets))
    order = np.argsort(ranks, kind="stable")
    ax = axes(ax, figsize=(7, 1.2 + 0.28 * learners))
    half = (learners + 1) // 2
    for place, learner in enumerate(order):
        left = place < half
        depth = -(place + 1 if left else learners - place) * 0.5 - 0.9
        end = 1 - 0.15 * learners if left else learners + 0.15 * learners
        ax.plot([ranks[learner], ranks[learner], end], [0, depth, depth], color="0.3", linewidth=0.8)
        ax.text(
            end,
            depth,
            f"{names[learner]} ({ranks[learner]:.2f})",
            ha="right" if left else "left",
            va="center",
            fontsize=8,
        )
    level = -0.25
    last = -1
    for place, learner in enumerate(order):
        others = [other for other in range(place + 1, learners) if ranks[order[other]] - ranks[learner] <= difference]
        if others and others[-1] > last:
            last = others[-1]
            ax.plot([ranks[learner] - 0.03, ranks[order[last]] + 0.03], [level, level], color=PREDICTED, linewidth=3)
            level -= 0.16
    ax.hlines(0, 1, learners, color="0.3", linewidth=1)
    for rank in range(1, learners + 1):
        ax.plot([rank, rank], [0, 0.12], color="0.3", linewidth=1)
        ax.text(rank, 0.2, str(rank), ha="center", va="bottom", fontsize=8)
    room = 0.55 * learners
    ax.set(
        title=f"critical difference {difference:.2f}", xlim=(1 - room, learners + room), ylim=(-0.5 * half - 1.5, 0.9)
    )
    ax.set_axis_off()
    return ax
