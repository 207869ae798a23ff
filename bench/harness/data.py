"""Generated data, so that the benchmark needs no download."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np


def write_links(path: Path, links: np.ndarray) -> None:
    """Writes `src,dst` rows under a header."""
    rows = "".join(f"{i},{j}\n" for i, j in links.tolist())
    path.write_text("src,dst\n" + rows, encoding="ascii")


def distinct_pairs(pairs: np.ndarray) -> np.ndarray:
    """Each unordered pair once, without self-pairs, in random-free order."""
    low, high = pairs.min(axis=1).astype(np.int64), pairs.max(axis=1).astype(np.int64)
    keep = low != high
    n = int(high.max()) + 1
    _, first = np.unique(low[keep] * n + high[keep], return_index=True)
    first.sort()
    return np.stack([low[keep][first], high[keep][first]], axis=1)


def random_links(n: int, count: int, seed: int) -> np.ndarray:
    """`count` distinct pairs of `n` nodes, uniformly."""
    random = np.random.default_rng(seed)
    pairs = distinct_pairs(random.integers(0, n, size=(int(count * 1.1) + 100, 2)))
    return pairs[:count]


@dataclass(frozen=True)
class Embedded:
    """Random embeddings and links for the exact score."""

    embeddings: Path
    links: Path
    gamma: float
    n: int
    n_links: int


def embedded(folder: Path, n: int, dim: int, n_links: int) -> Embedded:
    """Vectors of mean squared length 1, and the `gamma` a fit would start at."""
    random = np.random.default_rng(n)
    y = random.standard_normal((n, dim), dtype=np.float32) / np.float32(np.sqrt(dim))
    embeddings = folder / f"y-{n}-{dim}.npy"
    np.save(embeddings, y)
    links = folder / f"links-{n}-{n_links}.csv"
    write_links(links, random_links(n, n_links, seed=n + 1))
    gamma = float(np.log(n * (n - 1) / 2 / max(n_links, 1)))
    return Embedded(embeddings, links, gamma, n, n_links)


@dataclass(frozen=True)
class Attributed:
    """A citation graph with sparse data vectors; labels where it is real."""

    links: Path
    features: Path
    labels: Path | None
    name: str


CORA_NODES, CORA_WORDS, CORA_ENTRIES, CORA_LINKS = 2708, 1433, 49216, 5278


def cora(folder: Path) -> Attributed:
    """Cora where `LINKPROOF_CORA` names its folder, else data of its shape."""
    real = os.environ.get("LINKPROOF_CORA")
    if real:
        root = Path(real)
        return Attributed(
            root / "edges.csv", root / "features.mtx", root / "labels.csv", "Cora"
        )
    random = np.random.default_rng(0)
    classes = random.integers(0, 7, CORA_NODES)
    order = np.argsort(classes, kind="stable")
    start = np.searchsorted(classes[order], np.arange(8))

    def partner(node: int) -> int:
        own = random.random() < 0.8
        low, high = (start[classes[node]], start[classes[node] + 1]) if own else (0, CORA_NODES)
        return int(order[random.integers(low, high)])

    drawn = [(node, partner(node)) for node in random.integers(0, CORA_NODES, 3 * CORA_LINKS)]
    write_links(folder / "cora-links.csv", distinct_pairs(np.array(drawn))[:CORA_LINKS])

    entries: set[tuple[int, int]] = set()
    while len(entries) < CORA_ENTRIES:
        node = int(random.integers(0, CORA_NODES))
        # A third of a document's words are of its class.
        word = int(random.integers(0, CORA_WORDS))
        if random.random() < 0.33:
            word = word - word % 7 + int(classes[node])
        if word < CORA_WORDS:
            entries.add((node, word))
    with open(folder / "cora-features.mtx", "w", encoding="ascii") as out:
        out.write("%%MatrixMarket matrix coordinate pattern general\n")
        out.write(f"{CORA_NODES} {CORA_WORDS} {CORA_ENTRIES}\n")
        out.writelines(f"{node + 1} {word + 1}\n" for node, word in sorted(entries))
    return Attributed(
        folder / "cora-links.csv",
        folder / "cora-features.mtx",
        None,
        "generated data of Cora's shape",
    )


@dataclass(frozen=True)
class Planted:
    """A degree-corrected block model with held-out links."""

    links: Path
    nodes: Path
    n: int
    n_links: int
    held_out: np.ndarray
    unlinked: np.ndarray
    best_auc: float


def planted(folder: Path, n: int, n_links: int, communities: int) -> Planted:
    """Links drawn with probability proportional to the product of two nodes'
    propensities, eight in ten inside communities; an eleventh is held out."""
    random = np.random.default_rng(7)
    community = random.integers(0, communities, n)
    propensity = np.minimum(random.pareto(2.0, n) + 1.0, 50.0)
    order = np.argsort(community, kind="stable")
    start = np.searchsorted(community[order], np.arange(communities + 1))
    within = np.cumsum(propensity[order])
    before = np.concatenate([[0.0], within])

    def draw(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        mass = before[low] + random.random(len(low)) * (before[high] - before[low])
        place = np.searchsorted(within, mass, side="right")
        return order[np.clip(place, low, high - 1)]

    wanted = n_links + n_links // 10
    count = int(wanted * 1.3)
    zeros, ends = np.zeros(count, dtype=np.int64), np.full(count, n)
    src = draw(zeros, ends)
    inside = random.random(count) < 0.8
    low = np.where(inside, start[community[src]], 0)
    high = np.where(inside, start[community[src] + 1], n)
    pairs = distinct_pairs(np.stack([src, draw(low, high)], axis=1))[:wanted]
    pairs = pairs[random.permutation(len(pairs))]
    training, held_out = pairs[:n_links], pairs[n_links:]

    known = set((pairs[:, 0] * n + pairs[:, 1]).tolist())
    others = distinct_pairs(random.integers(0, n, size=(len(held_out) * 2, 2)))
    keys = (others[:, 0] * n + others[:, 1]).tolist()
    fresh = np.array([key not in known for key in keys])
    unlinked = others[fresh]
    unlinked = unlinked[random.permutation(len(unlinked))[: len(held_out)]]

    links, nodes = folder / "planted-links.csv", folder / "planted-nodes.csv"
    write_links(links, training)
    nodes.write_text("node\n" + "".join(f"{node}\n" for node in range(n)), encoding="ascii")

    size = np.bincount(community, weights=propensity, minlength=communities)
    def rate(pairs: np.ndarray) -> np.ndarray:
        a, b = community[pairs[:, 0]], community[pairs[:, 1]]
        own = np.where(a == b, 0.8 / size[a], 0.0)
        return propensity[pairs[:, 0]] * propensity[pairs[:, 1]] * (own + 0.2 / size.sum())

    best = auc(rate(held_out), rate(unlinked))
    return Planted(links, nodes, n, len(training), held_out, unlinked, best)


def auc(positive: np.ndarray, negative: np.ndarray) -> float:
    """The chance that a positive scores above a negative, ties one half."""
    negative = np.sort(negative)
    below = np.searchsorted(negative, positive, side="left")
    up_to = np.searchsorted(negative, positive, side="right")
    return float((below + up_to).mean() / 2 / len(negative))


def link_auc(y: np.ndarray, data: Planted, other: np.ndarray | None = None) -> float:
    """AUC of held-out links against unlinked pairs by `<y_i, y_j>` (or, with
    context vectors, by `<y_i, z_j> + <z_i, y_j>`)."""
    def products(pairs: np.ndarray) -> np.ndarray:
        i, j = pairs[:, 0], pairs[:, 1]
        if other is None:
            return np.einsum("ik,ik->i", y[i], y[j])
        return np.einsum("ik,ik->i", y[i], other[j]) + np.einsum("ik,ik->i", other[i], y[j])

    return auc(products(data.held_out), products(data.unlinked))


def many_links(folder: Path, count: int) -> dict[str, Path]:
    """The same links with integer ids and with text ids."""
    import polars

    links = random_links(max(count // 10, 100), count, seed=3)
    links = links[np.random.default_rng(4).permutation(len(links))]
    files = {"integer ids": folder / "integers.csv", "text ids": folder / "texts.csv"}
    frame = polars.DataFrame({"src": links[:, 0], "dst": links[:, 1]})
    frame.write_csv(files["integer ids"])
    names = [("user-" + polars.col(side).cast(polars.String)).alias(side) for side in ("src", "dst")]
    frame.select(names).write_csv(files["text ids"])
    return files
