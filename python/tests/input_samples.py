"""Graphs and tables that the tests of inputs share."""

from __future__ import annotations

import types

import numpy as np
import pytest
import scipy.sparse as sp

from linkproof._links import ListedLinks, MatrixLinks
from linkproof._options import _GROUP_OF, GROUPS

EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]])
RING = sp.csr_array((np.ones(5), (EDGES[:, 0], EDGES[:, 1])), shape=(5, 5))
X5 = np.arange(10.0).reshape(5, 2)

frames = pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
rare_frames = pytest.mark.parametrize("library", ["LazyFrame", "RecordBatch"])


def triples(links):
    assert isinstance(links, ListedLinks)
    weight = np.ones(len(links.src)) if links.weight is None else links.weight
    return list(zip(links.src.tolist(), links.dst.tolist(), weight.tolist()))


def dense(links):
    assert isinstance(links, MatrixLinks)
    return sp.csr_array((links.data, links.indices, links.indptr)).toarray()


def refused(match, function, *args, **kwargs):
    with pytest.raises(ValueError, match=match):
        function(*args, **kwargs)


def refusals(*cases):
    return pytest.mark.parametrize("given, match", cases)


def stand_in(name, **attributes):
    """An object that looks as if it came from PyG."""
    kind = type(name, (types.SimpleNamespace,), {"__module__": "torch_geometric.data.data"})
    return kind(**attributes)


def hetero_stand_in(nodes, edges):
    """The same for several node types."""
    data = stand_in("HeteroData", node_types=list(nodes), edge_types=list(edges))
    type(data).__getitem__ = lambda self, key: {**nodes, **edges}[key]
    return data


def network():
    nx = pytest.importorskip("networkx")
    graph = nx.Graph()
    graph.add_nodes_from(["c", "a", "b"])
    graph.add_edge("a", "b", weight=2.5)
    graph.add_edge("b", "c")
    graph.add_edge("c", "c", weight=np.float32(0.5))
    return graph


def make_frame(library, columns):
    """A table, by name of its library or, for the rarer kinds, of its class."""
    if library == "RecordBatch":
        arrow = pytest.importorskip("pyarrow")
        arrays = [arrow.array(values) for values in columns.values()]
        return arrow.RecordBatch.from_arrays(arrays, names=list(columns))
    if library == "LazyFrame":
        return pytest.importorskip("polars").LazyFrame(columns)
    module = pytest.importorskip(library)
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


def with_options(settings):
    """Parameters of an estimator from settings by name, some of which are in groups."""
    found = {name: value for name, value in settings.items() if name not in _GROUP_OF}
    for group, kind in GROUPS.items():
        inside = {name: it for name, it in settings.items() if _GROUP_OF.get(name) == group}
        if inside:
            found[group] = kind(**inside)
    return found
