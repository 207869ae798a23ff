"""Embeddings of nodes that a model has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from linkproof._features import is_dict, row_ids
from linkproof._fitted import FittedModel
from linkproof._output import as_configured
from linkproof._settings import read_threads


class Transforming(FittedModel):
    """What embeds unseen nodes."""

    def transform(self, X: Any, links: Any = None, *, view: str | None = None) -> Any:
        """Embed unseen nodes from their data vectors, in the space of ``embedding_``.

        Parameters
        ----------
        X : array, sparse matrix, data frame, or dict of views
            The data vectors, a row for each node.
        links : sparse matrix of shape (n_rows, n_nodes), optional
            Links to nodes of the fit, for a model with ``propagate``, or a robust
            one: it judges them as far as data vectors allow, and averages over those
            that it believes where ``embedding_`` is averaged.
        view : str, optional
            The view of the nodes, where the model has several.

        Returns
        -------
        embedding : ndarray of shape (n_rows, dim), float32
            Or a data frame, see :meth:`set_output`; for a dict a dict.

        Examples
        --------
        >>> import numpy as np
        >>> from linkproof import GraphEmbedding
        >>> X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
        >>> model = GraphEmbedding(dim=2).fit(X, [(0, 1), (2, 3)])
        >>> bool(np.allclose(model.transform(X), model.embedding_, atol=1e-5))
        True
        """
        check_is_fitted(self)
        if is_dict(X):
            if links is not None:
                raise ValueError("links: found with a dict of views; expected one view at a time")
            return {name: self.transform(values, view=name) for name, values in X.items()}
        threads = read_threads(self.n_jobs)
        if self._model.directed and view is None:
            if links is not None:
                raise ValueError(
                    "links: found with directed links; expected None: unseen nodes are embedded "
                    "from their data vectors alone"
                )
            sides = (self._read_unseen(X, place) for place in (0, 1))
            both = [
                self._model.embed(place, vectors, None, threads=threads)
                for place, vectors in enumerate(sides)
            ]
            return as_configured(self, np.hstack(both), row_ids(X))
        place = self._view_place(view)
        vectors = self._read_unseen(X, place)
        listed = None
        if links is not None:
            listed = self._links_to_known(links, vectors.shape[0], "links")
        found = self._model.embed(place, vectors, listed, threads=threads)
        return as_configured(self, found, row_ids(X))
