"""The page of a robust fit: its verdict, beliefs and planted links."""

from __future__ import annotations

import base64
import random
import re
import subprocess
from pathlib import Path

import made
import pytest
import sample
from conftest import Opened

NODES, GROUPS, SOUND, FALSE = 240, 4, 900, 260


def robust_page(folder: Path, sound: int, wrong: int, false_weight: int) -> Path:
    """Groups that data vectors tell, with links inside them and between them."""
    draw = random.Random(3)
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < sound + wrong:
        i, j = sorted(draw.sample(range(NODES), 2))
        if (i % GROUPS == j % GROUPS) == (len(pairs) < sound):
            pairs.add((i, j))
    weights = [[i, j, 1 if i % GROUPS == j % GROUPS else false_weight] for i, j in sorted(pairs)]
    made.write(folder / "links.csv", [["src", "dst", "weight"], *weights])
    rows = [
        [node, *(f"{(column % GROUPS == node % GROUPS) + draw.gauss(0, 0.5):.4f}" for column in range(16))]
        for node in range(NODES)
    ]  # fmt: skip
    made.write(folder / "x.csv", rows)
    line = [made.program(), "fit", "--robust", "--links", "links.csv", "--features", "x.csv",
            "--dim", "8", "--report", "--quiet", "--out", "model"]  # fmt: skip
    subprocess.run(line, cwd=folder, check=True)
    return folder / "model" / "report.html"


@pytest.fixture(scope="module")
def judged(browser, program, tmp_path_factory):
    page = robust_page(tmp_path_factory.mktemp("robust"), SOUND, FALSE, 9)
    opened = Opened(browser.new_page(viewport={"width": 1280, "height": 1200}), page)
    yield opened
    assert opened.errors == []
    opened.page.close()


def column(opened: Opened, name: str) -> list[str]:
    return opened.page.evaluate(
        """(name) => {
          const table = document.querySelector("#link-table");
          const at = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === name);
          return [...table.tBodies[0].rows].map((row) => row.cells[at].textContent);
        }""",
        name,
    )


def test_the_verdict_stands_on_top(judged):
    said = judged.page.locator("#said li").all_inner_texts()
    assert said[0].startswith("Yes"), said
    links = next(text for text in said if "are flagged" in text)
    share = int(re.findall(r"About (\d+)%", links)[0])
    assert abs(share - 100 * FALSE / (SOUND + FALSE)) < 15, links
    assert any("carry information" in text for text in said)
    verdict, map_ = (judged.page.locator(one).bounding_box() for one in ("#verdict", "#map"))
    assert verdict["y"] + verdict["height"] <= map_["y"]
    assert judged.page.locator("nav a", has_text="Verdict").is_visible()
    judged.shot("verdict", full=True)


def test_planted_links_of_three_kinds_are_listed(judged):
    judged.page.locator("#implants summary").click()
    rows = judged.page.locator("#implant-table tbody tr")
    cells = [row.locator("td").all_inner_texts() for row in rows.all()]
    assert {row[0] for row in cells} == {
        "at random",
        "between popular nodes",
        "between similar nodes",
    }
    assert all(text.endswith("%") for row in cells for text in row[2:])


def test_links_stand_by_rank_and_say_why(judged):
    page = judged.page
    assert page.inner_text("#links-title") == "Least believed links"
    ranks = [int(text.replace(",", "")) for text in column(judged, "Rank")]
    assert ranks == list(range(1, len(ranks) + 1))
    ends = zip(column(judged, "From"), column(judged, "To"))
    crossing = [int(a) % GROUPS != int(b) % GROUPS for a, b in ends]
    assert sum(crossing[:100]) > 85
    assert sum("unlike" in text for text in column(judged, "Why")[:50]) > 40
    # The first click sorts by belief, the second turns the order round.
    page.click("#link-table th button:has-text('Belief')")
    least = [float(text.lstrip("<")) for text in column(judged, "Belief")]
    assert least == sorted(least) and least[0] < 0.3
    page.click("#link-table th button:has-text('Belief')")
    most = [float(text.lstrip("<")) for text in column(judged, "Belief")]
    assert most == sorted(most, reverse=True) and most[0] > 0.9
    page.locator("#link-table tbody tr").first.locator("td").first.click()
    judged.settle()
    card = page.inner_text("#card")
    assert "belief" in card and "why" in card
    page.get_by_label("Close the card").click()


