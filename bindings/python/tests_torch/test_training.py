"""How the head learns: from the first mini-batch, in every precision, within its memory, and across checkpoints."""

import copy
import inspect
import io
import math
import pickle
import re

import ldlf._torch_head as forest
import pytest
import torch
from ldlf import DeepLDLForest
from ldlf.torch import ForestHead, ForestLoss
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


@pytest.fixture(params=["rust", "tensors"])
def path(request, monkeypatch):
    """Either way of computing the head."""
    if request.param == "tensors":
        monkeypatch.setattr(forest, "_in_rust", lambda activations: False)
    return request.param


def rows(count=200, width=6):
    """Rows whose first feature decides between four labels."""
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(count, width, generator=generator)
    centres = torch.tensor([-1.5, -0.5, 0.5, 1.5])
    return features, torch.softmax(-2 * (features[:, :1] - centres) ** 2, dim=1)


def new_head(**options):
    torch.manual_seed(0)
    return ForestHead(6, n_labels=4, **{"trees": 3, "depth": 4, **options})


def learn(head, batches, size=20, offset=5.0):
    features, targets = rows()
    criterion = ForestLoss(head)
    for batch in range(batches):
        chosen = torch.arange(batch * size, (batch + 1) * size) % len(features)
        criterion(head(features[chosen] + offset), targets[chosen]).backward()


def test_the_defaults_are_those_of_dldlf():
    head = ForestHead(6, n_labels=4)
    declared = inspect.signature(DeepLDLForest).parameters
    for name in ("trees", "depth", "steepness", "leaf_iterations", "leaf_prior", "leaf_smoothing"):
        assert getattr(head, name) == declared[name].default, name
    # A head does not know how long an epoch is.
    most = re.search(r'leaf_every : [^.]*"auto" is one epoch,\s+at most (\d+)\.', DeepLDLForest.__doc__)
    assert declared["leaf_every"].default == "auto" and head.leaf_every == int(most[1])


def test_a_loss_that_is_only_looked_at_is_no_mini_batch():
    head, (features, targets) = new_head(leaf_every=3), rows()
    criterion = ForestLoss(head)
    learn(head, 2)
    before, leaves, noted = head._batches, head.leaves.clone(), len(head._noted)
    for looking in (torch.no_grad(), torch.inference_mode()):
        with looking:
            assert float(criterion(head(features), targets)) > 0
    assert head.training and (head._batches, len(head._noted)) == (before, noted)
    torch.testing.assert_close(head.leaves, leaves, rtol=0, atol=0)
    learn(head, 1)
    assert head._batches == before + 1 and not torch.equal(head.leaves, leaves)


def test_the_first_mini_batch_gives_a_gradient(path):
    head = new_head()
    features, targets = rows()
    loss = ForestLoss(head)(head(features), targets)
    loss.backward()
    assert float(loss.detach()) < math.log(4) - 0.05
    assert head.linear.weight.grad.abs().max() > 1e-3


def test_twenty_mini_batches_of_any_network_beat_the_mean_distribution():
    head = new_head()
    features, targets = rows()
    criterion, optimiser = ForestLoss(head), torch.optim.Adam(head.parameters(), lr=0.05)
    for _ in range(20):
        optimiser.zero_grad()
        criterion(head(features), targets).backward()
        optimiser.step()
    divergence = nn.KLDivLoss(reduction="batchmean")
    mean = targets.mean(dim=0).log().expand_as(targets)
    assert divergence(head.eval()(features), targets) < 0.6 * divergence(mean, targets)


@pytest.mark.parametrize("steepness", [0.5, 2.0])
def test_the_first_mini_batch_settles_the_splits(path, steepness):
    head = new_head(steepness=steepness)
    features, _ = rows()
    head(10 * features + 3)
    activations = head.linear(10 * features + 3)
    torch.testing.assert_close(activations.mean(dim=0), torch.zeros(21), rtol=0, atol=1e-4)
    deviations = activations.std(dim=0, correction=0)
    torch.testing.assert_close(deviations, torch.full((21,), steepness), rtol=1e-4, atol=0)
    weights = head.linear.weight.clone()
    head(features)
    assert torch.equal(head.linear.weight, weights)


def test_a_unit_that_does_not_vary_is_only_shifted():
    head = new_head()
    before = head.linear.weight.clone()
    head(torch.ones(5, 6))
    assert torch.equal(head.linear.weight, before)
    torch.testing.assert_close(head.linear(torch.ones(1, 6)), torch.zeros(1, 21), rtol=0, atol=1e-6)


