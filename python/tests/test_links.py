"""Every kind of links, and what is refused."""

from __future__ import annotations

import copy
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp
from input_samples import (
    EDGES,
    RING,
    dense,
    frames,
    make_frame,
    network,
    rare_frames,
    refusals,
    refused,
    stand_in,
    triples,
)

from linkproof._inputs import read_graph
from linkproof._links import read_links


class TestMatrices:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("index", [np.int32, np.int64])
    def test_compressed_rows_are_not_copied(self, dtype, index):
        parts = np.array([1, 2], dtype), np.array([1, 0], index), np.array([0, 1, 2], index)
        found = read_links(sp.csr_array(parts, shape=(2, 2)))
        for mine, theirs in zip((found.data, found.indices, found.indptr), parts):
            assert mine.__array_interface__["data"] == theirs.__array_interface__["data"]
            assert mine.dtype == theirs.dtype
        assert found.n == 2 and found.ids is None

    def test_the_users_matrix_stays_as_it_is(self):
        parts = np.array([1.0, 0, 2, 3]), np.array([2, 1, 2, 0]), np.array([0, 3, 4, 4])
        matrix = sp.csr_array(parts, shape=(3, 3))
        found = read_links(matrix)
        assert found.indices.tolist() == matrix.indices.tolist() == [2, 1, 2, 0]
        assert matrix.nnz == 4
        read_graph({"v": 3}, {("v", "v"): matrix})
        assert matrix.indices.tolist() == [2, 1, 2, 0] and matrix.data.tolist() == [1, 0, 2, 3]

    def test_other_formats_and_numbers(self):
        for form in ("csc", "coo", "lil", "dok", "dia", "bsr"):
            assert (dense(read_links(RING.asformat(form))) == RING.toarray()).all()
        for dtype in (bool, np.int32, np.uint8):
            assert read_links(RING.astype(dtype)).data.dtype == np.float64
        matrix = sp.coo_array((np.array([100, 100], np.int8), ([0, 0], [1, 1])), shape=(2, 2))
        assert dense(read_links(matrix))[0, 1] == 200

    def test_small_square_arrays_are_lists_of_links(self):
        square = np.array([[0, 1, 1], [1, 2, 3], [0, 2, 0]])
        assert triples(read_links(square)) == [(0, 1, 1), (1, 2, 3), (0, 2, 0)]
        assert triples(read_links(square[:2, :2])) == [(0, 1, 1), (1, 2, 1)]
        assert (dense(read_links(sp.csr_array(square))) == square).all()

    def test_dense_arrays_and_what_is_refused(self):
        array = RING.toarray()
        array[0, 1] = np.nan
        np.testing.assert_array_equal(dense(read_links(array)), array)
        assert (dense(read_links(RING.toarray().tolist())) == RING.toarray()).all()
        assert read_links(array.astype(np.float16)).data.dtype == np.float64
        refused("complex", read_links, array.astype(complex))
        refused(r"links: found a sparse matrix of shape \(2, 3\)", read_links, sp.csr_array((2, 3)))
        refused("complex", read_links, RING.astype(complex))
        refused(r"shape \(3,\)", read_links, sp.coo_array(np.ones(3)))


