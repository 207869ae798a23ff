"""Times a fit from Python against the same fit from the command line.

    .venv/bin/python bench/python_fit.py [--nodes 8000] [--repeats 5]

Both are built by `make build python`. The two take turns. The command line's time
is that of the whole program, reading included, and of the fit alone, as fit.json
has it; Python's is that of the call of `fit`, with data in memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from linkproof import GraphEmbedding

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "target" / "release" / "linkproof"


def planted(nodes: int) -> tuple[np.ndarray, sp.csr_array]:
    """Ten groups: dense vectors of 100 entries, about ten links a node."""
    random = np.random.default_rng(0)
    groups = random.integers(0, 10, nodes)
    X = random.normal(size=(10, 100))[groups] + random.normal(size=(nodes, 100))
    members = [np.flatnonzero(groups == group) for group in range(10)]
    src = random.integers(0, nodes, 6 * nodes)
    dst = np.array([random.choice(members[groups[node]]) for node in src])
    links = np.unique(np.sort(np.column_stack([src, dst])[src != dst], axis=1), axis=0)
    matrix = sp.csr_array((np.ones(len(links)), links.T), shape=(nodes, nodes))
    return X.astype(np.float32), sp.csr_array(matrix + matrix.T)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=8000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    X, links = planted(args.nodes)
    times: dict[str, list[float]] = {"program": [], "fit alone": [], "python": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "x.npy", X)
        upper = sp.triu(links).tocoo()
        table = np.column_stack([upper.row, upper.col, upper.data])
        np.savetxt(folder / "links.csv", table, "%d", ",", header="src,dst,weight", comments="")
        line = [str(PROGRAM), "fit", "--links", "links.csv", "--features", "x.npy", "--out", "m",
                "--force", "--json"]  # fmt: skip
        for _ in range(args.repeats):
            start = time.perf_counter()
            done = subprocess.run(line, cwd=folder, capture_output=True, check=True)
            times["program"].append(time.perf_counter() - start)
            times["fit alone"].append(json.loads(done.stdout)["seconds"])
            start = time.perf_counter()
            model = GraphEmbedding(verbose=False).fit(X, links)
            times["python"].append(time.perf_counter() - start)
        same = np.array_equal(np.load(folder / "m" / "embeddings.npy"), model.embedding_)
    print(f"{args.nodes} nodes, {links.nnz // 2} links, {model.n_iter_} steps; same bits: {same}")
    for name, seconds in times.items():
        print(
            f"  {name:<10} {np.median(seconds):7.3f} s  ({min(seconds):.3f} to {max(seconds):.3f})"
        )
    ratios = np.array(times["python"]) / np.array(times["fit alone"])
    print(f"  python / fit alone: {np.median(ratios):.3f} (median of {args.repeats})")
    ratios = np.array(times["python"]) / np.array(times["program"])
    print(f"  python / program:   {np.median(ratios):.3f}")


if __name__ == "__main__":
    main()
