"""Tables in, tables out: predictions of frames and of what comes batch by batch."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _batches, _engine, _frames, _inputs


class PredictsTables:
    """The methods of an estimator that take tables and find columns by name."""

    _gives_distributions: ClassVar[bool] = True
    model_: _engine.Model
    n_features_in_: int
    n_jobs: int | None
    _columns: str | None

    def _heads(self) -> list[str]:
        """What the columns of a prediction are called, as ``ldlf predict`` calls them."""
        if not self._gives_distributions:
            return ["value"]
        names: list[str] = json.loads(self.model_.document())["schema"]["label_names"]
        return names

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

    def _rows_of_batch(self, batch: Any, keep: Sequence[str], row: int) -> Any:
        """The rows of a pyarrow batch as the engine reads them."""
        needed = self._needed(batch.schema.names, keep)
        if self._columns is None:
            return _batches.features(batch, needed, row)
        import pyarrow as pa

        _batches.places(batch, needed)
        return _frames.encoded(self._columns, pa.Table.from_batches([batch]).select(needed))

    def _of_rows(self, rows: Any) -> np.ndarray:
        """The predictions of rows as columns; there may be no rows."""
        if rows.shape[0] == 0:
            return np.empty((0, len(self._heads())), dtype=np.float32 if self._gives_distributions else np.float64)
        rows = _inputs.for_engine(rows)
        found = self.model_.predict(rows, _inputs.threads(self.n_jobs))
        return found.reshape(len(found), -1)

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
                rows = self._rows_of_batch(batch, keep, row)
                found = self._of_rows(rows)
                columns = [pa.array(np.ascontiguousarray(found[:, label])) for label in range(found.shape[1])]
                yield pa.record_batch([*(batch.column(name) for name in keep), *columns], schema=schema)
                row += batch.num_rows

        return pa.RecordBatchReader.from_batches(schema, predicted())

    def predict_frame(self, frame: Any, *, keep: Sequence[str] = ()) -> Any:
        """The predictions of a pandas, polars or pyarrow table as a table of its kind: one column per label, after the kept columns.

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
        if hasattr(frame, "column_names"):  # pyarrow, which a stream of batches serves
            return self.predict_batches(frame, keep=keep).read_all()
        needed = self._needed(list(frame.columns), keep)
        missing = [name for name in [*needed, *keep] if name not in frame.columns]
        if missing:
            there = ", ".join(map(str, frame.columns))
            raise ValueError(f"no column {missing[0]!r}, which is needed; the columns are {there}")
        if self._columns is not None:
            return _as_columns(
                frame,
                keep,
                self._of_rows(_frames.encoded(self._columns, frame[needed])),
                self._heads(),
            )
        sentence = _frames.dates_among(frame[needed], needed)
        rows = frame[needed].to_numpy()
        if rows.dtype not in _inputs.PRECISIONS:
            try:
                rows = rows.astype(np.float64)
            except (TypeError, ValueError):
                sentence = sentence or _frames.not_a_number(frame[needed], needed)
        if sentence is not None:
            raise ValueError(sentence)
        odd = ~np.isfinite(rows)
        if odd.any():
            row, column = (int(place) for place in np.argwhere(odd)[0])
            raise ValueError(f"row {row}, column {needed[column]!r}: {rows[row, column]} is not a finite number")
        return _as_columns(frame, keep, self._of_rows(rows), self._heads())

    def _frame_of(self, frame: Any, keep: Sequence[str], rows: Any) -> Any:
        """The predictions of rows that were made of a frame, as :meth:`predict_frame` gives them."""
        found = self._of_rows(_inputs.features(self, rows, reset=False))
        if hasattr(frame, "column_names"):
            import pyarrow as pa

            kept = {name: frame[name] for name in keep}
            return pa.table({**kept, **{name: found[:, label] for label, name in enumerate(self._heads())}})
        return _as_columns(frame, keep, found, self._heads())


def _as_columns(frame: Any, keep: Sequence[str], found: np.ndarray, heads: list[str]) -> Any:
    """Predictions as a frame of the kind of another, after the columns that are kept."""
    columns = {name: found[:, label] for label, name in enumerate(heads)}
    if hasattr(frame, "with_columns"):
        return type(frame)({**{name: frame[name] for name in keep}, **columns})
    return frame[list(keep)].assign(**columns)