def test_evaluation_settles_and_notes_nothing():
    head = new_head().eval()
    before = copy.deepcopy(head.state_dict())
    learn(head, 3)
    assert all(torch.equal(value, before[name]) for name, value in head.state_dict().items())


@pytest.mark.parametrize(("every", "moves"), [(10, [1, 4, 8, 10, 20]), (None, [1]), (3, [1, 3, 6, 9, 12, 15, 18])])
def test_leaves_move_at_the_first_mini_batch_and_soon_after(every, moves):
    head, moved = new_head(leaf_every=every), []
    for batch in range(1, 21):
        before = head.leaves.clone()
        learn(head, 1)
        if not torch.equal(head.leaves, before):
            moved.append(batch)
    # An update from the same rows may come to rest.
    assert set(moved) <= set(moves) and moved[0] == 1 and len(moved) > len(moves) / 2


def test_smoothing_is_a_gaussian_along_the_labels():
    head = new_head(leaf_smoothing=0.5)
    head.leaves.zero_()[:, :, 0] = 1
    smooth = forest.tensors.smoothed(head.leaves, 0.5)[0, 0]
    expected = torch.tensor([1.0, math.exp(-2), math.exp(-8), 0.0])
    torch.testing.assert_close(smooth, expected / expected.sum())
    learn(head, 1)
    torch.testing.assert_close(head.leaves.sum(dim=2), torch.ones(3, 8))


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_the_head_trains_under_autocast(path, kind):
    network = nn.Sequential(nn.Linear(6, 6), new_head(leaf_every=2))
    features, targets = rows()
    criterion, optimiser = ForestLoss(network[1]), torch.optim.Adam(network.parameters(), lr=0.01)
    losses = []
    for _ in range(5):
        optimiser.zero_grad()
        with torch.autocast("cpu", dtype=kind):
            out = network(features)
            loss = criterion(out, targets)
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert out.dtype == loss.dtype == network[1].leaves.dtype == torch.float32
    assert all(map(math.isfinite, losses)) and losses[-1] < losses[0]


def test_autocast_rounds_only_what_comes_before_the_trees(path):
    head = new_head(linear=False, depth=3).eval()
    head.leaves.copy_(torch.softmax(torch.randn_like(head.leaves), dim=2))
    features, targets = rows()
    criterion = ForestLoss(head)
    expected = head(features), criterion(head(features), targets)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close((head(features), criterion(head(features), targets)), expected)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_a_half_precision_network_keeps_its_leaves_in_single_precision(path, kind):
    head = new_head(leaf_every=2).to(kind)
    assert head.leaves.dtype == torch.float32 and head.linear.weight.dtype == kind
    features, targets = rows()
    for _ in range(3):
        loss = ForestLoss(head)(head(features.to(kind)), targets.to(kind))
        loss.backward()
    assert loss.isfinite() and head.linear.weight.grad.dtype == kind
    torch.testing.assert_close(head.leaves.sum(dim=2), torch.ones(3, 8))
    assert new_head(dtype=kind).leaves.dtype == torch.float32


