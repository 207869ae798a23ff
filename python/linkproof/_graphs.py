"""Links of graph objects: NetworkX and PyG."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from linkproof._features import is_of
from linkproof._link_forms import ListedLinks, listed, plain_array
from linkproof._words import quoted


def is_networkx_graph(value: Any) -> bool:
    """Whether a value is a graph of NetworkX, directed or not, simple or multiple."""
    return is_of(value, "networkx", "Graph")


def is_pyg_data(value: Any) -> bool:
    """Whether a value is PyG's graph of a single node type."""
    return is_of(value, "torch_geometric", "Data")


def is_hetero_data(value: Any) -> bool:
    """Whether a value is PyG's graph of several node types."""
    return is_of(value, "torch_geometric", "HeteroData")


def refuse_directions(X: Any, links: Any, directed: Any, duplicates: Any) -> None:
    """Refuses a graph with directions where nobody says what they mean."""
    graph = next((given for given in (X, links) if is_networkx_graph(given)), None)
    # What becomes of a pair in both directions says that directions are to be left out.
    if graph is None or directed or duplicates != "error" or not graph.is_directed():
        return
    raise ValueError(
        f"links: found a {type(graph).__name__}, whose links have directions; expected to be told "
        "what they mean: directed=True embeds every node as a source and as a target, "
        "links.to_undirected() (or duplicates='sum' or 'max') leaves them out"
    )


def read_networkx(graph: Any, name: str) -> ListedLinks:
    """The links of a NetworkX graph, whose nodes are counted in its own order."""
    ids = list(graph.nodes)
    row_of = {node: row for row, node in enumerate(ids)}
    edges = list(graph.edges(data="weight", default=1.0))
    weights = [weight for _, _, weight in edges]
    if not all(issubclass(kind, Real) for kind in set(map(type, weights))):
        source, target, weight = next(edge for edge in edges if not isinstance(edge[2], Real))
        raise ValueError(
            f"{name}: found weight {quoted(weight)} on edge ({quoted(source)}, "
            f"{quoted(target)}); expected a number"
        )
    src = np.fromiter((row_of[edge[0]] for edge in edges), np.int64, len(edges))
    dst = np.fromiter((row_of[edge[1]] for edge in edges), np.int64, len(edges))
    return ListedLinks(src, dst, np.array(weights, dtype=np.float64), by_id=False, ids=ids)


def read_pyg_edges(store: Any, name: str) -> ListedLinks:
    """The links of PyG data, or of one edge type of it."""
    if getattr(store, "edge_index", None) is None:
        raise ValueError(f"{name}: found no edge_index; expected it, of shape (2, m)")
    edges = plain_array(store.edge_index, name)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise ValueError(f"{name}: found edge_index of shape {edges.shape}; expected (2, m)")
    for attribute in ("edge_weight", "edge_attr"):
        if getattr(store, attribute, None) is not None:
            weights = plain_array(getattr(store, attribute), name)
            if weights.ndim == 2 and weights.shape[1] == 1:
                weights = weights[:, 0]
            if weights.ndim != 1:
                raise ValueError(
                    f"{name}: found {attribute} of shape {weights.shape}; "
                    "expected one weight for each link: set edge_weight, of shape (m,)"
                )
            return listed(edges.T, weights, name, "column")
    return listed(edges.T, None, name, "column")
