"""Which links not to trust, which are missing, and averages over those believed."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from linkproof import _core
from linkproof._features import is_dict, read_matrix, row_ids
from linkproof._fitted import FittedModel
from linkproof._graphs import is_hetero_data, refuse_directions
from linkproof._handover import core_ids, core_links, core_vectors, rows_of
from linkproof._inputs import read_graph
from linkproof._links import ListedLinks, MatrixLinks
from linkproof._output import as_configured
from linkproof._progress import Progress
from linkproof._settings import read_count, read_flag, read_rules, read_threads
from linkproof._words import quoted, refused


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
        judge: bool = True,
        false_discovery_rate: float | None = None,
        cross_fit: bool = False,
        folds: int = 5,
        fdr: float | None = None,
        min_trust: float | None = None,
    ) -> pd.DataFrame:
        r"""Say how far each link is to be believed, least believed first.

        The belief in a link is the chance that it is sound, by a judge: fits that
        did not see it say how much speaks for it, against pairs without a link and
        with degrees like its own. Weights count by their order alone. A robust fit
        has its beliefs already.

        The trust in a link of weight :math:`w`, where :math:`\mu` is expected, is
        :math:`p(w \mid \mu) / p(w \mid w)` for a Poisson :math:`p` if
        :math:`w > \mu`, else 1.

        Parameters
        ----------
        links : as for fit, optional
            Other links between the model's nodes; those of the fit by default.
        X : as for fit, optional
            The data vectors of the fit, for the judge, `cross_fit` and the column
            cosine. The judge of a model that is not robust goes by links alone
            without them, which tells less and calls too many links false.
        judge : bool, default=True
            Judge links (five fits, unless a robust fit has done it); False: only
            what the model itself says.
        false_discovery_rate : float, optional
            Suspects are the least believed links, as many as are claimed to hold
            at most this share of sound ones (none where links could not be judged),
            and links whose weights are too large at this rate of error.
            Default: 0.1, or none with `min_trust` or `fdr`.
        cross_fit : bool, default=False
            Take mu, trust and fdr from fits that did not see the link (one fit for
            each fold; needs `X` unless every node has a vector of its own). A fit is
            kind to links that it has seen.
        folds : int, default=5
            The folds of the judge and of `cross_fit`.
        fdr : float, optional
            Links are suspects where fdr is at most this. Default: none, or 0.1
            with ``judge=False`` and without `min_trust`.
        min_trust : float, optional
            Links of less trust are suspects, whatever that chance.

        Returns
        -------
        audit : DataFrame
            src, dst, weight, mu (expected weight), trust, influence (the weight
            in the estimating equations), surprise (-log10 of the chance of a
            weight as large: of a link, times that of such a size by the law of the
            links' sizes), fdr (the chance that it is sound by mu alone), suspect,
            and with `X` cosine (of the data vectors). From the judge: belief,
            false_discovery_rate (the share of sound links among those believed no
            more), rank (the share of pairs without a link
            that have more to say for them), the same by each kind of evidence,
            rank_embeddings, rank_averages, rank_data_vectors and
            rank_common_neighbors, and weight_odds (what the weight multiplied the
            odds by). Last come weight_fdr, the rate of error of calling the weight
            too large, and why: of a suspect "belief", "weight", "belief and weight" or
            "model" (trust or fdr), else empty. Where the judge abstained, the least
            trusted come first. Then src_name and dst_name, where nodes have names.

            ``attrs`` has random_share (of links that look like random pairs by
            mu), too_heavy (links whose weight is too large), weights (mu and what
            follows from it are of weights as the fit sees them) and
            auc_against_random_pairs: how well the model (fit) and the cosine of the
            data vectors tell links that no fit saw from random pairs; None without
            `X`, or where there are too few. Of the judge it has share_false,
            auc_decoys, abstained and implanted, as :class:`linkproof.Verdict` explains
            them, weights_say (its weights), verdict (what was found, in sentences),
            judged_by_links_alone (data vectors that the model reads were not given) and
            not_judged (why there was nothing to judge by, or None).

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
        judge = read_flag("judge", judge)
        rate = _share("false_discovery_rate", false_discovery_rate)
        found = self._judge(links, X, judge, rate, cross_fit, folds, fdr, min_trust, 0)
        table = pd.DataFrame(found["table"])
        ends = {end: table[end].to_numpy() for end in ("src", "dst")}
        for end, rows in ends.items():
            table[end] = self._nodes_of(rows)
        self._with_names(table, src_name=ends["src"], dst_name=ends["dst"])
        table.attrs.update(weights=self.weights, **json.loads(found["told"]))
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
        top = read_count("top", top)
        pairs = self._judge(links, None, False, None, False, 5, None, None, top)["missing"]
        table = pd.DataFrame(pairs, columns=["src", "dst", "mu"])
        ends = {end: table[end].to_numpy(np.int64) for end in ("src", "dst")}
        for end, rows in ends.items():
            table[end] = self._nodes_of(rows)
        return self._with_names(table, src_name=ends["src"], dst_name=ends["dst"])

    def smooth(
        self,
        X: Any = None,
        X_new: Any = None,
        *,
        links: Any = None,
        new_links: Any = None,
        times: int = 2,
        averaging: str = "gate",
        cross_fit: bool = True,
        folds: int = 5,
        view: str | None = None,
    ) -> Any:
        """Embeddings averaged over the links, each as far as it is believed.

        Where neighbours are alike, these tell clusters apart better than the
        embeddings themselves. Where they are not, averages blur; so a gate is asked
        first. If it stays shut, the embeddings come back as they are, with a warning
        that says what it found. Expected weights stay those of the embeddings.

        Parameters
        ----------
        X : as for fit, optional
            The data vectors of the fit; needed by `cross_fit` (unless every node
            has a vector of its own) and by `X_new` without links.
        X_new : array, sparse matrix or data frame, optional
            Data vectors of unseen nodes, whose averages are returned instead:
            over their own links where these are believed, or else by a regression
            of the averages on data vectors. (Without `X` to learn that from, nodes
            without believed links stay as :meth:`transform` embeds them, and a
            warning says so.)
        links : as for fit, optional
            Other links than those of the fit.
        new_links : sparse matrix of shape (n_new, n_nodes), optional
            Links of the unseen nodes to nodes of the fit.
        times : int, default=2
            How often averages are taken, 0 to 100.
        averaging : {"gate", "always", "never"}, default="gate"
            Ask the gate: two fits from four fifths of the columns of `X`, whose
            clusters must tell the other columns as well after averaging as before.
            It stays shut without `X`. "always" averages whatever it would say.
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
        >>> model.smooth(X, averaging="always").shape
        (12, 2)
        >>> model.smooth(X, X_new=[[1.0, 0.5]], averaging="always").shape
        (1, 2)
        """
        check_is_fitted(self)
        times, folds = read_count("times", times, 0, 100), read_count("folds", folds, 2, 100)
        if averaging not in ("gate", "always", "never"):
            raise refused("averaging", "'gate', 'always' or 'never'", averaging)
        is_crossed = read_flag("cross_fit", cross_fit)
        ids: Any = self.nodes_
        new, known = None, None
        if X_new is not None:
            place = self._view_place(view)
            vectors = self._read_unseen(X_new, place, "X_new")
            new, ids = (place, vectors), row_ids(X_new)
            if new_links is not None:
                known = self._links_to_known(new_links, vectors.shape[0], "new_links")
            elif X is None:
                raise ValueError(
                    "X: found no data vectors; expected those of the fit, from which the averages "
                    "of unseen nodes without links are learnt (or new_links)"
                )
        elif new_links is not None:
            raise ValueError("new_links: found without X_new; expected the nodes' data vectors too")
        with Progress("judging links", self.verbose) as progress:
            found, averaged, gate, as_encoded = _core.smooth(
                self._model,
                self._links_between(links),
                self._vectors_of_nodes(X),
                folds=folds if is_crossed else None,
                times=times,
                averaging=averaging,
                new=new,
                links_of_new=known,
                device=str(self.device),
                threads=read_threads(self.n_jobs),
                show=progress.show,
            )
        if averaging == "gate" and not averaged:
            warnings.warn(_shut(gate), UserWarning, stacklevel=2)
        if as_encoded:
            message = (
                f"{as_encoded} unseen nodes have no believed links and stay as the model embeds "
                "them: with X, the data vectors of the fit, they would be averages too"
            )
            warnings.warn(message, UserWarning, stacklevel=2)
        return as_configured(self, found, ids)

    def _judge(
        self,
        links: Any,
        X: Any,
        judge: bool,
        rate: float | None,
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
                judge=judge,
                false_discovery_rate=rate,
                cross_fit=read_flag("cross_fit", cross_fit),
                folds=read_count("folds", folds, 2, 100),
                fdr=_share("fdr", fdr),
                min_trust=_share("min_trust", min_trust),
                missing_pairs=missing,
                device=str(self.device),
                threads=read_threads(self.n_jobs),
                show=progress.show,
            )

    def _links_between(self, links: Any) -> _core.Links | None:
        """Links between the model's nodes, by their ids."""
        if links is None:
            return None
        if len(self.views_) > 1 and (is_dict(links) or is_hetero_data(links)):
            found: MatrixLinks | ListedLinks = self._links_by_view(links)
        else:
            refuse_directions(None, links, self._model.directed, self.duplicates)
            found = read_graph(None, links, nodes=self.nodes_).links
        rules = read_rules(self.duplicates, self.self_links, self._model.directed)
        return core_links(found, core_ids(self._ids, len(self.embedding_)), rules)

    def _links_by_view(self, links: Any) -> ListedLinks:
        """Links by pair of views, whatever the order of the views in them."""
        node_views = self._model.node_views
        members = {
            name: np.flatnonzero(node_views == place) for place, name in enumerate(self.views_)
        }
        sizes = {name: len(rows) for name, rows in members.items()}
        graph = read_graph(sizes if is_dict(links) else None, links)
        for view in graph.views:
            if sizes.get(view.name) != view.n:
                raise ValueError(
                    f"links: found {view.n} nodes of view {quoted(view.name)}; expected the "
                    "views of the "
                    f"model, {sizes}"
                )
        rows = np.concatenate([members[view.name] for view in graph.views])
        assert isinstance(graph.links, ListedLinks)
        return replace(graph.links, src=rows[graph.links.src], dst=rows[graph.links.dst])

    def _vectors_of_nodes(self, X: Any) -> list[tuple[str, int, _core.Vectors | None]]:
        """The data vectors of the model's nodes, a view after the other."""
        if X is None:
            return []
        by_view = X if is_dict(X) else {"": X}
        if self._model.directed and not is_dict(X):
            X = by_view = dict.fromkeys(self.views_, X)
        node_views = self._model.node_views
        found: list[tuple[str, int, _core.Vectors | None]] = []
        for name, values in by_view.items():
            if isinstance(values, (int, np.integer)):
                continue
            place = self._view_place(name if is_dict(X) else None)
            members = np.flatnonzero(node_views == place)
            label = f"X[{quoted(name)}]" if is_dict(X) else "X"
            matrix, ids = read_matrix(values, label), row_ids(values)
            if ids is not None:
                row_of = {str(node): row for row, node in enumerate(ids)}
                order = rows_of(self._nodes_of(members), row_of, len(ids), label)
                in_place = len(order) == len(ids) and bool((order == np.arange(len(ids))).all())
                matrix = matrix if in_place else matrix[order]
            if matrix.shape[0] != len(members):
                raise ValueError(
                    f"{label}: found {matrix.shape[0]} rows; expected {len(members)}, "
                    "one for each node of the fit"
                )
            found.append((self.views_[place], len(members), core_vectors(matrix, label)))
        return found


def _shut(gate: float | None) -> str:
    """Why embeddings were not averaged."""
    found = (
        "there are no data vectors X, of four columns at least, to try averages with, or "
        "clusters tell nothing of them"
        if gate is None
        else f"clusters of averages tell held-back data {gate:.2f} times as well as clusters of "
        "the embeddings alone, and at least 0.985 is needed"
    )
    return f"not averaged over links: {found} (averaging='always' averages anyway)"


def _share(name: str, value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        raise refused(name, "between 0 and 1", value) from None
