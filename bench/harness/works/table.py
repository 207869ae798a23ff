"""Free vectors: a table encoder against skip-grams with negative sampling."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.context import Context
from harness.data import Planted, link_auc, planted
from harness.report import section, table
from harness.timing import Outcome, Summary, interleave, number
from harness.workers import Failed, run as run_program

DIM = 128
LINE_UPDATES = 6  # one positive and five negatives a sample


@dataclass(frozen=True)
class Trained:
    """What a training run took and reached. Its units are our steps and LINE's
    samples."""

    wall: float
    solver_seconds: float
    units: float
    updates_a_unit: float
    peak_mb: float
    auc: float
    note: str

    @property
    def updates(self) -> float:
        """Pair updates in all."""
        return self.units * self.updates_a_unit

    @property
    def rate(self) -> float:
        """Steps or samples a second, reading and writing left out."""
        return self.units / self.solver_seconds

    def row(self, name: str) -> list[str]:
        """A row of the table."""
        millions = number(self.updates / 1e6)
        return [
            name, self.note, number(self.wall), number(self.solver_seconds), millions,
            f"{self.auc:.4f}", f"{self.peak_mb:.0f} MB",
        ]  # fmt: skip


HEADER = ["", "training", "wall s", "solver s", "million pair updates", "AUC", "peak memory"]


def train_ours(context: Context, data: Planted, more: list[str]) -> Trained:
    """A fit by the command line."""
    out = context.folder / "table-model"
    shutil.rmtree(out, ignore_errors=True)
    command = [
        str(context.program), "fit", "--links", str(data.links), "--nodes", str(data.nodes),
        "--encoder", "table", "--solver", "sgd", "--dim", str(DIM), "--out", str(out), "--json",
        "--threads", str(context.threads), *more,
    ]  # fmt: skip
    wall, text = run_program(command, context.threads)
    answer, record = json.loads(text), json.loads((out / "fit.json").read_text())
    plan = record["plan"]
    block = plan["block"]
    links = 2 * data.n_links / plan["turns"]  # each link from both its ends, once a sweep
    auc = link_auc(np.load(out / "embeddings.npy"), data)
    shutil.rmtree(out)
    solver = record["history"][-1]["seconds"]
    peak = answer["peak_memory_bytes"] / 2**20
    note = f"{answer['steps']} steps, kept step {answer['best_step']}"
    return Trained(wall, solver, answer["steps"], block * (block - 1) / 2 + links, peak, auc, note)


def train_line(context: Context, data: Planted, samples: int) -> Trained:
    """A run of LINE."""
    if not isinstance(context.line_program, Path):
        raise Failed(context.line_program)
    out = context.folder / "line.npy"
    command = [str(context.line_program), str(data.links), str(data.n), str(out), str(samples)]
    wall, text = run_program([*command, str(context.threads)], context.threads)
    answer = json.loads(text)
    auc = link_auc(np.load(out), data)
    note = f"{samples / data.n_links:.0f} samples a link"
    seconds, peak = answer["train_seconds"], answer["peak_mb"]
    return Trained(wall, seconds, samples, LINE_UPDATES, peak, auc, note)


@dataclass(frozen=True)
class Speed:
    """Steps or samples a second, and pair updates in each."""

    rate: Outcome
    updates_a_unit: float


def speeds(context: Context, data: Planted, steps: int, samples: int) -> dict[str, Speed]:
    """Every contestant's speed, measured in turn."""
    updates: dict[str, float] = {}

    def rate(name: str, trained: Trained) -> float:
        updates[name] = trained.updates_a_unit
        return trained.rate

    # Patience out of the way: the speed of given steps is asked for.
    more = ["--steps", str(steps), "--patience", "1000000"]
    contestants: dict[str, Callable[[], float]] = {
        "Linkproof": lambda: rate("Linkproof", train_ours(context, data, more)),
        "LINE": lambda: rate("LINE", train_line(context, data, samples)),
    }
    outcomes = interleave(contestants, context.repeats)
    return {name: Speed(outcome, updates.get(name, 0.0)) for name, outcome in outcomes.items()}


