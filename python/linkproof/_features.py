"""Data vectors as users hold them: arrays, sparse matrices, data frames, tensors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array

from linkproof._words import quoted

Array: TypeAlias = npt.NDArray[Any]
# A NumPy array, or a SciPy matrix or array in compressed rows (SciPy has no type hints).
Matrix: TypeAlias = Any

_NUMERIC_TYPES = ("int", "uint", "float", "double", "halffloat", "bool", "decimal")


def read_matrix(X: Any, name: str = "X") -> Matrix:
    """Data vectors as a 2-D array in C order or a sparse matrix in compressed rows.

    Single and double precision are kept, other numbers become double. What has
    the right form already is returned as it is, without a copy. Values are not
    checked: NaN and infinity are found later, with their row and column.
    """
    X = as_table(X)
    if frame_library(X) is not None:
        X = _frame_values(X, name)
    elif is_tensor(X):
        X = tensor_values(X, name)
    _refuse_foreign_values(X, name)
    try:
        return check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=1,
            input_name=name,
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise _WrongData(f"{name}: {_without_data(str(error))}") from None


class _WrongData(ValueError, TypeError):
    """Data that cannot be: for scikit-learn's checks an error of types as well."""


def _without_data(message: str) -> str:
    """What scikit-learn says of wrong data, without the data, which it may show in full."""
    lines = message.split("\n")
    advice = [line for line in lines[1:] if line.startswith("Reshape")]
    return " ".join([lines[0].removesuffix(":"), *advice])


def row_ids(X: Any) -> list[Hashable] | None:
    """The index of a pandas frame, unless it just counts the rows; else None."""
    if frame_library(X) != "pandas":
        return None
    index = X.index
    counts_rows = is_of(index, "pandas", "RangeIndex") and (index.start, index.step) == (0, 1)
    return None if counts_rows else list(index.tolist())


def column_names(X: Any) -> list[str] | None:
    """The names of a data frame's columns if all of them are text; else None."""
    if frame_library(X) is None:
        return None
    names = frame_column_names(X)
    return names if all(isinstance(column, str) for column in names) else None


def is_of(value: Any, library: str, *class_names: str) -> bool:
    """Whether a value is of one of these classes, which the library need not be imported for."""
    return any(
        base.__name__ in class_names and base.__module__.split(".")[0] == library
        for base in type(value).__mro__
    )


def as_table(value: Any) -> Any:
    """The table of a Polars LazyFrame or an Arrow RecordBatch; any other value as it is."""
    if is_of(value, "polars", "LazyFrame"):
        return value.collect()
    if is_of(value, "pyarrow", "RecordBatch"):
        from pyarrow import Table

        return Table.from_batches([value])
    return value


def is_dict(value: Any) -> bool:
    """Whether a value is a dict by view; some of SciPy's matrices and NetworkX's lists are too."""
    is_view = type(value).__module__.startswith("networkx")
    return isinstance(value, Mapping) and not sp.issparse(value) and not is_view


def is_tensor(value: Any) -> bool:
    """Whether a value is a PyTorch tensor."""
    return is_of(value, "torch", "Tensor")


def tensor_values(tensor: Any, name: str) -> Array:
    """A dense tensor as an array, which shares its memory where it can."""
    if "strided" not in str(tensor.layout):
        raise ValueError(
            f"{name}: found a tensor of layout {tensor.layout}; "
            "expected a dense tensor, or a SciPy sparse matrix"
        )
    tensor = tensor.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":  # NumPy has no such type
        tensor = tensor.float()
    return np.asarray(tensor.numpy())


def frame_library(value: Any) -> str | None:
    """The library whose data frame a value is: pandas, polars or pyarrow; else None."""
    classes = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "Table"}
    return next((library for library in classes if is_of(value, library, classes[library])), None)


def frame_column_names(frame: Any) -> list[Any]:
    """The names of a data frame's columns, whatever they are."""
    names = frame.column_names if frame_library(frame) == "pyarrow" else frame.columns
    return list(names)


def frame_column(frame: Any, position: int) -> Any:
    """One column in its library's own form. By position, since names may repeat."""
    library = frame_library(frame)
    if library == "pandas":
        return frame.iloc[:, position]
    return frame.to_series(position) if library == "polars" else frame.column(position)


def column_list(column: Any) -> list[Any]:
    """The values of a column, as Python's own."""
    for method in ("tolist", "to_list", "to_pylist"):  # pandas, Polars, Arrow
        if hasattr(column, method):
            return list(getattr(column, method)())
    raise TypeError(f"no values in a column of type {type(column).__name__}")


def column_type(column: Any) -> Any:
    """The type of a column's values, in its library's own terms."""
    return column.type if is_of(column, "pyarrow", "ChunkedArray") else column.dtype


def is_numeric_type(dtype: Any) -> bool:
    """Whether a column's type is one of real numbers or of truth values."""
    kind = getattr(dtype, "kind", None)  # only pandas has it
    if kind is not None:
        return kind in "biuf"
    return str(dtype).lower().startswith(_NUMERIC_TYPES)


def column_values(column: Any) -> Array:
    """A numeric column as an array, in which missing values are NaN or None."""
    dtype = column_type(column)
    if is_of(column, "pandas", "Series") and not isinstance(dtype, np.dtype):
        precision = np.float32 if str(dtype) in ("Float32", "float[pyarrow]") else np.float64
        return np.asarray(column.to_numpy(dtype=precision, na_value=np.nan))
    return np.asarray(column.to_numpy())


def _frame_values(frame: Any, name: str) -> Any:
    names = frame_column_names(frame)
    columns = [frame_column(frame, position) for position in range(len(names))]
    for column_name, column in zip(names, columns):
        dtype = column_type(column)
        if not is_numeric_type(dtype):
            raise ValueError(
                f"{name}: found column {quoted(column_name)} of type {dtype}; expected numbers: "
                "encode the column as numbers, or leave it out"
            )
    if not columns:
        return np.empty((len(frame), 0))
    types = [column_type(column) for column in columns]
    if all(is_of(dtype, "pandas", "SparseDtype") for dtype in types):
        return frame.sparse.to_coo()
    if frame_library(frame) == "pandas" and all(isinstance(dtype, np.dtype) for dtype in types):
        return frame.to_numpy()
    return np.column_stack([column_values(column) for column in columns])


def _refuse_foreign_values(X: Any, name: str) -> None:
    """Refuses arrays that would lose their meaning on the way to real numbers."""
    if isinstance(X, np.ma.MaskedArray):
        raise ValueError(
            f"{name}: found a masked array; expected a plain one: fill the gaps with X.filled(...)"
        )
    if isinstance(X, np.ndarray) and X.dtype.kind in "USTMmV":
        raise ValueError(f"{name}: found values of type {X.dtype}; expected numbers")
    if sp.issparse(X) and X.dtype.kind == "O":
        raise ValueError(f"{name}: found a sparse matrix of type object; expected numbers")
