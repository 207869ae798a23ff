"""Graph networks, by PyTorch Geometric, each with the settings of its example.

No link is held out: the examples hold some out to measure link prediction with,
which is not done here. Nothing is stopped or chosen by labels.
"""

from __future__ import annotations

import os
from collections.abc import Callable
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
    """Sparse rows times a dense matrix, the gradient for the latter only. That
    gradient is such a product itself, so it has a gradient too."""

    @staticmethod
    def forward(context, rows: Tensor, columns: Tensor, right: Tensor) -> Tensor:
        context.rows, context.columns = rows, columns
        return rows @ right

    @staticmethod
    def backward(context, gradient: Tensor) -> tuple[None, None, Tensor]:
        back = _SparseProduct.apply(context.columns, context.rows, gradient.contiguous())
        return None, None, back


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
        product = self.times(linear.weight.t())
        return product if linear.bias is None else product + linear.bias

    def times(self, matrix: Tensor) -> Tensor:
        if not self.sparse:
            return self.rows @ matrix
        return _SparseProduct.apply(self.rows, self.columns, matrix)


@dataclass
class Spread:
    """What a convolution multiplies by: a sparse matrix, and its transpose for
    the way back."""

    matrix: Tensor
    transposed: Tensor

    def __call__(self, mapped: Tensor) -> Tensor:
        return _SparseProduct.apply(self.matrix, self.transposed, mapped)

    @staticmethod
    def of(matrix: sp.spmatrix, device: torch.device) -> Spread:
        return Spread(_compressed(matrix).to(device), _compressed(matrix.T).to(device))


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
    # What stands for GCNConv's normalised matrix, self-loops included: on a
    # processor always, as multiplying by it is many times faster than going link
    # by link; elsewhere only where that matrix is not made of links.
    spread: Callable[[Tensor], Tensor] | None


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
        return graph.spread(mapped) + self.convolution.bias


def gae(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """Kipf and Welling (2016): 200 epochs, Adam 0.01; examples/autoencoder.py."""
    return _autoencoder(data, setting, seed, variational=False)


def vgae(data: OneView, setting: str, *, clusters: int, seed: int) -> np.ndarray:
    """As gae, with examples/autoencoder.py --variational; the means are kept."""
    return _autoencoder(data, setting, seed, variational=True)


def _autoencoder(data: OneView, setting: str, seed: int, variational: bool) -> np.ndarray:
    fit, apply, rows = prepare(data, setting, seed)
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
    """Velickovic et al. (2019), see `infomax`."""
    return infomax(*prepare(data, setting, seed))


def infomax(fit: Tensors, apply: Tensors, rows: np.ndarray) -> np.ndarray:
    """DGI: the model of examples/infomax_transductive.py, trained as the authors'
    execute.py does: until 20 epochs have brought no lower training loss, the best
    kept. A graph that never stops is left after their 10,000 epochs."""
    device = fit.links.device
    model = DeepGraphInfomax(
        hidden_channels=512,
        encoder=Encoder(fit.features.width, 512),
        summary=lambda encoded, *_, **__: encoded.mean(dim=0).sigmoid(),
        corruption=lambda graph, _: (graph, torch.randperm(graph.features.count, device=device)),
    ).to(device)
    train_to_patience(model, lambda: model.loss(*model(fit, None)))
    with torch.no_grad():
        return _rows(model.encoder(apply), rows)


def train_to_patience(model: nn.Module, loss_of: Callable[[], Tensor]) -> None:
    """The loop of DGI's program: Adam 0.001, patience 20 on the training loss; the
    model is left as it was at the least."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    least, since, best = float("inf"), 0, None
    model.train()
    for _ in range(10_000):
        optimizer.zero_grad()
        loss = loss_of()
        if loss.item() < least:
            least, since = loss.item(), 0
            best = {name: value.detach().clone() for name, value in model.state_dict().items()}
        else:
            since += 1
            if since == 20:
                break
        loss.backward()
        optimizer.step()
    if best is None:
        raise ValueError("the training loss is not a number")
    model.load_state_dict(best)
    model.eval()


class Encoder(nn.Module):
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
    fit, apply, rows = prepare(data, setting, seed)
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


def prepare(
    data: OneView, setting: str, seed: int, change: Callable[[Graph], Graph] | None = None
) -> tuple[Tensors, Tensors, np.ndarray]:
    """The graph to fit on, the one to embed, and the rows of it that count.

    `change` makes another graph of each first; it may give one direction of a
    link another weight than the other, and nodes a link to themselves.
    """
    device = start(seed)
    fit = data.to_fit(setting)
    if fit.weights.nnz == 0:
        raise ValueError("there is no link to fit on")
    scale = RowSums(fit.features)
    apply, rows = data.to_embed(setting)
    if change is not None:
        fit, apply = change(fit), change(apply)
    return tensors(fit, scale, device), tensors(apply, scale, device), rows


def start(seed: int) -> torch.device:
    """Seeds everything, and says what to run on."""
    seed_everything(seed)
    if threads := os.environ.get("LINKPROOF_RIVALS_THREADS"):
        torch.set_num_threads(int(threads))
    on_gpu = torch.cuda.is_available() and os.environ.get("LINKPROOF_RIVALS_CPU") != "1"
    # Several threads, too, would add in an order of their own. With warn_only,
    # what has no deterministic form on a GPU still runs.
    torch.use_deterministic_algorithms(True, warn_only=True)
    return torch.device("cuda" if on_gpu else "cpu")


def tensors(graph: Graph, scale: RowSums, device: torch.device) -> Tensors:
    # The weight in row i and column j is that of what i hears from j.
    links: sp.coo_matrix = graph.weights.T.tocsr().tocoo()
    features = scale(graph.features)
    neighbours = np.maximum(np.diff(graph.weights.indptr), 1)
    ends = torch.tensor(np.stack([links.row, links.col]), dtype=torch.int64, device=device)
    weights = torch.tensor(links.data, dtype=torch.float32, device=device)
    spread = None
    if device.type == "cpu":
        (sources, targets), values = gcn_norm(ends, weights, num_nodes=graph.nodes)
        spread = Spread.of(sp.csr_matrix((values, (targets, sources)), shape=links.shape), device)
    return Tensors(
        Vectors(features, device),
        Vectors(sp.diags(1.0 / neighbours) @ (graph.pattern @ features), device),
        ends,
        weights,
        spread,
    )


def _rows(encoded: Tensor, rows: np.ndarray) -> np.ndarray:
    return encoded.cpu().numpy()[rows]
