"""What all estimators share."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted

from . import _batches, _engine, _inputs, _targets
from ._progress import Bar


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


class LDLEstimator(BaseEstimator):
    """A learner of label distributions with scikit-learn's interface. Use one of its subclasses.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        The columns seen in ``fit``; others, or the same in another order, raise.
    classes_ : ndarray
        What the columns of a distribution stand for: the labels of a 1-D y, ``label_values``, the names of y's columns, or
        0, 1, 2, ...
    n_iter_ : int
        Iterations done; 0 for a learner that does not iterate.
    inspection_ : list of (str, object)
        The model's own facts, as ``ldlf inspect`` shows them: sizes of a forest, what a search tried and kept.
    loss_curve_ : list of float
        The training loss of every iteration.
    validation_curve_ : list of (int, float)
        Iterations and the mean K-L divergence on the held-out rows, where the learner holds rows out.
    model_ : ldlf._engine.Model
        What was learnt.
    """

    _learner: ClassVar[str]
    _declared: ClassVar[tuple[str, ...]]
    _presets: ClassVar[dict[str, dict[str, Any]]] = {}
    _gives_distributions: ClassVar[bool] = True

    # Shared parameters; the generated __init__ of every estimator sets them.
    label_values: Any
    sigma: float | None
    random_state: Any
    n_jobs: int | None
    verbose: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    @classmethod
    def from_preset(cls, preset: str, **parameters: Any) -> Any:
        """The estimator with a named set of parameters, and others over them.

        >>> from ldlf import LDLForest
        >>> LDLForest.from_preset("paper", trees=10)
        LDLForest(batch_size=64, bias=False, dropout=0, early_stopping=True,
                  epochs=None, leaf_every=100, leaf_iterations=20, leaf_prior=0,
                  leaf_rows='batches', learning_rate=1, optimizer='sgd',
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
    ) -> Any:
        """Learns from rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (rows, features)
            NumPy of single or double precision in any order, SciPy CSR (never made dense), pandas, polars or pyarrow.
        y : array or table of shape (rows, labels), or array of shape (rows,)
            Probabilities or vote counts; or one label per row, which becomes a distribution by ``sigma``, and without it has
            everything on that label.
        sample_weight : array of shape (rows,), optional
        callback : callable, optional
            Called with a :class:`Progress` on every event; returning ``True`` ends the fit with the best model so far.

        Returns
        -------
        The estimator itself.
        """
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = _inputs.features(self, X, reset=True)
        targets, labels = _targets.learn(y, self.label_values, self.sigma)
        check_consistent_length(X, targets)
        weights = self._weights(sample_weight, X)
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
                    "singles": None if labels.singles is None else (labels.singles, float(self.sigma or 0)),
                },
                _inputs.seed(self.random_state),
                _inputs.threads(self.n_jobs),
                on_event if callback is not None or bar is not None else None,
            )
        finally:
            if bar is not None:
                bar.close()
        self._learnt(model, labels)
        return self

    def _weights(self, sample_weight: Any, X: Any) -> np.ndarray | None:
        if sample_weight is None:
            return None
        return np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64))

    def _learnt(self, model: _engine.Model, labels: _targets.Labels) -> None:
        document = json.loads(model.document())
        summary = document["summary"]
        history = [Progress(*event) for event in model.history()]
        self.model_ = model
        self.classes_ = labels.classes
        self._labels = replace(labels, singles=None)
        self.n_iter_ = summary["iterations"]
        self.stopped_ = summary["stopped"]
        self.inspection_ = [tuple(fact) for fact in document["inspection"]]
        self.loss_curve_ = [p.loss for p in history if p.event == "iteration" and p.loss is not None]
        self.validation_curve_ = [(p.iteration, p.kl) for p in history if p.event == "validation"]

    def _predict(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = _inputs.features(self, X, reset=False)
        return self.model_.predict(_inputs.for_engine(X), _inputs.threads(self.n_jobs))

    def _heads(self) -> list[str]:
        """What the columns of a prediction are called, as ``ldlf predict`` calls them."""
        if not self._gives_distributions:
            return ["value"]
        return json.loads(self.model_.document())["schema"]["label_names"]

    def _needed(self, names: Sequence[str], keep: Sequence[str]) -> list[str]:
        """The feature columns in the model's order; without names of its own it takes all that are not kept."""
        clash = [name for name in keep if name in self._heads()]
        if clash:
            raise ValueError(f"keep names {clash[0]!r}, which is also the name of a label; rename the column")
        known = getattr(self, "feature_names_in_", None)
        needed = [str(name) for name in known] if known is not None else [name for name in names if name not in keep]
        if len(needed) != self.n_features_in_:
            raise ValueError(
                f"the model reads {self.n_features_in_} features and has no feature names, the table has {len(needed)} columns; "
                "name those that are no features in keep, or fit on a table with names"
            )
        return needed

    def predict_batches(self, data: Any, *, keep: Sequence[str] = (), batch_rows: int = 65536) -> Any:
        """Predicts a table batch by batch, in its order: it may be larger than the memory.

        Parameters
        ----------
        data : table or iterable of tables
            A pyarrow Table, RecordBatch, RecordBatchReader or Dataset, a polars DataFrame or LazyFrame, a pandas DataFrame, or an
            iterable of such. Columns are found by the names seen in ``fit``; others are left alone.
        keep : sequence of str, default=()
            Columns to carry along, such as a key.
        batch_rows : int, default=65536
            Rows that are predicted at once.

        Returns
        -------
        pyarrow.RecordBatchReader
            The kept columns, then one per label (or ``value`` from the methods that give no more). Batches are read lazily.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import ldlf
        >>> from ldlf.datasets import make_mixture
        >>> X, y = make_mixture(60, features=2, labels=2)
        >>> table = pa.table({"key": range(60), "a": X[:, 0], "b": X[:, 1]})
        >>> model = ldlf.MeanLDL().fit(table.select(["a", "b"]), y)
        >>> model.predict_batches(table, keep=["key"]).read_all().column_names
        ['key', 'label_0', 'label_1']
        """
        import pyarrow as pa

        check_is_fitted(self)
        if batch_rows < 1:
            raise ValueError(f"batch_rows must be at least 1, got {batch_rows}")
        known = getattr(self, "feature_names_in_", None)
        wanted = None if known is None else list(dict.fromkeys([*(str(name) for name in known), *keep]))
        batches = _batches.record_batches(data, wanted, batch_rows)
        first = next(batches, None)
        if first is None:
            raise ValueError("there are no batches, so that nothing says what the columns are")
        outputs = [
            pa.field(name, pa.float32() if self._gives_distributions else pa.float64()) for name in self._heads()
        ]
        for name in keep:
            if name not in first.schema.names:
                raise ValueError(f"no column {name!r} to keep; the columns are {', '.join(first.schema.names)}")
        schema = pa.schema([*(first.schema.field(name) for name in keep), *outputs])

        def predicted() -> Iterator[Any]:
            row = 0
            for batch in itertools.chain([first], batches):
                rows = _batches.features(batch, self._needed(batch.schema.names, keep), row)
                found = self.model_.predict(rows, _inputs.threads(self.n_jobs)).reshape(len(rows), -1)
                columns = [pa.array(np.ascontiguousarray(found[:, label])) for label in range(found.shape[1])]
                yield pa.record_batch([*(batch.column(name) for name in keep), *columns], schema=schema)
                row += batch.num_rows

        return pa.RecordBatchReader.from_batches(schema, predicted())

    def predict_frame(self, frame: Any, *, keep: Sequence[str] = ()) -> Any:
        """The predictions of a pandas or polars frame as a frame of its kind: one column per label, after the kept columns.

        Columns are found by the names seen in ``fit``; a pandas index stays. Made for Dask's ``map_partitions`` and Spark's
        ``mapInPandas``: an empty frame gives an empty frame with the right columns.

        Examples
        --------
        >>> import pandas as pd
        >>> import ldlf
        >>> from ldlf.datasets import make_mixture
        >>> X, y = make_mixture(60, features=2, labels=2)
        >>> frame = pd.DataFrame(X, columns=["a", "b"])
        >>> model = ldlf.MeanLDL().fit(frame, y)
        >>> list(model.predict_frame(frame.assign(key=1), keep=["key"]))
        ['key', 'label_0', 'label_1']
        """
        check_is_fitted(self)
        needed = self._needed(list(frame.columns), keep)
        missing = [name for name in [*needed, *keep] if name not in frame.columns]
        if missing:
            there = ", ".join(map(str, frame.columns))
            raise ValueError(f"no column {missing[0]!r}, which is needed; the columns are {there}")
        rows = frame[needed].to_numpy()
        if rows.dtype not in _inputs.PRECISIONS:
            rows = rows.astype(np.float64)
        odd = ~np.isfinite(rows)
        if odd.any():
            row, column = (int(place) for place in np.argwhere(odd)[0])
            raise ValueError(f"row {row}, column {needed[column]!r}: {rows[row, column]} is not a finite number")
        kind = np.float32 if self._gives_distributions else np.float64
        found = np.empty((0, len(self._heads())), dtype=kind)
        if len(rows):
            found = self.model_.predict(rows, _inputs.threads(self.n_jobs)).reshape(len(rows), -1)
        columns = {name: found[:, label] for label, name in enumerate(self._heads())}
        if hasattr(frame, "with_columns"):
            return type(frame)({**{name: frame[name] for name in keep}, **columns})
        return frame[list(keep)].assign(**columns)

    def _values(self, wanted: str) -> list[float]:
        check_is_fitted(self)
        if self._labels.values is None:
            raise ValueError(
                f"{wanted} needs labels that stand for numbers; pass label_values, one number per label, before fit"
            )
        return self._labels.values.tolist()

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the model file that ``ldlf predict`` and :func:`ldlf.load` read, whole or not at all.

        Parameters
        ----------
        path : path
        overwrite : bool, default=False
            Whether an existing file may be replaced.
        """
        check_is_fitted(self)
        _refuse_existing(path, overwrite)
        self.model_.save(path)

    def to_bytes(self) -> bytes:
        """The bytes of the model file; they depend on data, parameters and seed alone."""
        check_is_fitted(self)
        return self.model_.to_bytes()

    def to_onnx(self, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False) -> bytes:
        """The model as an ONNX file, which onnxruntime and others run without ldlf; scaling is part of it.

        It reads ``features`` of shape (rows, features) in single precision and gives ``distributions`` of shape (rows, labels), for
        labels that stand for numbers also ``mean`` and ``mode`` of shape (rows,). Names are in its metadata. A row with a missing
        value gives NaN. Models that cannot be exported, such as those that look up training rows, raise.

        Parameters
        ----------
        path : path, optional
            Where to write the file.
        overwrite : bool, default=False
            Whether an existing file may be replaced.

        Returns
        -------
        bytes
            The file.
        """
        check_is_fitted(self)
        file = self.model_.to_onnx()
        if path is not None:
            _write(path, file, overwrite)
        return file

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """Reads a model file, made here or by ``ldlf train``; its learner must be this estimator's."""
        model = _read(path)
        document = json.loads(model.document())
        if document["learner"] != cls._learner:
            raise ValueError(
                f"{os.fspath(path)} is a model of {document['learner']}, not of {cls._learner}; ldlf.load reads any"
            )
        return cls._revive(model, document)

    @classmethod
    def _revive(cls, model: _engine.Model, document: dict[str, Any]) -> Any:
        schema = document["schema"]
        values = schema.get("label_values")
        names = schema["label_names"]
        declared = {name: value for name, value in document["parameters"].items() if name in cls._declared}
        estimator = cls(**declared, label_values=values)
        estimator.n_features_in_ = document["features"]
        if schema.get("feature_names") is not None:
            estimator.feature_names_in_ = np.asarray(schema["feature_names"], dtype=object)
        if values is not None:
            values = np.asarray(values, dtype=np.float64)
            classes = _targets._whole(values)
        elif names == [f"label_{label}" for label in range(len(names))]:
            classes = np.arange(len(names))
        else:
            classes = np.asarray(names, dtype=object)
        estimator._learnt(model, _targets.Labels(classes, names, values))
        return estimator


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

    def predict_mean(self, X: Any) -> np.ndarray:
        """The expected value of every row, for labels that stand for numbers."""
        values = self._values("predict_mean")
        return _engine.means(self._predict(X), values)

    def predict_quantile(self, X: Any, q: Any = 0.5) -> np.ndarray:
        """The smallest value at which the cumulative probability reaches ``q``, for labels that stand for numbers.

        With several levels the result has one column each.
        """
        values = self._values("predict_quantile")
        distributions = self._predict(X)
        if np.ndim(q) == 0:
            return _engine.quantiles(distributions, values, float(q))
        return np.column_stack([_engine.quantiles(distributions, values, float(level)) for level in q])

    def predict_interval(self, X: Any, level: float = 0.8) -> np.ndarray:
        """The central interval that holds at least the share ``level``: shape (rows, 2), low and high."""
        values = self._values("predict_interval")
        return _engine.intervals(self._predict(X), values, float(level))

    def predict_entropy(self, X: Any) -> np.ndarray:
        """The entropy of every row's distribution in nats: 0 for certainty."""
        return _engine.entropies(self._predict(X))

    def sample(self, X: Any, n_samples: int = 1, *, random_state: Any = None) -> np.ndarray:
        """Labels drawn from every row's distribution: shape (rows, n_samples)."""
        distributions = self._predict(X).astype(np.float64)
        reached = np.cumsum(distributions, axis=1)
        reached /= reached[:, -1:]
        draws = check_random_state(random_state).uniform(size=(len(distributions), n_samples))
        places = np.array([np.searchsorted(row, draw, side="right") for row, draw in zip(reached, draws)])
        return self.classes_[np.minimum(places.reshape(draws.shape), len(self.classes_) - 1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean K-L divergence of the predictions from y: higher is better, 0 is perfect."""
        distributions = self._predict(X)
        truth = _targets.encoded(y, self._labels, self.sigma)
        check_consistent_length(truth, distributions)
        weights = self._weights(sample_weight, distributions)
        return -_engine.measure("kl", truth, distributions, weights)


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
            truth = _engine.means(_targets.encoded(y, self._labels, None), self._values("score"))
        check_consistent_length(truth, found)
        return -float(np.average(np.abs(found - np.asarray(truth, dtype=np.float64)), weights=sample_weight))


def _refuse_existing(path: str | os.PathLike[str], overwrite: bool) -> None:
    if os.path.lexists(path) and not overwrite:
        raise FileExistsError(f"{os.fspath(path)} exists; choose another name or pass overwrite=True")


def _write(path: str | os.PathLike[str], file: bytes, overwrite: bool) -> None:
    """Writes a file, whole or not at all."""
    _refuse_existing(path, overwrite)
    _engine.write_file(path, file)


def _read(path: str | os.PathLike[str]) -> _engine.Model:
    if not os.path.exists(path):
        raise FileNotFoundError(f"{os.fspath(path)} does not exist")
    return _engine.Model.load(path)


def load(path: str | os.PathLike[str]) -> Any:
    """Reads a model file, made here or by ``ldlf train``, as the estimator of its learner.

    >>> import os, tempfile
    >>> import ldlf
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> path = os.path.join(tempfile.mkdtemp(), "mean.ldlf")
    >>> ldlf.MeanLDL().fit(X, y).save(path)
    >>> ldlf.load(path)
    MeanLDL()
    """
    from ._estimators import LEARNERS

    model = _read(path)
    document = json.loads(model.document())
    return LEARNERS[document["learner"]]._revive(model, document)
