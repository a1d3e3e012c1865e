"""The forest as a scikit-learn classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ._estimators import LDLForest, LDLForestParameters
from ._signature import with_parameters_of
from ._targets import Labels

if TYPE_CHECKING:
    from typing_extensions import Unpack


class LDLForestClassifier(ClassifierMixin, LDLForest):
    """:class:`LDLForest` for one label per row: ``predict`` gives the label and ``score`` the accuracy, as stacking, calibration
    and voting expect. ``predict_proba`` gives the distribution.

    Parameters
    ----------
    class_weight : dict of label to weight, or "balanced", optional
        How much rows of each class count, beside ``sample_weight``; ``"balanced"`` gives every class the same weight in all.
    **parameters
        As of :class:`LDLForest`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ldlf import LDLForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = LDLForestClassifier(trees=5, min_iterations=300, epochs=1).fit(X, y)
    >>> classifier.predict(X[:3]).tolist()
    [0, 0, 0]
    >>> classifier.score(X, y) > 0.9
    True
    """

    class_weight: Any

    def __init__(self, *, class_weight: Any = None, **parameters: Unpack[LDLForestParameters]) -> None:
        super().__init__(**parameters)
        self.class_weight = class_weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def _checked_y(self, y: Any) -> Any:
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        return y

    def _row_weights(self, sample_weight: Any, rows: Any, y: Any) -> np.ndarray | None:
        weights = super()._row_weights(sample_weight, rows, y)
        if self.class_weight is None:
            return weights
        by_class: np.ndarray = compute_sample_weight(self.class_weight, y)
        return by_class if weights is None else weights * by_class

    def _score_out_of_fold(
        self, found: np.ndarray, targets: np.ndarray, labels: Labels, weights: np.ndarray | None
    ) -> float:
        return float(np.average(found.argmax(axis=1) == targets.argmax(axis=1), weights=weights))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable label of every row."""
        return self.predict_label(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The fraction of rows whose most probable label is y."""
        return float(ClassifierMixin.score(self, X, y, sample_weight))


with_parameters_of(LDLForest, LDLForestClassifier)
