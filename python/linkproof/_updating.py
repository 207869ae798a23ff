"""Nodes that come later: embedded by a fitted model, and taken into it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Hashable
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from linkproof import _core
from linkproof._features import is_dict, row_ids
from linkproof._fitted import FittedModel
from linkproof._inputs import core_links
from linkproof._links import ListedLinks, MatrixLinks, read_links
from linkproof._nodes import NamedRows, by_row_number, check_ids, core_ids, id_list, read_nodes
from linkproof._progress import Progress
from linkproof._settings import read_rules, read_threads
from linkproof._sklearn import as_configured


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


Self = TypeVar("Self", bound="Updating")


class Updating(FittedModel):
    """What brings a fitted model up to date."""

    duplicates: str
    self_links: str

    def partial_fit(
        self: Self,
        X: Any = None,
        y: Any = None,
        *,
        links: Any = None,
        withdrawn: Any = None,
        nodes: Any = None,
        view: str | None = None,
    ) -> Self:
        """Bring a fitted model up to date with new nodes, new links and links withdrawn.

        Costs what changed. Nodes with data vectors are embedded by the encoder as it
        is, and no other node moves; without data vectors, new nodes and the ends of
        changed links move. A robust model judges new links. ``nodes_`` and the rows of
        ``embedding_`` keep their order; new ones follow. On a model that is not fitted
        it is :meth:`fit`.

        Parameters
        ----------
        X : array, sparse matrix or data frame, optional
            Data vectors of new nodes, and of known ones where they are others now.
        y, links : as for fit, optional
            Links that are new, and known ones with another weight. Arrays and matrices
            count the rows of the model, then those of `X` that are new.
        withdrawn : as for fit, optional
            Links that are no more.
        nodes : sequence of ids, or table; optional
            The ids of the rows of `X`; counted on from the model's where its ids are
            row numbers. Other columns of a table, such as names, go into the model.
        view : str, optional
            The view of the rows of `X`, where the model has several.

        Returns
        -------
        self : GraphEmbedding
            ``report_["update"]`` says what was done: new_nodes, new_links,
            changed_links, withdrawn_links, moved_nodes and moved (how far these went,
            by their length), and full_fit_due, the reason if a full fit is due.

        Examples
        --------
        >>> from linkproof import GraphEmbedding
        >>> links = [("ada", "charles"), ("ada", "mary"), ("mary", "charles")]
        >>> model = GraphEmbedding(dim=2, ridge=0.1).fit(None, links)
        >>> model = model.partial_fit(links=[("grace", "ada"), ("grace", "mary")])
        >>> list(model.nodes_)
        ['ada', 'charles', 'mary', 'grace']
        >>> model.report_["update"]["new_links"]
        2
        """
        links = y if links is None else links
        if not self.__sklearn_is_fitted__():
            if withdrawn is not None:
                raise ValueError("withdrawn: found links, but nothing is fitted; call fit first")
            fitted: Self = self.fit(X, links, nodes=nodes)  # type: ignore[attr-defined]
            return fitted
        if is_dict(X):
            raise ValueError("X: found a dict of views; expected one view at a time, by view=")
        if X is None and links is None and withdrawn is None:
            raise ValueError("X, links, withdrawn: found None; expected something to change")
        ids: list[Hashable] = list(self.nodes_.tolist())
        table = read_nodes(nodes)
        nodes = table.ids
        vectors = []
        if X is not None:
            place = self._view_place(view)
            matrix = self._read_unseen(X, place)
            named = self._ids_of_new(X, matrix.shape[0], nodes)
            known = set(ids)
            ids.extend(node for node in named if node not in known)
            vectors.append((place, [str(node) for node in named], matrix))
        elif nodes is not None:
            raise ValueError("nodes: found ids without X; expected the rows of X that they are of")
        rules = read_rules(self.duplicates, self.self_links)
        is_open = len(self.views_) == 1 and not self._model.views[0][1]
        given: list[_core.Links | None] = []
        for name, found in (("links", links), ("withdrawn", withdrawn)):
            if found is None:
                given.append(None)
                continue
            read = read_links(found, name)
            if is_open and name == "links":
                _add_unknown(ids, read)
            rows, _, _ = by_row_number(read, len(ids), _named(ids, read))
            given.append(core_links(rows, core_ids(ids, len(ids)), rules))
        texts = [str(node) for node in ids], table.of(ids, len(ids))
        with Progress("updating", self.verbose) as progress:
            context = self._context(progress)
            model = _core.update(self._model, given[0], given[1], vectors, texts, context)
        columns = self.__dict__.get("feature_names_in_")
        self._keep(model, ids)
        if columns is not None:
            self.feature_names_in_ = columns
        due = json.loads(model.report)["update"]["full_fit_due"]
        if due is not None:
            warnings.warn(f"a full fit is due: {due}", UserWarning, stacklevel=2)
        return self

    def _ids_of_new(self, X: Any, n: int, nodes: Any) -> list[Hashable]:
        if nodes is not None:
            ids = id_list(nodes, "nodes")
            if len(ids) != n:
                found = f"found {len(ids)} ids"
                raise ValueError(f"nodes: {found}; expected {n}, one for each row of X")
            check_ids(ids, "nodes")
            return ids
        frame = row_ids(X)
        if frame is not None:
            check_ids(frame, "X")
            return frame
        if self._ids is not None:
            raise ValueError("X: found rows without ids; expected nodes=, the ids of the rows")
        known = len(self.nodes_)
        start = 0 if n > known else known
        return list(range(start, start + n))


def _named(ids: list[Hashable], links: MatrixLinks | ListedLinks) -> NamedRows | None:
    by_id = isinstance(links, ListedLinks) and links.by_id
    counts = all(type(node) is int and node == row for row, node in enumerate(ids))
    if counts and not by_id:
        return None
    lacks = "which the model does not know; expected known nodes, or rows of X: add one, or drop"
    return NamedRows(ids, lacks)


def _add_unknown(ids: list[Hashable], links: MatrixLinks | ListedLinks) -> None:
    """Adds the ends of links that are new."""
    if isinstance(links, MatrixLinks):
        ids.extend(range(len(ids), links.n))
        return
    ends = chain(np.asarray(links.src).tolist(), np.asarray(links.dst).tolist())
    if not links.by_id:
        ids.extend(range(len(ids), max(ends, default=-1) + 1))
        return
    known = set(ids)
    for node in ends:
        if node not in known:
            known.add(node)
            ids.append(node)
