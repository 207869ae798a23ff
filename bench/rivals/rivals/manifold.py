"""Manifold learning on the data vectors.

Every one of these finds as many dimensions as there are clusters, which is what
spectral clustering recommends (Ng, Jordan and Weiss, 2001); scikit-learn's
default of two is meant for pictures.
"""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap, LocallyLinearEmbedding, smacof
from sklearn.metrics import euclidean_distances

from .data import OneView
from .vectors import Narrowing, Scaling, dense

# The dense eigensolver copes with eigenvalues that coincide, as they do when
# neighbourhoods fall apart; beyond this many nodes it takes too long.
DENSE_SOLVER_UP_TO = 6000


def isomap(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """scikit-learn's Isomap, its default of 5 neighbours."""
    fit, test = _vectors(data, setting, seed)
    solver = "dense" if len(fit) <= DENSE_SOLVER_UP_TO else "auto"
    model = Isomap(n_components=clusters, eigen_solver=solver).fit(fit)
    return model.embedding_[data.test] if setting == "all" else model.transform(test)


def lle(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """scikit-learn's standard locally linear embedding, its defaults otherwise."""
    fit, test = _vectors(data, setting, seed)
    solver = "dense" if len(fit) <= DENSE_SOLVER_UP_TO else "auto"
    model = LocallyLinearEmbedding(
        n_components=clusters, eigen_solver=solver, random_state=seed
    ).fit(fit)
    return model.embedding_[data.test] if setting == "all" else model.transform(test)


def mds(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """Metric SMACOF from the classical solution, which newer scikit-learn recommends.

    The classical solution of Euclidean distances is PCA.
    """
    fit, _ = _vectors(data, setting, seed)
    start = PCA(clusters, random_state=seed).fit_transform(fit)
    distances = euclidean_distances(fit)
    np.fill_diagonal(distances, 0.0)
    found = smacof(distances, n_components=clusters, init=start, n_init=1, random_state=seed)
    return found[0][data.test]


def _vectors(data: OneView, setting: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scaled, dense data vectors to fit on, and those of the test nodes."""
    fitted_on = data.to_fit(setting).features
    scale = Scaling(fitted_on)
    narrow = Narrowing(scale(fitted_on), widest=20000, kept=1000, seed=seed)
    return dense(narrow(scale(fitted_on))), dense(narrow(scale(data.graph.features[data.test])))
