"""A network with a forest head, trained by several processes:

    torchrun --nproc_per_node 2 bindings/python/examples/torch_ddp.py

Every process has its own part of the rows; gradients are averaged by DistributedDataParallel, and the statistics of the leaves are
summed over all processes. The number of processes changes nothing but the rounding.
"""

import torch
import torch.distributed as dist
from ldlf.torch import ForestHead, ForestLoss
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ROWS, BATCH, EPOCHS = 1000, 96, 5


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.Tanh())
        self.head = ForestHead(32, n_labels=5, trees=5, depth=5, leaf_every=10)

    def forward(self, x):
        return self.head(self.body(x))


def rows():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(ROWS, 8, generator=generator)
    return x, torch.softmax(2 * torch.sin(x[:, :5]), dim=1)


def main():
    dist.init_process_group("gloo")
    rank, processes = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    network = Network()
    model = DistributedDataParallel(network)
    criterion = ForestLoss(network.head)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    x, targets = rows()
    for epoch in range(EPOCHS):
        for batch in torch.randperm(ROWS, generator=torch.Generator().manual_seed(epoch)).split(BATCH):
            own = batch[
                rank::processes
            ]  # may be one row shorter than another's, or empty: call the network all the same
            optimiser.zero_grad()
            loss = criterion(model(x[own]), targets[own])
            # The mean over processes is the mean over rows when each counts by its rows.
            (loss * len(own) * processes / len(batch)).backward()
            optimiser.step()
    network.head.update_leaves()  # on every process, as the updates in between
    if rank == 0:
        network.eval()
        with torch.no_grad():
            print(f"{processes} processes: loss {float(criterion(network(x), targets)):.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
