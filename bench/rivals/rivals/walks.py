"""Random walks on the links, read as sentences by gensim's Word2Vec.

The walks are our own: pecanpy holds numpy below 2, and PyTorch Geometric's
Node2Vec needs compiled companions that the package index does not offer.
gensim trains with one thread, because its threads race and no two runs agree.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from gensim.models import Word2Vec

from .data import OneView

# Grover and Leskovec (2016), section 4.3, for DeepWalk and node2vec alike.
WALKS = 10
LENGTH = 80
WINDOW = 10
DIMENSION = 128


def deepwalk(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """Perozzi et al. (2014): uniform walks, skip-gram, hierarchical softmax.

    Their algorithm 1 reads every walk once, hence one epoch.
    """
    walks = _walks(data.to_fit(setting).pattern, p=1.0, q=1.0, seed=seed)
    return _skip_gram(walks, data.graph.nodes, seed, hs=1, negative=0, epochs=1)[data.test]


def node2vec(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """Grover and Leskovec (2016), by weight; p=1, q=0.5 is their choice for communities.

    Their program trains for one epoch, with word2vec's 5 negatives.
    """
    walks = _walks(data.to_fit(setting).weights, p=1.0, q=0.5, seed=seed)
    return _skip_gram(walks, data.graph.nodes, seed, hs=0, negative=5, epochs=1)[data.test]


def _skip_gram(walks: list[list[str]], nodes: int, seed: int, **settings: int) -> np.ndarray:
    model = Word2Vec(
        walks,
        vector_size=DIMENSION,
        window=WINDOW,
        sg=1,
        min_count=0,
        workers=1,
        seed=seed % 2**32,
        **settings,
    )
    return np.stack([model.wv[str(node)] for node in range(nodes)])


def _walks(weights: sp.csr_matrix, p: float, q: float, seed: int) -> list[list[str]]:
    """`WALKS` walks from every node, in shuffled order; a node without links is
    a walk of one step, so that every node has a vector."""
    random = np.random.default_rng(seed)
    walker = _Walker(weights, p, q)
    names = np.array([str(node) for node in range(weights.shape[0])], dtype=object)
    linked = np.diff(weights.indptr) > 0
    sentences: list[list[str]] = []
    for _ in range(WALKS):
        starts = random.permutation(weights.shape[0])
        walked = iter(names[walker.walk(starts[linked[starts]], random)].tolist())
        sentences.extend(next(walked) if linked[s] else [names[s]] for s in starts)
    return sentences


class _Walker:
    """All walks of a round take their steps together, as arrays.

    A step of second order is drawn by rejection: a neighbour by weight, kept
    with probability alpha / max alpha, where alpha is 1/p on the way back, 1 to
    a neighbour of the node before, 1/q elsewhere. That is node2vec's law
    exactly, without its table for every link.
    """

    def __init__(self, weights: sp.csr_matrix, p: float, q: float) -> None:
        self.indptr, self.indices = weights.indptr.astype(np.int64), weights.indices.astype(np.int64)
        self.nodes = weights.shape[0]
        # Cumulative chances, row r in (r, r+1]: one sorted array for all rows.
        rows = np.repeat(np.arange(self.nodes), np.diff(self.indptr))
        sums = np.add.reduceat(weights.data, self.indptr[:-1][np.diff(self.indptr) > 0]) if len(rows) else []
        of_row = np.zeros(self.nodes)
        of_row[np.diff(self.indptr) > 0] = sums
        share = weights.data / of_row[rows]
        before = np.concatenate([[0.0], np.cumsum(share)])
        self.cumulative = rows + np.minimum(before[1:] - before[self.indptr[rows]], 1.0)
        self.keys = rows * self.nodes + self.indices
        self.back, self.out = 1.0 / p, 1.0 / q
        self.most = max(self.back, 1.0, self.out)

    def walk(self, starts: np.ndarray, random: np.random.Generator) -> np.ndarray:
        path = np.empty((len(starts), LENGTH), dtype=np.int64)
        path[:, 0] = starts
        for step in range(1, LENGTH):
            here = path[:, step - 1]
            if step == 1 or self.back == self.out == 1.0:
                path[:, step] = self._neighbour(here, random)
            else:
                path[:, step] = self._second_order(path[:, step - 2], here, random)
        return path

    def _neighbour(self, here: np.ndarray, random: np.random.Generator) -> np.ndarray:
        chosen = np.searchsorted(self.cumulative, here + random.random(len(here)), side="right")
        # Rounding may carry a draw past the end of its row.
        return self.indices[np.clip(chosen, self.indptr[here], self.indptr[here + 1] - 1)]

    def _second_order(
        self, before: np.ndarray, here: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        result = np.empty_like(here)
        open_ = np.arange(len(here))
        while len(open_):
            proposed = self._neighbour(here[open_], random)
            alpha = np.where(self._linked(before[open_], proposed), 1.0, self.out)
            alpha[proposed == before[open_]] = self.back
            taken = random.random(len(open_)) * self.most < alpha
            result[open_[taken]] = proposed[taken]
            open_ = open_[~taken]
        return result

    def _linked(self, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
        key = src * self.nodes + dst
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return self.keys[at] == key
