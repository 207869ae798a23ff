"""What scikit-learn asks of an estimator: containers of embeddings, and the parameter `score`."""

from __future__ import annotations

import inspect
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


_NO_SCORE = (
    "score is a parameter here, the name of a score ({name!r}), and no method: a fit to a graph "
    "has no score by rows of X, and GridSearchCV and cross_val_score, which cut rows, would cut "
    "links too. linkproof.select(X, links) chooses settings without labels; linkproof.measures has "
    "measures of embeddings"
)


class ScoreName(str):
    """The name of a score, which says so when it is called like scikit-learn's method."""

    __slots__ = ()

    def __call__(self, *_: Any, **__: Any) -> float:
        raise TypeError(_NO_SCORE.format(name=str(self)))


class ScoreParameter:
    """An attribute that holds the name of a score. What is no text is kept as it is."""

    def __get__(self, estimator: Any, _: Any = None) -> Any:
        if estimator is None:
            return self
        # scikit-learn's searches ask for a method `score` before they compare the lengths of X
        # and links, about which they would complain in words that help nobody.
        frame = inspect.currentframe()
        asking = frame.f_back if frame is not None else None
        if asking is not None and asking.f_code.co_name == "check_scoring":
            raise TypeError(_NO_SCORE.format(name=str(estimator.__dict__.get("score"))))
        try:
            return estimator.__dict__["score"]
        except KeyError:
            raise AttributeError("score") from None

    def __set__(self, estimator: Any, value: Any) -> None:
        is_plain = isinstance(value, str) and not isinstance(value, ScoreName)
        # Clones hand over the name as it is, and compare it by identity.
        estimator.__dict__["score"] = ScoreName(value) if is_plain else value
