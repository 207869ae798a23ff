"""Graph embedding that holds up when the links are wrong.

>>> import numpy as np
>>> from linkproof import GraphEmbedding
>>> X = np.array([[1.0, 0.1], [0.9, 0.2], [0.1, 1.0], [0.2, 0.8]])
>>> links = np.array([[0, 1, 1.0], [2, 3, 1.0], [0, 3, 100.0]])   # the last is absurd
>>> model = GraphEmbedding(dim=2, score="probability", beta=0.5).fit(X, links)
>>> model.embedding_.shape
(4, 2)
>>> model.transform([[0.5, 0.5]]).shape                           # an unseen node
(1, 2)

The parts: :func:`check` (which links look false, without a fit),
:class:`GraphEmbedding` (fit, transform, score_pairs, audit, save, load), :func:`inspect`
(a look before a fit), :func:`select` (settings without labels), :func:`objective`
(value and gradient),
:class:`Network`, :class:`Sgd`, :class:`Inputs` and :class:`Search` (rarer settings),
:mod:`linkproof.measures` and :func:`plot_embedding`.
"""

from linkproof import measures
from linkproof._check import Check, Share, check, load_check
from linkproof._core import FitError, __version__
from linkproof._estimator import GraphEmbedding
from linkproof._inspect import Inspection, inspect
from linkproof._objective import Objective, objective
from linkproof._options import Inputs, Network, Search, Sgd
from linkproof._plots import plot_embedding
from linkproof._select import Selection, select
from linkproof._verdict import Verdict

__all__ = [
    "Check",
    "FitError",
    "GraphEmbedding",
    "Inputs",
    "Inspection",
    "Network",
    "Objective",
    "Search",
    "Selection",
    "Sgd",
    "Share",
    "Verdict",
    "__version__",
    "check",
    "inspect",
    "load_check",
    "measures",
    "objective",
    "plot_embedding",
    "select",
]
