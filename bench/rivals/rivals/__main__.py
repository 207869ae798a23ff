"""`python -m rivals list` and `python -m rivals jobs FILE`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/rivals/run", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the rivals, as JSON")
    jobs = commands.add_parser("jobs", help="run the jobs of a file, one JSON object a line")
    jobs.add_argument("file", type=Path)
    jobs.add_argument("--processes", type=int, default=1)
    jobs.add_argument("--threads", type=int, default=None, help="for each process")
    commands.add_parser("worker")  # started by `jobs`: jobs on stdin, answers on stdout
    chosen = parser.parse_args()

    if chosen.command == "list":
        from .registry import listing

        json.dump(listing(), sys.stdout)
        print()
        return 0
    if chosen.command == "worker":
        from .worker import serve

        return serve()
    from .jobs import run_all

    if chosen.processes < 1 or (chosen.threads is not None and chosen.threads < 1):
        parser.error("--processes and --threads are at least 1")
    return run_all(chosen.file, chosen.processes, chosen.threads)


if __name__ == "__main__":
    sys.exit(main())
