"""Pages that the program itself wrote."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Opened

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def program() -> Path:
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "linkproof"
    found = Path(os.environ.get("LINKPROOF_PROGRAM", built))
    if not found.exists():
        pytest.skip(f"no program at {found}: cargo build --release, or set LINKPROOF_PROGRAM")
    return found


@pytest.fixture(scope="module")
def fitted(program, tmp_path_factory) -> Path:
    """A page of a graph of three groups, one node of which has a hostile name."""
    folder = tmp_path_factory.mktemp("fit")
    draw = random.Random(0)
    names = [f"node {node}" for node in range(120)]
    names[5] = HOSTILE
    rows = ["src,dst,weight"]
    for i in range(120):
        for j in range(i):
            if draw.random() < (0.2 if i % 3 == j % 3 else 0.01):
                rows.append(f'"{names[i]}","{names[j]}",{draw.randint(1, 4)}')
    (folder / "links.csv").write_text("\n".join(rows))
    labels = [f'"{name}",{"<b>" if node % 3 else "group & co"}' for node, name in enumerate(names)]
    (folder / "labels.csv").write_text("\n".join(["node,label", *labels]))
    line = [program, "fit", "--links", "links.csv", "--labels", "labels.csv", "--dim", "8",
            "--select", "--ridges", "1,10", "--folds", "2", "--report", "--quiet", "--out", "m"]  # fmt: skip
    subprocess.run(line, cwd=folder, check=True)
    return folder / "m" / "report.html"


def test_a_page_of_a_fit(browser, fitted):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = Opened(context.new_page(), fitted)
    assert opened.errors == []
    assert opened.dialogs == []
    assert [url for url in opened.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert opened.read("drawnLinks") > 100
    names = [opened.read(f"nodeName({node})") for node in range(120)]
    assert HOSTILE in names
    text = opened.page.inner_text("body")
    assert "likelihood" in text
    assert "fit --links links.csv" in text
    # The label <b> is text, not an element.
    assert "<b>" in text
    assert opened.page.locator("body b").count() == 0
    opened.shot("program", full=True)
    context.close()
