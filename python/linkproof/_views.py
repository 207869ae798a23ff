"""Nodes of several kinds: dicts of views, and PyG's graphs of several node types."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from linkproof._features import Matrix, as_table, column_names, is_dict, read_matrix, row_ids
from linkproof._graphs import read_pyg_edges
from linkproof._ids import (
    NamedRows,
    by_row_number,
    check_ids,
    check_same,
    id_list,
    look_up,
    rows_by_id,
)
from linkproof._links import ListedLinks, MatrixLinks, compressed_rows, read_links
from linkproof._words import quoted


@dataclass(frozen=True)
class View:
    """Nodes of one kind. `X` is None where they have no data vectors."""

    name: str
    X: Matrix | None
    n: int
    column_names: list[str] | None


@dataclass(frozen=True)
class GraphInput:
    """All that a fit reads. The nodes of the views follow one another."""

    n: int
    ids: list[Hashable] | None
    views: list[View]
    links: MatrixLinks | ListedLinks


def read_views(X: Mapping[Any, Any], links: Any, nodes: Any) -> GraphInput:
    """A dict of views, with links by pair of views or between all nodes."""
    views, ids = _stack(X, nodes)
    n = sum(view.n for view in views)
    every_id = list(chain.from_iterable(ids.values()))
    if is_dict(links):
        blocks = [(key, _read_block(block, key, views, ids)) for key, block in links.items()]
        return GraphInput(n, every_id, views, _stack_blocks(blocks, views))
    found = read_links(links)
    check_size(found, n)
    lacks = "which is in none of the views; expected only ids of their rows: add a row, or drop"
    joined, _, _ = by_row_number(found, n, NamedRows(every_id, lacks))
    return GraphInput(n, every_id, views, joined)


def read_hetero(X: Any, data: Any, nodes: Any) -> GraphInput:
    """PyG's graph of several node types: each type is a view."""
    given = {} if X is None else X
    if not is_dict(given):
        raise ValueError(
            f"X: found a value of type {type(X).__name__} with a graph of several node types; "
            "expected None, or a dict of data vectors by node type"
        )
    kinds: list[str] = list(data.node_types)
    for kind in given:
        if kind not in kinds:
            raise ValueError(f"X: found node type {quoted(kind)}; expected one of {kinds}")
    stacked = {}
    for kind in kinds:
        own = getattr(data[kind], "x", None)
        number = getattr(data[kind], "num_nodes", None)
        stacked[kind] = given.get(kind, number if own is None else own)
    views, ids = _stack(stacked, nodes)
    for view in views:
        number = getattr(data[view.name], "num_nodes", None)
        if number is not None and number != view.n:
            raise ValueError(f"X[{quoted(view.name)}]: found {view.n} rows; expected {number}")
    blocks = [
        (
            (edge_type[0], edge_type[-1]),
            read_pyg_edges(data[edge_type], f"links[{quoted(edge_type)}]"),
        )
        for edge_type in data.edge_types
    ]
    for edge_type, (ends, block) in zip(data.edge_types, blocks):
        _check_block(block, ends, views, f"links[{quoted(edge_type)}]")
    every_id = list(chain.from_iterable(ids.values()))
    return GraphInput(len(every_id), every_id, views, _stack_blocks(blocks, views))


def _stack(X: Mapping[Any, Any], nodes: Any) -> tuple[list[View], dict[str, list[Hashable]]]:
    """The views, and the ids of each one's rows."""
    if not X:
        raise ValueError("X: found a dict without views; expected at least one")
    X = {name: as_table(values) for name, values in X.items()}
    views = [_read_view(name, values) for name, values in X.items()]
    given = _ids_by_view(nodes, views)
    ids: dict[str, list[Hashable]] = {}
    for view in views:
        frame_ids = row_ids(X[view.name])
        if view.name in given:
            check_same(given[view.name], frame_ids, f"nodes[{quoted(view.name)}]")
        counted: list[Hashable] = [f"{view.name}:{row}" for row in range(view.n)]
        own = counted if frame_ids is None else frame_ids
        ids[view.name] = given.get(view.name, own)
    check_ids(list(chain.from_iterable(ids.values())), "X" if nodes is None else "nodes")
    return views, ids


def _read_view(name: Any, values: Any) -> View:
    label = f"X[{quoted(name)}]"
    if not isinstance(name, str) or not name:
        raise ValueError(f"X: found {quoted(name)} as name of a view; expected text")
    if isinstance(values, (int, np.integer)) and not isinstance(values, bool):
        if values < 1:
            raise ValueError(f"{label}: found {values} nodes; expected at least one")
        return View(name, None, int(values), None)
    if values is None:
        raise ValueError(
            f"{label}: found None; expected data vectors, or for nodes without data vectors "
            f"their number: {{{quoted(name)}: 1000}}"
        )
    matrix = read_matrix(values, label)
    return View(name, matrix, int(matrix.shape[0]), column_names(values))


