"""Runs the code blocks of a page, in order, in a fresh folder.

    python docs/site/blocks.py PAGE...

Blocks marked sh, bash or python run; a block that fails, fails the page. Python blocks of
a page share their names. The folder holds the files that pages speak of (`made.py`), and
`linkproof datasets fetch` gives such a graph there, so that no network is needed. A comment
before a block says what differs from how it is printed:

    <!-- not run: why -->          the block does not run
    <!-- run with: 1e7=1e4 -->     these words stand for those
    <!-- needs: scanpy -->         anywhere: the page is left out where a module is missing
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import made

ROOT = Path(__file__).resolve().parents[2]
PIECE = re.compile(
    r"(?:<!-- (?P<how>not run|run with): (?P<what>[^>]*?) -->\n+)?"
    r"^```(?P<language>sh|bash|python)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
SHELL = ["bash", "-euo", "pipefail", "-c"]
# Takes the place of the program in pages: the network is not needed.
FETCH = """#!/usr/bin/env bash
if [ "${1-} ${2-}" = "datasets fetch" ]; then
    cp -r "$LINKPROOF_MADE/$3" .
else
    exec "$LINKPROOF_PROGRAM" "$@"
fi
"""


@dataclass
class Block:
    """A code block: its language, what runs, and why it does not."""

    language: str
    code: str
    skipped: str | None


def blocks(text: str) -> list[Block]:
    """The blocks of a page."""
    found = []
    for piece in PIECE.finditer(text):
        code, skipped = piece["code"], None
        if piece["how"] == "not run":
            skipped = piece["what"]
        elif piece["how"]:
            for change in piece["what"].split():
                old, new = change.split("=", 1)
                assert old in code, f"{old!r} is not in the block that it is to change"
                code = code.replace(old, new)
        found.append(Block(piece["language"], code, skipped))
    return found


def missing(text: str) -> list[str]:
    """The modules that a page needs and that are not here."""
    needs = re.search(r"<!-- needs: (.*?) -->", text)
    names = needs[1].split() if needs else []
    return [name for name in names if importlib.util.find_spec(name) is None]


def surroundings(place: Path) -> dict[str, str]:
    """Makes a folder ready for a page; the environment in which its blocks run."""
    program = Path(os.environ.get("LINKPROOF_PROGRAM", ROOT / "target/release/linkproof"))
    assert program.is_file(), f"{program} is not built"
    tools, data = place / "tools", place / "made"
    tools.mkdir(parents=True)
    (tools / "linkproof").write_text(FETCH)
    (tools / "linkproof").chmod(0o755)
    made.write(data)
    path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {
        "LINKPROOF_PROGRAM": str(program.resolve()),
        "LINKPROOF_MADE": str(data),
        "MPLBACKEND": "Agg",
        "PATH": path,
    }


def run(page: Path) -> None:
    """Runs the blocks of a page; the first that fails raises."""
    text = page.read_text()
    if absent := missing(text):
        print(f"{page}: left out, {', '.join(absent)} not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        env = surroundings(place / "around")
        work = place / "work"
        made.write(work)
        names: dict[str, object] = {"__name__": "__main__"}
        os.environ.update(env)
        os.chdir(work)
        for block in blocks(text):
            if block.skipped is not None:
                print(f"{page}: not run, {block.skipped}")
            elif block.language == "python":
                exec(compile(block.code, str(page), "exec"), names)
            else:
                subprocess.run([*SHELL, block.code], check=True, stdout=sys.stderr)
        os.chdir(ROOT)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        run(Path(name).resolve())
