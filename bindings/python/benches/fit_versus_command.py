#!/usr/bin/env python3
"""How much Python adds to a fit: LDLForest.fit and `ldlf train` with the same parameters, in turn, and the ratio of their processor times.

Both are of the training alone, on one thread: from arrays in memory to a model in memory here; there the whole command less what it takes with the learner
`mean`, which reads and writes the same files. Other programs on the machine hardly change processor times. The two models must have the same bytes. Needs the
package, SciPy, the release build of the command, and Movie.mat and Natural_Scene.mat (in ldl/ under --data).
"""

import argparse
import os
import resource
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
    parser.add_argument("--repeats", type=int, default=30)
    given = parser.parse_args()
    for name in ("Movie", "Natural_Scene"):
        compare(given, name)


def compare(given, name):
    path = given.data / "ldl" / f"{name}.mat"
    table = loadmat(path)
    X, y = table["features"], table["labels"]
    settings = {"choose": "false", "epochs": "none", "iterations": given.iterations}
    forest = LDLForest(choose=False, epochs=None, iterations=given.iterations, n_jobs=1)

    def of_python():
        start = time.process_time()
        forest.fit(X, y)
        return time.process_time() - start

    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "model.ldlf"

        def of_command(*learner):
            words = [given.command, "-q", "train", path, *learner, "--threads", 1, "--out", saved, "--force"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([str(word) for word in words], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        files = statistics.median(of_command("--learner", "mean") for _ in range(5))
        chosen = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        of_python()
        pairs = [(of_python(), of_command(*chosen) - files) for _ in range(given.repeats)]
        assert forest.to_bytes() == saved.read_bytes(), "the models differ"
    ratios = sorted(python / command for python, command in pairs)
    print(f"{name}, {given.iterations} iterations, one thread, {given.repeats} runs each in turn; same bytes")
    for side, times in zip(("LDLForest.fit", "ldlf train"), zip(*pairs)):
        print(f"{side:14} median {statistics.median(times):.3f} s ({min(times):.3f} to {max(times):.3f})")
    quarter = len(ratios) // 4
    print(
        f"ratio          median {statistics.median(ratios):.3f} (quartiles {ratios[quarter]:.3f}, {ratios[-1 - quarter]:.3f})"
    )


if __name__ == "__main__":
    main()
