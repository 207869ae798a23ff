"""Every kind of data vectors, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from input_samples import EDGES, X5, frames, make_frame, refusals, refused, triples

from linkproof._features import column_names, read_matrix, row_ids
from linkproof._links import read_links


class TestDataVectors:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_what_has_the_right_form_is_not_copied(self, dtype):
        X = np.ones((3, 2), dtype)
        assert read_matrix(X) is X
        for X in (sp.csr_array(X), sp.csr_matrix(X)):
            found = read_matrix(X)
            for part in ("data", "indices", "indptr"):
                assert np.shares_memory(getattr(found, part), getattr(X, part))

    def test_other_forms(self):
        for dtype in (bool, np.int8, np.uint64, np.float16, ">f8", object):
            assert read_matrix(np.ones((3, 2), dtype)).dtype == np.float64
        assert np.isnan(read_matrix(np.array([[np.nan, np.inf]]))[0, 0])
        assert read_matrix(np.asfortranarray(X5)).flags.c_contiguous
        assert read_matrix([[1, 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
        for form in ("csc", "coo", "lil", "dok"):
            found = read_matrix(sp.csr_array(X5).asformat(form))
            assert found.format == "csr" and (found.toarray() == X5).all()

    @refusals(
        (np.ones(3), "Expected 2D array, got 1D array instead"),
        (np.ones((2, 2), complex), "Complex data not supported"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((2, 0)), "0 feature"),
        (np.array([["a", "b"]]), "X: found values of type <U1"),
        (np.array([["2020-01-01"]], "M8[D]"), "X: found values of type datetime64"),
        (np.ma.masked_equal(np.eye(2), 0), "X: found a masked array"),
    )
    def test_what_is_no_matrix_is_refused(self, given, match):
        refused(match, read_matrix, given)

    @frames
    def test_frames(self, library):
        frame = make_frame(library, {"a": [1, 2], "b": [0.5, None], "c": [True, False]})
        found = read_matrix(frame)
        assert found.dtype == np.float64 and found.flags.c_contiguous
        np.testing.assert_array_equal(found, [[1, 0.5, 1], [2, np.nan, 0]])
        assert column_names(frame) == ["a", "b", "c"]
        assert row_ids(frame) is None
        column = np.array([1, 2], np.float32)
        assert read_matrix(make_frame(library, {"a": column, "b": column})).dtype == np.float32

    @frames
    def test_columns_of_text_are_refused(self, library):
        frame = make_frame(library, {"a": [1, 2], "kind": ["x", "y"]})
        refused(r"X\['v'\]: found column 'kind' of type", read_matrix, frame, "X['v']")
        refused("0 feature|0 sample", read_matrix, make_frame(library, {}))

    def test_pandas_types_of_its_own(self):
        pd = pytest.importorskip("pandas")
        columns = {"a": pd.array([1, None], "Int64"), "b": pd.array([True, None], "boolean")}
        frame = pd.DataFrame(columns)
        np.testing.assert_array_equal(read_matrix(frame), [[1, 1], [np.nan, np.nan]])
        assert read_matrix(pd.DataFrame({"a": pd.array([1.5], "Float32")})).dtype == np.float32
        sparse = pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(np.eye(3)))
        assert sp.issparse(read_matrix(sparse))
        for values in (pd.Categorical(["u"]), pd.to_datetime(["2020-01-01"]), [1j]):
            refused("found column 'a'", read_matrix, pd.DataFrame({"a": values}))

    def test_pandas_index(self):
        pd = pytest.importorskip("pandas")
        assert row_ids(pd.DataFrame(X5)) is None
        assert row_ids(pd.DataFrame(X5)[1:3]) == [1, 2]
        assert row_ids(pd.DataFrame(X5, index=list("abcde"))) == list("abcde")
        assert type(row_ids(pd.DataFrame(X5, index=[4, 3, 2, 1, 0]))[0]) is int
        assert column_names(pd.DataFrame(X5)) is None
        assert row_ids(X5) is column_names(X5) is None

    def test_tensors(self):
        torch = pytest.importorskip("torch")
        X = torch.ones(3, 2)
        assert read_matrix(X).__array_interface__["data"][0] == X.data_ptr()
        assert read_matrix(X.requires_grad_()).dtype == np.float32
        assert read_matrix(torch.ones(3, 2, dtype=torch.bfloat16)).dtype == np.float32
        refused("layout", read_matrix, torch.eye(3).to_sparse())
        assert triples(read_links(torch.tensor(EDGES.T))) == triples(read_links(EDGES))
        assert read_links((torch.tensor(EDGES), torch.ones(5))).weight.dtype == np.float64
