"""Users, items and counts between them, of which some are a hundred times too large.

Makes 300 users with dense data vectors, 200 items with sparse ones (tags), five
hidden groups of both, and counts of how often a user took an item. Then 5% of the
links are multiplied by 100, as a broken counter or a robot would do, and the
likelihood is compared with the probability score: in the groups that they find,
in what they recommend, and in the links that the audit calls suspects.

    python examples/two_views.py --out linkproof-examples

Needs matplotlib besides Linkproof. The same seed gives the same figures.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pandas as pd
import scipy.sparse as sp
from matplotlib import pyplot

import linkproof
from linkproof import GraphEmbedding, measures

GROUPS = 5
TAGS = 150
UNSEEN = 60
SCORES = ("likelihood", "probability")


@dataclass
class Shop:
    """Users and items in groups; `unseen` users are kept from every fit."""

    X: dict[str, Any]
    counts: sp.csr_array
    corrupted: sp.csr_array
    is_corrupted: np.ndarray
    user_groups: np.ndarray
    item_groups: np.ndarray
    unseen: np.ndarray
    unseen_groups: np.ndarray


def make_shop(seed: int, users: int, items: int) -> Shop:
    random = np.random.default_rng(seed)
    user_groups = random.integers(GROUPS, size=users + UNSEEN)
    item_groups = random.integers(GROUPS, size=items)
    centres = random.normal(size=(GROUPS, 20))
    vectors = centres[user_groups] + 1.5 * random.normal(size=(users + UNSEEN, 20))
    known = user_groups[:users]
    # Some users take more than others, and some items are taken more.
    activity, fame = random.gamma(4, 1 / 4, users), random.gamma(4, 1 / 4, items)
    rate = np.where(known[:, None] == item_groups, 0.5, 0.03) * np.outer(activity, fame)
    counts = sp.csr_array(random.poisson(rate).astype(np.float64))
    is_corrupted = np.zeros(counts.nnz, bool)
    is_corrupted[random.choice(counts.nnz, counts.nnz // 20, replace=False)] = True
    corrupted = counts.copy()
    corrupted.data[is_corrupted] *= 100
    return Shop(
        X={"user": vectors[:users], "item": draw_tags(random, item_groups)},
        counts=counts,
        corrupted=corrupted,
        is_corrupted=is_corrupted,
        user_groups=known,
        item_groups=item_groups,
        unseen=vectors[users:],
        unseen_groups=user_groups[users:],
    )


def draw_tags(random: np.random.Generator, groups: np.ndarray) -> sp.csr_array:
    """Ten tags for each item, three of them on average from its group's twenty."""
    own = np.array([random.permutation(TAGS) < 20 for _ in range(GROUPS)]) / 20
    chance = 0.7 / TAGS + 0.3 * own
    rows = [np.unique(random.choice(TAGS, 10, p=chance[group])) for group in groups]
    ends = np.cumsum([0] + [len(row) for row in rows])
    return sp.csr_array((np.ones(ends[-1]), np.concatenate(rows), ends), shape=(len(groups), TAGS))


# Settings are chosen by what a fit says of held-out counts. (By default links count 1 each,
# and no count can do harm.)
BY_COUNTS: dict[str, Any] = {"criterion": "probability:0.5", "hold_out": "nodes"}


def fit(shop: Shop, counts: sp.csr_array, score: str) -> GraphEmbedding:
    """A fit by one score, with ridge and exponent chosen without looking at groups."""
    links = {("user", "item"): counts}
    search = linkproof.Search(scores=[score], **BY_COUNTS)
    found = linkproof.select(shop.X, links, search=search, verbose=False)
    return found.estimator.fit(shop.X, links)


def judge(shop: Shop, model: GraphEmbedding) -> dict[str, float]:
    """How well a fit shows the groups, and whether it recommends items of a user's own."""
    users = len(shop.user_groups)
    found = {}
    # Each view by itself: k-means on both would tell users from items first.
    for name, Y, groups in (
        ("users", model.embedding_[:users], shop.user_groups),
        ("items", model.embedding_[users:], shop.item_groups),
    ):
        measured = measures.evaluate(Y, groups)
        found[f"NMI, {name}"] = measured["nmi"]
        found[f"purity, {name}"] = measured["purity"]
    expected = model.embedding_[:users] @ model.embedding_[users:].T
    expected[shop.counts.toarray() > 0] = -np.inf
    found["new items, own group"] = own_share(expected, shop.user_groups, shop.item_groups)
    unseen = model.transform(shop.unseen, view="user")
    expected = unseen @ model.embedding_[users:].T
    found["unseen users"] = own_share(expected, shop.unseen_groups, shop.item_groups)
    return found


def own_share(expected: np.ndarray, users: np.ndarray, items: np.ndarray) -> float:
    """The share of items of the user's own group among the ten most expected."""
    best = np.argsort(-expected, axis=1)[:, :10]
    return float((items[best] == users[:, None]).mean())


