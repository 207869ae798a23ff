"""The container of embeddings: an array, or a data frame keyed by node ids."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn import get_config

from linkproof._words import refused

OUTPUTS = ("default", "pandas", "polars")


def chosen_output(name: Any) -> str:
    """The name of a container."""
    if name in OUTPUTS:
        return str(name)
    raise refused("transform", f"one of {list(OUTPUTS)}", name)


def as_configured(estimator: Any, values: npt.NDArray[np.float32], ids: Any) -> Any:
    """Embeddings in the container chosen for this estimator, or for all of scikit-learn."""
    own = getattr(estimator, "_sklearn_output_config", {})
    output = own.get("transform", get_config()["transform_output"])
    if output == "default":
        return values
    columns = list(estimator.get_feature_names_out())
    if output == "pandas":
        return pd.DataFrame(values, columns=columns, index=ids)
    import polars

    return polars.DataFrame(values, schema=columns)
