"""How good an embedding is: clusters against known classes, scores against links.

All figures agree with scikit-learn's, and results are the same at any number of
threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkproof import _core
from linkproof._features import read_matrix
from linkproof._settings import read_count, read_seed, read_threads

__all__ = [
    "accuracy",
    "ari",
    "auc",
    "average_precision",
    "evaluate",
    "kmeans",
    "nmi",
    "purity",
]  # fmt: skip


def nmi(truth: Any, found: Any) -> float:
    r"""Normalised mutual information, :math:`2 I(C; K) / (H(C) + H(K))`.

    Parameters
    ----------
    truth, found : array-like of shape (n,)
        Classes and clusters, of any type.

    Examples
    --------
    >>> from linkproof import measures
    >>> measures.nmi(["a", "a", "b", "b"], [5, 5, 3, 3])
    1.0
    """
    return _compare(truth, found)[0]


def purity(truth: Any, found: Any) -> float:
    """The share of points that are of their cluster's most frequent class.

    Examples
    --------
    >>> from linkproof import measures
    >>> measures.purity(["a", "a", "b", "b"], [0, 0, 0, 1])
    0.75
    """
    return _compare(truth, found)[1]


def ari(truth: Any, found: Any) -> float:
    """The adjusted Rand index.

    Examples
    --------
    >>> from linkproof import measures
    >>> measures.ari([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return _compare(truth, found)[2]


def accuracy(truth: Any, found: Any) -> float:
    """The share of points in the right cluster, clusters matched to classes at best.

    Examples
    --------
    >>> from linkproof import measures
    >>> measures.accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    return _compare(truth, found)[3]


def auc(scores: Any, positive: Any) -> float:
    """The chance that a positive has a larger score than another, ties by half.

    Parameters
    ----------
    scores : array-like of shape (n,)
    positive : array-like of bool, shape (n,)

    Examples
    --------
    >>> from linkproof import measures
    >>> measures.auc([3.0, 2.0, 1.0], [True, False, True])
    0.5
    """
    return _score(scores, positive)[0]


def average_precision(scores: Any, positive: Any) -> float:
    """The mean over positives of the precision at their score.

    Examples
    --------
    >>> from linkproof import measures
    >>> measures.average_precision([3.0, 2.0, 1.0], [True, False, False])
    1.0
    """
    return _score(scores, positive)[1]


def kmeans(
    Y: Any, clusters: int, *, random_state: Any = 0, n_jobs: int | None = None
) -> npt.NDArray[np.uint32]:
    """The cluster of each row, by k-means with ten starts.

    Parameters
    ----------
    Y : array of shape (n, dim)
    clusters : int
    random_state : int, RandomState or None, default=0
    n_jobs : int or None
        The number of threads, which changes no result.

    Examples
    --------
    >>> from linkproof import measures
    >>> labels = measures.kmeans([[0.0], [0.1], [5.0], [5.1]], 2)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    matrix = read_matrix(Y, "Y")
    if not isinstance(matrix, np.ndarray):
        raise ValueError("Y: found a sparse matrix; expected an array, one row a point")
    clusters = read_count("clusters", clusters)
    points = np.ascontiguousarray(matrix, np.float32)
    return _core.kmeans(points, clusters, read_seed(random_state), read_threads(n_jobs))


def evaluate(
    Y: Any, labels: Any, clusters: int | None = None, *, random_state: Any = 0
) -> dict[str, float]:
    """Cluster embeddings by k-means and compare with known classes.

    Parameters
    ----------
    Y : array of shape (n, dim)
    labels : array-like of shape (n,)
        The classes. Negative numbers, NaN, None and empty text are unlabelled
        rows, which are left out.
    clusters : int, optional
        The number of clusters; as many as classes by default.
    random_state : int, RandomState or None, default=0
        The seed of k-means.

    Returns
    -------
    measures : dict with nmi, purity, ari and accuracy

    Examples
    --------
    >>> from linkproof import measures
    >>> measures.evaluate([[0.0], [0.1], [5.0], [5.1]], ["a", "a", "b", "b"])["nmi"]
    1.0
    """
    classes = np.asarray(labels, dtype=object)
    if classes.ndim != 1:
        raise ValueError(f"labels: found {classes.ndim} dimensions; expected a list of labels")
    known = np.array([not is_unlabelled(label) for label in classes], dtype=bool)
    if not known.any():
        raise ValueError("labels: found no labelled row; expected at least one")
    number = len(set(classes[known])) if clusters is None else clusters
    matrix = read_matrix(Y, "Y")
    if len(classes) != matrix.shape[0]:
        raise ValueError(f"labels: found {len(classes)}; expected {matrix.shape[0]}, one a row")
    found = kmeans(matrix[known], number, random_state=random_state)
    names = ("nmi", "purity", "ari", "accuracy")
    return dict(zip(names, _compare(classes[known], found)))


def is_unlabelled(label: Any) -> bool:
    """Whether a label says that a row has none."""
    # Pandas' missing value is not even different from itself.
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    if label == "" or label != label:
        return True
    return isinstance(label, (int, float, np.number)) and bool(label < 0)


def _codes(labels: Any, name: str) -> npt.NDArray[np.uint32]:
    values = np.asarray(labels)
    if values.ndim != 1:
        raise ValueError(f"{name}: found {values.ndim} dimensions; expected a list of labels")
    if values.dtype.kind == "O":
        values = np.array([str(value) for value in values])
    return np.unique(values, return_inverse=True)[1].astype(np.uint32)


def _compare(truth: Any, found: Any) -> tuple[float, float, float, float]:
    return _core.compare_labels(_codes(truth, "truth"), _codes(found, "found"))


def _score(scores: Any, positive: Any) -> tuple[float, float]:
    numbers = np.ascontiguousarray(scores, dtype=np.float64)
    signs = np.ascontiguousarray(positive, dtype=bool)
    for name, values in (("scores", numbers), ("positive", signs)):
        if values.ndim != 1:
            raise ValueError(f"{name}: found {values.ndim} dimensions; expected a list")
    return _core.compare_scores(numbers, signs)
