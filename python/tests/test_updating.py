"""Models brought up to date."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from linkproof import GraphEmbedding


def groups(n: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Two groups in turn, all links inside them, and vectors that tell them."""
    links = [(i, j) for i in range(n) for j in range(i) if (i - j) % 2 == 0]
    X = np.eye(2)[np.arange(n) % 2] + 0.01 * np.arange(n)[:, None]
    return X, links


def test_new_nodes_follow_and_old_ones_stay() -> None:
    X, links = groups(14)
    old = [link for link in links if max(link) < 12]
    model = GraphEmbedding(dim=2, ridge=0.1).fit(X[:12], old)
    before = model.embedding_.copy()
    model.partial_fit(X[12:], [link for link in links if max(link) >= 12])
    assert list(model.nodes_) == list(range(14))
    np.testing.assert_array_equal(model.embedding_[:12], before)
    assert model.n_features_in_ == 2
    update = model.report_["update"]
    assert (update["new_nodes"], update["moved_nodes"]) == (2, 0)
    # Linked more than others, as their groups are.
    scores = model.score_pairs([(12, 0), (12, 1)])
    assert scores[0] > scores[1]


def test_names_stay_and_links_can_be_withdrawn() -> None:
    names = [f"n{i}" for i in range(12)]
    _, links = groups(12)
    table = pd.DataFrame([(names[i], names[j]) for i, j in links], columns=["src", "dst"])
    model = GraphEmbedding(dim=2, ridge=0.1).fit(None, table)
    known = list(model.nodes_)
    model.partial_fit(links=[("late", "n0"), ("late", "n2"), ("late", "n4")])
    assert list(model.nodes_) == [*known, "late"]
    n_links = model.report_["counts"]["training_links"]
    model.partial_fit(withdrawn=[("n0", "late")])
    assert model.report_["counts"]["training_links"] == n_links - 1
    assert model.report_["updates"]["times"] == 2
    again = GraphEmbedding(dim=2, ridge=0.1)
    again.partial_fit(None, table)  # not fitted: fits
    np.testing.assert_array_equal(again.nodes_, known)


def test_much_that_changed_is_warned_of() -> None:
    X, links = groups(12)
    model = GraphEmbedding(dim=2, ridge=0.1).fit(X, links)
    matrix = sp.coo_array((np.ones(6), (np.arange(6) * 2, np.arange(6) * 2 + 1)), (12, 12))
    with pytest.warns(UserWarning, match="full fit is due"):
        model.partial_fit(links=matrix)


def test_what_does_not_fit_is_refused() -> None:
    X, links = groups(12)
    model = GraphEmbedding(dim=2, ridge=0.1)
    with pytest.raises(ValueError, match="nothing is fitted"):
        model.partial_fit(X, links, withdrawn=[(0, 2)])
    model.fit(X, links)
    with pytest.raises(ValueError, match="something to change"):
        model.partial_fit()
    with pytest.raises(ValueError, match="12"):
        model.partial_fit(links=[(12, 0)])
    with pytest.raises(ValueError, match="withdrawn"):
        model.partial_fit(withdrawn=[(0, 1)])
    with pytest.raises(ValueError, match="3 "):
        model.partial_fit(np.ones((1, 3)))
    with pytest.raises(ValueError, match="one for each row"):
        model.partial_fit(X[:2], nodes=["a"])
    with pytest.raises(ValueError, match="without X"):
        model.partial_fit(links=[(0, 1)], nodes=["a"])
    assert len(model.nodes_) == 12
