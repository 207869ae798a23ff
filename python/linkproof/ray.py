"""Fits on a Ray cluster: ``pip install linkproof[ray]``.

>>> import numpy as np
>>> from linkproof import GraphEmbedding
>>> model = GraphEmbedding(dim=2)
>>> model.fit(X, links, ray=True)                  # doctest: +SKIP
>>> model.fit(X, links, ray="10.0.0.1:6379")       # doctest: +SKIP

``ray=True`` takes the cluster that Ray finds (``RAY_ADDRESS``, one that ``ray start``
started on this machine, or else the cores of this machine); text is the address of one;
a :class:`Cluster` says more. :meth:`GraphEmbedding.fit <linkproof.GraphEmbedding.fit>` and
:func:`linkproof.select` take it. Results have the bits of
a fit on one machine, with any number of workers, also when some are lost on the way. Workers
on graphics cards (``Cluster(device="cuda")``) have bits of their own, whatever their number.

A plain fit shares its passes over all pairs out among workers. A robust fit and a
search run their many fits as tasks. :func:`fit_table` fits tables that no memory holds.
"""

from __future__ import annotations

from linkproof._buckets import BucketedTable, fit_table, visit_bytes
from linkproof._cluster import Cluster, ClusterError

__all__ = [
    "BucketedTable",
    "Cluster",
    "ClusterError",
    "fit_table",
    "visit_bytes",
]
