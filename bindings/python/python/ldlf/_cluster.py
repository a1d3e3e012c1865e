"""Where the virtual shards are held: the workers of a Dask cluster, or this process."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dask.base import compute, is_dask_collection
from distributed import Client

from . import _shards
from ._shards import Failure, Shards, Sources

#: Seconds between two checks whether workers that have not answered are alive.
LOOK = 0.5

#: Seconds to wait for a worker when there is none.
PATIENCE = 60

#: How often the same virtual shards may be lost before their next worker would only be lost too.
MOST_LOSSES = 5

#: What a call ends with when the worker of an actor is gone. Faults of the work itself come as a ``Failure``.
LOST = (OSError, RuntimeError, KeyError, asyncio.CancelledError)


def _unwrap(answer: Any) -> Any:
    if isinstance(answer, Failure):
        raise answer.error
    return answer


class Here:
    """This process holds everything."""

    def __init__(self, sources: Sources, threads: int) -> None:
        plan, parts = _shards.plan(sources, range(sources.shards), threads)
        X, y, weights = compute(parts.X, parts.y, parts.weights)
        self._shards = Shards(plan, X, y, weights)
        self.sparse = bool(_unwrap(self._shards.kind()))

    def ask(self, question: bytes, for_newcomer: Callable[[], bytes | None]) -> list[bytes]:
        """The answers of all."""
        return [_unwrap(self._shards.answer(question))]

    def close(self) -> None:
        """Nothing to free: the rows go with this object."""


@dataclass
class Holder:
    """One actor: its virtual shards, the future of the actor, and how often the shards were lost."""

    shards: list[int]
    future: Any = None
    actor: Any = None
    address: str = ""
    losses: int = 0


class Workers:
    """The workers of a cluster hold the shards, one actor each. A worker that dies is replaced, its rows are read again."""

    def __init__(self, client: Client, sources: Sources) -> None:
        # Its methods give values or awaitables, by how it was made, and its types say both.
        self._client: Any = client
        self._sources = sources
        self._round: asyncio.Future[Any] | None = None
        self.holders: list[Holder] = []
        try:
            threads = self._alive()
            self.holders = [Holder(shards) for shards in deal(sources.shards, list(threads.values())) if shards]
            for holder, worker in zip(self.holders, threads):
                self._send(holder, worker)
            for holder in self.holders:
                self._settle(holder)
            kinds = self._ask_all("kind", {holder.shards[0]: () for holder in self.holders})
            # Where some are sparse and others dense, those that differ will say so.
            self.sparse = any(kinds)
        except BaseException:
            self.close()
            raise

    def _alive(self) -> dict[str, int]:
        """Every worker and its threads; waits for one where there is none."""
        threads = self._client.nthreads()
        if not threads:
            self._client.wait_for_workers(1, timeout=PATIENCE)
            threads = self._client.nthreads()
        return dict(sorted(threads.items()))

    def _send(self, holder: Holder, worker: str) -> None:
        """Lets a worker read the rows of a holder from their source."""
        plan, parts = _shards.plan(self._sources, holder.shards, None)
        where = {"workers": [worker], "allow_other_workers": True}

        def remote(values: list[Any]) -> list[Any]:
            if values and is_dask_collection(values[0]):
                return list(self._client.compute(values, **where))
            return list(self._client.scatter(values, workers=[worker], hash=False)) if values else []

        holder.actor = None
        holder.future = self._client.submit(
            Shards,
            plan,
            remote(parts.X),
            remote(parts.y),
            remote(parts.weights),
            actor=True,
            key=f"ldlf-shards-{uuid.uuid4().hex}",
            pure=False,
            **where,
        )

    def _settle(self, holder: Holder) -> None:
        """Waits until the rows of a holder are read."""
        while True:
            try:
                holder.actor = holder.future.result()
                holder.address = holder.actor._address
                return
            except LOST:
                # The worker, or one that held a part of its rows, died on the way; KilledWorker is raised as it is.
                self._replace(holder)

    def _replace(self, holder: Holder) -> None:
        holder.losses += 1
        if holder.losses > MOST_LOSSES:
            raise RuntimeError(
                f"virtual shards {holder.shards[0]} to {holder.shards[-1]} were lost {holder.losses} times; do workers run out "
                "of memory? More virtual_shards on more workers make each of them smaller"
            )
        self._free(holder)
        while True:
            held = {worker: 0 for worker in self._alive()}
            for other in self.holders:
                if other is not holder and other.address in held:
                    held[other.address] += len(other.shards)
            chosen = min(held, key=lambda worker: held[worker])
            try:
                self._send(holder, chosen)
                return
            except KeyError:
                # The scheduler had not yet heard that the chosen worker is dead, and has now forgotten it.
                if chosen in self._client.nthreads():
                    raise

    def ask(self, question: bytes, for_newcomer: Callable[[], bytes | None]) -> list[bytes]:
        """The answers of all, even if workers are lost meanwhile."""
        return self._ask_all("answer", {holder.shards[0]: (question,) for holder in self.holders}, for_newcomer)

    def _ask_all(
        self, what: str, arguments: dict[int, tuple[Any, ...]], for_newcomer: Callable[[], bytes | None] | None = None
    ) -> list[Any]:
        """Calls a method of every actor, until each has answered once. Arguments go by the first shard of a holder."""
        answers: dict[int, Any] = {}
        waiting = list(self.holders)
        while waiting:
            for holder in waiting:
                if holder.actor is None:
                    self._settle(holder)
            found = self._client.sync(self._ask_once, what, waiting, arguments)
            for holder, (lost, answer) in zip(list(waiting), found):
                first = holder.shards[0]
                if lost:
                    self._replace(holder)
                if lost or (answer is None and for_newcomer is not None):
                    if for_newcomer is not None:
                        arguments[first] = (for_newcomer(),)
                    continue
                answers[first] = _unwrap(answer)
                waiting.remove(holder)
        return [answers[holder.shards[0]] for holder in self.holders]

    async def _ask_once(
        self, what: str, holders: list[Holder], arguments: dict[int, tuple[Any, ...]]
    ) -> list[tuple[bool, Any]]:
        """By holder: whether it was lost, else its answer. Runs on the client's loop."""

        async def call(holder: Holder) -> Any:
            # An actor finds its way through the current client, whichever that is.
            with self._client.as_current():
                return await getattr(holder.actor, what)(*arguments[holder.shards[0]])

        calls = [asyncio.ensure_future(call(holder)) for holder in holders]
        self._round = asyncio.gather(*calls, return_exceptions=True)
        try:
            pending = set(calls)
            while pending:
                _, pending = await asyncio.wait(pending, timeout=LOOK)
                if not pending:
                    break
                # A call to a worker that died may never come back: the scheduler knows which workers are alive.
                alive = await self._client.scheduler.ncores()
                for holder, task in zip(holders, calls):
                    if holder.address not in alive or holder.future.status != "finished":
                        task.cancel()
            found = await self._round
        finally:
            for task in calls:
                task.cancel()
        for answer in found:
            if isinstance(answer, BaseException) and not isinstance(answer, LOST):
                raise answer
        return [(isinstance(answer, LOST), answer) for answer in found]

    def _free(self, holder: Holder) -> None:
        if holder.future is not None:
            holder.future.cancel(force=True)
            holder.future.release()
        holder.future = holder.actor = None

    def close(self) -> None:
        """Ends a round that is under way and frees the workers' memory."""
        round_, self._round = self._round, None
        if round_ is not None and self._client.loop is not None:
            self._client.loop.add_callback(round_.cancel)
        if self._client.status == "running":
            for holder in self.holders:
                self._free(holder)
        self.holders = []


def deal(shards: int, threads: list[int]) -> list[list[int]]:
    """Neighbouring virtual shards for every worker, by its threads.

    >>> deal(8, [1, 1])
    [[0, 1, 2, 3], [4, 5, 6, 7]]
    >>> deal(2, [1, 1, 1])
    [[0], [1], []]
    """
    total, ends = sum(threads), [0]
    for count in threads:
        ends.append(ends[-1] + count)
    bounds = [-(-shards * end // total) for end in ends]
    return [list(range(first, last)) for first, last in zip(bounds, bounds[1:])]
