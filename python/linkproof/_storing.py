"""A model as files: its folder, and its page."""

from __future__ import annotations

import json
import platform
from collections.abc import Hashable
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from linkproof import _core
from linkproof._fitted import FittedModel
from linkproof._options import grouped
from linkproof._progress import Progress
from linkproof._settings import from_core, read_flag, read_threads
from linkproof._trusting import CHOSEN_BY_RECIPE
from linkproof.measures import is_unlabelled

if TYPE_CHECKING:
    from typing_extensions import Self

# Parameters that a model folder does not hold by itself.
_KEPT = ("robust", "duplicates", "self_links")


class Storing(FittedModel):
    """What a fitted model writes, and what it is read from."""

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model as a folder, as the command line's ``fit`` does.

        Parameters
        ----------
        path : str or path
            The folder, which appears whole or not at all.
        overwrite : bool, default=False
            Replace the model that the folder holds, if it holds nothing else.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from linkproof import GraphEmbedding
        >>> model = GraphEmbedding(dim=2).fit(None, [("ada", "charles"), ("ada", "mary")])
        >>> folder = pathlib.Path(tempfile.mkdtemp()) / "model"
        >>> model.save(folder)
        >>> list(GraphEmbedding.load(folder).nodes_)
        ['ada', 'charles', 'mary']
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        known = {
            "python": platform.python_version(),
            "feature_names": None if names is None else list(names),
            "ids": "int" if self.nodes_.dtype.kind == "i" else "text",
            **{name: getattr(self, name) for name in _KEPT},
        }
        self._model.save(path, read_flag("overwrite", overwrite), json.dumps({"python": known}))

    def report(
        self,
        path: str | PathLike[str],
        *,
        labels: Any = None,
        layout: str = "auto",
        title: str = "model",
    ) -> None:
        """Write the model as one HTML page, which works without a network.

        A map of the nodes to zoom, search and colour, the links with suspects, the
        training curve, and degrees and weights beside those that the fit expects.

        Parameters
        ----------
        path : str or path
            The file, such as ``"report.html"``.
        labels : sequence of shape (n_nodes,), optional
            A class for each of ``nodes_`` to colour by; None or NaN for none.
        layout : {"auto", "pca", "neighbors"}, default="auto"
            How more than two dimensions become two; "auto": neighbours, in the
            manner of UMAP, up to 20,000 nodes.
        title : str, default="model"
            What the page is called.
        """
        check_is_fitted(self)
        names = None
        if labels is not None:
            names = [None if is_unlabelled(label) else str(label) for label in labels]
            n = len(self.embedding_)
            if len(names) != n:
                raise ValueError(f"labels: found {len(names)}; expected {n}, one for each node")
        with Progress("laying nodes out", self.verbose) as progress:
            self._model.write_page(
                path,
                str(title),
                names,
                layout,
                threads=read_threads(self.n_jobs),
                show=progress.show,
            )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a model folder that Python or the command line wrote.

        Parameters
        ----------
        path : str or path
            The folder.

        Returns
        -------
        model : GraphEmbedding
            Fitted. Ids are as Python gave them where they are all whole numbers, or all
            text; those of the command line are text, or row numbers where they were 0,
            1, ...
        """
        model = _core.Model.load(path)
        report = json.loads(model.report)
        known = report.get("python")
        known = known if isinstance(known, dict) else {}
        params = from_core(report["params"])
        if "robust" in report:
            params.update(CHOSEN_BY_RECIPE, robust=True)
            if len(report["robust"]["ridges"]) > 1:  # chosen, not given
                params["ridge"] = None
        params.update({name: known[name] for name in _KEPT if name in known})
        make: Any = cls  # which takes the parameters of the estimator
        loaded: Self = make(**grouped(params), directed=model.directed)
        loaded._keep(model, as_given(model.ids, known.get("ids")))
        if known.get("feature_names"):
            loaded.feature_names_in_ = np.array(known["feature_names"], dtype=object)
        return loaded


def as_given(ids: list[str] | None, kind: Any) -> list[Hashable] | None:
    """Ids as Python gave them; a folder holds them as text."""
    if ids is None:
        return None
    try:
        return [int(node) for node in ids] if kind == "int" else list(ids)
    except ValueError:  # nodes of other ids have joined since
        return list(ids)
