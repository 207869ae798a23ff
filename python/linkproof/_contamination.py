"""Experiments with damaged graphs: what false links do to fits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkproof import _core
from linkproof._cluster import read_cluster
from linkproof._cluster_jobs import DoneJob, work_by_tasks
from linkproof._handover import core_data
from linkproof._inputs import GraphInput, read_graph
from linkproof._nodes import read_nodes
from linkproof._progress import Progress
from linkproof._settings import read_count, read_rules, read_seed, read_threads
from linkproof._words import refused


@dataclass(frozen=True)
class Contamination:
    """What became of fits to damaged graphs.

    Attributes
    ----------
    table : DataFrame
        The means over runs: a row for each method, a column for each kind of damage. NMI
        (x 100) of clusters and classes; of two views the partners found first, in percent.
    standard_errors : DataFrame
        Of these means.
    links : DataFrame
        What robust fits found of the links: means over runs.
    readings : DataFrame
        Every number: table, row, column, run, value.
    failures : dict
        The jobs that failed, and why; the tables are without them.
    markdown : str
        The tables as ``linkproof reproduce contamination`` writes them.
    seconds : float
        The time of all jobs together.
    """

    table: pd.DataFrame
    standard_errors: pd.DataFrame
    links: pd.DataFrame
    readings: pd.DataFrame
    failures: dict[str, str]
    markdown: str = field(repr=False)
    seconds: float = field(repr=False)


@dataclass(frozen=True)
class SuiteInput:
    """What a suite is made of, wherever its jobs are done."""

    graph: GraphInput | None
    rules: tuple[str, str, str]
    labels: npt.NDArray[np.uint32]
    name: str

    def suite(self) -> _core.Suite:
        """The same for the core."""
        if self.graph is None:
            return _core.Suite.generated(self.name)
        return _core.Suite.of(core_data(self.graph, self.rules), self.labels, self.name)


def contamination(
    X: Any = None,
    links: Any = None,
    labels: Any = None,
    nodes: Any = None,
    *,
    generated: str | None = None,
    name: str = "graph",
    damage: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    runs: int = 10,
    random_state: Any = 0,
    duplicates: str = "error",
    self_links: str = "error",
    n_jobs: int | None = None,
    verbose: bool = True,
    ray: Any = None,
) -> Contamination:
    """Damage a graph in known ways, fit it, and see what is left.

    Every kind of damage, method and run is a job of its own: links are made worse, a model
    is fitted, and its clusters are compared with the classes, which no fit sees. The numbers
    are those of ``linkproof reproduce contamination``, with or without Ray.

    Parameters
    ----------
    X, links, nodes
        As for :meth:`GraphEmbedding.fit`, one view.
    labels : array-like of shape (n_nodes,)
        The class of each node, of any type.
    generated : {"blocks", "bloggers", "views"}, optional
        A graph that is made anew for each run, in place of `X`, `links` and `labels`.
    name : str, default="graph"
        What the graph is called in tables.
    damage : sequence of str, optional
        Kinds of damage: "clean", "u30", "u90" (so many percent of false links, ends
        uniform), "d30", "d90" (ends by degree), "a30", "a90" (ends alike), "w10x100",
        "w50x10", "w30x3" (percent x weight), "r30" (links removed). Default: all.
    methods : sequence of str, optional
        "robust", "plain" and "vectors" (k-means on the data vectors). Default: all.
    runs : int, default=10
        How often each kind of damage is done anew.
    random_state : int, RandomState or None, default=0
        The seed of the first run; the others follow it.
    duplicates, self_links : str, default="error"
        As for :class:`GraphEmbedding`.
    n_jobs : int or None, default=None
        Threads on this machine; None: all cores. Never changes a result.
    verbose : bool, default=True
        Show a bar on a terminal or in a notebook.
    ray : bool, str or linkproof.ray.Cluster, optional
        Do the jobs as tasks of Ray: True, the address of a cluster, or more about it. The
        numbers are the same. See :mod:`linkproof.ray`.

    Returns
    -------
    found : Contamination

    Examples
    --------
    >>> import numpy as np, linkproof
    >>> random = np.random.default_rng(0)
    >>> groups = np.repeat([0, 1], 25)
    >>> X = np.eye(2)[groups] + 0.3 * random.normal(size=(50, 2))
    >>> chance = np.where(groups[:, None] == groups, 0.3, 0.0)
    >>> links = np.argwhere(np.triu(random.random((50, 50)) < chance, 1))
    >>> found = linkproof.contamination(
    ...     X, links, groups, damage=["clean", "u90"], methods=["plain", "vectors"], runs=2)
    >>> list(found.table.columns)
    ['clean', '+90% uniform']
    >>> found.table.shape
    (2, 2)
    """
    given = _read(X, links, labels, nodes, generated, name, read_rules(duplicates, self_links))
    suite = given.suite()
    runs = read_count("runs", runs, 1, 10_000)
    experiment = _names("damage", damage), _names("methods", methods), runs, read_seed(random_state)
    keys = [key for key, _ in suite.jobs(experiment)]
    threads = read_threads(n_jobs)
    cluster = read_cluster(ray)
    with Progress("fitting", verbose) as progress:
        if cluster is None:
            done = suite.work(experiment, keys, threads=threads, show=progress.show)
        else:
            done = work_by_tasks(cluster, given, experiment, keys, progress.show)
    return _gather(suite, runs, done)


def _read(
    X: Any, links: Any, labels: Any, nodes: Any, generated: Any, name: Any, rules: Any
) -> SuiteInput:
    if generated is not None:
        if not (X is None and links is None and labels is None and nodes is None):
            raise ValueError("generated: found with data; expected one of the two")
        if not isinstance(generated, str):
            raise refused("generated", "the name of a generated graph as text", generated)
        return SuiteInput(None, rules, np.zeros(0, np.uint32), generated)
    if not (isinstance(name, str) and name and "/" not in name):
        raise refused("name", "text without '/'", name)
    graph = read_graph(X, links, read_nodes(nodes).ids)
    if len(graph.views) != 1:
        raise ValueError(f"X: found {len(graph.views)} views; expected one")
    if labels is None:
        raise ValueError("labels: found None; expected the class of each node")
    return SuiteInput(graph, rules, _codes(labels, graph.n), name)


def _codes(labels: Any, n: int) -> npt.NDArray[np.uint32]:
    """Classes as numbers, by first appearance."""
    codes = np.asarray(pd.factorize(np.asarray(labels).reshape(-1))[0])
    if len(codes) != n:
        raise ValueError(f"labels: found {len(codes)}; expected {n}, one for each node")
    if codes.min() < 0:
        row = int(np.argmax(codes < 0))
        raise ValueError(f"labels: found none in row {row}; expected the class of each node")
    return codes.astype(np.uint32)


def _names(name: str, values: Any) -> list[str]:
    if values is None:
        return []
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise refused(name, "a list of names", values)
    if not values:
        raise ValueError(f"{name}: found an empty list; expected a name or more")
    return list(values)


def _gather(suite: _core.Suite, runs: int, done: list[DoneJob]) -> Contamination:
    # Jobs end in any order, and sums are to be the same.
    done = sorted(done, key=lambda job: job[0])
    found = [readings for _, readings, _, _ in done if readings is not None]
    tables, markdown = suite.tables(runs, found)
    main, links = json.loads(tables)
    rows = [reading for readings in found for reading in json.loads(readings)]
    return Contamination(
        table=_frame(main, "mean"),
        standard_errors=_frame(main, "standard_error"),
        links=_frame(links, "mean"),
        readings=pd.DataFrame(rows, columns=["table", "row", "column", "run", "value"]),
        failures={key: failure for key, _, failure, _ in done if failure is not None},
        markdown=markdown,
        seconds=sum(seconds for *_, seconds in done),
    )


def _frame(table: dict[str, Any], figure: str) -> pd.DataFrame:
    """A figure of each cell; rows and columns that nothing fills are left out."""
    rows = {
        row["name"]: {column: cell[figure] for column, cell in row["cells"].items()}
        for row in table["rows"]
        if row["cells"]
    }
    columns = [column for column in table["columns"] if any(column in row for row in rows.values())]
    frame = pd.DataFrame([rows[name] for name in rows], index=list(rows), columns=columns)
    return frame.astype(float)
