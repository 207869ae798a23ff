"""Pages in a browser, for the tests."""

from __future__ import annotations

import base64
import os
import time
from pathlib import Path

import made
import pytest
import sample

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = os.environ.get("LINKPROOF_CHROMIUM", "/usr/bin/chromium")
SCREENSHOTS = Path(os.environ.get("LINKPROOF_SCREENSHOTS", ROOT / "target/screenshots"))
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# WebGL without a graphics card.
SOFTWARE = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
NO_WEBGL = ["--disable-3d-apis"]


@pytest.fixture(scope="session")
def chromium():
    """Where there is no browser, tests are skipped and say so."""
    reason = "no playwright: pip install -r browser/requirements.txt"
    sync_playwright = pytest.importorskip("playwright.sync_api", reason=reason).sync_playwright
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}; set LINKPROOF_CHROMIUM")
    with sync_playwright() as playwright:
        yield playwright.chromium


@pytest.fixture(scope="session")
def browser(chromium):
    made = chromium.launch(executable_path=CHROMIUM, args=QUIET + SOFTWARE)
    yield made
    made.close()


@pytest.fixture(scope="session")
def program() -> Path:
    found = made.program()
    if not found.exists():
        pytest.skip(f"no program at {found}: cargo build --release, or set LINKPROOF_PROGRAM")
    return found


@pytest.fixture(scope="session")
def small(program, tmp_path_factory) -> Path:
    """A page that the program wrote."""
    return made.page(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="session")
def large(tmp_path_factory) -> Path:
    """More than a test has time to fit."""
    path = tmp_path_factory.mktemp("page") / "large.html"
    path.write_text(sample.fill(sample.large()), encoding="utf-8")
    return path


class Opened:
    """A page with what it said and asked for."""

    def __init__(self, page, path: Path):
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        page.on("console", self.said)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", self.asked)
        # Nothing but the file itself and what the page holds is let through.
        page.route(
            lambda url: not url.startswith(("file:", "data:", "blob:")),
            lambda route: route.abort(),
        )
        page.goto(path.as_uri())
        self.wait("document.documentElement.dataset.ready === ''")
        self.wait("linkproof.complete")

    def said(self, message):
        if message.type == "error":
            self.errors.append(message.text)

    def asked(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def wait(self, condition: str, seconds: float = 90):
        """Playwright's own waiting makes code from text, which the page forbids."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(f"Boolean({condition})"):
            assert time.monotonic() < end, f"waited in vain for {condition}"
            self.page.wait_for_timeout(30)

    def settle(self):
        self.page.wait_for_timeout(60)
        self.wait("linkproof.complete")

    def read(self, expression: str):
        return self.page.evaluate(f"linkproof.{expression}")

    def shot(self, name: str, full: bool = False):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=full)

    def colours(self, left: float, top: float, size: int = 5) -> set:
        """The colours around a place of the window, as they are on the screen."""
        box = {"x": left - size / 2, "y": top - size / 2, "width": size, "height": size}
        picture = self.page.screenshot(clip=box)
        text = base64.b64encode(picture).decode("ascii")
        return {
            tuple(one)
            for one in self.page.evaluate(
                """async (text) => {
                  const image = new Image();
                  image.src = "data:image/png;base64," + text;
                  await image.decode();
                  const canvas = document.createElement("canvas");
                  [canvas.width, canvas.height] = [image.width, image.height];
                  const context = canvas.getContext("2d");
                  context.drawImage(image, 0, 0);
                  const { data } = context.getImageData(0, 0, image.width, image.height);
                  const found = [];
                  for (let i = 0; i < data.length; i += 4) found.push([...data.slice(i, i + 3)]);
                  return found;
                }""",
                text,
            )
        }


@pytest.fixture
def opened(browser, small):
    # High enough for the whole map.
    context = browser.new_context(viewport={"width": 1280, "height": 1600})
    page = Opened(context.new_page(), small)
    yield page
    assert page.errors == []
    assert page.dialogs == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    context.close()
