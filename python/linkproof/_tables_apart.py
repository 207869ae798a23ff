"""Tables of vectors that no one memory holds: buckets, two of them in memory at a time."""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from linkproof import _core
from linkproof._cluster import Cluster, ClusterError, _first_line, read_cluster
from linkproof._estimator import GraphEmbedding
from linkproof._handover import core_ids, core_links
from linkproof._inputs import read_graph
from linkproof._progress import Progress
from linkproof._settings import read_count, read_rules, read_seed, to_core
from linkproof._words import refused

Floats = npt.NDArray[np.float32]

# Copies of the vectors of a visit that a worker holds at its peak: the state that came,
# what the solver works on, and the state that goes.
_COPIES = 9
# Bytes of a link in a visit, and of what a visit holds beside.
_LINK = 120
_BESIDE = 1_000_000
# The most buckets: a visit of two of them has to be worth a task.
_MOST_BUCKETS = 1024


@dataclass
class BucketedTable:
    """A table of vectors, in buckets over a cluster.

    Attributes
    ----------
    dim : int
        The dimension.
    gamma : float
        The fitted constant.
    n_nodes, n_buckets : int
        How many nodes, and how many buckets hold their vectors.
    values : list of float
        The objective per link, of each epoch.
    peak_bytes : int
        The most memory that a visit added to its worker.
    """

    dim: int
    gamma: float
    n_nodes: int
    n_buckets: int
    values: list[float]
    peak_bytes: int
    _places: npt.NDArray[np.int64] = field(repr=False)
    _buckets: list[Any] = field(repr=False)

    def bucket(self, place: int) -> tuple[npt.NDArray[np.int64], Floats]:
        """The nodes of a bucket, and their vectors.

        Parameters
        ----------
        place : int
            The place of the bucket, counted from 0.
        """
        state = self._read(place)
        rows = state.shape[1] // self.dim
        start = _cut(place, self.n_nodes, self.n_buckets)
        return self._nodes()[start : start + rows], state[0].reshape(rows, self.dim)

    def embedding(self) -> Floats:
        """All vectors, a row for each node, where this machine's memory holds them."""
        found = np.empty((self.n_nodes, self.dim), np.float32)
        for place in range(self.n_buckets):
            nodes, vectors = self.bucket(place)
            found[nodes] = vectors
        return found

    def score_pairs(self, pairs: Any) -> npt.NDArray[np.float64]:
        """The logarithm of the expected weight of each pair of rows, bucket by bucket.

        Parameters
        ----------
        pairs : array of shape (n_pairs, 2)
            The row numbers of the nodes.
        """
        pairs = np.asarray(pairs)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise refused("pairs", "an array of two columns of row numbers", pairs)
        if pairs.size and not (pairs.min() >= 0 and pairs.max() < self.n_nodes):
            raise refused("pairs", f"row numbers from 0 to {self.n_nodes - 1}", pairs.max())
        vectors = [np.empty((len(pairs), self.dim), np.float32) for _ in range(2)]
        places = self._places[pairs]
        cuts = _cuts(self.n_nodes, self.n_buckets)
        buckets = np.searchsorted(cuts, places, side="right") - 1
        for place in np.unique(buckets):
            _, here = self.bucket(int(place))
            for end in range(2):
                mine = buckets[:, end] == place
                vectors[end][mine] = here[places[mine, end] - cuts[place]]
        products = np.einsum("ij,ij->i", vectors[0], vectors[1], dtype=np.float64)
        return np.asarray(products - self.gamma)

    def _nodes(self) -> npt.NDArray[np.int64]:
        nodes = np.empty(self.n_nodes, np.int64)
        nodes[self._places] = np.arange(self.n_nodes)
        return nodes

    def _read(self, place: int) -> Floats:
        import ray

        if not 0 <= place < self.n_buckets:
            raise refused("place", f"a bucket from 0 to {self.n_buckets - 1}", place)
        state: Floats = ray.get(self._buckets[place])
        return state


