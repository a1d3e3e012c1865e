#!/usr/bin/env python3
"""Measures what a round of distributed training costs: seconds and bytes, with 1, 2 and 4 workers of one thread each.

    python benches/dask_scale.py --out experiments/scale/numbers.json

needs the package built from this repository with its extra `dask` installed. Rows are made on the workers. The coordinator and
the workers share this machine, so that more workers than cores gain nothing; `experiments/scale/run` writes the page.
"""

import argparse
import json
import multiprocessing
import os
import platform
import statistics
import sys
import time

import dask
import dask.array as da
import distributed
import ldlf.dask
import numpy as np
from distributed import Client, LocalCluster
from ldlf import _cluster
from ldlf._cluster import Here, Workers
from ldlf._shards import Shards

LABELS = 5
#: The default forest, and one with few parameters: what depends on bytes and what on rows can be told apart.
FORESTS = {
    "default": {"trees": 20, "depth": 7},
    "small": {"trees": 5, "depth": 5, "units": 64},
}


class Timed:
    """Notes the seconds and bytes of every round, and what the coordinator did between two of them."""

    notes: list = []
    spent: list = []

    def ask(self, question, for_newcomer):
        begun = time.perf_counter()
        answers = super().ask(question, for_newcomer)
        holders = getattr(self, "holders", [None])
        Timed.notes.append(
            {
                "task": task_of(question),
                "begun": begun,
                "ended": time.perf_counter(),
                "sent": len(question) * len(holders),
                "received": sum(map(len, answers)),
            }
        )
        return answers


class TimedShards(Shards):
    """Notes the processor's seconds of every answer: what a worker needs where it has a core for itself."""

    def answer(self, question):
        begun = time.thread_time()
        answer = super().answer(question)
        self.spent = [*getattr(self, "spent", []), (task_of(question), time.thread_time() - begun)]
        return answer

    def times(self):
        return self.spent


class TimedWorkers(Timed, Workers):
    def close(self):
        """Asks how long the answers took before the workers forget it."""
        if self.holders and all(holder.actor is not None for holder in self.holders):
            Timed.spent = self._ask_all("times", {holder.shards[0]: () for holder in self.holders})
        super().close()


class TimedHere(Timed, Here):
    pass


def task_of(question):
    """The name of a question's task, from the JSON at its head."""
    size = int.from_bytes(question[:8], "little")
    document = json.loads(json.loads(question[8 : 8 + size])["__metadata__"]["ldlf"])
    task = document["task"]
    return task if isinstance(task, str) else next(iter(task))


def spin(_):
    """A plain loop that needs one core and nothing else."""
    begun, total = time.perf_counter(), 0
    for number in range(5_000_000):
        total += number
    return time.perf_counter() - begun


def free_cores():
    """How many cores two loops at once get: 2 where nobody else works, less beside other programs."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(spin, range(2), chunksize=1)
        alone = min(spin(None) for _ in range(3))
        return 2 * alone / max(pool.map(spin, range(2), chunksize=1))


def rows_of(block, features, seed):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((block, features), dtype=np.float32)


def targets_of(X):
    scores = np.exp(X[:, :LABELS] * X[:, LABELS : 2 * LABELS])
    return scores / scores.sum(axis=1, keepdims=True)


def collections(rows, features, parts):
    block = rows // parts
    make, label = dask.delayed(rows_of), dask.delayed(targets_of)
    blocks = [make(block, features, seed) for seed in range(parts)]
    X = da.concatenate([da.from_delayed(part, (block, features), np.float32) for part in blocks])
    y = da.concatenate([da.from_delayed(label(part), (block, LABELS), np.float32) for part in blocks])
    return X, y


def measure(client, X, y, forest, batch, rounds):
    """The median step and leaf round of a short training."""
    Timed.notes, Timed.spent = [], []
    estimator = ldlf.dask.LDLForest(
        client,
        **FORESTS[forest],
        batch_size=batch,
        iterations=rounds,
        epochs=None,
        early_stopping=False,
        leaf_every=rounds,
        leaf_iterations=4,
        leaf_rows="batches" if batch * rounds <= 65536 else "auto",
        virtual_shards=16,
        n_jobs=1,
    )
    estimator.fit(X, y)
    steps = [note for note in Timed.notes if note["task"] == "step"][1:]
    leaves = [note for note in Timed.notes if note["task"] == "leaves"][1:]
    busiest = [max(round_) for round_ in zip(*([t for task, t in own if task == "step"] for own in Timed.spent))][1:]
    starts = [note["begun"] for note in Timed.notes if note["task"] == "step"][1:]
    whole = [later - earlier for earlier, later in zip(starts, starts[1:])]
    return {
        "forest": forest,
        "batch": batch,
        "parameters": int(np.prod(estimator.model_.array("weights").shape)),
        "step_seconds": statistics.median(note["ended"] - note["begun"] for note in steps),
        "round_seconds": statistics.median(whole),
        "round_seconds_all": whole,
        "busiest_cpu_seconds": statistics.median(busiest) if busiest else None,
        "sent": steps[-1]["sent"],
        "received": steps[-1]["received"],
        "leaf_seconds": statistics.median(note["ended"] - note["begun"] for note in leaves),
        "leaf_sent": leaves[-1]["sent"],
        "leaf_received": leaves[-1]["received"],
    }


def write(figures, path):
    """After every measurement, so that one that is cut short leaves what it has."""
    with open(path, "w") as file:
        file.write(json.dumps(figures, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--workers", default="1,2,4", help="numbers of workers, and 0 for one process without a cluster")
    parser.add_argument("--batches", default="65536,8192,1024")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    ldlf.dask.Workers, ldlf.dask.Here, _cluster.Shards = TimedWorkers, TimedHere, TimedShards
    X, y = collections(options.rows, options.features, 20)
    figures = {
        "rows": options.rows,
        "features": options.features,
        "labels": LABELS,
        "cores": os.cpu_count(),
        "versions": f"dask {dask.__version__}, distributed {distributed.__version__}, Python {platform.python_version()}",
        "machine": platform.machine(),
        "free_cores": [],
        "measured": [],
    }
    for workers in map(int, options.workers.split(",")):
        figures["free_cores"].append(free_cores())
        print(f"free cores: {figures['free_cores'][-1]:.2f}", file=sys.stderr, flush=True)
        plan = [(forest, int(batch)) for forest in FORESTS for batch in options.batches.split(",")]

        def run(client, X=X, y=y, workers=workers, plan=plan):
            for forest, batch in plan:
                rounds = options.rounds if batch >= 65536 and forest == "default" else 3 * options.rounds
                found = {"workers": workers, **measure(client, X, y, forest, batch, rounds)}
                figures["measured"].append(found)
                write(figures, options.out)
                print(
                    f"{workers} workers, {forest}, batch {batch}: {1e3 * found['round_seconds']:.1f} ms a round, "
                    f"{1e3 * (found['busiest_cpu_seconds'] or 0):.1f} ms of the busiest worker's processor, "
                    f"{found['sent'] + found['received']} bytes",
                    file=sys.stderr,
                    flush=True,
                )

        if workers == 0:
            run(None)
            continue
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit=None, dashboard_address=None) as cluster,
            Client(cluster, direct_to_workers=True) as client,
        ):
            # Made once for all measurements with this cluster.
            run(client, *client.persist([X, y]))


if __name__ == "__main__":
    main()
