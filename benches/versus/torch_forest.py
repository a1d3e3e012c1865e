"""A label distribution learning forest in PyTorch, vectorised over rows and trees: what a careful user would write."""

import torch


class TorchForest:
    """Linear map, soft trees and leaves; AdamW on the map, Eqn. 12 on the leaves."""

    def __init__(self, features, units, trees, depth, labels, seed=0):
        generator = torch.Generator().manual_seed(seed)
        self.depth, self.splits = depth, 2 ** (depth - 1) - 1
        bound = (3.0 / features) ** 0.5
        self.weight = torch.empty(features, units).uniform_(-bound, bound, generator=generator).requires_grad_()
        self.bias = torch.zeros(units, requires_grad=True)
        self.units = torch.stack([torch.randperm(units, generator=generator)[:self.splits] if units >= self.splits
                                  else torch.randint(units, (self.splits,), generator=generator)
                                  for _ in range(trees)])
        self.leaves = torch.full((trees, self.splits + 1, labels), 1.0 / labels)
        self.optimiser = torch.optim.AdamW([self.weight, self.bias], lr=0.01, weight_decay=0.01)

    def route(self, rows):
        """The share of every row in every leaf: [rows, trees, leaves], a level of the trees at a time."""
        split = torch.sigmoid(torch.addmm(self.bias, rows, self.weight))[:, self.units]
        shares = torch.ones(len(rows), len(self.units), 1)
        for level in range(self.depth - 1):
            here = split[:, :, 2 ** level - 1:2 ** (level + 1) - 1]
            left = shares * here
            shares = torch.stack([left, shares - left], dim=-1).flatten(2)
        return shares

    def outputs(self, shares):
        """What each tree says: [trees, rows, labels]."""
        return torch.bmm(shares.transpose(0, 1), self.leaves)

    def step(self, rows, targets):
        outputs = self.outputs(self.route(rows)).clamp_min(1e-30)
        loss = -(targets * outputs.log()).sum() / (len(rows) * len(self.units))
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        return loss.item()

    @torch.no_grad()
    def update_leaves(self, rows, targets, iterations):
        shares = self.route(rows).transpose(0, 1).contiguous()
        prior = 1.0 / self.leaves.shape[-1]
        for _ in range(iterations):
            ratios = targets / torch.bmm(shares, self.leaves).clamp_min(1e-30)
            counts = self.leaves * torch.bmm(shares.transpose(1, 2), ratios) + prior
            self.leaves = counts / counts.sum(-1, keepdim=True)

    @torch.no_grad()
    def predict(self, rows):
        return self.outputs(self.route(rows)).mean(0)
