"""Processes that work on request: a command in JSON a line, an answer in JSON
a line. Ours is `driver/`, the peers' is `peers/serve.py`."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

Answer = dict[str, Any]

BENCH = Path(__file__).resolve().parent.parent


class Failed(Exception):
    """A worker could not do what it was asked; the message says why."""


class Worker:
    """One process; a worker that ends stays ended and says why."""

    def __init__(self, command: list[str], threads: int, limit: float = 180.0) -> None:
        self._errors = tempfile.TemporaryFile()
        self._limit = limit
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment(threads),
            text=True,
        )

    def ask(self, **command: Any) -> Answer:
        """Sends a command and waits for its answer."""
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
            ready, _, _ = select.select([self._process.stdout], [], [], self._limit)
            if not ready:
                self._process.kill()
                raise Failed(f"no answer within {self._limit:g} s")
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Failed(self._last_words())
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def _last_words(self) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"ended with code {code}"

    def close(self) -> None:
        """Ends the process."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._errors.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def environment(threads: int) -> dict[str, str]:
    """The same number of threads for every library that reads one."""
    counts = ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"]
    counts += ["POLARS_MAX_THREADS", "NUMEXPR_MAX_THREADS"]
    return os.environ | {name: str(threads) for name in counts} | {"PYTHONPATH": str(BENCH)}


def peer(module: str, threads: int) -> Worker:
    """A worker that serves `peers/MODULE.py`."""
    return Worker([sys.executable, "-m", "peers.serve", module, str(threads)], threads)


def rest() -> None:
    """Lets the threads of the worker before go to sleep."""
    time.sleep(0.1)


def run(command: list[str], threads: int) -> tuple[float, str]:
    """Runs a program: wall seconds from start to end, and what it wrote to
    standard output."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment(threads), check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise Failed(done.stderr.strip()[-300:])
    return seconds, done.stdout
