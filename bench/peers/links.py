"""Other embeddings of a graph without data vectors: gensim's skip-gram with
negative sampling on links as sentences of two words, ensmallen's first-order
LINE, and scikit-network's factorisations."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

DIM = 128


def read(links: str) -> np.ndarray:
    """The two ends of each link."""
    return np.loadtxt(links, delimiter=",", skiprows=1, dtype=np.int64)


def commands(threads: int) -> dict[str, Callable[..., dict[str, Any]]]:
    """What this module does on request."""

    def gensim(links: str, n: int, epochs: int, out: str, context_out: str) -> dict[str, Any]:
        from gensim.models import Word2Vec

        sentences = [[str(a), str(b)] for a, b in read(links)]
        start = time.perf_counter()
        model = Word2Vec(
            sentences, vector_size=DIM, window=1, min_count=1, sg=1, negative=5,
            ns_exponent=0.75, sample=0, workers=threads, epochs=epochs, seed=1,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        rows = np.array([int(word) for word in model.wv.index_to_key])
        for path, vectors in ((out, model.wv.vectors), (context_out, model.syn1neg)):
            all_rows = np.zeros((n, DIM), dtype=np.float32)
            all_rows[rows] = vectors
            np.save(path, all_rows)
        # Each end of a link is predicted from the other: one positive and five
        # negatives, twice.
        return {"seconds": seconds, "updates": 12 * len(sentences) * epochs}

    def ensmallen(links: str, n: int, epochs: int, out: str) -> dict[str, Any]:
        from ensmallen import Graph, models

        graph = Graph.from_csv(
            edge_path=links, edge_list_header=True, edge_list_separator=",",
            sources_column="src", destinations_column="dst",
            edge_list_numeric_node_ids=True, directed=False, verbose=False,
        )  # fmt: skip
        model = models.FirstOrderLINE(embedding_size=DIM, epochs=epochs, verbose=False)
        start = time.perf_counter()
        vectors = model.fit_transform(graph)
        seconds = time.perf_counter() - start
        vectors = vectors[0] if isinstance(vectors, (list, tuple)) else vectors
        all_rows = np.zeros((n, DIM), dtype=np.float32)
        names = np.array([int(name) for name in graph.get_node_names()])
        all_rows[names] = vectors
        np.save(out, all_rows)
        return {"seconds": seconds}

    def sknetwork(links: str, n: int, method: str, out: str) -> dict[str, Any]:
        from scipy.sparse import csr_matrix
        from sknetwork.embedding import GSVD, SVD, Spectral

        ends = read(links)
        both = np.concatenate([ends, ends[:, ::-1]])
        adjacency = csr_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n, n))
        model = {"Spectral": Spectral, "SVD": SVD, "GSVD": GSVD}[method](DIM)
        start = time.perf_counter()
        vectors = model.fit_transform(adjacency)
        seconds = time.perf_counter() - start
        np.save(out, vectors.astype(np.float32))
        return {"seconds": seconds}

    return {"gensim": gensim, "ensmallen": ensmallen, "sknetwork": sknetwork}
