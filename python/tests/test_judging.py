"""Links judged, averaged over and chosen by: audit, smooth, select."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import linkproof
from linkproof import GraphEmbedding, measures


@pytest.fixture(scope="module")
def spoilt(planted: Any) -> Any:
    """The planted graph with ten false links, and a model of it."""
    random = np.random.default_rng(1)
    known = {tuple(edge) for edge in planted.edges.tolist()}
    false: list[tuple[int, int]] = []
    while len(false) < 10:
        i, j = sorted(random.integers(0, 90, 2).tolist())
        if planted.groups[i] != planted.groups[j] and (i, j) not in known:
            false.append((i, j))
            known.add((i, j))
    links = np.vstack([planted.listed, [(i, j, 3.0) for i, j in false]])
    model = GraphEmbedding(dim=4, beta=0.5, ridge=0.3, verbose=False).fit(planted.X, links)
    return planted, links, set(false), model


def is_false(table: pd.DataFrame, false: set[tuple[int, int]]) -> Any:
    return np.array([pair in false for pair in zip(table["src"], table["dst"])])


def test_false_links_are_least_trusted(spoilt: Any) -> None:
    planted, links, false, model = spoilt
    table = model.audit(judge=False)
    names = ["src", "dst", "weight", "mu", "trust", "influence", "surprise", "fdr", "suspect",
             "weight_fdr", "why"]  # fmt: skip
    assert list(table.columns) == names and len(table) == len(links)
    assert table["trust"].is_monotonic_increasing
    assert table["trust"].between(0, 1).all()
    across = planted.groups[table["src"]] != planted.groups[table["dst"]]
    assert measures.auc(-table["trust"], across) > 0.9
    assert 0 <= table.attrs["random_share"] <= 1
    mu = model.score_pairs(table[["src", "dst"]])
    assert np.allclose(mu, table["mu"])


def test_judges_that_did_not_see_the_link(spoilt: Any) -> None:
    planted, links, false, model = spoilt
    table = model.audit(X=planted.X, cross_fit=True, folds=3)
    assert "cosine" in table and len(table) == len(links)
    contest = table.attrs["auc_against_random_pairs"]
    assert contest["fit"] > 0.5 and contest["cosine"] > 0.5 and contest["links"] == len(links)
    assert measures.auc(-table["trust"], is_false(table, false)) > 0.9
    with pytest.raises(ValueError, match="X: found no data vectors.*cross_fit=False"):
        model.audit(cross_fit=True)
    with pytest.raises(ValueError, match="folds must be a whole number from 2 to 100"):
        model.audit(X=planted.X, cross_fit=True, folds=1)
    with pytest.raises(ValueError, match="8 entries, as the model was fitted with"):
        model.audit(X=planted.X[:, :3], cross_fit=True)


def test_thresholds(spoilt: Any) -> None:
    _, _, _, model = spoilt
    few, many = (model.audit(min_trust=trust)["suspect"].sum() for trust in (1e-6, 0.5))
    assert few <= many
    assert (model.audit(fdr=1.0)["suspect"]).all()
    for wrong in [{"fdr": 2}, {"min_trust": np.nan}, {"fdr": "x"}]:
        with pytest.raises(ValueError, match="0 (to|and) 1"):
            model.audit(**wrong)


def test_other_links(spoilt: Any) -> None:
    _, _, _, model = spoilt
    table = model.audit(np.array([[0, 1, 50.0], [0, 3, 1.0]]))
    assert list(zip(table["src"], table["dst"])) == [(0, 1), (0, 3)]
    with pytest.raises(ValueError, match="links"):
        model.audit(np.array([[0, 900]]))


def test_missing_links(spoilt: Any) -> None:
    planted, links, _, model = spoilt
    table = model.missing_links(15)
    linked = {tuple(edge) for edge in links[:, :2].astype(int).tolist()}
    assert len(table) == 15 and table["mu"].is_monotonic_decreasing
    assert not linked & set(zip(table["src"], table["dst"]))


def test_averages(spoilt: Any) -> None:
    planted, _, _, model = spoilt
    plain = model.smooth(averaging="always", cross_fit=False)
    crossed = model.smooth(planted.X, averaging="always", folds=3)
    assert plain.shape == crossed.shape == (90, 4)
    assert measures.evaluate(crossed, planted.groups)["nmi"] > 0.9
    always = {"averaging": "always", "cross_fit": False}
    unseen = model.smooth(planted.X, planted.X[:6], **always)
    assert unseen.shape == (6, 4)
    linked = model.smooth(planted.X, planted.X[:6], new_links=planted.matrix[:6], **always)
    assert not np.allclose(unseen, linked)
    # Without data vectors to learn averages from, nodes without links stay as they are.
    links = sp.csr_array(sp.vstack([planted.matrix[:1], sp.csr_array((1, 90))]))
    with pytest.warns(UserWarning, match="1 unseen nodes have no believed links"):
        part = model.smooth(X_new=planted.X[:2], new_links=links, **always)
    assert np.array_equal(part[1], model.transform(planted.X[1:2])[0])
    with pytest.raises(ValueError, match="X: found no data vectors.*new_links"):
        model.smooth(X_new=planted.X[:2], cross_fit=False)
    assert np.array_equal(model.smooth(times=0, cross_fit=False), model.embedding_)
    for times in (-1, 101, 1.5):
        with pytest.raises(ValueError, match="times"):
            model.smooth(times=times, cross_fit=False)
    with pytest.raises(ValueError, match="new_links"):
        model.smooth(new_links=planted.matrix)
    with pytest.raises(ValueError, match="averaging must be 'gate', 'always' or 'never'"):
        model.smooth(averaging="sometimes")


def test_the_gate_is_obeyed(spoilt: Any) -> None:
    planted, _, _, model = spoilt
    with pytest.warns(UserWarning, match=r"not averaged over links: .*no data vectors X"):
        kept = model.smooth(cross_fit=False)
    assert np.array_equal(kept, model.embedding_)
    assert np.array_equal(model.smooth(averaging="never", cross_fit=False), model.embedding_)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asked = model.smooth(planted.X, folds=3)
    shut = [str(it.message) for it in caught if "not averaged" in str(it.message)]
    forced = model.smooth(planted.X, folds=3, averaging="always")
    assert np.array_equal(asked, model.embedding_ if shut else forced)
    assert all("times as well" in message for message in shut)


def test_data_vectors_are_matched_by_id(planted: Any) -> None:
    names = [f"n{row}" for row in range(90)]
    X = pd.DataFrame(planted.X, index=names)
    model = GraphEmbedding(dim=4, ridge=0.3, verbose=False).fit(X, planted.matrix)
    expected = model.audit(X=X, cross_fit=True, folds=2)
    shuffled = X.sample(frac=1, random_state=1)
    assert model.audit(X=shuffled, cross_fit=True, folds=2).equals(expected)
    with pytest.raises(ValueError, match="'n3'"):
        model.audit(X=X.drop("n3"), cross_fit=True)


def test_selection(planted: Any) -> None:
    found = linkproof.select(
        planted.X, planted.matrix, dim=4, ridges=[0.3, 30], folds=3, verbose=False
    )
    assert found.params["ridge"] in (0.3, 30) and found.params["dim"] == 4
    assert set(found.candidates["score"]) == {"likelihood", "probability"}
    best = found.candidates.dropna(subset=["behind"])["behind"].min()
    assert best == 0 and found.fits > 0
    assert "tell held-out links from pairs without a link" in found.compared
    assert 1 <= found.tied <= len(found.candidates)
    assert found.estimator.get_params()["ridge"] == found.params["ridge"]
    found.estimator.fit(planted.X, planted.matrix)


def test_the_unit_of_weights_does_not_matter(planted: Any) -> None:
    def found(matrix: Any, **given: Any) -> linkproof.Selection:
        return linkproof.select(
            planted.X, matrix, dim=4, ridges=[0.3, 30], folds=3, verbose=False, **given
        )

    heavy = planted.matrix * 1000.0
    plain = found(planted.matrix)
    assert found(heavy).params == {**plain.params, "weights": "binary"}
    assert found(heavy, weights="asis").params["weights"] == "asis"
    by_score = found(planted.matrix, criterion="probability:0.5")
    assert "probability score" in by_score.compared and "weights" not in by_score.params


def test_what_is_given_is_not_searched_over(planted: Any) -> None:
    found = linkproof.select(
        planted.X, planted.matrix, dim=4, score="moment", beta=0.2, ridges=[1], folds=2,
        hold_out="nodes", exhaustive=True, verbose=False,
    )  # fmt: skip
    assert (found.params["score"], found.params["beta"]) == ("moment", 0.2)
    assert len(found.candidates) == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"folds": 1}, "folds must be a whole number from 2 to 100"),
        ({"folds": "many"}, "folds"),
        ({"hold_out": "edges"}, "hold_out must be pairs or nodes"),
        ({"criterion": "best"}, "criterion"),
        ({"criterion": 5}, "criterion must be text"),
        ({"exhaustive": "yes"}, "exhaustive must be True or False"),
        ({"hold_out": 3}, "hold_out"),
        ({"scores": ["likely"]}, "scores must be a list of"),
        ({"betas": 0.5}, "betas must be a list"),
        ({"betas": []}, "betas"),
        ({"ridges": [-1]}, "ridge"),
        ({"ridges": [np.nan]}, "ridges must be a list of numbers"),
    ],
)
def test_searches_that_cannot_be(planted: Any, wrong: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        linkproof.select(planted.X, planted.matrix, verbose=False, **wrong)
    with pytest.raises(TypeError, match="ridgess"):
        linkproof.select(planted.X, planted.matrix, ridgess=[1])


def test_links_by_view_in_any_order(planted: Any) -> None:
    X = {"a": planted.X[:50], "b": planted.X[50:, :5]}
    blocks = {("a", "b"): planted.matrix[:50, 50:], ("a", "a"): planted.matrix[:50, :50]}
    model = GraphEmbedding(dim=3, verbose=False).fit(X, blocks)
    expected = model.audit()
    turned = {("b", "a"): planted.matrix[50:, :50], ("a", "a"): planted.matrix[:50, :50]}
    for links in (blocks, turned):
        assert model.audit(links=links).equals(expected)
    with pytest.raises(ValueError, match="links"):
        model.audit(links={("a", "c"): planted.matrix})


def test_views_are_judged_too(planted: Any) -> None:
    X = {"a": planted.X[:50], "b": sp.csr_array(planted.X[50:])}
    model = GraphEmbedding(dim=3, verbose=False).fit(X, planted.matrix)
    assert len(model.audit(X=X, cross_fit=True, folds=2)) == planted.triangle.nnz
    assert model.smooth(X, folds=2, averaging="always").shape == (90, 3)
    assert model.smooth(X, planted.X[:3], view="a", folds=2, averaging="always").shape == (3, 3)
