"""Long work: interrupts, callbacks, bars, forks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import numpy as np
import pytest

import linkproof
from linkproof import GraphEmbedding, _progress


def test_a_callback_at_every_step(planted: Any) -> None:
    seen: list[dict[str, Any]] = []
    model = GraphEmbedding(dim=3, steps=12, verbose=False)
    model.fit(planted.X, planted.matrix, callback=seen.append)
    assert [record["step"] for record in seen] == list(model.history_["step"])
    assert np.allclose([record["value"] for record in seen], model.history_["value"])
    assert {"steps", "gradient_norm", "held_out", "seconds"} <= set(seen[0])


def test_what_a_callback_raises_ends_the_fit(planted: Any) -> None:
    def enough(record: dict[str, Any]) -> None:
        if record["step"] == 3:
            raise LookupError("enough")

    model = GraphEmbedding(dim=3, verbose=False)
    with pytest.raises(LookupError, match="enough"):
        model.fit(planted.X, planted.matrix, callback=enough)
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize("optimizer", ["lbfgs", "adam"])
def test_a_fit_goes_on_to_the_same_bits(planted: Any, tmp_path: Any, optimizer: str) -> None:
    folder = tmp_path / "kept"
    settings: dict[str, Any] = {"dim": 3, "steps": 25, "optimizer": optimizer, "verbose": False}
    whole = GraphEmbedding(**settings).fit(planted.X, planted.matrix)
    seen: list[int] = []

    def enough(record: dict[str, Any]) -> None:
        seen.append(record["step"])
        if len(seen) == 7:
            raise LookupError("enough")

    model, how = GraphEmbedding(**settings), {"checkpoint": folder, "resume": True}
    with pytest.raises(LookupError, match="enough"):
        model.fit(planted.X, planted.matrix, callback=enough, **how)
    assert (folder / "checkpoint.json").exists()
    other = GraphEmbedding(**{**settings, "dim": 4})
    with pytest.raises(OSError, match="dim 3 and not 4"):
        other.fit(planted.X, planted.matrix, **how)
    model.fit(planted.X, planted.matrix, callback=enough, **how)
    assert seen == list(range(1, len(seen) + 1)), "each step once"
    assert (model.embedding_ == whole.embedding_).all()
    assert not folder.exists()


def test_too_little_memory_is_an_error(planted: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("LINKPROOF_MAX_MEMORY", "1MB")
    with pytest.raises(MemoryError, match="needs about .* LINKPROOF_MAX_MEMORY"):
        GraphEmbedding(dim=3, verbose=False).fit(planted.X, planted.matrix)
    monkeypatch.setenv("LINKPROOF_MAX_MEMORY", "much")
    with pytest.raises(ValueError, match="LINKPROOF_MAX_MEMORY"):
        GraphEmbedding(dim=3, verbose=False).fit(planted.X, planted.matrix)


def test_a_panic_ends_the_work_too() -> None:
    code = """
        import numpy as np, sys
        from linkproof import GraphEmbedding, Inputs
        from scipy.sparse import csr_array
        X = csr_array(np.ones((50, 4)))
        def spoil(record):
            X.indices[:] = 10**6    # what nobody should do
        try:
            GraphEmbedding(dim=2, inputs=Inputs(normalize="none")).fit(
                X, [(row, row + 1) for row in range(49)], callback=spoil)
        except BaseException as error:
            print(type(error).__name__)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                          text=True, timeout=60, check=False)  # fmt: skip
    assert done.stdout == "PanicException\n"


