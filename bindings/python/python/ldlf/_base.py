"""What all estimators share."""

from __future__ import annotations

import difflib
import functools
import inspect
import json
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _engine, _frames, _inputs, _targets
from ._card import ShowsItself
from ._distribution import LabelDistribution, drawn
from ._explain import ExplainsModels
from ._files import SavesModels
from ._progress import Bar
from ._tables import PredictsTables

if TYPE_CHECKING:
    from typing_extensions import Self


#: Training rows that an estimator keeps to measure the importance of features on.
KEPT_ROWS = 200

#: Depths of soft trees beyond which a fit is warned about.
DEEP = 14


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


class LDLEstimator(ShowsItself, SavesModels, PredictsTables, ExplainsModels, BaseEstimator):
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
    oof_prediction_ : ndarray of shape (rows, labels)
        What the model says about its training rows without having seen them: every tree leaves out some rows. Of a forest with
        ``leave_out`` above 0, after ``fit``; not kept in model files.
    oob_score_ : float
        The score of ``oof_prediction_``: an honest estimate of ``score`` on new rows.
    model_ : ldlf._engine.Model
        What was learnt.
    """

    _presets: ClassVar[dict[str, dict[str, Any]]] = {}
    #: How the columns of a table become features, as JSON, where they are more than numbers.
    _columns: str | None = None
    #: Columns that training on numbers alone left out: names that come later must be the others, in their order. None where columns
    #: are found by name.
    _left_out: list[str] | None = None
    #: Whether tables of numbers alone follow the rules of the command too.
    _infers_numbers: ClassVar[bool] = True
    #: Where the last fit stood, if it may be continued (``warm_start``).
    _checkpoint: bytes | None = None
    #: What scikit-learn calls a parameter, and its name here.
    _known_as: ClassVar[dict[str, str]] = {}

    feature_names_in_: np.ndarray

    # Shared parameters; the generated __init__ of every estimator sets them.
    label_values: Any
    sigma: Any
    random_state: Any
    n_jobs: int | None
    verbose: bool

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "__init__" in cls.__dict__:
            setattr(cls, "__init__", _by_any_name(cls.__init__))  # noqa: B010

    def __new__(cls, *arguments: Any, **parameters: Any) -> Self:
        accepted = inspect.signature(cls.__init__).parameters
        for name in cls._own_names(parameters):
            if name not in accepted and not any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
                close = difflib.get_close_matches(name, [*accepted, *cls._known_as], n=1)
                meant = cls._known_as.get(name) or (cls._known_as.get(close[0], close[0]) if close else None)
                hint = f"did you mean {meant!r}?" if meant else f"it has {', '.join(list(accepted)[1:])}"
                if name == "warm_start":
                    hint = "its fits cannot be continued, those of LDLForest and NeuralDecisionForestLDL can"
                raise TypeError(f"{cls.__name__} has no parameter {name!r}; {hint}")
        made: Self = super().__new__(cls)
        return made

    @classmethod
    def _own_names(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters with ours in place of scikit-learn's names."""
        own: dict[str, Any] = {}
        for name, value in parameters.items():
            meant = cls._known_as.get(name, name)
            if meant in own or (meant != name and meant in parameters):
                raise TypeError(f"{cls.__name__}: {meant!r} is given twice, also by another library's name for it")
            own[meant] = value
        return own

    def set_params(self, **params: Any) -> Self:
        """Sets parameters, also by scikit-learn's names for them; ``get_params`` gives ours.

        >>> from ldlf import LDLForest
        >>> LDLForest(n_estimators=10).set_params(max_iter=500)
        LDLForest(iterations=500, trees=10)
        """
        super().set_params(**self._own_names(params))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    def _reads_images(self) -> bool:
        """Whether rows are images, not lines of a table."""
        return False

    @classmethod
    def from_preset(cls, preset: str, **parameters: Any) -> Self:
        """The estimator with a named set of parameters, and others over them. The class says which there are.

        >>> from ldlf import LDLForest
        >>> forest = LDLForest.from_preset("paper", trees=10)
        >>> forest.trees, forest.depth, forest.units, forest.optimizer
        (10, 7, 64, 'sgd')
        """
        if preset not in cls._presets:
            has = ", ".join(cls._presets) or "no presets"
            raise ValueError(f"{cls.__name__} has no preset {preset!r}; it has {has}")
        return cls(**{**cls._presets[preset], **cls._own_names(parameters)})

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        callback: Callable[[Progress], bool | None] | None = None,
        calibrate: float | None = None,
    ) -> Self:
        """Learns from rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (rows, features)
            NumPy of single or double precision in any order, SciPy CSR (never made dense), pandas, polars (lazy too) or pyarrow.
            Columns with names follow the rules of the command: texts, categories, booleans, dates and missing values become features;
            identifiers and running numbers are left out, and a warning says so. An array is taken as it is.
        y : array or table of shape (rows, labels), or array of shape (rows,)
            Probabilities or vote counts; or one label per row, which becomes a distribution by ``sigma``, and without it has
            everything on that label. An ordered Categorical of pandas or an Enum of polars says which labels there are, in which order.
            Names of columns become ``classes_``; where they are rising numbers, ``label_values_`` too.
        sample_weight : array of shape (rows,), or "votes", optional
            ``"votes"`` weighs every row by its number of votes, the sum of its y; otherwise 3 votes count as much as 300.
        eval_set : (X, y), optional
            Your own validation rows, for early stopping; otherwise a fraction of the training rows is held out. Only for forests
            with ``choose=False, leave_out=0`` and for boosting with ``refit=False``: others learn from all rows they are given.
        callback : callable, optional
            Called with a :class:`Progress` on every event; returning ``True`` ends the fit with the best model so far.
        calibrate : float, optional
            The fraction of the rows that is held out of the training, for intervals and label sets with a promise and for spreads. Without it
            only learners with out-of-fold predictions, such as the forest, have them.

        Returns
        -------
        The estimator itself. After Ctrl-C, which raises KeyboardInterrupt, it is fitted with the best model so far where the learner
        has one.
        """
        if calibrate is not None and eval_set is not None:
            raise ValueError("calibrate holds out rows of X and y, which does not go with eval_set; give one of them")
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        y = self._checked_y(y)
        X = _inputs.features(self, X, reset=True)
        targets, labels = self._learn_targets(y)
        check_consistent_length(X, targets)
        weights = self._row_weights(sample_weight, X, y)
        validation_rows = 0
        if eval_set is not None:
            X, targets, weights, labels, validation_rows = self._with_validation_rows(
                eval_set, X, targets, weights, labels
            )
        self._warn_about_size(len(targets))
        self._seed = _inputs.seed(self.random_state)
        bar = Bar() if self.verbose else None

        def on_event(*event: Any) -> bool:
            progress = Progress(*event)
            if bar is not None:
                bar.show(progress)
            return bool(callback is not None and callback(progress))

        checkpoint = self._checkpoint if getattr(self, "warm_start", False) else None
        before = (self.loss_curve_, self.validation_curve_) if checkpoint is not None else ([], [])
        names: Any = getattr(self, "feature_names_in_", None)
        if self._columns is not None:
            names = _engine.encode_columns(self._columns, [(name, "text", []) for name in names])[1]
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
                    "validation_rows": validation_rows,
                    "columns": self._columns,
                },
                self._seed,
                _inputs.threads(self.n_jobs),
                on_event if callback is not None or bar is not None else None,
                keep_checkpoint=getattr(self, "warm_start", False),
                checkpoint=checkpoint,
                calibrate=calibrate,
            )
        except KeyboardInterrupt as interrupt:
            kept = getattr(interrupt, "ldlf_model", None)
            if kept is not None:
                self._learnt(kept, labels, *before)
            raise
        except ValueError as error:
            if checkpoint is not None and "the checkpoint was made" in str(error):
                what = str(error).split("the checkpoint was made ")[1].split(";")[0].split(", this training")[0]
                raise ValueError(
                    f"warm_start: the fit before was made {what}, and only iterations may change when it is continued; "
                    "set warm_start=False to start anew"
                ) from None
            raise
        finally:
            if bar is not None:
                bar.close()
        self._learnt(model, labels, *before)
        if not self._reads_images():
            some = np.linspace(0, len(targets) - 1, min(len(targets), KEPT_ROWS)).astype(np.int64)
            self._kept_rows = (X[some].astype(np.float32), targets[some])
        out_of_fold = model.out_of_fold()
        if out_of_fold is not None:
            self.oof_prediction_ = out_of_fold
            self.oob_score_ = self._score_out_of_fold(out_of_fold, targets, labels, weights)
        return self

    def _learn_targets(self, y: Any) -> tuple[np.ndarray, _targets.Labels]:
        return _targets.learn(y, self.label_values, self.sigma)

    def _row_weights(self, sample_weight: Any, rows: Any, y: Any) -> np.ndarray | None:
        if isinstance(sample_weight, str):
            sample_weight = _targets.votes(y, sample_weight)
        return _inputs.weights(sample_weight, rows)

    def _score_out_of_fold(
        self, found: np.ndarray, targets: np.ndarray, labels: _targets.Labels, weights: np.ndarray | None
    ) -> float:
        return -_engine.measure("kl", _engine.normalise(targets), found, weights)

    def _with_validation_rows(
        self, eval_set: Any, X: Any, targets: np.ndarray, weights: np.ndarray | None, labels: _targets.Labels
    ) -> tuple[Any, np.ndarray, np.ndarray | None, _targets.Labels, int]:
        """Everything with the validation rows at the end, and their number."""
        name = type(self).__name__
        if "early_stopping" in self._declared:
            if getattr(self, "choose", False) or getattr(self, "leave_out", 0):
                raise ValueError(
                    f"eval_set: {name} checks itself on rows that its trees leave out; for validation rows of your own set "
                    "choose=False, leave_out=0 and early_stopping=True"
                )
            if getattr(self, "early_stopping") is False:  # noqa: B009
                raise ValueError(f"eval_set: {name} would not look at these rows; set early_stopping=True")
        elif "refit" in self._declared:
            if getattr(self, "refit"):  # noqa: B009
                raise ValueError(f"eval_set: with refit=True {name} would learn from these rows too; set refit=False")
        else:
            raise ValueError(f"eval_set: {name} does not stop early; forests and boosting do")
        held_X, held_y = _inputs.one_eval_set(eval_set)
        # What a missing value is filled with is known after the fit.
        raw = None if self._columns is None else _frames.raw_columns(_frames.collected(held_X), self.feature_names_in_)
        if self._columns is not None and raw and (gone := _frames.missing_only_here(self._columns, raw)) is not None:
            raise ValueError(f"eval_set has missing values in column {gone!r}, the training rows have none; fill them")
        held_X = _inputs.features(self, held_X, reset=False)
        held_y = self._checked_y(held_y)
        truth, unseen = _targets.scored(held_y, labels, strict=self.label_values is not None)
        if unseen:
            raise ValueError("eval_set has a label that no training row has; pass label_values, or leave such rows out")
        held = truth.astype(np.float64)
        check_consistent_length(held_X, held)
        if weights is not None:
            weights = np.concatenate([weights, np.ones(len(held))])
        if labels.singles is not None:
            labels = replace(labels, singles=[*labels.singles, *np.asarray(held_y, dtype=np.float64).tolist()])
        return _inputs.stacked(X, held_X), np.vstack([targets, held]), weights, labels, len(held)

    def _warn_about_size(self, rows: int) -> None:
        """Says so where a fit will take far longer than its parameters look."""
        depth = getattr(self, "depth", None)
        if "leaf_every" in self._declared and isinstance(depth, int) and depth > DEEP:
            warnings.warn(
                f"depth={depth} makes {2 ** (depth - 1):,} leaves per tree, and every row visits all of them: expect a long fit; "
                f"depths of 5 to 9 are usual",
                stacklevel=3,
            )
        self._warn_about_epochs(rows)

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
                stacklevel=4,
            )

    def _learnt(
        self,
        model: _engine.Model,
        labels: _targets.Labels,
        losses: Sequence[float] = (),
        validations: Sequence[tuple[int, float]] = (),
    ) -> None:
        """Takes over a model; the curves are those of the fit that it continues."""
        document = json.loads(model.document())
        summary = document["summary"]
        history = [Progress(*event) for event in model.history()]
        for stale in ("oof_prediction_", "oob_score_", "_kept_rows"):
            self.__dict__.pop(stale, None)
        columns = document["schema"].get("columns")
        self._columns = None if columns is None else json.dumps(columns)
        self.model_ = model
        self.classes_ = labels.classes
        self.label_values_ = labels.values
        self._labels = replace(labels, singles=None)
        self.n_iter_ = summary["iterations"]
        self.best_iteration_ = summary.get("best_iteration", self.n_iter_)
        self.stopped_ = summary["stopped"]
        self.inspection_ = [tuple(fact) for fact in document["inspection"]]
        self._checkpoint = model.checkpoint()
        self.loss_curve_ = [*losses, *(p.loss for p in history if p.event == "iteration" and p.loss is not None)]
        measured = ((p.iteration, p.kl) for p in history if p.event == "validation" and p.kl is not None)
        self.validation_curve_ = [*validations, *measured]
        if "budget" in self._declared and history and "budget was spent" in str(self.inspection_):
            warnings.warn(
                f"budget={getattr(self, 'budget'):g} s ended the search, so that another machine or number of threads may give "  # noqa: B009
                "another model; raise budget for one that follows from the seed alone",
                stacklevel=3,
            )

    def _predict(self, X: Any) -> np.ndarray:
        if not hasattr(self, "model_"):
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
        values: list[float] = self._labels.values.tolist()
        return values


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
        places = self._predict(X).argmax(axis=1)
        found: np.ndarray = self.classes_[places]
        return found

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of :meth:`predict_proba`."""
        found: np.ndarray = np.log(np.maximum(self._predict(X), np.finfo(np.float32).tiny))
        return found

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

    def predict_interval(self, X: Any, level: Any = 0.8, *, promise: str | None = None) -> np.ndarray:
        """The central interval that holds at least the share ``level`` of the predicted distribution: shape (rows, 2), low and high.

        With several levels the shape is (rows, levels, 2). With ``promise`` the interval holds the truth with probability ``level``, by how
        far predictions were off on rows that the model did not learn from (conformal prediction): ``"value"`` the true value of a
        row, ``"vote"`` a new vote on it. A forest with ``leave_out`` above 0 has such rows.
        """
        values = self._values("predict_interval")
        if promise is None:
            return LabelDistribution(self._predict(X), values).interval(level)
        if promise not in ("value", "vote"):
            raise ValueError(f"promise must be 'value', 'vote' or None, got {promise!r}")
        rows = _inputs.for_engine(_inputs.features(self, X, reset=False))
        of_votes = promise == "vote"
        if np.ndim(level) == 0:
            return self.model_.promised_intervals(rows, of_votes, float(level))
        return np.stack([self.model_.promised_intervals(rows, of_votes, float(one)) for one in level], axis=1)

    def predict_set(self, X: Any, level: float = 0.9) -> np.ndarray:
        """Which labels are in the set that holds a random voter's label with probability ``level``: shape (rows, labels), True where a label
        of ``classes_`` is in it. Conformal prediction by rows that the model did not learn from; a forest with ``leave_out`` above 0
        has such rows.
        """
        check_is_fitted(self)
        rows = _inputs.for_engine(_inputs.features(self, X, reset=False))
        return self.model_.promised_sets(rows, float(level))

    def predict_spread(self, X: Any) -> np.ndarray:
        """How far a row's shares may lie from the predicted ones, as a standard deviation: shape (rows, labels).

        Larger where the trees differ and where few votes stand behind a share, by how far predictions were off on rows that the model did
        not learn from.
        """
        check_is_fitted(self)
        return self.model_.spreads(_inputs.for_engine(_inputs.features(self, X, reset=False)))

    def predict_familiarity(self, X: Any) -> np.ndarray:
        """The fraction of training rows that are at least as unlike the others as each row: shape (rows,), above 0 and up to 1.

        Of rows like those of the training no more than one in a hundred is at 0.01 or below; a row there is of another kind, and
        nothing is promised for it.
        """
        check_is_fitted(self)
        return self.model_.familiarity(_inputs.for_engine(_inputs.features(self, X, reset=False)))

    def predict_entropy(self, X: Any) -> np.ndarray:
        """The entropy of every row's distribution in nats: 0 for certainty."""
        return _engine.entropies(self._predict(X))

    def sample(self, X: Any, n_samples: int = 1, *, random_state: Any = None) -> np.ndarray:
        """Labels drawn from every row's distribution: shape (rows, n_samples)."""
        places = drawn(self._predict(X), n_samples, random_state)
        found: np.ndarray = self.classes_[places]
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean K-L divergence of the predictions from y: higher is better, 0 is perfect.

        Columns of y are found by name. Unless ``label_values`` was given, a label that no training row had counts too.
        """
        distributions = self._predict(X)
        truth, unseen = _targets.scored(y, self._labels, strict=self.label_values is not None)
        check_consistent_length(truth, distributions)
        weights = self._row_weights(sample_weight, distributions, y)
        return -_engine.measure("kl", truth, with_unseen(distributions, unseen), weights)


def _by_any_name(init: Callable[..., None]) -> Callable[..., None]:
    """An ``__init__`` that also takes scikit-learn's names of parameters. Its signature, which ``get_params`` and ``clone`` read, has ours
    alone.
    """

    @functools.wraps(init)
    def __init__(self: Any, *arguments: Any, **parameters: Any) -> None:
        init(self, *arguments, **self._own_names(parameters))

    return __init__


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
