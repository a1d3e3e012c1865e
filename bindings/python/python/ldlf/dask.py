"""The forest on a Dask cluster: rows stay with the workers, and only parameters and sums are sent.

>>> from distributed import Client
>>> import dask.array as da
>>> from ldlf.dask import LDLForest
>>> from ldlf.datasets import make_mixture
>>> X, votes = make_mixture(400, votes=30)
>>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
...     forest = LDLForest(client, trees=5, depth=4, min_iterations=50)
...     forest = forest.fit(da.from_array(X, chunks=(100, -1)), da.from_array(votes, chunks=(100, -1)))
>>> forest.predict(X).shape
(400, 5)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.base import compute, is_dask_collection
from dask.delayed import delayed
from distributed import Client, default_client
from sklearn.utils.validation import check_is_fitted

from . import _engine, _estimators, _inputs, _shards, _targets
from ._base import Progress
from ._cluster import Here, Workers
from ._estimators import LDLForestParameters
from ._progress import Bar
from ._signature import with_parameters_of

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

#: What suits large mini-batches better than the defaults of one process.
DEFAULTS: dict[str, Any] = {"batch_size": 65536, "learning_rate": 0.03, "min_iterations": 300, "leaf_every": 20}


class LDLForest(_estimators.LDLForest):
    """:class:`ldlf.LDLForest` trained on the workers of a Dask cluster.

    The rows are cut into ``virtual_shards`` ranges of row numbers. Every worker reads some of them into its own memory, once; in
    every round the parameters go out and sums of gradients, or of leaf statistics, come back, added up in one fixed tree. The
    model is therefore **the same to the bit** for any number of workers and partitions, and without a cluster: it depends on the
    rows and their order, the parameters, the seed and the number of virtual shards. A worker that dies is replaced, its rows
    are read again from the collection and the round is repeated.

    The model is an ordinary ``sldlf``: :meth:`save` writes a file that the command ``ldlf`` reads. It differs from that of
    ``ldlf.LDLForest`` in the rows that make up a mini-batch and in four rules: dense columns stay dense; rows are held out
    independently at random; quantiles of sparse numeric columns come from a sample where there are more than 65,536 rows; and
    above 50,000 rows ``leaf_rows="auto"`` uses the last mini-batches that hold so many. ``init="greedy"`` is not offered.

    Parameters
    ----------
    client : distributed.Client, optional
        None takes the current client, and where there is none trains in this process. ``Client(..., direct_to_workers=True)`` spares
        the scheduler the parameters, where the workers can be reached.
    virtual_shards : int, default=16
        How many parts the rows are cut into: at most so many workers have work. It changes the model, as the seed does.
    batch_size : int, default=65536
    learning_rate : float, default=0.03
        Fewer steps on larger mini-batches allow a higher learning rate.
    min_iterations : int, default=300
    leaf_every : int, default=20
    n_jobs : int, optional
        Threads of this process; workers use their own.
    **parameters
        As of :class:`ldlf.LDLForest`.

    Examples
    --------
    >>> from ldlf.dask import LDLForest
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> LDLForest(trees=2, depth=3, virtual_shards=4, min_iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    # Whoever sees one partition cannot tell whether a column counts the rows of all.
    _infers_numbers = False

    client: Client | None
    virtual_shards: int

    def __init__(
        self, client: Client | None = None, *, virtual_shards: int = 16, **parameters: Unpack[LDLForestParameters]
    ) -> None:
        super().__init__(**{**DEFAULTS, **parameters})
        self.client = client
        self.virtual_shards = virtual_shards

    def __sklearn_clone__(self) -> LDLForest:
        return type(self)(**self.get_params(deep=False))

    def __getstate__(self) -> Any:
        return {**dict(super().__getstate__()), "client": None}

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        callback: Callable[[Progress], bool | None] | None = None,
        calibrate: float | None = None,
    ) -> Self:
        """Learns from rows.

        Parameters
        ----------
        X : dask array or dataframe, or whatever ``ldlf.LDLForest`` takes
            Blocks of an array may be SciPy CSR. What is in this process's memory is sent to the workers.
        y : the same of as many rows, in partitions of any size; or the names of X's label columns
        sample_weight : the same of shape (rows,), optional
        eval_set : None
            Only in one process: ``ldlf.LDLForest``.
        callback : callable, optional
            As of ``ldlf.LDLForest``.
        calibrate : None
            Only in one process: ``ldlf.LDLForest``.

        Returns
        -------
        The estimator itself.
        """
        if not isinstance(self.virtual_shards, int | np.integer) or self.virtual_shards < 1:
            raise ValueError(f"virtual_shards must be a whole number of at least 1, got {self.virtual_shards}")
        if eval_set is not None:
            raise ValueError("eval_set is not supported on a cluster; validation_fraction holds out rows")
        if calibrate is not None:
            raise ValueError("calibrate is not supported on a cluster; fit ldlf.LDLForest in one process")
        client = self._client()
        self._seed = _inputs.seed(self.random_state)
        sources = self._sources(X, y, sample_weight, client)
        bar = Bar() if self.verbose else None
        names = getattr(self, "feature_names_in_", None)
        labels = sources.labels
        workers = None
        try:
            workers = Here(sources, _inputs.threads(self.n_jobs)) if client is None else Workers(client, sources)
            coordinator = _engine.Coordinator(
                _inputs.settings(self, self._declared),
                len(sources.X),
                self.n_features_in_,
                len(labels.classes),
                workers.sparse,
                sources.shards,
                {
                    "feature_names": None if names is None else [str(name) for name in names],
                    "label_names": labels.names,
                    "label_values": None if labels.values is None else labels.values.tolist(),
                    "singles": None if labels.singles is None else ([], labels.sigma),
                    "validation_rows": 0,
                    "columns": None,
                },
                self._seed,
                _inputs.threads(self.n_jobs),
            )
            while (question := coordinator.question()) is not None:
                for event in coordinator.hear(workers.ask(question, coordinator.question_for_newcomer)):
                    progress = Progress(*event)
                    if bar is not None:
                        bar.show(progress)
                    if callback is not None and callback(progress):
                        coordinator.stop()
            self._learnt(coordinator.model(), labels)
        finally:
            if workers is not None:
                workers.close()
            if bar is not None:
                bar.close()
        return self

    def _client(self) -> Client | None:
        client = self.client
        if client is None:
            try:
                client = default_client()
            except ValueError:
                return None
        if not isinstance(client, Client):
            raise TypeError(f"client must be a distributed.Client or None, got {client!r}")
        if client.asynchronous:
            raise TypeError("an asynchronous client cannot be waited for; make one with asynchronous=False")
        return client

    def _sources(self, X: Any, y: Any, sample_weight: Any, client: Client | None) -> _shards.Sources:
        """Learns the columns, and finds out where every row stands."""
        if y is None:
            raise ValueError("y is missing: give targets, or the names of X's label columns")
        columns = label_columns = None
        if _are_names(X, y):
            label_columns = [y] if isinstance(y, str) else list(y)
            y = _columns(X, label_columns)
            X = X.drop(columns=label_columns)
        if is_dask_collection(X):
            columns = self._learn_columns(X)
            X = _collection(X, "X", client)
        else:
            X = _table(_inputs.features(self, X, reset=True))
            if self._columns is not None:
                raise ValueError(
                    "X holds more than numbers; encode it before it goes to a cluster, or fit ldlf.LDLForest"
                )
        if is_dask_collection(y):
            labels = self._learn_labels(y, client)
            y = _collection(y, "y", client)
        else:
            _, labels = _targets.learn(y, self.label_values, self.sigma)
            y = _table(np.asarray(y))
        weights = None
        if sample_weight is not None:
            lazy = is_dask_collection(sample_weight)
            weights = _collection(sample_weight, "sample_weight", client) if lazy else _table(np.asarray(sample_weight))
        for what, rows in [("y", y), ("sample_weight", weights)]:
            if rows is not None and len(rows) != len(X):
                raise ValueError(f"X has {len(X)} rows, {what} has {len(rows)}")
        if len(X) == 0:
            raise ValueError("there are no rows to learn from")
        shards = min(int(self.virtual_shards), len(X))
        return _shards.Sources(X, y, weights, columns, None, labels, shards)

    def _learn_columns(self, X: Any) -> list[str] | None:
        if not isinstance(X, da.Array | dd.DataFrame):
            raise TypeError(
                f"X must be a dask array or dataframe, or an array or table in memory, got {type(X).__name__}"
            )
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got {X.ndim}")
        names = list(X.columns) if isinstance(X, dd.DataFrame) else None
        self.n_features_in_ = len(names) if names is not None else int(X.shape[1])
        if hasattr(self, "feature_names_in_"):
            delattr(self, "feature_names_in_")
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        return names

    def _learn_labels(self, y: Any, client: Client | None) -> _targets.Labels:
        """What the columns stand for: known from the columns, or the distinct labels of all rows."""
        rows = None
        if isinstance(y, dd.DataFrame):
            sample = y._meta.iloc[:0]
        elif y.ndim == 2:
            sample = np.empty((0, int(y.shape[1])))
        elif y.ndim == 1:
            distinct = delayed(lambda part: (np.unique(np.asarray(part)), len(part)))
            parts = _compute([distinct(part) for part in _partitions(y)], client)
            sample = np.unique(np.concatenate([labels for labels, _ in parts]))
            rows = sum(count for _, count in parts)
        else:
            raise ValueError(f"y must have one or two dimensions, got {y.ndim}")
        return _targets.learn(sample, self.label_values, self.sigma, rows=rows)[1]

    def _lazily(self, method: str, X: Any, columns: Sequence[Any] | None, kind: Any, **arguments: Any) -> Any:
        """A method of the fitted estimator on every partition; ``columns`` are those of the result, None a result of one dimension."""
        check_is_fitted(self)
        model = delayed(self, pure=True, traverse=False)
        if isinstance(X, dd.DataFrame):
            if hasattr(self, "feature_names_in_"):
                missing = [name for name in self.feature_names_in_ if name not in X.columns]
                if missing:
                    raise ValueError(f"X has no column {missing[0]!r}, which the model needs; it has {list(X.columns)}")
                X = X[list(self.feature_names_in_)]
            if columns is None:
                meta: Any = (method, kind)
            else:
                import pandas as pd

                meta = pd.DataFrame(np.empty((0, len(columns)), dtype=kind), columns=list(columns))
            names = None if columns is None else list(columns)
            return X.map_partitions(_on_frame, model, method, names, arguments, meta=meta)
        X = _whole_rows(X)
        if columns is None:
            meta = np.empty(0, dtype=kind)
            return X.map_blocks(_on_block, model, method, arguments, dtype=kind, drop_axis=1, meta=meta)
        chunks = (X.chunks[0], (len(columns),))
        meta = np.empty((0, 0), dtype=kind)
        return X.map_blocks(_on_block, model, method, arguments, dtype=kind, chunks=chunks, meta=meta)

    def _names(self) -> list[Any]:
        check_is_fitted(self)
        return self._labels.names or [f"label_{label}" for label in range(len(self.classes_))]

    def predict(self, X: Any) -> Any:
        """The distribution of every row; of a Dask collection a lazy one with the same partitions."""
        if not is_dask_collection(X):
            return super().predict(X)
        return self._lazily("predict", X, self._names(), np.float32)

    def predict_proba(self, X: Any) -> Any:
        """The same as :meth:`predict`, by the name that classifiers have."""
        return self.predict(X)

    def predict_label(self, X: Any) -> Any:
        """The most probable label of every row; of equal ones the first. Lazy for a Dask collection."""
        if not is_dask_collection(X):
            return super().predict_label(X)
        check_is_fitted(self)
        return self._lazily("predict_label", X, None, self.classes_.dtype)

    def predict_mean(self, X: Any) -> Any:
        """The expected value of every row, for labels that stand for numbers. Lazy for a Dask collection."""
        if not is_dask_collection(X):
            return super().predict_mean(X)
        self._values("predict_mean")
        return self._lazily("predict_mean", X, None, np.float64)

    def predict_std(self, X: Any) -> Any:
        """The standard deviation of every row, for labels that stand for numbers. Lazy for a Dask collection."""
        if not is_dask_collection(X):
            return super().predict_std(X)
        self._values("predict_std")
        return self._lazily("predict_std", X, None, np.float64)

    def predict_quantile(self, X: Any, q: Any = 0.5) -> Any:
        """The smallest value at which the cumulative probability reaches ``q``; with several levels, one column each. Lazy for a Dask
        collection."""
        if not is_dask_collection(X):
            return super().predict_quantile(X, q)
        self._values("predict_quantile")
        columns = None if np.ndim(q) == 0 else [f"quantile_{level:g}" for level in q]
        return self._lazily("predict_quantile", X, columns, np.float64, q=q)

    def predict_interval(self, X: Any, level: Any = 0.8, *, promise: str | None = None) -> Any:
        """The central interval that holds at least the share ``level``: two columns, low and high. Lazy for a Dask collection, and then of
        one level."""
        if not is_dask_collection(X):
            return super().predict_interval(X, level, promise=promise)
        self._values("predict_interval")
        if promise is not None:
            raise ValueError("promise is for rows in memory; a Dask collection has central intervals")
        if np.ndim(level) != 0:
            raise ValueError("one level at a time for a Dask collection; call predict_interval for each")
        return self._lazily("predict_interval", X, ["low", "high"], np.float64, level=float(level))

    def predict_entropy(self, X: Any) -> Any:
        """The entropy of every row's distribution in nats: 0 for certainty. Lazy for a Dask collection."""
        if not is_dask_collection(X):
            return super().predict_entropy(X)
        return self._lazily("predict_entropy", X, None, np.float64)

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of :meth:`predict_proba`. Lazy for a Dask collection."""
        if not is_dask_collection(X):
            return super().predict_log_proba(X)
        return self._lazily("predict_log_proba", X, self._names(), np.float32)

    def sample(self, X: Any, n_samples: int = 1, *, random_state: Any = None) -> Any:
        """Labels drawn from every row's distribution: shape (rows, n_samples). Lazy for a Dask collection; a seed then gives the same
        labels for the same partitions."""
        if not is_dask_collection(X):
            return super().sample(X, n_samples, random_state=random_state)
        check_is_fitted(self)
        seed = _inputs.seed(random_state)
        columns = [f"sample_{number}" for number in range(n_samples)]
        return self._lazily("sample", X, columns, self.classes_.dtype, n_samples=n_samples, random_state=seed)

    def predict_dist(self, X: Any) -> Any:
        """The distributions of rows in memory as an object; a Dask collection has no such object."""
        if is_dask_collection(X):
            raise TypeError("predict_dist is of rows in memory; predict, predict_mean and the like are lazy")
        return super().predict_dist(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean K-L divergence of the predictions from y: higher is better. Of Dask collections computed where they are."""
        if _are_names(X, y):
            names = [y] if isinstance(y, str) else list(y)
            y = _columns(X, names)
            X = X.drop(columns=names)
        if not is_dask_collection(X):
            return super().score(X, y, sample_weight)
        check_is_fitted(self)
        client = self._client()
        given = {"X": X, "y": y, "sample_weight": sample_weight}
        rows = {name: _collection(data, name, client) for name, data in given.items() if data is not None}
        lengths = {name: data.lengths for name, data in rows.items()}
        for name, found in lengths.items():
            if found != lengths["X"]:
                raise ValueError(f"X and {name} must have the same partitions to be scored together")
        model = delayed(self, pure=True, traverse=False)
        part = delayed(_score_part)
        sums = [
            part(model, *(data.partition(at) for data in rows.values()))
            for at, length in enumerate(lengths["X"])
            if length
        ]
        found = np.sum(_compute(sums, client), axis=0)
        return float(found[0] / found[1])


