"""The two forms that links are brought into, and the checks of ends and weights."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkproof._features import Array, is_of, is_tensor, tensor_values
from linkproof._words import quoted


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
    src, dst = _plain_ids(src), _plain_ids(dst)
    # Most ids are texts or whole numbers, of which none is missing.
    if not {*map(type, src), *map(type, dst)} <= {str, int}:
        _check_ends(src, dst, name, entry)
    return ListedLinks(_object_array(src), _object_array(dst), weight, by_id=True)


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
    array = np.asarray(values) if isinstance(values, np.ndarray) else _object_array(values)
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


def _plain_ids(ids: list[Any]) -> list[Any]:
    """The ids with NumPy's scalars as Python's own."""
    if not any(issubclass(kind, np.generic) for kind in set(map(type, ids))):
        return ids
    return [value.item() if isinstance(value, np.generic) else value for value in ids]


def _object_array(values: Sequence[Any]) -> Array:
    # Not np.asarray, which would take ids that are tuples apart.
    return np.fromiter(values, dtype=object, count=len(values))


def plain_array(value: Any, name: str) -> Array:
    """An array or a tensor as a plain array."""
    if is_tensor(value):
        return tensor_values(value, name)
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name}: found a masked array; expected a plain one")
    return np.asarray(value)