def _ids_by_view(nodes: Any, views: list[View]) -> dict[str, list[Hashable]]:
    if nodes is None:
        return {}
    names = [view.name for view in views]
    if not isinstance(nodes, Mapping):
        ids, n = id_list(nodes, "nodes"), sum(view.n for view in views)
        if len(ids) != n:
            raise ValueError(f"nodes: found {len(ids)} ids; expected {n}, one for each node of X")
        ends = np.cumsum([view.n for view in views])
        return {view.name: ids[end - view.n : end] for view, end in zip(views, ends.tolist())}
    for name in nodes:
        if name not in names:
            raise ValueError(f"nodes: found view {quoted(name)}; expected one of {names}")
    given = {name: id_list(ids, f"nodes[{quoted(name)}]") for name, ids in nodes.items()}
    for view in views:
        if len(given.get(view.name, range(view.n))) != view.n:
            raise ValueError(
                f"nodes[{quoted(view.name)}]: found {len(given[view.name])} ids; expected {view.n}"
            )
    return given


def _read_block(
    block: Any, key: Any, views: list[View], ids: dict[str, list[Hashable]]
) -> ListedLinks:
    """The links between two views, by row number within each view."""
    label = f"links[{quoted(key)}]"
    if not isinstance(key, tuple) or len(key) != 2 or not all(end in ids for end in key):
        raise ValueError(
            f"links: found key {quoted(key)}; expected two names of views, of "
            f"{[v.name for v in views]}"
        )
    shape = len(ids[key[0]]), len(ids[key[1]])
    if isinstance(block, np.ndarray) and block.shape == shape and block.dtype.kind in "biuf":
        block = sp.csr_array(block)
    found = matrix_block(block, shape, label) if sp.issparse(block) else read_links(block, label)
    if isinstance(found, MatrixLinks):
        matrix = sp.csr_array((found.data, found.indices, found.indptr), shape=(found.n, found.n))
        found = matrix_block(matrix, shape, label)
    if found.ids is not None:
        raise ValueError(
            f"{label}: found a graph with nodes of its own; expected a matrix or a list of links "
            "(a whole graph is passed as links=graph)"
        )
    if found.by_id:
        ends = [NamedRows(ids[end], f"which is no row of view {quoted(end)}: drop") for end in key]
        src = look_up(found.src.tolist(), rows_by_id(ends[0]), ends[0])
        dst = look_up(found.dst.tolist(), rows_by_id(ends[1]), ends[1])
        found = replace(found, src=src, dst=dst, by_id=False)
    _check_block(found, key, views, label)
    return found


def matrix_block(matrix: Any, shape: tuple[int, int], label: str) -> ListedLinks:
    """The entries of a sparse matrix between two groups of nodes."""
    if tuple(matrix.shape) != shape:
        raise ValueError(
            f"{label}: found a matrix of shape {matrix.shape}; expected {shape}, "
            "a row for each node of the first group and a column for each of the second"
        )
    # A copy, since entries that are stored twice are added up in place.
    rows = compressed_rows(matrix, label).copy()
    rows.sum_duplicates()
    entries = rows.tocoo()
    src, dst = entries.row.astype(np.int64), entries.col.astype(np.int64)
    return ListedLinks(src, dst, entries.data.astype(np.float64), by_id=False)


def _check_block(block: ListedLinks, key: tuple[str, str], views: list[View], label: str) -> None:
    sizes = {view.name: view.n for view in views}
    for end, numbers in zip(key, (block.src, block.dst)):
        if end not in sizes:
            raise ValueError(
                f"{label}: names node type {quoted(end)}, whose number of nodes is not known; "
                f"expected data[{quoted(end)}].x or data[{quoted(end)}].num_nodes"
            )
        if numbers.max(initial=-1) >= sizes[end]:
            raise ValueError(
                f"{label}: names row {numbers.max()} of view {quoted(end)}; "
                f"expected row numbers below {sizes[end]}, the number of its nodes"
            )


def _stack_blocks(
    blocks: list[tuple[tuple[str, str], ListedLinks]], views: list[View]
) -> ListedLinks:
    """The links of all pairs of views, by row number among all nodes."""
    if not blocks:
        raise ValueError("links: found no pair of views; expected links of at least one")
    starts = np.cumsum([0] + [view.n for view in views])
    start = {view.name: int(first) for view, first in zip(views, starts)}
    weight = None
    if any(block.weight is not None for _, block in blocks):
        weight = np.concatenate(
            [np.ones(len(b.src)) if b.weight is None else b.weight for _, b in blocks]
        )
    return ListedLinks(
        np.concatenate([block.src + start[key[0]] for key, block in blocks]),
        np.concatenate([block.dst + start[key[1]] for key, block in blocks]),
        weight,
        by_id=False,
    )


def check_size(links: MatrixLinks | ListedLinks, n: int | None) -> None:
    """Refuses a graph that has another number of nodes than there are rows."""
    if links.n is None or n is None or links.n == n:
        return
    if isinstance(links, MatrixLinks):
        raise ValueError(
            f"links: found a {links.n} x {links.n} matrix; "
            f"expected {n} x {n}, a row for each row of X"
        )
    raise ValueError(f"links: found a graph of {links.n} nodes; expected {n}, a row of X for each")