def compare(shops: list[Shop]) -> tuple[pd.DataFrame, dict[str, GraphEmbedding]]:
    """The means over all graphs, and the fits to the first one's corrupted counts."""
    rows, models = [], {}
    for shop in shops:
        for state, counts in (("as counted", shop.counts), ("corrupted", shop.corrupted)):
            for score in SCORES:
                model = fit(shop, counts, score)
                rows.append({"weights": state, "score": score, **judge(shop, model)})
                if shop is shops[0] and state == "corrupted":
                    models[score] = model
    table = pd.DataFrame(rows).groupby(["weights", "score"]).mean()
    graphs = "1 graph" if len(shops) == 1 else f"means over {len(shops)} graphs"
    print(f"Groups found and items recommended ({graphs}; by chance 1 in {GROUPS}):")
    print(table.T.round(3).to_string())
    tags = [measures.evaluate(shop.X["item"].toarray(), shop.item_groups)["nmi"] for shop in shops]
    print(f"NMI of k-means on the items' tags alone: {np.mean(tags):.3f}")
    links = {("user", "item"): shops[0].corrupted}
    by_counts = linkproof.Search(**BY_COUNTS)
    free = linkproof.select(shops[0].X, links, search=by_counts, verbose=False).params
    print(f"Free to choose a score for corrupted counts, select takes: {free['score']}\n")
    return table, models


def find_corrupted(shop: Shop, model: GraphEmbedding) -> tuple[dict[str, float], pd.DataFrame]:
    rows, columns = shop.corrupted.nonzero()
    truth = {
        (f"user:{user}", f"item:{item}"): bad
        for user, item, bad in zip(rows, columns, shop.is_corrupted)
    }
    # Trust is the chance of the weight against that of the likeliest weight: of an
    # absurd weight it is as good as nothing, and of an unlikely link it is not.
    audit = model.audit(X=shop.X)
    audit["suspect"] = audit["trust"] < 1e-6
    audit = audit.sort_values("trust")
    is_bad = np.array([truth[pair] for pair in zip(audit["src"], audit["dst"])])
    suspect = audit["suspect"].to_numpy()
    found = {
        "suspects": int(suspect.sum()),
        "recall": float(is_bad[suspect].sum() / is_bad.sum()),
        "precision": float(is_bad[suspect].mean()),
    }
    print(f"The audit of {len(audit)} links, of which {is_bad.sum()} are corrupted:")
    print(audit[["src", "dst", "weight", "mu", "trust"]].head(4).to_string(index=False))
    print(
        f"  {found['suspects']} links of next to no trust: {found['recall']:.1%} of the corrupted "
        f"ones, and {found['precision']:.1%} of them are corrupted\n"
        f"  (no sound count is above {shop.counts.max():g}, so that a threshold would find these "
        "too; none was needed)\n"
    )
    return found, audit


def recommend(shop: Shop, model: GraphEmbedding) -> None:
    user, item_names = "user:0", [f"item:{item}" for item in range(len(shop.item_groups))]
    expected = model.score_pairs([(user, item) for item in item_names])
    expected[shop.counts.toarray()[0] > 0] = -1  # taken already
    print(f"For {user}, who is of group {shop.user_groups[0]}, by score_pairs:")
    for item in np.argsort(-expected)[:4]:
        group = shop.item_groups[item]
        print(f"  {item_names[item]:9} expected count {expected[item]:.3f}, group {group}")
    near = model.neighbors(X=shop.unseen[:1], view="user", within="item", top=4)
    print(f"For an unseen user of group {shop.unseen_groups[0]}, by neighbors:")
    for name, mu in zip(near["node"], near["mu"]):
        group = shop.item_groups[item_names.index(name)]
        print(f"  {name:9} expected count {mu:.3f}, group {group}")
    print()


def draw(shop: Shop, models: dict[str, GraphEmbedding], audit: pd.DataFrame, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    groups = [f"group {group}" for group in np.r_[shop.user_groups, shop.item_groups]]
    figure, axes = pyplot.subplots(1, 2, figsize=(12, 5), layout="constrained")
    for ax, score in zip(axes, SCORES):
        linkproof.plot_embedding(models[score], groups, links=False, ax=ax)
        ax.set_title(f"{score}, 5% of the weights times 100")
    axes[0].get_legend().remove()
    pictures = {
        "embedding": figure,
        "audit": audit.plot.scatter("mu", "weight", logx=True, logy=True).figure,
    }
    for name, picture in pictures.items():
        picture.savefig(out / f"two-views-{name}.png", dpi=150)
        print(f"Wrote {out / f'two-views-{name}.png'}")


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("linkproof-examples"), help="folder")
    parser.add_argument("--small", action="store_true", help="a single graph")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    shops = [make_shop(seed, 300, 200) for seed in range(1 if options.small else 3)]
    table, models = compare(shops)
    found, audit = find_corrupted(shops[0], models["probability"])
    recommend(shops[0], models["probability"])
    draw(shops[0], models, audit, options.out)
    print(f"Done in {time.perf_counter() - start:.0f} s")
    return {"groups": table, "audit": found}


if __name__ == "__main__":
    main()
