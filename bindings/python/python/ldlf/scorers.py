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
    """Scores distributions by a measure, with the sign that makes higher better."""

    def __init__(self, measure: str) -> None:
        self.measure = measure
        self.sign = 1.0 if MEASURES[measure][1] else -1.0

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        inner = _last_step(estimator)
        truth = _targets.known(y, inner._labels, inner.sigma)
        distributions = np.ascontiguousarray(estimator.predict_proba(X), dtype=np.float32)
        weights = inner._weights(sample_weight, distributions)
        return self.sign * _engine.measure(self.measure, truth, distributions, weights)

    def __repr__(self) -> str:
        return f"MeasureScorer({self.measure!r})"


class ErrorScorer:
    """Minus the mean absolute error of an answer (``"label"``, ``"mean"`` or ``"quantile"``, the median) for ordered labels.

    y is one number a row, or distributions, of which the same answer is taken.
    """

    def __init__(self, answer: str) -> None:
        self.answer = answer

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        inner = _last_step(estimator)
        values = inner._values(f"neg_mae_{self.answer}")
        found = self._read(np.ascontiguousarray(estimator.predict_proba(X), dtype=np.float32), values)
        truth, _ = _targets._array(y)
        if truth.ndim == 2:
            truth = self._read(_targets.known(y, inner._labels, None), values)
        errors = np.abs(found - np.asarray(truth, dtype=np.float64))
        return -float(np.average(errors, weights=sample_weight))

    def _read(self, distributions: np.ndarray, values: list[float]) -> np.ndarray:
        if self.answer == "mean":
            return _engine.means(distributions, values)
        if self.answer == "median":
            return _engine.quantiles(distributions, values, 0.5)
        return np.asarray(values)[distributions.argmax(axis=1)]

    def __repr__(self) -> str:
        return f"ErrorScorer({self.answer!r})"


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
SCORERS: dict[str, MeasureScorer | ErrorScorer] = {
    **{("" if higher else "neg_") + name: MeasureScorer(name) for name, (_, higher) in MEASURES.items()},
    **{f"neg_mae_{answer}": ErrorScorer(answer) for answer in ("mode", "mean", "median")},
}

neg_kl = SCORERS["neg_kl"]

__all__ = ["SCORERS", "ErrorScorer", "MeasureScorer", "neg_kl"]
