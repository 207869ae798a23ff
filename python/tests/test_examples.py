"""The examples run, show what they claim, and write their pictures."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(name: str, out: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Where dataclasses look up the types of their fields.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        return module.main(["--small", "--out", str(out)])
    finally:
        del sys.modules[name]


def pictures(out: Path) -> list[str]:
    assert all(path.stat().st_size > 5000 for path in out.iterdir())
    return sorted(path.name for path in out.iterdir())


def test_citations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("networkx")
    found = run("citations", tmp_path / "new" / "folder")
    nmi, audit, unseen = found["nmi"], found["audit"], found["unseen"]
    assert nmi["robust"] > nmi["chosen by select"] + 0.02
    assert nmi["chosen by select"] > nmi["words alone"] + 0.2
    # A sixth of the links are false.
    assert audit["precision"] > 0.6 and audit["false_or_across"] > 0.85
    assert audit["auc_belief"] > 0.85
    assert unseen["embedding"] > unseen["words"] + 0.1
    assert pictures(tmp_path / "new" / "folder") == [
        "citations-audit.png",
        "citations-embedding.png",
        "citations-history.png",
    ]
    assert "suspects" in capsys.readouterr().out


def test_two_views(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = run("two_views", tmp_path)
    groups, audit = found["groups"], found["audit"]
    robust, plain = groups.loc["corrupted", "probability"], groups.loc["corrupted", "likelihood"]
    sound = groups.loc["as counted", "probability"]
    for measure in ("NMI, items", "purity, items", "new items, own group"):
        assert robust[measure] > plain[measure] + 0.15
        assert robust[measure] > sound[measure] - 0.1
    assert audit["recall"] > 0.99 and audit["precision"] > 0.9
    assert pictures(tmp_path) == ["two-views-audit.png", "two-views-embedding.png"]
    assert "select takes: probability" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["citations", "two_views"])
def test_examples_are_programs(name: str) -> None:
    line = [sys.executable, str(EXAMPLES / f"{name}.py"), "--help"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--out" in done.stdout and "--small" in done.stdout
