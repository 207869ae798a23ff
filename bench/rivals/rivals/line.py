"""LINE, by ensmallen."""

from __future__ import annotations

import os

import numpy as np
from sklearn.preprocessing import normalize

from .data import Graph, OneView

# The package's threads race. It reads this when it first starts them.
os.environ["RAYON_NUM_THREADS"] = "1"

from ensmallen import GraphBuilder, models  # noqa: E402

# Tang et al. (2015), section 5: 128 dimensions for each order, a rate that falls
# from 0.025 towards zero, and about a thousand samples a link (10^10 for networks
# of some 10^7 links). An epoch here is one pass over the links. What the package
# passes by itself (10 to 100 epochs, a tenth off the rate after each) leaves the
# vectors of a small graph close to where they started.
TRAINING = {
    "embedding_size": 128,
    "epochs": 1000,
    "learning_rate": 0.025,
    "learning_rate_decay": 0.997,
}


def line(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """First and second order, unit length, side by side (Tang et al., 2015, 5.2).

    The package takes weights into the graph but trains on the pattern.
    """
    graph, order = _graph(data.to_fit(setting))
    parts = []
    for model in (models.FirstOrderLINE, models.SecondOrderLINE):
        found = model(random_state=seed, verbose=False, **TRAINING).fit_transform(graph)
        # Second order comes with its context vectors; LINE's are the first.
        vectors = found[0] if isinstance(found, (list, tuple)) else found
        rows = np.empty_like(vectors)
        rows[order] = vectors
        parts.append(normalize(rows))
    return np.hstack(parts)[data.test]


def _graph(graph: Graph) -> tuple[object, np.ndarray]:
    """The package's graph and, for each of its nodes, our row: it sorts names."""
    builder = GraphBuilder()
    builder.set_directed(False)
    for node in range(graph.nodes):
        builder.add_node(str(node))
    links = graph.pattern.tocoo()
    for src, dst in zip(links.row.tolist(), links.col.tolist()):
        if src < dst:
            builder.add_edge(str(src), str(dst))
    built = builder.build()
    return built, np.array([int(name) for name in built.get_node_names()])
