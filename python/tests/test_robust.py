"""Robust fits: beliefs, verdicts, recommended embeddings, and audits by the judge."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import linkproof
from linkproof import GraphEmbedding, Inputs, Sgd, Verdict, measures

N = 240


class Noisy:
    """Three groups whose links are false one time in four."""

    def __init__(self) -> None:
        random = np.random.default_rng(5)
        self.groups = np.arange(N) % 3
        self.X = np.eye(3)[self.groups] @ random.normal(size=(3, 20))
        self.X += 0.6 * random.normal(size=self.X.shape)
        alike = self.groups[:, None] == self.groups
        chance = np.where(alike, 0.09, 0.015)
        self.edges = np.argwhere(np.triu(random.random((N, N)) < chance, 1))
        self.is_false = ~alike[self.edges[:, 0], self.edges[:, 1]]
        self.weights = 1.0 + random.poisson(2.0, len(self.edges))
        self.listed = np.column_stack([self.edges, self.weights])


def make(**settings: Any) -> GraphEmbedding:
    return GraphEmbedding(**{"dim": 8, "robust": True, "verbose": False, **settings})


@pytest.fixture(scope="module")
def noisy() -> Noisy:
    return Noisy()


@pytest.fixture(scope="module")
def fitted(noisy: Noisy) -> GraphEmbedding:
    return make().fit(noisy.X, noisy.listed)


@pytest.fixture(scope="module")
def plain(noisy: Noisy) -> GraphEmbedding:
    return make(robust=False).fit(noisy.X, noisy.listed)


def test_false_links_are_believed_less(noisy: Noisy, fitted: GraphEmbedding) -> None:
    belief = fitted.belief_
    assert belief.shape == (len(noisy.edges),) and ((belief >= 0) & (belief <= 1)).all()
    # The edges are in the order of the rows, which is that of beliefs.
    assert measures.auc(-belief, noisy.is_false) > 0.85
    truth = noisy.is_false.mean()
    share = fitted.verdict_.share_false
    assert share is not None and abs(share - truth) < 0.12, (fitted.verdict_, truth)
    assert measures.evaluate(fitted.embedding_, noisy.groups)["nmi"] > 0.9


def test_the_verdict_says_what_was_found(fitted: GraphEmbedding) -> None:
    verdict = fitted.verdict_
    assert isinstance(verdict, Verdict) and not verdict.abstained
    assert verdict.auc == verdict.auc_decoys > 0.7 and verdict.ridge > 0
    assert verdict.gate is not None
    assert [it["kind"] for it in verdict.detection] == ["uniform", "by degree", "alike"]
    for check in verdict.implanted:
        assert {"claimed", "realised", "found"} <= set(check)
    assert verdict.to_dict()["share_false"] == verdict.share_false
    share = verdict.share_false
    assert share is not None and verdict.share_low is not None and verdict.share_high is not None
    assert verdict.share_low <= share <= verdict.share_high
    said = fitted.report_["verdict"]
    assert [one["says"] for one in said] == list(verdict.says)
    assert set(said[0]) == {"about", "says"}
    assert str(verdict) == " ".join(verdict.says) and "look random" in str(verdict)
    assert 1 <= verdict.effective_rank <= 8
    assert fitted.report_["effective_rank"] == verdict.effective_rank
    assert fitted.report_["robust"]["averaged"] == verdict.averaged


def test_beliefs_come_with_ids(noisy: Noisy, fitted: GraphEmbedding) -> None:
    table = fitted.beliefs()
    assert list(table.columns) == ["src", "dst", "weight", "belief"]
    assert (table[["src", "dst"]].to_numpy() == noisy.edges).all()
    assert (table["weight"] == noisy.weights).all()
    names = [f"n{row}" for row in range(N)]
    links = pd.DataFrame(
        {"src": [names[i] for i in noisy.edges[:, 0]], "dst": [names[j] for j in noisy.edges[:, 1]],
         "weight": noisy.weights}
    )  # fmt: skip
    shuffled = links.sample(frac=1, random_state=3)
    named = make().fit(pd.DataFrame(noisy.X, index=names), shuffled)
    assert np.array_equal(named.belief_, fitted.belief_)
    assert list(named.beliefs()["src"]) == list(links["src"])
    # In the order of any pairs, either end first.
    turned = shuffled[["dst", "src"]]
    expected = fitted.belief_[shuffled.index]
    assert np.array_equal(named.beliefs(turned), expected)
    absent = next((0, j) for j in range(1, N) if not ((noisy.edges == (0, j)).all(1)).any())
    assert np.isnan(fitted.beliefs([absent])).all()
    with pytest.raises(ValueError, match="pairs.*'n999'"):
        named.beliefs([("n0", "n999")])


def test_the_unit_of_the_weights_does_not_matter(noisy: Noisy, fitted: GraphEmbedding) -> None:
    for unit in (1000.0, 0.001):
        listed = noisy.listed * [1, 1, unit]
        other = make().fit(noisy.X, listed)
        assert np.array_equal(other.belief_, fitted.belief_)
        assert np.array_equal(other.embedding_, fitted.embedding_)
        assert other.verdict_ == fitted.verdict_
        pairs = noisy.edges[:5]
        mu, other_mu = fitted.score_pairs(pairs), other.score_pairs(pairs)
        assert np.allclose(other_mu, unit * mu, rtol=1e-6)


def test_threads_and_forms_of_data_change_nothing(noisy: Noisy, fitted: GraphEmbedding) -> None:
    graph = nx.Graph()
    graph.add_nodes_from(range(N))
    graph.add_weighted_edges_from((int(i), int(j), w) for i, j, w in noisy.listed)
    for X, links, n_jobs in [
        (noisy.X, noisy.listed, 1),
        (noisy.X, graph, 3),
    ]:
        other = make(n_jobs=n_jobs).fit(X, links)
        assert np.array_equal(other.belief_, fitted.belief_)
        assert np.array_equal(other.embedding_, fitted.embedding_)
        assert np.array_equal(other.plain_embedding_, fitted.plain_embedding_)


def test_sparse_data_vectors(noisy: Noisy) -> None:
    random = np.random.default_rng(0)
    own = noisy.groups[:, None] == np.arange(60) % 3
    words = sp.csr_array((random.random((N, 60)) < np.where(own, 0.3, 0.05)).astype(np.float32))
    model = make().fit(words, noisy.listed)
    assert measures.auc(-model.belief_, noisy.is_false) > 0.85
    assert model.transform(words[:3]).shape == (3, 8)


def test_links_alone(noisy: Noisy) -> None:
    model = make().fit(None, noisy.listed)
    assert measures.auc(-model.belief_, noisy.is_false) > 0.6
    assert model.verdict_.gate is None and not model.verdict_.averaged


def test_several_views(noisy: Noisy) -> None:
    order = np.argsort(np.arange(N) % 2, kind="stable")
    place = np.argsort(order)
    edges = place[noisy.edges]
    matrix = sp.coo_array((noisy.weights, edges.T), shape=(N, N)).tocsr()
    matrix = sp.csr_array(matrix + matrix.T)
    half = N // 2
    X = {"a": noisy.X[order][:half], "b": noisy.X[order][half:, :15]}
    model = make().fit(X, matrix)
    table = model.beliefs()
    group_of = dict(zip(model.nodes_, noisy.groups[order]))
    across = table["src"].map(group_of) != table["dst"].map(group_of)
    assert measures.auc(-table["belief"], across) > 0.8
    unseen = model.transform(X["b"][:4], view="b")
    assert unseen.shape == (4, 8) and np.isfinite(unseen).all()


def test_noise_is_not_judged(noisy: Noisy) -> None:
    random = np.random.default_rng(1)
    links = np.argwhere(np.triu(random.random((N, N)) < 0.05, 1))
    model = make().fit(random.normal(size=(N, 12)), links)
    verdict = model.verdict_
    assert verdict.abstained and verdict.share_false is None and verdict.detection == ()
    assert len(set(model.belief_)) == 1
    assert "look random" in str(verdict)
    table = model.audit()
    assert table.attrs["abstained"] and not table["suspect"].any()


def test_unseen_nodes_are_in_the_space_of_the_embedding(
    noisy: Noisy, fitted: GraphEmbedding
) -> None:
    assert fitted.verdict_.averaged
    assert not np.allclose(fitted.embedding_, fitted.plain_embedding_)
    again = fitted.transform(noisy.X)

    def mean_cosine(y: Any) -> float:
        lengths = np.linalg.norm(y, axis=1) * np.linalg.norm(fitted.embedding_, axis=1)
        return float(((y * fitted.embedding_).sum(1) / lengths).mean())

    assert mean_cosine(again) > 0.95
    rows = fitted.embedding_[noisy.groups == 0][:20]
    links = sp.lil_array((1, N))
    links[0, np.flatnonzero(noisy.groups == 0)[:20]] = 1.0
    new = noisy.X[noisy.groups == 0].mean(0, keepdims=True)
    alone, linked = fitted.transform(new), fitted.transform(new, sp.csr_array(links))
    assert alone.shape == linked.shape == (1, 8) and not np.allclose(alone, linked)
    centre = rows.mean(0)
    assert (linked[0] @ centre) > 0.9 * np.linalg.norm(linked[0]) * np.linalg.norm(centre)


def test_expected_weights_are_of_the_plain_embedding(noisy: Noisy, fitted: GraphEmbedding) -> None:
    y = fitted.plain_embedding_.astype(float)
    mu = fitted.score_pairs(noisy.edges[:4])
    assert isinstance(fitted.gamma_, float)
    products = [y[i] @ y[j] for i, j in noisy.edges[:4]]
    intensity = fitted.report_["k"] * np.exp(np.array(products) - fitted.gamma_)
    parts = fitted.score_pairs(noisy.edges[:4], parts=True)
    assert np.allclose(parts["p_link"], -np.expm1(-intensity), rtol=1e-4)
    assert np.allclose(parts["p_link"] * parts["size"], mu) and np.allclose(parts["mu"], mu)
    assert fitted.report_["sizes"]["unit"] > 0
    with pytest.raises(ValueError, match="parts"):
        fitted.score_pairs(noisy.edges[:4], parts="yes")  # type: ignore[call-overload]
    near = fitted.neighbors(0, top=3)
    assert np.allclose(near["mu"], fitted.score_pairs([(0, node) for node in near["node"]]))
    unseen = fitted.score_pairs([(0, 1)], X=noisy.X[:2])
    assert np.allclose(unseen, fitted.score_pairs([(0, 1)]), rtol=1e-3)


def test_audits_of_robust_fits_are_the_fits(noisy: Noisy, fitted: GraphEmbedding) -> None:
    table = fitted.audit()
    assert np.array_equal(fitted.beliefs(table[["src", "dst"]]), table["belief"])
    assert (table["suspect"] == (table["belief"] < 0.5)).all()
    for name in ("share_false", "share_low", "share_high", "auc", "abstained"):
        assert table.attrs[name] == getattr(fitted.verdict_, name)
    assert table.attrs["detection"] == list(fitted.verdict_.detection)
    assert not table.attrs["judged_by_links_alone"]
    # One judge: the same as a check of the same links.
    report = linkproof.check(noisy.listed, noisy.X)
    assert report.links.equals(table[report.links.columns])
    # The model keeps its features for other links.
    assert not fitted.audit(noisy.listed[:-5]).attrs["judged_by_links_alone"]


def test_verified_links_and_evidence_improve_the_fit(noisy: Noisy) -> None:
    random = np.random.default_rng(3)
    score = np.where(noisy.is_false, 0.0, 2.0) + random.normal(size=len(noisy.edges))
    listed = pd.DataFrame(noisy.listed, columns=["src", "dst", "weight"])
    listed = listed.astype({"src": int, "dst": int}).assign(score=score)
    checked = [(i, j, int(not bad)) for (i, j), bad in zip(noisy.edges[:30], noisy.is_false)]
    model = make().fit(noisy.X, listed, evidence="score", checked=checked)
    assert (model.beliefs([pair[:2] for pair in checked]) == [it[2] for it in checked]).all()
    plain = make().fit(noisy.X, noisy.listed)
    auc = measures.auc(-model.belief_, noisy.is_false)
    assert auc > measures.auc(-plain.belief_, noisy.is_false)
    with pytest.raises(ValueError, match="expected robust=True"):
        make(robust=False).fit(noisy.X, noisy.listed, checked=checked)


def test_plain_fits_have_no_beliefs(plain: GraphEmbedding) -> None:
    assert not hasattr(plain, "belief_")
    verdict = plain.verdict_
    assert not verdict.averaged and verdict.gate is None
    assert "look random and are probably false" in str(verdict)
    assert verdict.share_false is not None and 0 < verdict.share_false < 0.6
    assert [one["says"] for one in plain.report_["verdict"]] == list(verdict.says)
    with pytest.raises(AttributeError, match=r"robust=True"):
        plain.beliefs()
    assert np.array_equal(plain.plain_embedding_, plain.embedding_)
    with pytest.raises(NotFittedError):
        _ = make().belief_


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"score": "probability"}, "score must be left at 'moment' for a robust fit, but is 'prob"),
        ({"beta": 0.5}, "beta"),
        ({"weights": "binary"}, "weights"),
        ({"inputs": Inputs(propagate=1)}, "propagate"),
        ({"inputs": Inputs(walks=2)}, "walks"),
        ({"inputs": Inputs(walks_weighted=True)}, "walks_weighted"),
        ({"validation": 0.1}, "validation"),
        ({"sgd": Sgd(lambda_=1.0)}, "lambda_"),
        ({"inputs": Inputs(view_pairs=[("a", "b")])}, "view_pairs"),
        ({"robust": "yes"}, "robust must be True or False"),
    ],
)
def test_settings_that_do_not_go_together(noisy: Noisy, setting: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make(**setting).fit(noisy.X, noisy.listed)


def test_callbacks_are_of_plain_fits(noisy: Noisy) -> None:
    with pytest.raises(ValueError, match="callback must be None for a robust fit"):
        make().fit(noisy.X, noisy.listed, callback=print)


@pytest.mark.parametrize("ridge", [1.5, 2.0])
def test_a_ridge_that_is_given_is_kept(noisy: Noisy, tmp_path: Path, ridge: float) -> None:
    model = make(ridge=ridge).fit(noisy.X, noisy.listed)
    assert model.verdict_.ridge == ridge
    model.save(tmp_path / "m")
    assert GraphEmbedding.load(tmp_path / "m").ridge == ridge


def test_searches_are_of_plain_fits(noisy: Noisy) -> None:
    with pytest.raises(ValueError, match="robust must be False in a search"):
        linkproof.select(noisy.X, noisy.listed, robust=True, verbose=False)


def same(one: GraphEmbedding, other: GraphEmbedding) -> None:
    assert np.array_equal(one.belief_, other.belief_)
    assert np.array_equal(one.embedding_, other.embedding_)
    assert np.array_equal(one.plain_embedding_, other.plain_embedding_)
    assert one.verdict_ == other.verdict_
    # Names are text in a folder.
    ours, theirs = one.beliefs(), other.beliefs()
    assert list(ours["src"].astype(str)) == list(theirs["src"].astype(str))


def test_saved_and_loaded(noisy: Noisy, fitted: GraphEmbedding, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert {"embeddings.npy", "embeddings-plain.npy", "beliefs.csv", "fit.json"} <= names
    assert np.array_equal(np.load(tmp_path / "model" / "embeddings.npy"), fitted.embedding_)
    written = pd.read_csv(tmp_path / "model" / "beliefs.csv", float_precision="round_trip")
    assert list(written.columns) == ["src", "dst", "weight", "belief"]
    assert np.array_equal(written["belief"], fitted.belief_)
    loaded = GraphEmbedding.load(tmp_path / "model")
    same(fitted, loaded)
    assert np.array_equal(loaded.transform(noisy.X[:5]), fitted.transform(noisy.X[:5]))
    assert np.array_equal(loaded.score_pairs([(0, 1)]), fitted.score_pairs([(0, 1)]))
    # It can be fitted again, and saved again.
    assert loaded.robust and clone(loaded).set_params(verbose=False).fit(noisy.X, noisy.listed)
    loaded.save(tmp_path / "model", overwrite=True)
    same(fitted, GraphEmbedding.load(tmp_path / "model"))
    # Beliefs are kept, and what spoke for them.
    expected, kept = fitted.audit(), loaded.audit()
    assert kept.equals(expected) and kept.attrs == expected.attrs
    # Links of unseen nodes are judged as by the fresh model.
    links = sp.csr_array(([1.0, 1.0], ([0, 0], [3, 6])), shape=(1, N))
    for copy in (loaded, pickle.loads(pickle.dumps(fitted))):
        found = copy.transform(noisy.X[:1], links)
        assert np.array_equal(found, fitted.transform(noisy.X[:1], links))


def test_pickles(fitted: GraphEmbedding, plain: GraphEmbedding) -> None:
    same(fitted, pickle.loads(pickle.dumps(fitted)))
    assert not hasattr(pickle.loads(pickle.dumps(plain)), "belief_")


def test_hostile_ids_are_saved(noisy: Noisy, tmp_path: Path) -> None:
    names = [f'a,"{row}"\nb' for row in range(N)]
    model = make().fit(noisy.X, noisy.listed[:, :2].astype(int), nodes=None)
    named = make().fit(
        pd.DataFrame(noisy.X, index=names),
        pd.DataFrame(
            {"src": [names[i] for i in noisy.edges[:, 0]],
             "dst": [names[j] for j in noisy.edges[:, 1]]}
        ),
    )  # fmt: skip
    assert np.array_equal(model.belief_, named.belief_)
    named.save(tmp_path / "model")
    same(named, GraphEmbedding.load(tmp_path / "model"))


def test_the_command_line_gives_the_same(
    noisy: Noisy, fitted: GraphEmbedding, command: Any, tmp_path: Path
) -> None:
    links, features = tmp_path / "links.csv", tmp_path / "x.npy"
    pd.DataFrame(noisy.listed, columns=["src", "dst", "weight"]).astype(
        {"src": int, "dst": int}
    ).to_csv(links, index=False)
    np.save(features, noisy.X)
    out = tmp_path / "model"
    command("fit", "--links", links, "--features", features, "--robust", "--dim", 8, "--out", out)
    same(fitted, GraphEmbedding.load(out))


def test_unseen_nodes_with_links_are_the_same_by_the_command_line(
    noisy: Noisy, fitted: GraphEmbedding, command: Any, tmp_path: Path
) -> None:
    fitted.save(tmp_path / "m")
    new = pd.DataFrame(noisy.X[:4], index=pd.Index(list("uvwx"), name="node"))
    new.to_csv(tmp_path / "new.csv")
    # u to its own group, v to another one, w to one of each, and x has none.
    group = np.flatnonzero(noisy.groups == noisy.groups[0])
    other = np.flatnonzero(noisy.groups == (noisy.groups[1] + 1) % 3)
    own = np.flatnonzero(noisy.groups == noisy.groups[2])
    ends = [(0, row) for row in group[1:6]] + [(1, row) for row in other[:3]]
    ends += [(2, own[5]), (2, np.flatnonzero(noisy.groups != noisy.groups[2])[0])]
    rows, columns = np.array(ends).T
    links = sp.csr_array((np.ones(len(ends)), (rows, columns)), shape=(4, N))
    table = pd.DataFrame({"src": [new.index[row] for row in rows], "dst": columns})
    table.to_csv(tmp_path / "ties.csv", index=False)
    embed = ("embed", "--model", tmp_path / "m", "--features", tmp_path / "new.csv")
    command(*embed, "--links", tmp_path / "ties.csv", "--out", tmp_path / "y.npy")
    ours = fitted.transform(new, links)
    assert np.array_equal(np.load(tmp_path / "y.npy"), ours)
    alone = fitted.transform(new)
    assert np.array_equal(ours[3], alone[3]) and not np.allclose(ours[0], alone[0])
    command(*embed, "--out", tmp_path / "y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), alone)


def test_conventions(noisy: Noisy, fitted: GraphEmbedding) -> None:
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params() and not hasattr(copy, "belief_")
    found = make().set_output(transform="pandas").fit_transform(noisy.X, noisy.listed)
    assert np.array_equal(found.to_numpy(), fitted.embedding_)
    assert not fitted.embedding_.flags.writeable
    assert "Verdict" in linkproof.__all__


def test_a_look_before_the_fit(noisy: Noisy) -> None:
    found = linkproof.inspect(noisy.X, noisy.listed, dim=8)
    assert found.agreement is not None and found.agreement["relation"] == "agree"
    assert not found.agreement["vectors_alone"] and "Features and links agree" in str(found)
    assert found.judged is not None and found.judged["auc"] > 0.6
    assert all(says in str(found) for says in found.report["says"])
    assert found.report["links"] == len(noisy.edges)
    random = np.random.default_rng(1)
    anything = np.argwhere(np.triu(random.random((N, N)) < 0.04, 1))
    found = linkproof.inspect(noisy.X, anything)
    assert found.agreement is not None and found.agreement["vectors_alone"]
    assert "k-means on the features alone is the better choice" in str(found)
    assert linkproof.inspect(None, anything).agreement is None
    reasons = linkproof.inspect(None, anything).advice["reasons"]
    assert "weights=" in reasons[0] and "--" not in reasons[0]
