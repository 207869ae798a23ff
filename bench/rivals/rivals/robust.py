"""Defences against false links, under DGI's loss or their own.

They were published for classifiers. What is kept here is the part that reads no
label: which links are pruned, weighed or added, and by what numbers. All of them
know links as there or not, so corrupted weights do not reach them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import svds
from sklearn.preprocessing import normalize
from torch import Tensor
from torch_geometric.nn import DeepGraphInfomax

from .data import Graph, Matrix, OneView
from .networks import Encoder, Spread, infomax, prepare, start, tensors, train_to_patience
from .vectors import RowSums

# Wu et al. (2019), GCN-Jaccard: links below it go (DeepRobust's default, too).
JACCARD = 0.01
# Zhang and Zitnik (2020): links whose ends have a lower cosine weigh nothing.
GUARD = 0.1
# Entezari et al. (2020), by the default of DeepRobust's GCNSVD.
RANK = 50


def dgi_jaccard(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """DGI on the links whose ends have data vectors in common."""
    alike = Likeness(data.to_fit(setting).features)
    return infomax(*prepare(data, setting, seed, lambda graph: pruned(graph, alike, JACCARD)))


def dgi_guard(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """DGI by GNNGuard's message passing.

    DGI has one layer, which reads data vectors, so the coefficients are those of
    the first layer: fixed. They are the same for the corrupted graph, which would
    be told by its missing links alone otherwise.
    """
    alike = Likeness(data.to_fit(setting).features)
    return infomax(*prepare(data, setting, seed, lambda graph: guarded(graph, alike)))


def dgi_svd(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """DGI on the adjacency of rank 50 nearest to the given one (GCN-SVD)."""
    fit, _, rows = prepare(data, setting, seed)
    low = LowRank.of(data.to_fit(setting).pattern, seed, fit.links.device)
    fit = replace(fit, spread=low)
    return infomax(fit, fit, rows)


class Likeness:
    """Of two nodes, by their data vectors: Jaccard's where they are sets (all
    values 0 or 1), else the cosine, as DeepRobust has it."""

    def __init__(self, fitted_on: Matrix) -> None:
        self.scale = RowSums(fitted_on)
        values = fitted_on.data if sp.issparse(fitted_on) else fitted_on
        self.sets = bool(np.isin(values, (0.0, 1.0)).all())

    def of_links(self, graph: Graph, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
        if not self.sets:
            return self.cosines(graph, src, dst)
        sets = sp.csr_matrix(graph.features)
        sizes = np.asarray(sets.sum(axis=1)).ravel()
        shared = np.asarray(sets[src].multiply(sets[dst]).sum(axis=1)).ravel()
        union = sizes[src] + sizes[dst] - shared
        # Two empty sets are the same set; DeepRobust keeps such a link, too.
        return np.where(union > 0, shared / np.maximum(union, 1.0), 1.0)

    def cosines(self, graph: Graph, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
        return row_cosines(self.scale(graph.features), src, dst)


def row_cosines(rows: Matrix, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """The cosine of each pair of rows, 0 where one of them is zero."""
    unit = normalize(rows)
    if sp.issparse(unit):
        return np.asarray(unit[src].multiply(unit[dst]).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", unit[src], unit[dst])


def pruned(graph: Graph, alike: Likeness, threshold: float) -> Graph:
    """Without the links whose ends are less alike."""
    src, dst = sp.triu(graph.weights).nonzero()
    return _linked(graph, src, dst, alike.of_links(graph, src, dst) >= threshold)


def _linked(graph: Graph, src: np.ndarray, dst: np.ndarray, keep: np.ndarray) -> Graph:
    once = sp.coo_matrix((np.ones(keep.sum()), (src[keep], dst[keep])), shape=graph.weights.shape)
    return Graph(graph.features, (once + once.T).tocsr())


def guarded(graph: Graph, alike: Likeness) -> Graph:
    """What a node hears from a neighbour: their cosine, 0 below the threshold, as a
    share of the sum over its neighbours, and 1 / (neighbours + 1) from itself; all
    that is not 0 to the exponential. (The program has its learned pruning and its
    memory switched off, and so are they here.)"""
    src, dst = graph.weights.nonzero()
    cosine = alike.cosines(graph, src, dst)
    keep = cosine >= GUARD
    heard = sp.csr_matrix((cosine[keep], (src[keep], dst[keep])), shape=graph.weights.shape)
    itself = sp.diags(1.0 / (np.diff(heard.indptr) + 1.0))
    shares = (normalize(heard, norm="l1") + itself).tocsr()
    shares.data = np.exp(shares.data)
    return Graph(graph.features, shares)


@dataclass
class LowRank:
    """GCN's normalised matrix of `left @ right` and self-loops, never written out."""

    left: Tensor
    right: Tensor
    scale: Tensor

    def __call__(self, mapped: Tensor) -> Tensor:
        scaled = self.scale * mapped
        return self.scale * (self.left @ (self.right @ scaled) + scaled)

    @staticmethod
    def of(adjacency: sp.csr_matrix, seed: int, device: torch.device) -> LowRank:
        nodes = adjacency.shape[0]
        first = np.random.default_rng(seed).uniform(-1.0, 1.0, nodes)
        left, values, right = svds(adjacency, k=min(RANK, nodes - 1), v0=first)
        left = left * values
        degrees = left @ right.sum(axis=1) + 1.0
        # A matrix of low rank has entries below zero, and may have such a sum.
        scale = np.where(degrees > 0, 1.0 / np.sqrt(np.maximum(degrees, 1e-12)), 0.0)
        parts = (left, right, scale[:, None])
        return LowRank(*(torch.tensor(part.copy(), dtype=torch.float32, device=device) for part in parts))


