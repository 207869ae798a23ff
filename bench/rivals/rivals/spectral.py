"""Spectral embedding of the links."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.sparse.linalg import eigsh
from sknetwork.embedding import Spectral
from sknetwork.linalg import eig_solver

from .data import OneView


def spectral(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """scikit-network's Spectral, as it comes.

    Its regularisation joins the components of a disconnected graph weakly; the
    plain Laplacian's first eigenvectors would say only which component a node
    is in. Dimension = clusters (Ng, Jordan and Weiss, 2001).
    """
    adjacency = data.to_fit(setting).weights
    start = np.random.default_rng(seed).uniform(-1.0, 1.0, adjacency.shape[0])
    # The package leaves the solver's start to chance; given one, the same seed
    # gives the same bits.
    eig_solver.eigsh = partial(eigsh, v0=start)
    try:
        found = Spectral(n_components=clusters).fit_transform(adjacency)
    finally:
        eig_solver.eigsh = eigsh
    return found[data.test]
