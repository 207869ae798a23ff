"""A citation graph of which some links are false.

Makes 800 documents of six topics, with the words that they use and 2,500
citations, nearly all of them within topics, and adds 500 false ones between
documents drawn at random. Then goes through what Linkproof does with such a
graph: fit, choose settings without labels, find the false links, smooth, embed
documents that it has not seen, save, load and draw.

    python examples/citations.py --out linkproof-examples

Needs networkx and matplotlib besides Linkproof. The same seed gives the same
figures.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.preprocessing import normalize

import linkproof
from linkproof import GraphEmbedding, measures

TOPICS = np.array(["agents", "databases", "graphics", "learning", "systems", "theory"])
TERMS = 500
UNSEEN = 80
QUIET = {"verbose": False}


@dataclass
class Library:
    """Documents, of which the last `UNSEEN` are kept from every fit."""

    names: list[str]
    topics: np.ndarray
    words: sp.csr_array
    graph: nx.Graph
    false: set[frozenset[str]]

    @property
    def known(self) -> slice:
        return slice(0, len(self.names) - UNSEEN)

    @property
    def unseen(self) -> slice:
        return slice(len(self.names) - UNSEEN, None)


def make_library(seed: int, documents: int) -> Library:
    random = np.random.default_rng(seed)
    n = documents + UNSEEN
    topic = random.integers(len(TOPICS), size=n)
    names = [f"doc-{number:03}" for number in range(n)]
    citations = 25 * documents // 8
    pairs = draw_citations(random, topic[:documents], citations)
    graph = nx.Graph()
    graph.add_nodes_from(names[:documents])
    graph.add_edges_from((names[a], names[b]) for a, b in pairs)
    false = {frozenset((names[a], names[b])) for a, b in pairs[citations:]}
    return Library(names, TOPICS[topic], draw_words(random, topic), graph, false)


def draw_words(random: np.random.Generator, topic: np.ndarray) -> sp.csr_array:
    """Which words each document uses: mostly common ones, some of its topic's 40."""
    common = random.permutation(np.arange(1.0, TERMS + 1) ** -0.7)
    own = np.array([random.permutation(TERMS) < 40 for _ in TOPICS]) * common
    chance = 0.75 * common / common.sum() + 0.25 * own / own.sum(axis=1, keepdims=True)
    rows = [
        np.unique(random.choice(TERMS, 5 + random.poisson(18), p=chance[each])) for each in topic
    ]
    ends = np.cumsum([0] + [len(row) for row in rows])
    parts = np.ones(ends[-1]), np.concatenate(rows), ends
    return sp.csr_array(parts, shape=(len(topic), TERMS))


def draw_citations(
    random: np.random.Generator, topic: np.ndarray, number: int
) -> list[tuple[int, int]]:
    """Citations, then a fifth as many false ones."""
    n, fame = len(topic), 1 + random.pareto(2.5, len(topic))
    found: dict[tuple[int, int], None] = {}
    while len(found) < number:
        citing = int(random.integers(n))
        within = topic == topic[citing] if random.random() < 0.96 else np.ones(n, bool)
        cited = int(random.choice(n, p=fame * within / (fame @ within)))
        if citing != cited:
            found.setdefault((min(citing, cited), max(citing, cited)))
    while len(found) < number + number // 5:
        pair = sorted(random.choice(n, 2, replace=False).tolist())
        found.setdefault((pair[0], pair[1]))
    return list(found)


def compare(library: Library) -> tuple[dict[str, float], GraphEmbedding]:
    """NMI of k-means with the topics, which nothing but this comparison reads."""
    X, names = library.words[library.known], library.names[library.known]
    topics = library.topics[library.known]
    # The graph lists its nodes in an order of its own: `nodes` says whose row is whose.
    search = linkproof.Search(hold_out="nodes")
    found = linkproof.select(X, library.graph, nodes=names, search=search, **QUIET)
    model = found.estimator.fit(X, library.graph, nodes=names)
    plain = GraphEmbedding(score="likelihood", ridge=found.params["ridge"], **QUIET)
    plain.fit(X, library.graph, nodes=names)
    robust = GraphEmbedding(robust=True, **QUIET).fit(X, library.graph, nodes=names)
    embeddings = {
        "words alone": normalize(X).toarray(),
        "likelihood, same ridge": plain.embedding_,
        "chosen by select": model.embedding_,
        "robust": robust.embedding_,
    }
    scores = {name: measures.evaluate(Y, topics)["nmi"] for name, Y in embeddings.items()}
    return scores, model


def show_comparison(rows: list[dict[str, float]], models: list[GraphEmbedding]) -> pd.Series:
    table = pd.DataFrame(rows)
    graphs = "1 graph" if len(table) == 1 else f"{len(table)} graphs"
    print(f"NMI of clusters with topics, mean and range over {graphs}:")
    for name, values in table.items():
        print(f"  {name:28} {values.mean():.3f}  ({values.min():.3f} to {values.max():.3f})")
    for seed, model in enumerate(models):
        print(f"  graph {seed}: select chose {model.score}, beta {model.beta}, ridge {model.ridge}")
    print(
        "All weights are 1, so the robust score has nothing absurd to resist, and the\n"
        "likelihood does as well. What pays is a robust fit, which counts links by belief.\n"
    )
    return table.mean()


