"""The forest as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ._base import Progress
from ._estimators import LDLForest

if TYPE_CHECKING:
    from typing_extensions import Self


class LDLForestClassifier(ClassifierMixin, LDLForest):
    """:class:`LDLForest` for one label per row: ``predict`` gives the label and ``score`` the accuracy, as stacking, calibration
    and voting expect. ``predict_proba`` gives the distribution. Parameters are those of :class:`LDLForest`.

    >>> from sklearn.datasets import load_iris
    >>> from ldlf import LDLForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = LDLForestClassifier(trees=5, min_iterations=300, epochs=1).fit(X, y)
    >>> classifier.predict(X[:3]).tolist()
    [0, 0, 0]
    >>> classifier.score(X, y) > 0.9
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        callback: Callable[[Progress], bool | None] | None = None,
    ) -> Self:
        """Learns from rows with one label each; see :meth:`LDLForest.fit`."""
        if y is not None:
            y = column_or_1d(y, warn=True)
            check_classification_targets(y)
        return super().fit(X, y, sample_weight, callback=callback)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable label of every row."""
        return self.predict_label(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The fraction of rows whose most probable label is y."""
        return ClassifierMixin.score(self, X, y, sample_weight)
