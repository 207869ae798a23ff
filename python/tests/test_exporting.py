"""Models in the hands of other libraries, and what scikit-learn's tools are told."""

from __future__ import annotations

import json
import sys
import types

import numpy as np
import pandas as pd
import pytest
from input_samples import refused
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import linkproof
from linkproof import GraphEmbedding, Search

nx = pytest.importorskip("networkx")

ODD = ['<a> & "b"', "007", "ü\tx", "d"]
TABLE = pd.DataFrame(
    {
        "id": ODD,
        "name": ["Ann & <co>", None, "line\nbreak", "Dan"],
        "born": [1815, 1791, 1800, 1810],
        "height": [1.5, 2.25, 1.0, 1.75],
        "code": ["01", "02", "3", "4"],
    }
)
LINKS = [(ODD[0], ODD[1], 2.5), (ODD[1], ODD[2], 1.0), (ODD[2], ODD[3], 4.0)]


def odd():
    return GraphEmbedding(dim=3, ridge=0.1, verbose=False).fit(None, LINKS, nodes=TABLE)


def read(path, format):
    if format == "graphml":
        return nx.read_graphml(path)
    return nx.node_link_graph(json.loads(path.read_text(encoding="utf-8")), edges="edges")


@pytest.mark.parametrize("format", ["graphml", "json"])
def test_networkx_reads_what_is_written(format, tmp_path):
    model = odd()
    path = tmp_path / f"graph.{format}"
    model.export(path, embeddings=True, layout="pca")
    graph = read(path, format)
    assert not graph.is_directed() and not graph.is_multigraph()
    assert list(graph.nodes) == ODD
    for row, node in enumerate(ODD):
        known = graph.nodes[node]
        name = TABLE["name"][row]
        assert known["label"] == (node if name is None else name)
        assert known["born"] == TABLE["born"][row] and type(known["born"]) is int
        assert known["height"] == TABLE["height"][row] and type(known["height"]) is float
        assert known["code"] == TABLE["code"][row]
        assert type(known["x"]) is float and type(known["y"]) is float
        y = [known[f"y{k}"] for k in range(3)]
        assert y == pytest.approx(model.embedding_[row].tolist(), rel=1e-6)
    assert graph.number_of_edges() == 3
    for source, target, weight in LINKS:
        edge = graph.edges[source, target]
        assert edge["weight"] == weight and type(edge["weight"]) is float
        assert edge["mu"] == pytest.approx(model.score_pairs([(source, target)])[0])


def test_directions_and_beliefs_are_written(tmp_path, planted):
    model = GraphEmbedding(dim=2, directed=True, verbose=False)
    model.fit(None, [("a", "b"), ("b", "c"), ("c", "a"), ("a", "c")])
    model.export(tmp_path / "g.graphml")
    graph = nx.read_graphml(tmp_path / "g.graphml")
    assert graph.is_directed() and set(graph.nodes) == {"a", "b", "c"}
    assert graph.has_edge("a", "b") and not graph.has_edge("b", "a")
    robust = GraphEmbedding(dim=3, robust=True, verbose=False).fit(planted.X, planted.matrix)
    robust.export(tmp_path / "r.graphml")
    graph = nx.read_graphml(tmp_path / "r.graphml")
    beliefs = robust.beliefs()
    for src, dst, belief in zip(beliefs["src"], beliefs["dst"], beliefs["belief"]):
        assert graph.edges[str(src), str(dst)]["belief"] == pytest.approx(belief)


def test_what_xml_cannot_hold(tmp_path):
    links = [("a\x00", "b"), ("b", "c")]
    model = GraphEmbedding(dim=2, verbose=False).fit(None, links)
    refused("control character", model.export, tmp_path / "g.graphml")
    model.export(tmp_path / "g.json")
    table = pd.DataFrame({"id": ["a", "b", "c"], "name": ["x\x01", "y", "z"]})
    model = GraphEmbedding(dim=2, verbose=False).fit(None, [("a", "b"), ("b", "c")], nodes=table)
    with pytest.warns(UserWarning, match="1 control character"):
        model.export(tmp_path / "g.graphml")
    assert nx.read_graphml(tmp_path / "g.graphml").nodes["a"]["label"] == "x\ufffd"
    refused("format must be", model.export, tmp_path / "g.dot")
    refused("GEXF is gone", model.export, tmp_path / "g.gexf")
    refused("format must be", model.export, tmp_path / "g.json", format="dot")
    refused("layout must be", model.export, tmp_path / "g.json", layout="round")


