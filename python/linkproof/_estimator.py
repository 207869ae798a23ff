"""The estimator: robust embeddings of the nodes of a weighted graph."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from linkproof import _core
from linkproof._cluster import read_cluster, remote
from linkproof._evidence import judge_request, split_evidence
from linkproof._inputs import core_data, read_graph
from linkproof._judging import Judging
from linkproof._links import refuse_directions
from linkproof._nodes import read_nodes
from linkproof._options import Inputs, Network, Sgd, flat, nested, refuse_removed, with_nested
from linkproof._pairs import PairScoring
from linkproof._progress import Progress
from linkproof._settings import (
    read_count,
    read_flag,
    read_rules,
    read_seed,
    read_threads,
    to_core,
)
from linkproof._sklearn import OutputChoice, ScoreParameter, as_configured
from linkproof._storing import Exporting, Storing
from linkproof._updating import Transforming, Updating
from linkproof._verdict import Beliefs, refuse_settings
from linkproof._words import refused


class GraphEmbedding(
    OutputChoice,
    PairScoring,
    Judging,
    Beliefs,
    Updating,
    Transforming,
    Storing,
    Exporting,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    auto_wrap_output_keys=None,  # type: ignore[call-arg]
):
    r"""Embed the nodes of a graph whose links may be wrong.

    Fits :math:`\log E[w_{ij}] = \langle f(x_i), f(x_j) \rangle - \gamma` to
    undirected link weights :math:`w_{ij} \ge 0` and data vectors :math:`x_i`, by
    minimising the sum over all pairs, linked or not, of a score
    :math:`\ell(s_{ij}; w_{ij})` at :math:`s_{ij} = \log \mu_{ij}`, plus
    ``ridge`` times the squared weights of the encoder :math:`f`. For the moment
    score

    .. math:: \ell(s; w) = \frac{e^{(1+\beta)s}}{1+\beta} - w\,\frac{e^{\beta s} - 1}{\beta},

    the probability score is the density power divergence of Poisson weights,
    and :math:`\beta \to 0` gives the likelihood. False links and absurd weights
    spoil the likelihood; the larger ``beta``, the less a link counts that does
    not fit the rest.

    Parameters
    ----------
    dim : int, default=64
        The dimension of the embedding.
    score : {"moment", "probability", "likelihood"}, default="moment"
        The score. Where weights may be absurdly large, take "probability".
    beta : float, default=0.1
        The exponent of the robust scores, 0 to 10; 0 is the likelihood.
        :func:`linkproof.select` chooses score, beta and ridge without labels.
    ridge : float or None, default=None
        The weight of the squared encoder weights against the sum over pairs. None: 2 in a
        plain fit, and chosen in a robust one.
    encoder : {"auto", "linear", "mlp", "table"} or dict, default="auto"
        The map from data vectors to embeddings; a dict has one for each view,
        and "*" for the others. "table" gives every node a vector of its own and
        cannot embed unseen nodes. "auto": linear with data vectors, else table.
    offsets : bool, default=False
        Each node has an offset, which is added to the similarities of its pairs, so that
        popular nodes need no long embeddings: what its data vector tells of it, plus a
        number of its own (`offsets_`). :func:`linkproof.select` says whether a graph
        wants them.
    similarity : {"inner", "signed"}, default="inner"
        "signed" counts a share of the dimensions as negative: there unlike nodes attract
        each other. For graphs that link unlike nodes of one kind.
    weights : {"asis", "binary", "log1p"}, default="asis"
        The transform of the link weights. Negative ones (correlations) need "binary" or
        ``robust=True``: which pairs are linked is fitted, and sizes of either sign have a
        law of their own.
    solver : {"exact", "sgd"} or None, default=None
        All pairs at every step, or samples of them. None: exact up to 20,000
        nodes.
    optimizer : {"lbfgs", "adam", "sgd"} or None, default=None
        None: chosen to fit the solver.
    steps : int or None, default=None
        The largest number of steps.
    validation : float or None, default=None
        The share of the pairs held out to decide when to stop. None: 0.05, or 0
        where that would hold out fewer than 100 links.
    precision : {"f32", "f64"}, default="f32"
        The precision of the arithmetic.
    network : Network or None, default=None
        The layers of "mlp", dropout, and the random start; None: the defaults. See
        :class:`linkproof.Network`.
    sgd : Sgd or None, default=None
        How stochastic fits sample and first-order optimizers descend. See
        :class:`linkproof.Sgd`.
    inputs : Inputs or None, default=None
        How data vectors and link weights are prepared. See :class:`linkproof.Inputs`.
        Scikit-learn reaches the settings of all three, as in ``sgd__momentum``.
    robust : bool, default=False
        The whole recommended recipe: judge every link, count it by the belief that it is
        real, choose the ridge, and smooth the embeddings over believed links if hidden
        feature columns say so. It chooses score, beta, weights, walks and propagate
        itself, and the ridge too unless that is given. It takes about three times as long.
        It keeps `X`, not a copy, to judge later links; a saved model and a pickle hold it
        too.
    directed : bool, default=False
        Links lead from their first node to their second, and a matrix need not be
        symmetric: every node is embedded as a source and as a target, side by side in
        ``embedding_``. For nodes of one kind; of two kinds, hand over a dict of views.
    bootstrap : int or None, default=None
        Fits to parts of the nodes, 5 or more, that tell how sure the model is; 30 are
        usual. :meth:`score_pairs`, :meth:`neighbors`, :meth:`audit`,
        :meth:`cluster_stability` and the page read them. In a robust fit beliefs stay as
        they are.
    duplicates : {"error", "sum", "max", "first"}, default="error"
        What to do with pairs that are listed more than once, and with entries
        of a matrix that is not symmetric. ("sum" makes it ``A + A.T``.)
    self_links : {"error", "drop"}, default="error"
        What to do with links from a node to itself.
    random_state : int, RandomState or None, default=0
        The seed of all randomness. The same seed gives the same bits at any
        ``n_jobs``.
    n_jobs : int or None, default=None
        The number of threads; None or -1: all cores.
    device : str, default="auto"
        Where fits are computed: "cpu", "cuda" or "cuda:N" for a graphics card of NVIDIA;
        "auto" takes a card where there is one and the graph is large.
    verbose : bool, default=True
        Show a bar on a terminal or in a notebook; False: never.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, dim), float32
        The embeddings, in the order of ``nodes_``; with ``directed=True`` of shape
        (n_nodes, 2 * dim), those of a source and then those of a target. Read-only: the model's own
        memory. Of a robust fit the recommended ones.
    offsets_ : ndarray of shape (n_nodes,), float32
        The offset of each node, with ``offsets=True``; of directed links two columns,
        out and in.
    plain_embedding_ : ndarray of shape (n_nodes, dim), float32
        The encoder's embeddings, which expected weights are of; other than
        ``embedding_`` only where a robust fit averages.
    belief_ : ndarray of shape (n_links,)
        The belief of a robust fit in each link; :meth:`beliefs` has them with ids.
    verdict_ : Verdict
        What was found about links and features: share_false with its bounds, auc,
        abstained, detection, averaged, ridge, effective_rank and more.
        ``print(model.verdict_)`` says it in words. A plain fit knows less than a robust one.
    nodes_ : ndarray of shape (n_nodes,)
        The ids of the nodes, as they were given.
    names_ : ndarray of shape (n_nodes,) or None
        What the nodes are called, "" where there is no name; None where no table had
        names.
    node_table_ : DataFrame
        The nodes with all that a table said of them: node, view where there are
        several, and its columns as text.
    gamma_ : float or dict
        The fitted constant; with several views one for each pair of views.
    history_ : DataFrame
        A row for each step: step, value (per link), gradient_norm, held_out,
        seconds.
    stop_reason_ : str
        Why the fit ended: "converged", "patience", "steps" or "no-descent".
    n_iter_ : int
        The number of steps.
    value_ : float
        The sum of the score over the training pairs.
    views_ : list of str
        The names of the views; ``[""]`` for the only, unnamed one.
    report_ : dict
        All of the above and more, as ``fit.json`` of a saved model has it.
    n_features_in_ : int
        The number of entries of a data vector (one view with data vectors).
    feature_names_in_ : ndarray of str
        The names of the columns of `X`, where they all are text.

    See Also
    --------
    linkproof.select : choose score, beta and ridge without labels.

    References
    ----------
    A. Okuno and H. Shimodaira (2019). Robust graph embedding with noisy link
    weights. AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from linkproof import GraphEmbedding
    >>> random = np.random.default_rng(0)
    >>> groups = np.repeat([0, 1], 20)
    >>> X = np.eye(2)[groups] + 0.1 * random.normal(size=(40, 2))
    >>> links = np.argwhere(np.triu(groups[:, None] == groups, 1))   # within groups
    >>> links = np.vstack([links, [[0, 39], [5, 25]]])               # two false ones
    >>> model = GraphEmbedding(dim=2, beta=0.5, ridge=0.1).fit(X, links)
    >>> model.embedding_.shape
    (40, 2)
    >>> worst = model.audit(X=X).head(2)
    >>> sorted(zip(worst["src"], worst["dst"]))
    [(0, 39), (5, 25)]
    >>> model.transform([[1.0, 0.0], [0.0, 1.0]]).shape              # unseen nodes
    (2, 2)
    """

    # A parameter, as all others; scikit-learn calls an attribute of this name.
    score = ScoreParameter()

    def __init__(
        self,
        dim: int = 64,
        *,
        score: str = "moment",
        beta: float = 0.1,
        ridge: float | None = None,
        encoder: str | Mapping[str, str] = "auto",
        offsets: bool = False,
        similarity: str = "inner",
        weights: str = "asis",
        solver: str | None = None,
        optimizer: str | None = None,
        steps: int | None = None,
        validation: float | None = None,
        precision: str = "f32",
        network: Network | None = None,
        sgd: Sgd | None = None,
        inputs: Inputs | None = None,
        robust: bool = False,
        directed: bool = False,
        bootstrap: int | None = None,
        duplicates: str = "error",
        self_links: str = "error",
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "auto",
        verbose: bool = True,
        **removed: Any,
    ) -> None:
        refuse_removed(removed)
        self.dim = dim
        self.score = score
        self.beta = beta
        self.ridge = ridge
        self.encoder = encoder
        self.offsets = offsets
        self.similarity = similarity
        self.weights = weights
        self.solver = solver
        self.optimizer = optimizer
        self.steps = steps
        self.validation = validation
        self.precision = precision
        self.network = network
        self.sgd = sgd
        self.inputs = inputs
        self.robust = robust
        self.directed = directed
        self.bootstrap = bootstrap
        self.duplicates = duplicates
        self.self_links = self_links
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            With those of option objects, such as ``sgd__momentum``.
        """
        params: dict[str, Any] = super().get_params(deep=False)
        return {**params, **nested(params)} if deep else params

    def set_params(self, **params: Any) -> GraphEmbedding:
        """Set parameters, those of option objects such as ``sgd__momentum`` too."""
        super().set_params(**with_nested(self.get_params(deep=False), params))
        return self

    def fit(
        self,
        X: Any = None,
        y: Any = None,
        *,
        links: Any = None,
        nodes: Any = None,
        name: str | None = None,
        evidence: Any = None,
        checked: Any = None,
        ray: Any = None,
        callback: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
    ) -> GraphEmbedding:
        """Fit embeddings to a graph: ``fit(X, links)``.

        Parameters
        ----------
        X : array, sparse matrix, data frame, dict of views, or None
            The data vectors, a row for each node. A pandas index other than
            0, 1, ... has the nodes' ids. In a dict of views an int is a number of
            nodes without data vectors.
        y, links : sparse matrix, graph, edge array or table
            The links, second or by name. (By name in a pipeline that ends with a
            classifier, which hands labels as `y` to every step; they are not read.)
            They are: a SciPy sparse matrix (symmetric or triangular), a NetworkX
            graph, a PyG ``Data`` or ``HeteroData``, an array of row numbers
            (src, dst[, weight]), or a pandas, Polars or Arrow table of ids. With
            a dict of views also a dict ``{(view, view): matrix}``. Rows of `X` without
            ids follow the nodes of a NetworkX graph in their order, unless these are
            the numbers 0 to n - 1. Arrays of numbers count rows, tables hold ids.
        nodes : sequence of ids, table, or dict of them by view; optional
            The ids of the rows of `X`. Of a table the ids are the first column (of a
            pandas frame its index, unless that counts the rows). All other columns are
            kept as text, see ``node_table_``.
        name : str, optional
            The column of `nodes` with what nodes are called, which audits, neighbors,
            pages and plots show beside ids. Default: the one that is called name.
        evidence, checked : as for :func:`linkproof.check`, optional
            More evidence about each link, and verified links, for a robust fit.
        ray : bool, str or linkproof.ray.Cluster, optional
            Where to compute with Ray: True, the address of a cluster, or more about it.
            The result has the same bits, but for cards. See :mod:`linkproof.ray`.
        callback : callable, optional
            Called with a dict at every step: step, steps, value, gradient_norm,
            held_out (or None) and seconds. What it raises ends the fit.
        checkpoint : path, optional
            A folder in which the state of the fit is kept, every five minutes and when it
            is interrupted. It goes when the fit is done.
        resume : bool, default=False
            Go on from the state in `checkpoint`, if there is one, to the same bits as if
            nothing had happened. The state of other data, settings or another version is
            refused.

        Returns
        -------
        self : GraphEmbedding

        Examples
        --------
        >>> import networkx as nx
        >>> from linkproof import GraphEmbedding
        >>> graph = nx.Graph()
        >>> graph.add_edge("ada", "charles", weight=3)
        >>> graph.add_edge("ada", "mary")
        >>> model = GraphEmbedding(dim=2).fit(None, graph)
        >>> list(model.nodes_)
        ['ada', 'charles', 'mary']
        """
        links = y if links is None else links
        params = self.get_params(deep=False)
        settings = to_core(params, read_seed(self.random_state))
        threads = read_threads(self.n_jobs)
        if callback is not None and not callable(callback):
            raise refused("callback", "a function or None", callback)
        robust, resume = read_flag("robust", self.robust), read_flag("resume", resume)
        if self.bootstrap is not None:
            read_count("bootstrap", self.bootstrap, 5)
        if not (checkpoint is None or isinstance(checkpoint, (str, os.PathLike))):
            raise refused("checkpoint", "the path of a folder or None", checkpoint)
        if resume and checkpoint is None:
            raise refused("checkpoint", "the folder to go on from with resume=True", None)
        if robust:
            refuse_settings(flat(params))
            if callback is not None:
                why = "it is many fits, whose steps are not shown"
                raise refused("callback", f"None for a robust fit: {why}", callback)
        cluster = read_cluster(ray, cards=not robust)
        refuse_directions(X, links, self.directed, self.duplicates)
        table = read_nodes(nodes)
        if not robust and not (evidence is None and checked is None):
            raise ValueError("evidence, checked: found in a plain fit; expected robust=True")
        links, columns = split_evidence(evidence, links)
        graph = read_graph(X, links, table.ids)
        if graph.n < 2:
            found = f"found one node (n_samples = {graph.n})"
            raise ValueError(f"X, links: {found}; expected two at least")
        rules = read_rules(self.duplicates, self.self_links, self.directed)
        data = core_data(graph, rules, table, name)
        with remote(cluster, self.device) as helpers, Progress("fitting", self.verbose) as progress:
            context = _core.Context(
                device=str(self.device),
                threads=helpers.threads_here(threads) if helpers and robust else threads,
                show=progress.show,
                every_step=callback,
                checkpoint=checkpoint,
                resume=resume,
                remote=helpers,
            )
            if robust:
                request = judge_request(columns, graph.links, checked, graph.ids, graph.n)
                model = _core.fit_robust(data, settings, request, context)
            else:
                model = _core.Model.fit(data, settings, context)
                progress.finish(len(model.history()["step"]))
        if self.bootstrap is not None:
            with Progress("fitting to parts of the nodes", self.verbose) as progress:
                context = _core.Context(
                    device=str(self.device), threads=threads, show=progress.show
                )
                model = _core.bootstrap(model, data, int(self.bootstrap), context)
        self._keep(model, graph.ids)
        if len(graph.views) == 1 and graph.views[0].column_names is not None:
            self.feature_names_in_ = np.array(graph.views[0].column_names, dtype=object)
        for note in model.notes:
            warnings.warn(note, UserWarning, stacklevel=2)
        return self

    def fit_transform(self, X: Any = None, y: Any = None, **how: Any) -> Any:
        """Fit embeddings to a graph and return them.

        As :meth:`fit`, but returns the embeddings, a row for each node.
        """
        self.fit(X, y, **how)
        return as_configured(self, self.embedding_.copy(), self.nodes_)
