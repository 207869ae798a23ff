"""Links as users hold them: matrices, edge lists, tables, NetworkX and PyG graphs."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from linkproof._features import (
    Array,
    as_table,
    column_list,
    column_type,
    column_values,
    frame_column,
    frame_column_names,
    frame_library,
    is_numeric_type,
    is_of,
    is_tensor,
    tensor_values,
)
from linkproof._words import quoted

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


@dataclass(frozen=True)
class MatrixLinks:
    """Links as a square matrix in compressed rows, whose arrays are the user's own."""

    indptr: Array
    indices: Array
    data: Array
    n: int
    ids: list[Hashable] | None = None


@dataclass(frozen=True)
class ListedLinks:
    """Links one by one: the two ends by row number, or by id, and the weights.

    `weight` None means that all weigh 1. `ids` are the nodes in row order where
    the user's object lists them, `n` their number where it tells no more.
    """

    src: Array
    dst: Array
    weight: Array | None
    by_id: bool
    ids: list[Hashable] | None = None
    n: int | None = None


def listed(edges: Array, weights: Array | None, name: str, entry: str) -> ListedLinks:
    """Links from an array with a row for each, by row number or by id as its type has it."""
    if weights is None and edges.shape[1] == 3:
        weights = edges[:, 2]
    elif weights is not None and weights.shape != (len(edges),):
        shape = weights.shape
        found = f"{len(weights)} weights" if len(shape) == 1 else f"weights of shape {shape}"
        raise ValueError(f"{name}: found {found} for {len(edges)} links; expected one for each")
    weight = weight_numbers(weights, name, entry)
    if edges.dtype.kind in "iuf":
        src, dst = (row_numbers(edges[:, end], name, entry) for end in (0, 1))
        return ListedLinks(src, dst, weight, by_id=False)
    if edges.dtype.kind in "OUT":
        return listed_by_id(edges[:, 0].tolist(), edges[:, 1].tolist(), weight, name, entry)
    raise ValueError(
        f"{name}: found an edge array of type {edges.dtype}; expected row numbers, or ids as text"
    )


def listed_by_id(
    src: list[Any], dst: list[Any], weight: Array | None, name: str, entry: str
) -> ListedLinks:
    """Links whose ends are given by id."""
    src, dst = plain_values(src), plain_values(dst)
    # Most ids are texts or whole numbers, of which none is missing.
    if not {*map(type, src), *map(type, dst)} <= {str, int}:
        _check_ends(src, dst, name, entry)
    return ListedLinks(object_array(src), object_array(dst), weight, by_id=True)


def _check_ends(src: list[Any], dst: list[Any], name: str, entry: str) -> None:
    try:
        unique = set(src).union(dst)
    except TypeError as error:
        raise ValueError(f"{name}: found an id that cannot be one ({error})") from None
    if any(map(is_missing, unique)):
        place = next(i for i, ends in enumerate(zip(src, dst)) if any(map(is_missing, ends)))
        raise ValueError(
            f"{name}: found a missing id in {entry} {place}, {(src[place], dst[place])}; "
            "expected the ids of both ends"
        )


def row_numbers(values: Array, name: str, entry: str) -> Array:
    """Ends as row numbers, which they must be."""
    if values.dtype.kind not in "iuf":
        raise ValueError(f"{name}: found ends of type {values.dtype}; expected row numbers")
    # Beyond this, numbers of this precision need not be those that were meant.
    digits = np.finfo(values.dtype).nmant + 1 if values.dtype.kind == "f" else 53
    with np.errstate(invalid="ignore"):
        good = (values >= 0) & (values <= 2.0 ** min(digits, 53)) & (np.floor(values) == values)
    if not good.all():
        place = int(np.argmin(good))
        raise ValueError(
            f"{name}: found node {values[place]} in {entry} {place}; expected the row number of "
            "a node, a whole number from 0 (ids of nodes are passed as text or in a table)"
        )
    return values.astype(np.int64)


