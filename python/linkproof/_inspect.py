"""A look at links and data vectors before a fit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from linkproof import _core
from linkproof._estimator import GraphEmbedding
from linkproof._inputs import core_data, read_graph
from linkproof._links import refuse_directions
from linkproof._nodes import read_nodes
from linkproof._settings import read_rules, read_seed, read_threads, to_core


@dataclass(frozen=True)
class Inspection:
    """What there is to know before a fit. ``str`` says it in words.

    Attributes
    ----------
    agreement : dict or None
        Whether features and links agree: ``alike``, how often a link outranks a random
        pair of its degrees by features (AUC); ``relation``, "agree", "unrelated",
        "opposed" or "unclear"; ``vectors_alone``, whether k-means on the features alone
        is the better choice. None without features.
    judged : dict or None
        What the judge finds about the links: ``share`` (``low``, ``estimate``, ``high``
        of the share of false links), ``auc``, ``abstained``, ``candidates``,
        ``contradictions``, ``duplicates`` and ``flagged``. None for graphs of more than a
        million links.
    advice : dict
        Settings of a plain fit to begin with, the reasons for them and cautions.
    report : dict
        All of it, as the command line's ``inspect --json`` has it; ``says``, what the
        judge found in sentences.
    """

    agreement: dict[str, Any] | None
    judged: dict[str, Any] | None
    advice: dict[str, Any]
    report: dict[str, Any]

    def __repr__(self) -> str:
        found, agreement = self.report, self.agreement
        relation = "no features" if agreement is None else f"links: {agreement['relation']}"
        return f"<Inspection: {found['nodes']} nodes, {found['links']} links, {relation}>"

    def __str__(self) -> str:
        found = self.report
        lines = [f"{found['nodes']} nodes and {found['links']} links."]
        lines += found["says"]
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
    found = {name: report[name] for name in ("agreement", "judged", "advice")}
    return Inspection(**found, report=report)
