"""The forest head in PyTorch: the Rust path and the tensor path, both held to the paper's equations by one fixture."""

import io
import json
import pickle
import shutil
from pathlib import Path

import ldlf.torch as forest
import pytest
import torch
from ldlf.torch import ForestHead
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
    head = ForestHead(6, n_labels=4, trees=3, depth=4, **options)
    head.leaves.copy_(torch.softmax(torch.randn_like(head.leaves), dim=2))
    features = torch.randn(150, 6, dtype=head.leaves.dtype)
    return head, features, torch.softmax(torch.randn(150, 4, dtype=head.leaves.dtype), dim=1)


def test_predictions_loss_and_gradients_are_those_of_the_paper(paper, path):
    head = head_of(paper)
    activations = paper["activations"].clone().requires_grad_()
    torch.testing.assert_close(head(activations), paper["predictions"], rtol=0, atol=1e-13)
    loss = head(activations, paper["targets"], paper["weights"])
    torch.testing.assert_close(loss, paper["loss"], rtol=0, atol=1e-13)
    (gradient,) = torch.autograd.grad(loss, activations)
    torch.testing.assert_close(gradient, paper["loss_gradient"], rtol=0, atol=1e-13)
    (gradient,) = torch.autograd.grad((paper["above"] * head(activations)).sum(), activations)
    torch.testing.assert_close(gradient, paper["prediction_gradient"], rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("iterations", "prior", "expected"), [(1, 0.0, "updated_once"), (3, 0.5, "updated_with_prior")]
)
def test_leaf_updates_are_those_of_the_paper(paper, path, iterations, prior, expected):
    head = head_of(paper, leaf_iterations=iterations, leaf_prior=prior)
    head(paper["activations"], paper["targets"], paper["weights"])
    head.update_leaves()
    torch.testing.assert_close(head.leaves, paper[expected], rtol=0, atol=1e-13)


def test_gradients_meet_finite_differences():
    head, features, targets = small(dtype=torch.float64)
    head.eval()
    features = features[:5].requires_grad_()
    weights = torch.rand(5, dtype=torch.float64)
    assert torch.autograd.gradcheck(head, (features,))
    assert torch.autograd.gradcheck(lambda x: head(x, targets[:5], weights), (features,))


def test_the_operators_are_well_behaved():
    head, features, targets = small(dtype=torch.float64, linear=True)
    activations = head.linear(features[:5]).detach().requires_grad_()
    torch.library.opcheck(forest.forest_predict, (activations, head.split_units, head.leaves))
    torch.library.opcheck(forest.forest_loss, (activations, head.split_units, head.leaves, targets[:5], None))


def test_both_paths_agree_in_single_precision(monkeypatch):
    head, features, targets = small()
    head.eval()
    here = head(features), head(features, targets)
    monkeypatch.setattr(forest, "_in_rust", lambda activations: False)
    torch.testing.assert_close(here, (head(features), head(features, targets)), rtol=1e-5, atol=1e-6)


def test_training_lowers_the_loss_and_the_leaves_move_by_themselves(path):
    head, features, targets = small(leaf_every=5)
    optimiser = torch.optim.Adam(head.parameters(), lr=0.05)
    before = head.leaves.clone()
    losses = []
    for _ in range(40):
        optimiser.zero_grad()
        loss = head(features, targets)
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] - 0.05
    assert not torch.equal(head.leaves, before)
    torch.testing.assert_close(head.leaves.sum(dim=2), torch.ones(3, 8))


def test_a_leaf_update_never_raises_the_loss(path):
    head, features, targets = small(leaf_every=None)
    before = head(features, targets)
    head.update_leaves()
    assert head.eval()(features, targets) <= before


def test_evaluation_notes_nothing():
    head, features, targets = small()
    head.eval()(features, targets)
    before = head.leaves.clone()
    head.update_leaves()
    assert torch.equal(head.leaves, before)


def test_the_leaves_are_buffers_in_the_state_dict():
    head, features, _ = small()
    assert {"leaves", "split_units"} <= set(dict(head.named_buffers())) <= set(head.state_dict())
    file = io.BytesIO()
    torch.save(head.state_dict(), file)
    file.seek(0)
    other = ForestHead(6, n_labels=4, trees=3, depth=4, seed=9)
    other.load_state_dict(torch.load(file))
    assert torch.equal(other(features), head(features))
    assert torch.equal(pickle.loads(pickle.dumps(head))(features), head(features))


def test_the_head_replaces_the_last_layer_of_a_network():
    network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), ForestHead(4 * 6 * 6, n_labels=5))
    out = network(torch.randn(3, 1, 8, 8))
    torch.testing.assert_close(out.sum(dim=1), torch.ones(3))
    out[:, 0].sum().backward()
    assert network[0].weight.grad.abs().sum() > 0


@pytest.mark.parametrize("weighted", [False, True])
def test_no_rows_have_no_loss_and_no_gradient(path, weighted):
    head, features, targets = small()
    loss = head(features[:0], targets[:0], torch.ones(0) if weighted else None)
    loss.backward()
    assert float(loss.detach()) == 0 and not head.linear.weight.grad.any()


def test_tensors_that_are_not_contiguous_are_read(path):
    head, features, targets = small()
    head.eval()
    torch.testing.assert_close(
        head(features.t().contiguous().t(), targets.t().contiguous().t()), head(features, targets)
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"trees": 0}, "trees must be at least 1, got 0"),
        ({"depth": 7, "units": 5}, r"units must be at least 2\^\(depth - 1\) - 1 = 63 for depth 7, got 5"),
        ({"leaf_every": 0}, "leaf_every must be at least 1, got 0"),
        ({"linear": False, "units": 3}, "without a linear map units is in_features"),
    ],
)
def test_bad_sizes_are_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        ForestHead(40, n_labels=3, **options)


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
    before = head.leaves.clone()
    for _ in range(4):
        compiled(features, targets).backward()
    assert not torch.equal(head.leaves, before)
    assert head.linear.weight.grad.abs().sum() > 0
