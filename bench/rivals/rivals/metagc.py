"""MetaGC (Jo, Bu and Shin, CIKM 2023): clusters by modularity, where a second
network learns how much each pair of nodes counts.

Written after the paper and the authors' program, on PyTorch alone: that program
computes the weights of all pairs of nodes and reads 128 rows of them. Only these
are computed here; the numbers are the same (tested).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.func import functional_call

from .data import Graph, OneView
from .networks import Spread, Vectors, start
from .vectors import RowSums

# The program's defaults, which are also its README's for Cora.
BATCH = 128
HIDDEN = 64
LEAST_EPOCHS, MOST_EPOCHS, PATIENCE, DISPLAY = 200, 1500, 50, 100
RATE, META_RATE = 0.001, 0.005


def metagc(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """The chances of each node to be in each cluster.

    The program stops by the modularity on the graph *before* false links were
    added to it. That graph is not to be had; the given one stands in.
    """
    device = start(seed)
    random = np.random.default_rng(seed)
    graph = data.to_fit(setting)
    if graph.weights.nnz == 0:
        raise ValueError("there is no link to fit on")
    pairs = Pairs(graph, device)
    inputs = Inputs.of(graph, RowSums(graph.features), device)
    cluster = Cluster(inputs.vectors.width, clusters).to(device)
    meta = Meta(inputs.vectors.width).to(device)
    optimizer = torch.optim.Adam(cluster.parameters(), lr=RATE)
    meta_optimizer = torch.optim.Adam(meta.parameters(), lr=META_RATE)
    # The program learns nothing where all nodes are one batch.
    size = min(BATCH, -(-graph.nodes // 2))
    best, since, kept = 0.0, 0, None
    for epoch in range(1, MOST_EPOCHS + 1):
        order = random.permutation(graph.nodes)
        batches = [order[at : at + size] for at in range(0, graph.nodes, size)]
        for one, other in zip(batches[::2], batches[1::2]):
            _step((cluster, optimizer), (meta, meta_optimizer), inputs, pairs, one, other)
        if epoch <= LEAST_EPOCHS and epoch % DISPLAY != 0:
            continue
        with torch.no_grad():
            chances = cluster(inputs).cpu().numpy()
        found = modularity(pairs.links, chances.argmax(axis=1))
        if epoch <= LEAST_EPOCHS:
            best, kept = max(best, found), chances
        elif found > best:
            best, since, kept = found, 0, chances
        else:
            since += 1
            if since == PATIENCE:
                break
    return kept[data.test]


def _step(clusters, metas, inputs: Inputs, pairs: Pairs, one: np.ndarray, other: np.ndarray) -> None:
    """One update of both: the pairs' weights are set so that a step of the clusters
    with them on one batch helps the plain modularity of the other batch."""
    (cluster, optimizer), (meta, meta_optimizer) = clusters, metas
    here, there = pairs.rows(one), pairs.rows(other)
    parameters = {name: value.clone() for name, value in cluster.named_parameters()}
    chances = functional_call(cluster, parameters, (inputs,))
    before = (here.surplus * (chances[here.nodes] @ chances.T)).detach() / (-2.0 * pairs.count)
    loss = _weighted(here, meta(inputs, here, before), chances, pairs.count)
    gradients = torch.autograd.grad(loss, list(parameters.values()), create_graph=True)
    moved = {
        name: value - RATE * gradient
        for (name, value), gradient in zip(parameters.items(), gradients)
    }
    ahead = functional_call(cluster, moved, (inputs,))
    meta_optimizer.zero_grad()
    plain = -(there.surplus * (ahead[there.nodes] @ ahead.T)).sum() / (2.0 * pairs.count)
    gradients = torch.autograd.grad(plain, list(meta.parameters()))
    for parameter, gradient in zip(meta.parameters(), gradients):
        parameter.grad = gradient
    meta_optimizer.step()
    with torch.no_grad():
        weights = meta(inputs, here, before)
    optimizer.zero_grad()
    _weighted(here, weights, cluster(inputs), pairs.count).backward()
    optimizer.step()


def _weighted(here: Rows, weights: Tensor, chances: Tensor, count: float) -> Tensor:
    """Less modularity over these rows, pairs by weight, and a share of what keeps
    clusters from falling together."""
    nodes, clusters = chances.shape
    collapse = torch.linalg.vector_norm(chances.sum(dim=0)) / nodes * clusters**0.5 - 1.0
    within = (weights * here.surplus * (chances[here.nodes] @ chances.T)).sum()
    return -within / (2.0 * count) + len(here.nodes) / nodes * collapse


def modularity(links: sp.csr_matrix, clusters: np.ndarray) -> float:
    degrees = np.asarray(links.sum(axis=1)).ravel()
    ends = links.tocoo()
    inside = (clusters[ends.row] == clusters[ends.col]).mean()
    shares = np.bincount(clusters, weights=degrees) / degrees.sum()
    return float(inside - (shares**2).sum())


@dataclass
class Inputs:
    """Data vectors, and what sums over the neighbours, normalised."""

    vectors: Vectors
    spread: Spread

    @staticmethod
    def of(graph: Graph, scale: RowSums, device: torch.device) -> Inputs:
        root = sp.diags(1.0 / np.sqrt(np.maximum(np.diff(graph.weights.indptr), 1)))
        spread = Spread.of(root @ graph.pattern @ root, device)
        return Inputs(Vectors(scale(graph.features), device), spread)


@dataclass
class Rows:
    """Some rows of the matrices of nodes by nodes."""

    nodes: Tensor
    links: Tensor
    # The link less the chance of one by the ends' degrees.
    surplus: Tensor
    # The sum of 1 / degree over common neighbours.
    shared: Tensor


class Pairs:
    """Matrices of nodes by nodes. Two are kept whole, so that their rows are at hand
    on a graphics card: 8 bytes a pair of nodes."""

    def __init__(self, graph: Graph, device: torch.device) -> None:
        self.links = graph.pattern
        self.count = self.links.nnz / 2.0
        degrees = np.diff(self.links.indptr).astype(np.float64)
        shared = (self.links @ sp.diags(1.0 / np.maximum(degrees, 1.0)) @ self.links).toarray()
        np.fill_diagonal(shared, 0.0)
        parts = (degrees, self.links.toarray(), shared)
        self.degrees, self.whole, self.shared = (
            torch.tensor(part, dtype=torch.float32, device=device) for part in parts
        )

    def rows(self, nodes: np.ndarray) -> Rows:
        at = torch.tensor(nodes, device=self.whole.device)
        links = self.whole[at]
        by_chance = torch.outer(self.degrees[at], self.degrees) / (2.0 * self.count)
        return Rows(at, links, links - by_chance, self.shared[at])


class Cluster(nn.Module):
    """A convolution with a way past it, SELU, a linear layer, softmax."""

    def __init__(self, width: int, clusters: int) -> None:
        super().__init__()
        self.around = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, HIDDEN)))
        self.itself = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, HIDDEN)))
        self.bias = nn.Parameter(torch.zeros(HIDDEN))
        self.linear = nn.Linear(HIDDEN, clusters)

    def forward(self, inputs: Inputs) -> Tensor:
        around, itself = inputs.vectors.times(torch.cat([self.around, self.itself], dim=1)).chunk(2, dim=1)
        hidden = inputs.spread(around.contiguous()) + itself + self.bias
        return self.linear(nn.functional.selu(hidden)).softmax(dim=1)


class Meta(nn.Module):
    """The weight of pairs: for linked ones a mix of three likenesses of learned
    maps of the data vectors, plain, times common neighbours, and times what the
    pair adds to modularity; for the others one likeness."""

    def __init__(self, width: int) -> None:
        super().__init__()
        # Four layers side by side.
        self.first = nn.Linear(width, 4 * HIDDEN)
        self.second = nn.ModuleList(nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.mix = nn.Parameter(torch.zeros(3))

    def forward(self, inputs: Inputs, here: Rows, adds: Tensor) -> Tensor:
        alike = []
        hidden = inputs.vectors.through(self.first).relu().chunk(4, dim=1)
        for one, second in zip(hidden, self.second):
            latent = second(one)
            alike.append(latent[here.nodes] @ latent.T)
        plain, shared, added, unlinked = alike
        of_links = torch.stack([plain, shared * here.shared, added * adds]).sigmoid()
        linked = torch.tensordot(self.mix.softmax(dim=0), of_links, dims=1)
        return torch.where(here.links > 0, linked, unlinked.sigmoid())
