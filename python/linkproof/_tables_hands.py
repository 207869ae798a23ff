"""Who makes the meetings of bucketed tables: this process, or tasks of a Ray cluster."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from linkproof import _core
from linkproof._cluster import _TRIES, Cluster, ClusterError, _first_line, put

Floats = npt.NDArray[np.float32]
Gamma = tuple[float, float, float]
# What a meeting found: gamma, what its visits paid, and the memory that its worker had added.
Told = tuple[Gamma, float, int]


@dataclass
class Asked:
    """What all meetings of a round have in common."""

    settings: str
    dim: int
    gamma: Gamma
    order: list[int]
    moves: int
    per: float


@dataclass
class Meeting:
    """One or two buckets, where their parts begin, and the links between them."""

    places: list[int]
    buckets: list[Any]
    cuts: list[list[int]]
    links: Any


def _meet(
    worker: _core.BucketWorker, asked: Asked, states: list[Floats], meeting: Meeting, links: Any
) -> tuple[Gamma, float]:
    """Moves buckets in place."""
    return worker.meet(
        asked.settings,
        asked.dim,
        states,
        meeting.cuts,
        asked.gamma,
        links,
        order=asked.order,
        moves=asked.moves,
        per=asked.per,
    )


class Hands(Protocol):
    """Keeps buckets and makes meetings."""

    def put(self, numbers: Any) -> Any:
        """Keep something."""

    def get(self, kept: Any) -> Any:
        """What was kept."""

    def meet(self, asked: Asked, meetings: list[Meeting]) -> tuple[dict[int, Any], list[Told]]:
        """The buckets of meetings that share none, by their places, and what was found."""


class InProcess:
    """One meeting after another, in this process, which holds the table."""

    def __init__(self) -> None:
        self._worker = _core.BucketWorker(None)

    def put(self, numbers: Any) -> Any:
        return numbers

    def get(self, kept: Any) -> Any:
        return kept

    def meet(self, asked: Asked, meetings: list[Meeting]) -> tuple[dict[int, Any], list[Told]]:
        moved: dict[int, Any] = {}
        told: list[Told] = []
        for meeting in meetings:
            states = [np.array(bucket) for bucket in meeting.buckets]
            told.append((*_meet(self._worker, asked, states, meeting, meeting.links), 0))
            moved.update(zip(meeting.places, states))
        return moved, told


# The memory of this worker before its first meeting.
_before: int | None = None


class _Peak:
    """Watches how much memory this worker adds to what it had before its first meeting."""

    def __init__(self) -> None:
        global _before
        if _before is None:
            _before = _own_memory()
        self.added = 0
        self._from = _before
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._done.wait(0.001):
            self.added = max(self.added, _own_memory() - self._from)

    def __enter__(self) -> _Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def _own_memory() -> int:
    """The bytes that this process has for itself, without the object store's; 0 where
    nobody says."""
    with contextlib.suppress(OSError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith("RssAnon:"):
                return 1024 * int(line.split()[1])
    return 0


def _meetings(asked: Asked, threads: int, meetings: list[Meeting]) -> Iterator[Any]:
    """Meetings one after another: the buckets of each, and then what else is known of it."""
    import ray

    with _Peak() as peak:
        worker = _worker(threads)
        for meeting in meetings:
            states = [np.array(ray.get(bucket)) for bucket in meeting.buckets]
            found = _meet(worker, asked, states, meeting, ray.get(meeting.links))
            while states:
                yield states.pop(0)
            yield (*found, peak.added)


@functools.cache
def _worker(threads: int) -> _core.BucketWorker:
    """One for all meetings in this process."""
    return _core.BucketWorker(threads)


class OnCluster:
    """Tasks of a Ray cluster; its object store keeps the buckets."""

    def __init__(self, cluster: Cluster) -> None:
        self._ray = cluster.connect()
        self._threads = cluster.threads or 1
        self._most = cluster.workers
        cluster.check_room(self._threads)
        self._task = self._ray.remote(_meetings).options(
            num_cpus=self._threads, num_returns="streaming", max_retries=_TRIES
        )

    def put(self, numbers: Any) -> Any:
        return put(self._ray, numbers, "the table")

    def get(self, kept: Any) -> Any:
        return self._ray.get(kept)

    def meet(self, asked: Asked, meetings: list[Meeting]) -> tuple[dict[int, Any], list[Told]]:
        slots = int(self._ray.cluster_resources().get("CPU", 1)) // self._threads
        slots = max(1, min(slots, self._most or slots, len(meetings)))
        running = []
        for slot in range(slots):
            mine = meetings[slot::slots]
            running.append((mine, self._task.remote(asked, self._threads, mine)))
        told: dict[int, Told] = {}
        moved: dict[int, Any] = {}
        try:
            for mine, stream in running:
                given = list(stream)
                if len(given) != sum(len(meeting.places) + 1 for meeting in mine):
                    # The last one holds what was raised.
                    self._ray.get(given[-1:])
                    raise ClusterError(f"ray: a task gave {len(given)} objects, too few")
                given.reverse()
                for meeting in mine:
                    moved.update((place, given.pop()) for place in meeting.places)
                    told[meeting.places[0]] = self._ray.get(given.pop())
        except self._ray.exceptions.RayTaskError as error:
            raise self._failed(error) from error
        except self._ray.exceptions.RayError as error:
            raise ClusterError(
                f"ray: visits were lost with their worker: {_first_line(error)}; with too little "
                "memory, use more buckets or fewer workers, and go on from a checkpoint"
            ) from error
        return moved, [told[meeting.places[0]] for meeting in meetings]

    def _failed(self, error: Exception) -> Exception:
        cause = getattr(error, "cause", None)
        if isinstance(cause, MemoryError):
            return MemoryError(*cause.args)
        full = self._ray.exceptions.ObjectStoreFullError, self._ray.exceptions.OutOfDiskError
        if isinstance(cause, full):
            return ClusterError(
                f"ray: the object store cannot hold the table: {_first_line(error)}; start Ray "
                "with a larger object_store_memory, and go on from a checkpoint"
            )
        return ClusterError(f"ray: a visit failed: {_first_line(error)}")
