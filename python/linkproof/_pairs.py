"""Expected weights: of given pairs, and the largest ones of a node."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from linkproof import _core
from linkproof._features import as_table, frame_column, frame_column_names, frame_library, row_ids
from linkproof._fitted import FittedModel
from linkproof._nodes import rows_of
from linkproof._settings import read_count, read_flag, read_threads
from linkproof._words import quoted, refused


class PairScoring(FittedModel):
    """What a fitted model says of pairs of nodes."""

    def score_pairs(
        self,
        pairs: Any,
        X: Any = None,
        *,
        links: Any = None,
        view: str | None = None,
        parts: bool = False,
    ) -> npt.NDArray[np.float64] | pd.DataFrame:
        r"""Expected weights :math:`\mu_{ij}` of pairs.

        A plain fit expects Poisson counts of mean
        :math:`\mu_{ij} = e^{\langle y_i, y_j \rangle - \gamma}`. In a robust fit this is
        the intensity :math:`\nu_{ij}` of a link, up to a factor: there is one with
        probability :math:`1 - e^{-\nu_{ij}}`, and links have a law of sizes
        (``report_["sizes"]``).

        Parameters
        ----------
        pairs : array of shape (n_pairs, 2), list of pairs, or data frame
            Ids of nodes, as in ``nodes_`` (of a data frame the first two columns).
        X : array, sparse matrix or data frame, optional
            Data vectors of unseen nodes. Pairs then are of rows of `X`, or of the
            ids of its index and of the model's nodes.
        links : sparse matrix of shape (n_rows, n_nodes), optional
            Links of the unseen nodes, for a model with ``propagate``.
        view : str, optional
            The view of the unseen nodes, where the model has several.
        parts : bool, default=False
            Give the two parts of an expected weight too.

        Returns
        -------
        mu : ndarray of shape (n_pairs,)
            NaN for pairs of views that took no part in the fit. With `parts` a
            DataFrame with the columns p_link (the chance of a link), size (the mean
            weight of a link, given that there is one) and mu, their product. Where weights
            have two signs, size and mu may be negative. With ``bootstrap`` three more:
            log_mu_error, the standard error of the logarithm of mu, and mu_low and
            mu_high, between which mu is in 90 of 100 cases; NaN where `X` is given.

        Examples
        --------
        >>> from linkproof import GraphEmbedding
        >>> links = [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("c", "d")]
        >>> model = GraphEmbedding(dim=2, ridge=0.01).fit(None, links)
        >>> linked, unlinked = model.score_pairs([("a", "b"), ("a", "e")])
        >>> bool(linked > unlinked)
        True
        >>> list(model.score_pairs([("a", "b")], parts=True))
        ['p_link', 'size', 'mu']
        """
        check_is_fitted(self)
        parts = read_flag("parts", parts)
        src, dst = pair_ends(pairs)
        points, views = self._model.points, self._model.node_views
        n, row_of = len(points), self._rows_by_text()
        if self._model.directed:
            n = len(self.nodes_)
        if X is not None:
            place = 0 if self._model.directed else self._view_place(view)
            unseen = self._encode(X, links, place)
            ids = row_ids(X)
            if ids is None:
                n, row_of = len(unseen), None
                points, views = unseen, np.full(n, place, np.uint32)
            else:
                known = [str(node) for node in self.nodes_] if row_of is None else list(row_of)
                names = [*known, *(str(node) for node in ids)]
                row_of = {name: row for row, name in enumerate(names)}
                if len(row_of) < len(names):
                    twice = next(name for row, name in enumerate(names) if row_of[name] != row)
                    raise ValueError(
                        f"X: found the id {quoted(twice)}, which is the id of another row of "
                        "X or of a "
                        "node of the fit; expected new ids"
                    )
                points = np.concatenate([points[:n], unseen])
                views = np.concatenate([views, np.full(len(unseen), place, np.uint32)])
                n = len(points)
        rows = [rows_of(end, row_of, n, "pairs") for end in (src, dst)]
        if self._model.directed:
            points, views, rows = self._on_sides(points, views, rows, X)
        found = self._model.expected(np.ascontiguousarray(points), views, *rows)
        if not parts:
            return found[2]
        table = pd.DataFrame(dict(zip(("p_link", "size", "mu"), found)))
        spread = _core.spread(self._model, *rows) if X is None else None
        if spread is not None:
            table = table.assign(**dict(zip(("log_mu_error", "mu_low", "mu_high"), spread)))
        return table

    def neighbors(
        self,
        node: Any = None,
        *,
        top: int = 10,
        X: Any = None,
        links: Any = None,
        view: str | None = None,
        within: str | None = None,
        direction: str | None = None,
        by: str | None = None,
    ) -> pd.DataFrame:
        """The nearest nodes of a node: by default those with the largest expected weights.

        Parameters
        ----------
        node : id, optional
            A node of the fit.
        top : int, default=10
            How many.
        X : array, sparse matrix or data frame, optional
            Data vectors of unseen nodes instead, one or more.
        links : sparse matrix of shape (n_rows, n_nodes), optional
            Their links, for a model with ``propagate``.
        view : str, optional
            Their view, where the model has several.
        within : str, optional
            Only nodes of this view.
        direction : {"out", "in"} or None, default=None
            With directed links: the nodes that links lead to, or those that they come
            from. None: out.
        by : {"weight", "share", "cosine"} or None, default=None
            What they are near by: "weight" is the expected weight, which popular nodes
            have with very many; "share" is that by all that is expected of the
            neighbor, so that popular nodes are near those alone that are particular to
            them; "cosine" is that of the rows of ``embedding_``. None: by weight, or by
            cosine within a view that took no part in the fit together with theirs.

        Returns
        -------
        neighbors : DataFrame with columns node and mu, nearest first
            (Where weights have two signs, those first that are most likely linked.)
            mu is the expected weight, NaN for views that took no part in the fit
            together. With ``bootstrap``, of a node of the fit, stability: the share of the
            fits to parts of the nodes that saw both, in which it is among as many
            nearest. Then share or cosine, if they are near by that, and name, where
            nodes have names. For several rows of `X` with a column row (or the rows'
            ids) before. ``attrs["by"]`` says what they are near by.

        Examples
        --------
        >>> from linkproof import GraphEmbedding
        >>> links = [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("c", "d")]
        >>> model = GraphEmbedding(dim=2, ridge=0.01).fit(None, links)
        >>> sorted(model.neighbors("a", top=2)["node"])
        ['b', 'c']
        >>> list(model.neighbors("a", top=2, by="share"))
        ['node', 'mu', 'share']
        """
        check_is_fitted(self)
        if (node is None) == (X is None):
            raise ValueError("node: expected either a node or X, data vectors of unseen ones")
        top = read_count("top", top)
        other = None if within is None else self._view_place(within, "within")
        if direction not in (None, "out", "in"):
            raise refused("direction", "'out' or 'in'", direction)
        if direction is not None and not self._model.directed:
            raise refused("direction", "None for a model without directed links", direction)
        if by is not None and not isinstance(by, str):
            raise refused("by", "'weight', 'share' or 'cosine'", by)
        for name, value in (("links", links), ("view", view)):
            if node is not None and value is not None:
                raise refused(name, "None with a node of the fit: it is for unseen ones", value)
        if self._model.directed and view is None:
            view = "target" if direction == "in" else "source"
        if node is not None:
            row = int(rows_of([node], self._rows_by_text(), len(self.embedding_), "node")[0])
            if direction == "in":
                row += len(self.nodes_)
            place = int(self._model.node_views[row])
            points = self._model.points[row : row + 1]
            return self._nearest(points, self._recommended(row), place, top, other, by, row)[0]
        place = self._view_place(view)
        points = self._encode(X, links, place)
        known = None
        vectors = self._read_unseen(X, place)
        if links is not None:
            known = self._links_to_known(links, vectors.shape[0], "links")
        recommended = self._model.embed(place, vectors, known, threads=read_threads(self.n_jobs))
        tables = self._nearest(points, recommended, place, top, other, by)
        if len(tables) == 1:
            return tables[0]
        ids = row_ids(X)
        for row, table in enumerate(tables):
            table.insert(0, "row", [row if ids is None else ids[row]] * len(table))
        joined = pd.concat(tables, ignore_index=True)
        joined.attrs = dict(tables[0].attrs)
        return joined

    def _recommended(self, row: int) -> npt.NDArray[np.float32]:
        """The recommended embedding of a row of the core, alone in a matrix."""
        found = self._model.embedding
        if not self._model.directed:
            return found[row : row + 1]
        n, dim = len(found), found.shape[1] // 2
        start = dim * (row // n)
        return found[row % n : row % n + 1, start : start + dim]

    def cluster_stability(self, clusters: Any) -> npt.NDArray[np.float64]:
        """How far each node's cluster stays with it, for a model with ``bootstrap``.

        Parameters
        ----------
        clusters : array of shape (n_nodes,)
            The cluster of each node, as k-means on ``embedding_`` gives them: whole
            numbers from 0.

        Returns
        -------
        stability : ndarray of shape (n_nodes,)
            The share of the nodes of its cluster that are with it in a cluster again,
            over fits to parts of the nodes that are clustered anew.

        Examples
        --------
        >>> import numpy as np
        >>> from linkproof import GraphEmbedding
        >>> groups = np.repeat([0, 1], 20)
        >>> links = np.argwhere(np.triu(groups[:, None] == groups, 1))
        >>> model = GraphEmbedding(dim=2, ridge=0.1, bootstrap=5).fit(np.eye(2)[groups], links)
        >>> bool(model.cluster_stability(groups).mean() > 0.9)
        True
        """
        check_is_fitted(self)
        numbers = np.asarray(clusters)
        n = len(self.nodes_)
        if numbers.shape != (n,) or numbers.dtype.kind not in "iu" or (numbers < 0).any():
            raise refused("clusters", f"{n} whole numbers from 0, one for each node", clusters)
        seed = int(self.report_["seed"])
        found = _core.together(
            self._model, numbers.tolist(), seed, threads=read_threads(self.n_jobs)
        )
        if found is None:
            raise ValueError(
                "clusters: found a model without fits to parts of the nodes; expected "
                "GraphEmbedding(bootstrap=30)"
            )
        return found

    def _on_sides(
        self,
        points: npt.NDArray[np.float32],
        views: npt.NDArray[np.uint32],
        rows: list[npt.NDArray[np.int64]],
        X: Any,
    ) -> tuple[Any, Any, list[Any]]:
        """Points of sources and then of targets, and the rows of pairs among them."""
        known = self._model.points
        n = len(self.nodes_)
        sides = [known[:n], known[n:]]
        if X is not None:
            new = [self._encode(X, None, place) for place in (0, 1)]
            sides = [np.concatenate(both) for both in zip(sides, new)]
            if row_ids(X) is None:
                rows = [row + n for row in rows]
        size = len(sides[0])
        views = np.repeat(np.arange(2, dtype=np.uint32), size)
        return np.concatenate(sides), views, [rows[0], rows[1] + size]

    def _encode(self, X: Any, links: Any, place: int) -> npt.NDArray[np.float32]:
        """Unseen nodes by the encoder, which expected weights are of; offsets come last."""
        vectors = self._read_unseen(X, place)
        known = None
        if links is not None:
            known = self._links_to_known(links, vectors.shape[0], "links")
        return self._model.encode(place, vectors, known)

    def _nearest(
        self,
        points: npt.NDArray[np.float32],
        recommended: npt.NDArray[np.float32],
        place: int,
        top: int,
        within: int | None,
        by: str | None,
        leaving_out: int | None = None,
    ) -> list[pd.DataFrame]:
        measure, found = self._model.neighbors(
            np.ascontiguousarray(points),
            np.ascontiguousarray(recommended),
            place,
            top=int(top),
            leaving_out=leaving_out,
            within=within,
            by=by,
        )
        tables = []
        for rows, mu, nearness in found:
            table = pd.DataFrame({"node": self._nodes_of(rows), "mu": mu})
            if measure != "weight":
                table[measure] = nearness
            stable = None
            if leaving_out is not None and measure == "weight":
                stable = _core.stability(self._model, leaving_out, rows.tolist())
            if stable is not None:
                table["stability"] = stable
            table.attrs["by"] = measure
            tables.append(self._with_names(table, name=rows))
        return tables


def pair_ends(pairs: Any) -> tuple[Any, Any]:
    """The ends of pairs of ids."""
    pairs = as_table(pairs)
    if frame_library(pairs) is not None:
        if len(frame_column_names(pairs)) < 2:
            raise ValueError("pairs: found one column; expected two, of ids")
        src, dst = (frame_column(pairs, place) for place in (0, 1))
        return (
            [*(src.to_pylist() if hasattr(src, "to_pylist") else src)],
            [*(dst.to_pylist() if hasattr(dst, "to_pylist") else dst)],
        )
    if not hasattr(pairs, "__iter__") or isinstance(pairs, (str, bytes)):
        raise ValueError(f"pairs: found a value of type {type(pairs).__name__}; expected pairs")
    listed = pairs.tolist() if hasattr(pairs, "tolist") else list(pairs)
    for row, pair in enumerate(listed):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"pairs: found {quoted(pair)} in row {row}; expected two ids")
    return [pair[0] for pair in listed], [pair[1] for pair in listed]
