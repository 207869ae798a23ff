"""Ray clusters: connecting, checking, and handing work out."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from typing import Any

import numpy as np

from linkproof import _core
from linkproof._settings import read_count, read_real
from linkproof._words import refused

# Seconds that a thread waits for a task before it asks whether it is still wanted.
_WAIT = 0.2
# A share of a pass that so many workers were lost with is given up.
_TRIES = 8


class ClusterError(RuntimeError):
    """Work on a cluster that cannot go on, and why."""


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

    def __init__(
        self,
        address: str | None = None,
        *,
        workers: int | None = None,
        threads: int | None = None,
        patience: float = 60.0,
        device: str = "cpu",
        cards: float = 1.0,
    ) -> None:
        if not (address is None or isinstance(address, str)):
            raise refused("address", "the address of a Ray cluster or None", address)
        self.address = address
        self.workers = None if workers is None else read_count("workers", workers, 1)
        self.threads = None if threads is None else read_count("threads", threads, 1)
        self.patience = read_real("patience", patience)
        if device not in ("cpu", "cuda"):
            raise refused("device", "'cpu' or 'cuda'", device)
        self.device = device
        self.cards = read_real("cards", cards)
        if not 0 < self.cards <= 1:
            raise refused("cards", "a number above 0 and at most 1", cards)

    def __repr__(self) -> str:
        return (
            f"Cluster(address={self.address!r}, workers={self.workers}, "
            f"threads={self.threads}, patience={self.patience}, "
            f"device={self.device!r}, cards={self.cards})"
        )

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
