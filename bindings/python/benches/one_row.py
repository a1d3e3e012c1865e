#!/usr/bin/env python3
"""How long a prediction of one row takes from Python: the least and the median of many calls, of single and double precision."""

import statistics
import time

import numpy as np
from ldlf import LDLForest
from ldlf.datasets import make_mixture


def main():
    X, y = make_mixture(500, features=20, labels=5)
    forests = {
        "20 trees of depth 7, one setting": LDLForest(trees=20, depth=7, choose=False, iterations=100, grown_trees=0),
        "defaults, which mix settings and grown trees": LDLForest(),
    }
    for name, forest in forests.items():
        forest.fit(X, y)
        for dtype in (np.float32, np.float64):
            row = X[:1].astype(dtype)
            times = []
            for _ in range(5000):
                start = time.perf_counter()
                forest.predict(row)
                times.append(time.perf_counter() - start)
            least, middle = 1e6 * min(times), 1e6 * statistics.median(times)
            print(f"{name}, {np.dtype(dtype)}: least {least:.0f}, median {middle:.0f} microseconds")


if __name__ == "__main__":
    main()
