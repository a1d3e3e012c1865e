"""The forest head in onnxruntime: what it says in PyTorch."""

import io

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from ldlf.torch import ForestHead
from torch import nn


def learnt(**options):
    torch.manual_seed(0)
    head = ForestHead(12, n_labels=4, **{"trees": 3, "depth": 4, **options})
    head.leaves.copy_(torch.softmax(torch.randn_like(head.leaves), dim=2))
    return head.eval()


def run(file, features):
    onnx.checker.check_model(onnx.load_from_string(file), full_check=True)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    return session.run(["distributions"], {"features": features.float().numpy()})[0]


@pytest.mark.parametrize(
    "options",
    [{}, {"units": 9}, {"linear": False}, {"depth": 1}, {"depth": 2, "trees": 1}, {"dtype": torch.float64}],
    ids=["own units", "shared units", "no linear map", "no splits", "one split", "double"],
)
@pytest.mark.parametrize("rows", [1, 130])
def test_the_head_says_the_same_in_onnxruntime(options, rows):
    head = learnt(**options)
    features = 3 * torch.randn(rows, 12, dtype=head.leaves.dtype)
    with torch.no_grad():
        expected = head(features).exp().float().numpy()
    np.testing.assert_allclose(run(head.to_onnx(), features), expected, rtol=0, atol=1e-5)


def test_a_network_and_its_head_are_joined(tmp_path):
    head = learnt()
    body = nn.Sequential(nn.Linear(5, 12), nn.ReLU()).eval()
    features = torch.randn(7, 5)
    path = tmp_path / "head.onnx"
    assert head.to_onnx(path) == path.read_bytes()
    # The network in front of the head, written by hand: torch.onnx.export needs packages that the head does not.
    weights = [body[0].weight.detach().numpy().T, body[0].bias.detach().numpy()]
    constants = [onnx.numpy_helper.from_array(np.ascontiguousarray(w), n) for w, n in zip(weights, "wb")]
    nodes = [
        onnx.helper.make_node("Gemm", ["x", "w", "b"], ["h"]),
        onnx.helper.make_node("Relu", ["h"], ["y"]),
    ]
    value = lambda name, width: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", width])  # noqa: E731
    graph = onnx.helper.make_graph(nodes, "body", [value("x", 5)], [value("y", 12)], constants)
    opset = [onnx.helper.make_opsetid("", 17)]
    front = onnx.helper.make_model(graph, ir_version=8, opset_imports=opset)
    joined = onnx.compose.merge_models(front, onnx.load(path), io_map=[("y", "features")], prefix2="head/", prefix1="")
    stored = io.BytesIO()
    onnx.save(joined, stored)
    session = onnxruntime.InferenceSession(stored.getvalue(), providers=["CPUExecutionProvider"])
    found = session.run(None, {"x": features.numpy()})[0]
    with torch.no_grad():
        np.testing.assert_allclose(found, head(body(features)).exp().numpy(), rtol=0, atol=1e-5)