# The defaults of the program of STABLE (Li et al. 2022); its README tunes some of
# them to the share of false links, which nobody knows here.
STABLE_JACCARD, STABLE_COSINE, STABLE_ADDED, STABLE_ALPHA, STABLE_LOOP = 0.03, 0.1, 3, 0.3, 2.0
STABLE_RECOVERED = 0.2


def stable(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """Li et al. (2022): representations by contrast on pruned links, a graph
    refined by them, and the representations passed over it.

    The last is the program's classifier, a GCN of two layers, less what it learns
    from labels.
    """
    device = start(seed)
    random = np.random.default_rng(seed)
    graph = data.to_fit(setting)
    alike = Likeness(graph.features)
    kept = pruned(graph, alike, STABLE_JACCARD)
    if kept.weights.nnz == 0:
        raise ValueError("no link is left whose ends are alike")
    found = _contrast(graph, kept, alike.scale, random, device)
    passed = refined(graph, found)
    return (passed @ (passed @ found))[data.test]


def _contrast(
    graph: Graph, kept: Graph, scale: RowSums, random: np.random.Generator, device: torch.device
) -> np.ndarray:
    """DGI whose summaries are those of two graphs with a fifth of the pruned links
    back; the embeddings are of the pruned graph."""
    fit = tensors(kept, scale, device)
    fit = replace(fit, spread=_spread(kept.weights, STABLE_LOOP, device))
    # The program adds its self-loops to these two once more.
    views = [
        replace(fit, spread=_spread(_recovered(graph, kept, random), STABLE_LOOP + 1.0, device))
        for _ in range(2)
    ]
    model = DeepGraphInfomax(512, Encoder(fit.features.width, 512), summary=None, corruption=None)
    model = model.to(device)

    def loss() -> Tensor:
        true = model.encoder(fit)
        false = model.encoder(fit, torch.randperm(fit.features.count, device=device))
        summaries = [model.encoder(view).mean(dim=0).sigmoid() for view in views]
        logits = [sum(model.discriminate(z, s, sigmoid=False) for s in summaries) for z in (true, false)]
        truth = torch.cat([torch.ones_like(logits[0]), torch.zeros_like(logits[1])])
        return torch.nn.functional.binary_cross_entropy_with_logits(torch.cat(logits), truth)

    train_to_patience(model, loss)
    with torch.no_grad():
        return model.encoder(fit).cpu().numpy().astype(np.float64)


def _recovered(graph: Graph, kept: Graph, random: np.random.Generator) -> sp.csr_matrix:
    gone = sp.triu(graph.pattern - kept.weights).tocoo()
    src, dst = gone.row[gone.data > 0], gone.col[gone.data > 0]
    back = random.permutation(len(src))[: int(STABLE_RECOVERED * len(src))]
    return kept.weights + _linked(graph, src[back], dst[back], np.ones(len(back), bool)).weights


def _spread(adjacency: sp.csr_matrix, loop: float, device: torch.device) -> Spread:
    looped = (adjacency + loop * sp.eye(adjacency.shape[0])).tocsr()
    scale = sp.diags(1.0 / np.sqrt(np.asarray(looped.sum(axis=1)).ravel()))
    return Spread.of(scale @ looped @ scale, device)


def refined(graph: Graph, found: np.ndarray) -> sp.csr_matrix:
    """The program's graph, as the matrix that its GCN multiplies by: links whose
    ends are unlike in `found` go; every node hears of the nodes most like it, one
    of which is itself, among those with more than one link; popular ones weigh
    more, and rows sum to 1."""
    src, dst = sp.triu(graph.weights).nonzero()
    clean = _linked(graph, src, dst, row_cosines(found, src, dst) > STABLE_COSINE).weights
    nodes = graph.nodes
    able = np.flatnonzero(np.diff(clean.indptr) > 1)
    count = min(STABLE_ADDED, len(able))
    unit = normalize(found)
    added = np.empty((nodes, count), dtype=np.int64)
    for first in range(0, nodes, 1024):
        cosine = unit[first : first + 1024] @ unit[able].T
        added[first : first + 1024] = able[np.argsort(-cosine, axis=1, kind="stable")[:, :count]]
    rows = np.repeat(np.arange(nodes), count)
    more = sp.csr_matrix((np.ones(rows.size), (rows, added.ravel())), shape=clean.shape)
    both = (clean + more).tolil()
    both.setdiag(1.0)
    both = both.tocsr()
    both.eliminate_zeros()
    both.data[:] = 1.0
    popular = sp.diags(np.diff(both.indptr).astype(float) ** STABLE_ALPHA)
    return normalize(popular @ both @ popular, norm="l1")
