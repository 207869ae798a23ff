"""One stochastic step of the paper's network for Cora."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

from harness.context import Context
from harness.data import Attributed, cora
from harness.report import section, table
from harness.timing import Outcome, Summary, interleave, number
from harness.workers import Failed, Worker

SIZE = 512
BETA = 0.5
TOLERANCE = 1e-3
PEERS = {"PyTorch, EmbeddingBag": True, "PyTorch, dense": False}


def our_params(steps: int, hidden: int, dropout: float) -> dict[str, Any]:
    """The settings of the step, as a configuration file would name them."""
    return {
        "dim": 100, "beta": BETA, "encoder": "mlp", "hidden": [hidden], "batch-norm": True,
        "dropout": dropout, "solver": "sgd", "sampler": "pairs", "optimizer": "adam",
        "learning-rate": 1e-5, "link-batch": SIZE, "pair-batch": SIZE, "ridge": 0.0,
        "validation": 0.0, "steps": steps,
    }  # fmt: skip


def check(driver: Worker, worker: Worker, data: Attributed, context: Context, hidden: int) -> None:
    """Value and gradient of one sample at one point agree, or the row fails."""
    batch = worker.ask(do="draw", name="task", size=SIZE)
    theta, a, b = (str(context.folder / name) for name in ("theta.npy", "a.npy", "b.npy"))
    ours = driver.ask(
        do="sampled-once", links=str(data.links), features=str(data.features),
        params=our_params(1, hidden, 0.0), nodes=batch["nodes"], sampled_links=batch["links"],
        sampled_pairs=batch["pairs"], **{"lambda": batch["scale"]}, theta_to=theta, gradient_to=a,
    )  # fmt: skip
    theirs = worker.ask(
        do="sampled-once", name="task", nodes=batch["nodes"], links=batch["links"],
        pairs=batch["pairs"], beta=BETA, theta=theta, gradient_to=b,
    )  # fmt: skip
    x, y = np.load(a).ravel(), np.load(b).ravel()
    off = float(np.abs(x - y).max() / np.abs(x).max())
    if not (abs(theirs["value"] / ours["value"] - 1) <= TOLERANCE and off <= TOLERANCE):
        raise Failed(
            f"value {theirs['value']:.6g} against our {ours['value']:.6g}, gradient off by {off:.1e}"
        )


def run(context: Context) -> str:
    """Ours against the dense and the sparse version."""
    hidden, count = (100, 3) if context.quick else (3000, 20)
    data = cora(context.folder)
    failed: dict[str, Outcome] = {}
    with ExitStack() as stack:
        driver = stack.enter_context(context.driver())

        def ours() -> float:
            params = our_params(count + 3, hidden, 0.5)
            return driver.ask(
                do="steps", links=str(data.links), features=str(data.features),
                params=params, warm_up=3,
            )["seconds"]  # fmt: skip

        def theirs(worker: Worker, count: int) -> float:
            return worker.ask(do="steps", name="task", count=count, size=SIZE, beta=BETA)["seconds"]

        contestants = {"Linkproof": ours}
        for name, bag in PEERS.items():
            worker = stack.enter_context(context.peer("step"))
            settings = dict(
                name="task", links=str(data.links), features=str(data.features), bag=bag,
                hidden=hidden, outputs=100, rate=1e-5,
            )  # fmt: skip
            try:
                worker.ask(do="prepare", dropout=0.0, **settings)
                check(driver, worker, data, context, hidden)
                worker.ask(do="prepare", dropout=0.5, **settings)
                theirs(worker, 3)
            except Failed as failure:
                failed[name] = failure
                continue
            contestants[name] = partial(theirs, worker, count)
        outcomes = interleave(contestants, context.repeats)
    median = outcomes["Linkproof"].median if isinstance(outcomes["Linkproof"], Summary) else 1.0
    rows = []
    for name, outcome in (outcomes | failed).items():
        if isinstance(outcome, Failed):
            rows.append([name, f"failed: {outcome}", ""])
        else:
            rows.append([name, outcome.words("ms", 1000), number(outcome.median / median)])
    return section(
        "One stochastic step of the paper's network",
        f"{data.name}; {SIZE} links and {SIZE} pairs drawn in the step, each distinct node encoded "
        f"once; 1433 inputs (sparse), {hidden} tanh units with batch normalisation and dropout "
        f"0.5, 100 outputs; moment score, beta {BETA}; Adam (fused, in PyTorch); means of {count} "
        f"steps. Value and gradient without dropout agree to {TOLERANCE:g}, or the row fails.",
        table(["", "a step, median (least-most)", "times ours"], rows),
    )
