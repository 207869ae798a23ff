"""Graph networks, by PyTorch Geometric, each with the settings of its example.

No link is held out: the examples hold some out to measure link prediction with,
which is not done here. Nothing is stopped or chosen by labels.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch_geometric.nn import GAE, VGAE, DeepGraphInfomax, GCNConv, GraphSAGE
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.seed import seed_everything

from .data import Graph, Matrix, OneView
from .vectors import RowSums, dense


class _SparseProduct(torch.autograd.Function):
    """Sparse rows times a dense matrix, the gradient for the latter only."""

    @staticmethod
    def forward(context, rows: Tensor, columns: Tensor, right: Tensor) -> Tensor:
        context.columns = columns
        return rows @ right

    @staticmethod
    def backward(context, gradient: Tensor) -> tuple[None, None, Tensor]:
        return None, None, context.columns @ gradient.contiguous()


class Vectors:
    """Data vectors, to be multiplied by the matrix of a first layer.

    Bags of words are almost all zeros: on a processor that product is what
    takes the time, and a sparse one is tens of times faster. A graphics card
    does it densely in no time, in an order of sums that stays the same.
    """

    def __init__(self, features: Matrix, device: torch.device) -> None:
        self.device = device
        self.count, self.width = features.shape
        self.sparse = sp.issparse(features) and device.type == "cpu"
        if self.sparse:
            self.rows, self.columns = _compressed(features), _compressed(features.T)
        else:
            self.rows = torch.tensor(dense(features), dtype=torch.float32, device=device)

    def through(self, linear: nn.Module) -> Tensor:
        """What `linear` gives for these vectors."""
        if not self.sparse:
            return linear(self.rows)
        product = _SparseProduct.apply(self.rows, self.columns, linear.weight.t())
        return product if linear.bias is None else product + linear.bias


def _compressed(matrix: Matrix) -> Tensor:
    rows = sp.csr_matrix(matrix, dtype=np.float32)
    return torch.sparse_csr_tensor(
        torch.tensor(rows.indptr, dtype=torch.int64),
        torch.tensor(rows.indices, dtype=torch.int64),
        torch.tensor(rows.data),
        size=rows.shape,
        check_invariants=False,
    )


@dataclass
class Tensors:
    """A graph as the layers want it: every link in both directions."""

    features: Vectors
    # Means over the neighbours, zero where there are none: for GraphSAGE.
    averages: Vectors
    links: Tensor
    weights: Tensor
    # GCNConv's normalised matrix, self-loops included; on a processor only, where
    # multiplying by it is many times faster than going link by link.
    spread: Tensor | None


class _FirstConvolution(nn.Module):
    """A GCNConv whose products are done apart from it, because they are sparse.

    `order` permutes the data vectors among the nodes.
    """

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.convolution = GCNConv(width, outputs)
        self.linear = self.convolution.lin
        self.convolution.lin = nn.Identity()

    def reset_parameters(self) -> None:
        """As GCNConv's own; the models call it on what they wrap."""
        self.linear.reset_parameters()
        nn.init.zeros_(self.convolution.bias)

    def forward(self, graph: Tensors, order: Tensor | None = None) -> Tensor:
        mapped = graph.features.through(self.linear)
        if order is not None:
            mapped = mapped.index_select(0, order)
        if graph.spread is None:
            return self.convolution(mapped, graph.links, graph.weights)
        # The matrix is symmetric: it is its own transpose.
        return _SparseProduct.apply(graph.spread, graph.spread, mapped) + self.convolution.bias


