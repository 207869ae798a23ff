"""What mkdocs does not do by itself.

Formulas become MathML, which browsers draw without a script: `$...$` and `$$...$$`. A star
in the navigation stands for all pages of a folder.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^\s$](?:[^$\n]*[^\s$])?)\$", re.DOTALL)
PAGE = "docs/mathematics.md"
drawn: list[str] = []


def expanded(item: Any, pages: Path) -> list[Any]:
    """An entry of the navigation, its stars replaced by pages."""
    if isinstance(item, dict):
        return [
            {title: [one for part in inside for one in expanded(part, pages)]}
            if isinstance(inside, list)
            else {title: inside}
            for title, inside in item.items()
        ]
    if "*" in item:
        return [page.relative_to(pages).as_posix() for page in sorted(pages.glob(item))]
    return [item]


def on_config(config: Any, **_: Any) -> Any:
    """Fills the navigation."""
    pages = Path(config.docs_dir)
    config.nav = [one for item in config.nav for one in expanded(item, pages)]
    return config


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
