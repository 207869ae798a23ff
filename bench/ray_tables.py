"""Bucketed tables against tables in memory, on graphs that no setting was tuned on.

python bench/ray_tables.py --kinds corrected,attachment --nodes 20000 --seeds 301,302,303
python bench/ray_tables.py --kinds corrected --nodes 40000 --dim 128 --seeds 401 --cluster 2 --same
python bench/ray_tables.py --kinds cora,acm --data DIR --seeds 301,302,303,304

A tenth of the links is held out; AUC against as many random pairs. Without --cluster all
meetings are made in this process. With it, a worker's memory is bound to a share of the
table (--times), the memory of workers is watched from outside, and --same makes the fit in
one process, too, and compares bits. docs/ray.md has the results.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import threading
import time
from pathlib import Path

import numpy as np

from linkproof import GraphEmbedding
from linkproof.measures import auc
from linkproof.ray import BucketedTable, fit_table, visit_bytes


def once(src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Each pair once, without self-links."""
    return np.unique(np.sort(np.stack([src, dst], 1)[src != dst], 1), axis=0)


def planted(n: int, degree: float, draw: np.random.Generator) -> np.ndarray:
    """Groups of about 200 nodes, nine links of ten inside."""
    groups = draw.integers(0, max(20, n // 200), n)
    return grouped(groups, np.ones(n), degree, 0.9, draw)


def corrected(n: int, degree: float, draw: np.random.Generator) -> np.ndarray:
    """Groups of uneven sizes, nodes of uneven degrees, four links of five inside."""
    k = max(10, n // 200)
    groups = draw.choice(k, n, p=draw.dirichlet(np.full(k, 2.0)))
    by = np.minimum((1 - draw.random(n)) ** (-1 / 1.8), 30.0)
    return grouped(groups, by, degree, 0.8, draw)


def nested(n: int, degree: float, draw: np.random.Generator) -> np.ndarray:
    """Small groups inside large ones: half of the links in the small, a third in the large."""
    small = draw.integers(0, max(32, n // 60), n)
    inner = grouped(small, np.ones(n), degree / 2, 0.95, draw)
    outer = grouped(small // 8, np.ones(n), degree / 2, 0.7, draw)
    return once(*np.vstack([inner, outer]).T)


def grouped(groups, by, degree, inside, draw) -> np.ndarray:
    """Links whose ends are drawn by weight, so many of them inside a group."""
    n, order = len(groups), np.argsort(groups, kind="stable")
    heights = np.r_[0, np.cumsum(by[order])]
    starts = heights[np.searchsorted(groups[order], np.arange(groups.max() + 2))]
    count = int(n * degree / 2)

    def drawn(low, high):
        at = np.searchsorted(
            heights, low + draw.random(count) * (high - low), side="right"
        )
        return order[np.clip(at - 1, 0, n - 1)]

    src = drawn(0, heights[-1])
    near = drawn(starts[groups[src]], starts[groups[src] + 1])
    return once(src, np.where(draw.random(count) < inside, near, drawn(0, heights[-1])))


def attachment(n: int, degree: float, draw: np.random.Generator) -> np.ndarray:
    """Nodes that come one by one: each links to another's neighbours, mostly."""
    each = max(1, int(degree / 2))
    ends = [(0, 1)]
    near: list[list[int]] = [[1], [0]]
    for node in range(2, n):
        mine: set[int] = set()
        first = int(draw.integers(node))
        while len(mine) < min(each, node):
            if mine and draw.random() < 0.8:
                new = near[first][int(draw.integers(len(near[first])))]
            else:
                first = new = ends[int(draw.integers(len(ends)))][int(draw.integers(2))]
            if new != node and new not in mine:
                mine.add(new)
            elif draw.random() < 0.2:
                first = int(draw.integers(node))
        near.append(sorted(mine))
        for other in mine:
            near[other].append(node)
            ends.append((other, node))
    pairs = np.array(ends)
    return once(pairs[:, 0], pairs[:, 1])


def geometric(n: int, degree: float, draw: np.random.Generator) -> np.ndarray:
    """Points on a square that wraps around, linked to four of five that are near."""
    from scipy.spatial import cKDTree

    radius = np.sqrt(degree / 0.8 / (np.pi * n))
    pairs = cKDTree(draw.random((n, 2)), boxsize=1).query_pairs(
        radius, output_type="ndarray"
    )
    return once(*pairs[draw.random(len(pairs)) < 0.8].T)


def ring(n: int, degree: float, draw: np.random.Generator) -> np.ndarray:
    """A ring of neighbours, a tenth of the links thrown elsewhere."""
    place, src = draw.permutation(n), np.repeat(np.arange(n), int(degree / 2))
    near = (src + 1 + draw.geometric(0.15, len(src))) % n
    dst = np.where(draw.random(len(src)) < 0.9, near, draw.integers(0, n, len(src)))
    return once(place[src], place[dst])


MADE = [planted, corrected, nested, attachment, geometric, ring]


def real(folder: Path) -> np.ndarray:
    """The links of a data set that `linkproof datasets fetch` made."""
    rows = list(csv.reader((folder / "edges.csv").open()))[1:]
    return once(*np.array([[int(row[0]), int(row[1])] for row in rows]).T)


def own_memory(pid: int | str) -> int:
    """The bytes that a process has for itself, without the object store's."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    return 0


class Workers:
    """Watches the memory of the workers of a cluster."""

    def __init__(self, cluster) -> None:
        nodes = cluster.list_all_nodes()
        self._raylets = [node.all_processes["raylet"][0].process.pid for node in nodes]
        self.peaks: dict[int, int] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @staticmethod
    def idle(nodes: int) -> int:
        """The memory of a worker that has imported all that it needs and done nothing."""
        import ray

        @ray.remote(num_cpus=1)
        def look() -> int:
            import linkproof._tables_hands  # noqa: F401

            time.sleep(0.5)  # so that every node has one
            return own_memory("self")

        return max(ray.get([look.remote() for _ in range(nodes)]))

    def _watch(self) -> None:
        turn = 0
        while not self._done.wait(0.002):
            if turn % 250 == 0:
                for pid in worker_pids(self._raylets):
                    self.peaks.setdefault(pid, 0)
            turn += 1
            for pid in list(self.peaks):
                with contextlib.suppress(OSError):
                    self.peaks[pid] = max(self.peaks[pid], own_memory(pid))

    def __enter__(self) -> Workers:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def worker_pids(raylets: list[int]) -> list[int]:
    """The processes of these nodes that have taken part in meetings."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit():
                parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
                named = (process / "cmdline").read_bytes().startswith(b"ray::_meetings")
                if named and int(parent) in raylets:
                    found.append(int(process.name))
    return found


def same_bits(one: BucketedTable, other: BucketedTable) -> bool:
    states = [
        np.array_equal(*(table._get(table._buckets[place]) for table in (one, other)))
        for place in range(one.n_buckets)
    ]
    return all(states) and one.gamma == other.gamma and one.values == other.values


def compare(kind: str, links: np.ndarray, n: int, seed: int, given) -> float:
    draw = np.random.default_rng([seed, 7])
    held = draw.random(len(links)) < 0.1
    known, hidden = links[~held], links[held]
    others = draw.integers(0, n, hidden.shape)
    others = others[others[:, 0] != others[:, 1]]
    pairs = np.vstack([hidden, others])
    truth = np.arange(len(pairs)) < len(hidden)
    settings = {
        "dim": given.dim,
        "score": given.score,
        "random_state": seed,
        "verbose": False,
    }
    inside = []
    for more in range(given.starts):
        how = {**settings, "random_state": seed + more}
        model = GraphEmbedding(encoder="table", solver="sgd", **how)
        y = model.fit(None, known, nodes=list(range(n))).embedding_
        inside.append(auc(np.einsum("ij,ij->i", y[pairs[:, 0]], y[pairs[:, 1]]), truth))
    begun = time.perf_counter()
    size, nodes = 4 * n * given.dim, list(range(n))
    what = f"{kind}, {n} nodes, {len(known)} links, {given.dim} dimensions, seed {seed}"
    if given.cluster:
        from ray_fit import start, stop

        bound = size // given.times
        how = {"memory": bound}
        if given.buckets is not None:
            how = {"buckets": given.buckets, "parts": given.parts}
        cluster = start([1] * given.cluster, given.store)
        idle = Workers.idle(given.cluster)
        with Workers(cluster) as workers:
            table = fit_table(known, nodes, ray=True, **how, **settings)
        seconds = time.perf_counter() - begun
        peak = max(workers.peaks.values())
        print(
            f"{what}: table {size / 1e6:.2f} MB, bound {bound / 1e6:.2f} MB; an idle worker "
            f"{idle / 1e6:.1f} MB, {len(workers.peaks)} workers, the largest {peak / 1e6:.1f} MB, "
            f"{(peak - idle) / 1e6:+.2f} MB",
            flush=True,
        )
        if given.same:
            begun = time.perf_counter()
            shape = {"buckets": table.n_buckets, "parts": table.n_parts}
            alone = fit_table(known, nodes, ray=False, **shape, **settings)
            print(
                f"{what}: {'same' if same_bits(table, alone) else 'OTHER'} bits in one process, "
                f"{time.perf_counter() - begun:.0f} s"
            )
        found = auc(table.score_pairs(pairs), truth)
        stop(cluster)
    else:
        shape = {"buckets": given.buckets or 128, "parts": given.parts}
        table = fit_table(known, nodes, ray=False, **shape, **settings)
        seconds = time.perf_counter() - begun
        found = auc(table.score_pairs(pairs), truth)
    visit = visit_bytes(n, len(known), given.dim, table.n_buckets, table.n_parts)
    print(
        f"{what}: in memory {' '.join(f'{x:.4f}' for x in inside)}, {table.n_buckets} buckets of "
        f"{table.n_parts} {found:.4f}, difference {found - np.mean(inside):+.4f}; a meeting by the "
        f"model {visit / 1e6:.2f} MB, {seconds:.0f} s",
        flush=True,
    )
    return found - float(np.mean(inside))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", default=",".join(kind.__name__ for kind in MADE))
    parser.add_argument("--data", type=Path, default=Path(), help="folder of data sets")
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--degree", type=float, default=10)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--score", default="likelihood")
    parser.add_argument("--seeds", default="301,302,303")
    parser.add_argument(
        "--starts", type=int, default=2, help="fits in memory for each graph"
    )
    parser.add_argument(
        "--buckets", type=int, help="default: 128, or what a bound asks for"
    )
    parser.add_argument(
        "--cluster", type=int, default=0, help="nodes of a cluster to work on"
    )
    parser.add_argument(
        "--parts", type=int, default=1, help="of a bucket, with --buckets"
    )
    parser.add_argument("--times", type=int, default=4, help="the table over the bound")
    parser.add_argument(
        "--store", type=int, default=400, help="MB of a node's object store"
    )
    parser.add_argument(
        "--same", action="store_true", help="compare bits with one process"
    )
    given = parser.parse_args()
    for kind in given.kinds.split(","):
        found = []
        for seed in map(int, given.seeds.split(",")):
            by_name = {made.__name__: made for made in MADE}
            if kind in by_name:
                draw = np.random.default_rng([seed, len(kind)])
                links, n = by_name[kind](given.nodes, given.degree, draw), given.nodes
            else:
                links = real(given.data / kind)
                n = int(links.max()) + 1
            found.append(compare(kind, links, n, seed, given))
        error = (
            np.std(found, ddof=1) / np.sqrt(len(found))
            if len(found) > 1
            else float("nan")
        )
        print(
            f"{kind}: difference {np.mean(found):+.4f} +- {error:.4f} (standard error)",
            flush=True,
        )


if __name__ == "__main__":
    main()
