#!/usr/bin/env python3
"""How much Python adds to a fit: LDLForest.fit and `ldlf train` on Movie with the same parameters, in turn, and their ratio.

Both times are of the training alone, from arrays in memory to a model in memory, on the same number of threads. The two models
must have the same bytes. Needs the package, SciPy, the release build of the command, and Movie.mat (in ldl/ under --data).
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from ldlf import LDLForest
from scipy.io import loadmat

REPOSITORY = Path(__file__).resolve().parents[3]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    data = os.environ.get("LDLF_DATA", REPOSITORY.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(data))
    parser.add_argument("--command", type=Path, default=REPOSITORY / "target" / "release" / "ldlf")
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    path = given.data / "ldl" / "Movie.mat"
    movie = loadmat(path)
    X, y = movie["features"], movie["labels"]
    settings = {"iterations": given.iterations, "min_iterations": given.iterations}
    forest = LDLForest(**settings, n_jobs=given.threads)
    folder = tempfile.TemporaryDirectory()
    saved = Path(folder.name) / "movie.ldlf"
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    words = ["-q", "train", path, *words, "--threads", given.threads, "--out", saved, "--force", "--json"]

    def of_python():
        start = time.perf_counter()
        forest.fit(X, y)
        return time.perf_counter() - start

    def of_command():
        out = subprocess.run([given.command, *map(str, words)], check=True, capture_output=True, text=True).stdout
        return json.loads(out)["seconds"]

    of_python()
    pairs = [(of_python(), of_command()) for _ in range(given.repeats)]
    assert forest.to_bytes() == saved.read_bytes(), "the models differ"
    ratios = sorted(python / command for python, command in pairs)
    print(
        f"Movie, {given.iterations} iterations, {given.threads} threads, {given.repeats} runs each in turn; same bytes"
    )
    for name, times in zip(("LDLForest.fit", "ldlf train"), zip(*pairs)):
        print(f"{name:14} median {statistics.median(times):.3f} s ({min(times):.3f} to {max(times):.3f})")
    print(
        f"ratio          median {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}); target: at most 1.05"
    )


if __name__ == "__main__":
    main()
