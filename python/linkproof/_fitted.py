"""What a fitted model knows: the core's model, and the ids as the caller gave them."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted, validate_data

from linkproof import _core
from linkproof._features import as_table, frame_library, read_matrix
from linkproof._inputs import core_vectors, matrix_block
from linkproof._nodes import core_ids, id_array
from linkproof._progress import Progress
from linkproof._settings import read_threads
from linkproof._words import refused


class FittedModel:
    """The attributes of a fitted model, all of them read from the core."""

    _model: _core.Model
    # None: the ids are the row numbers.
    _ids: list[Hashable] | None
    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]
    n_jobs: int | None
    device: str
    verbose: bool

    @property
    def embedding_(self) -> npt.NDArray[np.float32]:
        """The embeddings, a row for each of ``nodes_``; read-only."""
        check_is_fitted(self)
        return self._model.embedding

    @property
    def nodes_(self) -> npt.NDArray[Any]:
        """The ids of the nodes, as they were given."""
        check_is_fitted(self)
        return id_array(self._ids, self._model.embedding.shape[0])

    @property
    def names_(self) -> npt.NDArray[Any] | None:
        """What the nodes are called; None where nobody said."""
        check_is_fitted(self)
        header = self._model.name_column
        if header is None:
            return None
        return np.array(dict(self._model.columns)[header], dtype=object)

    @property
    def node_table_(self) -> pd.DataFrame:
        """The nodes with all that a table said of them."""
        check_is_fitted(self)
        table = pd.DataFrame({"node": pd.Series(self.nodes_)})
        if any(self.views_) and not self._model.directed:
            table["view"] = np.array(self.views_, dtype=object)[self._model.node_views]
        for header, texts in self._model.columns:
            table.insert(len(table.columns), header, texts, allow_duplicates=True)
        return table

    @property
    def report_(self) -> dict[str, Any]:
        """All about the fit, as ``fit.json`` of a saved model has it."""
        check_is_fitted(self)
        report: dict[str, Any] = json.loads(self._model.report)
        return report

    @property
    def gamma_(self) -> float | dict[tuple[str, str], float]:
        """The fitted constant; with several views one for each pair of views."""
        check_is_fitted(self)
        names, gamma = self.views_, self._model.gamma
        if len(names) == 1:
            return gamma[0][2]
        return {(names[d], names[e]): value for d, e, value in gamma}

    @property
    def history_(self) -> pd.DataFrame:
        """A row for each step: step, value, gradient_norm, held_out, seconds."""
        check_is_fitted(self)
        return pd.DataFrame(self._model.history())

    @property
    def stop_reason_(self) -> str:
        """Why the fit ended."""
        return str(self.report_["stop_reason"])

    @property
    def n_iter_(self) -> int:
        """The number of steps."""
        return int(self.report_["steps"])

    @property
    def value_(self) -> float:
        """The sum of the score over the training pairs."""
        return float(self.report_["value"])

    @property
    def views_(self) -> list[str]:
        """The names of the views; ``[""]`` for the only, unnamed one."""
        check_is_fitted(self)
        return [name for name, _, _ in self._model.views]

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    @property
    def _n_features_out(self) -> int:
        return int(self._model.embedding.shape[1])

    def _keep(self, model: _core.Model, ids: list[Hashable] | None) -> None:
        """Takes a model over; what is known of an earlier one's data goes."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        is_counting = isinstance(core_ids(ids, model.embedding.shape[0]), int)
        self._model = model
        self._ids = None if is_counting else ids
        views = model.views
        if (len(views) == 1 or model.directed) and views[0][1]:
            self.n_features_in_ = views[0][2]

    def _context(self, progress: Progress) -> _core.Context:
        """What the model's work runs with."""
        return _core.Context(threads=read_threads(self.n_jobs), show=progress.show)

    def _nodes_of(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The ids of rows of the core, where nodes of directed links have two each."""
        nodes: npt.NDArray[Any] = self.nodes_
        found: npt.NDArray[Any] = nodes[rows % len(nodes)]
        return found

    def _with_names(self, table: pd.DataFrame, **rows: npt.NDArray[Any]) -> pd.DataFrame:
        """A table with columns of names more, by rows of the core, where there are any."""
        names = self.names_
        if names is not None:
            for header, places in rows.items():
                table[header] = names[places % len(names)]
        return table

    def _rows_by_text(self) -> dict[str, int] | None:
        """The row of each id; None where ids are row numbers."""
        if self._ids is None:
            return None
        return {str(node): row for row, node in enumerate(self._ids)}

    def _view_place(self, view: str | None, name: str = "view") -> int:
        """The place of a view, which may go without saying."""
        names = self.views_
        if view is None and len(names) == 1:
            return 0
        if view not in names:
            raise refused(name, f"one of {names}", view)
        return names.index(view)

    def _read_unseen(self, X: Any, place: int, name: str = "X") -> _core.Vectors:
        """Data vectors of unseen nodes of a view."""
        table = as_table(X)
        matrix = read_matrix(table, name)
        alike = len(self.views_) == 1 or self._model.directed
        if alike and hasattr(self, "n_features_in_"):
            named = matrix if frame_library(table) is None else table
            validate_data(self, named, reset=False, skip_check_array=True)
        width = self._model.views[place][2]
        if self._model.views[place][1] and matrix.shape[1] != width:
            raise ValueError(
                f"{name}: found data vectors of {matrix.shape[1]} entries; "
                f"expected {width}, as the model was fitted with"
            )
        return core_vectors(matrix, name)

    def _links_to_known(self, links: Any, n_new: int, name: str) -> list[tuple[int, int, float]]:
        """Links from new rows to rows of the fit."""
        if not sp.issparse(links):
            raise ValueError(
                f"{name}: found {type(links).__name__}; expected a sparse matrix, a row for each "
                "unseen node and a column for each node of the fit"
            )
        found = matrix_block(links, (n_new, self._model.embedding.shape[0]), name)
        assert found.weight is not None
        bad = ~np.isfinite(found.weight)
        if bad.any():
            place = int(np.argmax(bad))
            ends = f"row {found.src[place]}, column {found.dst[place]}"
            raise ValueError(
                f"{name}: found weight {found.weight[place]} in {ends}; expected finite weights"
            )
        listed = zip(found.src.tolist(), found.dst.tolist(), found.weight.tolist())
        return [(row, node, weight) for row, node, weight in listed if weight != 0]
