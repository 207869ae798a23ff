"""Links checked without an embedding."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import linkproof
from linkproof import Check, measures

COLUMNS = ["rank", "src", "dst", "weight", "belief", "suspect", "why"]
N = 240


class Spoilt:
    """Three groups, and false links between them."""

    def __init__(self) -> None:
        random = np.random.default_rng(5)
        self.groups = np.arange(N) % 3
        self.X = np.eye(3)[self.groups] @ random.normal(size=(3, 20))
        self.X += 0.6 * random.normal(size=self.X.shape)
        alike = self.groups[:, None] == self.groups
        chance = np.where(alike, 0.12, 0.008)
        edges = np.argwhere(np.triu(random.random((N, N)) < chance, 1))
        self.edges = random.permutation(edges)
        self.is_false = ~alike[self.edges[:, 0], self.edges[:, 1]]
        self.ids = np.array([f"n{row}" for row in range(N)])

    def frame(self) -> pd.DataFrame:
        ends = {"src": self.ids[self.edges[:, 0]], "dst": self.ids[self.edges[:, 1]]}
        return pd.DataFrame(ends)

    def answers(self, table: pd.DataFrame) -> pd.DataFrame:
        real = self.groups[table["src"]] == self.groups[table["dst"]]
        return table.assign(real=real.astype(int))


@pytest.fixture(scope="module")
def spoilt() -> Spoilt:
    return Spoilt()


@pytest.fixture(scope="module")
def report(spoilt: Spoilt) -> Check:
    return linkproof.check(spoilt.edges, spoilt.X)


def test_false_links_rank_first(spoilt: Spoilt, report: Check) -> None:
    table = report.links
    assert list(table.columns) == COLUMNS
    assert list(table["rank"]) == list(range(1, len(spoilt.edges) + 1))
    across = spoilt.groups[table["src"]] != spoilt.groups[table["dst"]]
    assert measures.auc(-table["rank"], across) > 0.9
    # Beliefs are in the order of the links.
    assert measures.auc(-report.belief, spoilt.is_false) > 0.9
    share = report.share
    assert share.low is not None and share.estimate is not None and share.high is not None
    assert share.low <= share.estimate <= share.high
    assert abs(share.estimate - spoilt.is_false.mean()) < 0.12
    assert not report.abstained and report.report["candidates"] < 1
    assert report.detection is not None
    assert list(report.detection["kind"]) == ["uniform", "by degree", "alike"]
    suspects = report.suspects
    assert suspects.equals(table.head(len(suspects)))
    assert (table["why"] != "").all()


def test_it_can_be_read(report: Check) -> None:
    text = str(report)
    assert text == repr(report) and text.splitlines()[0].split()[:3] == ["rank", "src", "dst"]
    for words in ("* flagged", "240 nodes, ", "Links", "Test", "Next", "report.sample(30)"):
        assert words in text, text
    page = report._repr_html_()
    assert "<table" in page and "look random and are probably false" in page


FORMS = ["frame", "networkx", "sparse", "dense", "list", "pair", "columns"]


@pytest.mark.parametrize("form", FORMS)
def test_cleaned_links_have_the_type_that_came_in(spoilt: Spoilt, report: Check, form: str) -> None:
    edges = spoilt.edges
    graph = nx.Graph()
    graph.add_nodes_from(range(N))
    graph.add_edges_from(map(tuple, edges.tolist()))
    matrix = sp.coo_array((np.ones(len(edges)), edges.T), shape=(N, N)).tocsc()
    matrix = matrix + matrix.T
    links: Any = {
        "frame": pd.DataFrame(edges, columns=["src", "dst"]).set_index(edges[:, 0] + 7),
        "networkx": graph,
        "sparse": matrix,
        "dense": matrix.toarray(),
        "list": [tuple(edge) for edge in edges.tolist()],
        "pair": (edges, np.ones(len(edges))),
        "columns": edges.T,
    }[form]
    other = linkproof.check(links, spoilt.X, test=False)
    clean = other.clean(drop=40)
    gone = {tuple(sorted(ends)) for ends in other.links[["src", "dst"]].head(40).to_numpy()}
    assert type(clean) is type(links)
    if form == "networkx":
        found = clean.edges
    elif form == "frame":
        found = clean.to_numpy()
        assert set(clean.index) <= set(links.index)
    elif form == "sparse":
        assert clean.format == links.format
        found = np.argwhere(sp.triu(clean).toarray() != 0)
    elif form == "dense":
        found = np.argwhere(np.triu(clean) != 0)
    elif form == "pair":
        assert len(clean[0]) == len(clean[1])
        found = clean[0]
    else:
        found = clean.T if form == "columns" else clean
    left = {tuple(sorted(map(int, edge))) for edge in found}
    assert len(left) == len(edges) - 40 and not left & gone
    # Every form is the same graph.
    assert np.array_equal(other.links["belief"], report.links["belief"])


def test_links_are_cleaned_in_three_ways(spoilt: Spoilt, report: Check) -> None:
    table = report.links
    assert len(report.clean()) == len(table) - table["suspect"].sum()
    assert len(report.clean(min_belief=0.9)) == (table["belief"] >= 0.9).sum()
    assert len(report.clean(rate=0.02)) > len(report.clean(rate=0.5))
    for wrong in ({"rate": 2.0}, {"min_belief": np.nan}, {"drop": -1}, {"drop": 1, "rate": 0.1}):
        with pytest.raises(ValueError, match="drop|rate|min_belief"):
            report.clean(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no link is left"):
        report.clean(drop=len(table))


def test_verified_links_make_it_sharper(spoilt: Spoilt, tmp_path: Path) -> None:
    report = linkproof.check(spoilt.edges, spoilt.X, test=False)
    sample = report.sample(30)
    assert list(sample.columns) == ["src", "dst", "real"] and len(sample) == 30
    assert sample.equals(report.sample(30)) and not sample.equals(report.sample(30, seed=1))
    before = report.share
    assert report.checked(sample) is report and report.share == before  # no answer yet
    answers = spoilt.answers(sample)
    report.checked(answers)
    assert report.share != before and report.report["share_high_unchecked"] == before.high
    assert "by 30 checks" in str(report)
    assert report.detection is None and "Left out" in str(report)
    verified = report.links.merge(answers, on=["src", "dst"])
    assert (verified["belief"] == verified["real"]).all()
    assert (verified["suspect"] == (verified["real"] == 0)).all()
    # The same from a file, from a list, and from the beginning.
    answers.to_csv(tmp_path / "sample.csv", index=False)
    triples = [tuple(row) for row in answers.to_numpy().tolist()]
    for checked in (tmp_path / "sample.csv", triples):
        other = linkproof.check(spoilt.edges, spoilt.X, test=False, checked=checked)
        assert other.links.equals(report.links)
    wrong: list[tuple[Any, str]] = [
        ([(0, 0, 1)], "which is no link"),
        ([(*triples[0][:2], 1), (*triples[0][1::-1], 0)], "both as real and as false"),
        ([(0, 999, 1)], "expected an id of a node"),
        ([(*triples[0][:2], "maybe")], "expected 1"),
        (pd.DataFrame({"src": [0]}), "no column 'dst'"),
        (5, "checked must be a table"),
    ]
    for table, words in wrong:
        with pytest.raises(ValueError, match=words):
            report.checked(table)


def test_evidence(spoilt: Spoilt) -> None:
    random = np.random.default_rng(0)
    score = np.where(spoilt.is_false, 0.0, 2.0) + random.normal(size=len(spoilt.edges))
    frame = spoilt.frame().assign(score=score)
    X = pd.DataFrame(spoilt.X, index=spoilt.ids)
    plain = linkproof.check(spoilt.frame(), X, test=False)
    by_name = linkproof.check(frame, X, evidence="score", test=False)
    lifted = measures.auc(-by_name.belief, spoilt.is_false)
    assert lifted > measures.auc(-plain.belief, spoilt.is_false)
    given: list[Any] = [{"score": score}, score, frame[["score"]]]
    for evidence in given:
        other = linkproof.check(spoilt.frame(), X, evidence=evidence, test=False)
        assert np.array_equal(other.belief, by_name.belief)
    graph = nx.Graph()
    graph.add_nodes_from(spoilt.ids)
    for src, dst, value in frame.itertuples(index=False):
        graph.add_edge(src, dst, score=value)
    other = linkproof.check(graph, spoilt.X, evidence=["score"], test=False)
    assert np.array_equal(other.links["belief"], by_name.links["belief"])
    wrong: list[tuple[Any, str]] = [
        ("scores", "no column 'scores'"),
        (score[1:], "expected .*, one for each link"),
        ({"a": ["x"] * len(score)}, "no numbers"),
        (object(), "evidence must be"),
    ]
    for evidence, words in wrong:
        with pytest.raises(ValueError, match=words):
            linkproof.check(frame[["src", "dst"]], X, evidence=evidence)
    matrix = sp.coo_array((score, spoilt.edges.T), shape=(N, N))
    with pytest.raises(ValueError, match="evidence: found links that are not listed"):
        linkproof.check(abs(matrix), evidence=score)


def test_weights_can_be_left_out(spoilt: Spoilt) -> None:
    heavy = np.column_stack([spoilt.edges, np.where(spoilt.is_false, 50.0, 1.0)])
    plain = linkproof.check(spoilt.edges, spoilt.X, test=False)
    ignored = linkproof.check(heavy, spoilt.X, weights="ignore", test=False)
    assert np.array_equal(ignored.belief, plain.belief)
    assert not np.array_equal(linkproof.check(heavy, spoilt.X, test=False).belief, plain.belief)
    with pytest.raises(ValueError, match="weights must be 'auto' or 'ignore'"):
        linkproof.check(heavy, weights="none")


def test_names_directions_and_one_partner(spoilt: Spoilt) -> None:
    titles = [f"title {row}" for row in range(N)]
    named = linkproof.check(spoilt.edges, spoilt.X, names=titles, test=False)
    assert list(named.links)[1:5] == ["src", "dst", "src_name", "dst_name"]
    first = named.links.iloc[0]
    assert first["src_name"] == f"title {first['src']}"
    assert list(named.sample(3))[:4] == ["src", "dst", "src_name", "dst_name"]
    some = linkproof.check(spoilt.edges, spoilt.X, names={0: "zero"}, test=False)
    assert set(some.links["src_name"]) == {"zero", ""}
    with pytest.raises(ValueError, match="names: found 3; expected 240"):
        linkproof.check(spoilt.edges, spoilt.X, names=["a", "b", "c"])
    with pytest.raises(ValueError, match="directed=True"):
        linkproof.check(nx.DiGraph([(0, 1)]))
    both = np.vstack([spoilt.edges, spoilt.edges[:50, ::-1]])
    directed = linkproof.check(both, spoilt.X, directed=True, test=False)
    assert len(directed.clean(drop=10)) == len(both) - 10
    assert measures.auc(-directed.belief[: len(spoilt.edges)], spoilt.is_false) > 0.85
    directed.checked(spoilt.answers(directed.sample(20)))
    assert directed.links["src"].max() < N
    pairs = linkproof.check(spoilt.edges, spoilt.X, one_to_one=True, test=False)
    assert pairs.report["one_to_one"] and "at most one real partner" in str(pairs)


def test_missing_links(spoilt: Spoilt, report: Check, tmp_path: Path) -> None:
    table = report.missing(30)
    assert list(table) == ["src", "dst", "agreement"] and len(table) == 30
    assert (spoilt.groups[table["src"]] == spoilt.groups[table["dst"]]).mean() > 0.9
    linked = {tuple(edge) for edge in spoilt.edges.tolist()}
    assert not linked & set(zip(table["src"], table["dst"]))
    report.save(tmp_path / "chk")
    with pytest.raises(ValueError, match="missing: found a check that was loaded"):
        linkproof.load_check(tmp_path / "chk").missing()


def test_tiny_graphs_end() -> None:
    for n in (2, 3, 6):
        report = linkproof.check([(0, 1)], np.random.default_rng(0).normal(size=(n, 3)))
        assert report.abstained and len(report.links) == 1


def test_noise_is_not_judged() -> None:
    random = np.random.default_rng(1)
    links = np.argwhere(np.triu(random.random((N, N)) < 0.05, 1))
    report = linkproof.check(links, random.normal(size=(N, 12)))
    assert report.abstained and report.share == (None, None, None)
    assert np.isnan(report.belief).all() and not report.links["suspect"].any()
    assert "look random to everything that is known" in str(report)
    with pytest.raises(ValueError, match="give drop=N"):
        report.clean()
    assert len(report.clean(drop=5)) == len(links) - 5


def test_saved_and_loaded(spoilt: Spoilt, tmp_path: Path) -> None:
    X = pd.DataFrame(spoilt.X, index=spoilt.ids)
    report = linkproof.check(spoilt.frame(), X, names=dict(zip(spoilt.ids, spoilt.ids)))
    report.save(tmp_path / "chk")
    names = {path.name for path in (tmp_path / "chk").iterdir()}
    assert {"suspects.csv", "beliefs.csv", "check.json"} <= names
    loaded = linkproof.load_check(tmp_path / "chk")
    assert loaded.links.equals(report.links) and str(loaded) == str(report)
    written = pd.read_csv(tmp_path / "chk" / "beliefs.csv", float_precision="round_trip")
    assert np.array_equal(loaded.belief, written["belief"])
    assert list(loaded.clean(drop=5)) == ["src", "dst", "weight"]
    # Verified links stay in the folder.
    answers = loaded.sample(10).assign(real=1)
    loaded.checked(answers).save(tmp_path / "chk", overwrite=True)
    assert len(pd.read_csv(tmp_path / "chk" / "checked.csv")) == 10
    again = linkproof.load_check(tmp_path / "chk")
    assert again.links.equals(loaded.links)
    again.checked([(*answers.iloc[0][["src", "dst"]], 0)]).save(tmp_path / "chk", overwrite=True)
    assert sorted(pd.read_csv(tmp_path / "chk" / "checked.csv")["real"]) == [0] + 9 * [1]
    with pytest.raises(FileExistsError):
        report.save(tmp_path / "chk")
    with pytest.raises(OSError, match="nowhere"):
        linkproof.load_check(tmp_path / "nowhere")


def test_the_command_line_finds_the_same(
    spoilt: Spoilt, report: Check, command: Any, tmp_path: Path
) -> None:
    table = pd.DataFrame(spoilt.edges, columns=["src", "dst"])
    table.to_csv(tmp_path / "links.csv", index=False)
    np.save(tmp_path / "x.npy", spoilt.X)
    command("check", "--links", tmp_path / "links.csv", "--features", tmp_path / "x.npy",
            "--out", tmp_path / "chk")  # fmt: skip
    theirs = linkproof.load_check(tmp_path / "chk")
    assert theirs.links.equals(report.links)
    assert theirs.share == report.share and theirs.report["detection"] == report.report["detection"]


def test_a_pickled_check_is_the_same(planted: Any) -> None:
    for links in (planted.listed, planted.matrix, nx.from_edgelist(planted.edges.tolist())):
        report = linkproof.check(links, planted.X, verbose=False)
        again = pickle.loads(pickle.dumps(report))
        assert again.links.equals(report.links) and again.share == report.share
        assert np.array_equal(again.belief, report.belief)
        assert type(again.clean(drop=3)) is type(links)
        verified = [(*report.links.iloc[0][["src", "dst"]], 1)]
        assert again.checked(verified).links["belief"].max() == 1
        with pytest.raises(ValueError, match="expected one just made"):
            again.missing(2)
