"""Jobs of experiments as tasks of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from linkproof._cluster import (
    _TRIES,
    _WAIT,
    Cluster,
    ClusterError,
    _about,
    _differs,
    _first_line,
    put,
)

if TYPE_CHECKING:
    from linkproof._contamination import SuiteInput

# A job that was done: its key, its readings or what went wrong, and seconds.
DoneJob: TypeAlias = tuple[str, str | None, str | None, float]


def _job(
    given: SuiteInput, experiment: Any, key: str, threads: int, about: tuple[str, bytes]
) -> list[DoneJob]:
    """One job, on whichever node."""
    if _about() != about:
        raise ClusterError(_differs(_about()[0], about[0]))
    return given.suite().work(experiment, [key], threads=threads, show=None)


def work_by_tasks(
    cluster: Cluster,
    given: SuiteInput,
    experiment: Any,
    keys: list[str],
    show: Callable[[int, int, Any], object] | None,
) -> list[DoneJob]:
    """All jobs, each as a task; one that no worker survives is a failure among the others."""
    ray = cluster.connect()
    threads = cluster.threads or 1
    cluster.check_room(threads)
    # Data vectors and links are in the store once, and read where they are.
    shared = put(ray, given, "the graph")
    task = ray.remote(_job).options(num_cpus=threads, max_retries=_TRIES)
    waiting = {task.remote(shared, experiment, key, threads, _about()): key for key in keys}
    done: list[DoneJob] = []
    try:
        while waiting:
            ready, _ = ray.wait(list(waiting), num_returns=1, timeout=_WAIT)
            for reference in ready:
                done.extend(_found(ray, reference, waiting.pop(reference)))
            if show is not None and ready:
                show(len(done), len(keys), None)
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
    return done


def _found(ray: Any, reference: Any, key: str) -> list[DoneJob]:
    try:
        found: list[DoneJob] = ray.get(reference)
        return found
    except ray.exceptions.RayTaskError as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, ClusterError):
            raise ClusterError(*cause.args) from error
        return [(key, None, f"ray: the job failed on its node: {_first_line(error)}", 0.0)]
    except ray.exceptions.RayError as error:
        words = (
            f"ray: the job was lost with its worker each time it ran: {_first_line(error)}; "
            "with too little memory, give each job more threads, so that fewer run on a node"
        )
        return [(key, None, words, 0.0)]
