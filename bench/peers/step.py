"""One stochastic step of the paper's network for Cora in PyTorch: 512 links
and 512 pairs, each distinct node encoded once; 1433 inputs, 3000 tanh units
with batch normalisation and dropout, 100 outputs; Adam."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.io import mmread
from torch import Tensor, nn


@dataclass(frozen=True)
class Batch:
    """Distinct nodes, and pairs between their places."""

    nodes: np.ndarray
    links: Tensor
    pairs: Tensor


class Network(nn.Module):
    """The encoder; `bag` takes sparse data vectors as they are."""

    def __init__(self, features: Any, hidden: int, outputs: int, dropout: float, bag: bool) -> None:
        super().__init__()
        self.rows = features
        self.dense = None if bag else torch.from_numpy(features.toarray())
        inputs = features.shape[1]
        self.first = nn.Parameter(torch.randn(inputs, hidden) / inputs**0.5)
        self.norm = nn.BatchNorm1d(hidden, track_running_stats=False)
        self.drop = nn.Dropout(dropout)
        self.last = nn.Linear(hidden, outputs)
        self.gamma = nn.Parameter(torch.tensor(6.5))

    def forward(self, nodes: np.ndarray) -> Tensor:
        """Embeddings of some nodes."""
        if self.dense is not None:
            hidden = self.dense[torch.from_numpy(nodes)] @ self.first
        else:
            rows = self.rows[nodes]
            hidden = nn.functional.embedding_bag(
                torch.from_numpy(rows.indices.astype(np.int64)),
                self.first,
                torch.from_numpy(rows.indptr[:-1].astype(np.int64)),
                mode="sum",
                per_sample_weights=torch.from_numpy(rows.data),
            )
        return self.last(self.drop(torch.tanh(self.norm(hidden))))


def objective(network: Network, batch: Batch, beta: float, scale: float) -> Tensor:
    """The mean link's part plus `scale` times the mean pair's part."""
    y = network(batch.nodes)

    def similarity(pairs: Tensor) -> Tensor:
        return (y[pairs[0]] * y[pairs[1]]).sum(1) - network.gamma

    links = -torch.expm1(beta * similarity(batch.links)) / beta
    pairs = torch.exp((1 + beta) * similarity(batch.pairs)) / (1 + beta)
    return links.mean() + scale * pairs.mean()


class Task:
    """Data, a network and its optimizer."""

    def __init__(
        self, links: str, features: str, bag: bool, hidden: int, outputs: int, dropout: float, rate: float
    ) -> None:
        matrix = mmread(features).tocsr().astype(np.float32)
        lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(1)).ravel())
        matrix.data /= np.repeat(np.maximum(lengths, 1e-30), np.diff(matrix.indptr)).astype(np.float32)
        self.links = np.loadtxt(links, delimiter=",", skiprows=1, usecols=(0, 1), dtype=np.int64)
        self.n = matrix.shape[0]
        self.random = np.random.default_rng(0)
        self.network = Network(matrix, hidden, outputs, dropout, bag)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=rate, fused=True)

    def draw(self, size: int) -> Batch:
        """Links without repeats, and distinct pairs."""
        links = self.links[self.random.choice(len(self.links), size, replace=False)]
        pairs = self.random.integers(0, self.n, (size, 2))
        while True:
            keys = pairs.min(1) * self.n + pairs.max(1)
            bad = np.ones(size, dtype=bool)
            bad[np.unique(keys, return_index=True)[1]] = False
            bad |= pairs[:, 0] == pairs[:, 1]
            if not bad.any():
                break
            pairs[bad] = self.random.integers(0, self.n, (int(bad.sum()), 2))
        nodes, places = np.unique(np.concatenate([links, pairs]), return_inverse=True)
        places = torch.from_numpy(places.reshape(-1, 2).T.copy())
        return Batch(nodes, places[:, :size], places[:, size:])

    @property
    def scale(self) -> float:
        """Pairs for each link."""
        return self.n * (self.n - 1) / 2 / len(self.links)


def load_theta(network: Network, path: str) -> None:
    """Our parameters: weights, scales and shifts, weights, biases, gamma."""
    theta = torch.from_numpy(np.load(path).ravel())
    place = 0

    def take(target: Tensor, turned: bool = False) -> None:
        nonlocal place
        part = theta[place : place + target.numel()]
        place += target.numel()
        shape = target.T.shape if turned else target.shape
        target.copy_(part.view(shape).T if turned else part.view(shape))

    with torch.no_grad():
        take(network.first)
        take(network.norm.weight)
        take(network.norm.bias)
        take(network.last.weight, turned=True)
        take(network.last.bias)
        take(network.gamma)


def flat_gradient(network: Network) -> np.ndarray:
    """The gradient in the order of `load_theta`."""
    last = network.last
    parts = [network.first, network.norm.weight, network.norm.bias]
    gradients = [part.grad for part in parts] + [last.weight.grad.T, last.bias.grad, network.gamma.grad]
    return np.concatenate([gradient.numpy().ravel() for gradient in gradients])


def commands(threads: int) -> dict[str, Callable[..., dict[str, Any]]]:
    """What this module does on request."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    tasks: dict[str, Task] = {}

    def prepare(name: str, **settings: Any) -> dict[str, Any]:
        tasks[name] = Task(**settings)
        return {}

    def steps(name: str, count: int, size: int, beta: float) -> dict[str, Any]:
        task = tasks[name]
        start = time.perf_counter()
        for _ in range(count):
            task.optimizer.zero_grad(set_to_none=True)
            objective(task.network, task.draw(size), beta, task.scale).backward()
            task.optimizer.step()
        return {"seconds": (time.perf_counter() - start) / count}

    def draw(name: str, size: int) -> dict[str, Any]:
        batch = tasks[name].draw(size)
        return {
            "nodes": batch.nodes.tolist(),
            "links": batch.links.T.tolist(),
            "pairs": batch.pairs.T.tolist(),
            "scale": tasks[name].scale,
        }

    def sampled_once(
        name: str, nodes: list[int], links: list[list[int]], pairs: list[list[int]], beta: float,
        theta: str, gradient_to: str,
    ) -> dict[str, Any]:
        task = tasks[name]
        load_theta(task.network, theta)
        batch = Batch(np.array(nodes), torch.tensor(links).T, torch.tensor(pairs).T)
        task.network.drop.p = 0.0
        task.network.zero_grad()
        value = objective(task.network, batch, beta, task.scale)
        value.backward()
        np.save(gradient_to, flat_gradient(task.network))
        return {"value": value.item()}

    return {"prepare": prepare, "steps": steps, "draw": draw, "sampled-once": sampled_once}
