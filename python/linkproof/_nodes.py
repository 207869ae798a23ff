"""Nodes: the ids of rows, tables of them, and links by id as links by row number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from linkproof._features import (
    Array,
    as_table,
    column_list,
    frame_column,
    frame_column_names,
    frame_library,
    row_ids,
)
from linkproof._links import ListedLinks, MatrixLinks, is_missing, object_array, plain_values
from linkproof._words import quoted


@dataclass(frozen=True)
class NamedRows:
    """The ids of the rows, and what to say of an id that is not among them."""

    ids: list[Hashable]
    lacks: str


def id_list(nodes: Any, name: str) -> list[Hashable]:
    """Ids in a list, with NumPy's scalars as Python's own."""
    if isinstance(nodes, (str, bytes, Mapping)) or not hasattr(nodes, "__iter__"):
        raise ValueError(
            f"{name}: found a value of type {type(nodes).__name__}; "
            "expected a sequence of ids, one for each row"
        )
    return plain_values(nodes.tolist() if hasattr(nodes, "tolist") else list(nodes))


def check_same(ids: list[Hashable], frame_ids: list[Hashable] | None, name: str) -> None:
    """Refuses ids that contradict those of a data frame's index."""
    if frame_ids is None or ids == frame_ids:
        return
    row = next(row for row, pair in enumerate(zip(ids, frame_ids)) if pair[0] != pair[1])
    raise ValueError(
        f"{name}: found {quoted(ids[row])} for row {row}, which X's index calls "
        f"{quoted(frame_ids[row])}; "
        f"expected the same ids: leave {name} out, or reset X's index"
    )


def check_ids(ids: list[Hashable], name: str) -> None:
    """Refuses ids that are missing or empty, and such as are the same, be it as text only."""
    try:
        unique = set(ids)
    except TypeError as error:
        raise ValueError(f"{name}: found an id that cannot be one ({error})") from None
    kinds = set(map(type, ids))
    if "" in unique or (not kinds <= {str, int} and any(map(is_missing, unique))):
        row = next(row for row, node in enumerate(ids) if node == "" or is_missing(node))
        raise ValueError(f"{name}: found {quoted(ids[row])} as id of row {row}; expected an id")
    if len(unique) < len(ids):
        raise ValueError(
            f"{name}: found id {quoted(_first_repeat(ids))} twice; expected unique ids"
        )
    # Whole numbers that differ, and texts that differ, also differ as text.
    if kinds != {str} and kinds != {int}:
        texts = [str(node) for node in ids]
        if len(set(texts)) < len(texts):
            text = _first_repeat(texts)
            same = [node for node, as_text in zip(ids, texts) if as_text == text]
            raise ValueError(
                f"{name}: found ids {quoted(same[0])} and {quoted(same[1])}, which are the "
                "same as text "
                "(a saved model holds ids as text); expected unique ids"
            )


def _first_repeat(values: list[Any]) -> Any:
    counts = Counter(values)
    return next(value for value in values if counts[value] > 1)


def by_row_number(
    links: MatrixLinks | ListedLinks, n: int | None, rows: NamedRows | None
) -> tuple[MatrixLinks | ListedLinks, int, list[Hashable] | None]:
    """The links by row number, the number of rows, and their ids."""
    ids = None if rows is None else rows.ids
    if isinstance(links, MatrixLinks):
        return links, links.n, ids
    if links.by_id:
        return _ids_to_rows(links, n, rows)
    if links.ids is not None:
        return _graph_to_rows(links, n, rows)
    if links.n is None and ids is not None:
        _refuse_doubtful_numbers(ids)
    n = int(max(links.src.max(initial=-1), links.dst.max(initial=-1))) + 1 if n is None else n
    _check_row_numbers(links, n)
    return links, n, ids


def _refuse_doubtful_numbers(ids: list[Hashable]) -> None:
    """Refuses lists of numbers where rows have numbers of their own as ids."""
    are_numbers = all(isinstance(node, (int, float)) for node in ids)
    if are_numbers and ids != list(range(len(ids))):
        raise ValueError(
            f"links: found numbers, and rows whose ids are other numbers ({quoted(ids[0])}, "
            "...): it is "
            "not clear which are meant; expected a table (its columns hold ids) or a sparse "
            "matrix (which counts rows)"
        )


def _ids_to_rows(
    links: ListedLinks, n: int | None, rows: NamedRows | None
) -> tuple[ListedLinks, int, list[Hashable] | None]:
    src, dst = links.src.tolist(), links.dst.tolist()
    if rows is None and n is not None:
        joined = replace(links, src=_counted(src, n), dst=_counted(dst, n), by_id=False)
        return joined, n, None
    if rows is None:
        return _number_by_appearance(links)
    numbers = rows_by_id(rows)
    joined = replace(
        links, src=look_up(src, numbers, rows), dst=look_up(dst, numbers, rows), by_id=False
    )
    return joined, len(rows.ids), rows.ids


def _number_by_appearance(links: ListedLinks) -> tuple[ListedLinks, int, list[Hashable]]:
    row_of: dict[Hashable, int] = {}
    ends = chain.from_iterable(zip(links.src.tolist(), links.dst.tolist()))
    numbers = np.array([row_of.setdefault(end, len(row_of)) for end in ends], dtype=np.int64)
    ids = list(row_of)
    check_ids(ids, "links")
    joined = replace(links, src=numbers[0::2].copy(), dst=numbers[1::2].copy(), by_id=False)
    return joined, len(ids), ids


