"""Links in tables: which columns hold the ends, and which one the weights."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from linkproof._features import (
    column_type,
    column_values,
    frame_column,
    frame_column_names,
    frame_library,
    is_numeric_type,
)
from linkproof._link_forms import ListedLinks, listed_by_id
from linkproof._words import quoted

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


def column_list(column: Any) -> list[Any]:
    """The values of a column, as Python's own."""
    for method in ("tolist", "to_list", "to_pylist"):  # pandas, Polars, Arrow
        if hasattr(column, method):
            return list(getattr(column, method)())
    raise TypeError(f"no values in a column of type {type(column).__name__}")
