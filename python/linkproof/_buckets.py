"""Tables of vectors that no one memory holds: buckets, two of them in memory at a time."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from linkproof._bucket_work import (
    Floats,
    InProcess,
    KeptTable,
    OnCluster,
    Shape,
    TableWork,
    cuts_of,
)
from linkproof._cluster import read_cluster
from linkproof._estimator import GraphEmbedding
from linkproof._inputs import core_links, read_graph
from linkproof._nodes import core_ids
from linkproof._options import Sgd
from linkproof._progress import Progress
from linkproof._settings import read_count, read_rules, read_seed, to_core
from linkproof._words import refused

# What a worker holds at its peak: three numbers for each of the two buckets of a meeting,
# vectors and the averages of Adam; and of the two parts of a visit so many copies.
_NUMBERS = 3
_COPIES = 6
# Bytes of a link in a meeting, and in a visit.
_LINK = 16
_VISITED = 120
# What a meeting holds beside, and what Ray adds to a worker over thousands of them.
_BESIDE = 2_500_000
# The most buckets, and the most parts of each: visits have to be worth their while.
_MOST_BUCKETS = 1024
_MOST_PARTS = 8


@dataclass
class BucketedTable:
    """A table of vectors, in buckets over a cluster.

    Attributes
    ----------
    dim : int
        The dimension.
    gamma : float
        The fitted constant.
    n_nodes, n_buckets, n_parts : int
        How many nodes, how many buckets hold their vectors, and the parts of each.
    values : list of float
        The objective per link, of each epoch.
    """

    dim: int
    gamma: float
    n_nodes: int
    n_buckets: int
    n_parts: int
    values: list[float]
    _places: npt.NDArray[np.int64] = field(repr=False)
    _buckets: list[Any] = field(repr=False)
    _get: Callable[[Any], Floats] = field(repr=False)

    def bucket(self, place: int) -> tuple[npt.NDArray[np.int64], Floats]:
        """The nodes of a bucket, and their vectors.

        Parameters
        ----------
        place : int
            The place of the bucket, counted from 0.
        """
        if not 0 <= place < self.n_buckets:
            raise refused("place", f"a bucket from 0 to {self.n_buckets - 1}", place)
        vectors = self._get(self._buckets[place])[0].reshape(-1, self.dim)
        start = int(cuts_of(self.n_nodes, self.n_buckets)[place])
        nodes = np.argsort(self._places)
        return nodes[start : start + len(vectors)], vectors

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


def fit_table(
    links: Any,
    nodes: Any = None,
    *,
    memory: int | None = None,
    buckets: int | None = None,
    parts: int = 1,
    epochs: int = 20,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    ray: Any = True,
    learning_rate: float | None = None,
    verbose: bool = True,
    **settings: Any,
) -> BucketedTable:
    """Fit a vector to each node of a graph whose table no worker's memory holds.

    The table is split into buckets, and each of these into parts. In a meeting a worker
    takes two buckets into its memory, visits every pair of their parts, moving the vectors
    along the links between them, and puts the buckets back. In a round every bucket is in
    one meeting, so no two workers write one bucket, and an epoch has a round for every way
    to pair them. The result has the same bits with any number of workers.

    Parameters
    ----------
    links, nodes
        As for :meth:`linkproof.GraphEmbedding.fit` without data vectors.
    memory : int, optional
        The bytes that a meeting may add to a worker's memory. The numbers of buckets and of
        their parts follow, by :func:`visit_bytes`.
    buckets : int, optional
        The number of buckets, a power of two, where `memory` is not given. Default: 16.
    parts : int, default=1
        The parts of each bucket, a power of two, where `memory` is not given.
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
        The cluster. False: this process makes all meetings and holds the table, to the same
        bits.
    learning_rate : float, optional
        The length of the first steps. Default: by the number of parts in all.
    verbose : bool, default=True
        Show a bar on a terminal or in a notebook.
    **settings
        Parameters of :class:`linkproof.GraphEmbedding`: dim, score, beta, ridge, weights,
        random_state, duplicates, self_links.

    Returns
    -------
    table : BucketedTable
    """
    known = ("beta", "dim", "duplicates", "random_state", "ridge", "score", "self_links", "weights")
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise refused("settings", f"names among {', '.join(known)}", unknown[0])
    cluster = read_cluster(ray)
    sgd = Sgd(learning_rate=learning_rate)
    base = GraphEmbedding(encoder="table", sgd=sgd, **{"ridge": 2.0, **settings})
    params = json.loads(to_core(base.get_params(deep=False), read_seed(base.random_state)))
    epochs = read_count("epochs", epochs, 1)
    graph = read_graph(None, links, nodes)
    rules = read_rules(base.duplicates, base.self_links)
    listed = core_links(graph.links, core_ids(graph.ids, graph.n), rules).arrays(str(base.weights))
    if len(listed[0]) == 0:
        raise ValueError("links: found none; expected one at least")
    size = graph.n, len(listed[0]), int(base.dim)
    shape = Shape(graph.n, int(base.dim), *_buckets_and_parts(size, memory, buckets, parts))
    kept = None
    if checkpoint is not None:
        digest = hashlib.sha256(b"".join(np.ascontiguousarray(it).data for it in listed))
        more = {"buckets": shape.buckets, "parts": shape.parts, "epochs": epochs}
        about = {"nodes": graph.n, "data": digest.hexdigest(), "settings": {**params, **more}}
        kept = KeptTable(checkpoint, resume, about)
    try:
        workers = InProcess() if cluster is None else OnCluster(cluster)
        work = TableWork(workers, params, shape, kept)
        work.split(*listed)
        with Progress("fitting", verbose) as progress:
            state = work.run(epochs, progress)
    finally:
        if kept is not None:
            kept.close()
    return BucketedTable(
        dim=shape.dim,
        gamma=state.gamma[0],
        n_nodes=shape.n,
        n_buckets=shape.buckets,
        n_parts=shape.parts,
        values=state.values,
        _places=work.places,
        _buckets=work.buckets,
        _get=workers.get,
    )


def visit_bytes(n: int, n_links: int, dim: int, buckets: int, parts: int = 1) -> int:
    """The bytes that a meeting adds to a worker's memory, at most, about.

    Parameters
    ----------
    n, n_links, dim : int
        Nodes, links and dimensions.
    buckets, parts : int
        Buckets, and the parts of each.

    Examples
    --------
    >>> from linkproof.ray import visit_bytes
    >>> visit_bytes(200_000, 1_000_000, 64, 64)
    17032736
    >>> visit_bytes(200_000, 1_000_000, 64, 64, parts=4)
    9725240
    """
    rows, visited = (2 * -(-n // pieces) for pieces in (buckets, buckets * parts))
    # Links spread evenly over pairs; twice as many are allowed for.
    met, moved = (2 * (2 * n_links) // pieces**2 for pieces in (buckets, buckets * parts))
    vectors = 4 * dim * (_NUMBERS * rows + _COPIES * visited)
    return vectors + _LINK * met + _VISITED * moved + _BESIDE


def _buckets_and_parts(
    size: tuple[int, int, int], memory: Any, buckets: Any, parts: Any
) -> tuple[int, int]:
    parts = read_count("parts", parts, 1, _MOST_BUCKETS)
    # A part has four nodes at least.
    most = max(2, 1 << max(0, (size[0] // 4).bit_length() - 1))
    if memory is not None:
        if buckets is not None or parts != 1:
            found = "parts" if buckets is None else "buckets"
            raise ValueError(f"{found}: found with memory; expected one of the two")
        return _within(size, read_count("memory", memory, 1, 2**63), most)
    if parts & (parts - 1) or 2 * parts > most:
        raise refused("parts", f"a power of two from 1 to {most // 2}", parts)
    if buckets is None:
        return min(16, most // parts), parts
    count = read_count("buckets", buckets, 2, _MOST_BUCKETS)
    if count & (count - 1) or count * parts > most:
        raise refused("buckets", f"a power of two from 2 to {most // parts}", buckets)
    return count, parts


def _within(size: tuple[int, int, int], memory: int, most: int) -> tuple[int, int]:
    """The fewest buckets that a bound asks for, and the fewest parts of these."""
    least = memory
    for count in _powers(2, min(most, _MOST_BUCKETS)):
        for parts in _powers(1, min(most // count, _MOST_PARTS)):
            least = visit_bytes(*size, count, parts)
            if least <= memory:
                return count, parts
    raise refused("memory", f"{least} bytes or more for a graph of this size", memory)


def _powers(first: int, last: int) -> list[int]:
    return [1 << k for k in range(first.bit_length() - 1, last.bit_length())]
