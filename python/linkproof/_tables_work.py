"""The work on bucketed tables: rounds of visits, made by tasks of a Ray cluster."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from linkproof import _core
from linkproof._cluster import _TRIES, Cluster, ClusterError, _first_line, put
from linkproof._progress import Progress
from linkproof._tables_kept import KeptTable

Floats = npt.NDArray[np.float32]

# The longest first step, and the same times the root of the number of buckets.
_LONGEST = 0.05
_RATE = 0.2


def cuts_of(n: int, buckets: int) -> npt.NDArray[np.int64]:
    """Where buckets start, and where the last one ends."""
    return np.array([place * n // buckets for place in range(buckets + 1)], np.int64)


class _Peak:
    """Watches how much memory this process adds to its own, without the object store's."""

    def __init__(self) -> None:
        self.added = 0
        self._done = threading.Event()
        self._from = _own_memory()
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
    """The bytes of memory that this process has for itself; 0 where nobody says."""
    with contextlib.suppress(OSError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith("RssAnon:"):
                return 1024 * int(line.split()[1])
    return 0


def _visits(
    settings: str,
    dim: int,
    gamma: tuple[float, float, float],
    how: tuple[int, float, int],
    visits: list[tuple[list[Any], Any]],
) -> Any:
    """Visits one after another: the buckets of each, and then what else is known of it."""
    import ray

    moves, per, threads = how
    for buckets, links in visits:
        with _Peak() as peak:
            states = [ray.get(bucket) for bucket in buckets]
            moved, new_gamma, value = _core.visit_buckets(
                settings, dim, states, gamma, ray.get(links), moves=moves, per=per, threads=threads
            )
            del states
        # Not `yield from`, which Ray cannot send to.
        for bucket in moved:  # noqa: UP028
            yield bucket
        yield new_gamma, value, peak.added


@dataclass
class TableState:
    """How far a fit has come, apart from its buckets."""

    epoch: int = 0
    # Rounds of this epoch that are done, and of all.
    done: int = 0
    moves: int = 0
    gamma: tuple[float, float, float] = (0.0, 0.0, 0.0)
    values: list[float] = field(default_factory=list)
    # What the visits of this epoch paid.
    paid: list[float] = field(default_factory=list)
    peak: int = 0


class TableWork:
    """A fit of a bucketed table on its way."""

    def __init__(
        self,
        cluster: Cluster,
        params: dict[str, Any],
        shape: tuple[int, int, int],
        kept: KeptTable | None,
    ) -> None:
        self._ray = cluster.connect()
        self._threads = cluster.threads or 1
        self._most = cluster.workers
        cluster.check_room(self._threads)
        self._params = params
        self._n, self._dim, self._count = shape
        self._seed = int(params["seed"])
        self._kept = kept
        self._cuts = cuts_of(self._n, self._count)
        # Nodes stand in buckets by chance, so that links spread evenly.
        self.places = np.random.default_rng([self._seed, 1]).permutation(self._n)
        self._links: dict[tuple[int, int], Any] = {}
        self._per = 1.0
        self._state = TableState()
        begin = self._start if kept is None or kept.state is None else kept.bucket
        self.buckets = [self._put(begin(place)) for place in range(self._count)]

    def _put(self, numbers: Any) -> Any:
        return put(self._ray, numbers, "the table")

    def _start(self, place: int) -> Floats:
        rows = int(self._cuts[place + 1] - self._cuts[place])
        random = np.random.default_rng([self._seed, 2, place])
        state = np.zeros((3, rows * self._dim), np.float32)
        state[0] = random.normal(size=rows * self._dim) / np.sqrt(self._dim)
        return state

    def split(
        self,
        src: npt.NDArray[np.uint32],
        dst: npt.NDArray[np.uint32],
        weight: npt.NDArray[np.float64],
    ) -> None:
        """Put the links of each pair of buckets where visits find them."""
        ends = np.stack([self.places[src], self.places[dst]])
        buckets = np.searchsorted(self._cuts, ends, side="right") - 1
        turned = ends[0] > ends[1]
        ends[:, turned], buckets[:, turned] = ends[::-1, turned], buckets[::-1, turned]
        key = buckets[0] * self._count + buckets[1]
        order = np.lexsort((ends[1], ends[0], key))
        starts = np.searchsorted(key[order], np.arange(self._count**2 + 1))
        for a in range(self._count):
            for b in range(a, self._count):
                pair = a * self._count + b
                mine = order[starts[pair] : starts[pair + 1]]
                first = (ends[0, mine] - self._cuts[a]).astype(np.uint32)
                size = self._cuts[a + 1] - self._cuts[a] if a != b else 0
                second = (ends[1, mine] - self._cuts[b] + size).astype(np.uint32)
                self._links[a, b] = self._put((first, second, weight[mine]))
        # The links of two buckets on average: what visits divide by has to be the same for
        # all, or those with few links would count for more.
        self._per = 2 * len(weight) / self._count**2
        median = float(np.median(weight))
        pairs = self._n * (self._n - 1) / 2
        gamma = float(-np.log(np.minimum(weight, median).sum() / pairs))
        self._state.gamma = (gamma, 0.0, 0.0)
        if self._kept is not None and self._kept.state is not None:
            self._state = TableState(**self._kept.state)
            self._state.gamma = tuple(self._kept.state["gamma"])

    def run(self, epochs: int, progress: Progress) -> TableState:
        """All epochs, round after round."""
        state = self._state
        try:
            for epoch in range(state.epoch, epochs):
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
        return state

    def _epoch(self, epoch: int, epochs: int) -> None:
        state = self._state
        rounds = np.random.default_rng([self._seed, 3, epoch]).permutation(self._count)
        settings = self._settings(epoch, epochs)
        for meeting in rounds[state.done :].tolist():
            found = self._round(settings, meeting)
            state.paid.extend(value for _, value, _ in found)
            state.peak = max([state.peak, *(here for _, _, here in found)])
            # All visits of a round start from one gamma, and their ends are averaged.
            gammas = np.array([gamma for gamma, _, _ in found], np.float64)
            state.gamma = tuple(gammas.mean(axis=0).tolist())
            state.moves += 1
            state.done += 1
            if self._kept is not None and self._kept.is_due():
                self._keep()
        # Inside a bucket there are half as many pairs as between two.
        state.values.append(float(np.sum(state.paid)) / (self._count**2 / 2))
        state.epoch, state.done, state.paid = epoch + 1, 0, []

    def _keep(self) -> None:
        if self._kept is not None:
            self._kept.save(asdict(self._state), self._read())

    def _read(self) -> Iterator[Floats]:
        """The buckets, one after another: they need not fit into this process."""
        for bucket in self.buckets:
            yield self._ray.get(bucket)

    def _settings(self, epoch: int, epochs: int) -> str:
        settings = dict(self._params)
        # Each bucket is in as many visits of an epoch as there are buckets, and the ridge
        # on its vectors is shared out among them.
        settings["ridge"] = float(settings["ridge"]) / self._count
        # Visits of many buckets have few links each. What a vector moves in an epoch, by
        # chance and not, grows with the root of their number.
        rate = settings.get("learning-rate") or min(_LONGEST, _RATE / self._count**0.5)
        # What a step works on is a quarter of a visit, so that it takes little memory.
        rows = 2 * (self._n // self._count)
        settings["block"] = max(64, min(4096, rows // 4))
        settings["learning-rate"] = float(rate) * _schedule(epoch, epochs)
        return json.dumps(settings)

    def _round(self, settings: str, meeting: int) -> list[Any]:
        """The visits of a round, which share no bucket."""
        pairs = [(p, p ^ meeting) for p in range(self._count) if p <= p ^ meeting]
        slots = int(self._ray.cluster_resources().get("CPU", 1)) // self._threads
        slots = max(1, min(slots, self._most or slots, len(pairs)))
        task = self._ray.remote(_visits).options(
            num_cpus=self._threads, num_returns="streaming", max_retries=_TRIES
        )
        how = (self._state.moves, self._per, self._threads)
        running = []
        for slot in range(slots):
            mine = pairs[slot::slots]
            visits = [
                ([self.buckets[p] for p in dict.fromkeys(pair)], self._links[pair]) for pair in mine
            ]
            asked = (settings, self._dim, self._state.gamma, how, visits)
            running.append((mine, task.remote(*asked)))
        told: dict[tuple[int, int], Any] = {}
        moved = list(self.buckets)
        try:
            for mine, stream in running:
                given = list(stream)
                places = [place for pair in mine for place in dict.fromkeys(pair)]
                if len(given) != len(places) + len(mine):
                    # The last one holds what was raised.
                    self._ray.get(given[-1:])
                given.reverse()
                for pair in mine:
                    for place in dict.fromkeys(pair):
                        moved[place] = given.pop()
                    told[pair] = self._ray.get(given.pop())
        except self._ray.exceptions.RayTaskError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, MemoryError):
                raise MemoryError(*cause.args) from error
            full = self._ray.exceptions.ObjectStoreFullError, self._ray.exceptions.OutOfDiskError
            if isinstance(cause, full):
                raise ClusterError(
                    f"ray: the object store cannot hold the table: {_first_line(error)}; start Ray "
                    "with a larger object_store_memory, and go on from a checkpoint"
                ) from error
            raise ClusterError(f"ray: a visit failed: {_first_line(error)}") from error
        except self._ray.exceptions.RayError as error:
            raise ClusterError(
                f"ray: visits were lost with their worker: {_first_line(error)}; with too little "
                "memory, use more buckets or fewer workers, and go on from a checkpoint"
            ) from error
        # All at once: a round that was cut short leaves the buckets as they were.
        self.buckets = moved
        return [told[pair] for pair in pairs]


def _schedule(epoch: int, epochs: int) -> float:
    """Steps get shorter towards the end."""
    return 1.0 - 0.9 * epoch / epochs
