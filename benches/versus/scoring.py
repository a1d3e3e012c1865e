#!/usr/bin/env python3
"""Scores a large Parquet file with `ldlf predict` and with onnxruntime on the exported model, and prints rows/s and peak memory.

scoring.py [--rows 5000000] [--rounds 2] > scoring.md

Both sides read the same file, batch by batch, predict on the same number of threads and write distributions as Parquet. The first call
makes an environment with the pinned libraries (requirements-scoring.txt) and builds our side; the data lie in a temporary folder.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import environment

FEATURES, LABELS = 20, 5
# Of 1,024, 4,096, 16,384 and 65,536 onnxruntime was fastest with this: what lies between two of its operators stays in the cache.
BATCH = 1_024


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=5_000_000)
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--threads", type=int, default=os.cpu_count())
    options.add_argument("--ldlf", type=Path, help="our command, built already")
    options.add_argument("--theirs", nargs=3, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.theirs:
        return score_with_onnxruntime(*given.theirs, given.threads)
    if not environment.is_inside():
        program = given.ldlf or environment.build("ldlf", "ldlf-cli")
        environment.start_again(__file__, "--ldlf", program, ["requirements-scoring.txt"], given.threads)
    with tempfile.TemporaryDirectory() as folder:
        compare(given, Path(folder))


def compare(given: argparse.Namespace, folder: Path) -> None:
    import onnxruntime
    import pyarrow

    data, model, exported = folder / "rows.parquet", folder / "model.ldlf", folder / "model.onnx"
    write_rows(data, given.rows)
    ldlf = str(given.ldlf)
    train = [ldlf, "-q", "generate", "mixture", "--rows", "5000", "--features", str(FEATURES), "--labels", str(LABELS),
             "--out", folder / "train.csv"]
    subprocess.run(train, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([ldlf, "-q", "train", folder / "train.csv", "--labels", "label_*", "--out", model], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([ldlf, "-q", "export", model, "--onnx", exported], check=True)
    threads = str(given.threads)
    calls = {
        "`ldlf predict`": [ldlf, "-q", "predict", model, data, "--threads", threads, "--out"],
        "`ldlf predict --part-rows 1000000`": [ldlf, "-q", "predict", model, data, "--threads", threads, "--part-rows",
                                               "1000000", "--out"],
        "onnxruntime": [sys.executable, __file__, "--threads", threads, "--theirs", exported, data],
    }
    outcomes: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for number in range(given.rounds):
        for place, (name, call) in enumerate(calls.items()):
            outcomes[name].append(timed([*call, folder / f"scored-{number}-{place}.parquet"]))
    largest = agree(folder / "scored-0-0.parquet", folder / "scored-0-2.parquet")
    print(f"onnxruntime {onnxruntime.__version__}, pyarrow {pyarrow.__version__}, Python {platform.python_version()}; "
          f"{platform.machine()}, {os.cpu_count()} cores, {threads} threads each side.\n")
    print(f"{given.rows:,} rows of {FEATURES} single-precision columns, {data.stat().st_size / 1e6:.0f} MB of Parquet (zstd, groups of "
          f"{GROUP:,} rows); `sldlf` at its defaults (20 trees of depth 7, {LABELS} labels); whole processes, from start to the output "
          f"on disk; median of the rounds, {given.rounds} in number (least..most).\n")
    print("| | rows/s | seconds | peak memory |\n|---|---:|---:|---:|")
    for name, rounds in outcomes.items():
        seconds, memory = [s for s, _ in rounds], max(m for _, m in rounds)
        middle = statistics.median(seconds)
        print(f"| {name} | {given.rows / middle:,.0f} | {middle:.1f} ({min(seconds):.1f}..{max(seconds):.1f}) | {memory:.0f} MB |")
    print(f"\nThe two outputs differ by at most {largest:.1e} in any share.")


#: Rows of a row group of the data.
GROUP = 500_000


def write_rows(path: Path, rows: int) -> None:
    """Normal numbers, a row group at a time."""
    import numpy
    import pyarrow
    import pyarrow.parquet

    generator = numpy.random.default_rng(0)
    schema = pyarrow.schema([(f"x_{column + 1}", pyarrow.float32()) for column in range(FEATURES)])
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, rows, GROUP):
            block = generator.standard_normal((FEATURES, min(GROUP, rows - start)), dtype=numpy.float32)
            writer.write_table(pyarrow.table(list(block), schema=schema), row_group_size=GROUP)


def timed(call: list) -> tuple[float, float]:
    """The seconds of a process and its peak memory in MB."""
    started = time.perf_counter()
    process = subprocess.Popen([str(word) for word in call])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{call[0]} ended with {process.returncode}")
    return seconds, usage.ru_maxrss / 1000


def score_with_onnxruntime(model: str, data: str, out: str, threads: int) -> None:
    import numpy
    import onnxruntime
    import pyarrow
    import pyarrow.parquet

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    file = pyarrow.parquet.ParquetFile(data)
    schema = pyarrow.schema([(f"label_{label + 1}", pyarrow.float32()) for label in range(LABELS)])
    with pyarrow.parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        waiting = []
        for batch in file.iter_batches(batch_size=BATCH):
            rows = numpy.column_stack([batch.column(column) for column in range(batch.num_columns)])
            [found] = session.run(["distributions"], {"features": rows})
            waiting.append(pyarrow.record_batch([found[:, label].copy() for label in range(LABELS)], schema=schema))
            if len(waiting) * BATCH >= GROUP:
                writer.write_table(pyarrow.Table.from_batches(waiting))
                waiting = []
        if waiting:
            writer.write_table(pyarrow.Table.from_batches(waiting))


def agree(first: Path, second: Path) -> float:
    """The largest difference between two tables."""
    import numpy
    import pyarrow.parquet

    largest = 0.0
    files = [pyarrow.parquet.ParquetFile(path) for path in (first, second)]
    for one, other in zip(*(file.iter_batches(batch_size=100_000) for file in files)):
        for ours, theirs in zip(one.columns, other.columns):
            largest = max(largest, float(numpy.abs(numpy.asarray(ours) - numpy.asarray(theirs)).max()))
    return largest


if __name__ == "__main__":
    main()
