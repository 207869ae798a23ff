"""Repeated measurements of several contestants in turn."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from harness.workers import Failed, rest


@dataclass(frozen=True)
class Summary:
    """The median of some measurements and their spread."""

    median: float
    low: float
    high: float
    count: int

    @staticmethod
    def of(values: list[float]) -> Summary:
        """Of at least one measurement."""
        return Summary(statistics.median(values), min(values), max(values), len(values))

    def words(self, unit: str, factor: float = 1.0) -> str:
        """`1.23 s (1.20-1.31)`."""
        shown = [number(x * factor) for x in (self.median, self.low, self.high)]
        return f"{shown[0]} {unit} ({shown[1]}-{shown[2]})"


def number(x: float) -> str:
    """Three digits that count."""
    if x == 0 or not math.isfinite(x):
        return str(x)
    digits = max(0, 2 - math.floor(math.log10(abs(x))))
    return f"{x:,.{digits}f}"


Outcome = Summary | Failed


def interleave(contestants: dict[str, Callable[[], float]], repeats: int) -> dict[str, Outcome]:
    """Calls every contestant in turn, `repeats` times over; one that fails is
    left out from then on and its reason kept."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    failures: dict[str, Failed] = {}
    for _ in range(repeats):
        for name, measure in contestants.items():
            if name in failures:
                continue
            rest()
            try:
                seconds[name].append(measure())
            except Failed as failure:
                failures[name] = failure
    return {name: failures.get(name) or Summary.of(seconds[name]) for name in contestants}


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """The slope of log seconds against log size, by least squares."""
    x = [math.log(size) for size in sizes]
    y = [math.log(second) for second in seconds]
    x_mean, y_mean = statistics.fmean(x), statistics.fmean(y)
    cross = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y))
    return cross / sum((a - x_mean) ** 2 for a in x)