def test_belief_filters_links_and_colours_nodes(judged):
    page = judged.page
    assert page.inner_text("#trust-label") == "Show links with belief"
    slider = page.locator("#trust")
    everything = judged.read("drawnLinks")
    assert everything == SOUND + FALSE
    slider.evaluate("(one) => { one.value = 100; one.dispatchEvent(new Event('input')); }")
    few = judged.read("drawnLinks")
    assert 100 <= few < everything / 2
    assert float(page.inner_text("#trust-value")) < 0.5
    assert 0 < judged.read("drawnSuspects") <= few
    slider.evaluate("(one) => { one.value = 1000; one.dispatchEvent(new Event('input')); }")
    page.select_option("#colour-by", "belief")
    judged.settle()
    legend = page.inner_text("#legend")
    assert "0.75 to 0.9" in legend or "0.5 to 0.75" in legend
    judged.shot("colour-belief")


def test_where_the_judge_abstains_the_page_says_so(browser, program, tmp_path_factory):
    # As many links inside groups as there are by chance.
    chance = SOUND // GROUPS
    page = robust_page(tmp_path_factory.mktemp("abstains"), chance, SOUND - chance, 1)
    opened = Opened(browser.new_page(), page)
    said = opened.page.locator("#said li").all_inner_texts()
    assert any("look random to everything that is known" in text for text in said)
    assert opened.page.locator("#implant-table").count() == 0
    assert opened.page.inner_text("#links-title") == "Least trusted links"
    assert opened.errors == []
    opened.page.close()


def test_figures_are_as_people_write_them(judged):
    facts = judged.page.locator("#facts dd").all_inner_texts()
    cells = judged.page.locator("#link-table td.number").all_inner_texts()
    assert len(facts) > 8 and len(cells) > 500
    for text in [*facts, *cells]:
        assert "e-" not in text and "e+" not in text, text
        for number in re.findall(r"[\d.,]+", text):
            # Three figures that matter; whole numbers and counts as they are.
            digits = number.replace(",", "").strip("0.").replace(".", "")
            assert len(digits) <= 3 or "." not in number, text


def darkness(opened: Opened) -> float:
    """How dark the map is on average, from 0 to 1."""
    picture = opened.page.locator("#scatter").screenshot()
    return opened.page.evaluate(
        """async (text) => {
          const image = new Image();
          image.src = "data:image/png;base64," + text;
          await image.decode();
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.width, image.height];
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          const { data } = context.getImageData(0, 0, image.width, image.height);
          let sum = 0;
          for (let i = 0; i < data.length; i += 4) sum += 3 * 255 - data[i] - data[i + 1] - data[i + 2];
          return sum / (data.length / 4) / (3 * 255);
        }""",
        base64.b64encode(picture).decode("ascii"),
    )


@pytest.mark.parametrize("links", [3_000, 60_000])
def test_lines_fade_so_that_the_map_stays_light(browser, tmp_path, links):
    path = tmp_path / "lines.html"
    path.write_text(sample.fill(sample.sample(1500, links, 3)), encoding="utf-8")
    page = Opened(browser.new_page(viewport={"width": 1280, "height": 1200}), path)
    page.page.uncheck("#show-suspects")
    page.settle()
    with_links = darkness(page)
    page.page.uncheck("#show-links")
    page.settle()
    without = darkness(page)
    assert without < with_links < without + 0.12, (without, with_links)
    page.page.check("#show-links")
    page.settle()
    page.shot(f"lines-{links}")
    assert page.errors == []
    page.page.close()


def test_more_suspects_than_can_be_seen_are_drawn_when_asked_for(browser, tmp_path):
    data = sample.sample(1500, 160_000, 3)
    few = sample.sample(300, 1200, 3)
    for name, made_up, hides in (("many", data, True), ("few", few, False)):
        path = tmp_path / f"{name}.html"
        path.write_text(sample.fill(made_up), encoding="utf-8")
        page = Opened(browser.new_page(), path)
        assert page.page.is_checked("#show-suspects") != hides
        status = page.page.inner_text("#links-status")
        assert ("would hide the map" in status) == hides, status
        assert (page.read("drawnSuspects") == 0) == hides
        page.page.check("#show-suspects")
        assert page.read("drawnSuspects") > 0
        assert page.errors == []
        page.page.close()
