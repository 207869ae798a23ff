"""Offsets, signed similarities and directed links."""

import numpy as np
import pytest
import scipy.sparse as sp

import linkproof
from linkproof import GraphEmbedding, Network, Search

N = 30


def ring():
    """Links from nodes of three groups to those of the next group, and data vectors."""
    src = np.repeat(np.arange(N), 3)
    dst = (src + np.tile([1, 4, 7], N)) % N
    return sp.csr_array((np.ones(3 * N), (src, dst)), shape=(N, N)), np.eye(3)[np.arange(N) % 3]


def directed(**settings):
    matrix, X = ring()
    return GraphEmbedding(dim=3, ridge=0.1, directed=True, **settings).fit(X, matrix), X


def test_offsets_are_part_of_expected_weights():
    rng = np.random.default_rng(0)
    links = np.argwhere(np.triu(rng.random((40, 40)) < 0.1, 1))
    hub = np.array([(0, node) for node in range(1, 40)])
    links = np.unique(np.concatenate([links, hub]), axis=0)
    model = GraphEmbedding(dim=2, ridge=1.0, offsets=True).fit(None, links)
    offsets = model.offsets_
    assert offsets.shape == (40,) and offsets.argmax() == 0
    y = model.embedding_.astype(float)
    s = y[0] @ y[3] + offsets[0] + offsets[3] - model.gamma_
    assert model.score_pairs([(0, 3)])[0] == pytest.approx(np.exp(s), rel=1e-4)
    assert model.neighbors(5, top=1)["node"].tolist() == [0]
    plain = GraphEmbedding(dim=2).fit(None, links)
    with pytest.raises(AttributeError, match="offsets=True"):
        plain.offsets_  # noqa: B018


def test_a_signed_similarity_has_its_share():
    matrix, _ = ring()
    both = matrix + matrix.T
    settings = {"dim": 4, "similarity": "signed", "network": Network(negative_share=0.25)}
    model = GraphEmbedding(**settings).fit(None, both)
    y = model.embedding_.astype(float)
    signs = np.array([1, 1, 1, -1])
    s = (signs * y[2]) @ y[9] - model.gamma_
    assert model.score_pairs([(2, 9)])[0] == pytest.approx(np.exp(s), rel=1e-4)
    with pytest.raises(ValueError, match="negative_share"):
        GraphEmbedding(similarity="signed", network=Network(negative_share=1.0)).fit(None, both)
    with pytest.raises(ValueError, match="similarity"):
        GraphEmbedding(similarity="both").fit(None, both)
    robust = GraphEmbedding(robust=True, **settings).fit(None, both)
    assert robust.similarity == "signed" and len(robust.belief_) == both.nnz // 2
    assert GraphEmbedding(robust=True, dim=4, directed=True).fit(None, matrix).belief_.any()


def test_directed_links_keep_their_order(tmp_path):
    model, X = directed(offsets=True)
    assert model.embedding_.shape == (N, 6) and model.offsets_.shape == (N, 2)
    there, back = model.score_pairs([(0, 1), (1, 0)])
    assert there > 3 * back
    assert set(model.neighbors(3, top=5)["node"] % 3) == {1}
    assert set(model.neighbors(3, top=5, direction="in")["node"] % 3) == {2}
    assert 3 not in model.neighbors(3, top=N)["node"].tolist()
    audit = model.audit(X=X)
    assert ((audit["dst"] - audit["src"]) % N).isin([1, 4, 7]).all()
    assert np.allclose(model.transform(X), model.embedding_, atol=1e-5)
    assert model.transform(X, view="target").shape == (N, 3)
    new = model.score_pairs([(0, 1), (1, 0)], X[:2])
    assert new[0] > 3 * new[1]
    model.save(tmp_path / "model")
    loaded = GraphEmbedding.load(tmp_path / "model")
    assert loaded.directed and np.array_equal(loaded.embedding_, model.embedding_)
    assert np.array_equal(loaded.score_pairs([(0, 1)]), model.score_pairs([(0, 1)]))


def test_an_asymmetric_matrix_and_a_digraph_are_meant():
    nx = pytest.importorskip("networkx")
    matrix, X = ring()
    with pytest.raises(ValueError):
        GraphEmbedding(dim=3).fit(X, matrix)
    graph = nx.DiGraph((f"n{i}", f"n{j}") for i, j in zip(*matrix.nonzero()))
    model = GraphEmbedding(dim=3, ridge=0.1, directed=True).fit(None, graph)
    there, back = model.score_pairs([("n0", "n1"), ("n1", "n0")])
    assert there > back
    assert set(model.nodes_) == {f"n{node}" for node in range(N)}


def test_bad_directions_are_refused():
    model, X = directed()
    with pytest.raises(ValueError, match="direction"):
        model.neighbors(3, direction="up")
    with pytest.raises(ValueError, match="links"):
        model.transform(X[:1], sp.csr_array((1, N)))
    with pytest.raises(ValueError, match="directed"):
        GraphEmbedding(directed="yes").fit(None, ring()[0])
    plain = GraphEmbedding(dim=2).fit(None, ring()[0] + ring()[0].T)
    with pytest.raises(ValueError, match="direction"):
        plain.neighbors(3, direction="in")


def test_select_says_what_a_graph_wants():
    rng = np.random.default_rng(1)
    t = np.exp(1.2 * rng.normal(size=120))
    links = np.argwhere(np.triu(rng.random((120, 120)) < 0.05 * np.outer(t, t), 1))
    settings = {"search": Search(ridges=[3.0], scores=["likelihood"], folds=3), "dim": 4}
    found = linkproof.select(None, links, **settings)
    assert found.params["offsets"] is True and found.estimator.offsets
    kept = linkproof.select(None, links, offsets=False, similarity="inner", **settings)
    assert kept.report["tried"] == [] and not kept.estimator.offsets
