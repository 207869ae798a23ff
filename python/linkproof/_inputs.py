"""Data vectors and links joined: which row of the data is which node of the graph."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from linkproof._features import as_table, column_names, is_dict, read_matrix, row_ids
from linkproof._graphs import is_hetero_data, is_networkx_graph, is_pyg_data
from linkproof._ids import NamedRows, by_row_number, check_ids, check_same, id_list
from linkproof._links import read_links
from linkproof._views import GraphInput, View, check_size, read_hetero, read_views

__all__ = ["GraphInput", "View", "read_graph"]


def read_graph(X: Any, links: Any, nodes: Any = None) -> GraphInput:
    """Data vectors and links of the same nodes, with all links by row number.

    `nodes` are the ids of the rows: a sequence, or a dict of sequences by view.
    Without them a pandas index other than 0, 1, ... has the ids.

    Tables, lists of text and NetworkX graphs name nodes by id, matrices, arrays and
    lists of numbers by row. Where rows have other numbers as ids, arrays and lists
    of numbers are refused: either could be meant.

    Where rows have no ids, those of a NetworkX graph are in the order of its nodes;
    but where its nodes are 0, 1, ..., n - 1 in any order, node i is row i.
    """
    if is_networkx_graph(X) or is_pyg_data(X) or is_hetero_data(X):
        if links is not None:
            raise ValueError(
                f"X: found a graph ({type(X).__name__}) along with links; expected data vectors"
            )
        X, links = None, X
    if X is None and links is None:
        raise ValueError("X, links: found None for both; expected data vectors and a graph")
    if is_hetero_data(links):
        return read_hetero(X, links, nodes)
    if is_dict(X):
        return read_views(X, links, nodes)
    if is_dict(links):
        raise ValueError(
            "links: found a dict of links by pair of views; "
            f"expected X to be a dict of views as well, found {type(X).__name__}"
        )
    return _read_one_view(X, links, nodes)


def _read_one_view(X: Any, links: Any, nodes: Any) -> GraphInput:
    if X is None and is_pyg_data(links):
        X = getattr(links, "x", None)
    X = as_table(X)
    matrix = None if X is None else read_matrix(X)
    found = read_links(links)
    n = found.n if matrix is None else int(matrix.shape[0])
    check_size(found, n)
    rows = _named_rows(nodes, row_ids(X), n, has_data=matrix is not None)
    if n is None and rows is not None:
        n = len(rows.ids)
    joined, n, ids = by_row_number(found, n, rows)
    if n == 0:
        raise ValueError("links: found no nodes; expected at least one")
    return GraphInput(n, ids, [View("", matrix, n, column_names(X))], joined)


def _named_rows(
    nodes: Any, frame_ids: list[Hashable] | None, n: int | None, *, has_data: bool
) -> NamedRows | None:
    """The ids that the caller gives, as `nodes` or as a data frame's index."""
    lacks = "which has no data vector (row of X); expected only ids of X's rows: add a row, or drop"
    if nodes is None:
        if frame_ids is None:
            return None
        check_ids(frame_ids, "X")
        return NamedRows(frame_ids, lacks)
    ids = id_list(nodes, "nodes")
    if n is not None and len(ids) != n:
        of = "X" if has_data else "links"
        raise ValueError(f"nodes: found {len(ids)} ids; expected {n}, one for each row of {of}")
    check_same(ids, frame_ids, "nodes")
    check_ids(ids, "nodes")
    if not has_data:
        lacks = "which is not among nodes; expected only ids of nodes: add it there, or drop"
    return NamedRows(ids, lacks)
