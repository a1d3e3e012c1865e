"""Numbers for tests/measures_oracle.rs: `python measures.py > measures.json`, with numpy, scipy, scikit-learn and scoringrules.

Every measure is computed row by row by another library, or by numpy from its definition where no library has it.
"""

import json

import numpy as np
import scoringrules
from scipy.spatial.distance import jensenshannon
from scipy.stats import kendalltau, spearmanr, wasserstein_distance
from sklearn.metrics import cohen_kappa_score, mean_pinball_loss

rng = np.random.default_rng(7)
ROWS, LABELS = 12, 6
values = np.array([0.0, 1.0, 2.5, 3.0, 7.0, 10.0])
counts = rng.multinomial(9, rng.dirichlet(np.ones(LABELS), ROWS))
truth = (counts / 9.0).astype(np.float32)
predicted = rng.dirichlet(0.5 * np.ones(LABELS), ROWS).astype(np.float32)
singles = rng.uniform(0, 10, ROWS).round(2)
weights = rng.integers(1, 5, ROWS)

d, p = truth.astype(float), predicted.astype(float)
d, p = d / d.sum(1, keepdims=True), p / p.sum(1, keepdims=True)


def quantile(row, level):
    return values[np.searchsorted(np.cumsum(row), level - 1e-6)]


def over_votes(row, of):
    return float(sum(share * of(value) for share, value in zip(d[row], values) if share > 0))


def interval(row):
    return quantile(p[row], 0.05), quantile(p[row], 0.95)


def interval_score(row, y):
    low, high = interval(row)
    return float(scoringrules.interval_score(y, low, high, 0.1))


def pinball(row, y):
    levels = np.arange(1, 10) / 10
    return float(np.mean([mean_pinball_loss([y], [quantile(p[row], level)], alpha=level) for level in levels]))


def crps_of_single(row):
    return float(scoringrules.crps_ensemble(singles[row], values, ens_w=p[row], estimator="nrg"))


def wasserstein_2(row):
    # Quantile functions on the joint grid of both cumulative sums.
    a, b = np.cumsum(d[row]), np.cumsum(p[row])
    cuts = np.unique(np.concatenate([[0.0], a, b]))
    middles, widths = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)
    ends = [values[np.minimum(np.searchsorted(c, middles), LABELS - 1)] for c in (a, b)]
    return float(np.sqrt(np.sum(widths * (ends[0] - ends[1]) ** 2)))


def top(row, k):
    order = [set(np.argsort(-x[row], kind="stable")[:k]) for x in (d, p)]
    return len(order[0] & order[1]) / k


each = lambda of: [of(row) for row in range(ROWS)]
# scikit-learn weighs by the numbers of classes, which are evenly spaced.
even = np.arange(LABELS)

print(json.dumps({
    "label_values": values.tolist(),
    "truth": truth.tolist(),
    "predicted": predicted.tolist(),
    "singles": singles.tolist(),
    "weights": weights.tolist(),
    "rows": {
        "jensen_shannon": each(lambda i: float(jensenshannon(d[i], p[i])) ** 2),
        "log_score": each(lambda i: float(-np.sum(d[i] * np.log(p[i])))),
        "spearman": each(lambda i: float(spearmanr(d[i], p[i]).statistic)),
        "kendall": each(lambda i: float(kendalltau(d[i], p[i]).statistic)),
        "top_1": each(lambda i: top(i, 1)),
        "top_3": each(lambda i: top(i, 3)),
        "crps": each(lambda i: float(np.sum((np.cumsum(d[i]) - np.cumsum(p[i]))[:-1] ** 2 * np.diff(values)))),
        "emd_1": each(lambda i: float(wasserstein_distance(values, values, d[i], p[i]))),
        "emd_2": each(wasserstein_2),
        "pinball": each(lambda i: over_votes(i, lambda y: pinball(i, y))),
        "interval_score_90": each(lambda i: over_votes(i, lambda y: interval_score(i, y))),
        "coverage_90": each(lambda i: over_votes(i, lambda y: float(interval(i)[0] <= y <= interval(i)[1]))),
        "width_90": each(lambda i: float(interval(i)[1] - interval(i)[0])),
    },
    "rows_of_singles": {
        "crps": each(crps_of_single),
        "pinball": each(lambda i: pinball(i, singles[i])),
        "interval_score_90": each(lambda i: interval_score(i, singles[i])),
        "coverage_90": each(lambda i: float(interval(i)[0] <= singles[i] <= interval(i)[1])),
    },
    "even_kappa": cohen_kappa_score(d.argmax(1), p.argmax(1), weights="quadratic", sample_weight=weights, labels=even),
}))
