"""Formulas as MathML, which browsers draw without a script: `$...$` and `$$...$$`."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^\s$](?:[^$\n]*[^\s$])?)\$", re.DOTALL)
PAGE = "docs/mathematics.md"
drawn: list[str] = []


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Keeps formulas from being read as Markdown."""
    if page.file.src_uri != PAGE:
        return markdown

    def keep(found: re.Match[str]) -> str:
        display = "block" if found[1] else "inline"
        drawn.append(convert(found[1] or found[2], display=display))
        return f"FORMULA{len(drawn) - 1}X"

    return FORMULA.sub(keep, markdown)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Puts them in."""
    if page.file.src_uri != PAGE:
        return html
    return re.sub(r"FORMULA(\d+)X", lambda found: drawn[int(found[1])], html)
