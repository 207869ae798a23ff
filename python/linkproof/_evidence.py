"""What users add about links: columns of evidence, and links that somebody has verified."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from linkproof._features import (
    Array,
    as_table,
    column_list,
    column_values,
    frame_column,
    frame_column_names,
    frame_library,
)
from linkproof._links import ListedLinks, MatrixLinks, is_missing, is_networkx_graph
from linkproof._nodes import core_ids, rows_of
from linkproof._words import quoted, refused

# Evidence by name, a number for each listed link.
Columns: TypeAlias = list[tuple[str, Array]]
# The row of each id as text (None: ids are row numbers), and the number of rows.
RowsOf: TypeAlias = tuple[dict[str, int] | None, int]


def split_evidence(evidence: Any, links: Any) -> tuple[Any, Columns]:
    """The links without the columns that are evidence, and these columns."""
    if evidence is None:
        return links, []
    links = as_table(links)
    names = [evidence] if isinstance(evidence, str) else evidence
    if isinstance(names, (list, tuple)) and names and all(isinstance(it, str) for it in names):
        if is_networkx_graph(links):
            return links, [(name, _of_edges(links, name)) for name in names]
        if frame_library(links) is None:
            raise ValueError(
                "evidence: found names of columns for links without names; expected a table of "
                "links, or the numbers: evidence={'name': values}"
            )
        return _split_table(links, names)
    return links, _read_columns(evidence)


def _of_edges(graph: Any, name: str) -> Array:
    values = [value for _, _, value in graph.edges(data=name, default=np.nan)]
    if values and all(value is np.nan for value in values):
        raise ValueError(f"evidence: found no edge with the attribute {quoted(name)}")
    return _numbers(name, values)


def _split_table(table: Any, names: Sequence[str]) -> tuple[Any, Columns]:
    headers = [str(header) for header in frame_column_names(table)]
    for name in names:
        if name not in headers:
            raise ValueError(
                f"evidence: found no column {quoted(name)}; expected columns of links: {headers}"
            )
    columns = [(name, _column(table, headers.index(name), name)) for name in names]
    if frame_library(table) == "pandas":
        return table.drop(columns=list(names)), columns
    drop = table.drop_columns if hasattr(table, "drop_columns") else table.drop
    return drop(list(names)), columns


def _column(table: Any, place: int, name: str) -> Array:
    column = frame_column(table, place)
    try:
        return column_values(column).astype(np.float64)
    except (TypeError, ValueError):
        return _numbers(name, column_list(column))


def _read_columns(evidence: Any) -> Columns:
    table = as_table(evidence)
    if frame_library(table) is not None:
        headers = frame_column_names(table)
        return [(str(it), _column(table, place, str(it))) for place, it in enumerate(headers)]
    if isinstance(evidence, Mapping):
        return [(str(name), _numbers(str(name), values)) for name, values in evidence.items()]
    array = np.asarray(evidence)
    if array.ndim not in (1, 2) or array.dtype.kind not in "biuf":
        raise refused("evidence", "names of columns, or a number or more for each link", evidence)
    columns = array.reshape(len(array), -1).T
    return [(f"evidence {place}", _numbers(str(place), it)) for place, it in enumerate(columns)]


def _numbers(name: str, values: Any) -> Array:
    try:
        plain = [np.nan if is_missing(value) else float(value) for value in values]
    except (TypeError, ValueError):
        raise ValueError(
            f"evidence: found values of {quoted(name)} that are no numbers; expected a number for "
            "each link, or NaN"
        ) from None
    return np.array(plain, dtype=np.float64)


def core_evidence(columns: Columns, rows: MatrixLinks | ListedLinks | None) -> Any:
    """Columns as the core takes them, with the rows of the links that they are about."""
    if not columns:
        return None
    if not isinstance(rows, ListedLinks):
        raise ValueError(
            "evidence: found links that are not listed; expected an edge array, a table or a "
            "NetworkX graph, in whose order the numbers are"
        )
    for name, numbers in columns:
        if len(numbers) != len(rows.src):
            raise ValueError(
                f"evidence: found {len(numbers)} numbers in {quoted(name)}; expected "
                f"{len(rows.src)}, one for each link"
            )
    ends = rows.src.tolist(), rows.dst.tolist()
    return (*ends, [(name, numbers.tolist()) for name, numbers in columns])


def judge_request(
    columns: Columns,
    rows: MatrixLinks | ListedLinks | None,
    checked: Any,
    ids: Sequence[Hashable] | None,
    n: int,
    *,
    weights: bool = True,
    one_to_one: bool = False,
    test: bool = True,
    seed: int = 0,
) -> dict[str, Any]:
    """What a judge is asked beside its data, as the core takes it."""
    return {
        "evidence": core_evidence(columns, rows),
        "checked": read_verified(checked, both_ends(ids, n)),
        "weights": weights,
        "one_to_one": one_to_one,
        "test": test,
        "seed": seed,
    }


def both_ends(ids: Sequence[Hashable] | None, n: int) -> list[RowsOf]:
    """Where the rows of ends are found, if both are nodes of one list."""
    texts = core_ids(ids, n)
    row_of = None if isinstance(texts, int) else {text: row for row, text in enumerate(texts)}
    return [(row_of, n), (row_of, n)]


def read_verified(checked: Any, of_ends: Sequence[RowsOf]) -> list[tuple[int, int, bool]]:
    """Verified links by the rows of their ends; those without an answer are left out."""
    if checked is None:
        return []
    src, dst, real = _read_verified(checked)
    answers = [_answer(value, place) for place, value in enumerate(real)]
    known = [place for place, answer in enumerate(answers) if answer is not None]
    ends = [
        rows_of([column[place] for place in known], row_of, n, "checked").tolist()
        for column, (row_of, n) in zip((src, dst), of_ends)
    ]
    return [(i, j, bool(answers[place])) for i, j, place in zip(*ends, known)]


def _read_verified(checked: Any) -> list[list[Any]]:
    """The columns src, dst and real."""
    if isinstance(checked, (str, os.PathLike)):
        checked = pd.read_csv(checked, dtype=str, keep_default_na=False)
    table = as_table(checked)
    if frame_library(table) is None:
        entries = checked.tolist() if isinstance(checked, np.ndarray) else checked
        rows: list[Any] = list(entries) if isinstance(entries, (list, tuple)) else [None]
        if not all(isinstance(row, (list, tuple)) and len(row) == 3 for row in rows):
            raise refused("checked", "a table with columns src, dst and real", checked)
        return [[row[place] for row in rows] for place in range(3)]
    headers = [str(header).lower() for header in frame_column_names(table)]
    for name in ("src", "dst", "real"):
        if name not in headers:
            raise ValueError(f"checked: found no column {name!r}; expected src, dst and real")
    names = ("src", "dst", "real")
    return [column_list(frame_column(table, headers.index(name))) for name in names]


def _answer(value: Any, place: int) -> bool | None:
    """Real, false or nothing."""
    if is_missing(value) or value == "":
        return None
    known = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}
    answer = known.get(str(value).strip().lower())
    if answer is None:
        raise ValueError(
            f"checked: found {quoted(value)} as 'real' in row {place}; expected 1 (real), "
            "0 (false) or nothing"
        )
    return answer