def _on_frame(
    frame: Any, model: LDLForest, method: str, columns: list[Any] | None, arguments: Any, partition_info: Any = None
) -> Any:
    import pandas as pd

    number = (partition_info or {}).get("number", 0)
    found = _of_part(frame, model, method, number, arguments)
    if columns is None:
        return pd.Series(found, index=frame.index, name=method)
    return pd.DataFrame(found, index=frame.index, columns=columns)


def _on_block(block: Any, model: LDLForest, method: str, arguments: Any, block_info: Any = None) -> Any:
    number = block_info[0]["chunk-location"][0] if block_info else 0
    return _of_part(block, model, method, number, arguments)


def _of_part(rows: Any, model: LDLForest, method: str, number: int, arguments: dict[str, Any]) -> Any:
    """The answer for one partition, whose number gives it draws of its own."""
    if "random_state" in arguments:
        arguments = {**arguments, "random_state": np.random.default_rng([arguments["random_state"], number])}
    return getattr(model, method)(rows, **arguments)


def _score_part(model: LDLForest, X: Any, y: Any, weights: Any = None) -> tuple[float, float]:
    """The weighted score of one partition, and its weight."""
    weight = float(len(X)) if weights is None else float(np.sum(np.asarray(weights)))
    if weight == 0:
        return 0.0, 0.0
    return weight * _estimators.LDLForest.score(model, X, y, weights), weight


