"""Makes statistics.json: what SciPy says about small samples. Run from this folder; needs scipy and numpy.

The exact Wilcoxon probabilities with ties are counted over all signs here, because SciPy leaves ties to an approximation.
"""
import itertools
import json

import numpy as np
from scipy import stats

rng = np.random.default_rng(20170504)


def friedman(table):
    table = np.asarray(table)
    n, k = table.shape
    chi2, p = stats.friedmanchisquare(*table.T)
    f = (n - 1) * chi2 / (n * (k - 1) - chi2)
    return {
        "values": table.tolist(),
        "ranks": stats.rankdata(table, axis=1).tolist(),
        "chi2": chi2,
        "chi2_p": p,
        "f": f,
        "f_p": stats.f.sf(f, k - 1, (k - 1) * (n - 1)),
    }


def counted(a, b):
    d = np.asarray(a) - np.asarray(b)
    d = d[d != 0]
    ranks = stats.rankdata(np.abs(d))
    smaller = min(ranks[d > 0].sum(), ranks[d < 0].sum())
    sums = [sum(r for r, s in zip(ranks, signs) if s) for signs in itertools.product([0, 1], repeat=len(d))]
    return min(1.0, 2 * np.mean(np.asarray(sums) <= smaller + 1e-9))


def wilcoxon(a, b, p):
    d = np.asarray(a) - np.asarray(b)
    d = d[d != 0]
    ranks = stats.rankdata(np.abs(d))
    return {"a": list(map(float, a)), "b": list(map(float, b)), "positive": float(ranks[d > 0].sum()), "p": float(p)}


tables = [
    rng.normal(size=(6, 4)).round(3),
    rng.integers(0, 4, size=(9, 5)) / 4,  # many ties
    rng.normal(size=(14, 3)).round(3) + [0, 0.5, 1.2],
]
a, b = rng.normal(size=12).round(3), rng.normal(0.6, 1, size=12).round(3)
c, d = rng.integers(0, 12, size=11) / 4, rng.integers(0, 12, size=11) / 4  # ties and zeros
e, f = rng.integers(0, 40, size=80) / 8, rng.integers(5, 45, size=80) / 8
pairs = [
    wilcoxon(a, b, stats.wilcoxon(a, b, method="exact").pvalue),
    wilcoxon(c, d, counted(c, d)),
    wilcoxon(e, f, stats.wilcoxon(e, f, method="approx", correction=False).pvalue),
]
ranges = [{"k": k, "alpha": alpha, "q": stats.studentized_range.ppf(1 - alpha, k, np.inf) / 2**0.5}
          for k in (2, 3, 5, 10, 16) for alpha in (0.05, 0.1)]
with open("statistics.json", "w") as out:
    json.dump({"friedman": [friedman(t) for t in tables], "wilcoxon": pairs, "nemenyi": ranges}, out, indent=1)
    out.write("\n")
