"""The container of embeddings: an array, or a data frame keyed by node ids."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn import get_config

from linkproof._words import refused

OUTPUTS = ("default", "pandas", "polars")

Self = TypeVar("Self", bound="OutputChoice")


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


class OutputChoice:
    """What chooses the container, and says what of scikit-learn's kinds there is."""

    def set_output(self: Self, *, transform: str | None = None) -> Self:
        """Choose the container of embeddings.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            Arrays; pandas frames whose index are the nodes' ids; Polars frames.
            None leaves the choice as it is.

        Examples
        --------
        >>> from linkproof import GraphEmbedding
        >>> model = GraphEmbedding(dim=2).set_output(transform="pandas")
        >>> frame = model.fit_transform(None, [("ada", "charles"), ("ada", "mary")])
        >>> list(frame.index), list(frame.columns)
        (['ada', 'charles', 'mary'], ['graphembedding0', 'graphembedding1'])
        """
        if transform is not None:
            self._sklearn_output_config = {"transform": chosen_output(transform)}
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
