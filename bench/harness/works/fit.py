"""`linkproof fit` on a citation graph, from process start to files written."""

from __future__ import annotations

import json
import shutil

from harness.context import Context
from harness.data import cora
from harness.report import section, table
from harness.timing import Summary
from harness.workers import rest, run as run_program


def run(context: Context) -> str:
    """A plain fit."""
    data = cora(context.folder)
    out = context.folder / "model"
    command = [
        str(context.program), "fit", "--links", str(data.links), "--features",
        str(data.features), "--out", str(out), "--json", "--threads", str(context.threads),
    ]  # fmt: skip
    seconds, peak, answer = [], 0.0, {}
    for _ in range(context.repeats):
        shutil.rmtree(out, ignore_errors=True)
        rest()
        wall, text = run_program(command, context.threads)
        seconds.append(wall)
        answer = json.loads(text)
        peak = answer["peak_memory_bytes"] / 2**20
    cells = [Summary.of(seconds).words("s"), str(answer["steps"]), f"{peak:.0f} MB"]
    row = [*cells, measure_nmi(context, data.labels)]
    shutil.rmtree(out, ignore_errors=True)
    return section(
        "A fit, start to end",
        f"`linkproof fit` with its defaults (linear, K = 64) on {data.name}, from the start of the process to "
        "the files written. NMI is of k-means on all rows, where there are labels.",
        table(["wall seconds, median (least-most)", "steps", "peak memory", "NMI x 100"], [row]),
    )


def measure_nmi(context: Context, labels: object) -> str:
    """How well the clusters of the last fit meet the labels."""
    if labels is None:
        return "no labels"
    command = [str(context.program), "evaluate", "--json", "--embeddings"]
    command += [str(context.folder / "model" / "embeddings.npy"), "--labels", str(labels)]
    _, text = run_program(command, context.threads)
    return f"{100 * json.loads(text)['nmi']:.1f}"
