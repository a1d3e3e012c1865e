"""Why a model predicts what it predicts: what every column adds to the mean prediction."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _engine, _frames, _inputs, _report, _targets


@dataclass(frozen=True)
class Explanation:
    """What every column adds to the mean prediction: ``base_values + values.sum(axis=1)`` is the prediction.

    Attributes
    ----------
    values : ndarray of shape (rows, columns, labels)
        What a column adds to, or takes from, each label.
    base_values : ndarray of shape (labels,)
        The mean prediction over the background rows.
    columns : list of str
        The columns of X; categories and missing values count for their column.
    labels : list
        What the last axis stands for: ``classes_``, or ``"mean"``, or ``"value"`` of an estimator that predicts plain values.
    data : ndarray or None
        The rows of X as they were given, where X is an array or a pandas frame.
    method : str
        How the parts were found: along the splits of trees, or as Shapley values.
    label_values : ndarray or None
        The numbers that labels stand for.
    """

    values: np.ndarray
    base_values: np.ndarray
    columns: list[str]
    labels: list[Any]
    data: np.ndarray | None
    method: str
    label_values: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        rows, columns, labels = self.values.shape
        return f"Explanation({rows} rows, {columns} columns, {labels} labels, {self.method})"

    def mean(self) -> Explanation:
        """What every column adds to the predicted mean, of labels that stand for numbers: ``labels`` is ``["mean"]``."""
        if self.label_values is None:
            raise ValueError(
                "mean needs labels that stand for numbers; pass label_values, one number per label, before fit"
            )
        return replace(
            self,
            values=(self.values @ self.label_values)[..., None],
            base_values=np.array([self.base_values @ self.label_values]),
            labels=["mean"],
            label_values=None,
        )

    def moved(self) -> np.ndarray:
        """How far every column moves each row, of shape (rows, columns): the share of the probability that it moves, or of a single
        output its absolute part.
        """
        total: np.ndarray = np.abs(self.values).sum(axis=2)
        return total if len(self.labels) == 1 else total / 2

    def to_shap(self) -> Any:
        """As ``shap.Explanation``, for the figures of the package shap; a single output has no axis of labels."""
        try:
            import shap
        except ImportError as error:
            raise ImportError("to_shap needs the package shap; pip install shap") from error
        values, base = self.values, np.tile(self.base_values, (len(self), 1))
        several = len(self.labels) > 1
        return shap.Explanation(
            values=values if several else values[..., 0],
            base_values=base if several else base[:, 0],
            data=self.data,
            feature_names=self.columns,
            output_names=[str(label) for label in self.labels] if several else None,
        )


def rows_of(X: Any) -> np.ndarray | None:
    """The rows as shap shows them beside the parts, where they can be had without a copy of another library's table."""
    if isinstance(X, np.ndarray):
        return X
    return X.to_numpy() if hasattr(X, "iloc") else None


class ExplainsModels:
    """The methods of an estimator that say what its predictions depend on."""

    model_: _engine.Model
    classes_: np.ndarray
    label_values_: np.ndarray | None
    n_jobs: int | None
    _columns: str | None
    _gives_distributions: ClassVar[bool]
    _kept_rows: tuple[Any, np.ndarray]
    _labels: _targets.Labels

    def _checked_y(self, y: Any) -> Any:
        """The targets, if this estimator takes such."""
        return y

    @property
    def feature_importances_(self) -> np.ndarray:
        """By how much the K-L divergence rises when a feature is shuffled among (at most 200) training rows: permutation importance.

        Of a table with categories, dates or missing values, one number per column. After ``fit`` only: files keep no rows, and
        :meth:`permutation_importances` measures on rows of your own.
        """
        check_is_fitted(self)
        if not hasattr(self, "_kept_rows"):
            raise AttributeError(
                "feature_importances_ needs training rows, which files do not keep; permutation_importances(X, y) measures on yours"
            )
        return self._importances(*self._kept_rows)

    def permutation_importances(self, X: Any, y: Any) -> np.ndarray:
        """By how much the K-L divergence on these rows rises when a feature is shuffled among them; learners of plain values are measured
        by their absolute error. At most 1,000 rows are used, and the shuffles are always the same.

        Returns
        -------
        ndarray of shape (features,)
        """
        check_is_fitted(self)
        rows = _inputs.features(self, X, reset=False)
        truth = _targets.encoded(self._checked_y(y), self._labels)
        check_consistent_length(rows, truth)
        return self._importances(rows, truth.astype(np.float64))

    def _importances(self, rows: Any, targets: np.ndarray) -> np.ndarray:
        found = self.model_.importances(_inputs.for_engine(rows), targets, _inputs.threads(self.n_jobs))
        if self._columns is None:
            return found
        # The features of a column count together.
        ends = np.cumsum([_frames.width(column) for column in json.loads(self._columns)])
        return np.array([part.sum() for part in np.split(found, ends[:-1])])

    def explain(self, X: Any, *, background: Any = None) -> Explanation:
        """What every column adds to the mean prediction, row by row and label by label; the parts sum to the prediction.

        Along the splits of trees, soft ones too, which is exact and fast; these are not Shapley values. For other learners Shapley values
        of up to 6 columns, and estimates of them for more.

        Parameters
        ----------
        X : array, sparse matrix or table
            The rows to explain.
        background : array, sparse matrix or table, optional
            Rows whose mean prediction is the base. Without it: at most 200 of the training rows, or, since files keep no rows, X itself
            if the model was loaded.

        Examples
        --------
        >>> from ldlf import LDLForest
        >>> from ldlf.datasets import make_mixture
        >>> X, y = make_mixture(60)
        >>> forest = LDLForest(trees=5, depth=4, iterations=20, epochs=5, min_iterations=20).fit(X, y)
        >>> forest.explain(X[:2]).values.shape
        (2, 10, 5)
        """
        check_is_fitted(self)
        rows = _inputs.features(self, X, reset=False)
        if background is not None:
            behind = _inputs.features(self, background, reset=False)
        else:
            behind = self._kept_rows[0] if hasattr(self, "_kept_rows") else rows
        for name, given in (("X", rows), ("background", behind)):
            if given.shape[0] == 0:
                raise ValueError(f"{name} has no rows; explain needs at least one")
        method, columns, base, values = self.model_.explain(
            _inputs.for_engine(rows), _inputs.for_engine(behind), _inputs.threads(self.n_jobs)
        )
        labels = self.classes_.tolist() if self._gives_distributions else ["value"]
        numbers = self.label_values_ if self._gives_distributions else None
        return Explanation(values, base, columns, labels, rows_of(X), method, numbers)

    def report(self, path: Any, X: Any, y: Any, *, overwrite: bool = False) -> None:
        """Writes the page of ``ldlf report`` about the model on some rows: its facts, trees, importances, rows, in one HTML file."""
        _report.write(self, path, X, y, overwrite)
