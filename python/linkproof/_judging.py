"""Which links of a model look false, and which are missing."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from linkproof import _core
from linkproof._check import link_table
from linkproof._evidence import judge_request, split_evidence
from linkproof._features import is_dict, read_matrix, row_ids
from linkproof._fitted import FittedModel
from linkproof._inputs import core_links, core_vectors, read_graph
from linkproof._links import ListedLinks, MatrixLinks, is_hetero_data, refuse_directions
from linkproof._nodes import core_ids, rows_of
from linkproof._progress import Progress
from linkproof._settings import read_count, read_flag, read_rules
from linkproof._words import quoted

# Keywords of earlier versions, and what takes their place.
_GONE = {
    "judge": "audit() always judges",
    "false_discovery_rate": "filter by the column: table[table['false_discovery_rate'] <= 0.1]",
    "cross_fit": "no judge sees the link that it judges: leave it out",
    "folds": "links are judged without folds: leave it out",
    "fdr": "filter by the column: table[table['false_discovery_rate'] <= 0.1]",
    "min_trust": "filter by the column: table[table['trust'] < 1e-6]",
}


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
        evidence: Any = None,
        checked: Any = None,
        missing: int = 0,
        one_to_one: bool = False,
        **gone: Any,
    ) -> pd.DataFrame:
        r"""Rank links, the most suspicious first.

        A judge compares each link with sampled pairs without a link by everything that is
        known of its ends but the link itself. A robust fit has judged its own links
        already, with its features.

        The trust in a link of weight :math:`w`, where :math:`\mu` is expected, is
        :math:`p(w \mid \mu) / p(w \mid w)` for a Poisson :math:`p` if
        :math:`w > \mu`, else 1.

        Parameters
        ----------
        links : as for fit, optional
            Other links between the model's nodes; those of the fit by default.
        X : as for fit, optional
            The features of the fit, for the judge. A robust model keeps them. Without
            them any other model's links are judged by links alone, with a warning.
        evidence : as for :func:`linkproof.check`, optional
            More evidence about each of `links`.
        checked : as for :func:`linkproof.check`, optional
            Verified links: beliefs, flags and the share follow.
        missing : int, default=0
            List so many pairs of largest expected weight that have no link, in
            ``attrs["missing"]``.
        one_to_one : bool, default=False
            Each node has at most one real partner.

        Returns
        -------
        audit : DataFrame
            By rank: rank, src, dst, src_name and dst_name if nodes have names, weight,
            belief (the estimated probability that the link is real; NaN if the judge
            abstains), suspect, why, mu (expected weight), trust, influence (the weight in
            the estimating equations) and false_discovery_rate (the mean belief of the
            links that are believed no more). Of a model with replicates also
            log_mu_error.

            ``attrs`` has share_false, share_low, share_high, auc, auc_error, abstained,
            candidates, detection, verdict (a list of about and says),
            judged_by_links_alone, missing and weights.

        Examples
        --------
        >>> import numpy as np
        >>> from linkproof import GraphEmbedding
        >>> random = np.random.default_rng(0)
        >>> groups = np.arange(90) % 3
        >>> X = np.eye(3)[groups] + 0.2 * random.normal(size=(90, 3))
        >>> alike = np.triu(groups[:, None] == groups, 1)
        >>> links = np.argwhere(alike & (random.random((90, 90)) < 0.3))
        >>> model = GraphEmbedding(dim=3).fit(X, np.vstack([links, [[0, 82]]]))
        >>> model.audit(X=X)[["src", "dst"]].iloc[0].tolist()
        [0, 82]
        """
        _refuse_gone("audit", gone)
        check_is_fitted(self)
        plain, columns = split_evidence(evidence, links)
        if columns and links is None:
            raise ValueError("evidence: found without links; expected the links it is about")
        rows = self._rows_between(plain)
        n, alone = len(self.embedding_), read_flag("one_to_one", one_to_one)
        request = judge_request(columns, rows, checked, self._ids, n, one_to_one=alone)
        with Progress("judging links", self.verbose, "%") as progress:
            found, pairs, told = _core.audit(
                self._model,
                self._core_links(rows),
                self._vectors_of_nodes(X),
                request,
                read_count("missing", missing, 0),
                self._context(progress),
            )
        src, dst = (found[end].astype(np.int64) for end in ("src", "dst"))
        table = link_table(found, self.nodes_, self.names_)
        spread = _core.spread(self._model, src, dst)
        if spread is not None:
            table["log_mu_error"] = spread[0]
        listed = self._missing_table(pairs).to_dict("records")
        table.attrs.update(weights=self.weights, missing=listed, **json.loads(told))
        if table.attrs["judged_by_links_alone"]:
            warnings.warn(
                "links are judged by links alone, which ranks them worse: give the features of "
                "the fit, audit(X=X)",
                UserWarning,
                stacklevel=2,
            )
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
        given = self._core_links(self._rows_between(links))
        return self._missing_table(_core.missing_pairs(self._model, given, top))

    def smooth(self, *_: Any, **__: Any) -> NoReturn:
        """Gone: a robust fit smooths, and transform embeds unseen nodes."""
        raise TypeError(
            "smooth() is gone; GraphEmbedding(robust=True).fit(X, links) decides about smoothing, "
            "embedding_ is the result, and transform(X_new, links) embeds unseen nodes"
        )

    def _missing_table(self, pairs: Any) -> pd.DataFrame:
        table = pd.DataFrame(pairs, columns=["src", "dst", "mu"])
        ends = {end: table[end].to_numpy(np.int64) for end in ("src", "dst")}
        for end, rows in ends.items():
            table[end] = self._nodes_of(rows)
        return self._with_names(table, src_name=ends["src"], dst_name=ends["dst"])

    def _rows_between(self, links: Any) -> MatrixLinks | ListedLinks | None:
        """Links between the model's nodes, by row."""
        if links is None:
            return None
        if len(self.views_) > 1 and (is_dict(links) or is_hetero_data(links)):
            return self._links_by_view(links)
        refuse_directions(None, links, self._model.directed, self.duplicates)
        return read_graph(None, links, nodes=self.nodes_).links

    def _core_links(self, found: MatrixLinks | ListedLinks | None) -> _core.Links | None:
        if found is None:
            return None
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


def _refuse_gone(method: str, given: dict[str, Any]) -> None:
    """Refuses keywords that are none, and says what takes the place of old ones."""
    for name in given:
        if name in _GONE:
            raise TypeError(
                f"{method}() has no keyword {name!r} any more: {_GONE[name]}. The call is "
                "audit(links=None, X=None, *, evidence=None, checked=None, missing=0, "
                "one_to_one=False)"
            )
        raise TypeError(f"{method}() got an unexpected keyword argument {name!r}")
