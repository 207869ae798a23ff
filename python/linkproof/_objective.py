"""The plain objective of given embeddings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkproof import _core
from linkproof._features import read_matrix
from linkproof._inputs import core_links, read_graph
from linkproof._settings import read_flag, read_real, read_rules, read_threads
from linkproof._words import refused


class Objective(NamedTuple):
    """The objective of given embeddings.

    Attributes
    ----------
    value : float
        The sum of the score over all pairs of rows.
    gradient : ndarray of the shape of Y, or None
        Its derivative in the embeddings.
    gamma_gradient : float
        Its derivative in gamma.
    pairs : int
        The number of pairs, n (n - 1) / 2.
    """

    value: float
    gradient: npt.NDArray[Any] | None
    gamma_gradient: float
    pairs: int


def objective(
    Y: Any,
    links: Any,
    gamma: float,
    score: str = "moment",
    beta: float = 0.1,
    *,
    gradient: bool = True,
    precision: str = "f64",
    duplicates: str = "error",
    self_links: str = "error",
    n_jobs: int | None = None,
) -> Objective:
    r"""Evaluate the objective of given embeddings, and its gradient.

    .. math:: \sum_{i<j} \ell(\langle y_i, y_j \rangle - \gamma;\; w_{ij})

    over all pairs of rows, linked or not: no ridge, no cap, nothing held out.
    The moment score is
    :math:`\ell(s; w) = e^{(1+\beta)s}/(1+\beta) - w (e^{\beta s} - 1)/\beta`.

    Parameters
    ----------
    Y : array of shape (n_nodes, dim)
        The embeddings.
    links : as for :meth:`GraphEmbedding.fit`
        The links between rows of `Y`.
    gamma : float
        The constant.
    score : {"moment", "probability", "likelihood"}, default="moment"
    beta : float, default=0.1
        The exponent; 0 is the likelihood.
    gradient : bool, default=True
        Whether the gradient is wanted.
    precision : {"f64", "f32"}, default="f64"
        The precision of the arithmetic and of the gradient.
    duplicates, self_links
        As for :class:`GraphEmbedding`.
    n_jobs : int or None
        The number of threads; None: all cores.

    Returns
    -------
    objective : Objective
        A tuple of value, gradient, gamma_gradient and pairs.

    Examples
    --------
    >>> import numpy as np, linkproof
    >>> found = linkproof.objective(np.zeros((3, 1)), [(0, 1, 2.0)], 0.5, "likelihood", 0)
    >>> bool(np.isclose(found.value, 3 * np.exp(-0.5) + 1))   # three pairs at s = -1/2
    True
    >>> found.pairs
    3
    """
    if precision not in ("f32", "f64"):
        raise refused("precision", "'f32' or 'f64'", precision)
    matrix = read_matrix(Y, "Y")
    if not isinstance(matrix, np.ndarray):
        raise ValueError("Y: found a sparse matrix; expected an array, one row a node")
    dtype = np.float64 if precision == "f64" else np.float32
    matrix = np.ascontiguousarray(matrix, dtype)
    if matrix.shape[0] < 2:
        raise ValueError(f"Y: found {matrix.shape[0]} row; expected at least two")
    graph = read_graph(matrix, links)
    constants = [read_real("gamma", gamma), read_real("beta", beta)]
    value, gamma_gradient, pairs, found = _core.objective(
        matrix,
        core_links(graph.links, graph.n, read_rules(duplicates, self_links)),
        constants[0],
        str(score),
        constants[1],
        gradient=read_flag("gradient", gradient),
        threads=read_threads(n_jobs),
    )
    return Objective(value, found, gamma_gradient, pairs)
