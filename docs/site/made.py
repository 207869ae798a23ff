"""The files that the pages speak of: small graphs, made here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

NODES, TOPICS, WORDS = 200, 4, 60


def planted(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Documents of topics: their words (0 or 1), links of which some are false, topics."""
    topics = np.arange(NODES) % TOPICS
    habits = random.random((TOPICS, WORDS)) < 0.25
    words = random.random((NODES, WORDS)) < np.where(habits[topics], 0.5, 0.05)
    alike = topics[:, None] == topics
    linked = random.random((NODES, NODES)) < np.where(alike, 0.12, 0.01)
    return words.astype(np.float64), np.argwhere(np.triu(linked, 1)), topics


def table(file: Path, header: str, rows: object) -> None:
    """A CSV file."""
    lines = [",".join(str(cell) for cell in row) for row in rows]  # type: ignore[attr-defined]
    file.write_text("\n".join([header, *lines]) + "\n")


def write(folder: Path) -> None:
    """Writes all of them."""
    random = np.random.default_rng(0)
    words, links, topics = planted(random)
    weights = 1 + random.poisson(1.0, len(links))
    cora = folder / "cora"
    cora.mkdir(parents=True)
    table(cora / "edges.csv", "src,dst,weight", [(i, j, 1) for i, j in links])
    scipy.io.mmwrite(cora / "features.mtx", scipy.sparse.csr_matrix(words))
    table(cora / "labels.csv", "node,label", enumerate(topics))
    # What the guide calls them.
    weighed = [(i, j, w) for (i, j), w in zip(links, weights, strict=True)]
    table(folder / "links.csv", "src,dst,weight", weighed)
    signs = np.where(topics[links[:, 0]] == topics[links[:, 1]], 0.8, -0.4)
    signed = [(i, j, w) for (i, j), w in zip(links, signs, strict=True)]
    table(folder / "correlations.csv", "src,dst,weight", signed)
    np.save(folder / "x.npy", words)
    np.save(folder / "new.npy", words[:5])
    table(folder / "labels.csv", "node,label", enumerate(topics))
    table(folder / "pairs.csv", "src,dst", [(0, 4), (0, 1), (2, 7)])
    names = ["ada", "ben", "cleo", *(f"user {i}" for i in range(3, NODES))]
    table(folder / "follows.csv", "src,dst", [(names[i], names[j]) for i, j in links])
    bought = sorted({(int(i), int(j) % 50) for i, j in links})
    table(folder / "bought.csv", "src,dst", bought)
    header = ",".join(["item", *(f"word {k}" for k in range(WORDS))])
    table(folder / "items.csv", header, [(i, *words[i]) for i in range(50)])
