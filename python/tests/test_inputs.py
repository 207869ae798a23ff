"""Data vectors and links joined: ids, row numbers, views, and what is refused."""

from __future__ import annotations

import types

import numpy as np
import pytest
import scipy.sparse as sp
from input_samples import (
    EDGES,
    RING,
    X5,
    dense,
    frames,
    hetero_stand_in,
    make_frame,
    network,
    rare_frames,
    refusals,
    refused,
    stand_in,
    triples,
)

from linkproof._inputs import read_graph


class TestJoining:
    def test_matrix_and_array(self):
        graph = read_graph(X5, RING)
        assert (graph.n, graph.ids) == (5, None) and graph.views[0].X is X5
        assert np.shares_memory(graph.links.data, RING.data)
        assert read_graph(None, RING).views[0].X is None
        refused("found a 5 x 5 matrix; expected 4 x 4, a row", read_graph, X5[:4], RING)
        assert read_graph(None, RING, nodes=np.array(list("abcde"))).ids == list("abcde")
        refused("None for both", read_graph, None, None)
        refused("links: found None", read_graph, X5, None)
        refused("expected X to be a dict", read_graph, X5, {("a", "b"): RING})

    def test_row_numbers(self):
        assert read_graph(None, EDGES).n == 5
        assert read_graph(None, EDGES, nodes=list("abcdef")).n == 6
        assert read_graph(X5, []).n == 5
        refused("names row 4 in link 3; expected row numbers below 4", read_graph, X5[:4], EDGES)
        refused("names row 4", read_graph, None, EDGES, nodes=list("abcd"))
        refused("no nodes", read_graph, None, [])

    @frames
    def test_tables(self, library):
        table = make_frame(library, {"a": ["x", "z"], "b": ["y", "x"]})
        graph = read_graph(None, table)
        assert graph.ids == ["x", "y", "z"] and triples(graph.links) == [(0, 1, 1), (2, 0, 1)]
        graph = read_graph(X5[:3], table, nodes=["z", "y", "x"])
        assert triples(graph.links) == [(2, 1, 1), (0, 2, 1)] and not graph.links.by_id
        refused(r"names node '.' *, but the rows of X have no ids.*nodes=\[", read_graph, X5, table)
        refused("names node 'z', which is not among", read_graph, None, table, nodes=["x", "y"])
        numbers = make_frame(library, {"a": [0, 4], "b": [1, 0]})
        graph = read_graph(X5, numbers)
        assert graph.ids is None and triples(graph.links) == [(0, 1, 1), (4, 0, 1)]
        refused("names row 4", read_graph, X5[:4], numbers)
        # What is the same as text is the same id, as in a model that was saved.
        graph = read_graph(None, numbers, nodes=["0", "1", "4"])
        assert triples(graph.links) == [(0, 1, 1), (2, 0, 1)]

    @rare_frames
    def test_rarer_tables(self, library):
        X = make_frame(library, {"p": [1.0, 2.0], "q": [3.0, 4.0]})
        links = make_frame(library, {"i": [0], "j": [1]})
        graph = read_graph(X, links)
        assert graph.views[0].X.tolist() == [[1, 3], [2, 4]] and triples(graph.links) == [(0, 1, 1)]
        assert graph.views[0].column_names == ["p", "q"]
        view = read_graph({"v": X, "u": 1}, np.array([[0, 2]])).views[0]
        assert view.X.tolist() == [[1, 3], [2, 4]] and view.column_names == ["p", "q"]
        refused("column 'p' of type", read_graph, make_frame(library, {"p": ["x", "y"]}), links)

    def test_matrices_that_are_dicts(self):
        """SciPy's dictionaries of keys are no dicts of views."""
        X, links = sp.dok_array(X5), sp.dok_array(RING)
        assert isinstance(links, dict)
        graph = read_graph(X, links)
        assert (graph.views[0].X.toarray() == X5).all() and len(graph.views) == 1
        assert (dense(graph.links) == RING.toarray()).all()
        block = read_graph({"u": X, "v": 5}, {("u", "v"): links}).links
        assert sorted(triples(block)) == [(a, b + 5, 1.0) for a, b in sorted(EDGES.tolist())]
        assert (dense(read_graph(None, links).links) == RING.toarray()).all()

    def test_numbers_are_rows_and_tables_have_ids(self):
        pd = pytest.importorskip("pandas")
        X = pd.DataFrame(X5, index=[2, 0, 1, 4, 3])
        for links in (np.array([[0, 1]]), [(0, 1)], np.array([[0, 1, 1.0]])):
            refused("not clear which are meant", read_graph, X, links)
            named = X.set_axis(list("abcde"))
            assert triples(read_graph(named, links).links) == [(0, 1, 1)]
        assert triples(read_graph(X, pd.DataFrame([[0, 1]])).links) == [(1, 2, 1)]

    def test_frame_with_ids(self):
        pd = pytest.importorskip("pandas")
        X = pd.DataFrame(X5, index=list("abcde"), columns=["p", "q"])
        graph = read_graph(X, [("e", "a"), ("b", "c")])
        assert triples(graph.links) == [(4, 0, 1), (1, 2, 1)] and graph.ids == list("abcde")
        assert graph.views[0].column_names == ["p", "q"]
        refused(r"node 'x', which has no data vector \(row of X\)", read_graph, X, [("x", "a")])
        graph = read_graph(X, network())
        assert sorted(triples(graph.links)) == [(0, 1, 2.5), (2, 1, 1.0), (2, 2, 0.5)]
        assert graph.n == 5 and graph.links.ids == list("abcde")
        assert read_graph(X, RING, nodes=list("abcde")).ids == list("abcde")
        refused("found 'x' for row 4.*calls 'e'", read_graph, X, RING, nodes=list("abcdx"))
        refused("X: found id 'a' twice", read_graph, X.set_axis(list("abcda")), RING)

    def test_networkx(self):
        graph = read_graph(network(), None)
        assert graph.ids == ["c", "a", "b"] and graph.n == 3 and graph.views[0].X is None
        assert read_graph(X5[:3], network()).ids == ["c", "a", "b"]
        refused("graph of 3 nodes for 5 rows of X", read_graph, X5, network())
        ordered = read_graph(X5, network(), nodes=list("abcde"))
        assert sorted(triples(ordered.links)) == [(0, 1, 2.5), (2, 1, 1.0), (2, 2, 0.5)]
        refused("names node 'c', which is not among", read_graph, None, network(), nodes=["a", "b"])
        refused("X: found a graph", read_graph, network(), RING)

    @pytest.mark.parametrize("kind", [int, np.int64])
    def test_networkx_with_rows_for_nodes(self, kind):
        nx = pytest.importorskip("networkx")
        graph = nx.Graph([(kind(4), kind(2)), (kind(0), kind(4)), (kind(3), kind(1))])
        assert list(graph.nodes) == [4, 2, 0, 3, 1]
        for X in (X5, None):
            found = read_graph(X, graph)
            ends = [sorted(link[:2]) for link in triples(found.links)]
            assert sorted(ends) == [[0, 4], [1, 3], [2, 4]]
            assert found.ids == [0, 1, 2, 3, 4]
        given = read_graph(X5, graph, nodes=[4, 3, 2, 1, 0])
        assert triples(given.links)[0] == (0, 2, 1)
        # Other numbers are names like any other.
        shifted = nx.relabel_nodes(graph, {0: 7})
        assert read_graph(X5, shifted).ids == list(shifted.nodes)
        assert read_graph(X5[:2], nx.Graph([(True, False)])).ids == [True, False]

    @refusals(
        (list("abcd"), "nodes: found 4 ids; expected 5, one for each row of X"),
        (list("abcda"), "nodes: found id 'a' twice"),
        ([1, "1", 2, 3, 4], "found ids 1 and '1', which are the same as text"),
        ([1, None, 2, 3, 4], "found None as id of row 1"),
        ([1.5, float("nan"), 2, 3, 4], "found nan as id of row 1"),
        (["a", "b", "", "c", "d"], "found '' as id of row 2"),
        ([[], [], [], [], []], "unhashable"),
        ("abcde", "nodes: found a value of type str"),
        (5, "nodes: found a value of type int"),
    )
    def test_nodes_that_are_refused(self, given, match):
        refused(match, read_graph, X5, RING, nodes=given)


