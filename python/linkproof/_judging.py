"""Which links not to trust, which are missing, and averages over those believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from linkproof import _core
from linkproof._features import is_dict, read_matrix, row_ids
from linkproof._fitted import FittedModel
from linkproof._handover import core_ids, core_links, core_vectors, rows_of
from linkproof._inputs import read_graph
from linkproof._output import as_configured
from linkproof._progress import Progress
from linkproof._settings import read_flag, read_threads


class Judging(FittedModel):
    """What a fitted model makes of single links."""

    duplicates: str
    self_links: str
    weights: str

    def audit(
        self,
        links: Any = None,
        X: Any = None,
        *,
        cross_fit: bool = False,
        folds: int = 5,
        fdr: float | None = None,
        min_trust: float | None = None,
    ) -> pd.DataFrame:
        r"""Say how far each link is to be believed, least trusted first.

        The trust in a link of weight :math:`w`, where :math:`\mu` is expected, is
        :math:`p(w \mid \mu) / p(w \mid w)` for a Poisson :math:`p` if
        :math:`w > \mu`, else 1.

        Parameters
        ----------
        links : as for fit, optional
            Other links between the model's nodes; those of the fit by default.
        X : as for fit, optional
            The data vectors of the fit, for `cross_fit` and the column cosine.
        cross_fit : bool, default=False
            Judge each link by a fit that did not see it (one fit for each fold;
            needs `X` unless every node has a vector of its own). A fit is kind to
            links that it has seen: it ranks them well, but calls fewer suspect.
        folds : int, default=5
            The folds of `cross_fit`.
        fdr : float, optional
            Links are suspects where the chance that they are sound is at most
            this. Default: 0.1, or none with `min_trust`.
        min_trust : float, optional
            Links of less trust are suspects, whatever that chance.

        Returns
        -------
        audit : DataFrame
            src, dst, weight, mu (expected weight), trust, influence (the weight
            in the estimating equations), surprise (-log10 of the chance of a
            weight as large), fdr (the chance that it is sound), suspect, and with
            `X` cosine (of the data vectors). ``attrs["random_share"]`` is the share
            of links that look like random pairs. Weights are as given, mu and what
            follows from it as the fit sees them (``attrs["weights"]``).

        Examples
        --------
        >>> import numpy as np
        >>> from linkproof import GraphEmbedding
        >>> X = np.repeat(np.eye(2), 6, axis=0)
        >>> links = [(i, j) for i in range(12) for j in range(i) if (i < 6) == (j < 6)]
        >>> model = GraphEmbedding(dim=2, ridge=0.1).fit(X, [*links, (0, 11)])
        >>> model.audit()[["src", "dst"]].iloc[0].tolist()
        [0, 11]
        """
        check_is_fitted(self)
        found = self._judge(links, X, cross_fit, folds, fdr, min_trust, 0)
        table = pd.DataFrame(found["table"])
        for end in ("src", "dst"):
            table[end] = self.nodes_[table[end].to_numpy()]
        table.attrs["random_share"] = found["random_share"]
        table.attrs["weights"] = self.weights
        return table

    def missing_links(self, top: int = 20, *, links: Any = None) -> pd.DataFrame:
        """The pairs of largest expected weight that have no link.

        Parameters
        ----------
        top : int, default=20
            How many. All pairs of nodes are looked at.
        links : as for fit, optional
            Other links than those of the fit.

        Returns
        -------
        missing : DataFrame with columns src, dst and mu, largest first

        Examples
        --------
        >>> import numpy as np
        >>> from linkproof import GraphEmbedding
        >>> X = np.repeat(np.eye(2), 6, axis=0)
        >>> links = [(i, j) for i in range(12) for j in range(i) if (i < 6) == (j < 6)]
        >>> model = GraphEmbedding(dim=2, ridge=0.1).fit(X, links[1:])   # without (1, 0)
        >>> model.missing_links(1)[["src", "dst"]].iloc[0].tolist()
        [0, 1]
        """
        check_is_fitted(self)
        if not isinstance(top, (int, np.integer)) or top < 1:
            raise ValueError(f"top: accepted is a whole number of 1 or more; given was {top!r}")
        pairs = self._judge(links, None, False, 5, None, None, int(top))["missing"]
        table = pd.DataFrame(pairs, columns=["src", "dst", "mu"])
        for end in ("src", "dst"):
            table[end] = self.nodes_[table[end].to_numpy(np.int64)]
        return table

    def smooth(
        self,
        X: Any = None,
        X_new: Any = None,
        *,
        links: Any = None,
        new_links: Any = None,
        times: int = 2,
        cross_fit: bool = True,
        folds: int = 5,
        view: str | None = None,
    ) -> Any:
        """Embeddings averaged over the links, each as far as it is believed.

        Where neighbours are alike, these tell clusters apart better than the
        embeddings themselves. Expected weights stay those of the embeddings.

        Parameters
        ----------
        X : as for fit, optional
            The data vectors of the fit; needed by `cross_fit` (unless every node
            has a vector of its own) and by `X_new` without links.
        X_new : array, sparse matrix or data frame, optional
            Data vectors of unseen nodes, whose averages are returned instead:
            over their own links, or else by a regression of the averages on data
            vectors.
        links : as for fit, optional
            Other links than those of the fit.
        new_links : sparse matrix of shape (n_new, n_nodes), optional
            Links of the unseen nodes to nodes of the fit.
        times : int, default=2
            How often averages are taken.
        cross_fit : bool, default=True
            Judge each link by a fit that did not see it; False: by this model.
        folds : int, default=5
            The folds of `cross_fit`.
        view : str, optional
            The view of the unseen nodes, where the model has several.

        Returns
        -------
        embedding : ndarray of shape (n_nodes or n_new, dim), float32

        Examples
        --------
        >>> import numpy as np
        >>> from linkproof import GraphEmbedding
        >>> X = np.repeat(np.eye(2), 6, axis=0)
        >>> links = [(i, j) for i in range(12) for j in range(i) if (i < 6) == (j < 6)]
        >>> model = GraphEmbedding(dim=2, ridge=0.1).fit(X, links)
        >>> model.smooth(X).shape, model.smooth(X, X_new=[[1.0, 0.5]]).shape
        ((12, 2), (1, 2))
        """
        check_is_fitted(self)
        if not isinstance(times, (int, np.integer)) or not 1 <= times <= 100:
            raise ValueError(f"times: accepted is 1 to 100; given was {times!r}")
        ids: Any = self.nodes_
        new, known = None, None
        if X_new is not None:
            place = self._view_place(view)
            matrix = self._read_unseen(X_new, place)
            new, ids = (place, core_vectors(matrix)), row_ids(X_new)
            if new_links is not None:
                known = self._links_to_known(new_links, matrix.shape[0])
        elif new_links is not None:
            raise ValueError("new_links: found without X_new; expected the nodes' data vectors too")
        with Progress("judging links", self.verbose) as progress:
            found = _core.smooth(
                self._model,
                self._links_between(links),
                self._vectors_of_nodes(X),
                folds=_folds(folds) if read_flag("cross_fit", cross_fit) else None,
                times=int(times),
                new=new,
                new_links=known,
                threads=read_threads(self.n_jobs),
                show=progress.show,
            )
        return as_configured(self, found, ids)

    def _judge(
        self,
        links: Any,
        X: Any,
        cross_fit: bool,
        folds: int,
        fdr: float | None,
        min_trust: float | None,
        missing: int,
    ) -> dict[str, Any]:
        with Progress("judging links", self.verbose) as progress:
            return _core.audit(
                self._model,
                self._links_between(links),
                self._vectors_of_nodes(X),
                folds=_folds(folds) if read_flag("cross_fit", cross_fit) else None,
                fdr=_share("fdr", fdr),
                min_trust=_share("min_trust", min_trust),
                missing_pairs=missing,
                threads=read_threads(self.n_jobs),
                show=progress.show,
            )

    def _links_between(self, links: Any) -> _core.Links | None:
        """Links between the model's nodes, by their ids."""
        if links is None:
            return None
        n = len(self.embedding_)
        graph = read_graph(None, links, nodes=self.nodes_)
        return core_links(graph.links, core_ids(self._ids, n), (self.duplicates, self.self_links))

    def _vectors_of_nodes(self, X: Any) -> list[tuple[str, int, _core.Vectors | None]]:
        """The data vectors of the model's nodes, a view after the other."""
        if X is None:
            return []
        by_view = X if is_dict(X) else {"": X}
        node_views = self._model.node_views
        found: list[tuple[str, int, _core.Vectors | None]] = []
        for name, values in by_view.items():
            if isinstance(values, (int, np.integer)):
                continue
            place = self._view_place(name if is_dict(X) else None)
            members = np.flatnonzero(node_views == place)
            label = f"X[{name!r}]" if is_dict(X) else "X"
            matrix, ids = read_matrix(values, label), row_ids(values)
            if ids is not None:
                row_of = {str(node): row for row, node in enumerate(ids)}
                order = rows_of(self.nodes_[members], row_of, len(ids), label)
                in_place = len(order) == len(ids) and bool((order == np.arange(len(ids))).all())
                matrix = matrix if in_place else matrix[order]
            if matrix.shape[0] != len(members):
                raise ValueError(
                    f"{label}: found {matrix.shape[0]} rows; expected {len(members)}, "
                    "one for each node of the fit"
                )
            found.append((self.views_[place], len(members), core_vectors(matrix)))
        return found


def _folds(folds: Any) -> int:
    if isinstance(folds, (int, np.integer)) and not isinstance(folds, bool) and folds >= 0:
        return int(folds)
    raise ValueError(f"folds: accepted is 2 to 100; given was {folds!r}")


def _share(name: str, value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: accepted is a number from 0 to 1; given was {value!r}") from None
