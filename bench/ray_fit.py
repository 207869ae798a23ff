"""Measures fits on a local cluster of several node processes; docs/ray.md has the results.

python bench/ray_fit.py overhead   # one worker against a plain fit; two against one
python bench/ray_fit.py kills      # workers killed at ten random moments

Bytes on the wire: bench/ray_hosts.py. Bucketed tables: bench/ray_tables.py.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import threading
import time

import numpy as np

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import ray
from ray.cluster_utils import Cluster as LocalCluster

from linkproof import GraphEmbedding
from linkproof.ray import Cluster

MB = 1 << 20


def start(nodes: list[int], store: int = 400) -> LocalCluster:
    """A cluster of node processes with so many CPUs; this process is at the first."""
    kept = {"object_store_memory": store * MB}
    cluster = LocalCluster(
        initialize_head=True,
        head_node_args={"num_cpus": nodes[0], "include_dashboard": False, **kept},
    )
    for cpus in nodes[1:]:
        cluster.add_node(num_cpus=cpus, **kept)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    cluster.wait_for_nodes()
    return cluster


def stop(cluster: LocalCluster) -> None:
    ray.shutdown()
    cluster.shutdown()


def graph(n: int, degree: float, columns: int = 64, seed: int = 0):
    """Groups of nodes, data vectors that tell them, and links mostly inside them."""
    draw = np.random.default_rng(seed)
    groups = draw.integers(0, 20, n)
    X = (np.eye(20, columns)[groups] + 0.3 * draw.normal(size=(n, columns))).astype(
        np.float32
    )
    return X, planted(groups, degree, draw)


def planted(groups: np.ndarray, degree: float, draw: np.random.Generator) -> np.ndarray:
    """Nine links of ten inside a group, the others anywhere."""
    n = len(groups)
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(groups.max() + 2))
    count = int(n * degree / 2)
    src = draw.integers(0, n, count)
    size = starts[groups[src] + 1] - starts[groups[src]]
    inside = order[starts[groups[src]] + (draw.random(count) * size).astype(int)]
    dst = np.where(draw.random(count) < 0.9, inside, draw.integers(0, n, count))
    pairs = np.sort(np.stack([src, dst], 1)[src != dst], 1)
    return np.unique(pairs, axis=0)


class Steps:
    """Notes when each step ends; the first ones, which start workers, are left out."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, record: dict) -> None:
        self.times.append(time.perf_counter())

    def seconds(self) -> list[float]:
        return list(np.diff(self.times)[1:])


def timed(X, links, dim: int, steps: int, threads: int, cluster: Cluster | None):
    noted = Steps()
    model = GraphEmbedding(
        dim=dim,
        steps=steps,
        validation=0.0,
        verbose=False,
        n_jobs=threads,
        optimizer="adam",
    )
    model.fit(X, links, ray=cluster, callback=noted)
    return noted.seconds(), model.embedding_


def overhead(n: int, dim: int, rounds: int) -> None:
    X, links = graph(n, 10)
    cases = {
        "plain, two threads": (2, None),
        "one worker, two threads": (2, Cluster(workers=1, threads=2)),
        "two workers, one thread each": (2, Cluster(workers=2, threads=1)),
        "plain, one thread": (1, None),
        "one worker, one thread": (1, Cluster(workers=1, threads=1)),
    }
    found: dict[str, list[float]] = {name: [] for name in cases}
    bits = set()
    cluster = start([2])
    # In turn, so that whatever else the machine does meets all of them.
    for _ in range(rounds):
        for name, (threads, where) in cases.items():
            seconds, y = timed(X, links, dim, 6, threads, where)
            found[name].extend(seconds)
            bits.add(y.tobytes())
    stop(cluster)
    print(f"n = {n}, dim = {dim}, steps of Adam: {len(bits)} different result(s)")
    for name, seconds in found.items():
        print(f"{name:32} best {min(seconds):.3f} s, median {np.median(seconds):.3f} s")


def pids(name: str) -> list[int]:
    listed = subprocess.run(
        ["ps", "-eo", "pid,args"], capture_output=True, text=True
    ).stdout
    lines = (line.strip().partition(" ") for line in listed.splitlines())
    return [int(pid) for pid, _, args in lines if args.startswith(f"ray::{name}")]


def kills(n: int, dim: int) -> None:
    X, links = graph(n, 10)
    model = GraphEmbedding(dim=dim, steps=40, verbose=False)
    expected = model.fit(X, links).embedding_.copy()
    cluster = start([1, 1])
    for workers in (1, 2):
        same = np.array_equal(
            model.fit(X, links, ray=Cluster(workers=workers, threads=1)).embedding_,
            expected,
        )
        print(f"{workers} worker(s): {'same' if same else 'OTHER'} bits")
    killed = 0
    draw = random.Random(1)
    done = threading.Event()

    def kill() -> None:
        nonlocal killed
        while not done.is_set() and killed < 10:
            time.sleep(draw.uniform(0.2, 2.5))
            there = pids("_PairActor")
            if there:
                os.kill(draw.choice(there), signal.SIGKILL)
                killed += 1

    killer = threading.Thread(target=kill)
    killer.start()
    fits, same = 0, True
    while killed < 10:
        found = model.fit(X, links, ray=Cluster(workers=2, threads=1)).embedding_
        same, fits = same and np.array_equal(found, expected), fits + 1
    done.set()
    killer.join()
    stop(cluster)
    print(f"{killed} workers killed in {fits} fits: {'same' if same else 'OTHER'} bits")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["overhead", "kills"])
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--dim", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.what == "overhead":
        overhead(given.nodes or 20_000, given.dim or 128, given.rounds)
    else:
        kills(given.nodes or 8_000, given.dim or 16)


if __name__ == "__main__":
    main()
