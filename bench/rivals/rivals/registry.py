"""What there is: names, settings and where the code of each is found."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .data import OneView, TwoViews

Embed = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Rival:
    """One method. `settings` are those with one view; `views` says whether two
    views (setting `all`) are taken; `variant_of` names the rival that this one is
    but for the weights, which are 1."""

    name: str
    title: str
    implementation: str
    family: str
    packages: tuple[str, ...]
    settings: tuple[str, ...]
    reads_weights: bool
    notes: str
    views: bool = False
    variant_of: str | None = None

    def binary(self) -> Rival:
        """The same on links that are there or not."""
        return replace(
            self,
            name=f"{self.name}-binary",
            title=f"{self.title} (binary)",
            reads_weights=False,
            notes=f"As {self.name}, with every weight set to 1 before it sees the links.",
            variant_of=self.name,
        )

    def missing(self) -> str | None:
        """The first package of this rival that is not installed."""
        for package in self.packages:
            try:
                importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                return package
        return None

    def function(self) -> Embed:
        """Imports the family, and with it the packages of that family only."""
        missing = self.missing()
        if missing:
            raise ImportError(
                f"{self.name} needs the package {missing}: run bench/rivals/setup, or install it for LINKPROOF_PYTHON"
            )
        module = importlib.import_module(f".{self.family}", __package__)
        embed = getattr(module, (self.variant_of or self.name).replace("-", "_"))
        if self.variant_of is None:
            return embed
        return lambda data, *place, **settings: embed(data.binary(), *place, **settings)

    def check(self, data: OneView | TwoViews, setting: str) -> None:
        if isinstance(data, TwoViews):
            if not self.views or setting != "all":
                raise ValueError(f"{self.name} has no setting {setting!r} for two views")
        elif setting not in self.settings:
            raise ValueError(f"{self.name} has no setting {setting!r} for one view")

    def described(self) -> dict[str, object]:
        version = _version(self.packages[0])
        described: dict[str, object] = {
            "name": self.name,
            "title": self.title,
            "implementation": self.implementation.format(version=version or "(missing)"),
            "settings": list(self.settings),
            "reads_weights": self.reads_weights,
            "views": self.views,
            "notes": self.notes,
        }
        if self.variant_of:
            described["variant_of"] = self.variant_of
        if missing := self.missing():
            described["missing"] = missing
        return described


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


EVERY = ("all", "unseen", "unseen-links")
GEOMETRIC = ("torch_geometric", "torch", "scikit-learn")
PYAGC = ("pyagc", *GEOMETRIC, "pyyaml", "tqdm")

METHODS: tuple[Rival, ...] = (
    Rival(
        "kmeans", "data vectors", "scikit-learn {version} normalize", "linear",
        ("scikit-learn",), ("all", "unseen"), False,
        "No embedding: the data vectors themselves, unit length for bags of words, "
        "columns of unit variance otherwise; above 5,000 columns a truncated SVD of 100.",
    ),
    Rival(
        "sbm", "SBM", "sparsebm {version} SBM", "blocks",
        ("sparsebm",), ("all", "unseen-links"), False,
        "Bernoulli block model by variational EM, the package's defaults (100 starts, the best 10 "
        "run to the end); blocks = clusters; membership probabilities. New nodes: variational "
        "E-step with the fitted blocks held. Without links every node looks the same, so no `unseen`.",
    ),
    Rival(
        "isomap", "ISOMAP", "scikit-learn {version} Isomap", "manifold",
        ("scikit-learn",), ("all", "unseen"), False,
        "Data vectors only; unit length; the package's 5 neighbours; dimension = clusters.",
    ),
    Rival(
        "lle", "LLE", "scikit-learn {version} LocallyLinearEmbedding", "manifold",
        ("scikit-learn",), ("all", "unseen"), False,
        "Data vectors only; unit length; the package's 5 neighbours, standard method, "
        "regularisation 1e-3; dimension = clusters.",
    ),
    Rival(
        "mds", "MDS", "scikit-learn {version} smacof", "manifold",
        ("scikit-learn",), ("all",), False,
        "Data vectors only; unit length; metric SMACOF from the classical solution (300 steps at "
        "most); dimension = clusters. It places given points only, so no `unseen`.",
    ),
    Rival(
        "spectral", "SGE", "scikit-network {version} Spectral", "spectral",
        ("scikit-network",), ("all",), True,
        "Spectral embedding of the links, random-walk Laplacian, regularised where the graph is "
        "disconnected (the package's default); dimension = clusters. Links only, so no `unseen`.",
    ),
    Rival(
        "deepwalk", "DeepWalk", "gensim {version} Word2Vec on walks of our own", "walks",
        ("gensim",), ("all",), False,
        "10 walks a node of length 80, window 10, dimension 128, skip-gram with hierarchical "
        "softmax, every walk read once as in its algorithm 1 (set after a look at Cora's NMI, see README); link pattern.",
    ),
    Rival(
        "node2vec", "node2vec", "gensim {version} Word2Vec on walks of our own", "walks",
        ("gensim",), ("all",), True,
        "10 walks a node of length 80, window 10, dimension 128, p = 1, q = 0.5 (the paper's "
        "choice for communities), skip-gram with 5 negatives, 1 epoch as the authors' program.",
    ),
    Rival(
        "line", "LINE", "ensmallen {version} FirstOrderLINE + SecondOrderLINE", "line",
        ("ensmallen", "scikit-learn"), ("all",), False,
        "First and second order, 128 dimensions each, unit length, side by side as in the paper; "
        "1000 samples a link, rate 0.025 falling, as there (set after a look at Cora's NMI, see README). This implementation reads the link pattern; "
        "the paper's samples links by weight.",
    ),
    Rival(
        "graphsage", "GraphSAGE", "torch_geometric {version} GraphSAGE, unsupervised", "networks",
        GEOMETRIC, EVERY, False,
        "The package's unsupervised example: 2 layers of 64, mean, Adam 0.01, 50 epochs of batches "
        "of 256 links with one negative each; whole neighbourhoods in place of 10 sampled "
        "neighbours; rows sum to 1. The layer has no link weights.",
    ),
    Rival(
        "gae", "GAE", "torch_geometric {version} GAE", "networks",
        GEOMETRIC, EVERY, True,
        "The paper's and the package's example's: GCN 32-16, Adam 0.01, 200 epochs, rows sum to 1; "
        "trained on every link it may see; weights in the convolution.",
    ),
    Rival(
        "vgae", "VGAE", "torch_geometric {version} VGAE", "networks",
        GEOMETRIC, EVERY, True,
        "As GAE, variational, the means as embedding.",
    ),
    Rival(
        "dgi", "DGI", "torch_geometric {version} DeepGraphInfomax", "networks",
        GEOMETRIC, EVERY, True,
        "The package's transductive example: GCN 512, PReLU, Adam 0.001; of the authors' program "
        "rows that sum to 1 and patience of 20 epochs on the training loss, best kept, at most "
        "10,000; weights in the convolution.",
    ),
    Rival(
        "dgi-jaccard", "DGI (Jaccard)", "torch_geometric {version} DeepGraphInfomax, pruned links", "robust",
        GEOMETRIC, EVERY, False,
        "GCN-Jaccard's pruning before DGI: links go whose ends' data vectors have a Jaccard "
        "similarity below 0.01 (a cosine where they are not all 0 or 1); link pattern.",
    ),
    Rival(
        "dgi-guard", "DGI (GNNGuard)", "torch_geometric {version} DeepGraphInfomax, own weights", "robust",
        GEOMETRIC, EVERY, False,
        "GNNGuard's message passing in DGI's one layer: cosine of the data vectors, 0 below 0.1, as "
        "a share of the node's sum, the exponential of it; link pattern.",
    ),
    Rival(
        "dgi-svd", "DGI (SVD)", "torch_geometric {version} DeepGraphInfomax, scipy svds", "robust",
        GEOMETRIC, ("all",), False,
        "GCN-SVD's adjacency of rank 50 before DGI; link pattern.",
    ),
    Rival(
        "stable", "STABLE", "own, on torch_geometric {version} DeepGraphInfomax", "robust",
        GEOMETRIC, ("all",), False,
        "STABLE less its classifier: contrast on links pruned at Jaccard 0.03, a fifth of them back "
        "in each view; links below cosine 0.1 of that go, 3 neighbours come; two rounds over the "
        "refined graph (alpha 0.3): the program's defaults; link pattern.",
    ),
    Rival(
        "metagc", "MetaGC", "own, torch {version}", "metagc",
        ("torch", "torch_geometric", "scikit-learn"), ("all",), False,
        "Modularity with learned weights of pairs, after the authors' program and with its settings: "
        "64 hidden units, batches of 128, Adam 0.001 and 0.005, 200 to 1500 epochs, patience 50 on "
        "modularity, of the given graph; clusters = clusters; membership probabilities; link pattern.",
    ),
    Rival(
        "ns4gc", "NS4GC", "pyagc {version} NS4GC", "contrast",
        PYAGC, ("all",), False,
        "The package's benchmark's settings for Cora, on every graph: GCN 64-64, Adam 0.001, decay "
        "1e-5, 200 epochs, patience 50; unit length; link pattern.",
    ),
    Rival(
        "magi", "MAGI", "pyagc {version} MAGI, walks of our own", "contrast",
        PYAGC, ("all",), False,
        "The package's benchmark's settings for Cora, on every graph: GCN 512, 100 walks of 2 steps, "
        "temperature 0.3, Adam 0.0005, decay 1e-3, 400 epochs, patience 50; unit length; link pattern.",
    ),
    Rival(
        "lpp", "LPP", "scipy {version} eigh, own", "linear",
        ("scipy", "scikit-learn"), ("all", "unseen"), True,
        "Locality preserving projections with the links as affinity; unit length, then PCA with "
        "98% of the variance as its paper; dimension = clusters. lpproj takes no given affinity.",
    ),
    Rival(
        "cdmca", "CDMCA", "scipy {version} eigh, own", "linear",
        ("scipy", "scikit-learn"), ("all", "unseen"), True,
        "Cross-domain matching correlation analysis: X'WX against X'DX + 0.1 of its mean diagonal; "
        "centred with the degrees as weights; dimension = clusters (set after a look at Cora's NMI, see README), with two views 100, each direction "
        "times its eigenvalue to the 4th, as is usual for retrieval by cosine. No package has it.",
        views=True,
    ),
    Rival(
        "cca", "CCA", "scipy {version} svd, own", "linear",
        ("scipy", "scikit-learn"), (), True,
        "Two views only. Regularised linear CCA over the linked pairs, each pair counted as often "
        "as its weight says; ridge, 100 dimensions and eigenvalues to the 4th as for cdmca. "
        "scikit-learn's takes neither weights nor a ridge.",
        views=True,
    ),
)

RIVALS: tuple[Rival, ...] = METHODS + tuple(rival.binary() for rival in METHODS if rival.reads_weights)

BY_NAME: dict[str, Rival] = {rival.name: rival for rival in RIVALS}


def listing() -> dict[str, object]:
    packages = sorted({package for rival in METHODS for package in rival.packages} | {"numpy", "scipy"})
    versions = {package: _version(package) for package in packages}
    return {
        "rivals": [rival.described() for rival in RIVALS],
        "versions": {name: version for name, version in versions.items() if version},
    }