class TestViews:
    X = {"user": X5, "film": 3}

    def test_stacked_links(self):
        graph = read_graph(self.X, np.array([[0, 7], [5, 1]]))
        assert graph.n == len(graph.ids) == 8
        assert graph.ids[3:] == ["user:3", "user:4", "film:0", "film:1", "film:2"]
        user, film = graph.views
        assert (user.name, user.n, film.name, film.n, film.X) == ("user", 5, "film", 3, None)
        assert triples(graph.links) == [(0, 7, 1), (5, 1, 1)]
        assert triples(read_graph(self.X, [("user:4", "film:0")]).links) == [(4, 5, 1)]
        assert read_graph(self.X, sp.csr_array((8, 8))).links.n == 8
        refused("expected 8 x 8", read_graph, self.X, RING)
        refused("'x', which is in none of the views", read_graph, self.X, [("x", "film:0")])

    def test_blocks(self):
        rates = sp.coo_array(([2, 3, 4], ([0, 4, 4], [2, 0, 0])), shape=(5, 3))
        links = {("user", "film"): rates, ("user", "user"): RING, ("film", "user"): [(2, 1)]}
        found = triples(read_graph(self.X, links).links)
        assert found[:2] == [(0, 7, 2.0), (4, 5, 7.0)] and found[-1] == (7, 1, 1.0)
        assert sorted(found[2:-1]) == [(a, b, 1.0) for a, b in sorted(EDGES.tolist())]
        by_id = read_graph(self.X, {("user", "film"): [("user:1", "film:2")]})
        assert triples(by_id.links) == [(1, 7, 1)] and by_id.links.weight is None
        refused("nodes of its own", read_graph, self.X, {("user", "user"): network()})
        square = {("a", "b"): RING.toarray()}
        assert len(read_graph({"a": 5, "b": 5}, square).links.src) == 5

    @refusals(
        ({("user", "film"): sp.csr_array((3, 5))}, r"shape \(3, 5\); expected \(5, 3\)"),
        ({("user", "film"): RING.toarray()}, r"expected \(5, 3\)"),
        ({("user", "actor"): EDGES}, "found key"),
        ({"user": EDGES}, "found key 'user'"),
        ({("user", "film"): np.array([[4, 3]])}, "names row 3 of view 'film'.*below 3"),
        ({("user", "film"): [("user:9", "film:0")]}, "'user:9', which is no row of view 'user'"),
        ({}, "no pair of views"),
    )
    def test_blocks_that_are_refused(self, given, match):
        refused(match, read_graph, self.X, given)

    def test_ids(self):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(X5, index=list("abcde"))
        assert read_graph({"u": frame, "f": 1}, EDGES).ids == [*"abcde", "f:0"]
        assert read_graph(self.X, EDGES, nodes={"film": [7, 8, 9]}).ids[-4:] == ["user:4", 7, 8, 9]
        assert read_graph(self.X, EDGES, nodes=range(8)).ids == list(range(8))
        refused("found id 'a' twice", read_graph, {"u": frame, "f": frame}, EDGES)
        refused("found 7 ids; expected 8", read_graph, self.X, EDGES, nodes=range(7))
        refused(r"nodes\['film'\]: found 1 ids", read_graph, self.X, EDGES, nodes={"film": [1]})
        refused("found view 'actor'", read_graph, self.X, EDGES, nodes={"actor": []})

    @refusals(
        ({"u": None}, r"X\['u'\]: found None.*\{'u': 1000\}"),
        ({"u": 0}, "found 0 nodes"),
        ({"": X5}, "found '' as name"),
        ({}, "without views"),
        ({"u": np.ones(3)}, "Expected 2D array"),
    )
    def test_views_that_are_refused(self, given, match):
        refused(match, read_graph, given, EDGES)


