"""Fitting, and what a fitted model gives."""

from __future__ import annotations

import json
import pickle
from typing import Any

import joblib
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from linkproof import GraphEmbedding, Inputs, Network, _core, measures
from linkproof._options import flat
from linkproof._settings import from_core


def small(**params: Any) -> GraphEmbedding:
    return GraphEmbedding(**{"dim": 4, "ridge": 0.3, "verbose": False, **params})


def test_defaults_are_those_of_the_core() -> None:
    defaults = from_core(json.loads(_core.default_settings()))
    own = flat(GraphEmbedding().get_params(deep=False))
    # None leaves the ridge to the core.
    assert {**own, "ridge": defaults["ridge"]} == {**own, **defaults}


def test_a_fit_finds_planted_groups(planted: Any) -> None:
    model = small().fit(planted.X, planted.matrix)
    assert model.embedding_.shape == (90, 4) and model.embedding_.dtype == np.float32
    assert not model.embedding_.flags.writeable
    assert measures.evaluate(model.embedding_, planted.groups)["nmi"] > 0.9
    assert isinstance(model.gamma_, float)
    assert model.stop_reason_ in {"converged", "no-descent", "patience", "steps"}
    assert list(model.history_.columns) == ["step", "value", "gradient_norm", "held_out", "seconds"]
    assert len(model.history_) == model.n_iter_
    assert model.n_features_in_ == 8 and model.views_ == [""]
    assert list(model.nodes_) == list(range(90))
    assert model.report_["value"] == model.value_


def test_all_kinds_of_links_give_the_same_bits(planted: Any) -> None:
    expected = small().fit(planted.X, planted.matrix).embedding_
    graph = nx.Graph()
    graph.add_nodes_from(range(90))
    graph.add_weighted_edges_from(planted.listed.tolist())
    table = pd.DataFrame(planted.listed, columns=["src", "dst", "weight"])
    table[["src", "dst"]] = table[["src", "dst"]].astype(int)
    kinds = {
        "upper": planted.triangle,
        "lower": planted.triangle.T,
        "coo": planted.matrix.tocoo(),
        "csc": sp.csc_matrix(planted.matrix),
        "dok": planted.triangle.todok(),
        "float32": planted.matrix.astype(np.float32),
        "int": planted.matrix.astype(np.int64),
        "dense": planted.matrix.toarray(),
        "edges": planted.listed,
        "edge index": (planted.edges.T, planted.weights),
        "networkx": graph,
        "pandas": table,
        "polars": pl.from_pandas(table),
        "arrow": pl.from_pandas(table).to_arrow(),
        "list": [tuple(row) for row in table.itertuples(index=False)],
    }
    for name, links in kinds.items():
        found = small().fit(planted.X, links).embedding_
        assert np.array_equal(found, expected), name


def test_all_kinds_of_data_vectors(planted: Any) -> None:
    expected = small().fit(planted.X, planted.listed).embedding_
    for X in [
        np.asfortranarray(planted.X),
        planted.X.tolist(),
        pd.DataFrame(planted.X),
        pl.DataFrame(planted.X),
        pl.DataFrame(planted.X).to_arrow(),
    ]:
        assert np.array_equal(small().fit(X, planted.listed).embedding_, expected)
    for X in [sp.csr_array(planted.X), sp.csc_matrix(planted.X), planted.X.astype(np.float32)]:
        found = small().fit(X, planted.listed).embedding_
        assert np.allclose(found, expected, atol=2e-2)
    nothing = small().fit(None, planted.listed)
    assert nothing.embedding_.shape == (90, 4)
    assert not hasattr(nothing, "n_features_in_")


def test_results_do_not_depend_on_threads(planted: Any) -> None:
    one, two = (small(n_jobs=jobs).fit(planted.X, planted.matrix) for jobs in (1, 2))
    assert np.array_equal(one.embedding_, two.embedding_)


