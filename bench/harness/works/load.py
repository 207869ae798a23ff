"""Reading a large file of links."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from harness.context import Context
from harness.data import many_links
from harness.report import section, table
from harness.timing import Outcome, Summary, interleave, number
from harness.workers import Failed, Worker

PEERS = ["pandas", "pandas, engine pyarrow", "polars", "pyarrow"]


def run(context: Context) -> str:
    """Ours against readers that only parse."""
    count = 100_000 if context.quick else 10_000_000
    rows: list[list[str]] = []
    for kind, path in many_links(context.folder, count).items():
        rows += measure(context, kind, path, count)
        path.unlink()
    return section(
        "Reading links",
        f"CSV `src,dst` of {count:,} links between {count // 10:,} nodes. Linkproof parses, "
        "interns the ids, checks for repeats and builds the graph, as `fit` does; **the others "
        "only parse** into columns. Peak memory is that of a fresh process.",
        table(["ids", "", "seconds, median (least-most)", "million links a second", "peak memory"], rows),
    )


def measure(context: Context, kind: str, path: Path, count: int) -> list[list[str]]:
    """The rows of one file."""
    peaks: dict[str, float] = {}
    failed: dict[str, Outcome] = {}
    with ExitStack() as stack:
        driver = stack.enter_context(context.driver())

        def ours() -> float:
            answer = driver.ask(do="load", links=str(path))
            peaks.setdefault("Linkproof (a graph)", answer["peak_mb"])
            if answer["value"] != count:
                raise Failed(f"{answer['value']} links")
            return answer["seconds"]

        def theirs(worker: Worker, reader: str) -> float:
            answer = worker.ask(do="load", reader=reader, path=str(path))
            peaks.setdefault(reader, answer["peak_mb"])
            if answer["value"] != count:
                raise Failed(f"{answer['value']} rows")
            return answer["seconds"]

        contestants = {"Linkproof (a graph)": ours}
        for reader in PEERS:
            worker = stack.enter_context(context.peer("csv_readers"))
            contestants[reader] = lambda worker=worker, reader=reader: theirs(worker, reader)
        for name, call in contestants.items():
            try:
                call()
            except Failed as failure:
                failed[name] = failure
        left = {name: call for name, call in contestants.items() if name not in failed}
        outcomes = interleave(left, context.repeats) | failed
    rows = []
    for name in contestants:
        outcome = outcomes[name]
        if isinstance(outcome, Summary):
            rate = number(count / outcome.median / 1e6)
            rows.append([kind, name, outcome.words("s"), rate, f"{peaks[name]:.0f} MB"])
        else:
            rows.append([kind, name, f"failed: {outcome}", "", ""])
    return rows