def _are_names(X: Any, y: Any) -> bool:
    """Whether y names columns of X, rather than being one label of text per row."""
    names = [y] if isinstance(y, str) else y
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        return False
    return isinstance(y, str) or isinstance(X, dd.DataFrame) or names[0] in list(getattr(X, "columns", []))


def _columns(X: Any, names: list[str]) -> Any:
    if not hasattr(X, "columns"):
        raise TypeError("y names columns, but X has no named columns")
    missing = [name for name in names if name not in list(X.columns)]
    if missing:
        raise ValueError(f"X has no column {missing[0]!r} to take labels from; it has {list(X.columns)}")
    return X[names[0]] if len(names) == 1 else X[names]


def _table(data: Any) -> _shards.Rows:
    """Rows in this process's memory."""
    return _shards.Rows((data.shape[0],), lambda partition: data, data)


def _whole_rows(data: Any) -> Any:
    if isinstance(data, da.Array) and data.ndim == 2 and data.numblocks[1] > 1:
        return data.rechunk(cast(Any, {1: -1}))
    return data


def _partitions(data: Any) -> list[Any]:
    parts = _whole_rows(data).to_delayed()
    return list(np.ravel(parts))


def _collection(data: Any, what: str, client: Client | None) -> _shards.Rows:
    """Rows in the partitions of a Dask collection, whose lengths are counted where Dask does not know them."""
    if not isinstance(data, da.Array | dd.DataFrame | dd.Series):
        raise TypeError(f"{what} must be a dask array or dataframe here, got {type(data).__name__}")
    parts = _partitions(data)
    known = data.chunks[0] if isinstance(data, da.Array) else [np.nan]
    if np.isnan(known).any():
        count = delayed(_rows_of)
        known = _compute([count(part) for part in parts], client)
    return _shards.Rows(tuple(int(length) for length in known), parts.__getitem__)


def _rows_of(part: Any) -> int:
    return int(part.shape[0])


def _compute(values: list[Any], client: Client | None) -> list[Any]:
    if client is None:
        return list(compute(*values))
    found: Any = client.gather(client.compute(values))
    return list(found)


with_parameters_of(_estimators.LDLForest, LDLForest, DEFAULTS)

__all__ = ["LDLForest"]
