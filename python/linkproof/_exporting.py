"""A fitted model in the hands of other libraries: graph files, AnnData, PyG."""

from __future__ import annotations

import warnings
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from linkproof import _core
from linkproof._features import read_matrix
from linkproof._fitted import FittedModel
from linkproof._progress import Progress
from linkproof._settings import read_flag, read_threads
from linkproof._words import refused

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
                format=format,
                embeddings=read_flag("embeddings", embeddings),
                layout=layout,
                threads=read_threads(self.n_jobs),
                show=progress.show,
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