def weight_numbers(values: Any, name: str, entry: str) -> Array | None:
    """Weights in double precision; NaN for missing ones."""
    if values is None:
        return None
    array = np.asarray(values) if isinstance(values, np.ndarray) else object_array(values)
    if array.dtype.kind in "biufOUT":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            place = next(i for i, value in enumerate(array.tolist()) if not _is_convertible(value))
            found = f"weight {quoted(array[place])} in {entry} {place}"
    else:
        found = f"weights of type {array.dtype}"
    raise ValueError(f"{name}: found {found}; expected a number")


def _is_convertible(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return value is None
    return True


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: None, NaN, or pandas' NA and NaT."""
    return (
        value is None
        or (isinstance(value, (float, np.floating)) and bool(value != value))
        or is_of(value, "pandas", "NAType", "NaTType")
    )


def plain_values(values: list[Any]) -> list[Any]:
    """Values with NumPy's scalars as Python's own."""
    if not any(issubclass(kind, np.generic) for kind in set(map(type, values))):
        return values
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def object_array(values: Sequence[Any]) -> Array:
    """Values in an array; np.asarray would take ids that are tuples apart."""
    return np.fromiter(values, dtype=object, count=len(values))


def plain_array(value: Any, name: str) -> Array:
    """An array or a tensor as a plain array."""
    if is_tensor(value):
        return tensor_values(value, name)
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name}: found a masked array; expected a plain one")
    return np.asarray(value)


def is_networkx_graph(value: Any) -> bool:
    """Whether a value is a graph of NetworkX, directed or not, simple or multiple."""
    return is_of(value, "networkx", "Graph")


def is_pyg_data(value: Any) -> bool:
    """Whether a value is PyG's graph of a single node type."""
    return is_of(value, "torch_geometric", "Data")


def is_hetero_data(value: Any) -> bool:
    """Whether a value is PyG's graph of several node types."""
    return is_of(value, "torch_geometric", "HeteroData")


def refuse_directions(X: Any, links: Any, directed: Any, duplicates: Any) -> None:
    """Refuses a graph with directions where nobody says what they mean."""
    graph = next((given for given in (X, links) if is_networkx_graph(given)), None)
    # What becomes of a pair in both directions says that directions are to be left out.
    if graph is None or directed or duplicates != "error" or not graph.is_directed():
        return
    raise ValueError(
        f"links: found a {type(graph).__name__}, whose links have directions; expected to be told "
        "what they mean: directed=True embeds every node as a source and as a target, "
        "links.to_undirected() (or duplicates='sum' or 'max') leaves them out"
    )


def read_networkx(graph: Any, name: str) -> ListedLinks:
    """The links of a NetworkX graph, whose nodes are counted in its own order."""
    ids = list(graph.nodes)
    row_of = {node: row for row, node in enumerate(ids)}
    edges = list(graph.edges(data="weight", default=1.0))
    weights = [weight for _, _, weight in edges]
    if not all(issubclass(kind, Real) for kind in set(map(type, weights))):
        source, target, weight = next(edge for edge in edges if not isinstance(edge[2], Real))
        raise ValueError(
            f"{name}: found weight {quoted(weight)} on edge ({quoted(source)}, "
            f"{quoted(target)}); expected a number"
        )
    src = np.fromiter((row_of[edge[0]] for edge in edges), np.int64, len(edges))
    dst = np.fromiter((row_of[edge[1]] for edge in edges), np.int64, len(edges))
    return ListedLinks(src, dst, np.array(weights, dtype=np.float64), by_id=False, ids=ids)


