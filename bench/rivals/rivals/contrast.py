"""NS4GC and MAGI, by the package pyagc, with what its benchmark sets for Cora.

pyagc imports its readers of data sets when it starts, and with them packages that
nothing here needs. So its start is passed over: only the files of these models,
of their encoder and of what they use are read.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from .data import OneView
from .networks import start
from .vectors import RowSums, dense


def ns4gc(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """Liu et al. (2024), TKDE: two layers of 64, a fifth of the values masked and
    three links in ten dropped in each view."""
    graph, device = _graph(data, setting, seed)
    view = _package("transforms").GSSLTransform(p_feat_mask=0.2, p_edge_drop=0.3)
    model = _package("models.ns4gc").NS4GC(
        _encoder(graph.num_features, hidden=64, layers=2, dropout=0.0),
        view, view, s=0.6, tau=0.1, lam=1.0, gam=1.0,
    ).to(device)  # fmt: skip
    _train(model, graph, rate=0.001, decay=1e-5, epochs=200)
    return _embedded(model, graph, data.test)


def magi(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """Liu et al. (2024), KDD: one layer of 512; nodes met by a hundred walks of two
    steps are alike."""
    graph, device = _graph(data, setting, seed)
    model = _package("models.magi").MAGI(
        _encoder(graph.num_features, hidden=512, layers=1, dropout=0.1), tau=0.3
    ).to(device)
    met = met_by_walks(data.to_fit(setting).pattern, 100, 2, np.random.default_rng(seed))
    graph.pos_pairs = torch.tensor(met, device=device)
    _train(model, graph, rate=0.0005, decay=0.001, epochs=400)
    del graph.pos_pairs
    return _embedded(model, graph, data.test)


def met_by_walks(
    links: sp.csr_matrix, walks: int, length: int, random: np.random.Generator
) -> np.ndarray:
    """MAGI's pairs: who is met by walks from a node more often than one node in all
    would be by chance. The package's own walks need compiled companions; a node
    without links stays where it is, as there."""
    nodes = links.shape[0]
    degrees = np.diff(links.indptr)
    starts = np.repeat(np.arange(nodes), walks)
    here, seen = starts, []
    for _ in range(length):
        step = links.indptr[here] + (random.random(len(here)) * degrees[here]).astype(np.int64)
        onward = links.indices[np.minimum(step, links.nnz - 1)]
        here = np.where(degrees[here] > 0, onward, here)
        seen.append(starts * nodes + here)
    pairs, counts = np.unique(np.concatenate(seen), return_counts=True)
    pairs = pairs[counts / (walks * length) > 1.0 / nodes]
    return np.stack([pairs // nodes, pairs % nodes])


def _graph(data: OneView, setting: str, seed: int) -> tuple[Data, torch.device]:
    device = start(seed)
    graph = data.to_fit(setting)
    if graph.weights.nnz == 0:
        raise ValueError("there is no link to fit on")
    features = dense(RowSums(graph.features)(graph.features))
    ends = np.stack(graph.weights.nonzero())
    return Data(
        x=torch.tensor(features, dtype=torch.float32, device=device),
        edge_index=torch.tensor(ends, dtype=torch.int64, device=device),
    ), device


def _encoder(width: int, hidden: int, layers: int, dropout: float) -> nn.Module:
    return _package("encoders.tuned_gnn").create_tuned_gnn(
        "gcn", in_channels=width, hidden_channels=hidden, num_layers=layers, dropout=dropout
    )


def _train(model: nn.Module, graph: Data, rate: float, decay: float, epochs: int) -> None:
    """As the benchmark: patience of 50 epochs on the training loss, best kept."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=decay)
    least, since, best = float("inf"), 0, None
    for epoch in range(epochs):
        loss = model.train_full(graph, optimizer, epoch, verbose=False)
        if loss < least:
            least, since = loss, 0
            best = {name: value.detach().clone() for name, value in model.state_dict().items()}
        else:
            since += 1
            if since == 50:
                break
    if best is None:
        raise ValueError("the training loss is not a number")
    model.load_state_dict(best)


def _embedded(model: nn.Module, graph: Data, test: np.ndarray) -> np.ndarray:
    """Unit length, as the benchmark before k-means."""
    model.eval()
    with torch.no_grad():
        rows: Tensor = model.embed(graph.x, graph.edge_index)
        return nn.functional.normalize(rows, dim=1).cpu().numpy()[test]


def _package(part: str) -> types.ModuleType:
    """A module of pyagc, without the start of the packages around it."""
    for name in ("pyagc", "pyagc.models", "pyagc.encoders"):
        if name not in sys.modules:
            found = importlib.util.find_spec(name)
            if found is None or found.submodule_search_locations is None:
                raise ImportError(f"no package {name}")
            bare = types.ModuleType(name)
            bare.__path__ = list(found.submodule_search_locations)
            bare.__spec__ = found
            sys.modules[name] = bare
    return importlib.import_module(f"pyagc.{part}")
