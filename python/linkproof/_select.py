"""The choice of score, exponent and ridge without labels."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from linkproof import _core
from linkproof._cluster import read_cluster, remote
from linkproof._estimator import GraphEmbedding
from linkproof._inputs import core_data, read_graph
from linkproof._links import refuse_directions
from linkproof._nodes import read_nodes
from linkproof._options import Search, grouped, read_options, refuse_flat_search
from linkproof._progress import Progress
from linkproof._settings import (
    from_core,
    read_count,
    read_flag,
    read_rules,
    read_seed,
    read_threads,
    to_core,
)
from linkproof._words import refused


@dataclass(frozen=True)
class Selection:
    """What a search found.

    Attributes
    ----------
    params : dict
        The chosen parameters, for ``GraphEmbedding(**params)``.
    estimator : GraphEmbedding
        Not fitted, with the chosen and all other given parameters.
    candidates : DataFrame
        Every candidate: score, beta, ridge, dim, walks, the number of folds that
        it was fitted on, its criterion (lower is better; by ranks the share of pairs
        without a link that are closer than a held-out link), how far it is behind
        the best one (with its standard error), and failure.
    compared : str
        What the candidates were compared by, in words.
    tied : int
        The ridges, the chosen one among them, between which the criterion cannot
        decide; the largest was chosen.
    warnings : list of str
        What a user should know of the choice.
    fits, seconds : int, float
        How many fits the search took, and how long.
    report : dict
        All of it, as the command line's ``select --json`` has it, and
        ``chosen_settings``, every setting of the choice.
    """

    params: dict[str, Any]
    estimator: GraphEmbedding
    candidates: pd.DataFrame
    compared: str
    tied: int
    warnings: list[str]
    fits: int
    seconds: float
    report: dict[str, Any]

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"<Selection: {chosen}; {len(self.candidates)} candidates, {self.fits} fits>"


def select(
    X: Any = None,
    links: Any = None,
    nodes: Any = None,
    *,
    search: Search | None = None,
    ray: Any = None,
    **settings: Any,
) -> Selection:
    """Choose score, exponent and ridge without labels.

    Cross-validation over folds of the pairs, links and zeros alike: every
    candidate is fitted to the other folds and compared on the held-out one by how
    well its embeddings tell held-out links from pairs without a link. Links count 1
    each then, whatever their weight, unless `weights` is given, so that neither the
    unit of the weights nor corrupted ones matter; where that makes a difference, the
    chosen parameters have ``weights="binary"``. Of ridges between which ranks cannot
    decide the largest is chosen. Last, the graph is asked whether it wants offsets or a
    signed similarity, by the score of held-out pairs with and without (``report["tried"]``),
    unless these are given.

    Parameters
    ----------
    X, links, nodes
        As for :meth:`GraphEmbedding.fit`.
    search : Search, optional
        What to try, and how to compare. See :class:`linkproof.Search`.
    ray : bool, str or linkproof.ray.Cluster, optional
        Run the fits as tasks of Ray: True, the address of a cluster, or more about it. The
        choice is the same. See :mod:`linkproof.ray`.
    **settings
        Parameters of :class:`GraphEmbedding` that all candidates share. A score,
        beta, ridge or `weights` given here is kept and not searched over.

    Returns
    -------
    selection : Selection

    Examples
    --------
    >>> import numpy as np, linkproof
    >>> random = np.random.default_rng(0)
    >>> groups = np.repeat([0, 1], 25)
    >>> X = np.eye(2)[groups] + 0.3 * random.normal(size=(50, 2))
    >>> chance = np.where(groups[:, None] == groups, 0.3, 0.0)
    >>> links = np.argwhere(np.triu(random.random((50, 50)) < chance, 1))
    >>> search = linkproof.Search(ridges=[1, 10, 100], folds=3)
    >>> found = linkproof.select(X, links, dim=2, search=search)
    >>> sorted(found.params)
    ['beta', 'dim', 'ridge', 'score']
    >>> found.estimator.fit(X, links).embedding_.shape
    (50, 2)
    """
    refuse_flat_search(settings)
    base = GraphEmbedding(**settings)
    if read_flag("robust", base.robust):
        raise ValueError(
            "robust must be False in a search, but is True: a robust fit makes its settings itself"
        )
    wanted = _wanted(read_options("search", Search, search))
    core_settings = to_core(base.get_params(deep=False), read_seed(base.random_state))
    refuse_directions(X, links, base.directed, base.duplicates)
    data = core_data(
        read_graph(X, links, read_nodes(nodes).ids),
        read_rules(base.duplicates, base.self_links, base.directed),
    )
    cluster = read_cluster(ray)
    threads = read_threads(base.n_jobs)
    with remote(cluster, base.device) as helpers, Progress("choosing", base.verbose) as progress:
        if helpers is not None:
            threads = helpers.threads_here(threads)
        context = _core.Context(
            device=str(base.device), threads=threads, show=progress.show, remote=helpers
        )
        given = [name for name, value in settings.items() if value is not None]
        report = _core.select(data, core_settings, json.dumps(wanted), given, context)
    found = _selection(base, settings, json.loads(report))
    for warning in found.warnings:
        warnings.warn(warning, UserWarning, stacklevel=2)
    return found


def _wanted(search: Search) -> dict[str, Any]:
    """The search for the core."""
    wanted: dict[str, Any] = {
        "folds": read_count("folds", search.folds, 2, 100),
        "hold_out": _text("hold_out", search.hold_out),
        "criterion": _text("criterion", search.criterion),
        "exhaustive": read_flag("exhaustive", search.exhaustive),
        "one_standard_error": read_flag("one_standard_error", search.one_standard_error),
    }
    for name in ("scores", "betas", "ridges", "dims", "walk_lengths", "step_limits"):
        values = getattr(search, name)
        if values is not None:
            wanted[name] = _plain(name, values)
    return wanted


def _selection(base: GraphEmbedding, settings: dict[str, Any], report: dict[str, Any]) -> Selection:
    found = grouped(from_core(report["chosen_settings"]))
    chosen = {name: found[name] for name in ("score", "beta", "ridge")}
    for name in ("dim", "steps", "weights", "offsets", "similarity", "network", "inputs"):
        if name in settings or found[name] != getattr(base, name):
            chosen[name] = found[name]
    estimator = GraphEmbedding(**{**settings, **chosen})
    candidates = [_row(candidate) for candidate in report["candidates"]]
    return Selection(
        params=chosen,
        estimator=estimator,
        candidates=pd.DataFrame(candidates),
        compared=str(report["compared"]),
        tied=int(report["tied"]),
        warnings=list(report["warnings"]),
        fits=int(report["fits"]),
        seconds=float(report["seconds"]),
        report=report,
    )


def _row(candidate: dict[str, Any]) -> dict[str, Any]:
    """A candidate as a row of a table."""
    return {
        **{name: candidate.get(name) for name in ("score", "beta", "ridge", "dim", "walks")},
        "folds": len(candidate.get("folds") or []),
        "criterion": candidate.get("mean"),
        "behind": candidate.get("behind"),
        "standard_error": candidate.get("standard_error"),
        "failure": candidate.get("failure"),
    }


def _plain(name: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise refused(name, "a list", values)
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    for value in plain:
        is_plain = isinstance(value, (str, int)) and not isinstance(value, bool)
        if not is_plain and not (isinstance(value, float) and math.isfinite(value)):
            raise refused(name, "a list of numbers or names", value)
    return plain


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise refused(name, "text", value)
