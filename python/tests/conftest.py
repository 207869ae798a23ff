"""What the tests share: small graphs with planted groups, and the command line."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[2]


class Planted:
    """A graph of three groups, with data vectors that tell them apart."""

    def __init__(self, n: int = 90, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.groups = np.arange(n) % 3
        self.X = np.eye(3)[self.groups] @ random.normal(size=(3, 8))
        self.X += 0.4 * random.normal(size=(n, 8))
        chance = np.where(self.groups[:, None] == self.groups, 0.3, 0.01)
        self.edges = np.argwhere(np.triu(random.random((n, n)) < chance, 1))
        self.weights = 1.0 + random.poisson(2.0, len(self.edges))
        self.triangle = sp.csr_array((self.weights, self.edges.T), shape=(n, n))
        self.matrix = sp.csr_array(self.triangle + self.triangle.T)
        self.listed = np.column_stack([self.edges, self.weights])


@pytest.fixture(scope="session")
def planted() -> Planted:
    return Planted()


@pytest.fixture(scope="session")
def command() -> Any:
    """Runs the command line, which must have been built."""
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "linkproof"
    program = Path(os.environ.get("LINKPROOF_PROGRAM", built))
    if not program.exists():
        pytest.skip(
            f"no command line at {program}: cargo build --release, or set LINKPROOF_PROGRAM"
        )

    def run(*words: object) -> str:
        line = [str(program), *(str(word) for word in words)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def cluster() -> Any:
    """Four nodes of Ray with a CPU each; this process is at the first."""
    from ray_cluster import end, local_cluster

    cluster = local_cluster(4)
    yield cluster
    end(cluster)
