"""The forest head in PyTorch: the Rust path and the tensor path, both held to the paper's equations by one fixture."""

import json
import shutil
from pathlib import Path

import ldlf._torch_head as forest
import pytest
import torch
from ldlf.torch import ForestHead, ForestLoss
from torch import nn

FIXTURE = Path(__file__).resolve().parents[3] / "crates" / "ldlf-forest" / "tests" / "oracles" / "head.json"
PATHS = ["rust", "tensors"]
# PyTorch's own compiler writes C++; without a compiler for that, everything before that step is tested.
BACKEND = "inductor" if shutil.which("g++") or shutil.which("clang++") else "aot_eager"


@pytest.fixture(params=PATHS)
def path(request, monkeypatch):
    """Either way of computing the head."""
    if request.param == "tensors":
        monkeypatch.setattr(forest, "_in_rust", lambda activations: False)
    return request.param


@pytest.fixture
def paper():
    """The numbers of the paper's equations, made by oracles/head.py."""
    numbers = json.loads(FIXTURE.read_text())
    return {
        name: torch.tensor(value, dtype=torch.int64 if name == "units" else torch.float64)
        for name, value in numbers.items()
    }


def head_of(paper, **options):
    width = paper["activations"].shape[1]
    trees, _, labels = paper["leaves"].shape
    head = ForestHead(width, labels, trees, int(paper["depth"]), linear=False, dtype=torch.float64, **options)
    head.split_units.copy_(paper["units"])
    head.leaves.copy_(paper["leaves"])
    return head


def small(**options):
    torch.manual_seed(0)
    head = ForestHead(6, n_labels=4, **{"trees": 3, "depth": 4, **options})
    head.leaves.copy_(torch.softmax(torch.randn_like(head.leaves), dim=2))
    features = torch.randn(150, 6, dtype=head.leaves.dtype)
    return head, features, torch.softmax(torch.randn(150, 4, dtype=head.leaves.dtype), dim=1)


def test_predictions_loss_and_gradients_are_those_of_the_paper(paper, path):
    head = head_of(paper).eval()
    activations = paper["activations"].clone().requires_grad_()
    torch.testing.assert_close(head(activations), paper["predictions"].log(), rtol=0, atol=1e-13)
    loss = ForestLoss(head)(head(activations), paper["targets"], paper["weights"])
    torch.testing.assert_close(loss, paper["loss"], rtol=0, atol=1e-13)
    (gradient,) = torch.autograd.grad(loss, activations)
    torch.testing.assert_close(gradient, paper["loss_gradient"], rtol=0, atol=1e-13)
    (gradient,) = torch.autograd.grad((paper["above"] * head(activations).exp()).sum(), activations)
    torch.testing.assert_close(gradient, paper["prediction_gradient"], rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("iterations", "prior", "expected"), [(1, 0.0, "updated_once"), (3, 0.5, "updated_with_prior")]
)
def test_leaf_updates_are_those_of_the_paper(paper, path, iterations, prior, expected):
    head = head_of(paper, leaf_iterations=iterations, leaf_prior=prior)
    # The first mini-batch moves the leaves at once.
    ForestLoss(head)(head(paper["activations"]), paper["targets"], paper["weights"])
    torch.testing.assert_close(head.leaves, paper[expected], rtol=0, atol=1e-13)


@pytest.mark.parametrize("form", ["trees", "forest"])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_gradients_meet_finite_differences(form, reduction):
    head, features, targets = small(dtype=torch.float64)
    head.eval()
    features = features[:5].requires_grad_()
    weights = torch.rand(5, dtype=torch.float64)
    criterion = ForestLoss(head, loss=form, reduction=reduction)
    assert torch.autograd.gradcheck(head, (features,))
    assert torch.autograd.gradcheck(lambda x: criterion(head(x), targets[:5], weights), (features,))


