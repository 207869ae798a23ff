"""A bar that shows how far long work has come, in terminals and notebooks."""

from __future__ import annotations

import sys
import warnings
from types import TracebackType
from typing import Any

# Work that ends sooner needs no bar.
DELAY_SECONDS = 0.5


class Progress:
    """A bar while long work runs: of steps, or of fits.

    It appears after half a second and only where someone can see it: on a
    terminal or in a notebook.
    """

    def __init__(self, what: str, verbose: Any, unit: str = "fit") -> None:
        self._what = what
        self._unit_of_work = unit
        self._bar: Any = None
        self._unit = ""
        self._shown = bool(verbose) and _is_seen()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def finish(self, steps: int) -> None:
        """Says that a fit has come to its end, which is mostly before the last step allowed."""
        if self._bar is not None:
            self._bar.total = steps
            self._bar.update(steps - self._bar.n)
            self._bar.refresh()

    @property
    def show(self) -> Any:
        """What the core calls now and then; None where nobody looks."""
        return self._update if self._shown else None

    def _update(self, done: int, everything: int, record: dict[str, Any] | None) -> None:
        unit = self._unit_of_work if record is None else "step"
        if self._bar is None or unit != self._unit:
            self._start(unit, everything)
        self._bar.total = everything
        self._bar.update(done - self._bar.n)
        if record is not None:
            figures = {"value": f"{record['value']:.6g}"}
            if record["held_out"] is not None:
                figures["held out"] = f"{record['held_out']:.6g}"
            self._bar.set_postfix(figures, refresh=False)

    def _start(self, unit: str, everything: int) -> None:
        if self._bar is not None:
            self._bar.close()
        self._unit = unit
        with warnings.catch_warnings():
            # Of a notebook without widgets, where a bar of text serves as well.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
        # Steps end when the fit is good enough: no promise of the last one.
        leave = unit == "step"
        self._bar = tqdm(
            total=everything, desc=self._what, unit=unit, leave=leave, delay=DELAY_SECONDS
        )


def _is_seen() -> bool:
    """Whether standard error is a terminal, or the shell a notebook's."""
    if "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
        if type(shell).__name__ == "ZMQInteractiveShell":
            return True
    stream = sys.stderr
    return bool(stream is not None and hasattr(stream, "isatty") and stream.isatty())
