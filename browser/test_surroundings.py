"""The report page elsewhere: dark, on a phone, on paper, without WebGL, with very little
and with very much data."""

from __future__ import annotations

import time

import pytest
import sample
from conftest import CHROMIUM, NO_WEBGL, QUIET, SCREENSHOTS, Opened


def near(colours: set, wanted: str, slack: int = 24) -> bool:
    target = [int(wanted[i : i + 2], 16) for i in (1, 3, 5)]
    return any(all(abs(a - b) <= slack for a, b in zip(one, target)) for one in colours)


def test_dark_and_light(browser, small):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="dark")
    page = Opened(context.new_page(), small)
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.page.evaluate(background) == "rgb(15, 17, 21)"
    corner = page.page.locator("#scatter").bounding_box()
    assert near(page.colours(corner["x"] + 20, corner["y"] + 20), "#15181d", 2)
    page.shot("dark-full", full=True)
    page.page.locator("#theme").click()
    page.settle()
    assert page.page.evaluate(background) == "rgb(246, 247, 248)"
    assert near(page.colours(corner["x"] + 20, corner["y"] + 20), "#ffffff", 2)
    assert page.errors == []
    context.close()


def test_phone(browser, small):
    context = browser.new_context(
        viewport={"width": 390, "height": 844},
        device_scale_factor=2,
        has_touch=True,
        is_mobile=True,
    )
    page = Opened(context.new_page(), small)
    width = page.page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    page.shot("phone")
    page.page.locator("#stage").scroll_into_view_if_needed()
    page.page.touchscreen.tap(*page.read("nodePlace(50)"))
    page.settle()
    assert page.read("pinned") >= 0
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 390
    page.shot("phone-pinned")
    # Two fingers move apart.
    start = page.read("view")["scale"]
    box = page.page.locator("#scatter").bounding_box()
    touch = context.new_cdp_session(page.page)
    for kind, apart in (
        ("touchStart", 30),
        ("touchMove", 45),
        ("touchMove", 60),
        ("touchEnd", 0),
    ):
        points = [{"x": 195 + side * apart, "y": box["y"] + 80, "id": side} for side in (-1, 1)]
        points = [] if kind == "touchEnd" else [{**one, "id": i} for i, one in enumerate(points)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.settle()
    assert page.read("view")["scale"] == pytest.approx(2 * start, rel=0.1)
    assert page.errors == []
    context.close()
    context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True)
    page = Opened(context.new_page(), small)
    page.shot("phone-full", full=True)
    context.close()


