"""Libraries that parse a CSV file into columns; none of them builds a graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def commands(threads: int) -> dict[str, Callable[..., dict[str, Any]]]:
    """What this module does on request."""

    def pandas(path: str) -> int:
        import pandas

        return len(pandas.read_csv(path))

    def pandas_pyarrow(path: str) -> int:
        import pandas

        return len(pandas.read_csv(path, engine="pyarrow"))

    def polars(path: str) -> int:
        import polars

        return len(polars.read_csv(path))

    def pyarrow(path: str) -> int:
        import pyarrow
        import pyarrow.csv

        pyarrow.set_cpu_count(threads)
        return len(pyarrow.csv.read_csv(path))

    readers: dict[str, Callable[[str], int]] = {
        "pandas": pandas,
        "pandas, engine pyarrow": pandas_pyarrow,
        "polars": polars,
        "pyarrow": pyarrow,
    }

    def load(reader: str, path: str) -> dict[str, Any]:
        start = time.perf_counter()
        rows = readers[reader](path)
        return {"seconds": time.perf_counter() - start, "value": rows}

    return {"load": load}
