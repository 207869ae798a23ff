"""From what was read to what the core takes: links, data vectors and node ids."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from linkproof import _core
from linkproof._features import Array, Matrix
from linkproof._inputs import GraphInput, View
from linkproof._links import ListedLinks, MatrixLinks
from linkproof._nodes import NodeTable
from linkproof._words import quoted


def core_data(
    graph: GraphInput,
    rules: tuple[str, str, str],
    table: NodeTable | None = None,
    name: str | None = None,
) -> _core.Data:
    """All that a fit reads, and what a table says of nodes; `name` is that column of it."""
    links = core_links(graph.links, core_ids(graph.ids, graph.n), rules)
    columns = [] if table is None else table.of(graph.ids, graph.n)
    return _core.Data(links, core_views(graph.views), columns, name)


def core_links(
    links: MatrixLinks | ListedLinks, ids: int | Sequence[str], rules: tuple[str, str, str]
) -> _core.Links:
    """Links between rows; `rules` are those for repeated pairs, self-links and ends."""
    if isinstance(links, MatrixLinks):
        indptr = _readable(links.indptr)
        indices, data = map(_readable, _stored(links.indptr, links.indices, links.data))
        return _core.Links.from_matrix(ids, indptr, indices, data, rules)
    weight = None if links.weight is None else np.ascontiguousarray(links.weight, np.float64)
    src, dst = (np.ascontiguousarray(end, np.int64) for end in (links.src, links.dst))
    return _core.Links.from_rows(ids, src, dst, weight, rules)


def core_views(views: Iterable[View]) -> list[tuple[str, int, _core.Vectors | None]]:
    """The views' names, numbers of nodes and data vectors."""
    return [
        (view.name, view.n, None if view.X is None else core_vectors(view.X, _label(view.name)))
        for view in views
    ]


def _label(view: str) -> str:
    return f"X[{quoted(view)}]" if view else "X"


def core_vectors(matrix: Matrix, name: str = "X") -> _core.Vectors:
    """Data vectors, in the memory that they are in; `name` is that of the argument."""
    try:
        if not sp.issparse(matrix):
            return _core.Vectors.dense(_readable(matrix))
        if not matrix.has_canonical_format:
            # Entries that are stored twice add up; the caller's matrix stays as it is.
            matrix = matrix.copy()
            matrix.sum_duplicates()
        parts = (matrix.indptr, *_stored(matrix.indptr, matrix.indices, matrix.data))
        return _core.Vectors.sparse(matrix.shape[1], *map(_readable, parts))
    except ValueError as error:
        raise ValueError(str(error).replace("X:", f"{name}:", 1)) from None


def _stored(indptr: Array, indices: Array, data: Array) -> tuple[Array, Array]:
    """The entries that count, where a matrix has room for more."""
    entries = int(indptr[-1]) if len(indptr) else 0
    return indices[:entries], data[:entries]


def _readable(array: Array) -> Array:
    """An array as the core reads it; a copy only where its memory is in disorder."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("="))


def core_ids(ids: Sequence[Hashable] | None, n: int) -> int | list[str]:
    """Ids as text, or their number where they just count the rows."""
    if ids is None or all(type(node) is int and node == row for row, node in enumerate(ids)):
        return n
    return [str(node) for node in ids]


def id_array(ids: Sequence[Hashable] | None, n: int) -> Array:
    """Ids as the caller knows them, in an array."""
    if ids is None:
        return np.arange(n)
    if all(type(node) is int and -(2**63) <= node < 2**63 for node in ids):
        return np.array(ids, dtype=np.int64)
    array = np.empty(len(ids), dtype=object)
    # One by one: NumPy would make columns of tuples.
    for row, node in enumerate(ids):
        array[row] = node
    return array


def rows_of(ends: Iterable[Any], row_of: dict[str, int] | None, n: int, name: str) -> Array:
    """The rows of ids. `row_of` is by text; None: ids are row numbers."""
    ends = ends.tolist() if hasattr(ends, "tolist") else list(ends)
    rows = np.empty(len(ends), np.int64)
    for place, end in enumerate(ends):
        row = _row_number(end) if row_of is None else row_of.get(str(end), -1)
        if not 0 <= row < n:
            raise ValueError(
                f"{name}: found {quoted(end)} in row {place}; expected an id of a node (see nodes_)"
            )
        rows[place] = row
    return rows


def _row_number(node: Any) -> int:
    """The row that a number, or its text, names; -1 for anything else."""
    if isinstance(node, str) and node.isascii() and node.isdigit():
        return int(node) if str(int(node)) == node else -1
    is_number = isinstance(node, (int, float, np.number)) and not isinstance(node, bool)
    return int(node) if is_number and node % 1 == 0 else -1
