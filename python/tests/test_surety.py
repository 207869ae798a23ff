"""How sure a model is."""

import numpy as np
import pytest

from linkproof import GraphEmbedding

N = 60
GROUPS = np.arange(N) % 3


def graph():
    rng = np.random.default_rng(0)
    same = GROUPS[:, None] == GROUPS
    links = np.argwhere(np.triu(rng.random((N, N)) < np.where(same, 0.5, 0.03), 1))
    return np.eye(3)[GROUPS] + 0.2 * rng.normal(size=(N, 3)), links


@pytest.mark.parametrize(
    "settings", [{}, {"robust": True}, {"directed": True}, {"offsets": True, "ridge": 1.0}]
)
def test_a_model_says_how_sure_it_is(settings, tmp_path):
    X, links = graph()
    model = GraphEmbedding(dim=3, bootstrap=8, **settings).fit(X, links)
    table = model.score_pairs(links[:20], parts=True)
    known = table.dropna()
    assert len(known) > 0 and (known["log_mu_error"] > 0).all()
    assert ((known["mu_low"] <= known["mu"]) & (known["mu"] <= known["mu_high"])).all()
    near = model.neighbors(4, top=5)
    assert near["stability"].between(0, 1).all()
    shares = model.cluster_stability(GROUPS)
    assert shares.shape == (N,) and shares.mean() > 0.5
    assert "log_mu_error" in model.audit(X=X)
    model.save(tmp_path / "m")
    again = GraphEmbedding.load(tmp_path / "m")
    assert again.score_pairs(links[:20], parts=True).equals(table)
    plain = GraphEmbedding(dim=3, **settings).fit(X, links)
    assert np.array_equal(plain.embedding_, model.embedding_)


def test_bad_values_are_refused():
    X, links = graph()
    for wrong in (0, 4, -1, 2.5, "30", True):
        with pytest.raises(ValueError, match="bootstrap must be a whole number of 5 or more"):
            GraphEmbedding(dim=3, bootstrap=wrong).fit(X, links)
    plain = GraphEmbedding(dim=3).fit(X, links)
    with pytest.raises(ValueError, match="bootstrap=30"):
        plain.cluster_stability(GROUPS)
    assert "stability" not in plain.neighbors(0)
    model = GraphEmbedding(dim=3, bootstrap=5).fit(X, links)
    for wrong in (GROUPS[:5], GROUPS - 1, GROUPS + 0.5):
        with pytest.raises(ValueError, match="clusters must be 60 whole numbers"):
            model.cluster_stability(wrong)
