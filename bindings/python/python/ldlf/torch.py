"""The forest as the last layer of any PyTorch network.

>>> import torch
>>> from ldlf.torch import ForestHead
>>> head = ForestHead(16, n_labels=5, trees=3, depth=4)
>>> features, targets = torch.randn(8, 16), torch.softmax(torch.randn(8, 5), dim=1)
>>> loss = head(features, targets)  # the paper's loss; rows are noted for the leaf update
>>> loss.backward()
>>> head.update_leaves()
>>> head(features).shape  # distributions
torch.Size([8, 5])
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributed import ReduceOp, all_reduce, get_world_size, is_available, is_initialized

from . import _engine
from ._base import _write
from ._torch_ops import forest_loss, forest_predict

#: What an output is divided by at least, as in the Rust kernels.
FLOORS = {torch.float32: 1e-30, torch.float64: 1e-290}


class ForestHead(nn.Module):
    """Soft decision trees whose leaves hold distributions, in place of a network's last softmax layer.

    Tree ``k`` predicts ``g_k = sum_l p(l|x) q_l`` (Eqn. 1 and 2 of Shen et al. 2017), the head the mean over its trees. Called with
    targets it gives the paper's loss, ``-1/K sum_k 1/N sum_i sum_c d_ic ln g_kc(x_i)``, whose gradient (Eqn. 6) flows into the
    network. The leaves ``q`` are no parameters but buffers: in training mode the mini-batches are kept, and every
    ``leaf_every`` of them the leaves move by variational bounding (Eqn. 12), or when :meth:`update_leaves` is called.

    On the CPU the head runs in Rust, on the tensors' own memory; on other devices by tensor operations. Under
    ``torch.distributed`` the statistics of the leaves are summed over all processes, each of which must see as many mini-batches as
    the others (one may be empty) and call :meth:`update_leaves` when they do.

    Parameters
    ----------
    in_features : int
        Width of the input.
    n_labels : int
        Number of labels.
    trees : int, default=5
    depth : int, default=6
        Levels of nodes: ``2**(depth - 1)`` leaves per tree.
    units : int, optional
        Output units of the linear map in front of the trees, shared by the trees at random; None gives every split its own.
    linear : bool, default=True
        Whether the head has that linear map. Without it the input itself is the activations, and ``units`` is ``in_features``.
    leaf_every : int or None, default=100
        Mini-batches between two leaf updates; None leaves them to :meth:`update_leaves`.
    leaf_iterations : int, default=20
        Iterations of a leaf update.
    leaf_prior : float, default=0.0
        Pseudo-count that shrinks every leaf to the mean target; 0 is the paper's update.
    seed : int, default=0
        Random seed of the choice of units.

    Attributes
    ----------
    leaves : Tensor of shape (trees, leaves, labels)
    split_units : Tensor of shape (trees, splits)
        The unit behind every split, level by level.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> from ldlf.torch import ForestHead
    >>> network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), ForestHead(8, n_labels=3, trees=2, depth=3))
    >>> network(torch.zeros(2, 4)).sum(dim=1).allclose(torch.ones(2))
    True
    """

    leaves: Tensor
    split_units: Tensor

    def __init__(
        self,
        in_features: int,
        n_labels: int,
        trees: int = 5,
        depth: int = 6,
        units: int | None = None,
        *,
        linear: bool = True,
        leaf_every: int | None = 100,
        leaf_iterations: int = 20,
        leaf_prior: float = 0.0,
        seed: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if leaf_every is not None and leaf_every < 1:
            raise ValueError(f"leaf_every must be at least 1, got {leaf_every}")
        if leaf_iterations < 1:
            raise ValueError(f"leaf_iterations must be at least 1, got {leaf_iterations}")
        if leaf_prior < 0:
            raise ValueError(f"leaf_prior must be at least 0, got {leaf_prior}")
        if not linear and units not in (None, in_features):
            raise ValueError(f"without a linear map units is in_features, {in_features}; got {units}")
        if units is None:
            units = max(trees * (2 ** (depth - 1) - 1), 1) if linear else in_features
        # The engine checks the sizes, and says in a sentence what is wrong with them.
        split_units = _engine.head_units(trees, depth, units, n_labels, seed)
        self.in_features, self.n_labels, self.trees, self.depth = in_features, n_labels, trees, depth
        self.leaf_every, self.leaf_iterations, self.leaf_prior = leaf_every, leaf_iterations, leaf_prior
        self.linear = nn.Linear(in_features, units, device=device, dtype=dtype) if linear else None
        shape = (trees, 2 ** (depth - 1), n_labels)
        dtype = dtype or torch.get_default_dtype()
        self.register_buffer("leaves", torch.full(shape, 1 / n_labels, device=device, dtype=dtype))
        self.register_buffer("split_units", torch.from_numpy(split_units).to(device))
        self._noted: list[tuple[Tensor, Tensor, Tensor | None]] = []

    def forward(self, features: Tensor, targets: Tensor | None = None, weights: Tensor | None = None) -> Tensor:
        """Distributions of shape (rows, labels); with targets of that shape, the loss.

        ``weights`` of shape (rows,) make rows count more or less in the loss and in the leaf update.
        """
        activations = features if self.linear is None else self.linear(features)
        if targets is None:
            if _in_rust(activations):
                return forest_predict(activations.contiguous(), self.split_units, self.leaves)
            return _mix(_route(activations, self.split_units), self.leaves).mean(dim=1)
        targets = targets.to(activations)
        weights = None if weights is None else weights.to(activations)
        if self.training:
            self._note(activations, targets, weights)
        if _in_rust(activations):
            loss, _ = forest_loss(
                activations.contiguous(),
                self.split_units,
                self.leaves,
                targets.contiguous(),
                None if weights is None else weights.contiguous(),
            )
            return loss
        return _loss(activations, self.split_units, self.leaves, targets, weights)

    @torch.compiler.disable
    def _note(self, activations: Tensor, targets: Tensor, weights: Tensor | None) -> None:
        """Keeps a mini-batch for the leaf update; when there are enough of them, updates the leaves first."""
        if self.leaf_every is not None and len(self._noted) >= self.leaf_every:
            self.update_leaves()
        detached = None if weights is None else weights.detach()
        self._noted.append((activations.detach(), targets.detach(), detached))

    @torch.compiler.disable
    @torch.no_grad()
    def update_leaves(self) -> None:
        """Updates the leaves from the mini-batches since the last update (Eqn. 12), and clears it."""
        noted, self._noted = self._noted, []
        shared = is_available() and is_initialized() and get_world_size() > 1
        if not noted and not shared:
            return
        if noted:
            activations = torch.cat([rows for rows, _, _ in noted])
            targets = torch.cat([rows for _, rows, _ in noted])
            ones = activations.new_ones
            weights = torch.cat([ones(len(rows)) if given is None else given for _, rows, given in noted])
        else:
            activations = self.leaves.new_zeros(0, int(self.split_units.max()) + 1)
            targets, weights = self.leaves.new_zeros(0, self.n_labels), self.leaves.new_zeros(0)
        base = (weights[:, None] * targets).sum(dim=0, dtype=torch.float64)
        if shared:
            all_reduce(base, ReduceOp.SUM)
        base = base / base.sum().clamp_min(1e-300)
        if _in_rust(activations) and not shared:
            _engine.head_leaf_update(
                activations.numpy(),
                self.split_units.numpy(),
                self.leaves.numpy(),
                targets.numpy(),
                weights.numpy(),
                self.leaf_iterations,
                float(self.leaf_prior),
                base.tolist(),
                torch.get_num_threads(),
            )
            return
        routed = _route(activations, self.split_units)
        weighted = weights[:, None, None] * targets[:, None, :]
        for _ in range(self.leaf_iterations):
            ratios = weighted / _mix(routed, self.leaves).clamp_min(FLOORS[self.leaves.dtype])
            statistics = torch.einsum("nkl,nkc->klc", routed, ratios).double()
            if shared:
                all_reduce(statistics, ReduceOp.SUM)
            counts = self.leaves.double() * statistics + self.leaf_prior * base
            totals = counts.sum(dim=2, keepdim=True)
            # A leaf that no row reaches keeps its distribution.
            reached = totals > np.finfo(np.float64).tiny
            moved = torch.where(reached, counts / totals.where(reached, torch.ones_like(totals)), self.leaves.double())
            self.leaves.copy_(moved)

    @torch.no_grad()
    def to_onnx(self, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False) -> bytes:
        """The head as an ONNX file: ``features`` of shape (rows, in_features) in, ``distributions`` of shape (rows, n_labels) out.

        What stands in front of the head is exported by ``torch.onnx.export``; ``onnx.compose.merge_models`` joins the two.
        """

        def array(tensor: Tensor) -> np.ndarray:
            return np.ascontiguousarray(tensor.detach().cpu().float().numpy())

        weights = None if self.linear is None else array(self.linear.weight)
        bias = None if self.linear is None or self.linear.bias is None else array(self.linear.bias)
        units = np.ascontiguousarray(self.split_units.cpu().numpy())
        file = _engine.head_to_onnx(weights, bias, units, array(self.leaves), self.in_features)
        if path is not None:
            _write(path, file, overwrite)
        return file

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, n_labels={self.n_labels}, trees={self.trees}, depth={self.depth}"


def _in_rust(activations: Tensor) -> bool:
    return activations.device.type == "cpu" and activations.dtype in FLOORS


def _route(activations: Tensor, split_units: Tensor) -> Tensor:
    """The probability of every row to reach every leaf, ``[rows, trees, leaves]`` (Eqn. 1), by tensor operations."""
    splits = torch.sigmoid(activations[:, split_units])
    shares = activations.new_ones(activations.shape[0], split_units.shape[0], 1)
    width = 1
    while width <= split_units.shape[1]:
        split = splits[:, :, width - 1 : 2 * width - 1]
        shares = torch.stack([shares * split, shares * (1 - split)], dim=3).flatten(2)
        width *= 2
    return shares


def _mix(shares: Tensor, leaves: Tensor) -> Tensor:
    """What every tree predicts, ``[rows, trees, labels]`` (Eqn. 2), by tensor operations."""
    return torch.einsum("nkl,klc->nkc", shares, leaves)


def _loss(activations: Tensor, split_units: Tensor, leaves: Tensor, targets: Tensor, weights: Tensor | None) -> Tensor:
    """The paper's loss (Eqn. 3 averaged over trees) by tensor operations."""
    outputs = _mix(_route(activations, split_units), leaves)
    losses = -(targets[:, None, :] * outputs.clamp_min(FLOORS[leaves.dtype]).log()).sum(dim=2).mean(dim=1)
    if weights is None:
        weights = losses.new_ones(len(losses))
    # Without rows there is no loss and no gradient, as in Rust: a process may have none of the last mini-batch.
    return (losses * weights).sum() / weights.sum().where(weights.sum() > 0, 1)


__all__ = ["ForestHead"]