class TestEdgeLists:
    def test_row_numbers(self):
        written = EDGES.tolist()
        for links in (EDGES, EDGES.astype(float), EDGES.T, written, tuple(map(tuple, written))):
            found = read_links(links)
            assert triples(found) == [(a, b, 1.0) for a, b in EDGES.tolist()]
            assert found.src.dtype == np.int64 and not found.by_id and found.weight is None

    def test_weights(self):
        expected = [(0, 1, 0.5), (1, 2, 2.0)]
        assert triples(read_links(np.array(expected))) == expected
        assert triples(read_links(expected)) == expected
        assert triples(read_links([(0, 1, 0.5), (1, 2)])) == [(0, 1, 0.5), (1, 2, 1.0)]
        assert np.isnan(read_links(np.array([[0, 1, np.nan]])).weight[0])

    @pytest.mark.parametrize("edges", [EDGES, EDGES.T, EDGES.astype(str)])
    def test_edges_and_weights(self, edges):
        found = read_links((edges, np.arange(5)))
        assert found.weight.tolist() == [0, 1, 2, 3, 4] and len(found.src) == 5
        assert found.by_id == (edges.dtype.kind == "U")
        refused("found 4 weights for 5 links", read_links, (edges, np.arange(4)))
        refused("weights of shape", read_links, (edges, np.ones((5, 2))))
        three = read_links((np.array([[0, 1, 2], [1, 2, 3]]), [1, 2, 3]))
        assert triples(three) == [(0, 1, 1), (1, 2, 2), (2, 3, 3)]

    def test_ids_and_no_links(self):
        links = [("a", "b", 2.0), ("b", "c", 0.5)]
        for given in (links, np.array(links), np.array(links, dtype=object)):
            assert read_links(given).by_id and triples(read_links(given)) == links
        assert triples(read_links([(("a", 1), 7)])) == [(("a", 1), 7, 1.0)]
        assert type(read_links([(np.int64(3), "a")]).src[0]) is int
        for links in ([], np.empty((0, 2)), np.empty((0, 3)), np.empty((2, 0), int)):
            assert triples(read_links(links)) == []

    @refusals(
        (None, "links: found None; expected a graph: "),
        (3, "links: found a value of type int; expected a graph"),
        ({"a": 1}, "type dict"),
        (np.array([0, 1, 1]), "1-D array of 3 values; links .a graph. are required as second"),
        ([0, 1, 1], "list of 3 single values; links"),
        (["ab", "cd"], "required as second argument"),
        (np.ones((2, 3, 4)), r"array of shape \(2, 3, 4\)"),
        (np.ones((5, 4)), r"array of shape \(5, 4\)"),
        ([(0, 1), (1, 2, 3, 4)], "4 values in entry 1"),
        (np.array([[0, 1], [1, -2]]), "found node -2 in row 1"),
        (np.array([[0, 1], [0.5, 2]]), "found node 0.5 in row 1"),
        (np.array([[0, np.nan]]), "found node nan in row 0"),
        (np.array([[0, 1, 2, 3], [0, 1, 2, -3]]), "found node -3 in column 3"),
        (np.array([[2**24 + 4, 1]], np.float32), "found node 16777220.0 in row 0"),
        ([(0, 1), (0.5, 2)], "found node 0.5 in row 1"),
        (np.ones((5, 2), bool), "type bool"),
        ([("a", None)], "missing id in row 0"),
        ([("a", ["b"])], "unhashable"),
        ([("a", "b", 1), ("b", "c", "x")], "weight 'x' in row 1"),
        ((np.ones(3), np.ones(3)), r"edges have shape \(3,\)"),
        (([(0, 1), (1, 2)], [1.0, 2.0]), "looks like .edges, weights."),
        ((EDGES, np.ones(5, complex)), "weights of type complex"),
        ((np.ma.masked_equal(EDGES, 0), np.ones(5)), "masked"),
    )
    def test_what_is_refused(self, given, match):
        refused(match, read_links, given)