def fit_table(
    links: Any,
    nodes: Any = None,
    *,
    memory: int | None = None,
    buckets: int | None = None,
    epochs: int = 20,
    ray: Any = True,
    verbose: bool = True,
    **settings: Any,
) -> BucketedTable:
    """Fit a vector to each node of a graph whose table no worker's memory holds.

    The table is split into buckets. A visit takes two of them, moves their vectors along
    the links between them, and puts them back; in a round every bucket is in one visit, so
    no two visits write one bucket, and an epoch has a round for every way to pair them.
    The result has the same bits with any number of workers.

    Parameters
    ----------
    links, nodes
        As for :meth:`linkproof.GraphEmbedding.fit` without data vectors.
    memory : int, optional
        The bytes that a visit may add to a worker's memory. The number of buckets follows.
    buckets : int, optional
        The number of buckets, a power of two, where `memory` is not given. Default: 16.
    epochs : int, default=20
        How often every link is visited.
    ray : bool, str or linkproof.ray.Cluster, default=True
        The cluster.
    verbose : bool, default=True
        Show a bar on a terminal or in a notebook.
    **settings
        Parameters of :class:`linkproof.GraphEmbedding`: dim, score, beta, ridge,
        learning_rate, random_state, duplicates, self_links.

    Returns
    -------
    table : BucketedTable
    """
    known = {"dim", "score", "beta", "ridge", "learning_rate", "random_state", "weights"}
    known |= {"duplicates", "self_links"}
    unknown = sorted(set(settings) - known)
    if unknown:
        raise refused("settings", f"names among {', '.join(sorted(known))}", unknown[0])
    cluster = read_cluster(ray)
    if cluster is None:
        raise refused("ray", "True, the address of a cluster, or a linkproof.ray.Cluster", ray)
    base = GraphEmbedding(encoder="table", **settings)
    seed = read_seed(base.random_state)
    params = json.loads(to_core(base.get_params(deep=False), seed))
    graph = read_graph(None, links, nodes)
    rules = read_rules(base.duplicates, base.self_links)
    src, dst, weight = core_links(graph.links, core_ids(graph.ids, graph.n), rules).arrays()
    if len(src) == 0:
        raise ValueError("links: found none; expected one at least")
    count = _number_of_buckets(graph.n, len(src), int(base.dim), memory, buckets)
    work = _Work(cluster, params, (graph.n, int(base.dim), count), seed)
    work.split(src, dst, weight)
    with Progress("fitting", verbose) as progress:
        return work.run(read_count("epochs", epochs, 1), progress)


