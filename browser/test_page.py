"""The report page in a browser: what it draws, how it is used, and that it stays
by itself. The page is one that the program wrote (made.py).

    pip install -r browser/requirements.txt
    pytest browser

Chromium is taken from LINKPROOF_CHROMIUM or /usr/bin/chromium. Screenshots go to the
folder of LINKPROOF_SCREENSHOTS (default: target/screenshots).
"""

from __future__ import annotations

import made
import pytest
import sample


def test_the_sources_cannot_end_their_elements():
    page = (sample.PAGE / "page.html").read_text(encoding="utf-8")
    names = sample.script_names(page)
    assert sorted(names) == sorted(path.name for path in sample.PAGE.glob("*.js"))
    for path in [*sample.PAGE.glob("*.js"), *sample.PAGE.glob("vendor/*.js")]:
        text = path.read_text(encoding="utf-8").lower()
        assert "</script" not in text and "<!--" not in text, path.name
    for name in names:
        text = (sample.PAGE / name).read_text(encoding="utf-8")
        assert len(text.splitlines()) < 300, name
        assert "innerHTML" not in text and "insertAdjacentHTML" not in text, name
    assert "</style" not in (sample.PAGE / "page.css").read_text(encoding="utf-8").lower()


def test_it_loads_by_itself(opened):
    assert opened.read("renderer") == "webgl"
    files = [url for url in opened.requests if url.startswith("file:")]
    assert len(files) == 1
    opened.shot("small")
    opened.shot("small-full", full=True)


def test_facts_are_those_of_the_fit(opened):
    names = opened.page.locator("#facts dt").all_inner_texts()
    assert len(set(names)) == len(names), "each once"
    facts = dict(zip(names, opened.page.locator("#facts dd").all_inner_texts()))
    assert (facts["nodes"], facts["links"]) == (f"{made.NODES}", f"{made.LINKS:,}")
    assert facts["score"] in ("likelihood", "probability")
    assert ("beta" in facts) == (facts["score"] != "likelihood")
    figures = opened.page.locator("#figures figcaption").all_inner_texts()
    (choice,) = [text for text in figures if "Chosen, ringed" in text]
    assert ("beta" in choice.split("Chosen, ringed")[1]) == ("beta" in facts)


def test_nodes_are_drawn_where_they_are(opened):
    page = opened.page
    page.uncheck("#show-links")
    page.uncheck("#show-suspects")
    page.select_option("#colour-by", "cluster")
    opened.settle()
    for node in (10, 50, 200):
        assert opened.colours(*opened.read(f"nodePlace({node})")) != {(255, 255, 255)}
    corner = page.locator("#scatter").bounding_box()
    assert opened.colours(corner["x"] + 20, corner["y"] + 20) == {(255, 255, 255)}


def test_hover_shows_the_node_and_a_click_pins_it(opened):
    page = opened.page
    left, top = opened.read("nodePlace(50)")
    page.mouse.move(left, top)
    opened.settle()
    node = opened.read("hovered")
    name = opened.read(f"nodeName({node})")
    card = page.locator("#card")
    assert name in card.inner_text()
    assert "degree" in card.inner_text() and "Least trusted links" in card.inner_text()
    opened.shot("hover")
    page.mouse.click(left, top)
    page.mouse.move(10, 10)
    opened.settle()
    assert opened.read("pinned") == node
    assert name in card.inner_text()
    opened.shot("pinned")
    page.get_by_label("Close the card").click()
    assert opened.read("pinned") == -1
    assert not card.is_visible()


def test_search_finds_and_centres(opened):
    page = opened.page
    page.fill("#search", "NODE-0012")
    assert page.locator("#suggestions li").count() == 8
    assert "10 nodes match" in page.locator("#search-status").inner_text()
    opened.shot("search")
    page.fill("#search", "node-00123")
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    opened.settle()
    assert opened.read("pinned") == 123
    box = page.locator("#scatter").bounding_box()
    left, top = opened.read("nodePlace(123)")
    assert abs(left - box["x"] - box["width"] / 2) < 2
    assert abs(top - box["y"] - box["height"] / 2) < 2
    assert "node-00123" in page.locator("#search-status").inner_text()
    opened.shot("found")
    page.fill("#search", "nowhere")
    assert "No node matches" in page.locator("#search-status").inner_text()


def test_colours_and_legend(opened):
    page = opened.page
    page.uncheck("#show-links")
    page.uncheck("#show-suspects")
    legend = page.locator("#legend")
    places = [opened.read(f"nodePlace({node})") for node in (30, 60, 90)]
    seen = {}
    for by in ("label", "cluster", "view", "degree"):
        page.select_option("#colour-by", by)
        opened.settle()
        seen[by] = (
            legend.inner_text(),
            [frozenset(opened.colours(*at)) for at in places],
        )
        opened.shot(f"colour-{by}")
    assert len({text for text, _ in seen.values()}) == 4
    assert seen["label"][1] != seen["degree"][1]
    assert "class b" in seen["label"][0] and "text" in seen["view"][0]
    # One entry kept, the others dimmed.
    page.select_option("#colour-by", "cluster")
    opened.settle()
    before = [opened.colours(*opened.read(f"nodePlace({node})")) for node in range(20, 40)]
    first = legend.locator("button").first
    first.click()
    opened.settle()
    assert legend.locator("button").first.get_attribute("aria-pressed") == "true"
    after = [opened.colours(*opened.read(f"nodePlace({node})")) for node in range(20, 40)]
    assert before != after
    opened.shot("dimmed")