class TestGraphsAndTables:
    def test_networkx(self):
        graph = network()
        before = copy.deepcopy(graph.adj)
        found = read_links(graph)
        assert found.ids == ["c", "a", "b"] and not found.by_id
        assert sorted(triples(found)) == [(0, 0, 0.5), (0, 2, 1.0), (1, 2, 2.5)]
        assert graph.adj == before

    def test_networkx_kinds_and_weights(self):
        nx = pytest.importorskip("networkx")
        assert triples(read_links(nx.DiGraph([(0, 1), (1, 0)]))) == [(0, 1, 1), (1, 0, 1)]
        assert triples(read_links(nx.MultiGraph([(0, 1), (0, 1)]))) == [(0, 1, 1), (0, 1, 1)]
        assert read_links(type("Own", (nx.Graph,), {})([(0, 1)])).ids == [0, 1]
        graph = network()
        for graph["a"]["b"]["weight"] in (None, "heavy", Decimal(1)):
            refused(r"on edge \('a', 'b'\)", read_links, graph)

    @frames
    @pytest.mark.parametrize("ends", ["src DST", "Source target", "from to", "i j"])
    def test_tables_with_known_names(self, library, ends):
        src, dst = ends.split()
        columns = {"note": ["x", "y"], dst: ["b", "c"], "Count": [2, 3], src: ["a", "b"]}
        found = read_links(make_frame(library, columns))
        assert found.by_id and triples(found) == [("a", "b", 2.0), ("b", "c", 3.0)]

    @frames
    def test_tables_by_position(self, library):
        found = read_links(make_frame(library, {"a": [7, 8], "b": [8, 9], "w": [0.5, None]}))
        assert found.src.tolist() == [7, 8] and type(found.src[0]) is int
        assert found.weight[0] == 0.5 and np.isnan(found.weight[1])
        assert read_links(make_frame(library, {"a": ["x"], "b": ["y"], "c": ["z"]})).weight is None
        assert read_links(make_frame(library, {"a": ["x"], "b": ["y"], "c": [True]})).weight is None
        named = make_frame(library, {"a": ["x"], "b": ["y"], "c": [7], "w": [2]})
        assert triples(read_links(named)) == [("x", "y", 2.0)]
        counted = make_frame(library, {"column_0": ["x"], "column_1": ["y"], "column_2": [3]})
        assert triples(read_links(counted)) == [("x", "y", 3.0)]

    @frames
    def test_numbers_of_another_name_are_asked_about(self, library):
        for columns, other in (
            ({"u": ["x"], "v": ["y"], "year": [3]}, "'year' beside the ends 'u' and 'v'"),
            ({"src": ["x"], "kind": ["k"], "dst": ["y"], "strength": [0.5]}, "'strength'"),
            ({"user": ["x"], "item": ["y"], "rating": [3]}, "'rating'"),
        ):
            refused(other + ".*rename", read_links, make_frame(library, columns))

    @rare_frames
    def test_rarer_tables(self, library):
        columns = {"w": [2, 3], "dst": ["b", "c"], "src": ["a", "b"]}
        assert triples(read_links(make_frame(library, columns))) == [("a", "b", 2), ("b", "c", 3)]

    @frames
    def test_tables_that_are_refused(self, library):
        refused("table of 1 columns", read_links, make_frame(library, {"a": [1]}))
        gap = make_frame(library, {"a": ["x", "y"], "b": ["y", None]})
        refused("missing id in row 1", read_links, gap)
        text = make_frame(library, {"a": ["x"], "b": ["y"], "weight": ["much"]})
        refused("column 'weight' that are no numbers", read_links, text)

    def test_pandas_only(self):
        pd = pytest.importorskip("pandas")
        refused("matrix in a data frame", read_links, pd.DataFrame(RING.toarray()))
        refused("1-D Series", read_links, pd.Series([0, 1]))
        columns = {"a": ["x", "y"], "b": ["y", "z"], "w": pd.array([2, None], "Int64")}
        found = read_links(pd.DataFrame(columns))
        assert found.weight[0] == 2 and np.isnan(found.weight[1])

    def test_pyg_stand_in(self):
        data = stand_in("Data", edge_index=EDGES.T, num_nodes=6)
        found = read_links(data)
        assert found.n == 6 and triples(found) == triples(read_links(EDGES))
        for data.edge_attr in (np.arange(5), np.arange(5)[:, None]):
            assert read_links(data).weight.tolist() == [0, 1, 2, 3, 4]
        data.edge_attr, data.edge_weight = np.ones((5, 3)), np.arange(5)
        assert read_links(data).weight.tolist() == [0, 1, 2, 3, 4]
        data.edge_weight = None
        refused("edge_attr of shape.*set edge_weight", read_links, data)
        data.edge_weight = np.ones(4)
        refused("4 weights for 5 links", read_links, data)
        refused("no edge_index", read_links, stand_in("Data", edge_index=None, num_nodes=5))
        refused("edge_index of shape", read_links, stand_in("Data", edge_index=EDGES, num_nodes=5))
