"""Links as users hold them: matrices, edge lists, tables, NetworkX and PyG graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from linkproof._features import Array, as_table, frame_library, is_tensor
from linkproof._graphs import is_networkx_graph, is_pyg_data, read_networkx, read_pyg_edges
from linkproof._link_forms import (
    ListedLinks,
    MatrixLinks,
    listed,
    listed_by_id,
    plain_array,
    row_numbers,
    weight_numbers,
)
from linkproof._tables import read_table

__all__ = ["ListedLinks", "MatrixLinks", "compressed_rows", "read_links"]

ACCEPTED = (
    "a graph: a square SciPy sparse matrix, an edge array of shape (m, 2) or (m, 3), a list of "
    "(source, target) or (source, target, weight), a pair (edges, weights), a table with a row "
    "for each link, a NetworkX graph or PyG data"
)


def read_links(links: Any, name: str = "links") -> MatrixLinks | ListedLinks:
    """Links in any of the accepted forms. The user's object is left as it is.

    An array of shape (2, 2) or (3, 3) is one of edges, since graphs of two or
    three nodes are rarer than lists of two or three links; what looks like a
    matrix is refused, and can be passed as a sparse one.
    """
    links = as_table(links)
    if sp.issparse(links):
        return _read_sparse(links, name)
    if is_networkx_graph(links):
        return read_networkx(links, name)
    if is_pyg_data(links):
        found = read_pyg_edges(links, name)
        return ListedLinks(found.src, found.dst, found.weight, by_id=False, n=links.num_nodes)
    if frame_library(links) is not None:
        return read_table(links, name)
    if _is_array(links):
        return _read_array(plain_array(links, name), name)
    if isinstance(links, tuple) and len(links) == 2 and _is_array(links[0]):
        return _read_edges_and_weights(links[0], links[1], name)
    if isinstance(links, (list, tuple)):
        return _read_sequence(links, name)
    if len(getattr(links, "shape", ())) == 1:  # a column of a data frame
        raise _not_a_graph(f"a 1-D {type(links).__name__}", name)
    found_type = "None" if links is None else f"a value of type {type(links).__name__}"
    raise ValueError(f"{name}: found {found_type}; expected {ACCEPTED}")


def compressed_rows(matrix: Any, name: str) -> Any:
    """A sparse matrix in compressed rows, in single or double precision."""
    if matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"{name}: found a sparse matrix of type {matrix.dtype}; expected real numbers"
        )
    # Before the conversion, so that small integers that add up do not overflow.
    if matrix.dtype.kind != "b" and matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    rows = matrix.tocsr()
    return rows.astype(np.float64) if rows.dtype.kind == "b" else rows


def _read_sparse(matrix: Any, name: str) -> MatrixLinks:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name}: found a sparse matrix of shape {matrix.shape}; "
            "expected a square one, with a row and a column for each node (GridSearchCV and "
            "cross_val_score cut rows of it: linkproof.select chooses settings of a graph)"
        )
    rows = compressed_rows(matrix, name)
    indptr, indices = rows.indptr, rows.indices
    if indptr.dtype != indices.dtype or indices.dtype not in (np.int32, np.int64):
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    return MatrixLinks(indptr, indices, rows.data, int(rows.shape[0]))


def _read_array(array: Array, name: str) -> MatrixLinks | ListedLinks:
    if array.ndim == 1:
        raise _not_a_graph(f"a 1-D array of {len(array)} values", name)
    if array.ndim == 2:
        height, width = array.shape
        if height == width > 3 and array.dtype.kind in "biufc":
            return _read_dense(array, name)
        if width in (2, 3):
            _refuse_small_matrix(array, name)
            return listed(array, None, name, "row")
        if height == 2 and (width > 3 or width == 0):
            return listed(array.T, None, name, "column")
    raise ValueError(
        f"{name}: found an array of shape {array.shape}; expected shape (m, 2) or (m, 3) with "
        "a row (source, target[, weight]) for each link, (2, m), or (n, n) with n > 3"
    )


def _refuse_small_matrix(array: Array, name: str) -> None:
    """Refuses what may be a matrix of two or three nodes as well as two or three links."""
    is_square = array.shape[0] == array.shape[1] and array.dtype.kind in "iuf"
    if not is_square or not (array == array.T).all() or array.diagonal().any():
        return
    if array.tolist() != [[0, 1], [1, 0]]:  # the same graph either way
        raise ValueError(
            f"{name}: found a symmetric array of shape {array.shape}, which may be a matrix or a "
            "list of links; expected a sparse matrix for the one: scipy.sparse.csr_array(links)"
        )


def _read_dense(array: Array, name: str) -> MatrixLinks:
    if array.dtype.kind == "c":
        raise ValueError(f"{name}: found an array of type {array.dtype}; expected real numbers")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    return _read_sparse(sp.csr_array(array), name)


def _read_edges_and_weights(edges: Any, weights: Any, name: str) -> ListedLinks:
    edges = plain_array(edges, name)
    if edges.ndim != 2 or 2 not in edges.shape:
        raise ValueError(
            f"{name}: found a pair whose edges have shape {edges.shape}; "
            "expected (edges, weights) with edges of shape (m, 2) or (2, m)"
        )
    by_row = edges.shape[1] == 2
    return listed(
        edges if by_row else edges.T,
        plain_array(weights, name),
        name,
        "row" if by_row else "column",
    )


def _read_sequence(links: Sequence[Any], name: str) -> MatrixLinks | ListedLinks:
    entries = list(links)
    if not all(isinstance(entry, (list, tuple, np.ndarray)) for entry in entries):
        raise _not_a_graph(f"a {type(links).__name__} of {len(entries)} single values", name)
    if isinstance(links, tuple) and len(entries) == 2 and _looks_like_edges_and_weights(*entries):
        raise ValueError(
            f"{name}: found what looks like (edges, weights) with edges in a "
            f"{type(entries[0]).__name__}; expected an array: pass (np.asarray(edges), weights)"
        )
    if not all(len(entry) in (2, 3) for entry in entries):
        return _read_nested_lists(entries, name)
    src, dst = [entry[0] for entry in entries], [entry[1] for entry in entries]
    weight = None
    if any(len(entry) == 3 for entry in entries):
        weight = [entry[2] if len(entry) == 3 else 1.0 for entry in entries]
    if _all_numbers(src) and _all_numbers(dst):
        ends = np.array([src, dst]) if entries else np.empty((2, 0), dtype=np.int64)
        rows = row_numbers(ends[0], name, "row"), row_numbers(ends[1], name, "row")
        return ListedLinks(*rows, weight_numbers(weight, name, "row"), by_id=False)
    return listed_by_id(src, dst, weight_numbers(weight, name, "row"), name, "row")


def _read_nested_lists(entries: list[Any], name: str) -> MatrixLinks | ListedLinks:
    """A matrix or an edge index that is written as lists."""
    same_length = len({len(entry) for entry in entries}) == 1
    if same_length and all(_all_numbers(entry) for entry in entries):
        return _read_array(np.asarray(entries), name)
    place = next(i for i, entry in enumerate(entries) if len(entry) not in (2, 3))
    raise ValueError(
        f"{name}: found {len(entries[place])} values in entry {place}; "
        "expected (source, target) or (source, target, weight)"
    )


def _not_a_graph(found: str, name: str) -> ValueError:
    return ValueError(
        f"{name}: found {found}; links (a graph) are required as second argument, not labels: "
        f"expected {ACCEPTED}"
    )


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or is_tensor(value)


def _all_numbers(values: Iterable[Any]) -> bool:
    kinds = set(map(type, values))
    numbers = (int, float, np.integer, np.floating)
    return all(issubclass(kind, numbers) and kind is not bool for kind in kinds)


def _looks_like_edges_and_weights(edges: Any, weights: Any) -> bool:
    return all(isinstance(edge, (list, tuple)) for edge in edges) and _all_numbers(weights)
