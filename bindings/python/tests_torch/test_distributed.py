"""Two processes with half of the rows each train the same head as one process with all of them."""

import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from ldlf.torch import ForestHead
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.hidden = nn.Linear(6, 8, dtype=torch.float64)
        self.head = ForestHead(8, n_labels=4, trees=3, depth=4, leaf_every=3, leaf_prior=0.1, dtype=torch.float64)

    def forward(self, x, targets=None):
        return self.head(torch.tanh(self.hidden(x)), targets)


def data():
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(64, 6, dtype=torch.float64, generator=generator)
    return x, torch.softmax(torch.randn(64, 4, dtype=torch.float64, generator=generator), dim=1)


def train(model, x, targets):
    optimiser = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(8):
        optimiser.zero_grad()
        model(x, targets).backward()
        optimiser.step()


def worker(rank, port, path):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.set_num_threads(1)
    network = Network()
    x, targets = data()
    train(DistributedDataParallel(network), x[rank::2], targets[rank::2])
    network.head.update_leaves()
    torch.save(network.state_dict(), f"{path}/{rank}.pt")
    dist.destroy_process_group()


def test_two_processes_train_the_head_that_one_trains(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(worker, args=(port, str(tmp_path)), nprocs=2)
    alone = Network()
    start = alone.head.leaves.clone()
    train(alone, *data())
    alone.head.update_leaves()
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in range(2))
    for name, value in alone.state_dict().items():
        torch.testing.assert_close(first[name], value, rtol=0, atol=1e-10)
        torch.testing.assert_close(first[name], second[name], rtol=0, atol=0)
    assert not torch.allclose(first["head.leaves"], start)
