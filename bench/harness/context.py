"""What every piece of work is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.workers import Worker, peer


@dataclass(frozen=True)
class Context:
    """Sizes, places and the number of threads of a run."""

    quick: bool
    threads: int
    repeats: int
    folder: Path
    program: Path
    driver_program: Path
    line_program: Path | str

    def driver(self) -> Worker:
        """A process of our library."""
        return Worker([str(self.driver_program), str(self.threads)], self.threads)

    def peer(self, module: str) -> Worker:
        """A process of a peer."""
        return peer(module, self.threads)
