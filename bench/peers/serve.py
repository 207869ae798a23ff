"""A process that does a peer's work on request: a command in JSON a line on
standard input, an answer in JSON a line on standard output.

    python -m peers.serve MODULE THREADS
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any


def megabytes(field: str) -> float | None:
    """A field of the process's status, where the system tells."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            lines = [line for line in status if line.startswith(field)]
    except OSError:
        return None
    return float(lines[0].split()[1]) / 1024 if lines else None


def main() -> None:
    """Serves the functions that the module lists in `COMMANDS`."""
    # Libraries may print; answers have a channel of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    name, threads = sys.argv[1], int(sys.argv[2])
    try:
        commands = importlib.import_module(f"peers.{name}").commands(threads)
    except Exception as error:  # the reason is the answer to every command
        commands, reason = {}, f"{type(error).__name__}: {error}"
    for line in sys.stdin:
        command: dict[str, Any] = json.loads(line)
        work = command.pop("do")
        try:
            answer = commands[work](**command) if commands else {"error": reason}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        answer["peak_mb"] = megabytes("VmHWM")
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
