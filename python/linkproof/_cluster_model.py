"""What a fit on a cluster moves and takes, foretold."""

from __future__ import annotations

import itertools

from linkproof._settings import read_count
from linkproof._words import refused

# As the compiled half cuts rows into blocks, and blocks into groups.
_BLOCK = 384
_PANEL = 32
_GROUP = 6
_GROUPED = 16


def bytes_of_a_pass(
    n: int,
    dim: int,
    workers: int,
    *,
    offsets: bool = False,
    size: int = 4,
    device: str = "cpu",
) -> tuple[int, int]:
    """The bytes that a pass over all pairs moves: to workers, and back from them.

    Embeddings go out once: each node that has workers gets a copy, which these share. Back
    come sums of the gradient, of each worker for the nodes that its pairs are of. A card
    has the whole gradient of its nodes, which comes back once.

    Parameters
    ----------
    n, dim : int
        The numbers of nodes and of dimensions.
    workers : int
        The number of workers.
    offsets : bool, default=False
        Whether nodes have offsets.
    size : int, default=4
        The bytes of a number: 4 in single precision, 8 in double.
    device : {"cpu", "cuda"}, default="cpu"
        What workers compute with.

    Returns
    -------
    out, back : int

    Examples
    --------
    >>> from linkproof.ray import bytes_of_a_pass
    >>> bytes_of_a_pass(20_000, 128, 1)
    (10240000, 10240000)
    >>> bytes_of_a_pass(20_000, 128, 4)
    (10240000, 28360704)
    """
    n, dim = read_count("n", n, 1), read_count("dim", dim, 1)
    workers = read_count("workers", workers, 1)
    row = (dim + bool(offsets)) * size
    if device not in ("cpu", "cuda"):
        raise refused("device", "'cpu' or 'cuda'", device)
    if device == "cuda":
        return n * row, n * row
    groups = _groups(n)
    units = [(p, q) for p in range(len(groups)) for q in range(p, len(groups))]
    units.sort(key=_z_order)
    blocks = [len(group) for group in groups]
    # A tile on the diagonal has half the pairs.
    cost = [blocks[p] * blocks[q] * 2 if p != q else blocks[p] * blocks[p] for p, q in units]
    total, done = sum(cost), 0
    rounds: dict[tuple[int, int], list[int]] = {}
    for (p, q), here in zip(units, cost):
        worker = min((2 * done + here) * workers // (2 * total), workers - 1)
        done += here
        for group in {p, q}:
            rounds.setdefault((worker, group), []).append(p ^ q)
    sums = {place: _nodes(sorted(mine)) for place, mine in rounds.items()}
    back = sum(count * sum(groups[group]) for (_, group), count in sums.items())
    return n * row, back * row


def _groups(n: int) -> list[list[int]]:
    """The rows of each block of each group."""
    count = -(-n // _BLOCK)
    count = count if count <= 1 else -(-count // 4) * 4
    rows = -(-n // count)
    rows = -(-rows // _PANEL) * _PANEL
    blocks = [min(rows, n - start) for start in range(0, n, rows)]
    number = 1
    if len(blocks) >= _GROUPED:
        number = 1 << ((len(blocks) // _GROUP).bit_length() - 1)
    cut = [group * len(blocks) // number for group in range(number + 1)]
    return [blocks[start:end] for start, end in itertools.pairwise(cut)]


def _z_order(pair: tuple[int, int]) -> int:
    p, q = pair
    bits = max(p, q).bit_length()
    return sum((p >> bit & 1) << (2 * bit + 1) | (q >> bit & 1) << (2 * bit) for bit in range(bits))


def _nodes(leaves: list[int]) -> int:
    """How many whole nodes of a binary tree some of its leaves make up."""
    nodes = [(leaf, 0) for leaf in leaves]
    done: list[tuple[int, int]] = []
    for node in nodes:
        while done and node[0] % 2 == 1 and done[-1] == (node[0] - 1, node[1]):
            done.pop()
            node = (node[0] // 2, node[1] + 1)
        done.append(node)
    return len(done)