def gae(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """Kipf and Welling (2016): 200 epochs, Adam 0.01; examples/autoencoder.py."""
    return _autoencoder(data, setting, seed, variational=False)


def vgae(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """As gae, with examples/autoencoder.py --variational; the means are kept."""
    return _autoencoder(data, setting, seed, variational=True)


def _autoencoder(data: OneView, setting: str, seed: int, variational: bool) -> np.ndarray:
    fit, apply, rows = _prepare(data, setting, seed)
    encoder = _Convolutions(fit.features.width, variational)
    model = (VGAE if variational else GAE)(encoder).to(fit.links.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(200):
        model.train()
        optimizer.zero_grad()
        encoded = model.encode(fit)
        loss = model.recon_loss(encoded, fit.links)
        if variational:
            loss = loss + model.kl_loss() / fit.features.count
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        return _rows(model.encode(apply), rows)


class _Convolutions(nn.Module):
    """The example's encoders: 32 hidden units, 16 outputs."""

    def __init__(self, width: int, variational: bool, outputs: int = 16) -> None:
        super().__init__()
        self.hidden = _FirstConvolution(width, 2 * outputs)
        self.mean = GCNConv(2 * outputs, outputs)
        self.log_deviation = GCNConv(2 * outputs, outputs) if variational else None

    def forward(self, graph: Tensors) -> Tensor | tuple[Tensor, Tensor]:
        hidden = self.hidden(graph).relu()
        mean = self.mean(hidden, graph.links, graph.weights)
        if self.log_deviation is None:
            return mean
        return mean, self.log_deviation(hidden, graph.links, graph.weights)


def dgi(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """Velickovic et al. (2019); examples/infomax_transductive.py.

    Rows that sum to 1 and stopping after 20 epochs without a lower training
    loss, the best kept, are the authors' program's; 300 epochs the example's.
    """
    fit, apply, rows = _prepare(data, setting, seed)
    device = fit.links.device
    model = DeepGraphInfomax(
        hidden_channels=512,
        encoder=_Infomax(fit.features.width, 512),
        summary=lambda encoded, *_, **__: encoded.mean(dim=0).sigmoid(),
        corruption=lambda graph, _: (graph, torch.randperm(graph.features.count, device=device)),
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    least, since, best = float("inf"), 0, None
    for _ in range(300):
        model.train()
        optimizer.zero_grad()
        loss = model.loss(*model(fit, None))
        if loss.item() < least:
            least, since = loss.item(), 0
            best = {name: value.detach().clone() for name, value in model.state_dict().items()}
        else:
            since += 1
            if since == 20:
                break
        loss.backward()
        optimizer.step()
    model.load_state_dict(best)
    model.eval()
    with torch.no_grad():
        return _rows(model.encoder(apply), rows)


class _Infomax(nn.Module):
    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.convolution = _FirstConvolution(width, outputs)
        self.activation = nn.PReLU(outputs)

    def forward(self, graph: Tensors, order: Tensor | None = None) -> Tensor:
        return self.activation(self.convolution(graph, order))


def graphsage(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """Hamilton et al. (2017); examples/graph_sage_unsup.py.

    50 epochs of batches of 256 links, each with one random pair; Adam 0.01; two
    layers of 64. Whole neighbourhoods stand in for 10 sampled neighbours, which
    need compiled companions of the package and save nothing at this size.
    """
    fit, apply, rows = _prepare(data, setting, seed)
    device = fit.links.device
    model = GraphSAGE(fit.features.width, hidden_channels=64, num_layers=2).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(50):
        model.train()
        for batch in torch.randperm(fit.links.shape[1], device=device).split(256):
            optimizer.zero_grad()
            encoded = _sage(model, fit)
            linked = fit.links[:, batch]
            # As the example's loader does: any two nodes, linked or not.
            unlinked = torch.randint(len(encoded), linked.shape, device=device)
            pairs = torch.cat([linked, unlinked], dim=1)
            scores = (encoded[pairs[0]] * encoded[pairs[1]]).sum(dim=-1)
            truth = torch.zeros(len(scores), device=device)
            truth[: len(batch)] = 1.0
            nn.functional.binary_cross_entropy_with_logits(scores, truth).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        return _rows(_sage(model, apply), rows)


def _sage(model: GraphSAGE, graph: Tensors) -> Tensor:
    """`model(features, links)`, the first layer's averages taken beforehand."""
    first, second = model.convs
    hidden = graph.averages.through(first.lin_l) + graph.features.through(first.lin_r)
    return second(model.act(hidden), graph.links)


def _prepare(data: OneView, setting: str, seed: int) -> tuple[Tensors, Tensors, np.ndarray]:
    """The graph to fit on, the one to embed, and the rows of it that count."""
    seed_everything(seed)
    if threads := os.environ.get("LINKPROOF_RIVALS_THREADS"):
        torch.set_num_threads(int(threads))
    on_gpu = torch.cuda.is_available() and os.environ.get("LINKPROOF_RIVALS_CPU") != "1"
    device = torch.device("cuda" if on_gpu else "cpu")
    # Several threads, too, would add in an order of their own. With warn_only,
    # what has no deterministic form on a GPU still runs.
    torch.use_deterministic_algorithms(True, warn_only=True)
    fit = data.to_fit(setting)
    if fit.weights.nnz == 0:
        raise ValueError("there is no link to fit on")
    scale = RowSums(fit.features)
    apply, rows = data.to_embed(setting)
    return _tensors(fit, scale, device), _tensors(apply, scale, device), rows


def _tensors(graph: Graph, scale: RowSums, device: torch.device) -> Tensors:
    links: sp.coo_matrix = graph.weights.tocoo()
    features = scale(graph.features)
    neighbours = np.maximum(np.diff(graph.weights.indptr), 1)
    ends = torch.tensor(np.stack([links.row, links.col]), dtype=torch.int64, device=device)
    weights = torch.tensor(links.data, dtype=torch.float32, device=device)
    spread = None
    if device.type == "cpu":
        (rows, columns), values = gcn_norm(ends, weights, num_nodes=graph.nodes)
        spread = _compressed(sp.csr_matrix((values, (rows, columns)), shape=links.shape))
    return Tensors(
        Vectors(features, device),
        Vectors(sp.diags(1.0 / neighbours) @ (graph.pattern @ features), device),
        ends,
        weights,
        spread,
    )


def _rows(encoded: Tensor, rows: np.ndarray) -> np.ndarray:
    return encoded.cpu().numpy()[rows]