# Work that would take hours on any machine, and says when it begins.
LONG_WORK = """
    import numpy as np, sys, linkproof
    from linkproof import GraphEmbedding, _progress
    random = np.random.default_rng(0)
    links = random.integers(0, 4000, (40_000, 2))
    links = np.unique(np.sort(links[links[:, 0] != links[:, 1]], axis=1), axis=0)
    X = random.normal(size=(4000, 50))
    class Progress(_progress.Progress):
        def __enter__(self):
            print("begun", flush=True)
            return self
    for module in [value for name, value in sys.modules.items() if name.startswith("linkproof.")]:
        if hasattr(module, "Progress"):
            module.Progress = Progress
    settings = dict(dim=64, steps=1_000_000, ridge=1e-6, optimizer="adam",
                    sgd=linkproof.Sgd(learning_rate=1e-9))
    model = None
    try:
        {work}
        print("ended", flush=True)
    except KeyboardInterrupt:
        print("stopped", hasattr(model, "embedding_"), flush=True)
        sys.exit(3)
"""
FIT = "model = GraphEmbedding(**settings{more}); model.fit(X, links{how})"
SEARCH = "del settings['ridge']; linkproof.select(X, links, **settings)"


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(FIT.format(more=", validation=0", how=""), id="fit"),
        pytest.param(FIT.format(more=", validation=0", how=", callback=len"), id="callback"),
        pytest.param(FIT.format(more=", robust=True", how=""), id="robust"),
        pytest.param(SEARCH, id="search"),
    ],
)
def test_an_interrupt_stops_work(work: str) -> None:
    code = textwrap.dedent(LONG_WORK).replace("{work}", work)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    end = threading.Timer(120, process.kill)
    end.start()
    try:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        # The work is then well on its way; an earlier signal has the same outcome.
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    finally:
        end.cancel()
    assert (out, process.returncode) == ("stopped False\n", 3)


def test_fits_in_other_threads(planted: Any) -> None:
    found: dict[int, Any] = {}

    def fit(place: int) -> None:
        found[place] = (
            GraphEmbedding(dim=3, verbose=False).fit(planted.X, planted.matrix).embedding_
        )

    threads = [threading.Thread(target=fit, args=(place,)) for place in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def _fit_in_child(X: Any, links: Any) -> Any:
    return GraphEmbedding(dim=3, verbose=False).fit(X, links).embedding_


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fits_after_a_fork(planted: Any) -> None:
    expected = _fit_in_child(planted.X, planted.matrix)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.starmap_async(_fit_in_child, [(planted.X, planted.matrix)] * 2).get(60)
    assert np.array_equal(found[0], expected) and np.array_equal(found[1], expected)


def _everything(X: Any, links: Any, folder: Any) -> float:
    model = GraphEmbedding(dim=3, verbose=False).fit(X, links)
    model.audit(X=X), model.transform(X[:2]), model.score_pairs([[0, 1]])
    model.save(folder, overwrite=True)
    loaded = GraphEmbedding.load(folder)
    assert len(loaded.neighbors(0, top=2)) == 2 and loaded.report_
    return float(loaded.embedding_.sum())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_everything_else_after_a_fork(planted: Any, tmp_path: Any) -> None:
    """Whatever used threads in the parent does so in a child, which has none of them."""
    expected = _everything(planted.X, planted.matrix, tmp_path / "0")
    work = [(planted.X, planted.matrix, tmp_path / str(child)) for child in (1, 2)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.starmap_async(_everything, work).get(60)
    assert found == [expected, expected]


class Terminal:
    """Standard error, seen by someone."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Within the test itself: pytest has streams of its own for each of its phases."""
    seen = Terminal()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setattr(_progress, "DELAY_SECONDS", 0.0)
    return seen


def slow(record: dict[str, Any]) -> None:
    time.sleep(0.02)


def test_a_bar_on_a_terminal(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    GraphEmbedding(dim=3, steps=20).fit(planted.X, planted.matrix, callback=slow)
    assert "fitting" in terminal.text and "step" in terminal.text and "value" in terminal.text
    assert "100%" in terminal.text
    terminal.text = ""
    GraphEmbedding(dim=3, steps=20, verbose=False).fit(planted.X, planted.matrix, callback=slow)
    assert terminal.text == ""


def test_a_bar_of_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 20))
    links = np.unique(np.sort(random.integers(0, 600, (3000, 2)), axis=1), axis=0)
    links = links[links[:, 0] != links[:, 1]]
    # One thread takes longer than it takes until the bar is first drawn.
    linkproof.select(X, links, dim=32, search=linkproof.Search(folds=3), n_jobs=1)
    assert "choosing" in terminal.text and "fit" in terminal.text


def test_no_bar_where_nobody_looks(
    planted: Any, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_progress, "DELAY_SECONDS", 0.0)
    GraphEmbedding(dim=3, steps=20).fit(planted.X, planted.matrix, callback=slow)
    assert capfd.readouterr().err == ""
