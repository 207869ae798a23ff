"""What users gave, as it appears in messages."""

from __future__ import annotations

from typing import Any

# Characters of a value that a message shows.
_SHOWN = 72


def quoted(value: Any) -> str:
    """A value as Python writes it; of a long one the start, with its length."""
    text = repr(value)
    if len(text) <= _SHOWN + 8:
        return text
    return f"{text[:_SHOWN]}… ({len(text)} characters)"


def refused(name: str, accepted: str, given: Any) -> ValueError:
    """An exception for an argument that must be something else."""
    return ValueError(f"{name} must be {accepted}, but is {quoted(given)}")
