"""Does one job after the other: jobs come on stdin, answers go to stdout."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

from .data import OneView, TwoViews, load
from .registry import BY_NAME


def serve() -> int:
    # Libraries print as they please, some from C: what they write to stdout
    # goes to stderr, and the answers have a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(answer(line)), file=answers, flush=True)
    return 0


def answer(line: str) -> dict[str, object]:
    """Does the job of a line and says how it went; never raises."""
    job: dict[str, object] = {}
    try:
        job = json.loads(line)
        return {"id": job["id"], "ok": True, "seconds": round(do(job), 4)}
    except Exception as error:
        traceback.print_exc()
        named = f"no {error} given" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"
        name = job.get("id") if isinstance(job, dict) else None
        return {"id": name, "ok": False, "error": " ".join(named.split())}


def do(job: dict) -> float:
    """Fits, embeds, writes; the seconds of fitting and embedding alone."""
    name = job["rival"]
    if name not in BY_NAME:
        raise ValueError(f"no rival is called {name!r}; there are {', '.join(BY_NAME)}")
    rival = BY_NAME[name]
    data = load(Path(job["data"]))
    setting = job["setting"]
    rival.check(data, setting)
    embed = rival.function()
    started = time.perf_counter()
    if isinstance(data, TwoViews):
        rows = embed(data, setting, seed=int(job["seed"]))
    else:
        rows = embed(data, setting, clusters=int(job["clusters"]), seed=int(job["seed"]))
    seconds = time.perf_counter() - started
    _write(Path(job["out"]), _checked(rows, data))
    return seconds


def _checked(rows: np.ndarray, data: OneView | TwoViews) -> np.ndarray:
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    expected = len(data.test) if isinstance(data, OneView) else data.weights.shape[0]
    if rows.ndim != 2 or len(rows) != expected:
        raise ValueError(f"the result has shape {rows.shape}, where {expected} rows are due")
    if not np.isfinite(rows).all():
        raise ValueError("the result is not finite")
    return rows


def _write(file: Path, rows: np.ndarray) -> None:
    """To the side first: nobody reads half a file."""
    aside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with open(aside, "wb") as stream:
            np.save(stream, rows)
        os.replace(aside, file)
    finally:
        aside.unlink(missing_ok=True)
