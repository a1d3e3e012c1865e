#!/usr/bin/env python3
"""The forest head on the CPU, in Rust and in torch operations: the loss forward and backward, in turn in one process, and the ratio.

Both sides are the same head (same splits, leaves, targets) with the same number of threads, checked to give the same loss and
gradient. Needs the package and PyTorch.
"""

import argparse
import statistics
import time

import torch
from ldlf import _torch_tensors as tensors
from ldlf.torch import ForestHead, ForestLoss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--trees", type=int, default=5)
    parser.add_argument("--depth", type=int, default=7)
    parser.add_argument("--labels", type=int, default=70)
    parser.add_argument("--units", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=200)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    head = ForestHead(given.units, given.labels, given.trees, given.depth, linear=False, leaf_every=None).eval()
    head.leaves.copy_(torch.softmax(torch.randn_like(head.leaves), dim=2))
    activations = torch.randn(given.batch, given.units, requires_grad=True)
    targets = torch.softmax(torch.randn(given.batch, given.labels), dim=1)
    criterion = ForestLoss(head)

    def in_rust():
        head._last = activations
        return criterion(targets, targets)  # of the first argument, only the shape counts

    def by_tensors():
        return tensors.row_losses(activations, head.split_units, head.leaves, targets).mean()

    sides = {"Rust": in_rust, "torch operations": by_tensors}

    def step(side):
        activations.grad = None
        start = time.perf_counter()
        loss = sides[side]()
        loss.backward()
        return time.perf_counter() - start, float(loss.detach()), activations.grad.clone()

    results = {side: step(side)[1:] for side in sides}
    (loss, gradient), (other_loss, other_gradient) = results.values()
    assert abs(loss - other_loss) < 1e-5 and torch.allclose(gradient, other_gradient, atol=1e-7)
    for _ in range(20):
        [step(side) for side in sides]
    times = {side: [] for side in sides}
    for _ in range(given.repeats):
        for side in sides:
            times[side].append(step(side)[0])
    ratios = sorted(theirs / ours for ours, theirs in zip(*times.values()))
    print(
        f"batch {given.batch}, {given.trees} trees of depth {given.depth}, {given.labels} labels, {given.units} units, "
        f"{given.threads} threads, forward and backward, {given.repeats} runs each in turn"
    )
    for side, taken in times.items():
        quarter = statistics.quantiles(taken, n=4)
        print(
            f"{side:17} median {1e3 * quarter[1]:.3f} ms (quartiles {1e3 * quarter[0]:.3f} to {1e3 * quarter[2]:.3f})"
        )
    quarter = statistics.quantiles(ratios, n=4)
    print(
        f"ratio             median {quarter[1]:.2f} (quartiles {quarter[0]:.2f} to {quarter[2]:.2f}); target: at least 3"
    )


if __name__ == "__main__":
    main()
