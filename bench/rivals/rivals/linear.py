"""Linear maps of the data vectors: an eigenproblem each, solved exactly.

No package on offer solves these with *given* link weights (lpproj builds its
own neighbour graph; scikit-learn's CCA knows neither weights nor a ridge), so
they are written out here, on scipy's solvers.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.decomposition import PCA

from .data import Graph, Matrix, OneView, TwoViews
from .vectors import Narrowing, Scaling, dense

# The ridge of cdmca and cca, as a share of the mean diagonal: the form is that
# of Shimodaira (2016, "Cross-validation of matching correlation analysis by
# resampling matching weights"); its size is a round figure, tuned on nothing.
RIDGE = 0.1
# Of two views. With one view there are as many directions as clusters, as with
# every method that names no dimension of its own.
DIMENSION = 100
# Gong et al. (2014, "A multi-view embedding space for modeling internet images,
# tags, and their semantics"): cosine retrieval wants each canonical direction
# times its eigenvalue to the 4th.
RETRIEVAL_POWER = 4


def kmeans(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """The data vectors of the test nodes, scaled."""
    fitted_on = data.to_fit(setting).features
    scale = Scaling(fitted_on)
    narrow = Narrowing(scale(fitted_on), widest=5000, kept=100, seed=seed)
    return dense(narrow(scale(data.graph.features[data.test])))


def lpp(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """Locality preserving projections (He and Niyogi, 2003).

    The smallest eigenvalues of X'LX a = lambda X'DX a are the largest of
    X'WX a = (1 - lambda) X'DX a, as L = D - W. PCA that keeps 98% comes
    first, as in He et al. (2005, "Face recognition using Laplacianfaces"), in
    place of a ridge.
    """
    fitted_on = data.to_fit(setting)
    scale = Scaling(fitted_on.features)
    narrow = Narrowing(scale(fitted_on.features), widest=20000, kept=1000, seed=seed)
    pca = PCA(n_components=0.98, svd_solver="full").fit(dense(narrow(scale(fitted_on.features))))
    reduced = pca.transform(dense(narrow(scale(fitted_on.features))))
    degrees = _degrees(fitted_on.weights)
    between = reduced.T @ (fitted_on.weights @ reduced)
    within = (reduced * degrees[:, None]).T @ reduced
    # Only against rounding: directions in which no linked node varies.
    within += 1e-9 * np.trace(within) / len(within) * np.eye(len(within))
    directions, _ = _leading(between, within, clusters)
    return pca.transform(dense(narrow(scale(data.graph.features[data.test])))) @ directions


def cdmca(data: OneView | TwoViews, setting: str, *, clusters: int = 0, seed: int) -> np.ndarray:
    """Cross-domain matching correlation analysis (Shimodaira, 2016)."""
    if isinstance(data, TwoViews):
        return _cdmca_of_two(data)
    fitted_on = data.to_fit(setting)
    scale = Scaling(fitted_on.features)
    narrow = Narrowing(scale(fitted_on.features), widest=5000, kept=1000, seed=seed)
    features = narrow(scale(fitted_on.features))
    mean, directions, _ = _matching(Graph(features, fitted_on.weights), [features.shape[1]], clusters)
    rows = narrow(scale(data.graph.features[data.test]))
    return np.asarray(rows @ directions) - mean @ directions


def _cdmca_of_two(data: TwoViews) -> np.ndarray:
    """Both views side by side: [A 0; 0 B], so that each has its own directions."""
    a, b = Scaling(data.features_a)(data.features_a), Scaling(data.features_b)(data.features_b)
    degrees = _degrees(data.weights)
    # Each view is centred by itself, so the zero blocks stay zero.
    a = a - _mean(a, degrees[: len(a)])
    b = b - _mean(b, degrees[len(a) :])
    together = scipy.linalg.block_diag(a, b)
    _, directions, values = _matching(
        Graph(together, data.weights), [a.shape[1], b.shape[1]], DIMENSION, centred=True
    )
    return together @ (directions * values**RETRIEVAL_POWER)


def cca(data: TwoViews, setting: str, *, seed: int) -> np.ndarray:
    """Regularised linear CCA over the linked pairs of the two views.

    A link of weight w counts as w copies of the pair. Links inside a view say
    nothing to CCA and are left out.
    """
    a, b = Scaling(data.features_a)(data.features_a), Scaling(data.features_b)(data.features_b)
    across = data.weights[: len(a)][:, len(a) :].tocsr()
    if across.nnz == 0:
        raise ValueError("no link joins the two views")
    total = across.sum()
    of_a = np.asarray(across.sum(axis=1)).ravel()
    of_b = np.asarray(across.sum(axis=0)).ravel()
    a, b = a - _mean(a, of_a), b - _mean(b, of_b)
    root_a = _inverse_root(_ridged((a * of_a[:, None]).T @ a / total, [a.shape[1]]))
    root_b = _inverse_root(_ridged((b * of_b[:, None]).T @ b / total, [b.shape[1]]))
    left, correlations, right = scipy.linalg.svd(root_a @ (a.T @ (across @ b) / total) @ root_b)
    kept = min(DIMENSION, len(correlations))
    weights = correlations[:kept] ** RETRIEVAL_POWER
    return np.vstack([a @ root_a @ left[:, :kept] * weights, b @ root_b @ right[:kept].T * weights])


def _matching(
    graph: Graph, widths: list[int], kept: int, centred: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean, the directions and the eigenvalues of X'WX against X'DX + ridge.

    Centring is done on the products: (X - 1m')'W(X - 1m') = X'WX - t mm', where
    m is the mean with the degrees as weights and t their sum; D likewise. So X
    stays sparse.
    """
    degrees = _degrees(graph.weights)
    total = degrees.sum()
    mean = np.zeros(graph.features.shape[1]) if centred else _mean(graph.features, degrees)
    outer = total * np.outer(mean, mean)
    between = dense(graph.features.T @ (graph.weights @ graph.features)) - outer
    within = dense(graph.features.T @ (sp.diags(degrees) @ graph.features)) - outer
    directions, values = _leading(between, _ridged(within, widths), kept)
    return mean, directions, values


