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


def core_data(graph: GraphInput, rules: tuple[str, str]) -> _core.Data:
    """All that a fit reads."""
    links = core_links(graph.links, core_ids(graph.ids, graph.n), rules)
    return _core.Data(links, core_views(graph.views))


def core_links(
    links: MatrixLinks | ListedLinks, ids: int | Sequence[str], rules: tuple[str, str]
) -> _core.Links:
    """Links between rows; `rules` are those for repeated pairs and for self-links."""
    if isinstance(links, MatrixLinks):
        return _core.Links.from_matrix(ids, links.indptr, links.indices, links.data, rules)
    weight = None if links.weight is None else np.ascontiguousarray(links.weight, np.float64)
    src, dst = (np.ascontiguousarray(end, np.int64) for end in (links.src, links.dst))
    return _core.Links.from_rows(ids, src, dst, weight, rules)


def core_views(views: Iterable[View]) -> list[tuple[str, int, _core.Vectors | None]]:
    """The views' names, numbers of nodes and data vectors."""
    return [(view.name, view.n, None if view.X is None else core_vectors(view.X)) for view in views]


def core_vectors(matrix: Matrix) -> _core.Vectors:
    """Data vectors, in the memory that they are in."""
    if not sp.issparse(matrix):
        return _core.Vectors.dense(matrix)
    if not matrix.has_canonical_format:
        # Entries that are stored twice add up; the caller's matrix stays as it is.
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return _core.Vectors.sparse(matrix.shape[1], matrix.indptr, matrix.indices, matrix.data)


def core_ids(ids: Sequence[Hashable] | None, n: int) -> int | list[str]:
    """Ids as text, or their number where they just count the rows."""
    if ids is None or all(node == row for row, node in enumerate(ids)):
        return n
    return [str(node) for node in ids]


def id_array(ids: Sequence[Hashable] | None, n: int) -> Array:
    """Ids as the caller knows them, in an array."""
    if ids is None:
        return np.arange(n)
    if all(type(node) is int for node in ids):
        return np.array(ids)
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
                f"{name}: found {end!r} in row {place}; expected an id of a node (see nodes_)"
            )
        rows[place] = row
    return rows


def _row_number(node: Any) -> int:
    """The row that a number, or its text, names; -1 for anything else."""
    if isinstance(node, str) and node.isascii() and node.isdigit():
        return int(node)
    is_number = isinstance(node, (int, float, np.number)) and not isinstance(node, bool)
    return int(node) if is_number and node % 1 == 0 else -1
