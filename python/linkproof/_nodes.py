"""Tables of nodes: their ids, and whatever else is known of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkproof._features import as_table, frame_column, frame_column_names, frame_library, row_ids
from linkproof._link_forms import is_missing
from linkproof._tables import column_list
from linkproof._words import quoted

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
