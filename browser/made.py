"""A page that the program itself wrote, of a small graph with hostile names.

python browser/made.py report.html
"""

from __future__ import annotations

import csv
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sample import HOSTILE

ROOT = Path(__file__).resolve().parent.parent
NODES, LINKS, GROUPS = 300, 1200, 3


def program() -> Path:
    """The program: that of LINKPROOF_PROGRAM, or the one that was built here."""
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "linkproof"
    return Path(os.environ.get("LINKPROOF_PROGRAM", built))


def names() -> list[str]:
    return HOSTILE + [f"node-{node:05d}" for node in range(len(HOSTILE), NODES)]


def write(path: Path, rows: list) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def page(folder: Path) -> Path:
    """Fits three groups in two views, with false links between them, and tells the
    folder's page. File, folder and the first nodes have names that are HTML."""
    draw = random.Random(1)
    ids = names()
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < LINKS:
        i, j = sorted(draw.sample(range(NODES), 2))
        false = len(pairs) % 20 == 0
        if (i % GROUPS != j % GROUPS) == false:
            pairs.add((i, j))
    links = [[ids[i], ids[j], draw.randint(1, 4)] for i, j in sorted(pairs)]
    write(folder / f"{HOSTILE[0]}.csv", [["src", "dst", "weight"], *links])
    for view in ("image", "text"):
        rows = [
            [name, *(f"{(node % GROUPS == group) + draw.gauss(0, 0.1):.4f}" for group in range(4))]
            for node, name in enumerate(ids)
            if (node % 4 == 0) == (view == "image")
        ]
        write(folder / f"{view}.csv", rows)
    views = [[name, "image" if node % 4 == 0 else "text"] for node, name in enumerate(ids)]
    write(folder / "nodes.csv", [["node", "view"], *views])
    classes = [HOSTILE[0], "class b", "class c"]
    labels = [[ids[node], classes[node % GROUPS]] for node in range(NODES) if node % 25]
    write(folder / "labels.csv", [["node", "label"], *labels])
    line = [program(), "fit", "--links", f"{HOSTILE[0]}.csv", "--nodes", "nodes.csv",
            "--features", "image=image.csv", "--features", "text=text.csv",
            "--labels", "labels.csv", "--dim", "8", "--select", "--report",
            "--quiet", "--out", HOSTILE[0]]  # fmt: skip
    subprocess.run(line, cwd=folder, check=True)
    return folder / HOSTILE[0] / "report.html"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        shutil.copyfile(page(Path(place)), sys.argv[1])
