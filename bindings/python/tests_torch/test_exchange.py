"""A fitted forest becomes a module, and a trained head a model file."""

import ldlf
import numpy as np
import pytest
import torch
from ldlf import LDLForest, MeanLDL
from ldlf.datasets import make_mixture
from ldlf.torch import ForestHead, ForestLoss, Standardize, from_torch, to_torch
from torch import nn


@pytest.fixture(scope="module")
def data():
    return make_mixture(400, features=8)


def fitted(data, **parameters):
    plain = {"choose": False, "leave_out": 0}
    quick = {**plain, "trees": 4, "depth": 4, "iterations": 150, "min_iterations": 150, **parameters}
    return LDLForest(**quick).fit(*data)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"scaling": "raw"}, {"scaling": "common"}, {"bias": False}, {"units": 20}, {"depth": 1}],
    ids=str,
)
def test_a_fitted_forest_predicts_the_same_as_a_module(data, parameters):
    forest = fitted(data, **parameters)
    module = to_torch(forest).eval()
    # Far out, where features are clipped.
    X = 4 * data[0]
    found = module(torch.tensor(X)).exp().detach().numpy()
    np.testing.assert_allclose(found, forest.predict(X), rtol=0, atol=1e-5)


def test_a_model_file_becomes_a_module(data, tmp_path):
    forest = fitted(data)
    forest.save(tmp_path / "forest.ldlf")
    here, there = to_torch(forest).eval(), to_torch(tmp_path / "forest.ldlf").eval()
    X = torch.tensor(data[0])
    assert torch.equal(here(X), there(X))


def test_training_goes_on_from_a_fitted_forest(data):
    X, y = (torch.tensor(part) for part in data)
    module = to_torch(fitted(data), leaf_every=10)
    network = nn.Sequential(nn.Linear(8, 8), module)
    with torch.no_grad():
        network[0].weight.copy_(torch.eye(8))
        network[0].bias.zero_()
    criterion = ForestLoss(module[1], loss="forest")
    optimiser = torch.optim.Adam(network.parameters(), lr=0.003)
    losses = []
    for _ in range(40):
        optimiser.zero_grad()
        loss = criterion(network(X), y)
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    start = -(y * to_torch(fitted(data)).eval()(X)).sum(dim=1).mean()
    # It starts where the forest stood, and gets better.
    assert losses[0] == pytest.approx(float(start.detach()), abs=1e-4)
    assert losses[-1] < losses[0]


def test_a_forest_survives_the_way_there_and_back(data):
    forest = fitted(data)
    back = from_torch(to_torch(forest))
    np.testing.assert_allclose(back.predict(data[0]), forest.predict(data[0]), rtol=0, atol=1e-6)


@pytest.mark.parametrize("linear", [True, False])
def test_a_trained_head_becomes_a_model_file(tmp_path, linear):
    torch.manual_seed(0)
    head = ForestHead(9, n_labels=3, trees=3, depth=3, linear=linear)
    features, targets = torch.randn(50, 9), torch.softmax(torch.randn(50, 3), dim=1)
    ForestLoss(head)(head(features), targets)
    head.eval()
    forest = from_torch(head, label_values=[20, 30, 40], feature_names=[f"f{i}" for i in range(9)])
    forest.save(tmp_path / "head.ldlf")
    loaded = ldlf.load(tmp_path / "head.ldlf")
    expected = head(features).exp().detach().numpy()
    np.testing.assert_allclose(loaded.model_.predict(features.numpy(), 1), expected, rtol=0, atol=1e-6)
    assert loaded.classes_.tolist() == [20, 30, 40] and loaded.feature_names_in_[0] == "f0"


def test_names_of_labels_go_along():
    head = ForestHead(4, n_labels=2, trees=2, depth=2)
    assert from_torch(head, classes=["no", "yes"]).classes_.tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match="name 3 labels, the head has 2"):
        from_torch(head, classes=["a", "b", "c"])


def test_what_is_no_forest_is_refused(data):
    with pytest.raises(ValueError, match="a model of mean has no soft trees"):
        to_torch(MeanLDL().fit(*data))
    with pytest.raises(TypeError, match="a ForestHead, or Standardize and a ForestHead"):
        from_torch(nn.Linear(3, 3))


def test_standardize_scales_maps_pixel_by_pixel():
    scaling = Standardize(3)
    scaling.shift.copy_(torch.tensor([1.0, 2.0, 3.0]))
    scaling.scale.copy_(torch.tensor([1.0, 10.0, 0.5]))
    scaling.limit.fill_(5)
    rows = torch.randn(2, 3, 4, 5)
    flat = scaling(rows.movedim(1, -1).reshape(-1, 3))
    torch.testing.assert_close(scaling(rows).movedim(1, -1).reshape(-1, 3), flat)
