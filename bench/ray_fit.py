"""Measures fits on a local cluster of several node processes; docs/ray.md has the results.

python bench/ray_fit.py overhead   # one worker against a plain fit; two against one
python bench/ray_fit.py bytes      # what moves between nodes, by the loopback device
python bench/ray_fit.py kills      # workers killed at ten random moments
python bench/ray_fit.py tables     # a bucketed table against one in memory
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
from linkproof.measures import auc as auc_of
from linkproof.ray import Cluster, bytes_of_a_pass, fit_table, visit_bytes

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
        callback=noted,
        n_jobs=threads,
        optimizer="adam",
    )
    model.fit(X, links, ray=cluster)
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


def loopback() -> int:
    for line in open("/proc/net/dev"):
        if line.strip().startswith("lo:"):
            return int(line.split()[1])
    return 0


def moved(n: int, dim: int) -> None:
    X, links = graph(n, 10)
    for workers in (1, 2):
        # Nobody works where this process is: everything crosses to another node.
        cluster = start([0] + [1] * workers)
        where = Cluster(workers=workers, threads=1)
        counts: list[int] = []
        model = GraphEmbedding(
            dim=dim,
            steps=9,
            validation=0.0,
            verbose=False,
            optimizer="adam",
            callback=lambda record: counts.append(loopback()),
        )
        model.fit(X, links, ray=where)
        idle = loopback()
        time.sleep(5)
        idle = (loopback() - idle) / 5
        stop(cluster)
        steps = np.diff(counts)[1:]
        out, back = bytes_of_a_pass(n, dim, workers)
        expected = out * workers + back
        print(
            f"n = {n}, dim = {dim}, {workers} nodes with a worker each: "
            f"{np.median(steps) / 1e6:.2f} MB a step over the loopback device "
            f"(idle {idle / 1e6:.3f} MB/s), model {expected / 1e6:.2f} MB, "
            f"ratio {np.median(steps) / expected:.3f}"
        )


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


def tables(
    n: int, dim: int, degree: float, epochs: int, rate: float | None, memory: bool
) -> None:
    draw = np.random.default_rng(5)
    groups = draw.integers(0, max(20, n // 200), n)
    links = planted(groups, degree, draw)
    held = draw.random(len(links)) < 0.1
    known, hidden = links[~held], links[held]
    others = draw.integers(0, n, hidden.shape)
    others = others[others[:, 0] != others[:, 1]]
    pairs = np.vstack([hidden, others])
    truth = np.r_[np.ones(len(hidden), int), np.zeros(len(others), int)]
    nodes = list(range(n))
    size = n * dim * 4
    print(f"{n} nodes, {len(known)} links, dim {dim}: a table of {size / 1e6:.1f} MB")
    begun = time.perf_counter()
    settings = {"dim": dim, "score": "likelihood", "random_state": 0, "verbose": False}
    model = GraphEmbedding(encoder="table", solver="sgd", **settings).fit(
        None, known, nodes=nodes
    )
    scores = np.einsum("ij,ij->i", *(model.embedding_[pairs[:, end]] for end in (0, 1)))
    inside = auc_of(scores, truth == 1)
    print(
        f"in memory: AUC {inside:.4f}, {time.perf_counter() - begun:.0f} s", flush=True
    )
    begun = time.perf_counter()
    cluster = start([2])
    where = {"memory": size // 4} if memory else {"buckets": 8}
    rates = {} if rate is None else {"learning_rate": rate}
    table = fit_table(
        known, nodes, epochs=epochs, ray=True, **where, **settings, **rates
    )
    auc = auc_of(table.score_pairs(pairs), truth == 1)
    stop(cluster)
    print(
        f"{table.n_buckets} buckets, bound {size / 4e6:.2f} MB, "
        f"model {visit_bytes(n, len(known), dim, table.n_buckets) / 1e6:.2f} MB, "
        f"peak of a visit {table.peak_bytes / 1e6:.2f} MB: AUC {auc:.4f}, "
        f"difference {auc - inside:+.4f}, {time.perf_counter() - begun:.0f} s, "
        f"values {table.values[0]:.3f} to {table.values[-1]:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["overhead", "bytes", "kills", "tables"])
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--dim", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--degree", type=float, default=10)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rate", type=float)
    parser.add_argument(
        "--buckets", action="store_true", help="eight buckets, no bound"
    )
    given = parser.parse_args()
    if given.what == "overhead":
        overhead(given.nodes or 20_000, given.dim or 128, given.rounds)
    elif given.what == "bytes":
        moved(given.nodes or 20_000, given.dim or 128)
    elif given.what == "kills":
        kills(given.nodes or 8_000, given.dim or 16)
    else:
        shape = (given.nodes or 100_000, given.dim or 64)
        tables(*shape, given.degree, given.epochs, given.rate, not given.buckets)


if __name__ == "__main__":
    main()
