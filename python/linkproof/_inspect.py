"""A look at links and data vectors before a fit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from linkproof import _core
from linkproof._estimator import GraphEmbedding
from linkproof._graphs import refuse_directions
from linkproof._handover import core_data
from linkproof._inputs import read_graph
from linkproof._nodes import read_nodes
from linkproof._settings import read_rules, read_seed, read_threads, to_core


@dataclass(frozen=True)
class Inspection:
    """What there is to know before a fit. ``str`` says it in words.

    Attributes
    ----------
    agreement : dict or None
        Whether links agree with data vectors: ``alike``, the chance that those of a
        link are more alike than those of a pair without a link and with degrees like
        its own; ``relation``, "agree", "unrelated", "opposed" or "unclear";
        ``vectors_alone``, whether k-means on the data vectors alone is the better
        choice; ``says``, the same in words. None without data vectors to compare.
    advice : dict
        Settings of a plain fit to begin with, the reasons for them and cautions.
    report : dict
        All of it, as the command line's ``inspect --json`` has it.
    """

    agreement: dict[str, Any] | None
    advice: dict[str, Any]
    report: dict[str, Any]

    def __repr__(self) -> str:
        found, agreement = self.report, self.agreement
        relation = "no data vectors" if agreement is None else f"links: {agreement['relation']}"
        return f"<Inspection: {found['nodes']} nodes, {found['links']} links, {relation}>"

    def __str__(self) -> str:
        found = self.report
        lines = [f"{found['nodes']} nodes and {found['links']} links."]
        if self.agreement is not None:
            lines.append(self.agreement["says"])
        return "\n".join([*lines, *self.advice["reasons"], *self.advice["cautions"]])


def inspect(X: Any = None, links: Any = None, nodes: Any = None, **settings: Any) -> Inspection:
    """Look at links and data vectors before a fit.

    Parameters
    ----------
    X, links, nodes
        As for :meth:`GraphEmbedding.fit`.
    **settings
        Parameters of :class:`GraphEmbedding` that tell how a fit would read the links
        (duplicates, self_links) and what it would cost (dim, n_jobs).

    Returns
    -------
    inspection : Inspection

    Examples
    --------
    >>> import numpy as np, linkproof
    >>> random = np.random.default_rng(0)
    >>> groups = np.arange(300) % 3
    >>> X = np.eye(3)[groups] @ random.normal(size=(3, 12)) + random.normal(size=(300, 12))
    >>> chance = np.where(groups[:, None] == groups, 0.1, 0.0)
    >>> links = np.argwhere(np.triu(random.random((300, 300)) < chance, 1))
    >>> linkproof.inspect(X, links).agreement["relation"]
    'agree'
    >>> anything = np.argwhere(np.triu(random.random((300, 300)) < 0.04, 1))
    >>> found = linkproof.inspect(X, anything)
    >>> found.agreement["relation"], found.agreement["vectors_alone"]
    ('unrelated', True)
    """
    base = GraphEmbedding(**settings)
    core_settings = to_core(base.get_params(deep=False), read_seed(base.random_state))
    refuse_directions(X, links, base.directed, base.duplicates)
    data = core_data(
        read_graph(X, links, read_nodes(nodes).ids),
        read_rules(base.duplicates, base.self_links, base.directed),
    )
    report = json.loads(_core.inspect(data, core_settings, threads=read_threads(base.n_jobs)))
    return Inspection(agreement=report["agreement"], advice=report["advice"], report=report)
