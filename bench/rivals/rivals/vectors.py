"""How data vectors are scaled before a method sees them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import StandardScaler, normalize

from .data import Matrix


def are_counts(features: Matrix) -> bool:
    """Bags of words and the like: nothing below zero."""
    values = features.data if sp.issparse(features) else features
    return values.size == 0 or values.min() >= 0


class Scaling:
    """Unit length for bags of words, unit variance a column for the rest.

    Fitted on what the setting lets the method fit on, then used on every row.
    """

    def __init__(self, fitted_on: Matrix) -> None:
        self.counts = are_counts(fitted_on)
        if not self.counts:
            self.columns = StandardScaler(with_mean=not sp.issparse(fitted_on)).fit(fitted_on)

    def __call__(self, features: Matrix) -> Matrix:
        return normalize(features) if self.counts else self.columns.transform(features)


class RowSums(Scaling):
    """PyTorch Geometric's NormalizeFeatures, which divides by max(row sum, 1).

    It has no meaning below zero; such data gets unit variance a column.
    """

    def __call__(self, features: Matrix) -> Matrix:
        if not self.counts:
            return super().__call__(features)
        sums = np.maximum(np.asarray(features.sum(axis=1)).ravel(), 1.0)
        return sp.diags(1.0 / sums) @ features if sp.issparse(features) else features / sums[:, None]


class Narrowing:
    """Leaves data vectors as they are unless they are wider than `widest`.

    Then a truncated singular value decomposition brings them to `kept` columns.
    """

    def __init__(self, fitted_on: Matrix, widest: int, kept: int, seed: int) -> None:
        self.svd = None
        if fitted_on.shape[1] > widest:
            kept = min(kept, fitted_on.shape[0] - 1)
            self.svd = TruncatedSVD(kept, random_state=seed).fit(fitted_on)

    def __call__(self, features: Matrix) -> Matrix:
        return features if self.svd is None else self.svd.transform(features)


def dense(features: Matrix) -> np.ndarray:
    return features.toarray() if sp.issparse(features) else np.asarray(features)