def test_seeds(planted: Any) -> None:
    def embedding(state: Any) -> Any:
        return small(random_state=state, steps=3).fit(None, planted.matrix).embedding_

    assert np.array_equal(embedding(7), embedding(np.int64(7)))
    assert not np.array_equal(embedding(7), embedding(8))
    states = [np.random.RandomState(3) for _ in range(2)]
    assert np.array_equal(embedding(states[0]), embedding(states[1]))
    assert not np.array_equal(embedding(None), embedding(None))


def test_ids_go_in_and_come_out(planted: Any) -> None:
    names = [f"paper {row}" for row in range(90)]
    X = pd.DataFrame(planted.X, index=names, columns=[f"word {c}" for c in range(8)])
    table = pd.DataFrame({"source": np.array(names)[planted.edges[:, 0]],
                          "target": np.array(names)[planted.edges[:, 1]],
                          "weight": planted.weights})  # fmt: skip
    model = small().fit(X, table.sample(frac=1, random_state=0))
    assert list(model.nodes_) == names
    assert list(model.feature_names_in_) == list(X.columns)
    assert np.array_equal(model.embedding_, small().fit(planted.X, planted.listed).embedding_)
    pairs = [("paper 0", "paper 3"), ("paper 1", "paper 2")]
    assert np.allclose(model.score_pairs(pairs), small().fit(planted.X, planted.listed)
                       .score_pairs([(0, 3), (1, 2)]))  # fmt: skip
    assert set(model.audit(X=X)["src"]) <= set(names)
    near = model.neighbors("paper 0", top=5)
    assert len(near) == 5 and near["mu"].is_monotonic_decreasing
    assert "paper 0" not in set(near["node"])


def test_networkx_names_of_any_kind() -> None:
    graph = nx.Graph()
    graph.add_edge(("a", 1), "b", weight=2)
    graph.add_edge("b", 7)
    model = small().fit(graph)
    assert list(model.nodes_) == [("a", 1), "b", 7]
    frame = small().set_output(transform="pandas").fit_transform(None, graph)
    assert list(frame.index) == [("a", 1), "b", 7]


def test_transform_of_training_nodes_gives_their_embeddings(planted: Any) -> None:
    for params in [
        {},
        {"encoder": "mlp", "network": Network(hidden=16), "steps": 20},
        {"precision": "f64"},
    ]:
        model = small(**params).fit(planted.X, planted.matrix)
        assert np.allclose(model.transform(planted.X), model.embedding_, atol=1e-5)
    unseen = model.transform(sp.csr_array(planted.X[:5]))
    assert unseen.shape == (5, 4) and unseen.flags.writeable


def test_transform_with_links_of_unseen_nodes(planted: Any) -> None:
    model = small(inputs=Inputs(propagate=1)).fit(planted.X, planted.matrix)
    links = planted.matrix[:4]
    alone = model.transform(planted.X[:4])
    with_links = model.transform(planted.X[:4], links)
    assert not np.allclose(alone, with_links)
    with pytest.raises(ValueError, match=r"links: found a matrix of shape \(90, 90\).*\(4, 90\)"):
        model.transform(planted.X[:4], planted.matrix)


def test_scores_of_pairs(planted: Any) -> None:
    model = small().fit(planted.X, planted.matrix)
    y, gamma = model.embedding_.astype(float), model.gamma_
    expected = np.exp(np.sum(y[[0, 4]] * y[[3, 5]], axis=1) - gamma)
    pairs = np.array([[0, 3], [4, 5]])
    assert np.allclose(model.score_pairs(pairs), expected)
    assert np.allclose(model.score_pairs(pd.DataFrame(pairs)), expected)
    # Between unseen nodes, by their rows, or by ids together with known ones.
    new = pd.DataFrame(planted.X[[0, 3]], index=["new a", "new b"])
    assert np.allclose(model.score_pairs([(0, 1)], X=planted.X[[0, 3]]), expected[0], rtol=1e-4)
    found = model.score_pairs([("new a", "new b"), ("new a", 3)], X=new)
    assert np.allclose(found, expected[0], rtol=1e-4)
    near = model.neighbors(X=planted.X[:1], top=90)
    assert np.allclose(
        near["mu"], model.score_pairs([(0, node) for node in near["node"]]), rtol=1e-4
    )


