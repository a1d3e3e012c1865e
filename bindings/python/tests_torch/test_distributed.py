"""Several processes with a part of the rows each train the same head as one process with all of them."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from ldlf.torch import ForestHead, ForestLoss
from torch import nn
from torch.nn.parallel import DistributedDataParallel

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "torch_ddp.py"

#: Which rows of a mini-batch the two processes get: as many each; more to one; all to one, so that the other has none.
SHARES = {
    "equal": lambda rows, rank: rows[rank::2],
    "unequal": lambda rows, rank: rows[:5] if rank else rows[5:],
    "none": lambda rows, rank: rows[:0] if rank else rows,
}


class Network(nn.Module):
    def __init__(self, leaf_every=3):
        super().__init__()
        torch.manual_seed(0)
        self.hidden = nn.Linear(6, 8, dtype=torch.float64)
        self.head = ForestHead(
            8, n_labels=4, trees=3, depth=4, leaf_every=leaf_every, leaf_prior=0.1, dtype=torch.float64
        )

    def forward(self, x):
        return self.head(torch.tanh(self.hidden(x)))


def data():
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(64, 6, dtype=torch.float64, generator=generator)
    return x, torch.softmax(torch.randn(64, 4, dtype=torch.float64, generator=generator), dim=1)


def train(model, share=None, rank=0):
    """Eight steps, of which the last of every four has few rows. With a share, rows count as if all were in one place."""
    x, targets = data()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.5)
    criterion = ForestLoss(getattr(model, "module", model).head)
    for step in range(8):
        rows = torch.arange(64)[: 11 if step % 4 == 3 else 64]
        own = rows if share is None else share(rows, rank)
        scale = 1 if share is None else len(own) * 2 / len(rows)
        optimiser.zero_grad()
        (criterion(model(x[own]), targets[own]) * scale).backward()
        optimiser.step()


def learn_once(network, share=None, rank=0):
    """One mini-batch, of which a process may have no rows."""
    x, targets = data()
    rows = torch.arange(64)
    own = rows if share is None else share(rows, rank)
    ForestLoss(network.head)(network(x[own]), targets[own])


#: How the rows are shared out, and what DistributedDataParallel is told.
CASES = [("equal", {}), ("unequal", {"find_unused_parameters": True}), ("none", {"broadcast_buffers": False})]


def worker(rank, port, path):
    """Everything that needs two processes, in one pair of them: starting PyTorch is what takes time."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.set_num_threads(1)
    for share, options in CASES:
        network = Network()
        train(DistributedDataParallel(network, **options), SHARES[share], rank)
        network.head.update_leaves()
        torch.save(network.state_dict(), f"{path}/{share}-{rank}.pt")
    network = Network(leaf_every=None)
    learn_once(network, SHARES["none"], rank)
    network.head.update_leaves()
    torch.save(network.head.leaves, f"{path}/noted-by-one-{rank}.pt")
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder in which two processes left what they learnt."""
    folder = tmp_path_factory.mktemp("trained")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(worker, args=(port, str(folder)), nprocs=2)
    return folder


@pytest.mark.parametrize("share", [share for share, _ in CASES])
def test_two_processes_train_the_head_that_one_trains(trained, share):
    alone = Network()
    start = alone.head.leaves.clone()
    train(alone)
    alone.head.update_leaves()
    first, second = (torch.load(trained / f"{share}-{rank}.pt") for rank in range(2))
    for name, value in alone.state_dict().items():
        if ".noted_" in name:  # every process keeps its own rows
            continue
        torch.testing.assert_close(first[name], value, rtol=0, atol=1e-10)
        torch.testing.assert_close(first[name], second[name], rtol=0, atol=0)
    assert not torch.allclose(first["head.leaves"], start)


def test_a_process_that_noted_no_rows_takes_part_in_the_leaf_update(trained):
    alone = Network(leaf_every=None)
    learn_once(alone)
    alone.head.update_leaves()
    for rank in range(2):
        found = torch.load(trained / f"noted-by-one-{rank}.pt")
        torch.testing.assert_close(found, alone.head.leaves, rtol=0, atol=1e-12)


def test_the_example_runs_under_torchrun():
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", str(EXAMPLE)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    found = re.search(r"2 processes: loss (\S+)", run.stdout)
    assert found, run.stderr
    # Uniform leaves have ln 5 = 1.61.
    assert float(found[1]) < 1.5
