"""Tables of vectors that no one memory holds: buckets, two of them in memory at a time."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from linkproof import _core
from linkproof._cluster import read_cluster
from linkproof._estimator import GraphEmbedding
from linkproof._handover import core_ids, core_links
from linkproof._inputs import read_graph
from linkproof._progress import Progress
from linkproof._settings import read_count, read_rules, read_seed, to_core
from linkproof._tables_kept import KeptTable
from linkproof._tables_work import Floats, TableWork, cuts_of
from linkproof._words import refused

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
        start = int(cuts_of(self.n_nodes, self.n_buckets)[place])
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
        cuts = cuts_of(self.n_nodes, self.n_buckets)
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
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
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
        How often every pair of buckets meets.
    checkpoint : path, optional
        A folder in which the fit keeps how far it has come, after a round every five minutes
        and where it ends early. It takes the place of three tables, six while it is written,
        and is removed when the fit is done.
    resume : bool, default=False
        Go on from what `checkpoint` holds, where it holds something: the result has the bits
        of a fit that was never cut short. A checkpoint of other data, settings or another
        version is refused.
    ray : bool, str or linkproof.ray.Cluster, default=True
        The cluster.
    verbose : bool, default=True
        Show a bar on a terminal or in a notebook.
    **settings
        Parameters of :class:`linkproof.GraphEmbedding`: dim, score, beta, ridge, weights,
        learning_rate, random_state, duplicates, self_links. Unless it is given, the learning
        rate follows from the number of buckets.

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
    epochs = read_count("epochs", epochs, 1)
    graph = read_graph(None, links, nodes)
    rules = read_rules(base.duplicates, base.self_links)
    listed = core_links(graph.links, core_ids(graph.ids, graph.n), rules).arrays(str(base.weights))
    if len(listed[0]) == 0:
        raise ValueError("links: found none; expected one at least")
    count = _number_of_buckets(graph.n, len(listed[0]), int(base.dim), memory, buckets)
    kept = None
    if checkpoint is not None:
        what = _what(params, graph.n, listed, {"buckets": count, "epochs": epochs})
        kept = KeptTable(checkpoint, resume, what)
    try:
        work = TableWork(cluster, params, (graph.n, int(base.dim), count), kept)
        work.split(*listed)
        with Progress("fitting", verbose) as progress:
            state = work.run(epochs, progress)
    finally:
        if kept is not None:
            kept.close()
    return BucketedTable(
        dim=int(base.dim),
        gamma=state.gamma[0],
        n_nodes=graph.n,
        n_buckets=count,
        values=state.values,
        peak_bytes=state.peak,
        _places=work.places,
        _buckets=work.buckets,
    )


def _what(
    params: dict[str, Any], n: int, listed: tuple[Any, ...], more: dict[str, int]
) -> dict[str, Any]:
    """What the result of a fit depends on."""
    digest = hashlib.sha256()
    for numbers in listed:
        digest.update(np.ascontiguousarray(numbers).data)
    settings = {**params, **more}
    version = _core.__version__
    return {"linkproof": version, "nodes": n, "data": digest.hexdigest(), "settings": settings}


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
