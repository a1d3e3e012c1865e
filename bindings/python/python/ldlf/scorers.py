"""Scorers for ``cross_validate`` and ``GridSearchCV``: higher is better for all, so distances carry the prefix ``neg_``.

>>> from sklearn.model_selection import cross_validate
>>> from ldlf import MeanLDL
>>> from ldlf.datasets import make_mixture
>>> from ldlf.scorers import SCORERS
>>> X, y = make_mixture(90)
>>> found = cross_validate(MeanLDL(), X, y, cv=3, scoring={name: SCORERS[name] for name in ("neg_kl", "fidelity")})
>>> bool(found["test_neg_kl"].max() < 0 < found["test_fidelity"].min())
True
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _engine, _targets
from .measures import MEASURES


class MeasureScorer:
    """Scores distributions by a measure of :data:`ldlf.measures.MEASURES`, with the sign that makes higher better.

    y is what ``fit`` takes. A measure of ordered labels compares with y where it is one number per row; where y holds
    distributions, it reads the true value off them as it does off the predictions.
    """

    def __init__(self, measure: str) -> None:
        if measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
        self.measure = measure
        self.sign = 1.0 if MEASURES[measure].higher_is_better else -1.0

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        inner = _last_step(estimator)
        values = np.asarray(inner._values(self.measure)) if MEASURES[self.measure].ordered else None
        distributions = np.ascontiguousarray(estimator.predict_proba(X), dtype=np.float32)
        weights = inner._weights(sample_weight, distributions)
        if values is None:
            truth = _targets.encoded(y, inner._labels, inner.sigma)
            return self.sign * _engine.measure(self.measure, truth, distributions, weights)
        truth, singles = _targets.for_ordered(y, values, lambda y: _targets.encoded(y, inner._labels, None))
        return self.sign * _engine.measure(self.measure, truth, distributions, weights, values.tolist(), singles)

    def __repr__(self) -> str:
        return f"MeasureScorer({self.measure!r})"


def _last_step(estimator: Any) -> Any:
    """The estimator of ours inside a pipeline or a search."""
    while not hasattr(estimator, "_labels"):
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            raise TypeError(f"{type(estimator).__name__} holds no fitted estimator of ldlf to score")
    return estimator


#: Every scorer by its name.
SCORERS: dict[str, MeasureScorer] = {
    ("" if measure.higher_is_better else "neg_") + name: MeasureScorer(name) for name, measure in MEASURES.items()
}

neg_kl = SCORERS["neg_kl"]

__all__ = ["SCORERS", "MeasureScorer", "neg_kl"]