def test_print(browser, small):
    context = browser.new_context(viewport={"width": 1000, "height": 1200}, color_scheme="dark")
    page = Opened(context.new_page(), small)
    page.page.emulate_media(media="print", color_scheme="dark")
    page.page.wait_for_timeout(300)
    assert page.page.locator("#print-image").get_attribute("src").startswith("data:image/png")
    assert not page.page.locator("#stage").is_visible()
    assert not page.page.locator("#search").is_visible()
    assert (
        page.page.evaluate("getComputedStyle(document.body).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    page.shot("print", full=True)
    page.page.emulate_media(media="screen")
    page.page.wait_for_timeout(200)
    assert page.page.locator("#stage").is_visible()
    assert not page.page.locator("#print-image").is_visible()
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.page.emulate_media(media="null")
    page.page.pdf(path=SCREENSHOTS / "print.pdf", print_background=False)
    assert page.errors == []
    context.close()


def test_without_webgl(chromium, small):
    plain = chromium.launch(executable_path=CHROMIUM, args=QUIET + NO_WEBGL)
    page = Opened(plain.new_page(viewport={"width": 1280, "height": 900}), small)
    assert page.read("renderer") == "canvas"
    assert "no WebGL" in page.page.locator("#problem").inner_text()
    page.page.uncheck("#show-links")
    page.page.uncheck("#show-suspects")
    page.settle()
    assert page.colours(*page.read("nodePlace(50)")) != {(255, 255, 255)}
    page.page.mouse.move(*page.read("nodePlace(50)"))
    page.settle()
    assert page.read("hovered") >= 0
    page.page.check("#show-links")
    page.page.check("#show-suspects")
    page.settle()
    page.shot("no-webgl")
    assert page.errors == []
    plain.close()


def test_bare_data(browser, tmp_path):
    """Without ids, labels, views, selection and held-out scores, and with few links."""
    data = sample.sample(40, 60, 2)
    data["nodes"].update(ids=None, views=[], view=None, labels=[], label=None)
    data["selection"] = None
    data["history"]["held_out"] = [None] * len(data["history"]["step"])
    data["links"]["n"] = 1000
    data["notes"] = []
    path = tmp_path / "bare.html"
    path.write_text(sample.fill(data), encoding="utf-8")
    page = Opened(browser.new_page(viewport={"width": 1280, "height": 900}), path)
    assert page.page.locator("#colour-by option").all_inner_texts() == [
        "Cluster",
        "Degree",
    ]
    page.page.fill("#search", "17")
    page.page.keyboard.press("Enter")
    page.page.wait_for_timeout(500)
    page.settle()
    assert page.read("pinned") == 17
    lead = page.page.locator("#links-lead").inner_text()
    assert "Of 1,000 links the page holds 60" in lead
    page.shot("bare-full", full=True)
    assert page.errors == []
    page.page.close()


def test_next_to_nothing(browser, tmp_path):
    """Two nodes, no link, no history, no class of a histogram."""
    data = sample.sample(40, 60, 2)
    nodes, links = data["nodes"], data["links"]
    nodes.update(n=2, ids=["a", "b"], views=[], view=None, labels=[], label=None, clusters=1)
    for name, kind in (
        ("x", "f32"),
        ("y", "f32"),
        ("degree", "u32"),
        ("cluster", "i32"),
    ):
        nodes[name] = sample.packed(kind, [0, 0])
    links.update(n=0, shown=0)
    for name in ("src", "dst", "weight", "mu", "trust", "suspect"):
        (kind,) = links[name]
        links[name] = {kind: ""}
    data.update(selection=None, facts=[], notes=[], inputs=[], parameters={})
    data["history"] = {
        "step": [],
        "value": [],
        "held_out": [],
        "best_step": None,
        "stop_reason": None,
    }
    data["degrees"] = data["weights"] = {"labels": [], "observed": [], "expected": []}
    path = tmp_path / "nothing.html"
    path.write_text(sample.fill(data), encoding="utf-8")
    page = Opened(browser.new_page(viewport={"width": 1280, "height": 900}), path)
    assert page.read("drawnLinks") == 0
    assert page.page.locator("#figures figure").count() == 0
    page.shot("nothing-full", full=True)
    assert page.errors == []
    page.page.close()


# A drag of three seconds, in frames of the page itself.
DRAG = """async () => {
  const canvas = document.getElementById("scatter");
  const box = canvas.getBoundingClientRect();
  canvas.setPointerCapture = () => {};
  const send = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
    pointerId: 7, button: 0, pointerType: "mouse", bubbles: true,
    clientX: box.left + x, clientY: box.top + y }));
  send("pointerdown", 400, 300);
  const start = performance.now();
  let frames = 0;
  await new Promise((done) => {
    const step = () => {
      const passed = performance.now() - start;
      frames++;
      send("pointermove", 400 + 150 * Math.sin(passed / 300), 300 + 80 * Math.cos(passed / 250));
      if (passed < 3000) requestAnimationFrame(step);
      else done(passed);
    };
    requestAnimationFrame(step);
  });
  send("pointerup", 400, 300);
  return frames / ((performance.now() - start) / 1000);
}"""


def test_large(browser, large, record_property, capsys):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    started = time.monotonic()
    page = Opened(tab, large)
    complete = time.monotonic() - started
    size = large.stat().st_size / 1e6
    paints = tab.evaluate(
        "performance.getEntriesByType('paint').map((one) => [one.name, one.startTime])"
    )
    marks = tab.evaluate(
        "performance.getEntriesByType('mark').map((one) => [one.name, Math.round(one.startTime)])"
    )
    page.shot("large")
    with_links = tab.evaluate(DRAG)
    page.shot("large-moving")
    tab.uncheck("#show-links")
    tab.uncheck("#show-suspects")
    page.settle()
    without = tab.evaluate(DRAG)
    page.settle()
    tab.fill("#search", "node-54321")
    tab.keyboard.press("Enter")
    tab.check("#show-suspects")
    tab.wait_for_timeout(600)
    page.settle()
    assert page.read("pinned") == 54321
    page.shot("large-found")
    with capsys.disabled():
        print(
            f"\nlarge page: {size:.1f} MB; {paints}; {marks}; all links drawn after"
            f" {complete:.1f} s; {with_links:.0f} frames a second while panning,"
            f" {without:.0f} without links"
        )
    assert size < 30
    assert page.errors == []
    context.close()