def test_trust_and_checkboxes_choose_links(opened):
    page = opened.page
    everything = opened.read("drawnLinks")
    suspects = opened.read("drawnSuspects")
    assert everything == made.LINKS and 0 < suspects < 200
    slider = page.locator("#trust")
    slider.focus()
    slider.evaluate("(one) => { one.value = 300; one.dispatchEvent(new Event('input')); }")
    upto = opened.read("drawnLinks")
    assert 300 <= upto < everything
    opened.settle()
    opened.shot("trust")
    page.select_option("#trust-side", "from")
    above = opened.read("drawnLinks")
    assert 0 < above < everything and upto + above >= everything
    slider.evaluate("(one) => { one.value = 0; one.dispatchEvent(new Event('input')); }")
    assert opened.read("drawnLinks") == everything
    page.uncheck("#show-links")
    assert opened.read("drawnLinks") == suspects
    page.uncheck("#show-suspects")
    assert opened.read("drawnLinks") == 0
    assert "0 of 1,200 links drawn" in page.locator("#links-status").inner_text()


def test_hostile_names_stay_text(opened):
    page = opened.page
    assert page.locator("h1").inner_text() == sample.HOSTILE[0]
    assert sample.HOSTILE[0] in page.title()
    for name in sample.HOSTILE[:4]:
        page.fill("#search", name)
        page.keyboard.press("Enter")
        page.wait_for_timeout(450)
        opened.settle()
        assert name in page.locator("#card h3").inner_text()
    opened.shot("hostile")
    assert sample.HOSTILE[0] in page.locator("#legend").inner_text()
    assert sample.HOSTILE[0] in page.locator("#provenance").inner_text()
    page.locator("#link-table th button", has_text="From").click()
    assert page.locator("body img").count() == 1  # the one for paper
    assert page.locator("body b").count() == 0
    assert page.locator("script").count() == 3
    assert opened.dialogs == []


def test_the_list_sorts_and_leads_to_the_map(opened):
    page = opened.page
    rows = page.locator("#link-table tbody tr")
    assert rows.count() == 200
    page.click("#more-links")
    assert rows.count() == 400

    def column(name: str) -> list[str]:
        return page.evaluate(
            "(name) => { const heads = [...document.querySelectorAll('#link-table th')];"
            " const at = heads.findIndex((head) => head.textContent.includes(name));"
            " return [...document.querySelectorAll('#link-table tbody tr')]"
            ".map((row) => row.cells[at].textContent); }",
            name,
        )

    trust = page.locator("#link-table th", has_text="Trust")
    assert trust.get_attribute("aria-sort") == "ascending"
    trusts = [float(x) for x in column("Trust")]
    assert trusts == sorted(trusts)
    weight = page.locator("#link-table th", has_text="Weight")
    weight.locator("button").click()
    assert weight.get_attribute("aria-sort") == "ascending"
    assert trust.get_attribute("aria-sort") is None
    weight.locator("button").click()
    assert weight.get_attribute("aria-sort") == "descending"
    weights = [float(x) for x in column("Weight")]
    assert weights == sorted(weights, reverse=True) and len(weights) == 200
    page.check("#only-suspects")
    assert set(column("Suspect")) == {"suspect"}
    before = opened.read("view")
    rows.first.locator("td").first.click()
    page.wait_for_timeout(600)
    opened.settle()
    assert opened.read("view") != before
    assert "Link" in page.locator("#card").inner_text()
    opened.shot("link")


def test_keyboard(opened):
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    opened.shot("skip")
    order = []
    for _ in range(28):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id"))
    wanted = [
        "theme",
        "search",
        "colour-by",
        "show-links",
        "show-suspects",
        "trust-side",
        "trust",
    ]
    wanted += ["scatter", "zoom-in"]
    assert [one for one in order if one in wanted] == wanted
    page.focus("#trust")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "scatter"
    start = opened.read("view")
    page.keyboard.press("ArrowRight")
    opened.settle()
    assert opened.read("view")["x"] > start["x"]
    page.keyboard.press("ArrowUp")
    opened.settle()
    assert opened.read("view")["y"] > start["y"]
    page.keyboard.press("+")
    opened.settle()
    assert opened.read("view")["scale"] > start["scale"]
    page.locator("#stage").scroll_into_view_if_needed()
    opened.shot("keyboard")
    page.keyboard.press("-")
    opened.settle()
    assert opened.read("view")["scale"] == pytest.approx(start["scale"])
    page.keyboard.press("n")
    opened.settle()
    node = opened.read("hovered")
    assert node >= 0
    page.keyboard.press("Enter")
    assert opened.read("pinned") == node
    page.keyboard.press("Escape")
    assert opened.read("pinned") == -1
    page.keyboard.press("0")
    page.wait_for_timeout(600)
    opened.settle()
    assert opened.read("view") == start


def test_wheel_drag_and_buttons(opened):
    page = opened.page
    start = opened.read("view")
    box = page.locator("#scatter").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.wheel(0, -240)
    opened.settle()
    assert opened.read("view")["scale"] > start["scale"]
    page.click("#zoom-out")
    page.click("#zoom-reset")
    page.wait_for_timeout(500)
    opened.settle()
    assert opened.read("view") == start
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 200, steps=5)
    page.mouse.up()
    opened.settle()
    moved = (start["x"] - opened.read("view")["x"]) * start["scale"]
    assert 60 < moved <= 100
    assert opened.read("pinned") == -1


def test_the_command_is_copied(opened):
    page = opened.page
    page.locator(".command button").click()
    page.wait_for_timeout(100)
    assert page.locator(".command button").inner_text() in ("Copied", "Press Ctrl+C")
