"""The forest as a layer, and its loss."""

from __future__ import annotations

import os
import warnings
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributed import ReduceOp, all_reduce, get_world_size, is_available, is_initialized

from . import _engine
from . import _torch_tensors as tensors
from ._files import _write
from ._torch_ops import forest_loss, forest_predict

#: The names under which a state dict holds the mini-batches that the next leaf update will see.
NOTED = ("noted_activations", "noted_targets", "noted_weights", "noted_rows")

#: Keeps a method out of compiled graphs. Its types would hide what it decorates.
_eager: Any = torch.compiler.disable


class ForestHead(nn.Module):
    """Soft decision trees whose leaves hold distributions, in place of a network's last softmax layer.

    Tree ``k`` predicts ``g_k = sum_l p(l|x) q_l`` (Eqn. 1 and 2 of Shen et al. 2017), the head the mean over its trees; ``forward``
    gives its logarithm. Train it with :class:`ForestLoss`. The leaves ``q`` are no parameters but buffers: they move by variational
    bounding (Eqn. 12) at the first mini-batch, after 4, 8, 16, ... mini-batches, then every ``leaf_every``, and when ``eval()`` ends a
    round of training. The first mini-batch also settles the splits: their activations get mean 0 and deviation ``steepness``.
    Defaults are those of the learner ``dldlf``.

    On the CPU the head runs in Rust, on the tensors' own memory; on other devices by tensor operations. Leaves and routing have at
    least single precision, also under autocast and in a half-precision network. Under ``torch.distributed`` the statistics of splits
    and leaves are summed over all processes, each of which must see as many mini-batches as the others (one may be empty) and call
    :meth:`update_leaves` when they do; ``eval()`` then updates nothing.

    Parameters
    ----------
    in_features : int
        Width of the input.
    n_labels : int
        Number of labels.
    trees : int, default=10
        Number of trees.
    depth : int, default=6
        Levels of nodes: ``2**(depth - 1)`` leaves per tree.
    units : int, optional
        Output units of the linear map in front of the trees, shared by the trees at random; None gives every split its own.
    linear : bool, default=True
        Whether the head has that linear map. Without it the input itself is the activations, and ``units`` is ``in_features``.
    steepness : float, default=2.0
        Standard deviation of the split activations over the first mini-batch.
    leaf_every : int or None, default=100
        Mini-batches between two leaf updates; None leaves all but the first to :meth:`update_leaves`.
    leaf_iterations : int, default=20
        Iterations of a leaf update.
    leaf_prior : float, default=1.0
        Pseudo-count that draws every leaf to the mean target; 0 is the paper's update.
    leaf_smoothing : float, default=0.0
        With ordered labels: standard deviation, in labels, by which leaves are smoothed after an update.
    leaf_memory : int, default=8192
        Rows kept for a leaf update: those of the last ``leaf_every`` mini-batches, at most so many.
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
    >>> network.eval()(torch.zeros(2, 4)).exp().sum(dim=1).allclose(torch.ones(2))
    True
    """

    leaves: Tensor
    split_units: Tensor

    def __init__(
        self,
        in_features: int,
        n_labels: int,
        trees: int = 10,
        depth: int = 6,
        units: int | None = None,
        *,
        linear: bool = True,
        steepness: float = 2.0,
        leaf_every: int | None = 100,
        leaf_iterations: int = 20,
        leaf_prior: float = 1.0,
        leaf_smoothing: float = 0.0,
        leaf_memory: int = 8192,
        seed: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        for name, value, least in [
            ("leaf_every", leaf_every, 1),
            ("leaf_iterations", leaf_iterations, 1),
            ("leaf_prior", leaf_prior, 0),
            ("leaf_smoothing", leaf_smoothing, 0),
            ("leaf_memory", leaf_memory, 1),
        ]:
            if value is not None and value < least:
                raise ValueError(f"{name} must be at least {least}, got {value}")
        if steepness <= 0:
            raise ValueError(f"steepness must be above 0, got {steepness}")
        if not linear and units not in (None, in_features):
            raise ValueError(f"without a linear map units is in_features, {in_features}; got {units}")
        one_each = max(trees * (2 ** (depth - 1) - 1), 1) if linear else in_features
        self.units: int = one_each if units is None else units
        # The engine checks the sizes, and says in a sentence what is wrong with them.
        split_units = _engine.head_units(trees, depth, self.units, n_labels, seed)
        self.in_features, self.n_labels = in_features, n_labels
        self.trees, self.depth, self.steepness = trees, depth, steepness
        self.leaf_every, self.leaf_iterations, self.leaf_prior = leaf_every, leaf_iterations, leaf_prior
        self.leaf_smoothing, self.leaf_memory = leaf_smoothing, leaf_memory
        self.linear = nn.Linear(in_features, self.units, device=device, dtype=dtype) if linear else None
        shape = (trees, 2 ** (depth - 1), n_labels)
        kind = dtype or torch.get_default_dtype()
        kind = kind if kind in tensors.FLOORS else torch.float32
        self.register_buffer("leaves", torch.full(shape, 1 / n_labels, device=device, dtype=kind))
        self.register_buffer("split_units", torch.from_numpy(split_units).to(device))
        self._begin()

    def _begin(self) -> None:
        self._settled = self.linear is None
        self._batches = 0
        self._behind = False
        self._noted: list[tuple[Tensor, Tensor, Tensor]] = []
        self._last: Tensor | None = None

    def reset_parameters(self) -> None:
        """Starts again: new weights from PyTorch's generator, uniform leaves, splits that settle on the next mini-batch."""
        if self.linear is not None:
            self.linear.reset_parameters()
        with torch.no_grad():
            self.leaves.fill_(1 / self.n_labels)
        self._begin()

    def forward(self, features: Tensor) -> Tensor:
        """Log-probabilities: of shape (rows, labels), or (n, labels, height, width) for maps (n, in_features, height, width)."""
        rows, sizes = tensors.as_rows(features, "features", self.in_features)
        if self.training and not self._settled:
            self.settle(rows)
        activations = rows if self.linear is None else self.linear(rows)
        activations = activations.to(self.leaves.dtype)
        if not torch.compiler.is_exporting():
            self._last = activations
        return tensors.as_map(self._log_probabilities(activations), sizes)

    def _log_probabilities(self, activations: Tensor) -> Tensor:
        # A leaf update moves the leaves in place; what waits for its gradient keeps those it was computed with.
        leaves = self.leaves.clone()
        if _in_rust(activations):
            found = forest_predict(activations.contiguous(), self.split_units, leaves)
        else:
            found = tensors.predict(activations, self.split_units, leaves)
        return found.clamp_min(tensors.FLOORS[leaves.dtype]).log()

    @_eager
    @torch.no_grad()
    def settle(self, features: Tensor) -> None:
        """Scales the linear map so that over these rows every split's activation has mean 0 and deviation ``steepness``.

        The first mini-batch does this by itself. A unit that does not vary is only shifted.
        """
        if self.linear is None:
            return
        rows, _ = tensors.as_rows(features, "features", self.in_features)
        weight, bias, kind = self.linear.weight, self.linear.bias, self.leaves.dtype
        with tensors.full_precision(rows):
            activations = nn.functional.linear(rows.to(kind), weight.to(kind), bias.to(kind))
            count = activations.new_full((1,), len(rows))
            first = _summed(torch.cat([activations.sum(dim=0), count]))
            if not activations.is_meta and first[-1] == 0:
                return
            mean = first[:-1] / first[-1]
            spread = (_summed((activations - mean).square().sum(dim=0)) / first[-1]).sqrt()
            # Below that, the variation is rounding.
            varies = spread > 1e-5 * (1 + mean.abs())
            factor = torch.where(varies, self.steepness / spread.where(varies, torch.ones_like(spread)), 1.0)
            weight.copy_(weight.to(kind) * factor[:, None])
            bias.copy_((bias.to(kind) - mean) * factor)
        self._settled = True

    @_eager
    @torch.no_grad()
    def observe(self, targets: Tensor, weights: Tensor | None = None) -> None:
        """Tells the head the targets of the rows that it saw last, for the leaf updates. :class:`ForestLoss` does; a loss of your own
        that works on the log-probabilities calls it after the forward pass."""
        activations, self._last = self._last, None
        if activations is None:
            raise RuntimeError("the head has seen no rows since the last loss; call it first")
        self._observe(activations, *_targets(activations, targets, weights, self.n_labels))

    @torch.no_grad()
    def _observe(self, activations: Tensor, targets: Tensor, weights: Tensor | None) -> None:
        weights = activations.new_ones(len(activations)) if weights is None else weights
        noted = (activations.detach(), targets.detach(), weights.detach())
        if len(activations) > self.leaf_memory:
            chosen = torch.linspace(0, len(activations) - 1, self.leaf_memory, device=activations.device).long()
            noted = (noted[0][chosen], noted[1][chosen], noted[2][chosen])
        self._noted.append(noted)
        rows = sum(len(part) for _, _, part in self._noted)
        while len(self._noted) > (self.leaf_every or len(self._noted)) or rows > self.leaf_memory:
            rows -= len(self._noted.pop(0)[2])
        self._batches += 1
        self._behind = True
        if self._is_due():
            self.update_leaves()

    def _is_due(self) -> bool:
        """Whether leaves move after the mini-batch just seen: equal leaves give a network no gradient, so the first moves them."""
        if self._batches == 1 or self.leaf_every is None:
            return self._batches == 1
        soon = 4 <= self._batches < self.leaf_every and self._batches & (self._batches - 1) == 0
        return soon or self._batches % self.leaf_every == 0

    @_eager
    @torch.no_grad()
    def update_leaves(self) -> None:
        """Updates the leaves from the last mini-batches (Eqn. 12). Under ``torch.distributed`` all processes call it together."""
        shared = _is_shared()
        self._behind = False
        if not self._noted and not shared:
            return
        if self._noted:
            activations, targets, weights = (torch.cat(parts) for parts in zip(*self._noted))
        else:
            new = self.leaves.new_zeros
            activations, targets, weights = new(0, self.units), new(0, self.n_labels), new(0)
        with tensors.full_precision(activations):
            base = _summed((weights[:, None] * targets).sum(dim=0))
            base = base / base.sum().clamp_min(torch.finfo(base.dtype).tiny)
            if _in_rust(activations) and not shared:
                _engine.head_leaf_update(
                    activations.contiguous().numpy(),
                    self.split_units.numpy(),
                    self.leaves.numpy(),
                    targets.contiguous().numpy(),
                    weights.contiguous().numpy(),
                    self.leaf_iterations,
                    float(self.leaf_prior),
                    base.tolist(),
                    torch.get_num_threads(),
                )
            else:
                for _ in range(self.leaf_iterations):
                    statistics = tensors.leaf_statistics(activations, self.split_units, self.leaves, targets, weights)
                    moved = tensors.moved_leaves(self.leaves, _summed(statistics), self.leaf_prior, base)
                    self.leaves.copy_(moved)
            if self.leaf_smoothing > 0:
                self.leaves.copy_(tensors.smoothed(self.leaves, self.leaf_smoothing))

    def train(self, mode: bool = True) -> ForestHead:
        """As in every module; ``eval()`` after training also updates the leaves, unless several processes share them."""
        if self.training and not mode:
            if self._batches == 0 and self._last is not None:
                warnings.warn(
                    "the leaves of this ForestHead have seen no targets, so that every row gets the same distribution; "
                    "train with ForestLoss, or call observe(targets) after the forward pass",
                    stacklevel=2,
                )
            if self._behind and not _is_shared():
                self.update_leaves()
            self._last = None
        super().train(mode)
        return self

    def _apply(self, fn: Any, recurse: bool = True) -> ForestHead:
        leaves = self.leaves
        super()._apply(fn, recurse)
        if self.leaves.dtype not in tensors.FLOORS:
            self.leaves = leaves.to(self.leaves.device)
        self._noted = [
            (a.to(self.leaves), t.to(self.leaves), w.to(self.leaves)) for a, t, w in getattr(self, "_noted", [])
        ]
        self._last = None
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": None}

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "progress"] = torch.tensor([int(self._settled), self._batches])
        if self._noted:
            parts = [torch.cat(parts) for parts in zip(*self._noted)]
            parts.append(torch.tensor([len(weights) for _, _, weights in self._noted]))
            destination.update({prefix + name: part for name, part in zip(NOTED, parts)})

    def _load_from_state_dict(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, state_dict: Any, prefix: str, *arguments: Any
    ) -> None:
        # Weights from elsewhere are kept as they are: a state without progress has settled.
        progress = state_dict.pop(prefix + "progress", torch.tensor([1, 0])).tolist()
        noted = [state_dict.pop(prefix + name, None) for name in NOTED]
        super()._load_from_state_dict(state_dict, prefix, *arguments)
        self._settled, self._batches = self.linear is None or bool(progress[0]), int(progress[1])
        self._noted, self._behind, self._last = [], False, None
        if noted[3] is not None:
            pieces = [part.to(self.leaves).split(noted[3].tolist()) for part in noted[:3]]
            self._noted = [(a.clone(), t.clone(), w.clone()) for a, t, w in zip(*pieces)]

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


