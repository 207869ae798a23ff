"""The parameter `score`, whose name scikit-learn takes for that of a method."""

from __future__ import annotations

import inspect
from typing import Any

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