def test_pipelines_clones_and_parameters(planted: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), small())
    found = pipeline.fit_transform(planted.X, planted.matrix)
    assert np.allclose(pipeline.transform(planted.X), found, atol=1e-5)
    model = small(beta=0.5)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert twin.set_params(beta=0.2, dim=3).beta == 0.2
    with pytest.raises(ValueError, match="gamma"):
        twin.set_params(gamma=1)
    assert "beta=0.5" in repr(model)


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickles(planted: Any, protocol: int, tmp_path: Any) -> None:
    graph = nx.relabel_nodes(nx.from_scipy_sparse_array(planted.matrix), lambda n: (n, "x"))
    model = small().fit(planted.X, graph)
    joblib.dump(model, tmp_path / "model.joblib")
    copies = [pickle.loads(pickle.dumps(model, protocol)), joblib.load(tmp_path / "model.joblib")]
    for copy in copies:
        assert np.array_equal(copy.embedding_, model.embedding_)
        assert list(copy.nodes_) == list(model.nodes_) and copy.nodes_[0] == (0, "x")
        assert np.array_equal(copy.transform(planted.X), model.transform(planted.X))
        assert copy.report_ == model.report_
        assert copy.audit(X=planted.X).equals(model.audit(X=planted.X))
    assert not hasattr(pickle.loads(pickle.dumps(small())), "embedding_")


def test_parallel_fits_with_joblib(planted: Any) -> None:
    fits = joblib.Parallel(n_jobs=2)(
        joblib.delayed(small(beta=beta).fit)(planted.X, planted.matrix) for beta in (0.1, 0.5)
    )
    assert np.array_equal(
        fits[1].embedding_, small(beta=0.5).fit(planted.X, planted.matrix).embedding_
    )


def test_output_containers(planted: Any) -> None:
    X = pd.DataFrame(planted.X, index=[f"n{row}" for row in range(90)])
    model = small().set_output(transform="pandas")
    frame = model.fit_transform(X, planted.matrix)
    assert list(frame.index) == list(X.index)
    assert list(frame.columns) == [f"graphembedding{column}" for column in range(4)]
    assert list(model.transform(X.tail(2)).index) == ["n88", "n89"]
    assert isinstance(model.set_output(transform="polars").transform(planted.X), pl.DataFrame)
    assert isinstance(model.set_output(transform="default").transform(planted.X), np.ndarray)
    with config_context(transform_output="pandas"):
        assert isinstance(small().fit_transform(planted.X, planted.matrix), pd.DataFrame)
    assert isinstance(clone(model.set_output(transform="pandas")).fit_transform(X, planted.matrix),
                      pd.DataFrame)  # fmt: skip


def test_a_classifier_after_the_embedding(planted: Any) -> None:
    """In a pipeline labels are the second argument; links go by name."""
    pipeline = Pipeline([("embed", small()), ("classify", LogisticRegression())])
    pipeline.fit(planted.X, planted.groups, embed__links=planted.matrix)
    assert pipeline.score(planted.X, planted.groups) > 0.9


def test_ids_of_odd_kinds(planted: Any) -> None:
    links = planted.matrix[:3, :3] + sp.csr_array(np.ones((3, 3)) - np.eye(3))
    for ids in ([2**63 + 1, -1, 5], [0.5, 1.0, 2.0], [True, False, 7], ["007", "7", "\u2028"]):
        model = small().fit(planted.X[:3], links, nodes=ids)
        assert model.nodes_.tolist() == ids
        assert [type(node) for node in model.nodes_.tolist()] == [type(node) for node in ids]
    numbered = small().fit(planted.X[:3], links)
    with pytest.raises(ValueError, match="'007'"):
        numbered.score_pairs([("007", 1)])
    assert numbered.score_pairs([("0", 1)]) == numbered.score_pairs([(0, 1)])


