"""What nodes are called: kept, shown beside ids, and near by several measures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from input_samples import make_frame, refused

from linkproof import GraphEmbedding

LINKS = [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("c", "d")]
TABLE = {
    "id": ["a", "b", "c", "d", "e"],
    "name": ["Ann", "Bob", None, "Dan", "Eve"],
    "born": [1815, 1791, 1800, 1810, 1820],
}


def fitted(table=None, **more):
    nodes = pd.DataFrame(TABLE) if table is None else table
    model = GraphEmbedding(dim=2, ridge=0.1, verbose=False)
    return model.fit(None, LINKS, nodes=nodes, **more)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_of_nodes_are_kept(library, tmp_path):
    model = fitted(make_frame(library, TABLE))
    assert list(model.nodes_) == TABLE["id"]
    assert list(model.names_) == ["Ann", "Bob", "", "Dan", "Eve"]
    assert list(model.node_table_) == ["node", "name", "born"]
    audit = model.audit()
    assert list(audit)[:6] == ["rank", "src", "dst", "src_name", "dst_name", "weight"]
    called = dict(zip(model.nodes_, model.names_))
    assert [called[node] for node in audit["dst"]] == list(audit["dst_name"])
    assert list(model.missing_links(2)) == ["src", "dst", "mu", "src_name", "dst_name"]
    near = model.neighbors("a", top=2)
    assert list(near) == ["node", "mu", "name"]
    assert [called[node] for node in near["node"]] == list(near["name"])
    model.save(tmp_path / "m")
    again = GraphEmbedding.load(tmp_path / "m")
    assert list(again.names_) == list(model.names_)
    assert (tmp_path / "m/nodes.csv").read_text().startswith("node,name,born\na,Ann,1815\n")
    model.report(tmp_path / "page.html", layout="pca")
    assert '"Ann"' in (tmp_path / "page.html").read_text()


def test_the_column_may_be_chosen_and_the_index_may_hold_ids():
    model = fitted(pd.DataFrame(TABLE).set_index("id"), name="born")
    assert list(model.nodes_) == TABLE["id"]
    assert list(model.names_) == ["1815", "1791", "1800", "1810", "1820"]
    assert fitted(TABLE["id"]).names_ is None


def test_views_have_tables_of_their_own():
    words = pd.DataFrame({"id": ["w0", "w1"], "name": ["tree", "sea"]})
    docs = pd.DataFrame({"id": ["d0", "d1", "d2"], "year": [1, 2, 3]})
    links = [("w0", "d0"), ("w1", "d1"), ("w1", "d2")]
    model = GraphEmbedding(dim=2, verbose=False)
    model.fit({"word": 2, "doc": 3}, links, nodes={"word": words, "doc": docs})
    assert list(model.names_) == ["tree", "sea", "", "", ""]
    assert model.node_table_["year"].tolist() == ["", "", "1", "2", "3"]
    # Words are compared by their embeddings alone.
    near = model.neighbors("w0", within="word")
    assert near.attrs["by"] == "cosine" and list(near) == ["node", "mu", "cosine", "name"]
    assert near["node"].tolist() == ["w1"] and near["mu"].isna().all()
    refused("within must be", model.neighbors, "w0", within="word", by="weight")


def test_updates_bring_names():
    model = fitted()
    new = pd.DataFrame({"id": ["a"], "name": ["?"]})
    refused("without X", model.partial_fit, links=[("f", "a")], nodes=new)
    with pytest.warns(UserWarning, match="full fit"):
        model.partial_fit(links=[("f", "a"), ("f", "b")])
    assert list(model.names_) == ["Ann", "Bob", "", "Dan", "Eve", ""]
    X = np.eye(6)
    table = pd.DataFrame({"id": [10, 11, 12, 13, 14, 15], "name": list("UVWXYZ")})
    model = GraphEmbedding(dim=2, verbose=False).fit(
        X, pd.DataFrame({"src": [10, 12], "dst": [11, 13]}), nodes=table
    )
    more = pd.DataFrame({"id": [16], "name": ["New"]})
    with pytest.warns(UserWarning, match="full fit"):
        model.partial_fit(X[:1] + 1, pd.DataFrame({"src": [16], "dst": [10]}), nodes=more)
    assert list(model.names_) == ["U", "V", "W", "X", "Y", "Z", "New"]


def test_wrong_tables_are_refused():
    for column in ("row", "View"):
        refused(f"column '{column}'", fitted, pd.DataFrame({**TABLE, column: range(5)}))
    twice = pd.DataFrame([["a", 1, 2]], columns=["id", "n", "n"])
    refused("two columns 'n'", fitted, twice)
    refused("name must be one of the table's columns", fitted, name="title")
    refused("name must be left out", fitted, TABLE["id"], name="title")
    refused("without columns", fitted, pd.DataFrame(index=pd.RangeIndex(5)))
    refused("unique ids", fitted, pd.DataFrame({"id": list("aabcd"), "name": list("vwxyz")}))


def test_neighbors_are_near_by_what_is_asked_for(planted):
    model = GraphEmbedding(dim=3, verbose=False).fit(planted.X, planted.matrix)
    for by, column in (("weight", "mu"), ("share", "share"), ("cosine", "cosine")):
        near = model.neighbors(4, by=by, top=7)
        assert near[column].is_monotonic_decreasing and near.attrs["by"] == by
    weight = model.neighbors(4, top=7)
    assert weight.attrs["by"] == "weight" and list(weight) == ["node", "mu"]
    share = model.neighbors(4, by="share", top=7)
    others = [node for node in range(90) if node != share["node"][0]]
    total = model.score_pairs([(share["node"][0], node) for node in others]).sum()
    assert share["share"][0] == pytest.approx(share["mu"][0] / total)
    y = model.embedding_.astype(float)
    cosine = (y @ y[4]) / np.linalg.norm(y, axis=1) / np.linalg.norm(y[4])
    cosine[4] = -2
    assert model.neighbors(4, by="cosine", top=1)["node"][0] == np.argmax(cosine)
    # Unseen nodes, several at once.
    near = model.neighbors(X=planted.X[:2], by="cosine", top=1)
    assert near["cosine"].tolist() == pytest.approx([1.0, 1.0]) and near["node"].tolist() == [0, 1]
    refused("by must be", model.neighbors, 4, by="distance")
    refused("by must be", model.neighbors, 4, by=3)
    refused("view must be None", model.neighbors, 4, view="v")
    refused("links must be None", model.neighbors, 4, links=planted.matrix)


def test_numbers_stay_numbers(tmp_path):
    links = pd.DataFrame({"src": [100, 205], "dst": [205, 7]})
    model = GraphEmbedding(dim=2, verbose=False).fit(None, links)
    model.save(tmp_path / "m")
    again = GraphEmbedding.load(tmp_path / "m")
    assert again.nodes_.tolist() == [100, 205, 7]
    assert again.neighbors(205)["node"].tolist() == model.neighbors(205)["node"].tolist()
    texts = GraphEmbedding(dim=2, verbose=False).fit(None, links.astype(str))
    texts.save(tmp_path / "t")
    assert GraphEmbedding.load(tmp_path / "t").nodes_.tolist() == ["100", "205", "7"]