def test_anndata(tmp_path):
    anndata = pytest.importorskip("anndata")
    model = odd()
    data = model.to_anndata(X=np.eye(4))
    assert data.obs_names.tolist() == ODD
    assert np.array_equal(data.obsm["X_linkproof"], model.embedding_)
    assert list(data.obs) == ["name", "born", "height", "code"]
    weight = data.obsp["linkproof_weight"].toarray()
    assert weight[0, 1] == weight[1, 0] == 2.5 and weight.sum() == 15
    mu = data.obsp["linkproof_mu"]
    assert mu[2, 3] == pytest.approx(model.score_pairs([(ODD[2], "d")])[0])
    data.write_h5ad(tmp_path / "m.h5ad")
    again = anndata.read_h5ad(tmp_path / "m.h5ad")
    assert np.array_equal(again.obsm["X_linkproof"], model.embedding_)
    refused("found 3 rows", model.to_anndata, np.eye(3))


def test_pyg(monkeypatch):
    # PyTorch is not among what the tests install: what is handed over is looked at.
    torch = types.ModuleType("torch")
    torch.as_tensor = np.asarray
    geometric = types.ModuleType("torch_geometric.data")
    geometric.Data = types.SimpleNamespace
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch_geometric", types.ModuleType("torch_geometric"))
    monkeypatch.setitem(sys.modules, "torch_geometric.data", geometric)
    model = odd()
    data = model.to_pyg()
    assert np.array_equal(data.x, model.embedding_) and data.node_id == ODD
    assert data.edge_index.tolist() == [[0, 1, 2, 1, 2, 3], [1, 2, 3, 0, 1, 2]]
    assert data.edge_index.dtype == np.int64 and data.edge_weight.dtype == np.float32
    assert data.edge_weight.tolist() == [2.5, 1, 4] * 2 and len(data.mu) == 6
    assert data.name == ["Ann & <co>", "", "line\nbreak", "Dan"]


def test_libraries_that_are_not_there_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    for method, library in (("to_anndata", "anndata"), ("to_pyg", "torch")):
        with pytest.raises(ImportError, match=f"{method} needs {library}"):
            getattr(odd(), method)()


def test_directions_are_asked_about():
    graph = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a")])
    for call in (GraphEmbedding(dim=2).fit, linkproof.inspect, linkproof.select):
        refused("DiGraph.*directed=True", call, None, graph)
    model = GraphEmbedding(dim=2, verbose=False).fit(None, graph.to_undirected())
    refused("DiGraph.*directed=True", model.audit, graph)
    refused("DiGraph.*directed=True", linkproof.check, graph)
    both = GraphEmbedding(dim=2, directed=True, verbose=False).fit(None, graph)
    assert both.embedding_.shape == (3, 4)
    merged = GraphEmbedding(dim=2, duplicates="max", verbose=False).fit(None, graph)
    assert merged.embedding_.shape == (3, 2)


def test_score_says_what_it_is(planted):
    for estimator in (GraphEmbedding(), clone(GraphEmbedding(score="probability"))):
        with pytest.raises(TypeError, match=r"linkproof\.select"):
            estimator.score(planted.X, planted.matrix)
    estimator = GraphEmbedding().set_params(score="probability")
    assert estimator.score == "probability" and repr(estimator.score) == "'probability'"
    assert repr(estimator) == "GraphEmbedding(score='probability')"
    search = GridSearchCV(GraphEmbedding(dim=2, verbose=False), {"beta": [0.1, 0.5]}, cv=3)
    edges = np.argwhere(planted.matrix.toarray())
    for links in (planted.matrix, edges):
        with pytest.raises(TypeError, match=r"linkproof\.select"):
            search.fit(planted.X, links)
    # With a scorer of one's own rows are cut, and links with them.
    search.set_params(scoring=lambda *_: 0.0)
    with pytest.raises(ValueError, match=r"linkproof\.select"):
        search.fit(planted.X, planted.matrix)


def test_reprs_are_short(planted):
    inspection = linkproof.inspect(planted.X, planted.matrix)
    assert repr(inspection).startswith("<Inspection: 90 nodes, ") and len(repr(inspection)) < 80
    nodes = pd.DataFrame({"id": range(90), "name": ["x"] * 90})
    chosen = linkproof.select(
        planted.X, planted.matrix, nodes, dim=2, verbose=False,
        search=Search(ridges=[1, 10], scores=["likelihood"], folds=2),
    )  # fmt: skip
    assert repr(chosen).startswith("<Selection: ") and len(repr(chosen)) < 200
    assert repr(linkproof.inspect(planted.X, planted.matrix, nodes)) == repr(inspection)
    model = GraphEmbedding(dim=3, robust=True, verbose=False).fit(planted.X, planted.matrix)
    assert repr(model.verdict_).startswith("<Verdict: ") and len(repr(model.verdict_)) < 80
    assert repr(model) == "GraphEmbedding(dim=3, robust=True, verbose=False)"
