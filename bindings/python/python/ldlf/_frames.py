"""Data frames as they are: categories, texts, booleans, dates and missing values become features by the rules of the command."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from . import _engine

#: A raw column: its name, its kind ("number", "boolean", "date" or "text"), its values; None, or NaN in numbers, is missing.
Raw = tuple[str, str, Any]


def collected(X: Any) -> Any:
    """A lazy frame of polars as a frame; everything else as it is."""
    return X.collect() if hasattr(X, "collect") and hasattr(X, "collect_schema") and hasattr(X, "sink_csv") else X


def is_frame(X: Any) -> bool:
    """Whether this is a pandas, polars or pyarrow table."""
    package = type(X).__module__.split(".")[0]
    return (
        (package == "pandas" and hasattr(X, "dtypes") and getattr(X, "ndim", 0) == 2)
        or (package == "polars" and hasattr(X, "get_columns"))
        or (package == "pyarrow" and hasattr(X, "column_names"))
    )


def are_named(X: Any) -> bool:
    """Whether the columns of a table have names, not the numbers that pandas gives."""
    return all(isinstance(name, str) for name in _names(X))


def _names(X: Any) -> list[Any]:
    return list(X.column_names if hasattr(X, "column_names") else X.columns)


def without(X: Any, left_out: Sequence[str]) -> Any:
    """A table without those of the columns that it has."""
    here = [name for name in left_out if name in _names(X)]
    if not here:
        return X
    return X.drop(columns=here) if hasattr(X, "iloc") else X.drop(here)


def only(X: Any, names: Sequence[str]) -> Any:
    """These columns of a table."""
    return X.select(list(names)) if hasattr(X, "column_names") else X[list(names)]


def raw_columns(X: Any, only: Collection[str] | None = None) -> list[Raw] | None:
    """The columns of a pandas, polars or pyarrow table, or of these only those so named; None of anything else."""
    if not is_frame(X):
        return None
    package = type(X).__module__.split(".")[0]
    columns: Sequence[Any]
    kind_of: Callable[[str, Any], tuple[str, Any]]
    if package == "pandas":
        names, columns, kind_of = list(X.columns), [X.iloc[:, place] for place in range(X.shape[1])], _of_pandas
    elif package == "polars":
        names, columns, kind_of = list(X.columns), X.get_columns(), _of_polars
    else:
        names, columns, kind_of = list(X.column_names), list(X.columns), _of_pyarrow
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise ValueError(f"X has two columns named {twice!r}; rename one")
    wanted = [(str(name), column) for name, column in zip(names, columns) if only is None or str(name) in only]
    found = [(name, *kind_of(name, column)) for name, column in wanted]
    for name, kind, values in found:
        if kind == "number" and (odd := np.isinf(values)).any():
            raise ValueError(f"Input X contains infinity in row {int(np.argmax(odd))}, column {name!r}; replace it")
    return found


def needs_encoding(columns: list[Raw]) -> bool:
    """Whether the columns are more than numbers and booleans without missing values."""
    for _, kind, values in columns:
        if kind in ("text", "date") or (kind == "boolean" and None in values):
            return True
        if kind == "number" and np.isnan(values).any():
            return True
    return False


def learn(columns: list[Raw]) -> tuple[str, list[str], list[str], Any]:
    """Decides how columns become features: the decision as JSON, the names of the columns used and left out, and the rows."""
    decided, left_out, notices = _engine.infer_columns(columns)
    for name, reason in left_out:
        warnings.warn(f"column {name!r} is left out: {reason}", stacklevel=5)
    for notice in notices:
        warnings.warn(notice, stacklevel=5)
    left = [name for name, _ in left_out]
    used = [name for name, _, _ in columns if name not in left]
    if not used:
        raise ValueError("no column of X can be a feature: " + "; ".join(f"{name!r}: {why}" for name, why in left_out))
    rows, _ = encode(decided, columns)
    return decided, used, left, rows


def encode(decided: str, columns: list[Raw]) -> tuple[Any, list[str]]:
    """Rows by columns that were decided on, found by name, and the names of the features."""
    features, names, notices = _engine.encode_columns(decided, columns)
    for notice in notices:
        warnings.warn(notice, stacklevel=5)
    if isinstance(features, tuple):
        indptr, indices, data, width = features
        features = sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, width))
    return features, names


def encoded(decided: str, X: Any) -> Any:
    """The rows of a table by columns that were decided on; a column of numbers that holds something else is named."""
    needed = [column["name"] for column in json.loads(decided)]
    try:
        return encode(decided, raw_columns(X, set(needed)) or [])[0]
    except ValueError as error:
        if "not a number" in str(error):
            sentence = _no_number_any_more(decided, X)
            if sentence is not None:
                raise ValueError(sentence) from None
        raise


def _no_number_any_more(decided: str, X: Any) -> str | None:
    here = set(_names(X))
    names = [c["name"] for c in json.loads(decided) if "number" in c["encoding"] and c["name"] in here]
    numbers = only(X, names)
    return dates_among(numbers, names) or not_a_number(numbers, names)


def missing_only_here(decided: str, columns: list[Raw]) -> str | None:
    """The first column with missing values that had none in training."""
    flagged = {column["name"] for column in json.loads(decided) if column.get("indicator")}
    for name, kind, values in columns:
        gone = np.isnan(values).any() if kind == "number" else None in values
        if gone and name not in flagged:
            return name
    return None


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
    """Whether every decided column is one number, or yes and no, without a flag for missing values, so that an array can stand for
    the table."""
    plain: list[Any] = [{"number": {}}, {"boolean": {}}]
    return all(column["encoding"] in plain and not column.get("indicator") for column in json.loads(columns))


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
