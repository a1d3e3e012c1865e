"""Scorers for ``cross_validate`` and ``GridSearchCV``: higher is better for all, so distances carry the prefix ``neg_``.

They score the estimators of this package, pipelines and searches that end in one, and any other model that predicts one number per
label, such as scikit-learn's ``RandomForestRegressor``, so that all stand in one table.

>>> from sklearn.ensemble import RandomForestRegressor
>>> from sklearn.model_selection import cross_validate
>>> from ldlf import MeanLDL
>>> from ldlf.datasets import make_mixture
>>> from ldlf.scorers import SCORERS
>>> X, y = make_mixture(90)
>>> scoring = {name: SCORERS[name] for name in ("neg_kl", "fidelity")}
>>> ours, theirs = (cross_validate(m, X, y, cv=3, scoring=scoring) for m in (MeanLDL(), RandomForestRegressor(10)))
>>> bool(ours["test_neg_kl"].max() < 0 < theirs["test_fidelity"].min())
True
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics._scorer import _BaseScorer

from . import _engine, _inputs, _targets, measures
from ._base import with_unseen
from .measures import MEASURES

if TYPE_CHECKING:
    from typing_extensions import Self


class MeasureScorer(_BaseScorer):
    """Scores distributions by a measure of :data:`ldlf.measures.MEASURES`, with the sign that makes higher better.

    y is what ``fit`` takes; its columns are found by name, of another library's model by its ``classes_``. A measure of ordered labels compares with y where it is one number per row;
    where y holds distributions, it reads the true value off them as it does off the predictions. With scikit-learn's metadata routing,
    ``SCORERS["neg_kl"].set_score_request(sample_weight=True)`` gives a scorer that counts rows by their weights.
    """

    def __init__(self, measure: str) -> None:
        if measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
        sign = 1 if MEASURES[measure].higher_is_better else -1
        super().__init__(getattr(measures, measure), sign, {}, response_method="predict")
        self.measure = measure

    @property
    def sign(self) -> float:
        """1 where a higher measure is better, else -1."""
        return float(self._sign)

    def set_score_request(self, **requests: Any) -> Self:
        """A scorer of the same measure that requests metadata; the one in ``SCORERS`` stays as it is."""
        own = copy.deepcopy(self)
        super(MeasureScorer, own).set_score_request(**requests)
        return own

    # scikit-learn's takes further arguments for the measure, of which ours has none.
    def __call__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, estimator: Any, X: Any, y_true: Any, sample_weight: Any = None
    ) -> float:
        """The score of a fitted estimator on rows."""
        return self._score(None, estimator, X, y_true, sample_weight=sample_weight)

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, sample_weight: Any = None) -> float:
        inner = _last_step(estimator)
        if inner is None:
            return self.sign * self._of_other(estimator, X, y_true, sample_weight)
        values = np.asarray(inner._values(self.measure)) if MEASURES[self.measure].ordered else None
        distributions = np.ascontiguousarray(_distributions(estimator, X), dtype=np.float32)
        weights = _inputs.weights(sample_weight, distributions)
        if values is None:
            truth, unseen = _targets.scored(y_true, inner._labels, strict=inner.label_values is not None)
            found = with_unseen(distributions, unseen)
            return self.sign * _engine.measure(self.measure, truth, found, weights)
        truth, singles = _targets.for_ordered(y_true, values, lambda y: _targets.encoded(y, inner._labels))
        return self.sign * _engine.measure(self.measure, truth, distributions, weights, values.tolist(), singles)

    def _of_other(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> float:
        """The measure of a model of another library: ``predict_proba`` of a classifier, else ``predict``."""
        classes = getattr(estimator, "classes_", None)
        rows = np.asarray(estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else estimator.predict(X))
        if rows.ndim != 2:
            raise TypeError(
                f"{type(estimator).__name__} predicts no distributions; {self.measure} needs one number per label and row"
            )
        known = classes.tolist() if isinstance(classes, np.ndarray) and classes.shape == rows.shape[1:] else None
        truth, columns = _targets._array(y)
        if truth.ndim == 2:
            if truth.shape[1] != rows.shape[1]:
                raise ValueError(f"y has {truth.shape[1]} labels, the model {rows.shape[1]}")
            if columns is not None and known is not None:
                found = _targets._distinct(_targets._texts(columns))
                truth = truth[:, _targets.place_by_name(found, _targets._texts(known), "y", "the model", must=True)]
        if not MEASURES[self.measure].ordered:
            if truth.ndim == 1 and known is not None:
                truth, unseen = _targets.scored(y, _targets.Labels(np.asarray(classes), None, None), strict=False)
                rows = with_unseen(rows, unseen)
            return float(self._score_func(truth, rows, sample_weight=sample_weight))
        # Without classes, the numbers that the model predicts stand for y's columns.
        named = columns if known is None else known
        values = None if named is None else _targets._as_numbers(named)
        if values is None:
            raise ValueError(
                f"{self.measure} needs labels that stand for numbers; the classes of the model or the columns of y name none"
            )
        rising = np.argsort(values)
        truth = truth[:, rising] if truth.ndim == 2 else truth
        return float(self._score_func(truth, rows[:, rising], label_values=values[rising], sample_weight=sample_weight))

    def __repr__(self) -> str:
        return f"MeasureScorer({self.measure!r})"


def _last_step(estimator: Any) -> Any:
    """The estimator of ours inside a pipeline or a search, if there is one."""
    while not hasattr(estimator, "_labels"):
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return None
    return estimator


def _distributions(estimator: Any, X: Any) -> Any:
    """What a pipeline or search around an estimator of ours predicts; a regressor has no ``predict_proba``."""
    if hasattr(estimator, "predict_proba"):
        return estimator.predict_proba(X)
    if hasattr(estimator, "best_estimator_"):
        return _distributions(estimator.best_estimator_, X)
    if hasattr(estimator, "steps"):
        before = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        return _distributions(estimator.steps[-1][1], before)
    return estimator.predict_dist(X).probabilities


#: Every scorer by its name.
SCORERS: dict[str, MeasureScorer] = {
    ("" if measure.higher_is_better else "neg_") + name: MeasureScorer(name) for name, measure in MEASURES.items()
}

neg_kl = SCORERS["neg_kl"]

__all__ = ["SCORERS", "MeasureScorer", "neg_kl"]
