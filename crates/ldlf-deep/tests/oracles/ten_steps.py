#!/usr/bin/env python3
"""Writes ten_steps.json: the losses of ten SGD steps of a small network with a forest head, by PyTorch's gradients.

The head is Eqn. 1 to 3 and 12 of Shen et al. 2017 in tensor operations; the leaves move after every second step by the rows of those
steps. Weights and inputs are hashed as in networks.py. Needs torch and torchvision.
"""

import json
from pathlib import Path

import numpy as np
import torch
from networks import SmallCnn, fill, hashed, weights

THINNER, SIDE, ROWS, STEPS, RATE = 4, 16, 8, 10, 0.5
TREES, DEPTH, UNITS, LABELS = 3, 4, 9, 5
SPLITS = 2 ** (DEPTH - 1) - 1


def distributions(name, rows):
    draw = np.exp(2 * hashed(name, (rows, LABELS)))
    return torch.from_numpy((draw / draw.sum(axis=1, keepdims=True)).astype(np.float32))


def route(activations, units):
    splits = torch.sigmoid(activations[:, units])
    shares = torch.ones(len(activations), TREES, SPLITS + 1)
    for leaf in range(SPLITS + 1):
        node, share = leaf + SPLITS, 1.0
        while node > 0:
            parent = (node - 1) // 2
            split = splits[:, :, parent]
            share = share * (split if node == 2 * parent + 1 else 1 - split)
            node = parent
        shares[:, :, leaf] = share
    return shares


def outputs(activations, units, leaves):
    return torch.einsum("nkl,klc->nkc", route(activations, units), leaves)


def moved(leaves, units, activations, targets, iterations, prior):
    leaves = leaves.double()
    shares, targets = route(activations, units).double(), targets.double()
    base = targets.mean(dim=0)
    for _ in range(iterations):
        ratios = targets[:, None, :] / torch.einsum("nkl,klc->nkc", shares, leaves)
        counts = leaves * torch.einsum("nkl,nkc->klc", shares, ratios) + prior * base
        leaves = counts / counts.sum(dim=2, keepdim=True)
    return leaves.float()


def main():
    model = fill(SmallCnn(THINNER)).train()
    linear = torch.nn.Linear(256 // THINNER, UNITS)
    linear.load_state_dict({name: weights(f"linear.{name}", tuple(value.shape)) for name, value in linear.state_dict().items()})
    units = torch.tensor([[(3 * tree + 2 * split) % UNITS for split in range(SPLITS)] for tree in range(TREES)])
    leaves = distributions("leaves", TREES * (SPLITS + 1)).reshape(TREES, SPLITS + 1, LABELS)
    optimiser = torch.optim.SGD([*model.parameters(), *linear.parameters()], lr=RATE)
    losses, noted = [], []
    for step in range(STEPS):
        x = torch.from_numpy(hashed(f"pictures {step}", (ROWS, 3, SIDE, SIDE)).astype(np.float32))
        targets = distributions(f"targets {step}", ROWS)
        activations = linear(model.layers(x)["avgpool"])
        loss = -(targets[:, None, :] * outputs(activations, units, leaves).log()).sum(dim=2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
        noted.append((activations.detach(), targets))
        if len(noted) == 2:
            leaves = moved(leaves, units, *(torch.cat(part) for part in zip(*noted)), iterations=5, prior=0.5)
            noted = []
    model.eval()
    with torch.no_grad():
        x = torch.from_numpy(hashed("pictures 0", (ROWS, 3, SIDE, SIDE)).astype(np.float32))
        predictions = outputs(linear(model.layers(x)["avgpool"]), units, leaves).mean(dim=1)
    fixture = {"units": units.tolist(), "losses": losses, "predictions": predictions.tolist()}
    Path(__file__).with_suffix(".json").write_text(json.dumps(fixture) + "\n")


if __name__ == "__main__":
    main()
