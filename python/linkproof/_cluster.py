"""Ray clusters: shares of passes over all pairs, and whole fits, computed by their nodes."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkproof import _core
from linkproof._settings import read_count, read_real
from linkproof._words import refused

# Seconds that a thread waits for a task before it asks whether it is still wanted.
_WAIT = 0.2
# A share of a pass that so many workers were lost with is given up.
_TRIES = 8


class ClusterError(RuntimeError):
    """Work on a cluster that cannot go on, and why."""


@dataclass
class Cluster:
    """A Ray cluster, and how much of it to use.

    Parameters
    ----------
    address : str or None, default=None
        The address of a cluster, such as ``"10.0.0.1:6379"`` or ``"auto"``; None: the one
        that this process is connected to or that Ray finds, else the cores of this machine.
    workers : int or None, default=None
        The workers that share the passes of a plain fit; None: one on each node. More
        than the cluster has room for are waited for, as an autoscaler starts nodes.
    threads : int or None, default=None
        The threads of each worker, and the CPUs that are asked of Ray for it; None: all
        CPUs of a node for passes, one for each of many fits.
    patience : float, default=60.0
        Seconds to wait for workers to start.
    device : {"cpu", "cuda"}, default="cpu"
        What workers compute the passes of a plain fit with: processors, or graphics cards of
        one kind. Results have the same bits with any number of workers on such cards, but
        not those of processors. Without `workers` every card has one, with one thread.
    cards : float, default=1.0
        The share of a card that is asked of Ray for each worker, if `device` is "cuda":
        with 0.5, two workers have a card between them.

    Examples
    --------
    >>> from linkproof.ray import Cluster
    >>> Cluster(workers=4, threads=2)
    Cluster(address=None, workers=4, threads=2, patience=60.0, device='cpu', cards=1.0)
    """

    address: str | None = None
    _: KW_ONLY
    workers: int | None = None
    threads: int | None = None
    patience: float = 60.0
    device: str = "cpu"
    cards: float = 1.0

    def __post_init__(self) -> None:
        if not (self.address is None or isinstance(self.address, str)):
            raise refused("address", "the address of a Ray cluster or None", self.address)
        for name in ("workers", "threads"):
            if getattr(self, name) is not None:
                setattr(self, name, read_count(name, getattr(self, name), 1))
        self.patience = read_real("patience", self.patience)
        if self.device not in ("cpu", "cuda"):
            raise refused("device", "'cpu' or 'cuda'", self.device)
        self.cards = read_real("cards", self.cards)
        if not 0 < self.cards <= 1:
            raise refused("cards", "a number above 0 and at most 1", self.cards)

    def connect(self) -> Any:
        """Connect this process to the cluster; the module `ray`.

        Raises
        ------
        ClusterError
            Where Ray is not installed, or nobody answers at the address.
        """
        # Nothing but data sets is fetched or told over a network.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # Ray would run work that takes too much memory again for ever.
        os.environ.setdefault("RAY_task_oom_retries", str(_TRIES))
        try:
            import ray
        except ImportError as error:
            raise ClusterError(
                "ray: found no Ray; install it with pip install 'linkproof[ray]'"
            ) from error
        if ray.is_initialized():
            return ray
        self._knock()
        try:
            ray.init(
                address=self.address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                configure_logging=True,
                include_dashboard=None if self.address else False,
            )
        except Exception as error:
            raise ClusterError(
                f"ray: no cluster answers at {self.address or 'this machine'}: {_first_line(error)}"
            ) from error
        return ray

    def check_room(self, threads: int) -> None:
        """See that some node has so many CPUs, or comes: tasks would wait for ever."""
        ray = self.connect()
        until = time.monotonic() + self.patience
        while True:
            alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
            most = max([int(resources.get("CPU", 0)) for resources in alive], default=0)
            if most >= threads:
                return
            if time.monotonic() > until:
                raise ClusterError(
                    f"ray: found no node with {threads} CPUs within {self.patience:g} seconds, "
                    f"as threads asks for; the largest has {most}"
                )
            time.sleep(0.5)

    def _knock(self) -> None:
        """See that someone listens at the address: Ray itself asks for minutes."""
        host, _, port = (self.address or "").removeprefix("ray://").rpartition(":")
        if not (host and port.isdigit()):
            return
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
        except (OSError, OverflowError) as error:
            raise ClusterError(
                f"ray: no cluster answers at {self.address}: {_first_line(error)}"
            ) from error


def read_cluster(value: Any, *, cards: bool = False) -> Cluster | None:
    """What `ray` of a fit or a search says: True, an address or a cluster; else None.

    Work that cards do not do refuses a cluster with ``device="cuda"``.
    """
    if value is None or value is False:
        return None
    if value is True:
        return Cluster()
    if isinstance(value, str):
        return Cluster(value)
    if not isinstance(value, Cluster):
        raise refused("ray", "True, the address of a cluster, or a linkproof.ray.Cluster", value)
    if value.device != "cpu" and not cards:
        raise ValueError(
            f"ray: found a Cluster with device={value.device!r}, whose cards compute plain fits "
            "alone; for robust fits, searches and tables in buckets expected one with device='cpu'"
        )
    return value


def _first_line(error: BaseException) -> str:
    """The first line of what went wrong; of a task that failed, what it raised."""
    error = getattr(error, "cause", None) or error
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


# A small pass over all pairs, whose bits tell machines apart.
_SMALL_PASS = json.dumps(
    {
        "dim": 8,
        "negative": 0,
        "views": [{"start": 0, "end": 40}],
        "gamma": {"n": 1, "entries": [0x3FE0000000000000]},
        "scale": {"n": 1, "entries": [0x3FF0000000000000]},
        "split": None,
        "watched": False,
        "score": {"kind": "probability", "settings": [0.5], "is_capped": True},
        "is_single": True,
    }
)


def small_pass(worker: _core.PairWorker) -> bytes:
    """The bits of a small piece of work."""
    y = np.sin(np.arange(320, dtype=np.float32) % 17).astype(np.float32)
    none = np.zeros(0, dtype=np.float32)
    found = worker.part(_SMALL_PASS, y, none, (0, 1), True, threads=1)
    return b"".join(part.tobytes() for part in found)


def _about() -> tuple[str, bytes]:
    """The version here, and what its processor makes of a small piece of work."""
    return _core.__version__, small_pass(_core.PairWorker())


def _differs(there: str, here: str) -> str:
    if there != here:
        return f"ray: found linkproof {there} on a node; expected {here} as here"
    return (
        f"ray: found a build of linkproof {there} on a node that computes other bits; "
        "expected the one that is installed here"
    )


def put(ray: Any, what: Any, called: str) -> Any:
    """Put something into the object store."""
    try:
        return ray.put(what)
    except ray.exceptions.RayError as error:
        raise ClusterError(
            f"ray: the object store cannot hold {called}: {_first_line(error)}; "
            "start Ray with a larger object_store_memory"
        ) from error


class _PairActor:
    """A worker: shares of passes over all pairs."""

    def __init__(self, threads: int, device: str) -> None:
        self._threads = threads
        self._device = device
        self._worker = _core.PairWorker()

    def about(self) -> tuple[tuple[str, bytes], tuple[str, bytes]]:
        """The version and its bits; the kind of card, if one computes, and its bits."""
        if self._device == "cpu":
            return _about(), ("", b"")
        # The card is opened here and not in __init__, so that its error reaches the caller.
        self._worker = _core.PairWorker(self._device)
        return _about(), (self._worker.card, small_pass(self._worker))

    def part(
        self,
        request: str,
        y: npt.NDArray[Any],
        offsets: npt.NDArray[Any],
        share: tuple[int, int],
        with_gradient: bool,
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        return self._worker.part(request, y, offsets, share, with_gradient, threads=self._threads)


def _solve(
    words: bytes, threads: int, about: tuple[str, bytes], names: list[int], *arrays: Any
) -> bytes:
    """One of many fits, on whichever node."""
    if _about() != about:
        raise ClusterError(_differs(_about()[0], about[0]))
    lists: list[list[Any]] = []
    rest = list(arrays)
    for count in names:
        lists.append(rest[:count])
        rest = rest[count:]
    return _core.solve_task(words, lists, threads=threads)


class Remote:
    """A cluster that computes passes and fits; the compiled half calls it from its threads."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._ray = cluster.connect()
        self._about = _about()
        self._actors: list[Any] = []
        self._threads: list[int] = []
        self._stock: dict[str, list[Any]] = {}
        self._solving = 0
        # Whether cards compute shares of passes, which the compiled half asks, and what
        # they have in common.
        self.on_cards = cluster.device != "cpu"
        self._card: tuple[str, bytes] | None = None
        self._lock = threading.Lock()
        # How many passes were made.
        self.passes_done = 0

    # Passes over all pairs

    def passes(
        self,
        request: str,
        y: npt.NDArray[Any],
        offsets: npt.NDArray[Any],
        with_gradient: bool,
        most: int,
    ) -> list[tuple[int, int, Any, Any, Any]] | None:
        """All shares of a pass; None while the cluster is busy with tasks."""
        with self._lock:
            if self._solving:
                return None
            if not self._actors:
                self._start_workers()
            of = min(len(self._actors), most)
            numbers = self._put(y), self._put(offsets)
            asked = (request, *numbers)
            waiting = {
                self._actors[place].part.remote(*asked, (place, of), with_gradient): (place, 0)
                for place in range(of)
            }
            found: list[tuple[int, int, Any, Any, Any]] = []
            while waiting:
                ready, _ = self._ray.wait(list(waiting), num_returns=1)
                place, tries = waiting.pop(ready[0])
                try:
                    sums, places, parts = self._ray.get(ready[0])
                except self._ray.exceptions.RayTaskError as error:
                    raise ClusterError(f"ray: a worker failed: {_first_line(error)}") from error
                except self._ray.exceptions.RayError as error:
                    self._replace(place, tries, error)
                    again = self._actors[place].part.remote(*asked, (place, of), with_gradient)
                    waiting[again] = (place, tries + 1)
                    continue
                found.append((place, of, sums, places, parts))
            self.passes_done += 1
            return found

    def _put(self, numbers: npt.NDArray[Any]) -> Any:
        return put(self._ray, numbers, f"{numbers.nbytes / 1e6:.0f} MB more")

    def _start_workers(self) -> None:
        places = self._places()
        self._threads = [threads for _, threads in places]
        self._actors = [self._actor(place, threads) for place, threads in places]
        self._check(self._actors)

    def _places(self) -> list[tuple[str | None, int]]:
        """The node of each worker, None for any, and its threads."""
        cluster = self._cluster
        kind = "GPU" if self.on_cards else "CPU"
        alive = [node for node in self._ray.nodes() if node["Alive"]]
        found = {node["NodeID"]: int(node["Resources"].get(kind, 0)) for node in alive}
        found = {node: count for node, count in sorted(found.items()) if count > 0}
        if not found and not (self.on_cards and cluster.workers):
            hint = ": start Ray with --num-gpus on nodes that have cards, or compute with "
            what = f"card; expected one at least{hint}device='cpu'"
            what = what if self.on_cards else "CPU; expected one at least"
            raise ClusterError(f"ray: found no node with a {what}")
        if self.on_cards:
            # Without a number of workers each has its share of one card.
            places: list[str | None] = [
                node for node, count in found.items() for _ in range(count * int(1 / cluster.cards))
            ]
            places = places if cluster.workers is None else [None] * cluster.workers
            return [(node, cluster.threads or 1) for node in places]
        if cluster.workers is not None:
            return [(None, cluster.threads or min(found.values()))] * cluster.workers
        return [(node, cluster.threads or count) for node, count in found.items()]

    def _actor(self, node: str | None, threads: int) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        strategy = "DEFAULT" if node is None else NodeAffinitySchedulingStrategy(node, soft=True)
        options: dict[str, Any] = {"num_cpus": threads, "scheduling_strategy": strategy}
        if self.on_cards:
            options["num_gpus"] = self._cluster.cards
        actor = self._ray.remote(_PairActor).options(**options)
        return actor.remote(threads, self._cluster.device)

    def _check(self, actors: list[Any]) -> None:
        """Wait for workers, and see that they compute the same bits as this process."""
        asked = [actor.about.remote() for actor in actors]
        ready, missing = self._ray.wait(
            asked, num_returns=len(asked), timeout=self._cluster.patience
        )
        if missing:
            there = self._ray.cluster_resources()
            asked_for, has = f"{sum(self._threads)} CPUs", f"{there.get('CPU', 0):g}"
            if self.on_cards:
                asked_for += f" and {self._cluster.cards * len(self._threads):g} cards"
                has += f" and {there.get('GPU', 0):g}"
            raise ClusterError(
                f"ray: {len(missing)} of {len(asked)} workers did not start within "
                f"{self._cluster.patience:g} seconds; they ask for {asked_for}, "
                f"and the cluster has {has}"
            )
        for answer in ready:
            try:
                about, card = self._ray.get(answer)
            except self._ray.exceptions.RayError as error:
                raise ClusterError(f"ray: a worker cannot start: {_first_line(error)}") from error
            if about != self._about:
                raise ClusterError(_differs(about[0], self._about[0]))
            self._card = self._card or card
            if card[0] != self._card[0]:
                raise ClusterError(
                    f"ray: found workers on two kinds of cards, {self._card[0]} and {card[0]}, "
                    "whose results have other bits; expected one kind"
                )
            if card != self._card:
                raise ClusterError(
                    f"ray: found workers on {card[0]} that compute other bits; expected the same "
                    "driver and CUDA toolkit on every node"
                )

    def _replace(self, place: int, tries: int, error: Exception) -> None:
        """Another worker in the place of one that was lost."""
        if tries + 1 >= _TRIES:
            raise ClusterError(
                f"ray: {_TRIES} workers were lost one after another with the same share of "
                f"the work, the last one so: {_first_line(error)}; with too little memory, use "
                "fewer workers on a node, and go on from a checkpoint"
            ) from error
        actor = self._actor(None, self._threads[place])
        self._check([actor])
        self._actors[place] = actor

    # Many fits

    def begin(self, words: bytes, lists: list[tuple[str | None, list[Any]]]) -> Any:
        """Set a fit off as a task."""
        if self.on_cards:
            raise ClusterError("ray: cards compute plain fits alone; expected device='cpu'")
        threads = self._cluster.threads or 1
        self._cluster.check_room(threads)
        with self._lock:
            self._dismiss()
            self._solving += 1
            references: list[Any] = []
            for name, arrays in lists:
                kept = None if name is None else self._stock.get(name)
                if kept is None:
                    kept = [self._put(array) for array in arrays]
                    if name is not None:
                        self._stock[name] = kept
                references.extend(kept)
            task = self._ray.remote(_solve).options(num_cpus=threads, max_retries=_TRIES)
            counts = [len(arrays) for _, arrays in lists]
            return task.remote(words, threads, self._about, counts, *references)

    def outcome(self, task: Any) -> bytes | None:
        """What a fit found; None while it is not done."""
        ready, _ = self._ray.wait([task], timeout=_WAIT)
        if not ready:
            return None
        with self._lock:
            self._solving -= 1
        try:
            found: bytes = self._ray.get(task)
        except self._ray.exceptions.RayTaskError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, (ClusterError, MemoryError)):
                raise type(cause)(*cause.args) from error
            raise ClusterError(f"ray: a fit failed on its node: {_first_line(error)}") from error
        except self._ray.exceptions.RayError as error:
            raise ClusterError(
                f"ray: a fit was lost with its worker each time it ran: {_first_line(error)}; "
                "with too little memory, give each fit more threads, so that fewer run on a node"
            ) from error
        return found

    def cancel(self, task: Any) -> None:
        """Nobody wants a fit any longer."""
        with self._lock:
            self._solving -= 1
        self._ray.cancel(task, force=True)

    def threads_here(self, threads: int | None) -> int:
        """Threads of this process: those of its own work, and one to wait for each fit."""
        cpus = int(self._ray.cluster_resources().get("CPU", 1))
        return max(threads or os.cpu_count() or 1, cpus // (self._cluster.threads or 1))

    def _dismiss(self) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []

    def close(self) -> None:
        """Let workers and numbers go."""
        with self._lock:
            self._dismiss()
            self._stock.clear()


@contextmanager
def remote(cluster: Cluster | None, device: Any) -> Iterator[Remote | None]:
    """What computes on a cluster while work lasts; None without a cluster."""
    if cluster is None:
        yield None
        return
    if device not in ("auto", "cpu"):
        expected = "'auto' with ray: linkproof.ray.Cluster says what workers compute with"
        raise refused("device", expected, device)
    ours = Remote(cluster)
    try:
        yield ours
    finally:
        ours.close()
