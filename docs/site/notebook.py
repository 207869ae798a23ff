"""A tutorial as a notebook: run, and written down with what came out."""

from __future__ import annotations

import base64
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import blocks
import nbformat
from nbclient import NotebookClient

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def notebook(text: str) -> Any:
    """The page as a notebook: text and code in turns."""
    cells, place = [], 0
    for piece in blocks.PIECE.finditer(text):
        cells.append(nbformat.v4.new_markdown_cell(text[place : piece.start()].strip()))
        magic = "" if piece["language"] == "python" else "%%bash -e\n"
        cells.append(nbformat.v4.new_code_cell(magic + piece["code"].strip()))
        place = piece.end()
    cells.append(nbformat.v4.new_markdown_cell(text[place:].strip()))
    return nbformat.v4.new_notebook(cells=[cell for cell in cells if cell.source])


def run(page: Path) -> Any:
    """Runs a page; a cell that fails raises."""
    made = notebook(page.read_text())
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(blocks.surroundings(Path(folder) / "around"))
        work = Path(folder) / "work"
        work.mkdir()
        client = NotebookClient(
            made,
            timeout=600,
            resources={"metadata": {"path": str(work)}},
            extra_arguments=["--IPKernelApp.log_level=40"],
        )
        client.execute()
    return made


def output(found: Any, folder: Path, name: str) -> str:
    """What a cell gave, as Markdown."""
    if found.output_type == "stream":
        return f"```text\n{COLOURS.sub('', found.text).rstrip()}\n```"
    data = found.get("data", {})
    if "image/png" in data:
        (folder / f"{name}.png").write_bytes(base64.b64decode(data["image/png"]))
        return f"![]({name}.png)"
    if "text/html" in data:
        return re.sub(r"<style.*?</style>", "", data["text/html"], flags=re.DOTALL)
    return f"```text\n{data.get('text/plain', '')}\n```"


def markdown(made: Any, folder: Path, name: str) -> str:
    """A notebook that has run, as a page; pictures go into the folder."""
    parts = []
    for place, cell in enumerate(made.cells):
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        code, language = cell.source, "python"
        if code.startswith("%%bash"):
            code, language = code.split("\n", 1)[1], "bash"
        parts.append(f"```{language}\n{code}\n```")
        # Warnings of other packages are not what the page is about.
        shown = [
            found for found in cell.outputs if found.get("name") != "stderr" or language == "bash"
        ]
        parts += [output(found, folder, f"{name}-{place}-{k}") for k, found in enumerate(shown)]
    return "\n\n".join(parts) + "\n"


def write(page: Path, target: Path) -> None:
    """Runs a page and writes it, its notebook and its pictures."""
    made = run(page)
    nbformat.write(made, target.with_suffix(".ipynb"))
    text = markdown(made, target.parent, target.stem)
    title, rest = text.split("\n", 1)
    target.write_text(f"{title}\n\n[This page as a notebook]({target.stem}.ipynb)\n{rest}")
