"""Tables that come in batches: columns by name, in the engine's order, and predictions as columns again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

#: The accepted types, for the error message about others.
FORMS = (
    "a pyarrow Table, RecordBatch, RecordBatchReader or Dataset, a polars DataFrame or LazyFrame, a pandas DataFrame, "
    "or an iterable of such tables"
)


def record_batches(data: Any, columns: Sequence[str] | None, rows: int) -> Iterator[Any]:
    """The data as pyarrow record batches of at most so many rows, with at least these columns where they are known."""
    import pyarrow as pa

    for batch in _batches(data, columns, rows, pa):
        for start in range(0, max(batch.num_rows, 1), rows):
            yield batch.slice(start, rows)


def _batches(data: Any, columns: Sequence[str] | None, rows: int, pa: Any) -> Iterator[Any]:
    if hasattr(data, "scanner"):  # a dataset: only the columns that are needed are read
        chosen = None if columns is None else list(columns)
        yield from data.scanner(columns=chosen, batch_size=rows).to_batches()
    elif isinstance(data, pa.RecordBatch):
        yield data
    elif isinstance(data, pa.Table):
        yield from data.to_batches(max_chunksize=rows) or [pa.RecordBatch.from_pylist([], schema=data.schema)]
    elif hasattr(data, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(data)
    elif hasattr(data, "collect_batches"):  # a lazy frame of polars
        chosen = data if columns is None else data.select(list(columns))
        for frame in chosen.collect_batches(chunk_size=rows):
            yield from pa.RecordBatchReader.from_stream(frame)
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes | np.ndarray):
        for table in data:
            yield from _batches(table, columns, rows, pa)
    else:
        raise TypeError(f"batches are predicted of {FORMS}, got {type(data).__name__}")


def places(batch: Any, names: Sequence[str]) -> list[int]:
    """Where the named columns of a batch stand."""
    fields = [batch.schema.get_all_field_indices(name) for name in names]
    for name, found in zip(names, fields):
        if len(found) != 1:
            problem = "no column" if not found else "more than one column"
            raise ValueError(
                f"{problem} {name!r}, which the model needs; the columns are {', '.join(batch.schema.names)}"
            )
    return [found[0] for found in fields]


def features(batch: Any, names: Sequence[str], first_row: int) -> np.ndarray:
    """The named columns of a batch as rows; says where a value is missing or no number."""
    import pyarrow as pa

    arrays = [batch.column(place) for place in places(batch, names)]
    single = all(pa.types.is_float32(array.type) for array in arrays)
    rows = np.empty((batch.num_rows, len(names)), dtype=np.float32 if single else np.float64)
    for column, (name, array) in enumerate(zip(names, arrays)):
        kind = array.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise ValueError(f"column {name!r}: {kind} is not a type of numbers; the model needs numbers here")
        if array.null_count:
            row = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
            raise ValueError(f"row {first_row + row}, column {name!r}: the value is missing")
        rows[:, column] = array.to_numpy(zero_copy_only=False)
    odd = ~np.isfinite(rows)
    if odd.any():
        row, column = (int(place) for place in np.argwhere(odd)[0])
        raise ValueError(f"row {first_row + row}, column {names[column]!r}: {rows[row, column]} is not a finite number")
    return rows
