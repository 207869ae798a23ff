"""Links checked without an embedding: which look false, how many, and why."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Hashable, Mapping
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from linkproof import _core
from linkproof._evidence import both_ends, judge_request, read_verified, split_evidence
from linkproof._features import as_table, frame_library, is_tensor
from linkproof._inputs import GraphInput, core_data, read_graph
from linkproof._links import MatrixLinks, is_networkx_graph, is_pyg_data, refuse_directions
from linkproof._nodes import NodeTable, id_array, id_list, read_nodes
from linkproof._progress import Progress
from linkproof._settings import (
    read_count,
    read_flag,
    read_real,
    read_rules,
    read_seed,
    read_threads,
)
from linkproof._storing import as_given
from linkproof._words import refused

# So many links are printed.
_SHOWN = 10
_NEXT = (
    "report.sample(30), then report.checked(table)",
    "report.clean()",
    "linkproof.GraphEmbedding(robust=True).fit(X, links)",
)


class Share(NamedTuple):
    """The share of false links: an estimate and its bounds; None if nothing can be said."""

    low: float | None
    estimate: float | None
    high: float | None


class Check:
    """What :func:`linkproof.check` found. ``print`` shows the first suspects and a summary.

    Attributes
    ----------
    suspects : DataFrame
        All flagged links and the 1,000 most suspicious, by rank: rank, src, dst, src_name
        and dst_name if nodes have names, weight, belief (NaN if the judge abstains),
        suspect and why.
    links : DataFrame
        The same of all links.
    belief : ndarray
        The belief in each link in the order in which links were given (of a matrix: its
        stored entries by row); NaN for links that were left out.
    share : Share
        The share of false links: low, estimate, high.
    abstained : bool
        Whether the links look random to everything that is known. Then no link is
        flagged, beliefs are NaN, and the order stays.
    detection : DataFrame or None
        The test with planted links: kind, planted, flagged, found (the share that is more
        suspicious than nine tenths of the believed links), own (the share of your links
        that is). None without a test.
    report : dict
        All of it, as ``check.json`` has it.
    """

    def __init__(
        self, core: _core.Check, ids: list[Hashable] | None, given: _Given | None = None
    ) -> None:
        self._core = core
        self._ids = ids
        self._given = given
        self._cache: dict[str, Any] = {}

    @property
    def report(self) -> dict[str, Any]:
        """All of it, as ``check.json`` has it."""
        if "report" not in self._cache:
            self._cache["report"] = json.loads(self._core.report)
        found: dict[str, Any] = self._cache["report"]
        return found

    @property
    def suspects(self) -> pd.DataFrame:
        """All flagged links and the 1,000 most suspicious, by rank."""
        return self._table(self._core.table(False))

    @property
    def links(self) -> pd.DataFrame:
        """All links, by rank."""
        return self._table(self._all)

    @property
    def belief(self) -> npt.NDArray[np.float64]:
        """The belief in each link, in the order in which links were given."""
        key, belief = self._keys(self._all["src"], self._all["dst"]), self._all["belief"]
        order = np.argsort(key)
        if self._given is None:
            return np.asarray(belief[order])
        wanted = self._keys(*self._given.ends(self._core.directed))
        place = np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)
        found = order[place]
        return np.where(key[found] == wanted, belief[found], np.nan)

    @property
    def share(self) -> Share:
        """The share of false links: low, estimate, high."""
        names = ("share_low", "share_false", "share_high")
        return Share(*(self.report[name] for name in names))

    @property
    def abstained(self) -> bool:
        """Whether the links look random to everything that is known."""
        return bool(self.report["abstained"])

    @property
    def detection(self) -> pd.DataFrame | None:
        """What became of planted links, by kind; None without a test."""
        found = self.report["detection"]
        columns = ["kind", "planted", "flagged", "found", "own"]
        return None if found is None else pd.DataFrame(found)[columns]

    def sample(self, count: int = 30, *, seed: int | None = None) -> pd.DataFrame:
        """Draw links to verify.

        Parameters
        ----------
        count : int, default=30
            How many; 30 are a good start.
        seed : int, optional
            The seed of the draw. Default: that of the check.

        Returns
        -------
        sample : DataFrame
            src, dst, names if nodes have any, and real: fill it with 1 (real) or 0
            (false) and give the table to :meth:`checked`.
        """
        seed = int(self.report.get("seed", 0)) if seed is None else read_seed(seed)
        table = self._table(self._core.sample(read_count("count", count), seed))
        ends = [name for name in ("src", "dst", "src_name", "dst_name") if name in table]
        return table[ends].assign(real=None)

    def missing(self, count: int = 20) -> pd.DataFrame:
        """The unlinked pairs that look most like links.

        Parameters
        ----------
        count : int, default=20
            How many.

        Returns
        -------
        missing : DataFrame
            src, dst, names if nodes have any, and agreement (how much the evidence agrees,
            without a unit), the likeliest first. Empty if the links look random to
            everything that is known.
        """
        if self._given is None or self._given.data is None:
            raise ValueError("missing: found a check that was loaded; expected one just made")
        context = _core.Context(threads=self._given.threads)
        pairs = self._core.missing(self._given.data, read_count("count", count), context)
        table = pd.DataFrame(pairs, columns=["src", "dst", "agreement"])
        return self._table(table.astype({"src": np.int64, "dst": np.int64}).to_dict("series"))

    def checked(self, table: Any) -> Check:
        """Take verified links into account: beliefs, flags and the share change.

        Parameters
        ----------
        table : data frame, list of (src, dst, real), or path of a CSV file
            Columns src, dst and real: 1, 0 or nothing. Other columns are ignored. A
            later answer replaces an earlier one.

        Returns
        -------
        self : Check
        """
        self._core = self._core.checked(read_verified(table, self._both_ends()))
        self._cache = {}
        return self

    def clean(
        self,
        *,
        drop: int | None = None,
        rate: float | None = None,
        min_belief: float | None = None,
    ) -> Any:
        """The links worth keeping; without an argument all that are not flagged.

        Parameters
        ----------
        drop : int, optional
            Leave the so many most suspicious links out.
        rate : float, optional
            Leave links out by belief, as long as at most this share of them is real.
        min_belief : float, optional
            Leave links with a smaller belief out.

        Returns
        -------
        links
            Of the type that was given. Of several views, and of a check that was loaded,
            a table src, dst, weight.
        """
        ways = {"drop": drop, "rate": rate, "min_belief": min_belief}
        if sum(way is not None for way in ways.values()) > 1:
            raise ValueError("drop, rate, min_belief: found more than one; expected one at most")
        if self.abstained and drop is None:
            raise ValueError(
                "the links look random to everything that is known, and none can be called false; "
                "report.links has their order: give drop=N to leave out the first N"
            )
        gone = np.zeros(len(self._all["rank"]), bool)
        if drop is not None:
            gone[: read_count("drop", drop, 0)] = True
        elif rate is not None:
            gone[self._core.at_rate(_share("rate", rate))] = True
        elif min_belief is not None:
            gone = self._all["belief"] < _share("min_belief", min_belief)
        else:
            gone = self._all["suspect"]
        if gone.all():
            raise ValueError("no link is left; give a smaller drop or min_belief")
        if self._given is not None:
            ends = self._all["src"][gone], self._all["dst"][gone]
            dropped, after = self._keys(*ends), self._core.n_nodes * self._core.directed
            kept = self._given.without(
                lambda src, dst: np.isin(self._keys(src, dst + after), dropped)
            )
            if kept is not None:
                return kept
        table = self.links[~gone]
        return table[["src", "dst", "weight"]].reset_index(drop=True)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the check as a folder, as ``linkproof check`` does.

        Parameters
        ----------
        path : str or path
            The folder, which appears whole or not at all.
        overwrite : bool, default=False
            Replace the check that the folder holds; its sample.csv and checked.csv stay.
        """
        nodes = id_array(self._ids, self._core.n_nodes)
        known = {"ids": "int" if nodes.dtype.kind == "i" else "text"}
        self._core.save(path, read_flag("overwrite", overwrite), json.dumps({"python": known}))

    def __getstate__(self) -> dict[str, Any]:
        """The folder's files, and the links as they were given, for a pickle."""
        with TemporaryDirectory() as inside:
            self.save(Path(inside) / "check")
            files = {path.name: path.read_bytes() for path in Path(inside, "check").iterdir()}
        given = None
        if self._given is not None:
            given = _Given(self._given.links, self._given.graph, None, self._given.threads)
        return {"files": files, "ids": self._ids, "given": given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        with TemporaryDirectory() as inside:
            for name, content in state["files"].items():
                Path(inside, name).write_bytes(content)
            self._core = _core.Check.load(inside)
        self._ids, self._given, self._cache = state["ids"], state["given"], {}

    def __repr__(self) -> str:
        table = self._shown()
        # pandas writes all texts to the right.
        table["why"] = table["why"].str.ljust(table["why"].str.len().max())
        lines = table.to_string(index=False, justify="left").splitlines()
        return "\n".join([*(line.rstrip() for line in lines), "", self._words()])

    def _repr_html_(self) -> str:
        table = self._shown().to_html(index=False, border=0)
        return f"{table}<pre>{html.escape(self._words())}</pre>"

    @property
    def _all(self) -> dict[str, Any]:
        if "all" not in self._cache:
            self._cache["all"] = self._core.table(True)
        found: dict[str, Any] = self._cache["all"]
        return found

    def _table(self, columns: dict[str, Any]) -> pd.DataFrame:
        nodes = id_array(self._ids, self._core.n_nodes)
        names = self._core.names
        return link_table(columns, nodes, None if names is None else np.array(names, dtype=object))

    def _keys(self, src: Any, dst: Any) -> npt.NDArray[np.int64]:
        """A number for each pair of rows of the core, whose smaller row comes first."""
        src, dst = (np.asarray(end, dtype=np.int64) for end in (src, dst))
        return np.asarray(np.minimum(src, dst) * (2 * self._core.n_nodes) + np.maximum(src, dst))

    def _both_ends(self) -> Any:
        n, n_sources = self._core.n_nodes, self._core.n_sources
        if n_sources is None or self._core.directed:
            return both_ends(self._ids, n)
        # Two sides may share ids.
        ids = id_array(self._ids, n).tolist()
        sources = {str(node): row for row, node in enumerate(ids[:n_sources])}
        targets = {str(node): row for row, node in enumerate(ids) if row >= n_sources}
        return [(sources, n), (targets, n)]

    def _shown(self) -> pd.DataFrame:
        table = self.suspects.head(_SHOWN)
        mark = np.where(table["suspect"], "*", "")
        table["rank"] = [f"{rank}{star}" for rank, star in zip(table["rank"], mark)]
        if (table["weight"] == 1).all():
            del table["weight"]
        table["belief"] = ["-" if np.isnan(it) else f"{it:.2f}" for it in table["belief"]]
        return table.drop(columns="suspect")

    def _words(self) -> str:
        mark = "* flagged\n\n" if self.report["flagged"] else ""
        return mark + self._core.lines(list(_NEXT)).rstrip()


class _Given:
    """Links as they were given, and their rows."""

    def __init__(
        self, links: Any, graph: GraphInput, data: _core.Data | None, threads: int | None
    ) -> None:
        self.links = as_table(links)
        self.graph = graph
        self.data = data
        self.threads = threads

    def ends(self, directed: bool) -> tuple[Any, Any]:
        """The rows of both ends of each link, in the core's counting."""
        rows = self.graph.links
        if isinstance(rows, MatrixLinks):
            src: Any = np.repeat(np.arange(rows.n), np.diff(rows.indptr))
            dst: Any = rows.indices[: len(src)].astype(np.int64)
        else:
            src, dst = rows.src, rows.dst
        return src, dst + self.graph.n if directed else dst

    def without(self, is_dropped: Callable[[Any, Any], Any]) -> Any:
        """The links without those that are dropped, of the type that they had; None for
        types whose links are not told apart here."""
        links, rows = self.links, self.graph.links
        if sp.issparse(links):
            entries = links.tocoo()
            kept = ~is_dropped(entries.row, entries.col)
            ends = entries.row[kept], entries.col[kept]
            parts = type(entries)((entries.data[kept], ends), shape=links.shape)
            return parts.asformat(links.format)
        if isinstance(rows, MatrixLinks):
            if not isinstance(links, np.ndarray):
                return None
            return np.where(is_dropped(*np.indices(links.shape)), 0, links).astype(links.dtype)
        kept = ~is_dropped(rows.src, rows.dst)
        if is_networkx_graph(links):
            keys = {"keys": True} if links.is_multigraph() else {}
            gone = [edge for edge, keep in zip(links.edges(**keys), kept) if not keep]
            graph = links.copy()
            graph.remove_edges_from(gone)
            return graph
        if is_pyg_data(links):
            import torch

            return links.edge_subgraph(torch.from_numpy(kept))
        if frame_library(links) is not None:
            return links[kept] if frame_library(links) == "pandas" else links.filter(kept)
        if isinstance(links, tuple) and len(links) == 2 and hasattr(links[0], "shape"):
            return _rows(links[0], kept), _rows(np.asarray(links[1]), kept)
        if hasattr(links, "shape"):
            return _rows(links, kept)
        if isinstance(links, (list, tuple)) and len(links) == len(kept):
            return type(links)(link for link, keep in zip(links, kept) if keep)
        return None


def _rows(edges: Any, kept: npt.NDArray[np.bool_]) -> Any:
    """An edge array without some links, which are its rows or its columns."""
    if is_tensor(edges):
        import torch

        kept = torch.from_numpy(kept)
    return edges[kept] if len(edges) == len(kept) else edges[:, kept]


def check(
    links: Any,
    X: Any = None,
    *,
    names: Any = None,
    evidence: Any = None,
    weights: str = "auto",
    one_to_one: bool = False,
    checked: Any = None,
    test: bool = True,
    nodes: Any = None,
    directed: bool = False,
    duplicates: str = "error",
    self_links: str = "error",
    seed: int = 0,
    threads: int | None = None,
    verbose: bool = True,
) -> Check:
    """Say which links look false, in seconds and without a fit.

    Every link is compared with sampled non-links (unlinked pairs) by everything that is known of
    its ends but the link itself: features, common neighbors, positions in the graph. All
    links are ranked, the share of false ones is estimated, and false links that are planted
    test the judge. A link that looks random is not necessarily false: that, a person must
    say (:meth:`Check.sample`, :meth:`Check.checked`).

    Parameters
    ----------
    links : as for :meth:`GraphEmbedding.fit`
        A sparse matrix, a NetworkX graph, PyG data, an edge array, a list, a pair
        ``(edges, weights)`` or a table.
    X : as for :meth:`GraphEmbedding.fit`, optional
        The features, a row for each node.
    names : sequence of text, or dict from ids to text; optional
        What the nodes are called, a name for each row.
    evidence : str, list of str, dict, data frame or array; optional
        More evidence about each link: names of columns of a table of links or of edge
        attributes, or numbers in the order of the links. Larger is likelier real, or the
        other way round; NaN is no evidence.
    weights : {"auto", "ignore"}, default="auto"
        Whether weights are evidence.
    one_to_one : bool, default=False
        Each node has at most one real partner: records of one thing in two catalogues.
    checked : data frame, list of (src, dst, real), or path of a CSV file; optional
        Links that a person or another source has verified.
    test : bool, default=True
        Plant false links to test the judge; False takes half the time.
    nodes, directed, duplicates, self_links
        As for :class:`GraphEmbedding` and its fit.
    seed : int, default=0
        The seed of all randomness.
    threads : int, optional
        The number of threads; None: all cores. Never changes a result.
    verbose : bool, default=True
        Show a bar on a terminal or in a notebook.

    Returns
    -------
    report : Check

    Examples
    --------
    >>> import numpy as np, linkproof
    >>> random = np.random.default_rng(0)
    >>> groups = np.arange(200) % 4
    >>> X = np.eye(4)[groups] + 0.3 * random.normal(size=(200, 4))
    >>> chance = np.where(groups[:, None] == groups, 0.2, 0.005)
    >>> links = np.argwhere(np.triu(random.random((200, 200)) < chance, 1))
    >>> report = linkproof.check(links, X)
    >>> first = report.suspects.head(20)
    >>> bool((groups[first["src"]] != groups[first["dst"]]).mean() > 0.9)
    True
    >>> len(report.clean(drop=20)) == len(links) - 20
    True
    """
    if weights not in ("auto", "ignore"):
        raise refused("weights", "'auto' or 'ignore'", weights)
    one_to_one, test = read_flag("one_to_one", one_to_one), read_flag("test", test)
    rules, workers = read_rules(duplicates, self_links, directed), read_threads(threads)
    refuse_directions(X, links, directed, duplicates)
    plain, columns = split_evidence(evidence, links)
    table = read_nodes(nodes)
    graph = read_graph(X, plain, table.ids)
    table = _named(table, names, graph)
    data = core_data(graph, rules, table, None if names is None else "name")
    with Progress("judging links", verbose, "%") as progress:
        request = judge_request(
            columns,
            graph.links,
            checked,
            graph.ids,
            graph.n,
            weights=weights == "auto",
            one_to_one=one_to_one,
            test=test,
            seed=read_seed(seed),
        )
        context = _core.Context(threads=workers, show=progress.show)
        found = _core.Check.judge(data, request, context)
    return Check(found, graph.ids, _Given(links, graph, data, workers))


def load_check(path: str | PathLike[str]) -> Check:
    """Read a check folder that Python or ``linkproof check`` wrote.

    Parameters
    ----------
    path : str or path
        The folder.

    Returns
    -------
    report : Check
    """
    core = _core.Check.load(path)
    known = json.loads(core.report).get("python") or {}
    return Check(core, as_given(core.ids, known.get("ids")))


def link_table(
    columns: Mapping[str, Any], nodes: npt.NDArray[Any], names: npt.NDArray[Any] | None
) -> pd.DataFrame:
    """Judged links with ids, and names if there are any, in the place of rows."""
    table = pd.DataFrame(dict(columns))
    rows = {end: table[end].to_numpy() % len(nodes) for end in ("src", "dst")}
    for place, (end, row) in enumerate(rows.items()):
        table[end] = nodes[row]
        if names is not None:
            table.insert(1 + place + table.columns.get_loc("dst"), f"{end}_name", names[row])
    return table


def _named(table: NodeTable, names: Any, graph: GraphInput) -> NodeTable:
    """The table of nodes with a column of names."""
    if names is None:
        return table
    ids: Any = range(graph.n) if graph.ids is None else graph.ids
    if isinstance(names, Mapping):
        texts = {node: str(names[node]) for node in ids if node in names}
    else:
        listed = id_list(names, "names")
        if len(listed) != graph.n:
            raise ValueError(f"names: found {len(listed)}; expected {graph.n}, one for each node")
        texts = {node: str(name) for node, name in zip(ids, listed)}
    return NodeTable(table.ids, {**table.columns, "name": texts})


def _share(name: str, value: Any) -> float:
    share = read_real(name, value)
    if not 0 <= share <= 1:
        raise refused(name, "a number from 0 to 1", value)
    return share
