"""The exact scores: value and gradient over all pairs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from harness.context import Context
from harness.data import Embedded, embedded
from harness.report import section, table
from harness.timing import Outcome, Summary, exponent, interleave, number
from harness.workers import Failed, Worker, rest

DIM = 128
BETA = 0.5
VALUE_TOLERANCE = 1e-4
GRADIENT_TOLERANCE = 1e-4
PEERS = {
    "PyTorch eager, autograd": "eager autograd",
    "PyTorch eager, gradient by hand": "eager by hand",
    "PyTorch eager, by hand, each pair once": "eager by hand, triangle",
    "PyTorch compiled, autograd": "compiled autograd",
    "PyTorch compiled, gradient by hand": "compiled by hand",
}
KEOPS = {"KeOps, autograd": "keops autograd", "KeOps, one reduction by hand": "keops by hand"}


def ask_ours(worker: Worker, data: Embedded, score: str = "moment", **more: Any) -> dict[str, Any]:
    """One evaluation by the library."""
    return worker.ask(
        do="exact",
        embeddings=str(data.embeddings),
        links=str(data.links),
        gamma=data.gamma,
        score=score,
        beta=BETA,
        **more,
    )


def ask_peer(worker: Worker, data: Embedded, variant: str, **more: Any) -> dict[str, Any]:
    """One evaluation by a peer."""
    return worker.ask(
        do="exact",
        variant=variant,
        embeddings=str(data.embeddings),
        links=str(data.links),
        gamma=data.gamma,
        beta=BETA,
        **more,
    )


def check(ours: dict[str, Any], theirs: dict[str, Any], folder: Path) -> None:
    """Both computed the same thing, or the row fails."""
    off = abs(theirs["value"] / ours["value"] - 1)
    if not off <= VALUE_TOLERANCE:
        raise Failed(f"value {theirs['value']:.6g}, ours {ours['value']:.6g}")
    a, b = np.load(folder / "ours.npy"), np.load(folder / "theirs.npy")
    off = float(np.abs(a - b).max() / np.abs(a).max())
    if not off <= GRADIENT_TOLERANCE:
        raise Failed(f"gradient off by {off:.1e} of its largest entry")


def against_peers(
    context: Context, data: Embedded, peers: dict[str, str], size: int = 0
) -> tuple[dict[str, Outcome], dict[str, float]]:
    """Seconds and the memory that the work took, ours first; with a size,
    products of square matrices in the same turns."""
    memory: dict[str, float] = {}
    failed: dict[str, Outcome] = {}
    with ExitStack() as stack:
        driver = stack.enter_context(context.driver())
        ours = ask_ours(driver, data, gradient_to=str(context.folder / "ours.npy"))
        memory["Linkproof"] = ours["peak_mb"] - ours["before_mb"]
        contestants = {"Linkproof": lambda: ask_ours(driver, data)["seconds"]}
        for name, variant in peers.items():
            worker = stack.enter_context(context.peer("exact"))
            try:
                first = ask_peer(
                    worker, data, variant, gradient_to=str(context.folder / "theirs.npy")
                )
                check(ours, first, context.folder)
            except Failed as failure:
                failed[name] = failure
                continue
            memory[name] = first["peak_mb"] - first["before_mb"]

            def seconds(worker: Worker, variant: str) -> float:
                return ask_peer(worker, data, variant)["seconds"]

            contestants[name] = partial(seconds, worker, variant)
        if size:
            add_products(contestants, driver, stack.enter_context(context.peer("exact")), size)
        outcomes = interleave(contestants, context.repeats)
    names = ["Linkproof", *peers, *(PRODUCTS if size else [])]
    return {name: (outcomes | failed)[name] for name in names}, memory


PRODUCTS = {"a product by gemm": "driver", "a product by PyTorch": "torch"}


def add_products(
    contestants: dict[str, Callable[[], float]], driver: Worker, torch: Worker, size: int
) -> None:
    """The machine's ceiling, in the same turns: a product of square matrices,
    over and over for about as long as the score takes."""

    def seconds(worker: Worker) -> float:
        return worker.ask(do="product", size=size, count=10)["seconds"]

    for name, who in PRODUCTS.items():
        contestants[name] = partial(seconds, driver if who == "driver" else torch)


def rows(outcomes: dict[str, Outcome], memory: dict[str, float]) -> list[list[str]]:
    """A row for each contestant."""
    ours = outcomes["Linkproof"]
    assert isinstance(ours, Summary)
    out = []
    for name, outcome in outcomes.items():
        if isinstance(outcome, Failed):
            out.append([name, f"failed: {outcome}", "", ""])
            continue
        ratio = "1" if name == "Linkproof" else number(outcome.median / ours.median)
        out.append([name, outcome.words("s"), ratio, f"{memory[name]:.0f} MB"])
    return out


def run(context: Context) -> str:
    """The moment score against the peers, and against the ceiling."""
    n, small, size = (2000, 1000, 512) if context.quick else (20_000, 2_000, 2048)
    data = embedded(context.folder, n, DIM, 5 * n)
    outcomes, memory = against_peers(context, data, PEERS, size)
    best = {name: outcomes.pop(name) for name in PRODUCTS}
    header = ["", "seconds, median (least-most)", "times ours", "memory for the work"]
    parts = [
        f"n = {n:,}, K = {DIM}, {5 * n:,} links of weight 1, beta {BETA}, f32, value and gradient. "
        f"Values agree to {VALUE_TOLERANCE:g} (relative), gradients to {GRADIENT_TOLERANCE:g} "
        "of the largest entry, or the row fails.",
        table(header, rows(outcomes, memory)),
        against_ceiling(outcomes, best, n, size),
    ]
    few = embedded(context.folder, small, DIM, 5 * small)
    outcomes, memory = against_peers(context, few, KEOPS)
    parts += [
        f"KeOps takes far longer and is measured at n = {small:,}:",
        table(header, rows(outcomes, memory)),
    ]
    return section("The exact moment score", *parts)


def against_ceiling(
    outcomes: dict[str, Outcome], products: dict[str, Outcome], n: int, size: int
) -> str:
    """Our rate as a share of the best product's of this run."""
    ours = outcomes["Linkproof"]
    assert isinstance(ours, Summary)
    found = {name: product for name, product in products.items() if isinstance(product, Summary)}
    top = min(found.values(), key=lambda product: product.median)
    work, product = 3e-9 * n * n * DIM, 2e-9 * size**3
    share = (work / ours.median) / (product / top.median)
    at_best = (work / ours.low) / (product / min(product.low for product in found.values()))
    rates = ", ".join(
        f"{name} {number(product / one.median)} GFLOP/s (at best {number(product / one.low)})"
        for name, one in found.items()
    )
    return (
        f"Counted as 3 n^2 K (each pair once: a product forward, two backward) ours runs at "
        f"{number(work / ours.median)} GFLOP/s (at best {number(work / ours.low)}), "
        f"**{100 * share:.0f}%** of the faster {size}^3 product, medians of the same turns; "
        f"{100 * at_best:.0f}% where each had its best moment. In this run: {rates}."
    )