def visit_bytes(n: int, n_links: int, dim: int, buckets: int) -> int:
    """The bytes that a visit adds to a worker's memory, at most, about.

    Examples
    --------
    >>> from linkproof.ray import visit_bytes
    >>> visit_bytes(200_000, 1_000_000, 64, 64)
    15517120
    """
    rows = 2 * -(-n // buckets)
    # Links spread evenly over pairs of buckets; twice as many are allowed for.
    links = 2 * (2 * n_links) // buckets**2
    return _COPIES * 4 * dim * rows + _LINK * links + _BESIDE


def _number_of_buckets(n: int, n_links: int, dim: int, memory: Any, buckets: Any) -> int:
    most = 1 << max(0, (n // 4).bit_length() - 1)
    if memory is not None:
        if buckets is not None:
            raise ValueError("buckets: found with memory; expected one of the two")
        memory = read_count("memory", memory, 1, 2**63)
        count = 2
        while visit_bytes(n, n_links, dim, count) > memory:
            count *= 2
            if count > min(most, _MOST_BUCKETS):
                least = visit_bytes(n, n_links, dim, count // 2)
                raise refused("memory", f"{least} bytes or more for a graph of this size", memory)
        return count
    count = read_count("buckets", 16 if buckets is None else buckets, 2, _MOST_BUCKETS)
    if count & (count - 1) or count > most:
        if buckets is None:
            return max(2, most)
        raise refused("buckets", f"a power of two from 2 to {most}", buckets)
    return count


def _cut(place: int, n: int, buckets: int) -> int:
    return place * n // buckets


def _cuts(n: int, buckets: int) -> npt.NDArray[np.int64]:
    return np.array([_cut(place, n, buckets) for place in range(buckets + 1)], np.int64)


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
    moves: int,
    threads: int,
    visits: list[tuple[list[Any], Any]],
) -> Any:
    """Visits one after another: the buckets of each, and then what else is known of it."""
    import ray

    for buckets, links in visits:
        with _Peak() as peak:
            states = [ray.get(bucket) for bucket in buckets]
            moved, new_gamma, value = _core.visit_buckets(
                settings, dim, states, gamma, ray.get(links), moves=moves, threads=threads
            )
            del states
        # Not `yield from`, which Ray cannot send to.
        for bucket in moved:  # noqa: UP028
            yield bucket
        yield new_gamma, value, peak.added


class _Work:
    """A fit of a bucketed table on its way."""

    def __init__(
        self, cluster: Cluster, params: dict[str, Any], shape: tuple[int, int, int], seed: int
    ) -> None:
        self._ray = cluster.connect()
        self._threads = cluster.threads or 1
        self._most = cluster.workers
        cluster.check_room(self._threads)
        self._params = params
        self._n, self._dim, self._count = shape
        self._seed = seed
        self._cuts = _cuts(self._n, self._count)
        # Nodes stand in buckets by chance, so that links spread evenly.
        self._places = np.random.default_rng([seed, 1]).permutation(self._n)
        self._links: dict[tuple[int, int], Any] = {}
        self._weights = 0.0
        self._gamma = (0.0, 0.0, 0.0)
        self._buckets = [self._put(self._start(place)) for place in range(self._count)]

    def _put(self, numbers: Any) -> Any:
        try:
            return self._ray.put(numbers)
        except self._ray.exceptions.RayError as error:
            raise ClusterError(
                f"ray: the object store cannot hold the table: {_first_line(error)}; start Ray "
                "with a larger object_store_memory, or more nodes"
            ) from error

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
        ends = np.stack([self._places[src], self._places[dst]])
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
        median = float(np.median(weight))
        pairs = self._n * (self._n - 1) / 2
        self._gamma = (float(-np.log(np.minimum(weight, median).sum() / pairs)), 0.0, 0.0)

    def run(self, epochs: int, progress: Progress) -> BucketedTable:
        """All epochs, round after round."""
        rounds = list(range(1, self._count))
        values: list[float] = []
        moves, peak = 0, 0
        for epoch in range(epochs):
            # What is inside a bucket has half the pairs: every second epoch sees it.
            these = rounds + ([0] if epoch % 2 == 0 else [])
            these = np.random.default_rng([self._seed, 3, epoch]).permutation(these).tolist()
            paid: list[float] = []
            for meeting in these:
                settings = self._settings(epoch, epochs)
                found = self._round(settings, meeting, moves)
                paid.extend(value for _, value, _ in found if value is not None)
                peak = max([peak, *(here for _, _, here in found)])
                gammas = np.array([gamma for gamma, _, _ in found], np.float64)
                # All visits of a round start from one gamma, and their ends are averaged.
                self._gamma = tuple(gammas.mean(axis=0).tolist())
                moves += 1
            values.append(float(np.mean(paid)) if paid else float("nan"))
            if progress.show is not None:
                progress.show(epoch + 1, epochs, None)
        return BucketedTable(
            dim=self._dim,
            gamma=self._gamma[0],
            n_nodes=self._n,
            n_buckets=self._count,
            values=values,
            peak_bytes=peak,
            _places=self._places,
            _buckets=self._buckets,
        )

    def _settings(self, epoch: int, epochs: int) -> str:
        # Each bucket is in about as many visits of an epoch as there are buckets, and
        # the ridge on its vectors is shared out among them.
        settings = dict(self._params)
        settings["ridge"] = float(settings.get("ridge", 2.0)) / (self._count - 0.5)
        # Visits of many buckets have few links each, and so are noisier.
        rate = settings.get("learning-rate") or (0.05 if self._count <= 32 else 0.03)
        # What a step works on is a quarter of a visit, so that it takes little memory.
        rows = 2 * (self._n // self._count)
        settings["block"] = max(64, min(4096, rows // 4))
        settings["learning-rate"] = float(rate) * _schedule(epoch, epochs)
        return json.dumps(settings)

    def _round(self, settings: str, meeting: int, moves: int) -> list[Any]:
        """The visits of a round, which share no bucket."""
        pairs = [(p, p ^ meeting) for p in range(self._count) if p <= p ^ meeting]
        slots = int(self._ray.cluster_resources().get("CPU", 1)) // self._threads
        slots = max(1, min(slots, self._most or slots, len(pairs)))
        task = self._ray.remote(_visits).options(
            num_cpus=self._threads, num_returns="streaming", max_retries=8
        )
        running = []
        for slot in range(slots):
            mine = pairs[slot::slots]
            visits = [
                ([self._buckets[p] for p in dict.fromkeys(pair)], self._links[pair])
                for pair in mine
            ]
            asked = (settings, self._dim, self._gamma, moves, self._threads, visits)
            running.append((mine, task.remote(*asked)))
        told: dict[tuple[int, int], Any] = {}
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
                        self._buckets[place] = given.pop()
                    told[pair] = self._ray.get(given.pop())
        except self._ray.exceptions.RayError as error:
            raise ClusterError(f"ray: a visit failed: {_first_line(error)}") from error
        return [told[pair] for pair in pairs]


def _schedule(epoch: int, epochs: int) -> float:
    """Steps get shorter towards the end."""
    return 1.0 - 0.9 * epoch / epochs
