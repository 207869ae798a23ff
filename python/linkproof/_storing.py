"""A fitted model as files and in other libraries: its folder, its page, graphs, AnnData, PyG."""

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
from linkproof._settings import from_core, read_flag
from linkproof._verdict import CHOSEN_BY_RECIPE
from linkproof.measures import is_unlabelled

if TYPE_CHECKING:
    from typing_extensions import Self
import warnings
from os import fspath
from pathlib import PurePath

import numpy.typing as npt
import scipy.sparse as sp

from linkproof._features import read_matrix
from linkproof._words import refused

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
            context = self._context(progress)
            _core.write_page(self._model, path, str(title), names, layout, context)

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


_FORMATS = ("graphml", "json")


class Exporting(FittedModel):
    """What a fitted model is to other programs and libraries."""

    def export(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,
        embeddings: bool = False,
        layout: str = "auto",
    ) -> None:
        """Write the model as a graph: GraphML, or NetworkX's node-link JSON.

        Nodes have label (the name, or else the id), coordinates x and y, view, class and
        class_name where there are any, and every column of ``node_table_``. Links have
        weight, mu (the expected weight) and, of a robust fit, belief. Ids are text.

        Parameters
        ----------
        path : str or path
            The file.
        format : {"graphml", "json"}, optional
            By default what the file's name ends in.
        embeddings : bool, default=False
            Give nodes their embeddings too, y0, y1, ...
        layout : {"auto", "pca", "neighbors"}, default="auto"
            How more than two dimensions become x and y.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import networkx as nx
        >>> from linkproof import GraphEmbedding
        >>> model = GraphEmbedding(dim=2).fit(None, [("ada", "charles"), ("ada", "mary")])
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "graph.graphml"
        >>> model.export(path)
        >>> sorted(nx.read_graphml(path)["ada"]["mary"])
        ['mu', 'weight']
        """
        check_is_fitted(self)
        if format is None:
            format = PurePath(fspath(path)).suffix[1:].lower()
        if format not in _FORMATS:
            accepted = f"one of {list(_FORMATS)} as format= or ending (GEXF is gone)"
            raise refused("format", accepted, format)
        with Progress("laying nodes out", self.verbose) as progress:
            replaced = _core.export(
                self._model,
                path,
                self._context(progress),
                format=format,
                embeddings=read_flag("embeddings", embeddings),
                layout=layout,
            )
        if replaced:
            warnings.warn(
                f"{replaced} control characters in names or columns, which XML has no place for, "
                "were replaced",
                UserWarning,
                stacklevel=2,
            )

    def to_anndata(self, X: Any = None) -> Any:
        """The model as ``anndata.AnnData``: nodes are observations.

        Parameters
        ----------
        X : array, sparse matrix or data frame, optional
            Data vectors of the nodes, in the order of ``nodes_``, to put in as X.

        Returns
        -------
        data : anndata.AnnData
            ``obsm["X_linkproof"]`` has the embeddings (and ``"X_linkproof_plain"`` those
            of the encoder, where a robust fit averages), ``obsp`` the matrices
            linkproof_weight, linkproof_mu (expected weights of links) and, of a robust
            fit, linkproof_belief; ``obs`` the table of nodes, ``uns["linkproof"]`` gamma
            or gammas, and how the fit ended.

        Examples
        --------
        >>> import numpy as np
        >>> from linkproof import GraphEmbedding
        >>> model = GraphEmbedding(dim=2).fit(None, [("ada", "charles"), ("ada", "mary")])
        >>> data = model.to_anndata()
        >>> data.obsm["X_linkproof"].shape, data.obs_names.tolist()
        ((3, 2), ['ada', 'charles', 'mary'])
        """
        check_is_fitted(self)
        anndata = _library("anndata", "to_anndata")
        n = len(self.nodes_)
        matrix = None if X is None else read_matrix(X)
        if matrix is not None and matrix.shape[0] != n:
            raise ValueError(f"X: found {matrix.shape[0]} rows; expected {n}, one for each node")
        obs = self.node_table_.drop(columns="node")
        obs.index = [str(node) for node in self.nodes_]
        obsm = {"X_linkproof": np.array(self.embedding_)}
        if self._model.plain_embedding is not self._model.embedding and not np.array_equal(
            self._model.plain_embedding, self._model.embedding
        ):
            obsm["X_linkproof_plain"] = np.array(self._model.plain_embedding)
        columns = self._link_columns()
        obsp = {f"linkproof_{name}": self._square(values) for name, values in columns.items()}
        gamma = self.gamma_
        told = {":".join(pair): value for pair, value in gamma.items()} if isinstance(
            gamma, dict
        ) else gamma  # fmt: skip
        uns = {"linkproof": {"gamma": told, "stop_reason": self.stop_reason_}}
        return anndata.AnnData(X=matrix, obs=obs, obsm=obsm, obsp=obsp, uns=uns)

    def to_pyg(self) -> Any:
        """The model as ``torch_geometric.data.Data``.

        Returns
        -------
        data : torch_geometric.data.Data
            ``x`` has the embeddings, ``edge_index`` the links (both ways, unless they
            have directions), ``edge_weight`` their weights, ``mu`` the expected ones and,
            of a robust fit, ``belief``; ``node_id`` the ids and ``name`` the names, as
            lists.
        """
        check_is_fitted(self)
        torch = _library("torch", "to_pyg")
        data = _library("torch_geometric.data", "to_pyg")
        src, dst = self._link_ends()
        columns = self._link_columns()
        if not self._model.directed:
            src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
            columns = {name: np.tile(values, 2) for name, values in columns.items()}
        more = {
            "edge_weight" if name == "weight" else name: torch.as_tensor(values.astype(np.float32))
            for name, values in columns.items()
        }
        names = self.names_
        if names is not None:
            more["name"] = names.tolist()
        return data.Data(
            x=torch.as_tensor(np.array(self.embedding_)),
            edge_index=torch.as_tensor(np.stack([src, dst])),
            node_id=self.nodes_.tolist(),
            **more,
        )

    def _link_ends(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The rows of both ends of each link, of nodes as users count them."""
        src, dst, _ = self._model.links.arrays()
        n = len(self.nodes_)
        return src.astype(np.int64) % n, dst.astype(np.int64) % n

    def _link_columns(self) -> dict[str, npt.NDArray[np.float64]]:
        """What is known of each link."""
        src, dst, weight = self._model.links.arrays()
        points, views = self._model.points, self._model.node_views
        ends = src.astype(np.int64), dst.astype(np.int64)
        columns = {"weight": weight, "mu": self._model.expected(points, views, *ends)[2]}
        belief = self._model.beliefs
        if belief is not None:
            columns["belief"] = belief
        return columns

    def _square(self, values: npt.NDArray[np.float64]) -> Any:
        """Values of links as a sparse matrix over the nodes."""
        src, dst = self._link_ends()
        n = len(self.nodes_)
        found = sp.csr_matrix((values, (src, dst)), shape=(n, n))
        return found if self._model.directed else (found + found.T).tocsr()


def _library(name: str, method: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        library = name.split(".")[0]
        raise ImportError(
            f"{method} needs {library}, which is not installed: pip install {library}"
        ) from None