def read_pyg_edges(store: Any, name: str) -> ListedLinks:
    """The links of PyG data, or of one edge type of it."""
    if getattr(store, "edge_index", None) is None:
        raise ValueError(f"{name}: found no edge_index; expected it, of shape (2, m)")
    edges = plain_array(store.edge_index, name)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise ValueError(f"{name}: found edge_index of shape {edges.shape}; expected (2, m)")
    for attribute in ("edge_weight", "edge_attr"):
        if getattr(store, attribute, None) is not None:
            weights = plain_array(getattr(store, attribute), name)
            if weights.ndim == 2 and weights.shape[1] == 1:
                weights = weights[:, 0]
            if weights.ndim != 1:
                raise ValueError(
                    f"{name}: found {attribute} of shape {weights.shape}; "
                    "expected one weight for each link: set edge_weight, of shape (m,)"
                )
            return listed(edges.T, weights, name, "column")
    return listed(edges.T, None, name, "column")


_END_COLUMNS = (
    ("src", "dst"),
    ("source", "target"),
    ("from", "to"),
    ("u", "v"),
    ("node1", "node2"),
    ("i", "j"),
)
_WEIGHT_COLUMNS = ("weight", "w", "value", "count")


def read_table(table: Any, name: str) -> ListedLinks:
    """The links of a table with a row for each, by id.

    Ends are the columns that have one of the usual pairs of names, or else the
    first two; weights the one called weight or the like. Of a table whose columns
    have no names, weights are the third. Other columns of numbers are asked about.
    """
    names = frame_column_names(table)
    if len(names) < 2:
        raise ValueError(
            f"{name}: found a table of {len(names)} columns; "
            "expected two columns with the ends of the links, and perhaps one with the weights"
        )
    _refuse_adjacency_frame(table, name)
    source, target, weight = _link_columns(table, names, name)
    src, dst = (column_list(frame_column(table, place)) for place in (source, target))
    weights = None
    if weight is not None:
        try:
            weights = column_values(frame_column(table, weight)).astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{name}: found values in column {quoted(names[weight])} that are no numbers; "
                "expected the weights of the links"
            ) from None
    return listed_by_id(src, dst, weights, name, "row")


def _link_columns(table: Any, names: list[Any], name: str) -> tuple[int, int, int | None]:
    """Which columns hold the ends, and which one the weights if any."""
    places = {str(column).lower(): place for place, column in reversed(list(enumerate(names)))}
    known = [ends for ends in _END_COLUMNS if ends[0] in places and ends[1] in places]
    source, target = (places[known[0][0]], places[known[0][1]]) if known else (0, 1)
    named = [places[column] for column in _WEIGHT_COLUMNS if column in places]
    weight = next((place for place in named if place not in (source, target)), None)
    if weight is not None:
        return source, target, weight
    others = [place for place in range(len(names)) if place not in (source, target)]
    numbers = [place for place in others if _holds_numbers(table, place)]
    if numbers and _is_named(names[numbers[0]]):
        ends = f"{quoted(names[source])} and {quoted(names[target])}"
        found = ", ".join(quoted(names[place]) for place in numbers)
        raise ValueError(
            f"{name}: found numbers in column {found} beside the ends {ends}; expected to be told "
            "what they are: rename the column of the weights to 'weight', or pass the two columns "
            "of the ends alone"
        )
    # A table without names of its own: source, target, weight.
    return source, target, 2 if 2 in numbers and not known else None


def _holds_numbers(table: Any, place: int) -> bool:
    dtype = column_type(frame_column(table, place))
    return is_numeric_type(dtype) and not str(dtype).lower().startswith("bool")


def _is_named(column: Any) -> bool:
    """Whether somebody gave the column its name; libraries count columns."""
    return isinstance(column, str) and re.fullmatch(r"(column_|f|_)?\d+", column) is None


def _refuse_adjacency_frame(table: Any, name: str) -> None:
    if frame_library(table) != "pandas" or table.shape[0] != table.shape[1]:
        return
    if list(table.index) == list(table.columns):
        raise ValueError(
            f"{name}: found a matrix in a data frame, with the same names on both sides; expected "
            "a row for each link: pass links.to_numpy(), and nodes=list(links.index)"
        )
