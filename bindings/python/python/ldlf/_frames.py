"""Data frames as they are: categories, texts, booleans, dates and missing values become features by the rules of the command."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from . import _engine

#: A raw column: its name, its kind ("number", "boolean", "date" or "text"), its values; None, or NaN in numbers, is missing.
Raw = tuple[str, str, Any]


def collected(X: Any) -> Any:
    """A lazy frame of polars as a frame; everything else as it is."""
    return X.collect() if hasattr(X, "collect") and hasattr(X, "collect_schema") and hasattr(X, "sink_csv") else X


def raw_columns(X: Any) -> list[Raw] | None:
    """The columns of a pandas, polars or pyarrow table; None of anything else."""
    package = type(X).__module__.split(".")[0]
    if package == "pandas" and hasattr(X, "dtypes") and getattr(X, "ndim", 0) == 2:
        names, columns, kind_of = list(X.columns), [X.iloc[:, place] for place in range(X.shape[1])], _of_pandas
    elif package == "polars" and hasattr(X, "get_columns"):
        names, columns, kind_of = list(X.columns), X.get_columns(), _of_polars
    elif package == "pyarrow" and hasattr(X, "column_names"):
        names, columns, kind_of = list(X.column_names), list(X.columns), _of_pyarrow
    else:
        return None
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise ValueError(f"X has two columns named {twice!r}; rename one")
    return [(str(name), *kind_of(str(name), column)) for name, column in zip(names, columns)]


def needs_encoding(columns: list[Raw]) -> bool:
    """Whether the columns are more than numbers and booleans without missing values."""
    for _, kind, values in columns:
        if kind in ("text", "date") or (kind == "boolean" and None in values):
            return True
        if kind == "number" and np.isnan(values).any():
            return True
    return False


def learn(columns: list[Raw]) -> tuple[str, list[str], Any]:
    """Decides how columns become features: the decision as JSON, the names of the columns used, and the rows."""
    decided, left_out, notices = _engine.infer_columns(columns)
    for name, reason in left_out:
        warnings.warn(f"column {name!r} is left out: {reason}", stacklevel=5)
    for notice in notices:
        warnings.warn(notice, stacklevel=5)
    left = {name for name, _ in left_out}
    used = [name for name, _, _ in columns if name not in left]
    if not used:
        raise ValueError("no column of X can be a feature: " + "; ".join(f"{name!r}: {why}" for name, why in left_out))
    rows, _ = encode(decided, columns)
    return decided, used, rows


def encode(decided: str, columns: list[Raw]) -> tuple[Any, list[str]]:
    """Rows by columns that were decided on, found by name, and the names of the features."""
    features, names, notices = _engine.encode_columns(decided, columns)
    for notice in notices:
        warnings.warn(notice, stacklevel=5)
    if isinstance(features, tuple):
        indptr, indices, data, width = features
        features = sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, width))
    return features, names


def is_sparse(X: Any) -> bool:
    """Whether this is a frame of pandas with sparse columns alone: numbers, which stay sparse."""
    kinds: Any = getattr(X, "dtypes", ())
    return (
        hasattr(X, "iloc") and X.ndim == 2 and len(kinds) > 0 and all(str(kind).startswith("Sparse") for kind in kinds)
    )


def not_a_number(X: Any, names: Sequence[Any]) -> str | None:
    """What a column of a table holds that is no number, in a sentence; None where there is no such column."""
    for place, name in enumerate(names):
        column = X.iloc[:, place] if hasattr(X, "iloc") else X[name]
        kind = getattr(column, "dtype", getattr(column, "type", None))
        try:
            np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            return f"column {name!r} of X holds {_kind_in_words(kind, column)}, where the training rows had numbers"
    return None


def dates_among(X: Any, names: Sequence[Any]) -> str | None:
    """The first column of dates or times in a sentence: as numbers they would be nanoseconds."""
    kinds = getattr(X, "dtypes", None)
    kinds = getattr(getattr(X, "schema", None), "types", []) if kinds is None else kinds
    for name, kind in zip(names, kinds):
        if str(kind).lower().startswith(("date", "time", "duration")):
            return f"column {name!r} of X holds {kind}, where the training rows had numbers"
    return None


def _kind_in_words(kind: Any, column: Any) -> str:
    """What a column holds, with an example where its type says nothing."""
    if str(kind) not in ("object", "str", "string", "String", "category", "large_string"):
        return str(kind)
    values = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    value = next((value for value in values if not is_number(value)), None)
    return f"the text {value!r}" if isinstance(value, str) else f"a {type(value).__name__}"


def is_number(value: Any) -> bool:
    """Whether a cell can be read as a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def are_numbers(columns: str) -> bool:
    """Whether every decided column is one number without a flag for missing values, so that an array can stand for the table."""
    return all(column["encoding"] == {"number": {}} and not column.get("indicator") for column in json.loads(columns))


def width(column: dict[str, Any]) -> int:
    """How many features one decided column makes."""
    return len(_engine.encode_columns(json.dumps([column]), [(column["name"], "text", [])])[1])


def _of_pandas(name: str, column: Any) -> tuple[str, Any]:
    if str(column.dtype).startswith("Sparse"):
        column = column.sparse.to_dense()
    kind = column.dtype
    code = getattr(kind, "kind", "O")
    text = str(kind)
    if text == "category":
        column = column.astype(object)
    elif code == "b":
        cells = zip(column.astype(object), column.isna())
        return "boolean", [None if is_missing else bool(value) for value, is_missing in cells]
    elif code in "iuf" and not text.startswith("interval"):
        return "number", column.to_numpy(dtype=np.float64, na_value=np.nan)
    elif code == "M":
        import pandas as pd

        column = column.dt.tz_convert("UTC").dt.tz_localize(None) if getattr(kind, "tz", None) is not None else column
        seconds = column.astype("datetime64[s]").astype(np.int64)
        return "date", [None if pd.isna(at) else int(second) for at, second in zip(column, seconds)]
    elif code in "mc" or text.startswith("interval"):
        raise ValueError(f"column {name!r} of X holds {text}, which is no number, text or date; convert or drop it")
    return "text", [_text(name, value) for value in column.tolist()]


def _text(name: str, value: Any) -> str | None:
    if value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, list | dict | set | tuple | np.ndarray):
        raise ValueError(f"column {name!r} of X holds a {type(value).__name__} per row; give one value per cell")
    return str(value)


def _of_polars(name: str, column: Any) -> tuple[str, Any]:
    import polars as pl

    kind = column.dtype
    if kind.is_numeric():
        return "number", column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if kind == pl.Boolean:
        return "boolean", column.to_list()
    if kind in (pl.Date, pl.Datetime):
        return "date", column.cast(pl.Datetime("ms")).dt.epoch("s").to_list()
    if kind in (pl.String, pl.Categorical, pl.Enum):
        return "text", column.cast(pl.String).to_list()
    if kind == pl.Null:
        return "text", column.to_list()
    raise ValueError(f"column {name!r} of X holds {kind}, which is no number, text or date; convert or drop it")


def _of_pyarrow(name: str, column: Any) -> tuple[str, Any]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return _of_pyarrow(name, column.cast(kind.value_type))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number", column.cast(pa.float64()).fill_null(float("nan")).to_numpy()
    if pa.types.is_boolean(kind):
        return "boolean", column.to_pylist()
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return "date", column.cast(pa.timestamp("s"), safe=False).cast(pa.int64()).to_pylist()
    if (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_null(kind)
    ):
        return "text", column.to_pylist()
    raise ValueError(f"column {name!r} of X holds {kind}, which is no number, text or date; convert or drop it")
