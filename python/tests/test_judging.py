"""Links judged and chosen by: audit, select."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import linkproof
from linkproof import GraphEmbedding, Search, measures


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


COLUMNS = [
    "rank", "src", "dst", "weight", "belief", "suspect", "why",
    "mu", "trust", "influence", "false_discovery_rate",
]  # fmt: skip


def test_false_links_rank_first(spoilt: Any) -> None:
    planted, links, false, model = spoilt
    table = model.audit(X=planted.X)
    assert list(table.columns) == COLUMNS and len(table) == len(links)
    assert list(table["rank"]) == list(range(1, len(links) + 1))
    assert table["trust"].between(0, 1).all()
    is_false = np.array([pair in false for pair in zip(table["src"], table["dst"])])
    assert measures.auc(-table["belief"], is_false) > 0.9
    assert np.allclose(model.score_pairs(table[["src", "dst"]]), table["mu"])
    rates = table.sort_values(["belief", "rank"])
    means = rates["belief"].cumsum() / np.arange(1, len(table) + 1)
    assert np.allclose(rates["false_discovery_rate"], means)
    assert not table.attrs["judged_by_links_alone"] and not table.attrs["abstained"]
    assert {"about", "says"} == set(table.attrs["verdict"][0])
    with pytest.raises(ValueError, match="8 entries, as the model was fitted with"):
        model.audit(X=planted.X[:, :3])


def test_links_alone_tell_less(spoilt: Any) -> None:
    *_, model = spoilt
    with pytest.warns(UserWarning, match=r"judged by links alone.*audit\(X=X\)"):
        table = model.audit()
    assert table.attrs["judged_by_links_alone"] and list(table.columns) == COLUMNS


@pytest.mark.parametrize(
    "old", ["judge", "false_discovery_rate", "cross_fit", "folds", "fdr", "min_trust"]
)
def test_keywords_of_earlier_versions_say_what_to_do(spoilt: Any, old: str) -> None:
    *_, model = spoilt
    with pytest.raises(TypeError, match=rf"no keyword '{old}' any more: .*audit\(links=None, X="):
        model.audit(**{old: 0.1})
    with pytest.raises(TypeError, match="unexpected keyword argument 'foldss'"):
        model.audit(foldss=2)
    with pytest.raises(TypeError, match=r"smooth\(\) is gone; .*robust=True"):
        model.smooth()


def test_evidence_and_verified_links(spoilt: Any) -> None:
    planted, links, false, model = spoilt
    score = [0.0 if (i, j) in false else 1.0 for i, j in links[:, :2].astype(int).tolist()]
    table = model.audit(links, planted.X, evidence={"score": score})
    plain = model.audit(links, planted.X)
    is_false = np.array([pair in false for pair in zip(table["src"], table["dst"])])
    before = np.array([pair in false for pair in zip(plain["src"], plain["dst"])])
    assert measures.auc(-table["belief"], is_false) >= measures.auc(-plain["belief"], before)
    checked = [(*pair, 0) for pair in sorted(false)]
    table = model.audit(X=planted.X, checked=checked)
    is_false = np.array([pair in false for pair in zip(table["src"], table["dst"])])
    assert (table["belief"][is_false] == 0).all() and table["suspect"][is_false].all()
    assert table["why"][is_false].str.contains("checked by hand: false").all()
    with pytest.raises(ValueError, match="evidence: found without links"):
        model.audit(evidence={"score": score})
    with pytest.raises(ValueError, match="which is no link"):
        model.audit(X=planted.X, checked=[(0, 0, 1)])


def test_other_links(spoilt: Any) -> None:
    planted, _, _, model = spoilt
    table = model.audit(np.array([[0, 1, 50.0], [0, 3, 1.0]]), planted.X)
    assert sorted(zip(table["src"], table["dst"])) == [(0, 1), (0, 3)]
    assert table.attrs["abstained"] and not table["suspect"].any()
    assert table["belief"].isna().all()
    with pytest.raises(ValueError, match="links"):
        model.audit(np.array([[0, 900]]))


def test_missing_links(spoilt: Any) -> None:
    planted, links, _, model = spoilt
    table = model.missing_links(15)
    linked = {tuple(edge) for edge in links[:, :2].astype(int).tolist()}
    assert len(table) == 15 and table["mu"].is_monotonic_decreasing
    assert not linked & set(zip(table["src"], table["dst"]))
    listed = model.audit(X=planted.X, missing=15).attrs["missing"]
    assert pd.DataFrame(listed).equals(table)


def test_data_vectors_are_matched_by_id(planted: Any) -> None:
    names = [f"n{row}" for row in range(90)]
    X = pd.DataFrame(planted.X, index=names)
    model = GraphEmbedding(dim=4, ridge=0.3, verbose=False).fit(X, planted.matrix)
    expected = model.audit(X=X)
    shuffled = X.sample(frac=1, random_state=1)
    assert model.audit(X=shuffled).equals(expected)
    with pytest.raises(ValueError, match="'n3'"):
        model.audit(X=X.drop("n3"))


def test_selection(planted: Any) -> None:
    found = linkproof.select(
        planted.X, planted.matrix, dim=4, search=Search(ridges=[0.3, 30], folds=3), verbose=False
    )
    assert found.params["ridge"] in (0.3, 30) and found.params["dim"] == 4
    assert set(found.candidates["score"]) == {"likelihood", "probability"}
    best = found.candidates.dropna(subset=["behind"])["behind"].min()
    assert best == 0 and found.fits > 0
    assert "separate held-out links from non-links" in found.compared
    assert 1 <= found.tied <= len(found.candidates)
    assert found.estimator.get_params()["ridge"] == found.params["ridge"]
    found.estimator.fit(planted.X, planted.matrix)


def test_the_unit_of_weights_does_not_matter(planted: Any) -> None:
    def found(matrix: Any, criterion: str = "rank", **given: Any) -> linkproof.Selection:
        search = Search(ridges=[0.3, 30], folds=3, criterion=criterion)
        return linkproof.select(planted.X, matrix, dim=4, search=search, verbose=False, **given)

    heavy = planted.matrix * 1000.0
    plain = found(planted.matrix)
    assert found(heavy).params == {**plain.params, "weights": "binary"}
    assert found(heavy, weights="asis").params["weights"] == "asis"
    by_score = found(planted.matrix, criterion="probability:0.5")
    assert "probability score" in by_score.compared and "weights" not in by_score.params


def test_what_is_given_is_not_searched_over(planted: Any) -> None:
    found = linkproof.select(
        planted.X, planted.matrix, dim=4, score="moment", beta=0.2, verbose=False,
        search=Search(ridges=[1], folds=2, hold_out="nodes", exhaustive=True),
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
        linkproof.select(planted.X, planted.matrix, verbose=False, search=Search(**wrong))
    with pytest.raises(TypeError, match="ridgess"):
        linkproof.select(planted.X, planted.matrix, ridgess=[1])


def test_links_by_view_in_any_order(planted: Any) -> None:
    X = {"a": planted.X[:50], "b": planted.X[50:, :5]}
    blocks = {("a", "b"): planted.matrix[:50, 50:], ("a", "a"): planted.matrix[:50, :50]}
    model = GraphEmbedding(dim=3, verbose=False).fit(X, blocks)
    expected = model.audit(X=X)
    turned = {("b", "a"): planted.matrix[50:, :50], ("a", "a"): planted.matrix[:50, :50]}
    for links in (blocks, turned):
        assert model.audit(links, X).equals(expected)
    with pytest.raises(ValueError, match="links"):
        model.audit(links={("a", "c"): planted.matrix})


def test_views_are_judged_too(planted: Any) -> None:
    X = {"a": planted.X[:50], "b": sp.csr_array(planted.X[50:])}
    model = GraphEmbedding(dim=3, verbose=False).fit(X, planted.matrix)
    assert len(model.audit(X=X)) == planted.triangle.nnz