class ForestLoss(nn.Module):
    """The loss of a :class:`ForestHead`, for a loop such as ``criterion(network(x), targets)``.

    It belongs to the last forward pass of its head, whose activations it reads: ``loss="trees"`` is the mean of the trees' losses,
    ``-1/K sum_k sum_c d_c ln g_kc`` (Eqn. 13), which a forest's log-probabilities do not hold. In training mode it tells the head the
    targets, so that the leaves learn; under ``torch.no_grad`` it does not.

    Parameters
    ----------
    head : ForestHead
        Kept, but not registered: its parameters stay those of the network.
    loss : {"trees", "forest"}, default="trees"
        The mean of the trees' losses, or the loss of the trees' mean, ``-sum_c d_c ln g_c``.
    reduction : {"mean", "sum", "none"}, default="mean"
        Mean or sum over the rows by their weights, or one unweighted loss per row.

    Examples
    --------
    >>> import torch
    >>> from ldlf.torch import ForestHead, ForestLoss
    >>> head = ForestHead(4, n_labels=3, trees=2, depth=3)
    >>> criterion = ForestLoss(head, reduction="none")
    >>> criterion(head(torch.randn(5, 4)), torch.full((5, 3), 1 / 3)).shape
    torch.Size([5])
    """

    def __init__(
        self,
        head: ForestHead,
        *,
        loss: Literal["trees", "forest"] = "trees",
        reduction: Literal["mean", "sum", "none"] = "mean",
    ) -> None:
        super().__init__()
        if loss not in ("trees", "forest"):
            raise ValueError(f"loss must be one of trees, forest, got {loss}")
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"reduction must be one of mean, sum, none, got {reduction}")
        # In a tuple, a module is no child.
        self._heads = (head,)
        self.loss, self.reduction = loss, reduction

    def forward(self, log_probabilities: Tensor, targets: Tensor, weights: Tensor | None = None) -> Tensor:
        """The loss of what the head said last.

        ``targets`` are distributions of the shape of ``log_probabilities``, or whole numbers, one label per row or pixel; ``weights``
        of shape (rows,) or (n, height, width) make rows count more or less, also for the leaves.
        """
        (head,) = self._heads
        activations, head._last = head._last, None
        if activations is None or len(activations) * head.n_labels != log_probabilities.numel():
            raise RuntimeError(
                "these log-probabilities are not of the head's last forward pass; call the loss right after it"
            )
        sizes = None if log_probabilities.dim() == 2 else log_probabilities.movedim(1, -1).shape[:-1]
        targets, weights = _targets(activations, targets, weights, head.n_labels)
        # Without gradients nothing is trained: rows that are only looked at are no mini-batch.
        learns = head.training and torch.is_grad_enabled()
        first = learns and head._batches == 0
        if first:
            head._observe(activations, targets, weights)
        loss = self._loss(head, activations, targets, weights)
        if learns and not first:
            head._observe(activations, targets, weights)
        return loss if self.reduction != "none" or sizes is None else loss.unflatten(0, sizes)

    def _loss(self, head: ForestHead, activations: Tensor, targets: Tensor, weights: Tensor | None) -> Tensor:
        if self.loss == "trees" and self.reduction != "none" and _in_rust(activations):
            loss, _ = forest_loss(
                activations.contiguous(),
                head.split_units,
                head.leaves,
                targets.contiguous(),
                None if weights is None else weights.contiguous(),
            )
        else:
            if self.loss == "trees":
                losses = tensors.row_losses(activations, head.split_units, head.leaves.clone(), targets)
            else:
                losses = -(targets * head._log_probabilities(activations)).sum(dim=1)
            if self.reduction == "none":
                return losses
            loss = tensors.weighted_mean(losses, weights)
        if self.reduction == "sum":
            return loss * (len(targets) if weights is None else weights.sum())
        return loss

    def extra_repr(self) -> str:
        return f"loss={self.loss!r}, reduction={self.reduction!r}"


def _targets(activations: Tensor, targets: Tensor, weights: Tensor | None, labels: int) -> tuple[Tensor, Tensor | None]:
    """Targets ``[rows, labels]`` and weights ``[rows]`` in the precision and on the device of the activations."""
    if not targets.is_floating_point() and targets.dim() in (1, 3):
        targets = nn.functional.one_hot(targets.flatten(), labels)
    targets, _ = tensors.as_rows(targets, "targets", labels)
    targets = targets.to(activations)
    weights = None if weights is None else weights.flatten().to(activations)
    for name, given in (("targets", targets), ("weights", weights)):
        if given is not None and len(given) != len(activations):
            raise ValueError(f"{name} have {len(given)} rows, the head saw {len(activations)}")
    return targets, weights


def _in_rust(activations: Tensor) -> bool:
    return (
        activations.device.type == "cpu" and activations.dtype in tensors.FLOORS and not torch.compiler.is_exporting()
    )


def _is_shared() -> bool:
    return bool(is_available() and is_initialized() and get_world_size() > 1)


def _summed(statistics: Tensor) -> Tensor:
    """The sum over all processes."""
    if _is_shared():
        all_reduce(statistics, ReduceOp.SUM)
    return statistics
