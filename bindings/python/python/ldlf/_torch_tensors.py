"""The forest by tensor operations: on every device, in the precision of its leaves, and never in double precision unless they are."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import torch
from torch import Tensor

#: What an output is divided by at least, as in the Rust kernels.
FLOORS = {torch.float32: 1e-30, torch.float64: 1e-290}

#: Rows that a leaf update routes at once.
CHUNK = 1024


def full_precision(tensor: Tensor) -> Any:
    """A context without autocast: routing multiplies up to thirty probabilities, which half precision does not hold."""
    kind = tensor.device.type
    if not torch.amp.is_autocast_available(kind):
        return contextlib.nullcontext()
    return torch.autocast(kind, enabled=False)


def route(activations: Tensor, split_units: Tensor) -> Tensor:
    """The probability of every row to reach every leaf, ``[rows, trees, leaves]`` (Eqn. 1)."""
    splits = torch.sigmoid(activations[:, split_units])
    shares = activations.new_ones(activations.shape[0], split_units.shape[0], 1)
    width = 1
    while width <= split_units.shape[1]:
        split = splits[:, :, width - 1 : 2 * width - 1]
        shares = torch.stack([shares * split, shares * (1 - split)], dim=3).flatten(2)
        width *= 2
    return shares


def mix(shares: Tensor, leaves: Tensor) -> Tensor:
    """What every tree predicts, ``[rows, trees, labels]`` (Eqn. 2)."""
    return torch.einsum("nkl,klc->nkc", shares, leaves)


def predict(activations: Tensor, split_units: Tensor, leaves: Tensor) -> Tensor:
    """Distributions ``[rows, labels]``: the mean of the trees."""
    with full_precision(activations):
        return mix(route(activations, split_units), leaves).mean(dim=1)


def row_losses(activations: Tensor, split_units: Tensor, leaves: Tensor, targets: Tensor) -> Tensor:
    """The paper's loss of every row (Eqn. 3 averaged over trees)."""
    with full_precision(activations):
        outputs = mix(route(activations, split_units), leaves)
        logarithms = outputs.clamp_min(FLOORS[leaves.dtype]).log()
        return -(targets[:, None, :] * logarithms).sum(dim=2).mean(dim=1)


def weighted_mean(losses: Tensor, weights: Tensor | None) -> Tensor:
    """The mean over rows. Without rows there is no loss and no gradient, as in Rust: a process may have none of a mini-batch."""
    if weights is None:
        return losses.sum() / max(losses.shape[0], 1)
    total = weights.sum()
    return (losses * weights).sum() / total.where(total > 0, 1)


def leaf_statistics(
    activations: Tensor, split_units: Tensor, leaves: Tensor, targets: Tensor, weights: Tensor
) -> Tensor:
    """The sums of Eqn. 12, ``[trees, leaves, labels]``, before they are multiplied by the leaves; some rows at a time."""
    statistics = torch.zeros_like(leaves)
    for start in range(0, activations.shape[0], CHUNK):
        rows = slice(start, start + CHUNK)
        routed = route(activations[rows], split_units)
        weighted = weights[rows, None, None] * targets[rows, None, :]
        ratios = weighted / mix(routed, leaves).clamp_min(FLOORS[leaves.dtype])
        statistics += torch.einsum("nkl,nkc->klc", routed, ratios)
    return statistics


def moved_leaves(leaves: Tensor, statistics: Tensor, prior: float, base: Tensor) -> Tensor:
    """The leaves after an iteration of the update; a leaf that no row reaches keeps its distribution."""
    counts = leaves * statistics + prior * base
    totals = counts.sum(dim=2, keepdim=True)
    reached = totals > torch.finfo(leaves.dtype).tiny
    return torch.where(reached, counts / totals.where(reached, torch.ones_like(totals)), leaves)


def smoothed(leaves: Tensor, deviation: float) -> Tensor:
    """Every leaf convolved with a Gaussian of so many labels, and normalised."""
    labels = leaves.shape[2]
    places = torch.arange(labels, device=leaves.device)
    distance = (places[:, None] - places[None, :]).abs().to(leaves.dtype)
    kernel = torch.exp(-0.5 * (distance / deviation) ** 2)
    kernel = kernel.where(distance <= math.ceil(3 * deviation), torch.zeros_like(kernel))
    out = leaves @ kernel
    return out / out.sum(dim=2, keepdim=True)


def as_rows(tensor: Tensor, what: str, width: int) -> tuple[Tensor, tuple[int, ...] | None]:
    """Rows ``[rows, width]`` of rows or of a map ``[n, width, height, width]``, and the map's other sizes."""
    if tensor.dim() not in (2, 4) or tensor.shape[1] != width:
        raise ValueError(
            f"{what} should have the shape (rows, {width}) or (n, {width}, height, width), got {tuple(tensor.shape)}"
        )
    if tensor.dim() == 2:
        return tensor, None
    n, _, height, breadth = tensor.shape
    return tensor.permute(0, 2, 3, 1).reshape(-1, width), (n, height, breadth)


def as_map(rows: Tensor, sizes: tuple[int, ...] | None) -> Tensor:
    """Rows as the map they came from."""
    return rows if sizes is None else rows.unflatten(0, sizes).movedim(-1, 1)
