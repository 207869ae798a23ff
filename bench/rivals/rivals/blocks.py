"""The stochastic block model."""

from __future__ import annotations

import logging

import numpy as np
from scipy.special import softmax

from .data import OneView

# On import the package opens sparsebm.log in whatever folder it is run from.
_file_handler = logging.FileHandler
logging.FileHandler = lambda *_, **__: logging.NullHandler()
try:
    from sparsebm import SBM
finally:
    logging.FileHandler = _file_handler

# Of the variational E-step for new nodes, which may be linked to each other.
ROUNDS = 20


def sbm(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """sparsebm's Bernoulli SBM with its defaults: membership probabilities."""
    fitted_on = data.to_fit(setting)
    np.random.seed(seed)  # the package draws its starts from numpy's global state
    model = SBM(n_clusters=clusters, verbosity=0, use_gpu=False)
    model.fit(fitted_on.pattern, symmetric=True)
    if not model.trained_successfully:
        raise RuntimeError("sparsebm did not converge from any start")
    if setting == "all":
        return model.predict_proba[data.test]
    return _join(data, model)


def _join(data: OneView, model: SBM) -> np.ndarray:
    """Memberships of new nodes, given their links and the fitted blocks.

    The E-step of the model: log alpha_k plus, for every other node, the log
    probability of the link or of its absence. Links among new nodes count with
    the memberships of the round before.
    """
    links = data.graph.pattern
    to_old, to_new = links[data.test][:, data.training], links[data.test][:, data.test]
    chances = np.clip(model.group_connection_probabilities, 1e-12, 1 - 1e-12)
    odds, absent = np.log(chances / (1 - chances)), np.log1p(-chances)
    old = model.predict_proba
    prior = np.log(np.maximum(model.group_membership_probability, 1e-300))
    given_old = prior + (to_old @ old) @ odds.T + old.sum(axis=0) @ absent.T
    new = softmax(given_old, axis=1)
    for _ in range(ROUNDS):
        others = new.sum(axis=0) - new
        new = softmax(given_old + (to_new @ new) @ odds.T + others @ absent.T, axis=1)
    return new