def _graph_to_rows(
    links: ListedLinks, n: int | None, rows: NamedRows | None
) -> tuple[ListedLinks, int, list[Hashable]]:
    """Links of a graph that lists its nodes, in an order that need not be that of the rows."""
    assert links.ids is not None
    if rows is not None:
        row_of_node = look_up(links.ids, rows_by_id(rows), rows)
        joined = replace(
            links, src=row_of_node[links.src], dst=row_of_node[links.dst], ids=rows.ids
        )
        return joined, len(rows.ids), rows.ids
    if n is not None and n != len(links.ids):
        raise ValueError(
            f"links: found a graph of {len(links.ids)} nodes for {n} rows of X; expected a row for "
            "each node in the order of the graph's nodes, or the ids of the rows as nodes=[...]"
        )
    if _count_rows_in_disorder(links.ids):
        # A graph lists nodes as its edges came; rows of X are counted from 0.
        numbers = np.array(links.ids, dtype=np.int64)
        ids: list[Hashable] = list(range(len(numbers)))
        by_number = replace(links, src=numbers[links.src], dst=numbers[links.dst], ids=ids)
        return by_number, len(ids), ids
    check_ids(links.ids, "links")
    return links, len(links.ids), links.ids


def _count_rows_in_disorder(ids: list[Hashable]) -> bool:
    """Whether ids are 0, 1, ... in another order."""
    if not all(isinstance(node, (int, np.integer)) and type(node) is not bool for node in ids):
        return False
    return ids != list(range(len(ids))) and set(ids) == set(range(len(ids)))


def rows_by_id(rows: NamedRows) -> dict[Hashable, int]:
    """The row of each id."""
    return {node: row for row, node in enumerate(rows.ids)}


def look_up(ends: list[Any], row_of: dict[Hashable, int], rows: NamedRows) -> Array:
    """The rows of ids, all of which must have one."""
    try:
        return np.fromiter(map(row_of.__getitem__, ends), np.int64, len(ends))
    except KeyError:
        pass
    # A saved model knows ids as text; no two ids are the same as text.
    by_text = {str(node): row for row, node in enumerate(rows.ids)}
    try:
        return np.fromiter((by_text[str(end)] for end in ends), np.int64, len(ends))
    except KeyError:
        node = next(end for end in ends if str(end) not in by_text)
    raise ValueError(f"links: names node {quoted(node)}, {rows.lacks} its links")


def _counted(ends: list[Any], n: int) -> Array:
    """Ids as the row numbers that they must be where rows have no other ids."""
    for node in set(ends):
        is_number = isinstance(node, (int, float)) and not isinstance(node, bool)
        if not is_number or node != node // 1:
            raise ValueError(
                f"links: names node {quoted(node)}, but the rows of X have no ids; expected "
                "row numbers: "
                "or pass the ids of the rows as nodes=[...], or X as data frame with them as index"
            )
        if not 0 <= node < n:
            raise _outside(node, ends.index(node), n)
    return np.array(ends, dtype=np.int64)


def _outside(row: Any, link: int, n: int) -> ValueError:
    return ValueError(
        f"links: names row {row} in link {link}; "
        f"expected row numbers below {n}, the number of nodes"
    )


def _check_row_numbers(links: ListedLinks, n: int) -> None:
    for ends in (links.src, links.dst):
        outside = (ends < 0) | (ends >= n)
        if outside.any():
            place = int(np.argmax(outside))
            raise _outside(ends[place], place, n)


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
    return object_array(ids)


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


# A saved model reads these columns as something of its own.
_TAKEN = ("view", "row")


@dataclass(frozen=True)
class NodeTable:
    """Ids as they are given (a sequence, or a dict of them by view), and columns of text."""

    ids: Any
    # For each column the text of each node that has one.
    columns: dict[str, dict[Hashable, str]] = field(default_factory=dict)

    def of(self, ids: Sequence[Hashable] | None, n: int) -> list[tuple[str, list[str]]]:
        """The columns of nodes in their order; None: their ids are 0, 1, ..."""
        order: Sequence[Hashable] = range(n) if ids is None else ids
        return [
            (header, [texts.get(node, "") for node in order])
            for header, texts in self.columns.items()
        ]


def read_nodes(nodes: Any) -> NodeTable:
    """Ids, or a table of them by view or in all, as ids and columns."""
    if isinstance(nodes, Mapping):
        ids: dict[Any, Any] = {}
        columns: dict[str, dict[Hashable, str]] = {}
        for view, values in nodes.items():
            found = _read_table(values, f"nodes[{quoted(view)}]")
            ids[view] = found.ids
            for header, texts in found.columns.items():
                columns.setdefault(header, {}).update(texts)
        return NodeTable(ids, columns)
    return _read_table(nodes, "nodes")


def _read_table(nodes: Any, name: str) -> NodeTable:
    table = as_table(nodes)
    if frame_library(table) is None:
        return NodeTable(nodes)
    headers = frame_column_names(table)
    if not headers:
        raise ValueError(f"{name}: found a table without columns; expected ids in the first")
    lists = [column_list(frame_column(table, place)) for place in range(len(headers))]
    own = row_ids(table)
    if own is None:
        own, headers, lists = lists[0], headers[1:], lists[1:]
    columns: dict[str, dict[Hashable, str]] = {}
    for header, values in zip(map(str, headers), lists):
        if header.lower() in _TAKEN:
            raise ValueError(
                f"{name}: found a column {quoted(header)}, which a saved model reads as something "
                "of its own; expected another name"
            )
        if header in columns:
            raise ValueError(
                f"{name}: found two columns {quoted(header)}; expected names that differ"
            )
        columns[header] = _texts(own, values)
    return NodeTable(own, columns)


def _texts(ids: Sequence[Hashable], values: Sequence[Any]) -> dict[Hashable, str]:
    try:
        return {node: "" if is_missing(value) else str(value) for node, value in zip(ids, values)}
    except TypeError as error:
        raise ValueError(f"nodes: found an id that cannot be one ({error})") from None
