"""Rows that stand anywhere (in memory here, or in the partitions of a Dask collection), cut into virtual shards, and their holders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from . import _engine, _inputs, _targets


@dataclass(frozen=True)
class Piece:
    """Some rows of one partition."""

    partition: int
    start: int
    stop: int


@dataclass(frozen=True)
class Rows:
    """Rows one after the other, in partitions that are made when they are needed: ``partition(i)`` gives the data or a delayed value."""

    lengths: tuple[int, ...]
    partition: Callable[[int], Any]
    #: The rows themselves, where they are in this process's memory; pieces of them are sent, never the whole.
    table: Any = None

    def __len__(self) -> int:
        return sum(self.lengths)

    def pieces(self, start: int, stop: int) -> list[Piece]:
        """What the rows from ``start`` to before ``stop`` are made of."""
        pieces, first = [], 0
        for partition, length in enumerate(self.lengths):
            low, high = max(start - first, 0), min(stop - first, length)
            if low < high:
                pieces.append(Piece(partition, low, high))
            first += length
        return pieces


@dataclass(frozen=True)
class Sources:
    """Where features, targets and weights come from, and what workers need to read them."""

    X: Rows
    y: Rows
    weights: Rows | None
    columns: list[str] | None
    label_columns: list[str] | None
    labels: _targets.Labels
    shards: int

    def of(self, shard: int) -> tuple[int, int]:
        """The rows of a virtual shard: as in Rust, ranges as equal as they can be."""
        rows = len(self.X)
        return shard * rows // self.shards, (shard + 1) * rows // self.shards


@dataclass(frozen=True)
class Plan:
    """What one holder is to hold: by virtual shard its rows and the pieces they are made of, numbered among the parts it gets."""

    shards: tuple[int, ...]
    rows: tuple[tuple[int, int], ...]
    X: tuple[tuple[Piece, ...], ...]
    y: tuple[tuple[Piece, ...], ...]
    weights: tuple[tuple[Piece, ...], ...] | None
    columns: list[str] | None
    label_columns: list[str] | None
    labels: _targets.Labels
    threads: int | None


@dataclass
class Partitions:
    """The partitions that a plan needs, each once."""

    X: list[Any] = field(default_factory=list)
    y: list[Any] = field(default_factory=list)
    weights: list[Any] = field(default_factory=list)


def plan(sources: Sources, shards: Sequence[int], threads: int | None) -> tuple[Plan, Partitions]:
    """What a holder of these virtual shards needs."""
    rows = tuple(sources.of(shard) for shard in shards)
    parts = Partitions()

    def gather(source: Rows, into: list[Any]) -> tuple[tuple[Piece, ...], ...]:
        if source.table is not None:
            # One part per shard: the rows themselves.
            into.extend(source.table[start:stop] for start, stop in rows)
            return tuple((Piece(at, 0, stop - start),) for at, (start, stop) in enumerate(rows))
        numbers: dict[int, int] = {}
        pieces = []
        for start, stop in rows:
            own = []
            for piece in source.pieces(start, stop):
                if piece.partition not in numbers:
                    numbers[piece.partition] = len(into)
                    into.append(source.partition(piece.partition))
                own.append(Piece(numbers[piece.partition], piece.start, piece.stop))
            pieces.append(tuple(own))
        return tuple(pieces)

    made = Plan(
        tuple(shards),
        rows,
        gather(sources.X, parts.X),
        gather(sources.y, parts.y),
        None if sources.weights is None else gather(sources.weights, parts.weights),
        sources.columns,
        sources.label_columns,
        sources.labels,
        threads,
    )
    return made, parts


@dataclass(frozen=True)
class Failure:
    """An exception as an answer: what is raised by itself means that the worker is gone."""

    error: Exception


class Shards:
    """Virtual shards in the engine's memory: on a worker an actor, without a cluster a plain object."""

    def __init__(self, plan: Plan, X: list[Any], y: list[Any], weights: list[Any]) -> None:
        self.failure: Failure | None = None
        self.sparse = False
        try:
            self._read(plan, X, y, weights)
        except Exception as error:
            self.failure = Failure(error)
        except BaseException as panic:  # a fault of the engine: raised here it would be taken for a lost worker
            self.failure = Failure(RuntimeError(f"the rows could not be read: {panic}"))

    def _read(self, plan: Plan, X: list[Any], y: list[Any], weights: list[Any]) -> None:
        self._holding = _engine.Holding(plan.threads or worker_threads())
        for at, (shard, (first, end)) in enumerate(zip(plan.shards, plan.rows)):
            try:
                features = _stack([_features(X[p.partition], plan.columns, p) for p in plan.X[at]], plan.columns)
                labels = [np.asarray(_cut(y[p.partition], plan.label_columns, p)) for p in plan.y[at]]
                targets = _targets.encoded(np.concatenate(labels), plan.labels)
                given = None
                if plan.weights is not None:
                    parts = [np.asarray(_cut(weights[p.partition], None, p)) for p in plan.weights[at]]
                    given = np.concatenate(parts).astype(np.float64)
                self.sparse = sparse.issparse(features)
                self._holding.add(
                    shard,
                    first,
                    _inputs.for_engine(features),
                    targets.astype(np.float64),
                    given,
                )
            except (TypeError, ValueError) as error:
                raise type(error)(f"rows {first} to {end - 1}, counted from {first}: {error}") from None

    def kind(self) -> bool | Failure:
        """Whether the features are sparse, or why they could not be read."""
        return self.failure or self.sparse

    def answer(self, question: bytes) -> bytes | None | Failure:
        """The answer to a question; None where everything must be sent first."""
        if self.failure is not None:
            return self.failure
        try:
            return self._holding.answer(question)
        except Exception as error:
            return Failure(error)


def worker_threads() -> int:
    """The threads of the Dask worker that this runs on."""
    from distributed import get_worker

    return get_worker().state.nthreads


def _cut(part: Any, columns: list[str] | None, piece: Piece) -> Any:
    if columns is not None:
        part = part[columns]
    part = part.iloc[piece.start : piece.stop] if hasattr(part, "iloc") else part[piece.start : piece.stop]
    return part


def _features(part: Any, columns: list[str] | None, piece: Piece) -> Any:
    part = _cut(part, columns, piece)
    if sparse.issparse(part):
        part = sparse.csr_matrix(part)
        return part if part.dtype in _inputs.PRECISIONS else part.astype(np.float64)
    array = np.asarray(part)
    if array.dtype not in _inputs.PRECISIONS:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(_no_number(part)) from None
    if array.ndim != 2:
        raise ValueError(f"X must have two dimensions, got {array.ndim}")
    return array


def _no_number(part: Any) -> str:
    """Which column of a frame holds something else than numbers."""
    for name, kind in getattr(part, "dtypes", {}).items() if hasattr(part, "columns") else ():
        if kind.kind not in "biuf":
            return f"column {name!r} of X holds {kind}, not numbers; encode or drop it"
    return "X holds something that is not a number"


def _stack(parts: list[Any], columns: list[str] | None) -> Any:
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    array = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        where = column if columns is None else repr(columns[column])
        raise ValueError(f"X row {row}, column {where} holds {array[row, column]}; fill or drop what is missing")
    return array