class NoDoubles(TorchDispatchMode):
    """Fails where a device without double precision, such as Apple's, would."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        found = out if isinstance(out, tuple | list) else [out]
        assert not any(isinstance(t, torch.Tensor) and t.dtype == torch.float64 for t in found), function
        return out


@pytest.mark.parametrize("form", ["trees", "forest"])
def test_the_tensor_path_needs_no_double_precision(monkeypatch, form):
    monkeypatch.setattr(forest, "_in_rust", lambda activations: False)
    head = new_head(leaf_every=2, leaf_smoothing=1.0)
    features, targets = rows()
    with NoDoubles():
        for _ in range(3):
            ForestLoss(head, loss=form)(head(features), targets).backward()
        head.eval()(features)


def test_the_tensor_path_has_the_right_shapes_on_another_device():
    head = new_head(device="meta", leaf_every=2)
    criterion = ForestLoss(head)
    for _ in range(3):
        out = head(torch.empty(5, 6, 3, 2, device="meta"))
        loss = criterion(out, torch.empty(5, 4, 3, 2, device="meta"), torch.empty(5, 3, 2, device="meta"))
        loss.backward()
    assert out.shape == (5, 4, 3, 2) and loss.shape == ()
    assert head.linear.weight.grad.shape == head.linear.weight.shape and head.leaves.is_meta


def test_the_tensor_path_updates_leaves_as_rust_does(monkeypatch):
    # More rows than one chunk.
    features, targets = rows(2500)
    found = []
    for in_rust in (True, False):
        monkeypatch.setattr(forest, "_in_rust", lambda activations, in_rust=in_rust: in_rust)
        head = new_head()
        ForestLoss(head)(head(features), targets)
        found.append(head.leaves)
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)


def kept_rows(head):
    return sum(len(weights) for _, _, weights in head._noted)


def test_no_more_rows_are_kept_than_the_memory_holds():
    head = new_head(leaf_memory=50)
    learn(head, 10)
    assert kept_rows(head) == 40
    learn(head, 1, size=200)
    assert kept_rows(head) == 50
    head = new_head(leaf_every=3)
    learn(head, 10)
    assert kept_rows(head) == 60


def test_a_resumed_training_goes_on_as_if_uninterrupted():
    whole, first = new_head(leaf_every=7), new_head(leaf_every=7)
    learn(whole, 3)
    learn(first, 3)
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    resumed = ForestHead(6, n_labels=4, trees=3, depth=4, leaf_every=7, seed=9)
    resumed.load_state_dict(torch.load(file))
    for head in (whole, resumed):
        learn(head, 4)
    assert all(torch.equal(value, resumed.state_dict()[name]) for name, value in whole.state_dict().items())


def test_a_state_dict_holds_tensors_alone_and_loads_strictly():
    head = new_head()
    learn(head, 3)
    state = nn.Sequential(nn.Linear(6, 6), head).state_dict()
    assert all(isinstance(value, torch.Tensor) for value in state.values())
    assert {"1.leaves", "1.split_units", "1.noted_targets"} <= set(state)
    missing, unexpected = nn.Sequential(nn.Linear(6, 6), new_head()).load_state_dict(state)
    assert not missing and not unexpected


def test_weights_from_elsewhere_are_not_settled_anew():
    head, other = new_head(), new_head()
    names = ("linear.weight", "linear.bias", "leaves", "split_units")
    other.load_state_dict({name: head.state_dict()[name] for name in names})
    other(5 + rows()[0])
    assert torch.equal(other.linear.weight, head.linear.weight)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda head: pickle.loads(pickle.dumps(head))])
def test_a_head_is_copied_between_forward_and_backward(copied):
    head = new_head()
    learn(head, 2)
    features, _ = rows()
    head(features)
    other = copied(head)
    assert torch.equal(other.eval()(features), head.eval()(features))


def test_kept_rows_move_with_the_head():
    head = new_head()
    learn(head, 2)
    head.to(torch.float64)
    assert {part.dtype for note in head._noted for part in note} == {torch.float64}
    learn_in_doubles, targets = rows()
    ForestLoss(head)(head(learn_in_doubles.double()), targets)
    head.update_leaves()


def test_evaluation_sees_leaves_of_the_last_mini_batches():
    head, other = new_head(leaf_every=None), new_head(leaf_every=None)
    learn(head, 5)
    learn(other, 5)
    other.update_leaves()
    features, _ = rows()
    assert torch.equal(head.eval()(features), other.eval()(features))
    before = head.leaves.clone()
    head.train().eval()
    assert torch.equal(head.leaves, before)


def test_leaves_that_saw_no_targets_are_warned_about():
    head = new_head()
    features, targets = rows()
    nn.KLDivLoss(reduction="batchmean")(head(features), targets).backward()
    with pytest.warns(UserWarning, match="have seen no targets"):
        head.eval()


def test_a_loss_of_ones_own_tells_the_head_the_targets():
    head = new_head()
    features, targets = rows()
    out = head(features)
    head.observe(targets)
    # The leaves have moved, and the gradient of the log-probabilities is still that of the leaves before.
    nn.KLDivLoss(reduction="batchmean")(out, targets).backward()
    assert head.leaves.std() > 0.01


def test_reset_parameters_starts_again():
    head = new_head()
    learn(head, 3)
    head.reset_parameters()
    assert torch.equal(head.leaves, torch.full_like(head.leaves, 0.25)) and kept_rows(head) == 0
    learn(head, 1)
    assert head.leaves.std() > 0.01


def test_checkpointed_activations_are_noted_once():
    from torch.utils.checkpoint import checkpoint

    head = new_head()
    features, targets = rows()
    features.requires_grad_()
    loss = ForestLoss(head)(checkpoint(head, features, use_reentrant=False), targets)
    loss.backward()
    assert kept_rows(head) == len(features)
