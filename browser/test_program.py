"""Pages of single fits: what they say of their score, and what they call nodes."""

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


def test_nodes_and_classes_go_by_their_names(browser, program, links):
    hostile = "<b>Ann</b> & co"
    nodes = [f"{ring}{i},{hostile if ring + str(i) == 'a0' else f'Name {ring}{i}'}"
             for ring in "ab" for i in range(12)]  # fmt: skip
    links.with_name("nodes.csv").write_text("\n".join(["id,name", *nodes]))
    labels = [f"{ring}{i},{code},{name}" for ring, code, name in (("a", 0, "Rings"), ("b", 1, ""))
              for i in range(12)]  # fmt: skip
    links.with_name("labels.csv").write_text("\n".join(["node,label,label_name", *labels]))
    line = [program, "fit", "--links", links, "--nodes", links.with_name("nodes.csv"), "--labels",
            links.with_name("labels.csv"), "--dim", "2", "--report", "--quiet", "--out",
            links.with_name("named")]  # fmt: skip
    subprocess.run(line, check=True)
    opened = Opened(browser.new_page(), links.with_name("named") / "report.html")
    page = opened.page
    # By name and by id; a name that is HTML stays text.
    for wanted, shown in (("name b7", "Name b7 (b7)"), ("b7", "Name b7 (b7)"), ("ann", hostile)):
        page.fill("#search", wanted)
        assert page.locator("#suggestions li").first.inner_text().startswith(shown)
    page.press("#search", "Enter")
    card = page.locator("#card")
    assert card.locator("h3").inner_text() == hostile
    facts = dict(zip(card.locator("dt").all_inner_texts(), card.locator("dd").all_inner_texts()))
    assert facts["id"] == "a0" and facts["label"] == "Rings"
    names = page.locator("#link-table td.name")
    assert names.first.inner_text().startswith(("Name ", hostile))
    assert names.first.get_attribute("title").endswith(")")
    assert opened.errors == []
    page.close()
