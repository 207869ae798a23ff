"""Pages of single fits: what they say of their score."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import Opened


@pytest.fixture(scope="module")
def links(tmp_path_factory) -> Path:
    """Two rings that meet in one link."""
    folder = tmp_path_factory.mktemp("fits")
    rows = [
        f"{ring}{i},{ring}{(i + step) % 12},1"
        for ring in "ab"
        for i in range(12)
        for step in (1, 2)
    ]
    (folder / "links.csv").write_text("\n".join([*rows, "a0,b0,1"]))
    return folder / "links.csv"


@pytest.mark.parametrize("score", ["likelihood", "moment", "probability"])
def test_beta_is_a_fact_of_robust_scores(browser, program, links, score):
    line = [program, "fit", "--links", links, "--dim", "2", "--score", score, "--report",
            "--quiet", "--out", links.with_name(score)]  # fmt: skip
    subprocess.run(line, check=True)
    page = Opened(browser.new_page(), links.with_name(score) / "report.html")
    names = page.page.locator("#facts dt").all_inner_texts()
    assert names.count("beta") == (score != "likelihood")
    assert names.count("score") == 1
    assert "fit --links" in page.page.inner_text("#provenance")
    assert page.errors == []
    page.page.close()
