"""The data folders, and the parts of them that a setting lets a method see."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

SETTINGS = ("all", "unseen", "unseen-links")

Matrix = np.ndarray | sp.csr_matrix


@dataclass
class Graph:
    """Data vectors and the symmetric link weights of the same nodes."""

    features: Matrix
    weights: sp.csr_matrix

    @property
    def nodes(self) -> int:
        return self.weights.shape[0]

    @property
    def pattern(self) -> sp.csr_matrix:
        """1 where there is a link: for methods that know no weights."""
        return pattern(self.weights)

    def part(self, rows: np.ndarray) -> Graph:
        """These nodes and the links among them."""
        return Graph(self.features[rows], self.weights[rows][:, rows].tocsr())

    def without_links(self) -> Graph:
        return Graph(self.features, sp.csr_matrix(self.weights.shape))


@dataclass
class OneView:
    """A graph of one kind of nodes; some of them are the test nodes."""

    graph: Graph
    test: np.ndarray

    def binary(self) -> OneView:
        """The same with every weight 1."""
        return OneView(Graph(self.graph.features, self.graph.pattern), self.test)

    @property
    def training(self) -> np.ndarray:
        seen = np.ones(self.graph.nodes, dtype=bool)
        seen[self.test] = False
        return np.flatnonzero(seen)

    def to_fit(self, setting: str) -> Graph:
        """What a method may fit on: test nodes are there in `all` only."""
        return self.graph if setting == "all" else self.graph.part(self.training)

    def to_embed(self, setting: str) -> tuple[Graph, np.ndarray]:
        """The graph to put through a fitted encoder, and the rows that count.

        In `unseen` the test nodes stand alone, so that nothing of their links,
        not even that of one test node to another, can reach the result.
        """
        if setting == "unseen":
            alone = self.graph.part(self.test).without_links()
            return alone, np.arange(len(self.test))
        return self.graph, self.test


@dataclass
class TwoViews:
    """Two kinds of nodes; links are numbered over both, view a first."""

    features_a: np.ndarray
    features_b: np.ndarray
    weights: sp.csr_matrix

    def binary(self) -> TwoViews:
        """The same with every weight 1."""
        return TwoViews(self.features_a, self.features_b, pattern(self.weights))


def pattern(weights: sp.csr_matrix) -> sp.csr_matrix:
    ones = weights.copy()
    ones.data[:] = 1.0
    return ones


def load(folder: Path) -> OneView | TwoViews:
    """Reads a data folder; two views are told by their features-a.npy."""
    if (folder / "features-a.npy").exists():
        a, b = (_dense(folder / f"features-{view}.npy") for view in "ab")
        return TwoViews(a, b, _links(folder / "links.csv", len(a) + len(b)))
    features = _features(folder)
    nodes = features.shape[0]
    test = _table(folder / "test.csv", columns=1)[:, 0].astype(np.int64)
    if len(test) and (test.min() < 0 or test.max() >= nodes):
        raise ValueError(f"test.csv names a node outside of 0..{nodes - 1}")
    if len(np.unique(test)) != len(test):
        raise ValueError("test.csv names a node twice")
    return OneView(Graph(features, _links(folder / "links.csv", nodes)), test)


def _features(folder: Path) -> Matrix:
    if (folder / "features.npy").exists():
        return _dense(folder / "features.npy")
    read = scipy.io.mmread(folder / "features.mtx")
    return sp.csr_matrix(read, dtype=np.float64)


def _dense(file: Path) -> np.ndarray:
    return np.asarray(np.load(file), dtype=np.float64)


def _links(file: Path, nodes: int) -> sp.csr_matrix:
    """The symmetric weight matrix. Self-links and zero weights are no links."""
    table = _table(file, columns=3)
    src, dst = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    if len(table) and (min(src.min(), dst.min()) < 0 or max(src.max(), dst.max()) >= nodes):
        raise ValueError(f"links.csv names a node outside of 0..{nodes - 1}")
    keep = (src != dst) & (table[:, 2] > 0)
    src, dst, weight = src[keep], dst[keep], table[keep, 2]
    once = sp.coo_matrix((weight, (src, dst)), shape=(nodes, nodes))
    both = (once + once.T).tocsr()
    both.sort_indices()
    return both


def _table(file: Path, columns: int) -> np.ndarray:
    table = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
    return table.reshape(-1, columns)
