"""Handing work out to a Ray cluster: shares of passes over all pairs, and whole fits."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy.typing as npt

from linkproof import _core
from linkproof._cluster import (
    _TRIES,
    _WAIT,
    Cluster,
    ClusterError,
    _about,
    _differs,
    _first_line,
    put,
    small_pass,
)
from linkproof._words import refused


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
        # Not before: what goes wrong here is told in its own words.
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
    words: str, threads: int, about: tuple[str, bytes], names: list[int], *arrays: Any
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


def _cards_differ(one: str, other: str) -> str:
    if one != other:
        return (
            f"ray: found workers on two kinds of cards, {one} and {other}, whose results have "
            "other bits; expected one kind"
        )
    return (
        f"ray: found workers on {one} that compute other bits; expected the same driver and "
        "CUDA toolkit on every node"
    )


class Hands:
    """Hands work out to a cluster; the compiled half calls it from its threads."""

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
        # What has been done: passes, bytes to and from workers, tasks, workers lost.
        self.passes_done = 0
        self.bytes_out = 0
        self.bytes_back = 0
        self.tasks_done = 0
        self.workers_lost = 0

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
            self.bytes_out += y.nbytes + offsets.nbytes
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
                self.bytes_back += sums.nbytes + places.nbytes + parts.nbytes
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
        nodes = {node["NodeID"]: node["Resources"] for node in self._ray.nodes() if node["Alive"]}
        if self.on_cards:
            threads = cluster.threads or 1
            if cluster.workers is not None:
                return [(None, threads)] * cluster.workers
            cards = {node: int(has.get("GPU", 0)) for node, has in nodes.items()}
            if not any(cards.values()):
                raise ClusterError(
                    "ray: found no node with a card; expected one at least: start Ray with "
                    "--num-gpus on nodes that have cards, or compute with device='cpu'"
                )
            # A worker has its share of one card.
            on_a_card = int(1 / cluster.cards)
            places = [[node] * count * on_a_card for node, count in sorted(cards.items())]
            return [(node, threads) for node in itertools.chain(*places)]
        cpus = {node: int(has.get("CPU", 0)) for node, has in nodes.items()}
        cpus = {node: count for node, count in cpus.items() if count > 0}
        if not cpus:
            raise ClusterError("ray: found no node with a CPU; expected one at least")
        if cluster.workers is not None:
            least = cluster.threads or max(1, min(cpus.values()))
            return [(None, least)] * cluster.workers
        return [(node, cluster.threads or count) for node, count in sorted(cpus.items())]

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
            if card != self._card:
                raise ClusterError(_cards_differ(self._card[0], card[0]))

    def _replace(self, place: int, tries: int, error: Exception) -> None:
        """Another worker in the place of one that was lost."""
        self.workers_lost += 1
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

    def begin(self, words: str, lists: list[tuple[str | None, list[Any]]]) -> Any:
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
                    self.bytes_out += sum(array.nbytes for array in arrays)
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
            self.tasks_done += 1
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
        self.bytes_back += len(found)
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
def hands(cluster: Cluster | None, device: Any) -> Iterator[Hands | None]:
    """Someone who hands work out while it lasts, where there is a cluster."""
    if cluster is None:
        yield None
        return
    if device not in ("auto", "cpu"):
        expected = "'auto' with ray: linkproof.ray.Cluster says what workers compute with"
        raise refused("device", expected, device)
    ours = Hands(cluster)
    try:
        yield ours
    finally:
        ours.close()
