"""From a fitted forest to a PyTorch module and back: both are the same splits and leaves."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from . import _model_file, _targets
from ._base import LDLEstimator
from ._engine import Model
from ._estimators import LDLForest
from ._files import load
from ._torch_head import ForestHead


class Standardize(nn.Module):
    """Scales features as a fitted forest does: ``clamp((x - shift) * scale, -limit, limit)``.

    Parameters
    ----------
    in_features : int
        Width of the input; maps of shape (n, in_features, height, width) are scaled pixel by pixel.
    """

    shift: Tensor
    scale: Tensor
    limit: Tensor

    def __init__(self, in_features: int, *, device: Any = None) -> None:
        super().__init__()
        self.in_features = in_features
        self.register_buffer("shift", torch.zeros(in_features, device=device))
        self.register_buffer("scale", torch.ones(in_features, device=device))
        self.register_buffer("limit", torch.full((1,), torch.finfo(torch.float32).max, device=device))

    def forward(self, features: Tensor) -> Tensor:
        """The scaled features, of the shape of the features."""
        sizes = (-1, 1, 1) if features.dim() == 4 else (-1,)
        scaled = (features - self.shift.view(sizes)) * self.scale.view(sizes)
        return scaled.clamp(-self.limit, self.limit)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}"


def to_torch(forest: LDLEstimator | str | os.PathLike[str], **options: Any) -> nn.Sequential:
    """A fitted forest (:class:`ldlf.LDLForest`, or its model file) as a module that predicts the same, to be trained further.

    Fit a forest on the features of a frozen network, put the module in the place of the network's last layer, and train both.

    Parameters
    ----------
    forest : LDLForest, NeuralDecisionForestLDL or path
        A forest fitted on dense features.
    **options
        Passed to :class:`ForestHead`, such as ``leaf_every`` or ``device``.

    Returns
    -------
    nn.Sequential
        :class:`Standardize`, then :class:`ForestHead` with the forest's splits and leaves.

    Examples
    --------
    >>> import torch
    >>> from ldlf import LDLForest
    >>> from ldlf.datasets import make_mixture
    >>> from ldlf.torch import to_torch
    >>> X, y = make_mixture(100)
    >>> forest = LDLForest(choose=False, trees=3, depth=3, iterations=50, min_iterations=50).fit(X, y)
    >>> module = to_torch(forest).eval()
    >>> module(torch.tensor(X)).exp().allclose(torch.tensor(forest.predict(X)), atol=1e-5)
    True
    """
    estimator = load(forest) if isinstance(forest, str | os.PathLike) else forest
    model: Model = estimator.model_
    document = json.loads(model.document())
    if document["learner"] not in ("sldlf", "sndf-ldl"):
        raise ValueError(f"a model of {document['learner']} has no soft trees; those of sldlf and sndf-ldl have")
    if document["parameters"].get("choose"):
        raise ValueError("this forest is a mixture that its fit chose; fit it with choose=False")
    if document["parameters"].get("scaling") == "ranks":
        raise ValueError("this forest scales features by ranks; fit it with scaling='standard'")
    if len(model.array("encoder.bin_columns")):
        raise ValueError("this forest spreads numeric columns of sparse features over bins; fit it with bins=0")
    features, leaves, weights = document["features"], model.array("leaves"), model.array("weights")
    depth = leaves.shape[1].bit_length()
    learnt = {name: document["parameters"][name] for name in ("leaf_iterations", "leaf_prior")}
    if learnt["leaf_prior"] == "auto":
        learnt["leaf_prior"] = 1.0
    head = ForestHead(features, leaves.shape[2], leaves.shape[0], depth, weights.shape[1], **{**learnt, **options})
    scaling = Standardize(features, device=options.get("device"))
    with torch.no_grad():
        assert head.linear is not None
        head.linear.weight.copy_(torch.from_numpy(weights[:features].T.copy()))
        head.linear.bias.zero_()
        if len(weights) > features:
            head.linear.bias.copy_(torch.from_numpy(weights[features].copy()))
        head.leaves.copy_(torch.from_numpy(leaves))
        head.split_units.copy_(torch.from_numpy(model.array("units").astype(np.int64)))
        for name in ("shift", "scale", "limit"):
            getattr(scaling, name).copy_(torch.from_numpy(model.array(f"encoder.{name}")))
    # The leaves have learnt: the first updates, which come from a few mini-batches, are skipped.
    head._settled, head._batches = True, head.leaf_every or 1
    return nn.Sequential(scaling, head)


@torch.no_grad()
def from_torch(
    module: nn.Module,
    *,
    classes: Sequence[Any] | None = None,
    label_values: Sequence[float] | None = None,
    feature_names: Sequence[str] | None = None,
) -> LDLForest:
    """A trained head as a fitted :class:`ldlf.LDLForest` on the features in front of it: it predicts, saves and explains like any.

    Parameters
    ----------
    module : ForestHead, or nn.Sequential of Standardize and ForestHead
    classes : sequence, optional
        Names of the labels.
    label_values : sequence of numbers, optional
        The number that each label stands for, rising.
    feature_names : sequence of str, optional

    Examples
    --------
    >>> import torch
    >>> from ldlf.torch import ForestHead, from_torch
    >>> head = ForestHead(4, n_labels=3, trees=2, depth=3).eval()
    >>> from_torch(head, classes=["low", "middle", "high"]).predict_label([[0.0, 0.0, 0.0, 0.0]])
    array(['low'], dtype=object)
    """
    parts = list(module) if isinstance(module, nn.Sequential) else [module]
    first = parts[0]
    if isinstance(first, Standardize):
        parts = parts[1:]
    if len(parts) != 1 or not isinstance(parts[0], ForestHead):
        raise TypeError(f"a ForestHead, or Standardize and a ForestHead in a Sequential, become a forest; got {module}")
    head = parts[0]

    def array(tensor: Tensor) -> np.ndarray:
        found: np.ndarray = tensor.detach().cpu().float().numpy()
        return found

    features = head.in_features
    if head.linear is None:
        weights = np.eye(features, dtype=np.float32)
    else:
        weights = np.vstack([array(head.linear.weight).T, array(head.linear.bias)])
    leaves = array(head.leaves)
    scaling = first if isinstance(first, Standardize) else Standardize(features)
    arrays = {
        "encoder.shift": array(scaling.shift),
        "encoder.scale": array(scaling.scale),
        "encoder.limit": array(scaling.limit),
        "encoder.bin_columns": np.zeros(0, dtype=np.uint32),
        "encoder.bin_edges": np.zeros((0, 1), dtype=np.float32),
        "weights": weights,
        "units": head.split_units.cpu().numpy().astype(np.uint32),
        "leaves": leaves / leaves.sum(axis=2, keepdims=True),
    }
    forest = LDLForest(
        trees=head.trees,
        depth=head.depth,
        units=head.units,
        bias=head.linear is not None,
        leaf_iterations=head.leaf_iterations,
        leaf_prior=float(head.leaf_prior),
        label_values=label_values,
    )
    if label_values is not None:
        label_values = [float(value) for value in label_values]
    known = classes if classes is not None else label_values
    names = [_targets._name(name) for name in known] if known is not None else None
    schema = {
        "label_names": names or [f"label_{label}" for label in range(head.n_labels)],
        "label_values": label_values,
        "feature_names": None if feature_names is None else list(feature_names),
    }
    if len(schema["label_names"] or ()) != head.n_labels:
        raise ValueError(f"classes or label_values name {len(names or ())} labels, the head has {head.n_labels}")
    document = {
        "format_version": 1,
        "learner": "sldlf",
        "parameters": {name: getattr(forest, name) for name in forest._declared},
        "features": features,
        "schema": {name: value for name, value in schema.items() if value is not None},
        "summary": {"iterations": head._batches, "stopped": "finished"},
        "model": {"bias": head.linear is not None, "depth": head.depth},
    }
    model = Model.from_bytes(_model_file.build(document, arrays))
    return LDLForest._revive(model, json.loads(model.document()))