def find_false_links(
    library: Library, model: GraphEmbedding
) -> tuple[dict[str, float], pd.DataFrame]:
    """What the audit flags, against what the script knows."""
    audit = model.audit(X=library.words[library.known])
    ends = list(zip(audit["src"], audit["dst"]))
    false = np.array([frozenset(pair) in library.false for pair in ends])
    topic = dict(zip(library.names, library.topics))
    across = np.array([topic[src] != topic[dst] for src, dst in ends])
    suspect = audit["suspect"].to_numpy()
    found = {
        "suspects": int(suspect.sum()),
        "precision": float(false[suspect].mean()),
        "false_or_across": float((false | across)[suspect].mean()),
        "recall": float(false[suspect].sum() / false.sum()),
        "auc": measures.auc(-audit["trust"], false),
        "auc_belief": measures.auc(-audit["belief"], false),
    }
    print(f"The audit of {len(audit)} links, of which {false.sum()} are false:")
    columns = ["rank", "src", "dst", "belief", "mu", "why"]
    print(audit[columns].head(4).to_string(index=False))
    print(
        f"  {found['suspects']} suspects: {found['precision']:.0%} of them are false, and "
        f"{found['false_or_across']:.0%} false or between topics\n"
        f"  (a true citation between topics looks like a false one); they are "
        f"{found['recall']:.0%} of the false links\n"
        f"  AUC for false links: {found['auc_belief']:.3f} by belief, {found['auc']:.3f} by trust\n"
    )
    return found, audit


def embed_unseen(library: Library, model: GraphEmbedding) -> dict[str, float]:
    """Documents that no fit has seen, from their words alone."""
    new, X = library.words[library.unseen], library.words[library.known]
    ids = library.names[library.unseen]
    topics, known_topics = library.topics[library.unseen], library.topics[library.known]

    def share_of_own_topic(similarity: np.ndarray) -> float:
        nearest = np.argsort(-similarity, axis=1)[:, :10]
        return float((known_topics[nearest] == topics[:, None]).mean())

    # With pandas as output, embeddings carry the ids of the frame that they come from.
    model.set_output(transform="pandas")
    Y = model.transform(pd.DataFrame.sparse.from_spmatrix(new, index=ids))
    model.set_output(transform="default")
    print(f"{UNSEEN} unseen documents, embedded from their words:")
    print(Y.iloc[:3, :4].round(3).to_string())
    found = {
        "embedding": share_of_own_topic(Y.to_numpy() @ model.embedding_.T),
        "words": share_of_own_topic((normalize(new) @ normalize(X).T).toarray()),
    }
    print(
        f"  of the 10 nearest known documents {found['embedding']:.0%} are of the same topic "
        f"by embeddings, {found['words']:.0%} by words"
    )
    near = model.neighbors(X=new[[0]], top=3)
    nearest = ", ".join(f"{node} ({mu:.3f})" for node, mu in zip(near["node"], near["mu"]))
    print(f"  {ids[0]} would most likely cite, or be cited by: {nearest}\n")
    return found


def save_and_load(model: GraphEmbedding) -> None:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        loaded = GraphEmbedding.load(Path(folder) / "model")
    same = np.array_equal(loaded.embedding_, model.embedding_)
    assert same and list(loaded.nodes_) == list(model.nodes_)
    print("Saved and loaded: the same embeddings, bit by bit, of the same nodes")


def draw(library: Library, model: GraphEmbedding, audit: pd.DataFrame, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    pictures = {
        "embedding": linkproof.plot_embedding(model, library.topics[library.known]),
        "history": model.history_.plot(x="step", y="value"),
        "audit": audit.plot.scatter("mu", "weight", logx=True, logy=True),
    }
    for name, ax in pictures.items():
        ax.figure.savefig(out / f"citations-{name}.png", dpi=150)
        print(f"Wrote {out / f'citations-{name}.png'}")


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("linkproof-examples"), help="folder")
    parser.add_argument("--small", action="store_true", help="one smaller graph")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    libraries = [
        make_library(seed, 640 if options.small else 800)
        for seed in range(1 if options.small else 3)
    ]
    compared = [compare(library) for library in libraries]
    means = show_comparison([scores for scores, _ in compared], [model for _, model in compared])
    library, model = libraries[0], compared[0][1]
    found, audit = find_false_links(library, model)
    unseen = embed_unseen(library, model)
    save_and_load(model)
    draw(library, model, audit, options.out)
    print(f"Done in {time.perf_counter() - start:.0f} s")
    return {"nmi": means.to_dict(), "audit": found, "unseen": unseen}


if __name__ == "__main__":
    main()
