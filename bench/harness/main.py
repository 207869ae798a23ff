"""Measures and writes the report. Started by `bench/run`, which prepares."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from harness.context import Context
from harness.machine import describe
from harness.report import section
from harness.works import exact, fit, load, step, table

WORKS: dict[str, Callable[[Context], str]] = {
    "exact": exact.run,
    "scores": exact.run_probability,
    "growth": exact.run_growth,
    "step": step.run,
    "table": table.run,
    "fit": fit.run,
    "load": load.run,
}

PREFACE = """# Results

Linkproof and its peers on the same data, in the same run, one after the other
in turn; medians of {repeats} and, in brackets, the least and the most.
Regenerate with `bench/run`{flags}. How things are counted: [README.md](README.md)."""


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench/run", description="Measures Linkproof and its peers.")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all works")
    parser.add_argument("--only", choices=list(WORKS), action="append", help="one piece of work")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeats", type=int, help="default: 5, with --quick 2")
    parser.add_argument("--program", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--driver", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--line", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Runs the pieces of work; a full run replaces `RESULTS.md` at its end."""
    args = arguments()
    bench = Path(__file__).resolve().parent.parent
    repeats = args.repeats or (2 if args.quick else 5)
    line = Path(args.line) if Path(args.line).exists() else f"not compiled: {args.line}"
    sections = []
    with tempfile.TemporaryDirectory(prefix="linkproof-bench-") as folder:
        context = Context(
            args.quick, args.threads, repeats, Path(folder), args.program, args.driver, line
        )
        for name in args.only or WORKS:
            print(f"{name} ...", file=sys.stderr, flush=True)
            start = time.perf_counter()
            try:
                text = WORKS[name](context)
            except Exception as error:  # the other pieces of work go on
                traceback.print_exc()
                text = section(name, f"Failed: {type(error).__name__}: {error}")
            print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
            sections.append(text)
    flags = "".join([" --quick" if args.quick else ""] + [f" --only {name}" for name in args.only or []])
    preface = PREFACE.format(repeats=repeats, flags=f" (here `bench/run{flags}`)" if flags else "")
    text = "\n\n".join([preface, describe(bench.parent, args.threads), *sections]) + "\n"
    if flags:
        print(text)
        return 0
    whole = bench / ".RESULTS.md.new"
    whole.write_text(text, encoding="utf-8")
    whole.replace(bench / "RESULTS.md")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
