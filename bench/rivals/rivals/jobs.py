"""Shares jobs out among worker processes and prints an answer for each.

Workers are plain subprocesses, one job at a time: a library that takes its
process down with it costs that one job, and the next one gets a fresh worker.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "LINKPROOF_RIVALS_THREADS",
)

_printing = threading.Lock()


def run_all(file: Path, processes: int, threads: int | None) -> int:
    """0 when every job has been answered, failed ones included."""
    try:
        lines = [line for line in file.read_text().splitlines() if line.strip()]
    except OSError as error:
        print(f"cannot read {file}: {error}", file=sys.stderr)
        return 1
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    for line in lines:
        waiting.put(line)
    processes = max(1, min(processes, len(lines)))
    threads = threads or max(1, _cores() // processes)
    pools = [threading.Thread(target=_serve, args=(waiting, threads)) for _ in range(processes)]
    for pool in pools:
        pool.start()
    for pool in pools:
        pool.join()
    return 0


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _serve(waiting: queue.SimpleQueue[str], threads: int) -> None:
    """Keeps one worker busy until no job is waiting."""
    worker = None
    while True:
        try:
            line = waiting.get_nowait()
        except queue.Empty:
            break
        if worker is None:
            worker = _start(threads)
        answer = ""
        try:
            worker.stdin.write(line + "\n")
            worker.stdin.flush()
            answer = worker.stdout.readline()
        except OSError:
            pass  # the worker is gone, as an empty answer says too
        if not answer:
            status = worker.wait()
            worker = None
            answer = json.dumps(
                {"id": _id(line), "ok": False, "error": f"the process ended with status {status}"}
            )
        with _printing:
            print(answer.rstrip("\n"), flush=True)
    if worker is not None:
        worker.stdin.close()
        worker.wait()


def _start(threads: int) -> subprocess.Popen[str]:
    environment = dict(os.environ)
    for name in THREAD_VARIABLES:
        environment[name] = str(threads)
    # Without it cuBLAS does not promise the same bits twice.
    environment.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # Threads that wait give their core away: there may be other work on it.
    environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return subprocess.Popen(
        [sys.executable, "-m", "rivals", "worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def _id(line: str) -> object:
    try:
        return json.loads(line).get("id")
    except (ValueError, AttributeError):
        return None
