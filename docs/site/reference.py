"""The reference: of the commands by what they say of themselves, of Python by docstrings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from latex2mathml.converter import convert

ROOT = Path(__file__).resolve().parents[2]
COMMON = "Everywhere:"


def help_of(program: Path, *words: str) -> str:
    """The long help of a command."""
    env = os.environ | {"COLUMNS": "100"}
    command = [program, *words, "--help"]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout


def names(text: str) -> list[str]:
    """The commands that a help lists."""
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
    found = [line.split()[0] for line in listed[1].splitlines()] if listed else []
    return [name for name in found if name != "help"]


def without_common(text: str) -> str:
    """A help without the options that every command has."""
    head, _, tail = text.partition(COMMON)
    rest = re.split(r"\n(?=[A-Z][^\n]*\n  \S)", tail, maxsplit=1)
    return (head.rstrip() + "\n\n" + rest[1] if len(rest) == 2 else head).rstrip()


def commands(program: Path) -> str:
    """The page of the commands."""
    top = help_of(program)
    parts = ["# Commands\n\nWhat `linkproof COMMAND --help` says, of every command.\n"]
    parts.append(f"```text\n{top.rstrip()}\n```\n")

    def add(words: list[str]) -> None:
        text = help_of(program, *words)
        title = "#" * (1 + len(words)) + " " + " ".join(words)
        parts.append(f"{title}\n\n```text\n{without_common(text)}\n```\n")
        for name in names(text):
            add([*words, name])

    for name in names(top):
        add([name])
    return "\n".join(parts)


def python(package: Path) -> str:
    """The page of the Python package; its sources go where mkdocstrings reads them."""
    shutil.rmtree(package, ignore_errors=True)
    source = ROOT / "python/linkproof"
    package.mkdir(parents=True)
    for file in source.glob("*.py*"):
        # Roles are for another tool.
        text = re.sub(r":(?:class|func|meth|mod|attr):`~?\.?([^`]+)`", r"`\1`", file.read_text())
        text = re.sub(r":math:`([^`]+)`", lambda found: f"<span>{convert(found[1])}</span>", text)
        text = re.sub(r"\.\. math:: (.+)", lambda found: convert(found[1], display="block"), text)
        (package / file.name).write_text(text)
    found = re.search(r"__all__ = \[(.*?)\]", (source / "__init__.py").read_text(), re.DOTALL)
    assert found, "linkproof/__init__.py lists what is public"
    public = [name for name in re.findall(r'"(\w+)"', found[1]) if name != "__version__"]
    first = ["GraphEmbedding", "inspect", "select", "measures"]
    ordered = [name for name in first if name in public]
    ordered += [name for name in public if name not in first]
    intro = "# Python\n\n[How to use it](../../python/README.md); here is every name.\n"
    return "\n".join([intro, *(f"::: linkproof.{name}\n" for name in ordered)])
