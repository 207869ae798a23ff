"""Bad input gets a clear exception that names the argument."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from input_samples import with_options

import linkproof
from linkproof import FitError, GraphEmbedding, Sgd, measures


def fit(X: Any, links: Any, **params: Any) -> GraphEmbedding:
    return GraphEmbedding(**{"dim": 2, "steps": 5, "verbose": False, **params}).fit(X, links)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_data_vectors_that_are_not_finite(planted: Any, value: float) -> None:
    X = planted.X.copy()
    X[7, 3] = value
    message = r"X: found (NaN|inf) in row 7, column 3 .*; expected finite numbers"
    for wrong in (X, X.astype(np.float32), sp.csr_array(X), pd.DataFrame(X)):
        with pytest.raises(ValueError, match=message):
            fit(wrong, planted.matrix)
        with pytest.raises(ValueError, match=message):
            fit(planted.X, planted.matrix).transform(wrong)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_that_cannot_be(planted: Any, weight: float) -> None:
    shown = {"-1.0": "-1", "nan": "NaN", "inf": "inf"}[str(weight)]
    expected = "weights of zero or more" if weight == -1.0 else "a finite weight"
    message = f"links: found weight {shown} between '0' and '1'; expected {expected}"
    matrix = sp.csr_array(([weight], ([0], [1])), shape=(90, 90))
    graph = nx.Graph()
    graph.add_nodes_from(range(90))
    graph.add_edge(0, 1, weight=weight)
    table = pd.DataFrame({"src": [0], "dst": [1], "weight": [weight]})
    for links in (matrix, matrix.toarray(), np.array([[0, 1, weight]]), graph, table):
        with pytest.raises(ValueError, match=message):
            fit(planted.X, links)


def test_matrices_that_are_not_symmetric(planted: Any) -> None:
    A = planted.triangle.tolil()
    A[5, 2], A[2, 5] = 3.0, 1.0
    A = A.tocsr()
    with pytest.raises(ValueError, match=r"not symmetric.*links\.maximum\(links\.T\)"):
        fit(planted.X, A)
    with pytest.raises(ValueError, match='duplicates="sum" or "max"'):
        fit(planted.X, A)
    for rule, symmetric in [("sum", A + A.T), ("max", A.maximum(A.T))]:
        found = fit(planted.X, A, duplicates=rule).embedding_
        assert np.array_equal(found, fit(planted.X, symmetric).embedding_)
    # A triangular matrix is as good as a symmetric one.
    fit(planted.X, planted.triangle)
    fit(planted.X, planted.triangle.T)


def test_pairs_listed_twice(planted: Any) -> None:
    twice = np.vstack([planted.listed, planted.listed[:1] + [0, 0, 1]])
    with pytest.raises(ValueError, match='more than once.*duplicates="sum"'):
        fit(planted.X, twice)
    fit(planted.X, twice, duplicates="max")
    # Once in each direction with the same weight is one link.
    both = np.vstack([planted.listed, planted.listed[:, [1, 0, 2]]])
    expected = fit(planted.X, planted.listed).embedding_
    assert np.array_equal(fit(planted.X, both).embedding_, expected)


def test_links_to_oneself(planted: Any) -> None:
    with_loop = planted.matrix + sp.csr_array(np.diag(np.eye(90)[3]))
    with pytest.raises(ValueError, match="from '3' to itself.*self_links=\"drop\""):
        fit(planted.X, with_loop)
    found = fit(planted.X, with_loop, self_links="drop").embedding_
    assert np.array_equal(found, fit(planted.X, planted.matrix).embedding_)


def test_shapes(planted: Any) -> None:
    with pytest.raises(ValueError, match="links: found a 90 x 90 matrix; expected 89 x 89"):
        fit(planted.X[:89], planted.matrix)
    with pytest.raises(ValueError, match="links"):
        fit(planted.X, planted.matrix[:50])
    with pytest.raises(ValueError, match="links: names row 90"):
        fit(planted.X, np.array([[0, 90]]))
    with pytest.raises(ValueError, match="X: Expected 2D array, got 1D"):
        fit(planted.X[:, 0], planted.matrix)
    spoilt = planted.X[50:].copy()
    spoilt[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"X\['b'\]: found NaN in row 3, column 1"):
        fit({"a": planted.X[:50], "b": spoilt}, planted.matrix)
    with pytest.raises(ValueError, match="links"):
        fit(planted.X, planted.groups)
    with pytest.raises(ValueError, match="links"):
        fit(planted.X, None)
    with pytest.raises(ValueError, match="no links"):
        fit(planted.X, sp.csr_array((90, 90)))
    with pytest.raises(ValueError, match="n_samples = 1"):
        fit(planted.X[:1], sp.csr_array((1, 1)))


def test_numbers_that_may_be_rows_or_ids(planted: Any) -> None:
    X = pd.DataFrame(planted.X, index=np.arange(90)[::-1])
    with pytest.raises(ValueError, match="not clear which are meant"):
        fit(X, planted.listed)
    table = pd.DataFrame(planted.listed, columns=["src", "dst", "weight"])
    found = fit(X, table).score_pairs(planted.edges)
    plain = fit(planted.X[::-1], planted.listed).score_pairs(planted.edges)
    assert np.allclose(found, plain, atol=1e-3)


def test_small_arrays_that_may_be_matrices() -> None:
    with pytest.raises(ValueError, match="may be a matrix or a list"):
        fit(None, np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    fit(None, np.array([[0, 1], [1, 0]]))
    fit(None, np.array([[0, 1, 2], [1, 2, 1], [0, 2, 1]]))


def test_links_of_unseen_nodes_with_a_dict(planted: Any) -> None:
    model = fit(planted.X, planted.matrix)
    with pytest.raises(ValueError, match="links: found with a dict"):
        model.transform({"": planted.X}, planted.matrix[:2])


def test_messages_leave_the_user_s_words_alone(planted: Any) -> None:
    with pytest.raises(OSError, match="runs--seed/my--model"):
        GraphEmbedding.load("runs--seed/my--model")
    with pytest.raises(ValueError, match="'node--seed' and 'b'"):
        fit(None, [("node--seed", "b", -1.0)])


def test_unknown_names(planted: Any) -> None:
    X = pd.DataFrame(planted.X, index=[f"n{row}" for row in range(90)])
    with pytest.raises(ValueError, match="links: names node 'stranger'"):
        fit(X, pd.DataFrame({"src": ["n0"], "dst": ["stranger"]}))
    model = fit(X, planted.matrix)
    with pytest.raises(ValueError, match="pairs: found 'stranger' in row 1"):
        model.score_pairs([("n0", "n1"), ("n0", "stranger")])
    with pytest.raises(ValueError, match="node: found 'stranger'"):
        model.neighbors("stranger")
    with pytest.raises(ValueError, match="view must be one of"):
        model.transform(planted.X, view="image")
    with pytest.raises(ValueError, match="links: names node 'stranger'"):
        model.audit(pd.DataFrame({"src": ["n0"], "dst": ["stranger"]}))
    numbered = fit(planted.X, planted.matrix)
    for wrong in (90, -1, "a", 1.5):
        with pytest.raises(ValueError, match="pairs: found"):
            numbered.score_pairs([(0, wrong)])


def test_wrong_numbers_of_features(planted: Any) -> None:
    model = fit(planted.X, planted.matrix)
    with pytest.raises(ValueError, match="X has 3 features, but GraphEmbedding is expecting 8"):
        model.transform(planted.X[:, :3])
    names = pd.DataFrame(planted.X, columns=list("abcdefgh"))
    model = fit(names, planted.matrix)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(names.rename(columns={"a": "z"}))
    table = fit(None, planted.matrix)
    with pytest.raises(ValueError, match="table encoder"):
        table.transform(planted.X)
    views = fit({"a": planted.X[:50], "b": planted.X[50:]}, planted.matrix)
    with pytest.raises(ValueError, match="X: found data vectors of 2 entries; expected 8"):
        views.transform(planted.X[:, :2], view="b")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"dim": 0}, "dim must be a whole number from 1 to 65536, but is 0"),
        ({"dim": -1}, "dim must be a whole number from 1 to 65536, but is -1"),
        ({"dim": 2.5}, "dim must be a whole number from 1 to 65536, but is 2.5"),
        ({"dim": True}, "dim must be .*, but is True"),
        ({"score": "likely"}, "score must be moment, probability or likelihood, but is 'likely'"),
        ({"score": 1}, "score"),
        ({"beta": -0.1}, "beta must be between 0 and 10, but is -0.1"),
        ({"beta": np.nan}, "beta must be a finite number, but is nan"),
        ({"beta": "big"}, "beta"),
        ({"ridge": -1}, "ridge"),
        ({"encoder": "cnn"}, "encoder must be linear, mlp or table, or None, but is 'cnn'"),
        ({"encoder": 3}, "encoder"),
        ({"encoder": {"image": "mlp"}}, "encoder"),
        ({"hidden": (10, 0)}, "hidden"),
        ({"hidden": "wide"}, "hidden"),
        ({"weights": "square"}, "weights"),
        ({"normalize": "l1"}, "normalize"),
        ({"batch_norm": 1}, "batch_norm must be true or false, but is 1"),
        ({"dropout": 1.0}, "dropout"),
        ({"steps": 0}, "steps"),
        ({"validation": 1.5}, "validation"),
        ({"optimizer": "lbfgs", "solver": "sgd"}, "optimizer"),
        (
            {"lambda_": 1.0},
            "lambda_ must be left open unless the solver is sgd and the sampler is pairs, but is 1",
        ),
        ({"precision": "f16"}, "precision"),
        ({"view_pairs": "ab"}, "view_pairs"),
        ({"view_pairs": [("a", "b")]}, "view_pairs"),
        ({"hidden": (2**20, 2**20), "encoder": "mlp"}, "hidden"),
        ({"duplicates": None}, "duplicates"),
        ({"self_links": 3}, "self_links"),
        (
            {"duplicates": "mean"},
            "duplicates must be 'error', 'sum', 'max' or 'first', but is 'mean'",
        ),
        ({"self_links": "keep"}, "self_links must be 'error' or 'drop', but is 'keep'"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": "x"}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"device": "gpu"}, "device must be auto, cpu, cuda, or cuda:N"),
        ({"sgd": 3}, "sgd must be a linkproof.Sgd or None, but is 3"),
        ({"robust": "yes"}, "robust"),
    ],
)
def test_parameters(planted: Any, params: dict[str, Any], message: str) -> None:
    model = GraphEmbedding(verbose=False, **with_options(params))
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        model.fit(planted.X, planted.matrix)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"callback": 3}, "callback"),
        ({"checkpoint": 3}, "checkpoint"),
        ({"resume": True}, "checkpoint"),
        ({"resume": 1}, "resume"),
    ],
)
def test_arguments_of_a_fit(planted: Any, how: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GraphEmbedding(verbose=False).fit(planted.X, planted.matrix, **how)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"hidden": 10}, "hidden has no effect: only the mlp encoder reads it"),
        (
            {"score": "likelihood", "beta": 0.5},
            "beta has no effect: the likelihood score does not read it",
        ),
        ({"solver": "exact", "pair_batch": 7}, "pair_batch has no effect: the exact solver"),
        ({"walks_weighted": True}, "walks_weighted has no effect: walks is 0"),
        ({"optimizer": "lbfgs", "learning_rate": 0.1}, "learning_rate has no effect: lbfgs"),
    ],
)
def test_settings_without_effect(planted: Any, params: dict[str, Any], message: str) -> None:
    with pytest.warns(UserWarning, match=message):
        fit(planted.X, planted.matrix, **with_options(params))


def test_no_message_speaks_of_the_command_line(planted: Any) -> None:
    with pytest.raises(ValueError) as caught:
        fit(planted.X, planted.matrix, sgd=Sgd(lambda_=1.0))
    assert "--" not in str(caught.value)


def test_fits_that_diverge(planted: Any) -> None:
    with pytest.raises(FitError, match="diverged at step .*learning_rate"):
        GraphEmbedding(
            dim=4,
            optimizer="sgd",
            solver="sgd",
            sgd=Sgd(learning_rate=1e12),
            steps=200,
            verbose=False,
        ).fit(1e3 * planted.X, planted.matrix)
    assert issubclass(FitError, RuntimeError)
    assert FitError.__module__ == "linkproof"
    with pytest.raises(FitError, match="not finite"):
        linkproof.objective(1e3 * np.ones((3, 2)), [(0, 1)], 0.0, "likelihood", 0.0)


def test_objectives_that_cannot_be(planted: Any) -> None:
    y = np.zeros((90, 2))
    for wrong, message in [
        ({"score": "best"}, "score"),
        ({"beta": -1}, "beta"),
        ({"gamma": np.nan}, "gamma"),
        ({"gamma": "x"}, "gamma"),
        ({"precision": "f16"}, "precision"),
        ({"links": planted.matrix[:5, :5]}, "links"),
        ({"Y": np.zeros((90, 2)) * np.nan}, "finite"),
        ({"Y": np.zeros(90)}, "2D"),
    ]:
        given = {"Y": y, "links": planted.matrix, "gamma": 0.0, **wrong}
        with pytest.raises(ValueError, match=message):
            linkproof.objective(**given)


def test_gradients_agree_with_differences(planted: Any) -> None:
    random = np.random.default_rng(0)
    y = random.normal(size=(90, 3)) / 2
    direction = random.normal(size=y.shape)
    for score, beta in [("moment", 0.5), ("probability", 0.5), ("likelihood", 0.0)]:

        def value(step: float, gamma: float = 1.0) -> float:
            found = linkproof.objective(
                y + step * direction, planted.matrix, gamma, score, beta, gradient=False
            )
            assert found.gradient is None
            return found.value

        found = linkproof.objective(y, planted.matrix, 1.0, score, beta)
        slope = (value(1e-5) - value(-1e-5)) / 2e-5
        assert np.isclose(np.sum(found.gradient * direction), slope, rtol=1e-6)
        slope = (value(0, 1 + 1e-5) - value(0, 1 - 1e-5)) / 2e-5
        assert np.isclose(found.gamma_gradient, slope, rtol=1e-6)


def test_measures(planted: Any) -> None:
    from sklearn import metrics

    random = np.random.default_rng(0)
    truth, found = random.integers(0, 4, 200), random.integers(0, 5, 200)
    assert np.isclose(
        measures.nmi(truth, found), metrics.normalized_mutual_info_score(truth, found)
    )
    assert np.isclose(measures.ari(truth, found), metrics.adjusted_rand_score(truth, found))
    scores, positive = random.normal(size=200).round(1), truth > 1
    assert np.isclose(measures.auc(scores, positive), metrics.roc_auc_score(positive, scores))
    assert np.isclose(
        measures.average_precision(scores, positive),
        metrics.average_precision_score(positive, scores),
    )
    for wrong in [([0, 1], [0]), ([[0]], [[0]]), ([], [])]:
        with pytest.raises(ValueError):
            measures.nmi(*wrong)
    with pytest.raises(ValueError, match="clusters"):
        measures.kmeans(planted.X, 0)
    with pytest.raises(ValueError, match="labels"):
        measures.evaluate(planted.X, [None] * 90)
    labels = np.array(["a", None, "b", ""] + ["a"] * 86, dtype=object)
    assert 0 <= measures.evaluate(planted.X, labels)["nmi"] <= 1