def test_the_operators_are_well_behaved():
    head, features, targets = small(dtype=torch.float64, linear=True)
    activations = head.linear(features[:5]).detach().requires_grad_()
    torch.library.opcheck(forest.forest_predict, (activations, head.split_units, head.leaves))
    torch.library.opcheck(forest.forest_loss, (activations, head.split_units, head.leaves, targets[:5], None))


@pytest.mark.parametrize("form", ["trees", "forest"])
def test_both_paths_agree_in_single_precision(monkeypatch, form):
    head, features, targets = small()
    head.eval()
    criterion = ForestLoss(head, loss=form)
    here = head(features), criterion(head(features), targets)
    monkeypatch.setattr(forest, "_in_rust", lambda activations: False)
    torch.testing.assert_close(here, (head(features), criterion(head(features), targets)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", ["trees", "forest"])
def test_rows_losses_make_up_mean_and_sum(path, form):
    head, features, targets = small()
    head.eval()
    weights = torch.rand(150)
    losses = {
        reduction: ForestLoss(head, loss=form, reduction=reduction)(head(features), targets, weights)
        for reduction in ("none", "mean", "sum")
    }
    assert losses["none"].shape == (150,)
    torch.testing.assert_close(losses["sum"], (losses["none"] * weights).sum())
    torch.testing.assert_close(losses["mean"], losses["sum"] / weights.sum())


def test_the_loss_of_the_forest_is_the_cross_entropy_of_its_output(path):
    head, features, targets = small()
    head.eval()
    loss = ForestLoss(head, loss="forest")(head(features), targets)
    torch.testing.assert_close(loss, -(targets * head(features)).sum(dim=1).mean())


def test_training_lowers_the_loss_and_the_leaves_move_by_themselves(path):
    head, features, targets = small(leaf_every=5)
    criterion = ForestLoss(head)
    optimiser = torch.optim.Adam(head.parameters(), lr=0.05)
    before = head.leaves.clone()
    losses = []
    for _ in range(40):
        optimiser.zero_grad()
        loss = criterion(head(features), targets)
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] - 0.02
    assert not torch.equal(head.leaves, before)
    torch.testing.assert_close(head.leaves.sum(dim=2), torch.ones(3, 8))


def test_a_leaf_update_never_raises_the_loss(path):
    head, features, targets = small(leaf_every=None, leaf_prior=0)
    head.linear.weight.data *= 3
    head._settled = True
    criterion = ForestLoss(head, reduction="mean")
    head.eval()
    before = criterion(head(features), targets)
    head.train()
    head(features)
    head.observe(targets)
    assert criterion(head.eval()(features), targets) <= before


def test_the_head_replaces_the_last_layer_of_a_network():
    network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), ForestHead(4 * 6 * 6, n_labels=5))
    network[-1].leaves.copy_(torch.softmax(torch.randn_like(network[-1].leaves), dim=2))
    out = network(torch.randn(3, 1, 8, 8)).exp()
    torch.testing.assert_close(out.sum(dim=1), torch.ones(3))
    out[:, 0].sum().backward()
    assert network[0].weight.grad.abs().sum() > 0


@pytest.mark.parametrize("weighted", [False, True])
def test_no_rows_have_no_loss_and_no_gradient(path, weighted):
    head, features, targets = small()
    loss = ForestLoss(head)(head(features[:0]), targets[:0], torch.ones(0) if weighted else None)
    loss.backward()
    assert float(loss.detach()) == 0 and not head.linear.weight.grad.any()


def test_tensors_that_are_not_contiguous_are_read(path):
    head, features, targets = small()
    head.eval()
    criterion = ForestLoss(head)
    strided = criterion(head(features.t().contiguous().t()), targets.t().contiguous().t())
    torch.testing.assert_close(strided, criterion(head(features), targets))


