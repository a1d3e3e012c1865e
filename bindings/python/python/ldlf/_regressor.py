"""The forest as a scikit-learn regressor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import column_or_1d

from . import _engine, _targets
from ._distribution import LabelDistribution
from ._estimators import LDLForest, LDLForestParameters
from ._signature import with_parameters_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Labels that continuous numbers are spread over, and the most that whole numbers make.
GRID, MOST = 64, 500

#: The spread of a number where none is given, in standard deviations of y.
SPREAD = 0.2


class LDLForestRegressor(RegressorMixin, LDLForest):
    """:class:`LDLForest` for one number per row: ``predict`` gives the mean or the median of its distribution and ``score`` R², as
    pipelines, ``neg_mean_absolute_error`` and partial dependence expect. ``predict_dist`` and ``predict_interval`` give the rest.

    Parameters
    ----------
    estimate : {"mean", "median"}, default="mean"
        What ``predict`` gives. The median has the smaller absolute error, the mean the smaller squared one.
    label_values : array of numbers, optional
        The numbers that distributions stand on, rising. Without it: the whole numbers from the smallest to the largest where all are
        whole, else 64 numbers at equal distances, two sigmas beyond both ends.
    sigma : float or one for each label, optional
        Standard deviation of the Gaussian around a row's number. Without it: a fifth of the standard deviation of y.
    **parameters
        As of :class:`LDLForest`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ldlf import LDLForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> regressor = LDLForestRegressor(trees=5, depth=4, iterations=200, min_iterations=200).fit(X, y)
    >>> regressor.predict(X[:2]).shape, regressor.predict_interval(X[:2], 0.9).shape
    ((2,), (2, 2))
    >>> regressor.score(X, y) > 0.4
    True
    """

    estimate: Literal["mean", "median"]

    def __init__(
        self, *, estimate: Literal["mean", "median"] = "mean", **parameters: Unpack[LDLForestParameters]
    ) -> None:
        super().__init__(**parameters)
        self.estimate = estimate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def _checked_y(self, y: Any) -> Any:
        if self.estimate not in ("mean", "median"):
            raise ValueError(f"estimate must be one of mean, median, got {self.estimate}")
        return column_or_1d(y, warn=True)

    def _learn_targets(self, y: Any) -> tuple[np.ndarray, _targets.Labels]:
        numbers = _targets._numbers(y, "y")
        if not np.isfinite(numbers).all():
            raise ValueError(f"y row {int(np.argmax(~np.isfinite(numbers)))}: Input y contains infinity")
        sigma = self.sigma if self.sigma is not None else SPREAD * float(numbers.std())
        values = self.label_values
        if values is None:
            whole = bool((numbers == np.round(numbers)).all()) and np.ptp(numbers) < MOST
            beyond = 2 * max(_targets.widths(sigma))
            low, high = numbers.min() - beyond, numbers.max() + beyond
            values = _engine.implied_labels(numbers) if whole or low == high else np.linspace(low, high, GRID)
        return _targets.learn(numbers, values, sigma)

    def _score_out_of_fold(
        self, found: np.ndarray, targets: np.ndarray, labels: _targets.Labels, weights: np.ndarray | None
    ) -> float:
        rows = LabelDistribution(found, labels.values)
        return float(
            r2_score(labels.singles, rows.mean() if self.estimate == "mean" else rows.median(), sample_weight=weights)
        )

    def predict(self, X: Any) -> np.ndarray:
        """The mean or the median of every row's distribution, of shape (rows,)."""
        found = self.predict_dist(X)
        return found.mean() if self.estimate == "mean" else found.median()

    @property
    def predict_proba(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """No regressor of scikit-learn has it: :meth:`predict_dist` gives the distribution."""
        raise AttributeError("a regressor has no predict_proba; predict_dist gives the distribution")

    @property
    def predict_log_proba(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """As :meth:`predict_proba`."""
        raise AttributeError("a regressor has no predict_log_proba; predict_dist gives the distribution")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination R² of ``predict``."""
        return float(RegressorMixin.score(self, X, y, sample_weight))


with_parameters_of(LDLForest, LDLForestRegressor)