class TestPyg:
    def test_stand_in(self):
        data = stand_in("Data", edge_index=EDGES.T, num_nodes=5, x=X5)
        for graph in (read_graph(data, None), read_graph(None, data)):
            assert graph.views[0].X is X5 and graph.n == 5
        assert read_graph(2 * X5, data).views[0].X[0, 1] == 2
        refused("graph of 5 nodes; expected 4", read_graph, X5[:4], data)
        data.x = None
        assert read_graph(data, None).views[0].X is None

    def test_hetero_stand_in(self):
        store = types.SimpleNamespace
        nodes = {"user": store(x=X5, num_nodes=5), "film": store(num_nodes=3)}
        rates = store(edge_index=np.array([[0, 4], [2, 0]]), edge_weight=np.array([2.0, 3.0]))
        knows = store(edge_index=np.array([[0], [1]]))
        edges = {("user", "rates", "film"): rates, ("user", "knows", "user"): knows}
        data = hetero_stand_in(nodes, edges)
        graph = read_graph(data, None)
        assert triples(graph.links) == [(0, 7, 2.0), (4, 5, 3.0), (0, 1, 1.0)]
        assert graph.ids[4:6] == ["user:4", "film:0"] and graph.views[1].X is None
        assert read_graph({"film": X5[:3]}, data).views[1].X.shape == (3, 2)
        refused(r"X\['film'\]: found 5 rows; expected 3", read_graph, {"film": X5}, data)
        refused("node type 'actor'", read_graph, {"actor": X5}, data)
        refused("several node types", read_graph, X5, data)
        lonely = hetero_stand_in({"user": nodes["user"]}, edges)
        refused("'film', whose number of nodes is not known", read_graph, lonely, None)

    def test_real(self):
        torch = pytest.importorskip("torch")
        pyg = pytest.importorskip("torch_geometric.data")
        edges = torch.tensor(EDGES.T)
        data = pyg.Data(x=torch.ones(5, 2), edge_index=edges, edge_attr=torch.rand(5, 1))
        graph = read_graph(data, None)
        assert graph.views[0].X.dtype == np.float32 and graph.links.weight.shape == (5,)
        batch = pyg.Batch.from_data_list([data, data])
        assert read_graph(batch, None).n == 10
        several = pyg.HeteroData()
        several["user"].x, several["film"].num_nodes = torch.ones(5, 2), 5
        several["user", "rates", "film"].edge_index = edges
        graph = read_graph(several, None)
        assert triples(graph.links)[0] == (0, 6, 1.0) and graph.views[1].name == "film"
