"""Free vectors: a table encoder against skip-grams with negative sampling."""

from __future__ import annotations

import json
import shutil
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
    """What a training run took and reached."""

    wall: float
    solver_seconds: float
    updates: float
    peak_mb: float
    auc: float
    note: str

    @property
    def rate(self) -> float:
        """Pair updates a second, reading and writing left out."""
        return self.updates / self.solver_seconds

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
    wall, peak, text = run_program(command, context.threads)
    answer, record = json.loads(text), json.loads((out / "fit.json").read_text())
    plan = record["plan"]
    block = plan["block"]
    pairs = block * (block - 1) / 2 if plan["sampler"] == "block" else plan["pair-batch"]
    links = plan["link-batch"] if plan["links-apart"] or plan["sampler"] == "pairs" else 0
    auc = link_auc(np.load(out / "embeddings.npy"), data)
    shutil.rmtree(out)
    solver = record["history"][-1]["seconds"]
    note = f"{answer['steps']} steps, kept step {answer['best_step']}"
    return Trained(wall, solver, answer["steps"] * (pairs + links), peak, auc, note)


def train_line(context: Context, data: Planted, samples: int) -> Trained:
    """A run of LINE."""
    if not isinstance(context.line_program, Path):
        raise Failed(context.line_program)
    out = context.folder / "line.npy"
    command = [str(context.line_program), str(data.links), str(data.n), str(out), str(samples)]
    wall, peak, text = run_program([*command, str(context.threads)], context.threads)
    auc = link_auc(np.load(out), data)
    note = f"{samples / data.n_links:.0f} samples a link"
    seconds = json.loads(text)["train_seconds"]
    return Trained(wall, seconds, samples * LINE_UPDATES, peak, auc, note)


def rates(context: Context, data: Planted, steps: int, samples: int) -> dict[str, Outcome]:
    """Pair updates a second."""
    more = ["--steps", str(steps), "--validation", "0"]
    return interleave(
        {
            "Linkproof": lambda: train_ours(context, data, more).rate,
            "LINE": lambda: train_line(context, data, samples).rate,
        },
        context.repeats,
    )


def run(context: Context) -> str:
    """Speed, and link prediction against time."""
    n, n_links, communities = (3000, 30_000, 10) if context.quick else (70_000, 700_000, 70)
    data = planted(context.folder, n, n_links, communities)
    steps, samples = (20, 100_000) if context.quick else (300, 2_000_000)
    speed = rates(context, data, steps, samples)
    budgets = [0.5, 1.0] if context.quick else [5.0, 10.0, 20.0, 40.0]
    return section(
        "Free vectors and link prediction",
        f"A degree-corrected block model of {n:,} nodes, {n_links:,} links and {communities} "
        f"communities (eight links in ten inside them), K = {DIM}, {context.threads} threads. AUC "
        f"of {len(data.held_out):,} held-out links against as many unlinked pairs, by the inner "
        f"product; the probabilities that drew the graph reach {data.best_auc:.4f}.",
        "*Pair updates*: a pair of nodes whose inner product is taken and whose two vectors move "
        f"by it. LINE: {LINE_UPDATES} a sample (one link and five negatives). Linkproof: all "
        "B(B-1)/2 pairs of a step's block and the links drawn beside it. LINE is our "
        "re-implementation in C++ (`peers/line.cpp`); the original cannot be installed. The solver's "
        "seconds leave reading and writing out.",
        speed_table(speed),
        "For equal time in the solver, and for the amount of training that each comes with "
        "(Linkproof: its default; LINE: 100 samples a link); one run each:",
        table(HEADER, against_time(context, data, speed, budgets)),
        "Other libraries on the same graph; gensim takes links as sentences of two words and has "
        "two vectors a node, both of which score the pairs:",
        table(HEADER, other_peers(context, data)),
    )


def speed_table(speed: dict[str, Outcome]) -> str:
    """Rates and their ratio."""
    line = speed["LINE"]
    rows = []
    for name, outcome in speed.items():
        if isinstance(outcome, Summary):
            ratio = number(outcome.median / line.median) if isinstance(line, Summary) else ""
            rows.append([name, outcome.words("million", 1e-6), ratio])
        else:
            rows.append([name, f"failed: {outcome}", ""])
    return table(["", "pair updates a second, median (least-most)", "times LINE's"], rows)


def against_time(
    context: Context, data: Planted, speed: dict[str, Outcome], budgets: list[float]
) -> list[list[str]]:
    """AUC after given seconds, and after each one's usual training."""
    rows = []
    ours, line = speed["Linkproof"], speed["LINE"]
    block_pairs = 1024 * 1023 / 2 + 4096

    def attempt(name: str, call: object) -> None:
        try:
            rows.append(call().row(name))  # type: ignore[operator]
        except Failed as failure:
            rows.append([name, f"failed: {failure}", *[""] * (len(HEADER) - 2)])

    for seconds in budgets:
        label = f"{seconds:g} s"
        if isinstance(ours, Summary):
            steps = max(20, int(seconds * ours.median / block_pairs))
            attempt(f"Linkproof, {label}", lambda: train_ours(context, data, ["--steps", str(steps)]))
        if isinstance(line, Summary):
            samples = int(seconds * line.median / LINE_UPDATES)
            attempt(f"LINE, {label}", lambda: train_line(context, data, samples))
    attempt("Linkproof, default", lambda: train_ours(context, data, []))
    usual = data.n_links * (10 if context.quick else 100)
    attempt("LINE, usual", lambda: train_line(context, data, usual))
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