def run_probability(context: Context) -> str:
    """The probability score, as a share of the moment score's speed."""
    n = 2000 if context.quick else 20_000
    data = embedded(context.folder, n, DIM, 5 * n)
    with context.driver() as driver:
        outcomes = interleave(
            {
                score: lambda score=score: ask_ours(driver, data, score)["seconds"]
                for score in ("moment", "probability", "likelihood")
            },
            context.repeats,
        )
    moment = outcomes["moment"]
    assert isinstance(moment, Summary)
    out = [
        [name, outcome.words("s"), f"{moment.median / outcome.median:.2f}"]
        for name, outcome in outcomes.items()
        if isinstance(outcome, Summary)
    ]
    return section(
        "The other scores",
        f"n = {n:,}, K = {DIM}, beta {BETA}, f32, value and gradient; ours alone.",
        table(["score", "seconds, median (least-most)", "of the moment score's speed"], out),
    )


def run_growth(context: Context) -> str:
    """Seconds and memory as nodes and links grow."""
    sizes = [500, 1000, 2000] if context.quick else [5_000, 10_000, 20_000, 40_000]
    grid = [embedded(context.folder, n, DIM, 5 * n) for n in sizes]
    n = sizes[-2]
    links = [embedded(context.folder, n, DIM, factor * n) for factor in (0, 5, 50)]
    with context.driver() as driver, context.peer("exact") as torch:
        variant = "eager by hand, triangle"
        contestants = {f"ours {i}": partial(seconds_of_ours, driver, d) for i, d in enumerate(grid)}
        contestants |= {
            f"theirs {i}": partial(seconds_of_peer, torch, d, variant) for i, d in enumerate(grid)
        }
        contestants |= {f"links {i}": partial(seconds_of_ours, driver, d) for i, d in enumerate(links)}
        for measure in contestants.values():
            rest()
            try:
                measure()
            except Failed:
                continue  # reported by the measurement itself
        outcomes = interleave(contestants, context.repeats)
    nodes = []
    for i, data in enumerate(grid):
        ours, theirs = outcomes[f"ours {i}"], outcomes[f"theirs {i}"]
        nodes.append(
            [f"{data.n:,}", words(ours), mb(peak_of_ours(context, data)), words(theirs)]
        )
    return section(
        "Growth",
        f"The exact moment score, value and gradient, K = {DIM}, five links a node, f32; memory "
        "is what the evaluation added to the process, one fresh process each. PyTorch is the "
        "eager version that visits each pair once.",
        table(["nodes", "Linkproof", "its memory", "PyTorch"], nodes),
        f"Seconds grow as n^{slope(outcomes, 'ours', sizes)} (PyTorch: "
        f"n^{slope(outcomes, 'theirs', sizes)}).",
        table(
            [f"links between {n:,} nodes", "Linkproof", "its memory"],
            [
                [f"{d.n_links:,}", words(outcomes[f"links {i}"]), mb(peak_of_ours(context, d))]
                for i, d in enumerate(links)
            ],
        ),
    )


def seconds_of_ours(worker: Worker, data: Embedded) -> float:
    """One evaluation by the library."""
    return ask_ours(worker, data)["seconds"]


def seconds_of_peer(worker: Worker, data: Embedded, variant: str) -> float:
    """One evaluation by a peer."""
    return ask_peer(worker, data, variant)["seconds"]


def peak_of_ours(context: Context, data: Embedded) -> float:
    """What an evaluation adds to the memory of a fresh process."""
    with context.driver() as driver:
        answer = ask_ours(driver, data)
        return answer["peak_mb"] - answer["before_mb"]


def words(outcome: Outcome) -> str:
    """A cell."""
    return f"failed: {outcome}" if isinstance(outcome, Failed) else outcome.words("s")


def mb(amount: float) -> str:
    """A cell."""
    return f"{amount:.0f} MB"


def slope(outcomes: dict[str, Outcome], who: str, sizes: list[int]) -> str:
    """The exponent of a contestant's seconds."""
    found = [outcomes[f"{who} {i}"] for i in range(len(sizes))]
    if any(isinstance(outcome, Failed) for outcome in found):
        return "?"
    seconds = [outcome.median for outcome in found if isinstance(outcome, Summary)]
    return f"{exponent([float(n) for n in sizes], seconds):.2f}"