def run(context: Context) -> str:
    """Speed, and link prediction against time."""
    n, n_links, communities = (3000, 30_000, 10) if context.quick else (70_000, 700_000, 70)
    data = planted(context.folder, n, n_links, communities)
    steps, samples = (20, 100_000) if context.quick else (100, 2_000_000)
    speed = speeds(context, data, steps, samples)
    budgets = [0.5, 1.0] if context.quick else [5.0, 10.0, 20.0, 40.0]
    return section(
        "Free vectors and link prediction",
        f"A degree-corrected block model of {n:,} nodes, {n_links:,} links and {communities} "
        f"communities (eight links in ten inside them), K = {DIM}, {context.threads} threads. AUC "
        f"of {len(data.held_out):,} held-out links against as many unlinked pairs, by the inner "
        f"product; the probabilities that drew the graph reach {data.best_auc:.4f}.",
        "*Pair updates*: a pair of nodes whose inner product is taken and whose two vectors move "
        f"by it. LINE: {LINE_UPDATES} a sample (one link and five negatives). Linkproof: all "
        "B(B-1)/2 pairs of a step's block and the links of its nodes. The two are not worth the "
        "same: LINE moves vectors after every pair, Linkproof after every step, which is why AUC "
        "against time stands below. LINE is our re-implementation in C++ (`peers/line.cpp`); the "
        "original cannot be installed. The solver's seconds leave reading and writing out.",
        speed_table(speed),
        "For equal time in the solver, and for the amount of training that each comes with "
        "(Linkproof: its default; LINE: 100 samples a link); one run each:",
        table(HEADER, against_time(context, data, speed, budgets)),
        "Other libraries on the same graph; gensim takes links as sentences of two words and has "
        "two vectors a node, both of which score the pairs:",
        table(HEADER, other_peers(context, data)),
    )


def speed_table(speed: dict[str, Speed]) -> str:
    """Rates and their ratio."""
    line = speed["LINE"].rate
    rows = []
    for name, found in speed.items():
        if isinstance(found.rate, Summary):
            factor = found.updates_a_unit
            ratio = ""
            if isinstance(line, Summary):
                ratio = number(found.rate.median * factor / line.median / LINE_UPDATES)
            rows.append([name, found.rate.words("million", factor / 1e6), ratio])
        else:
            rows.append([name, f"failed: {found.rate}", ""])
    return table(["", "pair updates a second, median (least-most)", "times LINE's"], rows)


def against_time(
    context: Context, data: Planted, speed: dict[str, Speed], budgets: list[float]
) -> list[list[str]]:
    """AUC after given seconds, and after each one's usual training."""
    rows = []

    def attempt(name: str, call: Callable[[], Trained]) -> None:
        try:
            rows.append(call().row(name))
        except Failed as failure:
            rows.append([name, f"failed: {failure}", *[""] * (len(HEADER) - 2)])

    for seconds in budgets:
        for name, found in speed.items():
            if not isinstance(found.rate, Summary):
                continue
            units = max(20, int(seconds * found.rate.median))
            if name == "LINE":
                attempt(f"LINE, {seconds:g} s", lambda: train_line(context, data, units))
            else:
                more = ["--steps", str(units)]
                attempt(f"{name}, {seconds:g} s", lambda: train_ours(context, data, more))
    attempt("Linkproof, default", lambda: train_ours(context, data, []))
    usual = 10 if context.quick else 100
    attempt("LINE, usual", lambda: train_line(context, data, usual * data.n_links))
    return rows


def other_peers(context: Context, data: Planted) -> list[list[str]]:
    """Libraries with ways of their own, one run each."""
    out, other = context.folder / "other.npy", context.folder / "context.npy"
    epochs = 1 if context.quick else 5
    contestants = {
        f"gensim Word2Vec, {epochs} epochs": {
            "do": "gensim", "epochs": epochs, "context_out": str(other)
        },
        "ensmallen FirstOrderLINE": {"do": "ensmallen", "epochs": 100},
        "scikit-network Spectral": {"do": "sknetwork", "method": "Spectral"},
        "scikit-network SVD": {"do": "sknetwork", "method": "SVD"},
        "scikit-network GSVD": {"do": "sknetwork", "method": "GSVD"},
    }  # fmt: skip
    rows = []
    for name, command in contestants.items():
        with ExitStack() as stack:
            worker = stack.enter_context(context.peer("links"))
            try:
                answer = worker.ask(**command, links=str(data.links), n=data.n, out=str(out))
            except Failed as failure:
                rows.append([name, f"failed: {failure}", *[""] * (len(HEADER) - 2)])
                continue
        vectors = np.load(out)
        context_vectors = np.load(other) if command["do"] == "gensim" else None
        auc = link_auc(vectors, data, context_vectors)
        updates = number(answer["updates"] / 1e6) if "updates" in answer else ""
        seconds, peak = number(answer["seconds"]), f"{answer['peak_mb']:.0f} MB"
        rows.append([name, "", "", seconds, updates, f"{auc:.4f}", peak])
    return rows