def _leading(between: np.ndarray, within: np.ndarray, kept: int) -> tuple[np.ndarray, np.ndarray]:
    """Directions of the largest eigenvalues, largest first, positive ones only."""
    size = len(between)
    between, within = (between + between.T) / 2, (within + within.T) / 2
    chosen = [max(0, size - kept), size - 1]
    values, directions = scipy.linalg.eigh(between, within, subset_by_index=chosen)
    values, directions = values[::-1], directions[:, ::-1]
    positive = values > 0
    positive[0] = True
    return _fixed_signs(directions[:, positive]), np.maximum(values[positive], 0.0)


def _fixed_signs(directions: np.ndarray) -> np.ndarray:
    """The entry of largest size is positive, whatever the solver came up with."""
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    return directions * np.where(largest < 0, -1.0, 1.0)


def _ridged(matrix: np.ndarray, widths: list[int]) -> np.ndarray:
    """Adds the ridge, for each view by the size of its own block."""
    ridge, start = np.zeros(len(matrix)), 0
    for width in widths:
        block = slice(start, start + width)
        ridge[block] = RIDGE * np.mean(np.diag(matrix)[block])
        start += width
    return matrix + np.diag(np.maximum(ridge, 1e-12))


def _inverse_root(matrix: np.ndarray) -> np.ndarray:
    values, vectors = scipy.linalg.eigh(matrix)
    return (vectors / np.sqrt(values)) @ vectors.T


def _degrees(weights: sp.csr_matrix) -> np.ndarray:
    return np.asarray(weights.sum(axis=1)).ravel()


def _mean(features: Matrix, weights: np.ndarray) -> np.ndarray:
    return np.asarray(features.T @ weights).ravel() / max(weights.sum(), 1e-300)
