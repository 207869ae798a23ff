"""The exact moment score in PyTorch and KeOps: value and gradient.

    sum over i < j of e^{a s_ij} / a, a = 1 + beta, s_ij = <y_i, y_j> - gamma
    - sum over links of (e^{beta s_ij} - 1) / beta

The whole square is visited in chunks of rows, the diagonal is taken off and
the rest halved; `triangle` visits each pair once instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from peers.serve import megabytes

# Rows of a chunk. Of 96, 192, 384, 512, 1024 and 2048 this was the fastest for
# the versions by hand at n = 10,000 (compiled: 192 by a sixth).
CHUNK = 384

Result = tuple[float, Tensor]
AllPairs = Callable[[Tensor, float, float], Result]


@lru_cache
def load(embeddings: str, links: str) -> tuple[Tensor, Tensor, Tensor]:
    """Embeddings, and the two ends of each link."""
    y = torch.from_numpy(np.load(embeddings))
    ends = torch.from_numpy(np.loadtxt(links, delimiter=",", skiprows=1, dtype=np.int64))
    return y, ends[:, 0].contiguous(), ends[:, 1].contiguous()


def without_diagonal(total: float, gradient: Tensor, y: Tensor, gamma: float, a: float) -> Result:
    """From the sum over the whole square, and `sum_j e^{a s_ij} y_j`, to the
    sum over pairs and its gradient."""
    own = torch.exp(a * ((y * y).sum(1) - gamma))
    value = (total - own.sum(dtype=torch.float64).item()) / (2 * a)
    return value, gradient.addcmul_(own[:, None], y, value=-1)


def autograd_chunk(rows: Tensor, y: Tensor, gamma: float, a: float) -> Tensor:
    """The sum over a chunk of rows."""
    return torch.exp(a * (rows @ y.T - gamma)).sum()


def autograd(chunk_sum: Callable[..., Tensor]) -> AllPairs:
    """Gradients by autograd, chunk after chunk."""

    def all_pairs(y: Tensor, gamma: float, a: float) -> Result:
        leaf = y.detach().clone().requires_grad_(True)
        total = 0.0
        for start in range(0, len(y), CHUNK):
            part = chunk_sum(leaf[start : start + CHUNK], leaf, gamma, a)
            part.backward()
            total += part.item()
        assert leaf.grad is not None
        return without_diagonal(total, leaf.grad.div_(2 * a), y, gamma, a)

    return all_pairs


def by_hand_chunk(rows: Tensor, y: Tensor, gamma: float, a: float) -> tuple[Tensor, Tensor]:
    """The sum over a chunk of rows, and `sum_j e^{a s_ij} y_j`."""
    slopes = torch.exp(a * (rows @ y.T - gamma))
    return slopes.sum(), slopes @ y


def by_hand(chunk_sums: Callable[..., tuple[Tensor, Tensor]]) -> AllPairs:
    """Gradients written out."""

    def all_pairs(y: Tensor, gamma: float, a: float) -> Result:
        with torch.no_grad():
            gradient = torch.empty_like(y)
            total = 0.0
            for start in range(0, len(y), CHUNK):
                part, out = chunk_sums(y[start : start + CHUNK], y, gamma, a)
                gradient[start : start + CHUNK] = out
                total += part.item()
            return without_diagonal(total, gradient, y, gamma, a)

    return all_pairs


def in_place(y: Tensor, gamma: float, a: float) -> Result:
    """Gradients written out, in buffers that are used again."""
    with torch.no_grad():
        n = len(y)
        gradient = torch.empty_like(y)
        buffer = torch.empty(CHUNK, n)
        shift = torch.full((1, 1), -a * gamma)
        total = 0.0
        for start in range(0, n, CHUNK):
            rows = y[start : start + CHUNK]
            slopes = buffer[: len(rows)]
            torch.addmm(shift, rows, y.T, alpha=a, out=slopes).exp_()
            total += slopes.sum().item()
            torch.mm(slopes, y, out=gradient[start : start + CHUNK])
        return without_diagonal(total, gradient, y, gamma, a)


def triangle(y: Tensor, gamma: float, a: float) -> Result:
    """As `in_place`, on the upper triangle of chunks: fewer products."""
    with torch.no_grad():
        n = len(y)
        gradient = torch.zeros_like(y)
        buffer = torch.empty(CHUNK * n)
        shift = torch.full((1, 1), -a * gamma)
        total = 0.0
        for start in range(0, n, CHUNK):
            stop = min(start + CHUNK, n)
            rows = y[start:stop]
            slopes = buffer[: len(rows) * (n - start)].view(len(rows), n - start)
            torch.addmm(shift, rows, y[start:].T, alpha=a, out=slopes).exp_()
            inside = slopes[:, : len(rows)].sum().item()
            total += 2 * slopes.sum().item() - inside
            gradient[start:stop].addmm_(slopes, y[start:])
            gradient[stop:].addmm_(slopes[:, len(rows) :].T, rows)
        return without_diagonal(total, gradient, y, gamma, a)


def keops_product(y: Tensor, gamma: float, a: float) -> Result:
    """One reduction `sum_j e^{a s_ij} (y_j, 1)`."""
    from pykeops.torch import LazyTensor

    kernel = ((LazyTensor(y[:, None, :]) | LazyTensor(y[None, :, :])) * a - a * gamma).exp()
    sums = kernel @ torch.cat([y, torch.ones(len(y), 1)], dim=1)
    total = sums[:, -1].sum(dtype=torch.float64).item()
    return without_diagonal(total, sums[:, :-1].contiguous(), y, gamma, a)


def keops_autograd(y: Tensor, gamma: float, a: float) -> Result:
    """The sum as a KeOps reduction, its gradient by autograd."""
    from pykeops.torch import LazyTensor

    leaf = y.detach().clone().requires_grad_(True)
    x_i, x_j = LazyTensor(leaf[:, None, :]), LazyTensor(leaf[None, :, :])
    total = ((x_i | x_j) * a - a * gamma).exp().sum(1).sum()
    total.backward()
    assert leaf.grad is not None
    return without_diagonal(total.item(), leaf.grad.div_(2 * a), y, gamma, a)


def add_links(
    value: float, gradient: Tensor, y: Tensor, ends: tuple[Tensor, Tensor], gamma: float, beta: float
) -> Result:
    """What links pay on top, and its gradient."""
    with torch.no_grad():
        i, j = ends
        y_i, y_j = y[i], y[j]
        slopes = torch.exp(beta * ((y_i * y_j).sum(1) - gamma))
        value -= ((slopes.sum(dtype=torch.float64) - len(i)) / beta).item()
        gradient.index_add_(0, i, y_j.mul_(slopes[:, None]), alpha=-1)
        gradient.index_add_(0, j, y_i.mul_(slopes[:, None]), alpha=-1)
        return value, gradient


def commands(threads: int) -> dict[str, Callable[..., dict[str, Any]]]:
    """What this module does on request."""
    torch.set_num_threads(threads)
    compiled = {
        "compiled autograd": lambda: autograd(torch.compile(autograd_chunk)),
        "compiled by hand": lambda: by_hand(torch.compile(by_hand_chunk)),
    }
    ready: dict[str, AllPairs] = {
        "eager autograd": autograd(autograd_chunk),
        "eager by hand": in_place,
        "eager by hand, triangle": triangle,
        "keops autograd": keops_autograd,
        "keops by hand": keops_product,
    }

    def exact(
        variant: str,
        embeddings: str,
        links: str,
        gamma: float,
        beta: float,
        gradient_to: str | None = None,
    ) -> dict[str, Any]:
        if variant not in ready:
            ready[variant] = compiled[variant]()
        y, i, j = load(embeddings, links)
        before = megabytes("VmRSS")
        start = time.perf_counter()
        value, gradient = ready[variant](y, gamma, 1 + beta)
        value, gradient = add_links(value, gradient, y, (i, j), gamma, beta)
        seconds = time.perf_counter() - start
        if gradient_to is not None:
            np.save(gradient_to, gradient.numpy())
        return {"seconds": seconds, "value": value, "before_mb": before}

    def product(size: int, count: int) -> dict[str, Any]:
        a, b = torch.rand(size, size), torch.rand(size, size)
        out = torch.empty(size, size)
        start = time.perf_counter()
        for _ in range(count):
            torch.mm(a, b, out=out)
        return {"seconds": (time.perf_counter() - start) / count}

    return {"exact": exact, "product": product}
