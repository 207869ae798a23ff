"""What a fit reads: data vectors and links of the same nodes, and the same for the core."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from linkproof import _core
from linkproof._features import Array, Matrix, as_table, column_names, is_dict, read_matrix, row_ids
from linkproof._links import (
    ListedLinks,
    MatrixLinks,
    compressed_rows,
    is_hetero_data,
    is_networkx_graph,
    is_pyg_data,
    read_links,
    read_pyg_edges,
)
from linkproof._nodes import (
    NamedRows,
    NodeTable,
    by_row_number,
    check_ids,
    check_same,
    core_ids,
    id_list,
    look_up,
    rows_by_id,
)
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
    blocks = []
    for kind in data.edge_types:
        label, ends = f"links[{quoted(kind)}]", (kind[0], kind[-1])
        blocks.append((ends, read_pyg_edges(data[kind], label)))
        _check_block(blocks[-1][1], ends, views, label)
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
    weights = [np.ones(len(b.src)) if b.weight is None else b.weight for _, b in blocks]
    src = np.concatenate([block.src + start[key[0]] for key, block in blocks])
    dst = np.concatenate([block.dst + start[key[1]] for key, block in blocks])
    has_weights = any(block.weight is not None for _, block in blocks)
    return ListedLinks(src, dst, np.concatenate(weights) if has_weights else None, by_id=False)


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
