"""The Rust head as PyTorch operators: each has its gradient and a shape for ``torch.compile``, and none copies a tensor."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import _engine


@torch.library.custom_op("ldlf::forest_predict", mutates_args=(), device_types="cpu")
def forest_predict(activations: Tensor, split_units: Tensor, leaves: Tensor) -> Tensor:
    """Distributions ``[rows, labels]`` of activations ``[rows, units]``."""
    out = activations.new_empty(activations.shape[0], leaves.shape[2])
    _engine.head_predict(
        activations.detach().numpy(),
        split_units.numpy(),
        leaves.detach().numpy(),
        out.numpy(),
        torch.get_num_threads(),
    )
    return out


@forest_predict.register_fake
def _(activations: Tensor, split_units: Tensor, leaves: Tensor) -> Tensor:
    return activations.new_empty(activations.shape[0], leaves.shape[2])


@torch.library.custom_op("ldlf::forest_predict_grad", mutates_args=(), device_types="cpu")
def forest_predict_grad(activations: Tensor, split_units: Tensor, leaves: Tensor, above: Tensor) -> Tensor:
    """The gradient of ``sum(above * predictions)`` with respect to the activations."""
    gradient = torch.empty_like(activations)
    _engine.head_predict_grad(
        activations.detach().numpy(),
        split_units.numpy(),
        leaves.detach().numpy(),
        above.detach().numpy(),
        gradient.numpy(),
        torch.get_num_threads(),
    )
    return gradient


@forest_predict_grad.register_fake
def _(activations: Tensor, split_units: Tensor, leaves: Tensor, above: Tensor) -> Tensor:
    return torch.empty_like(activations)


def _keep_inputs(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs)


def _predict_backward(ctx: Any, above: Tensor) -> tuple[Tensor, None, None]:
    activations, split_units, leaves = ctx.saved_tensors
    return forest_predict_grad(activations, split_units, leaves, above.contiguous()), None, None


forest_predict.register_autograd(_predict_backward, setup_context=_keep_inputs)


@torch.library.custom_op("ldlf::forest_loss", mutates_args=(), device_types="cpu")
def forest_loss(
    activations: Tensor, split_units: Tensor, leaves: Tensor, targets: Tensor, weights: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The forest's loss and its gradient with respect to the activations, which come in one pass."""
    gradient = torch.empty_like(activations)
    loss = _engine.head_loss(
        activations.detach().numpy(),
        split_units.numpy(),
        leaves.detach().numpy(),
        targets.detach().numpy(),
        None if weights is None else weights.detach().numpy(),
        gradient.numpy(),
        torch.get_num_threads(),
    )
    return activations.new_tensor(loss), gradient


@forest_loss.register_fake
def _(
    activations: Tensor, split_units: Tensor, leaves: Tensor, targets: Tensor, weights: Tensor | None
) -> tuple[Tensor, Tensor]:
    return activations.new_empty(()), torch.empty_like(activations)


def _keep_gradient(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(output[1])
    ctx.set_materialize_grads(False)


def _loss_backward(ctx: Any, above: Tensor | None, _: Any) -> tuple[Tensor | None, None, None, None, None]:
    (gradient,) = ctx.saved_tensors
    return None if above is None else above * gradient, None, None, None, None


forest_loss.register_autograd(_loss_backward, setup_context=_keep_gradient)
