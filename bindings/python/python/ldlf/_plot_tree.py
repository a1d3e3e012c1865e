"""Trees of a forest: what splits look at, how many rows come by, and what leaves say."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _inputs
from ._plot_axes import PREDICTED, axes


@dataclass(frozen=True)
class _Node:
    """A part of a tree: its share of the rows, its mean distribution, what its split looks at, and how many leaves it holds."""

    share: float
    distribution: np.ndarray
    features: list[tuple[int, float]]
    leaves: int


def _nodes(splits: list[Any], leaves: np.ndarray, mass: np.ndarray) -> list[_Node]:
    """All nodes, numbered level by level from the root."""
    count = len(leaves)
    found: list[Any] = [None] * (2 * count - 1)
    for number in reversed(range(2 * count - 1)):
        if number >= count - 1:
            leaf = number - (count - 1)
            found[number] = _Node(float(mass[leaf]), leaves[leaf], [], 1)
            continue
        left, right = found[2 * number + 1], found[2 * number + 2]
        share = left.share + right.share
        weights = (left.share, right.share) if share > 0 else (0.5, 0.5)
        mean = (weights[0] * left.distribution + weights[1] * right.distribution) / sum(weights)
        found[number] = _Node(share, mean, splits[number], left.leaves + right.leaves)
    return found


def _opened(nodes: list[_Node], most: int) -> set[int]:
    """The splits to draw: of the parts that could be opened, always the one that most rows reach, until there are enough leaves."""
    opened: set[int] = set()
    heap = [(-nodes[0].share, 0)]
    while heap and len(opened) + 1 < most:
        _, number = heapq.heappop(heap)
        if nodes[number].leaves > 1:
            opened.add(number)
            for child in (2 * number + 1, 2 * number + 2):
                heapq.heappush(heap, (-nodes[child].share, child))
    return opened


def tree(estimator: Any, X: Any, tree: int = 0, *, max_leaves: int = 8, ax: Any = None) -> Any:
    """A tree of a fitted forest as some rows see it.

    A split names the feature that decides most in it, and where large values go. Every part shows its share of the rows; leaves show
    their distribution with the names of the labels. Deep trees are folded where few rows pass: a folded part shows the mean of its leaves.

    Parameters
    ----------
    estimator : fitted LDLForest, or another with soft trees
    X : rows, such as the training rows
    tree : int, default=0
    max_leaves : int, default=8
        How many leaves and folded parts are drawn at most.
    ax : Axes, optional

    >>> from ldlf import LDLForest
    >>> from ldlf.datasets import make_mixture
    >>> from ldlf.plot import tree
    >>> X, y = make_mixture(100)
    >>> forest = LDLForest(choose=False, trees=2, depth=7, min_iterations=50, epochs=1).fit(X, y)
    >>> tree(forest, X).get_title()
    'tree 0 of 2, 100 rows'
    """
    check_is_fitted(estimator)
    rows = _inputs.features(estimator, X, reset=False)
    seen = estimator.model_.trees(_inputs.for_engine(rows), _inputs.threads(estimator.n_jobs))
    if not seen:
        chose = (
            "; its fit chose grown trees alone, choose=False keeps soft ones"
            if getattr(estimator, "choose", False)
            else ""
        )
        raise ValueError(f"{type(estimator).__name__} has no soft trees to draw{chose}")
    if not 0 <= tree < len(seen):
        raise ValueError(f"tree must be between 0 and {len(seen) - 1}, got {tree}")
    if max_leaves < 2:
        raise ValueError(f"max_leaves must be at least 2, got {max_leaves}")
    splits, leaves, mass = seen[tree]
    nodes = _nodes(splits, np.asarray(leaves), np.asarray(mass))
    opened = _opened(nodes, max_leaves)
    ends = _in_order(0, opened)
    places = _places(0, opened, {number: float(place) for place, number in enumerate(ends)})
    deepest = max((number + 1).bit_length() for number in places) - 1
    ax = axes(ax, figsize=(max(6.0, 1.35 * len(ends)), 1.15 * deepest + 2.2))
    names = _feature_names(estimator)
    height = max(float(nodes[number].distribution.max()) for number in ends)
    for number, x in places.items():
        y = _level(number, deepest)
        if number in opened:
            _draw_split(ax, nodes, places, number, (x, y), deepest, names)
        else:
            _draw_end(ax, nodes[number], (x, y), height, estimator.classes_, named=len(ends) <= 12)
    ax.set(
        title=f"tree {tree} of {len(seen)}, {rows.shape[0]} rows",
        xlim=(-0.6, len(ends) - 0.4),
        ylim=(-1.25, deepest + 0.4),
    )
    ax.set_axis_off()
    return ax


def _in_order(number: int, opened: set[int]) -> list[int]:
    """What is drawn at the lower ends, from the left."""
    if number not in opened:
        return [number]
    return _in_order(2 * number + 1, opened) + _in_order(2 * number + 2, opened)


def _places(number: int, opened: set[int], places: dict[int, float]) -> dict[int, float]:
    """Where every drawn node stands: a split in the middle of its parts."""
    if number in opened:
        children = (2 * number + 1, 2 * number + 2)
        for child in children:
            _places(child, opened, places)
        places[number] = sum(places[child] for child in children) / 2
    return places


def _level(number: int, deepest: int) -> float:
    return float(deepest - ((number + 1).bit_length() - 1))


def _feature_names(estimator: Any) -> list[str] | None:
    import json

    names: list[str] | None = json.loads(estimator.model_.document())["schema"].get("feature_names")
    return names


def _draw_split(ax: Any, nodes: Any, places: Any, number: int, place: Any, deepest: int, names: Any) -> None:
    (x, y), node = place, nodes[number]
    for child in (2 * number + 1, 2 * number + 2):
        share = nodes[child].share
        ax.plot(
            [x, places[child]],
            [y, _level(child, deepest)],
            color="0.75",
            linewidth=0.6 + 5 * share,
            zorder=1,
            solid_capstyle="round",
        )
    told = "constant"
    if node.features:
        feature, strength = node.features[0]
        name = names[feature] if names else f"feature {feature}"
        name = name if len(name) <= 16 else name[:15] + "…"
        told = f"← high {name}" if strength > 0 else f"high {name} →"
    ax.annotate(
        f"{told}\n{node.share:.0%} of rows",
        place,
        ha="center",
        va="center",
        fontsize=7,
        zorder=3,
        bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "0.6"},
    )


def _draw_end(ax: Any, node: _Node, place: Any, height: float, labels: Any, *, named: bool) -> None:
    (x, y), count = place, len(node.distribution)
    width = 0.8 / count
    lefts = x - 0.4 + width * np.arange(count)
    best = int(node.distribution.argmax())
    colours = [PREDICTED if label == best else "0.7" for label in range(count)]
    ax.bar(
        lefts,
        0.55 * node.distribution / height,
        width=0.9 * width,
        bottom=y - 0.75,
        align="edge",
        color=colours,
        zorder=2,
    )
    ax.plot([x - 0.4, x + 0.4], [y - 0.75, y - 0.75], color="0.5", linewidth=0.6)
    ax.plot([x, x], [y, y - 0.12], color="0.75", linewidth=0.6 + 5 * node.share, zorder=1)
    if named and count <= 6:
        for label, left in enumerate(lefts):
            word = str(labels[label])
            ax.text(
                left + width / 2,
                y - 0.78,
                word if len(word) <= 5 else word[:4] + "…",
                ha="center",
                va="top",
                fontsize=5,
            )
    folded = f"\n({node.leaves} leaves)" if node.leaves > 1 else ""
    ax.text(x, y - 0.9, f"{labels[best]}, {node.share:.0%}{folded}", ha="center", va="top", fontsize=7)
