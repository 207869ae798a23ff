"""The work on bucketed tables: rounds in which every bucket meets another."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from linkproof import _core
from linkproof._cluster import _TRIES, Cluster, ClusterError, _first_line, put
from linkproof._progress import Progress
from linkproof._settings import read_flag
from linkproof._words import refused

Floats: TypeAlias = npt.NDArray[np.float32]
Gamma: TypeAlias = tuple[float, float, float]
# One or two buckets by their places, where their parts begin, and the links between them.
Meeting: TypeAlias = tuple[list[int], list[Any], list[list[int]], Any]
# What a meeting found: gamma, and what its visits paid.
Told: TypeAlias = tuple[Gamma, float]

# The longest first step, and the same times the root of the number of parts.
_LONGEST = 0.05
_RATE = 0.2


class Shape(NamedTuple):
    """A table: nodes, dimensions, buckets, and the parts of each."""

    n: int
    dim: int
    buckets: int
    parts: int

    @property
    def all_parts(self) -> int:
        """The parts of all buckets."""
        return self.buckets * self.parts


def cuts_of(n: int, pieces: int) -> npt.NDArray[np.int64]:
    """Where buckets or parts start, and where the last one ends."""
    return np.array([place * n // pieces for place in range(pieces + 1)], np.int64)


@dataclass
class TableState:
    """How far a fit has come, apart from its buckets."""

    epoch: int = 0
    # Rounds of this epoch that are done.
    done: int = 0
    # How often every vector has moved.
    moves: int = 0
    gamma: Gamma = (0.0, 0.0, 0.0)
    values: list[float] = field(default_factory=list)
    # What the meetings of this epoch paid.
    paid: list[float] = field(default_factory=list)


class TableWork:
    """A fit of a bucketed table on its way."""

    def __init__(
        self,
        workers: InProcess | OnCluster,
        params: dict[str, Any],
        shape: Shape,
        kept: KeptTable | None,
    ) -> None:
        self._workers = workers
        self._params = params
        self._shape = shape
        self._seed = int(params["seed"])
        self._kept = kept
        self._cuts = cuts_of(shape.n, shape.all_parts)
        # Nodes stand in buckets by chance, so that links spread evenly.
        self.places = np.random.default_rng([self._seed, 1]).permutation(shape.n)
        self._links: dict[tuple[int, int], Any] = {}
        self._per = 1.0
        begin = self._start if kept is None or kept.state is None else kept.bucket
        buckets = [workers.put(begin(place)) for place in range(shape.buckets)]
        # Together, so that whoever looks finds what belongs together.
        self._now = TableState(), buckets

    @property
    def buckets(self) -> list[Any]:
        """The buckets, as they are kept."""
        return self._now[1]

    def _rows(self, place: int) -> list[int]:
        """At which rows of a bucket its parts start, and where the last one ends."""
        first = place * self._shape.parts
        cuts = self._cuts[first : first + self._shape.parts + 1]
        rows: list[int] = (cuts - cuts[0]).tolist()
        return rows

    def _start(self, place: int) -> Floats:
        rows, dim = self._rows(place)[-1], self._shape.dim
        random = np.random.default_rng([self._seed, 2, place])
        state = np.zeros((3, rows * dim), np.float32)
        state[0] = random.normal(size=rows * dim) / np.sqrt(dim)
        return state

    def split(
        self,
        src: npt.NDArray[np.uint32],
        dst: npt.NDArray[np.uint32],
        weight: npt.NDArray[np.float64],
    ) -> None:
        """Put the links of each pair of buckets where meetings find them."""
        count, parts = self._shape.buckets, self._shape.parts
        ends = np.stack([self.places[src], self.places[dst]])
        ends.sort(axis=0)
        part = np.searchsorted(self._cuts, ends, side="right") - 1
        pair = part // parts
        key = pair[0] * count + pair[1]
        part %= parts
        inside = part[0] * parts + part[1]
        order = np.lexsort((ends[1], ends[0], inside, key))
        starts = np.searchsorted(key[order], np.arange(count**2 + 1))
        for a in range(count):
            for b in range(a, count):
                mine = order[starts[a * count + b] : starts[a * count + b + 1]]
                first, second = (
                    (ends[end, mine] - self._cuts[bucket * parts]).astype(np.uint32)
                    for end, bucket in enumerate((a, b))
                )
                begin = np.searchsorted(inside[mine], np.arange(parts**2 + 1)).astype(np.uint32)
                self._links[a, b] = self._workers.put((first, second, weight[mine], begin))
        # The links of two parts on average: what visits divide by has to be the same for
        # all, or those with few links would count for more.
        self._per = 2 * len(weight) / self._shape.all_parts**2
        state, buckets = self._now
        if self._kept is not None and self._kept.state is not None:
            state = TableState(**self._kept.state)
            state.gamma = tuple(self._kept.state["gamma"])
        else:
            median = float(np.median(weight))
            pairs = self._shape.n * (self._shape.n - 1) / 2
            gamma = float(-np.log(np.minimum(weight, median).sum() / pairs))
            state = replace(state, gamma=(gamma, 0.0, 0.0))
        self._now = state, buckets

    def run(self, epochs: int, progress: Progress) -> TableState:
        """All epochs, round after round."""
        try:
            for epoch in range(self._now[0].epoch, epochs):
                self._epoch(epoch, epochs)
                if progress.show is not None:
                    progress.show(epoch + 1, epochs, None)
        except (KeyboardInterrupt, ClusterError):
            # What is lost with a node cannot be kept; the last checkpoint stays.
            with contextlib.suppress(Exception):
                self._keep()
            raise
        if self._kept is not None:
            self._kept.finish()
        return self._now[0]

    def _epoch(self, epoch: int, epochs: int) -> None:
        rounds = np.random.default_rng([self._seed, 3, epoch]).permutation(self._shape.buckets)
        settings = self._settings(epoch, epochs)
        for meeting in rounds[self._now[0].done :].tolist():
            inner = np.random.default_rng([self._seed, 4, epoch, meeting])
            order = inner.permutation(self._shape.parts).tolist()
            # All at once: a round that was cut short leaves all as it was.
            self._now = self._round(settings, meeting, order)
            if self._kept is not None and self._kept.is_due():
                self._keep()
        state, buckets = self._now
        # Inside a part there are half as many pairs as between two.
        value = float(np.sum(state.paid)) / (self._shape.all_parts**2 / 2)
        values = [*state.values, value]
        self._now = replace(state, epoch=epoch + 1, done=0, values=values, paid=[]), buckets

    def _keep(self) -> None:
        if self._kept is not None:
            state, buckets = self._now
            # One after another: they need not fit into this process.
            self._kept.save(asdict(state), map(self._workers.get, buckets))

    def _settings(self, epoch: int, epochs: int) -> str:
        settings = dict(self._params)
        count = self._shape.all_parts
        # Each part is in as many visits of an epoch as there are parts, and the ridge on
        # its vectors is shared out among them.
        settings["ridge"] = float(settings["ridge"]) / count
        # Visits to many parts have few links each. What a vector moves in an epoch, by
        # chance and not, grows with the root of their number.
        rate = settings.get("learning-rate") or min(_LONGEST, _RATE / count**0.5)
        # What a step works on is a quarter of a visit, so that it takes little memory.
        rows = 2 * (self._shape.n // count)
        settings["block"] = max(64, min(4096, rows // 4))
        # Steps get shorter towards the end.
        settings["learning-rate"] = float(rate) * (1.0 - 0.9 * epoch / epochs)
        return json.dumps(settings)

    def _round(self, settings: str, meeting: int, order: list[int]) -> tuple[TableState, list[Any]]:
        """The meetings of a round, which share no bucket."""
        state, buckets = self._now
        asked = {
            "settings": settings,
            "dim": self._shape.dim,
            "gamma": state.gamma,
            "order": order,
            "moves": state.moves,
            "per": self._per,
        }
        meetings: list[Meeting] = []
        for pair in ((p, p ^ meeting) for p in range(self._shape.buckets) if p <= p ^ meeting):
            places = list(dict.fromkeys(pair))
            rows = [self._rows(place) for place in places]
            meetings.append((places, [buckets[place] for place in places], rows, self._links[pair]))
        moved, found = self._workers.meet(asked, meetings)
        # All meetings of a round start from one gamma, and their ends are averaged.
        gammas = np.array([gamma for gamma, _ in found], np.float64)
        state = replace(
            state,
            done=state.done + 1,
            moves=state.moves + self._shape.parts,
            gamma=tuple(gammas.mean(axis=0).tolist()),
            paid=[*state.paid, *(paid for _, paid in found)],
        )
        return state, [moved[place] for place in range(self._shape.buckets)]


def _meet(
    worker: _core.BucketWorker, asked: dict[str, Any], meeting: Meeting, get: Callable[[Any], Any]
) -> tuple[list[Floats], Told]:
    """The buckets of a meeting after it, and what it found."""
    _, buckets, cuts, links = meeting
    states = [np.array(get(bucket)) for bucket in buckets]
    return states, worker.meet(buckets=states, cuts=cuts, links=get(links), **asked)


class InProcess:
    """One meeting after another, in this process, which holds the table."""

    def __init__(self) -> None:
        self._worker = _core.BucketWorker(None)

    def put(self, numbers: Any) -> Any:
        """Keep something."""
        return numbers

    def get(self, kept: Any) -> Any:
        """What was kept."""
        return kept

    def meet(
        self, asked: dict[str, Any], meetings: list[Meeting]
    ) -> tuple[dict[int, Any], list[Told]]:
        """The buckets of meetings that share none, by their places, and what was found."""
        moved: dict[int, Any] = {}
        told: list[Told] = []
        for meeting in meetings:
            states, found = _meet(self._worker, asked, meeting, self.get)
            moved.update(zip(meeting[0], states))
            told.append(found)
        return moved, told


@functools.cache
def _worker(threads: int) -> _core.BucketWorker:
    """One for all meetings in this process."""
    return _core.BucketWorker(threads)


def _meetings(asked: dict[str, Any], threads: int, meetings: list[Meeting]) -> Iterator[Any]:
    """Meetings one after another: the buckets of each, and then what it found."""
    import ray

    for meeting in meetings:
        states, found = _meet(_worker(threads), asked, meeting, ray.get)
        while states:
            yield states.pop(0)
        yield found


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
        """Keep something in the object store."""
        return put(self._ray, numbers, "the table")

    def get(self, kept: Any) -> Any:
        """What was kept."""
        return self._ray.get(kept)

    def meet(
        self, asked: dict[str, Any], meetings: list[Meeting]
    ) -> tuple[dict[int, Any], list[Told]]:
        """As in one process, by as many tasks at a time as there is room for."""
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
                if len(given) != sum(len(places) + 1 for places, *_ in mine):
                    # The last one holds what was raised.
                    self._ray.get(given[-1:])
                    raise ClusterError(f"ray: a task gave {len(given)} objects, too few")
                given.reverse()
                for places, *_ in mine:
                    moved.update((place, given.pop()) for place in places)
                    told[places[0]] = self._ray.get(given.pop())
        except self._ray.exceptions.RayTaskError as error:
            raise self._failed(error) from error
        except self._ray.exceptions.RayError as error:
            raise ClusterError(
                f"ray: visits were lost with their worker: {_first_line(error)}; with too little "
                "memory, use more buckets or fewer workers, and go on from a checkpoint"
            ) from error
        return moved, [told[places[0]] for places, *_ in meetings]

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


# Seconds between two saves, and the share of the time that saves may take, one in so many.
_EVERY = 300.0
_COST = 200


class KeptTable:
    """A folder in which a fit keeps how far it has come.

    Saves take turns between two sets of buckets; the state, which is written last, names its
    set. So the folder is whole at every moment.
    """

    def __init__(self, folder: Any, resume: Any, about: dict[str, Any]) -> None:
        if not isinstance(folder, (str, os.PathLike)):
            raise refused("checkpoint", "a folder or None", folder)
        about = {"linkproof": _core.__version__, "work": "fit_table", **about}
        checkpoint = _core.Checkpoint(folder, read_flag("resume", resume), json.dumps(about))
        self._folder, self._next = folder, 0.0
        self._checkpoint: _core.Checkpoint | None = checkpoint
        found = checkpoint.recall("state")
        kept = None if found is None else json.loads(found)
        self.state: dict[str, Any] | None = None if kept is None else kept["state"]
        self._set = 0 if kept is None else int(kept["set"])

    def bucket(self, place: int) -> Floats:
        """A bucket as it was kept."""
        assert self._checkpoint is not None
        found = self._checkpoint.recall(f"{self._set}-{place}")
        if found is None:
            raise OSError(
                f"{self._folder}: bucket {place} is not what was written there; expected the "
                "checkpoint as it was, or a fit that begins anew, without resume"
            )
        return np.frombuffer(found, np.float32).reshape(3, -1)

    def is_due(self) -> bool:
        """Whether it is time for the next save."""
        return time.monotonic() >= self._next

    def save(self, state: dict[str, Any], buckets: Iterable[Floats]) -> None:
        """Keep the state of a fit in place of the last one."""
        begun = time.monotonic()
        into = 1 - self._set
        for place, bucket in enumerate(buckets):
            self._write(f"{into}-{place}", bucket.tobytes())
        self._write("state", json.dumps({"state": state, "set": into}).encode())
        self._set, self.state = into, state
        took = time.monotonic() - begun
        self._next = time.monotonic() + max(_EVERY, _COST * took)

    def _write(self, key: str, data: bytes) -> None:
        assert self._checkpoint is not None
        self._checkpoint.keep(key, data)

    def finish(self) -> None:
        """Remove what is kept: the fit is done."""
        if self._checkpoint is not None:
            self._checkpoint.finish()

    def close(self) -> None:
        """Leave the folder to others; what was raised may keep this alive."""
        self._checkpoint = None
