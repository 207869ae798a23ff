"""Every code block of README and the documentation runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import blocks
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_BLOCKS = [page for page in PAGES if blocks.blocks(page.read_text())]


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run(page: Path) -> None:
    if absent := blocks.missing(page.read_text()):
        pytest.skip(f"needs {', '.join(absent)}; make docs runs it")
    # A process of its own: pages change the folder and the environment.
    command = [sys.executable, Path(blocks.__file__), page]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_no_block_escapes() -> None:
    """A block of a language that nobody runs is text, JSON, or Rust, which rustdoc tests."""
    for page in PAGES:
        lines = page.read_text().splitlines()
        marks = [
            line.strip().removeprefix("```") for line in lines if line.strip().startswith("```")
        ]
        for language in marks[::2]:
            assert language in {"sh", "bash", "python", "text", "json", "toml", "rust"}, page
        assert marks.count("rust") == 0 or page.name == "README.md", page
        indented = [line for line in lines if line.startswith(" ") and "```" in line]
        assert not indented, f"{page}: {indented}"


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text()) <= 9000


def test_what_a_comment_changes() -> None:
    page = (
        "<!-- run with: 1e7=3 -->\n```sh\necho 1e7\n```\n<!-- not run: why -->\n```python\nx\n```\n"
    )
    first, second = blocks.blocks(page)
    assert (first.code, first.skipped) == ("echo 3\n", None)
    assert second.skipped == "why"
    with pytest.raises(AssertionError):
        blocks.blocks("<!-- run with: 2=3 -->\n```sh\necho 1\n```\n")


def test_a_block_that_fails_fails_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for text in ("```sh\nfalse\ntrue\n```\n", "```python\nassert 1 == 2\n```\n"):
        page.write_text(text)
        command = [sys.executable, Path(blocks.__file__), page]
        assert subprocess.run(command, check=False, capture_output=True).returncode != 0
