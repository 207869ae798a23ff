"""Weights of two signs."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import linkproof
from linkproof import GraphEmbedding

N, GROUPS = 120, 4


def signed():
    """Links inside groups that weigh as correlations do, and data vectors."""
    rng = np.random.default_rng(3)
    group = np.arange(N) % GROUPS
    linked = np.argwhere(np.triu((rng.random((N, N)) < 0.25) & (group[:, None] == group), 1))
    weight = np.tanh(rng.normal(0.1, 0.3, len(linked)))
    X = np.eye(GROUPS)[group] + 0.3 * rng.normal(size=(N, GROUPS))
    return linked, weight, X


def forms(linked, weight):
    src, dst = linked.T
    half = sp.csr_array((weight, (src, dst)), shape=(N, N))
    graph = nx.Graph()
    graph.add_nodes_from(range(N))
    graph.add_weighted_edges_from(zip(src.tolist(), dst.tolist(), weight.tolist()))
    return {
        "edges": np.column_stack([src, dst, weight]),
        "triangle": half,
        "matrix": half + half.T,
        "dense": (half + half.T).toarray(),
        "networkx": graph,
        "table": pd.DataFrame({"src": src, "dst": dst, "weight": weight}),
    }


def test_every_form_of_links_may_have_negative_weights():
    linked, weight, X = signed()
    found = {}
    for name, links in forms(linked, weight).items():
        model = GraphEmbedding(dim=4, ridge=1.0, weights="binary").fit(X, links)
        found[name] = model.embedding_
        law = model.report_["sizes"]
        assert law["distance"] < 0.1
        table = model.score_pairs(linked[:5], parts=True)
        assert np.allclose(table["mu"], table["p_link"] * table["size"])
    for name, y in found.items():
        assert np.array_equal(y, found["edges"]), name


def test_a_fit_to_weights_refuses_them_and_names_the_remedy():
    linked, weight, X = signed()
    links = np.column_stack([linked, weight])
    match = r"links: found weight -0.*; expected .*weights=.binary. or robust=True"
    with pytest.raises(ValueError, match=match):
        GraphEmbedding(dim=4).fit(X, links)
    with pytest.raises(ValueError, match=match):
        GraphEmbedding(dim=4, weights="log1p").fit(X, links)


def test_units_change_no_belief_and_no_embedding(tmp_path):
    linked, weight, X = signed()

    def fit(factor):
        links = np.column_stack([linked, factor * weight])
        return GraphEmbedding(dim=4, robust=True).fit(X, links)

    one, other = fit(1.0), fit(1000.0)
    assert np.allclose(one.belief_, other.belief_, atol=1e-9)
    assert np.allclose(one.embedding_, other.embedding_, atol=1e-4)
    one.save(tmp_path / "m")
    again = GraphEmbedding.load(tmp_path / "m")
    assert np.array_equal(again.score_pairs(linked[:9]), one.score_pairs(linked[:9]))
    audit = one.audit()
    assert np.isfinite(audit["mu"]).all() and (audit["weight"] < 0).any()
    assert len(one.neighbors(0, top=3)["node"]) == 3


def test_an_objective_has_no_negative_weights():
    with pytest.raises(ValueError, match="weight -1 .*expected weights of zero or more"):
        linkproof.objective(np.zeros((3, 2)), [(0, 1, 1.0), (1, 2, -1.0)], gamma=0.0)


def test_inspect_advises_the_pattern():
    linked, weight, X = signed()
    found = linkproof.inspect(X, np.column_stack([linked, weight]))
    assert 0 < found.report["weights"]["negative"] < 1
    assert found.advice["weights"] == "binary"