def test_matrices_in_disorder(planted: Any) -> None:
    """Entries that are strided, of the other byte order, or followed by spare room."""
    expected = small().fit(sp.csr_array(planted.X), planted.matrix).embedding_
    X = sp.csr_array(planted.X)
    wide = np.zeros((len(X.data), 2))
    wide[:, 0] = X.data
    X.data = wide[:, 0]
    links = planted.matrix.copy()
    links.data = links.data.astype(">f8")
    assert np.array_equal(small().fit(X, links).embedding_, expected)
    roomy = planted.matrix.copy()
    roomy.data = np.r_[roomy.data, np.full(9, np.nan)]
    roomy.indices = np.r_[roomy.indices, np.zeros(9, roomy.indices.dtype)]
    assert np.array_equal(small().fit(X, roomy).embedding_, expected)


def test_several_views(planted: Any) -> None:
    X = {"text": planted.X[:50], "image": sp.csr_array(planted.X[50:, :5])}
    model = small().fit(X, planted.matrix)
    assert model.views_ == ["text", "image"]
    assert list(model.nodes_[[0, 49, 50]]) == ["text:0", "text:49", "image:0"]
    assert set(model.gamma_) == {("text", "text"), ("text", "image"), ("image", "image")}
    found = model.transform({"image": planted.X[50:, :5]})
    assert np.allclose(found["image"], model.embedding_[50:], atol=1e-5)
    assert model.transform(planted.X[:2], view="text").shape == (2, 4)
    across = {("text", "image"): planted.matrix[:50, 50:]}
    model = small().fit(X, across)
    assert set(model.gamma_) == {("text", "image")}
    assert np.isnan(model.score_pairs([("text:0", "text:1")])[0])
    assert model.score_pairs([("text:0", "image:1")])[0] > 0
    table = small(encoder={"text": "mlp", "*": "linear"}, network=Network(hidden=8), steps=5).fit(
        X, across
    )
    assert [view[2] for view in table._model.views] == [8, 5]


def test_views_without_data_vectors(planted: Any) -> None:
    links = {("a", "b"): planted.matrix[:50, 50:]}
    model = small().fit({"a": planted.X[:50], "b": 40}, links)
    assert model.embedding_.shape == (90, 4)
    with pytest.raises(ValueError, match="table encoder"):
        model.transform(planted.X, view="b")


def test_not_fitted(planted: Any) -> None:
    model = small()
    for use in [
        lambda: model.transform(planted.X),
        lambda: model.embedding_,
        lambda: model.gamma_,
        lambda: model.history_,
        lambda: model.audit(),
        lambda: model.score_pairs([(0, 1)]),
        lambda: model.neighbors(0),
        lambda: model.save("nowhere"),
    ]:
        with pytest.raises(NotFittedError):
            use()


def test_a_failed_fit_leaves_the_earlier_model(planted: Any) -> None:
    model = small().fit(planted.X, planted.matrix)
    before = model.embedding_
    with pytest.raises(ValueError):
        model.fit(planted.X[:5], planted.matrix)
    assert np.array_equal(model.embedding_, before) and model.n_features_in_ == 8


def test_refitting_forgets_the_earlier_data(planted: Any) -> None:
    model = small().fit(pd.DataFrame(planted.X, columns=list("abcdefgh")), planted.matrix)
    assert hasattr(model, "feature_names_in_")
    model.fit(planted.X[:, :5], planted.matrix)
    assert model.n_features_in_ == 5 and not hasattr(model, "feature_names_in_")
