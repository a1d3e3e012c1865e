"""What all estimators share."""

from __future__ import annotations

import difflib
import inspect
import json
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _engine, _inputs, _targets
from ._distribution import LabelDistribution, drawn
from ._files import SavesModels
from ._progress import Bar
from ._tables import PredictsTables

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class Progress:
    """The argument of a callback: one event of a running fit.

    ``event`` is ``"iteration"``, ``"leaf_update"`` or ``"validation"``; ``iteration`` counts from 1, ``total`` and ``loss`` come with
    iterations, ``kl`` (on held-out rows) with validations.
    """

    event: str
    iteration: int
    total: int | None = None
    loss: float | None = None
    kl: float | None = None


class LDLEstimator(SavesModels, PredictsTables, BaseEstimator):
    """A learner of label distributions with scikit-learn's interface. Use one of its subclasses.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        The columns seen in ``fit``; others, or the same in another order, raise.
    classes_ : ndarray
        What the columns of a distribution stand for: the labels of a 1-D y, ``label_values``, the names of y's columns, or
        0, 1, 2, ...
    label_values_ : ndarray or None
        The number that each label stands for, where labels stand for numbers.
    n_iter_ : int
        Iterations done; 0 for a learner that does not iterate.
    best_iteration_ : int
        The iteration whose model was kept: the best on held-out rows, else the last.
    stopped_ : str
        Why the fit ended: ``"finished"``, ``"converged"``, ``"early_stopping"``, ``"interrupted"`` and the like.
    inspection_ : list of (str, object)
        The model's own facts, as ``ldlf inspect`` shows them: sizes of a forest, what a search tried and kept.
    loss_curve_ : list of float
        The training loss of every iteration.
    validation_curve_ : list of (int, float)
        Iterations and the mean K-L divergence on the held-out rows, where the learner holds rows out.
    model_ : ldlf._engine.Model
        What was learnt.
    """

    _presets: ClassVar[dict[str, dict[str, Any]]] = {}
    #: What scikit-learn calls a parameter, and its name here.
    _known_as: ClassVar[dict[str, str]] = {}

    # Shared parameters; the generated __init__ of every estimator sets them.
    label_values: Any
    sigma: Any
    random_state: Any
    n_jobs: int | None
    verbose: bool

    def __new__(cls, *arguments: Any, **parameters: Any) -> Self:
        accepted = inspect.signature(cls.__init__).parameters
        for name in parameters:
            if name not in accepted and not any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
                close = difflib.get_close_matches(name, [*accepted, *cls._known_as], n=1)
                meant = cls._known_as.get(name) or (cls._known_as.get(close[0], close[0]) if close else None)
                hint = f"did you mean {meant!r}?" if meant else f"it has {', '.join(list(accepted)[1:])}"
                raise TypeError(f"{cls.__name__} has no parameter {name!r}; {hint}")
        return super().__new__(cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    @classmethod
    def from_preset(cls, preset: str, **parameters: Any) -> Self:
        """The estimator with a named set of parameters, and others over them. The class says which there are.

        >>> from ldlf import LDLForest
        >>> LDLForest.from_preset("paper", trees=10)
        LDLForest(batch_size=64, bias=False, choose=False, depth=7, dropout=0,
                  early_stopping=True, epochs=None, leaf_every=100, leaf_iterations=20,
                  leaf_prior=0, leaf_rows='batches', learning_rate=1, leave_out=0,
                  loss='trees', optimizer='sgd', scaling='standard',
                  schedule='constant', trees=10, units=64, warm_up=0, weight_decay=0)
        """
        if preset not in cls._presets:
            has = ", ".join(cls._presets) or "no presets"
            raise ValueError(f"{cls.__name__} has no preset {preset!r}; it has {has}")
        return cls(**{**cls._presets[preset], **parameters})

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        callback: Callable[[Progress], bool | None] | None = None,
    ) -> Self:
        """Learns from rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (rows, features)
            NumPy of single or double precision in any order, SciPy CSR (never made dense), pandas, polars or pyarrow.
        y : array or table of shape (rows, labels), or array of shape (rows,)
            Probabilities or vote counts; or one label per row, which becomes a distribution by ``sigma``, and without it has
            everything on that label. Names of columns become ``classes_``; where they are rising numbers, ``label_values_`` too.
        sample_weight : array of shape (rows,), optional
        callback : callable, optional
            Called with a :class:`Progress` on every event; returning ``True`` ends the fit with the best model so far.

        Returns
        -------
        The estimator itself. After Ctrl-C, which raises KeyboardInterrupt, it is fitted with the best model so far where the learner
        has one.
        """
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = _inputs.features(self, X, reset=True)
        targets, labels = self._learn_targets(y)
        check_consistent_length(X, targets)
        weights = _inputs.weights(sample_weight, X)
        self._warn_about_epochs(len(targets))
        self._seed = _inputs.seed(self.random_state)
        bar = Bar() if self.verbose else None

        def on_event(*event: Any) -> bool:
            progress = Progress(*event)
            if bar is not None:
                bar.show(progress)
            return bool(callback is not None and callback(progress))

        names = getattr(self, "feature_names_in_", None)
        try:
            model = _engine.fit(
                self._learner,
                _inputs.settings(self, self._declared),
                _inputs.for_engine(X),
                targets,
                weights,
                {
                    "feature_names": None if names is None else [str(name) for name in names],
                    "label_names": labels.names,
                    "label_values": None if labels.values is None else labels.values.tolist(),
                    "singles": None if labels.singles is None else (labels.singles, labels.sigma),
                },
                self._seed,
                _inputs.threads(self.n_jobs),
                on_event if callback is not None or bar is not None else None,
            )
        except KeyboardInterrupt as interrupt:
            kept = getattr(interrupt, "ldlf_model", None)
            if kept is not None:
                self._learnt(kept, labels)
            raise
        finally:
            if bar is not None:
                bar.close()
        self._learnt(model, labels)
        return self

    def _learn_targets(self, y: Any) -> tuple[np.ndarray, _targets.Labels]:
        return _targets.learn(y, self.label_values, self.sigma)

    def _warn_about_epochs(self, rows: int) -> None:
        """Says so where ``epochs`` was set, but ``min_iterations`` decides."""
        if not {"epochs", "min_iterations", "batch_size"} <= set(self._declared):
            return
        defaults = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items()}
        epochs, least = getattr(self, "epochs"), getattr(self, "min_iterations")  # noqa: B009
        if epochs in (None, defaults["epochs"]) or least != defaults["min_iterations"]:
            return
        iterations = math.ceil(rows * epochs / getattr(self, "batch_size"))  # noqa: B009
        if iterations < least:
            warnings.warn(
                f"epochs={epochs:g} would be {iterations} iterations, but min_iterations={least} is more and decides; "
                f"set min_iterations too, or iterations alone",
                stacklevel=3,
            )

    def _learnt(self, model: _engine.Model, labels: _targets.Labels) -> None:
        document = json.loads(model.document())
        summary = document["summary"]
        history = [Progress(*event) for event in model.history()]
        self.model_ = model
        self.classes_ = labels.classes
        self.label_values_ = labels.values
        self._labels = replace(labels, singles=None)
        self.n_iter_ = summary["iterations"]
        self.best_iteration_ = summary.get("best_iteration", self.n_iter_)
        self.stopped_ = summary["stopped"]
        self.inspection_ = [tuple(fact) for fact in document["inspection"]]
        self.loss_curve_ = [p.loss for p in history if p.event == "iteration" and p.loss is not None]
        self.validation_curve_ = [(p.iteration, p.kl) for p in history if p.event == "validation"]
        if "budget" in self._declared and history and "budget was spent" in str(self.inspection_):
            warnings.warn(
                f"budget={getattr(self, 'budget'):g} s ended the search, so that another machine or number of threads may give "  # noqa: B009
                "another model; raise budget for one that follows from the seed alone",
                stacklevel=3,
            )

    def _predict(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = _inputs.features(self, X, reset=False)
        if X.shape[0] == 0:
            shape = (0, len(self.classes_)) if self._gives_distributions else (0,)
            return np.empty(shape, dtype=np.float32 if self._gives_distributions else np.float64)
        return self.model_.predict(_inputs.for_engine(X), _inputs.threads(self.n_jobs))

    def _values(self, wanted: str) -> list[float]:
        check_is_fitted(self)
        if self._labels.values is None:
            raise ValueError(
                f"{wanted} needs labels that stand for numbers; pass label_values, one number per label, before fit"
            )
        return self._labels.values.tolist()


class DistributionEstimator(LDLEstimator):
    """An estimator whose predictions are distributions."""

    def predict(self, X: Any) -> np.ndarray:
        """The distribution of every row, of shape (rows, labels), in single precision."""
        return self._predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The same as :meth:`predict`, by the name that classifiers have."""
        return self._predict(X)

    def predict_label(self, X: Any) -> np.ndarray:
        """The most probable label of every row; of equal ones the first."""
        distributions = self._predict(X)
        return self.classes_[distributions.argmax(axis=1)]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of :meth:`predict_proba`."""
        return np.log(np.maximum(self._predict(X), np.finfo(np.float32).tiny))

    def predict_dist(self, X: Any) -> LabelDistribution:
        """The distributions as an object with mean, std, ppf, cdf, interval, sample and log_score; labels must stand for numbers.

        Examples
        --------
        >>> from ldlf import MeanLDL
        >>> model = MeanLDL(label_values=[1, 2, 3]).fit([[0.0]], [[1, 2, 1]])
        >>> model.predict_dist([[5.0], [6.0]])
        LabelDistribution(2 rows, 3 labels from 1 to 3)
        """
        values = self._values("predict_dist")
        return LabelDistribution(self._predict(X), values)

    def predict_mean(self, X: Any) -> np.ndarray:
        """The expected value of every row, for labels that stand for numbers."""
        values = self._values("predict_mean")
        return LabelDistribution(self._predict(X), values).mean()

    def predict_std(self, X: Any) -> np.ndarray:
        """The standard deviation of every row, for labels that stand for numbers."""
        values = self._values("predict_std")
        return LabelDistribution(self._predict(X), values).std()

    def predict_quantile(self, X: Any, q: Any = 0.5) -> np.ndarray:
        """The smallest value at which the cumulative probability reaches ``q``, for labels that stand for numbers.

        With several levels the result has one column each.
        """
        values = self._values("predict_quantile")
        return LabelDistribution(self._predict(X), values).ppf(q)

    def predict_interval(self, X: Any, level: Any = 0.8) -> np.ndarray:
        """The central interval that holds at least the share ``level``: shape (rows, 2), low and high.

        With several levels the shape is (rows, levels, 2).
        """
        values = self._values("predict_interval")
        return LabelDistribution(self._predict(X), values).interval(level)

    def predict_entropy(self, X: Any) -> np.ndarray:
        """The entropy of every row's distribution in nats: 0 for certainty."""
        return _engine.entropies(self._predict(X))

    def sample(self, X: Any, n_samples: int = 1, *, random_state: Any = None) -> np.ndarray:
        """Labels drawn from every row's distribution: shape (rows, n_samples)."""
        return self.classes_[drawn(self._predict(X), n_samples, random_state)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean K-L divergence of the predictions from y: higher is better, 0 is perfect.

        Columns of y are found by name. Unless ``label_values`` was given, a label that no training row had counts too.
        """
        distributions = self._predict(X)
        truth, unseen = _targets.scored(y, self._labels, strict=self.label_values is not None)
        check_consistent_length(truth, distributions)
        weights = _inputs.weights(sample_weight, distributions)
        return -_engine.measure("kl", truth, with_unseen(distributions, unseen), weights)


def with_unseen(distributions: np.ndarray, labels: int) -> np.ndarray:
    """The distributions with columns of zeros for labels that no training row had."""
    return np.pad(distributions, ((0, 0), (0, labels))) if labels else distributions


class ValueEstimator(LDLEstimator):
    """An estimator whose predictions are one value per row: labels must stand for numbers, and there is no distribution."""

    _gives_distributions = False

    def predict(self, X: Any) -> np.ndarray:
        """The value of every row, of shape (rows,)."""
        return self._predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean absolute error: from y where it is one number per row, else from the mean of its distribution."""
        found = self._predict(X)
        truth, _ = _targets._array(y)
        if truth.ndim == 2:
            truth = _engine.means(_targets.encoded(y, self._labels), self._values("score"))
        check_consistent_length(truth, found)
        weights = _inputs.weights(sample_weight, found)
        return -float(np.average(np.abs(found - np.asarray(truth, dtype=np.float64)), weights=weights))