@pytest.mark.parametrize("form", ["trees", "forest"])
def test_maps_are_predicted_pixel_by_pixel(path, form):
    head, features, targets = small()
    head.eval()
    weights = torch.rand(150)
    as_map = lambda rows: rows.unflatten(0, (2, 5, 15)).movedim(-1, 1)  # noqa: E731
    out = head(as_map(features))
    assert out.shape == (2, 4, 5, 15)
    torch.testing.assert_close(out, as_map(head(features)))
    for reduction in ("mean", "none"):
        criterion = ForestLoss(head, loss=form, reduction=reduction)
        expected = criterion(head(features), targets, weights)
        found = criterion(head(as_map(features)), as_map(targets), weights.unflatten(0, (2, 5, 15)))
        torch.testing.assert_close(found.flatten(), expected.flatten())
        assert found.shape == (() if reduction == "mean" else (2, 5, 15))


def test_a_head_without_a_linear_map_reads_maps_of_units():
    head = ForestHead(7, n_labels=3, trees=2, depth=4, linear=False)
    assert head(torch.randn(2, 7, 4, 5)).shape == (2, 3, 4, 5)


def test_whole_numbers_are_one_label_per_row():
    head, features, _ = small()
    head.eval()
    labels = torch.arange(150) % 4
    criterion = ForestLoss(head)
    expected = criterion(head(features), nn.functional.one_hot(labels, 4).float())
    assert criterion(head(features), labels) == expected


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"trees": 0}, "trees must be at least 1, got 0"),
        ({"depth": 7, "units": 5}, r"units must be at least 2\^\(depth - 1\) - 1 = 63 for depth 7, got 5"),
        ({"leaf_every": 0}, "leaf_every must be at least 1, got 0"),
        ({"steepness": 0}, "steepness must be above 0, got 0"),
        ({"leaf_memory": 0}, "leaf_memory must be at least 1, got 0"),
        ({"linear": False, "units": 3}, "without a linear map units is in_features"),
    ],
)
def test_bad_sizes_are_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        ForestHead(40, n_labels=3, **options)


def test_wrong_shapes_are_one_sentence():
    head, features, targets = small()
    with pytest.raises(ValueError, match=r"features should have the shape \(rows, 6\) or .* got \(150, 4\)"):
        head(targets)
    with pytest.raises(ValueError, match="targets have 3 rows, the head saw 150"):
        ForestLoss(head)(head(features), targets[:3])
    with pytest.raises(ValueError, match="reduction must be one of mean, sum, none, got all"):
        ForestLoss(head, reduction="all")


def test_a_loss_that_does_not_follow_its_forward_pass_is_refused():
    head, features, targets = small()
    criterion = ForestLoss(head)
    out = head(features)
    criterion(out, targets)
    with pytest.raises(RuntimeError, match="call the loss right after it"):
        criterion(out, targets)


def test_a_compiled_network_gives_the_same_numbers():
    head, features, targets = small()
    network = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), head).eval()
    compiled = torch.compile(network, fullgraph=True, backend=BACKEND)
    torch.testing.assert_close(compiled(features), network(features))
    (compiled(features) ** 2).sum().backward()
    found = [parameter.grad.clone() for parameter in network.parameters()]
    network.zero_grad()
    (network(features) ** 2).sum().backward()
    torch.testing.assert_close(found, [parameter.grad for parameter in network.parameters()])


def test_a_compiled_head_trains():
    head, features, targets = small(leaf_every=2)
    compiled = torch.compile(head, backend=BACKEND)
    criterion = ForestLoss(head)
    before = head.leaves.clone()
    for _ in range(4):
        criterion(compiled(features), targets).backward()
    assert not torch.equal(head.leaves, before)
    assert head.linear.weight.grad.abs().sum() > 0


def test_an_exported_network_is_made_of_standard_operators():
    head, features, _ = small()
    network = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), head).eval()
    program = torch.export.export(network, (features,))
    assert not any("ldlf" in str(node.target) for node in program.graph.nodes)
    torch.testing.assert_close(program.module()(features), network(features))
