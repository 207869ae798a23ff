"""bench/tables, which fills README.md and docs/experiments.md."""

import importlib.machinery
import importlib.util
import json
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[2] / "tables"


@pytest.fixture
def tables(monkeypatch, tmp_path):
    loader = importlib.machinery.SourceFileLoader("tables", str(FILE))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tables", loader))
    loader.exec_module(module)
    (tmp_path / "docs/figures").mkdir(parents=True)
    block = "before\n<!-- table: {} -->\nold\n<!-- end -->\nafter\n"
    (tmp_path / "README.md").write_text(block.format("readme-contamination") + block.format("readme-table2"))
    (tmp_path / "docs/experiments.md").write_text(block.format("cora"))
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def measured(*values):
    mean = sum(values) / len(values)
    return {"mean": mean, "standard_error": 1.0, "values": list(values), "paper": None}


def test_blocks_are_filled_and_the_rest_stays(tables, monkeypatch, tmp_path):
    rows = [
        {"name": "Linkproof, fit --robust", "cells": {"clean": measured(57.0, 59.0), "50% at 10": measured(50.0, 50.0)}},
        {"name": "DGI", "cells": {"clean": measured(56.0, 56.0), "50% at 10": measured(3.0)}},
        {"name": "never run", "cells": {}},
    ]
    columns = ["clean", "+90% uniform", "50% at 10"]
    folder = tmp_path / "results/contamination"
    folder.mkdir(parents=True)
    result = {"runs": 2, "tables": [{"name": "cora", "columns": columns, "rows": rows}]}
    (folder / "contamination.json").write_text(json.dumps(result))
    (folder / "cora.svg").write_text("<svg/>")
    monkeypatch.setattr("sys.argv", ["tables", str(tmp_path / "results")])
    assert tables.main() == 0
    readme = (tmp_path / "README.md").read_text()
    # Two points behind, at standard errors of 1, is not worse; what is missing is a dash.
    assert "| Linkproof, `fit --robust` | **58.0** | – | **50.0** |" in readme
    assert "| DGI | **56.0** | – | 3.0 |" in readme
    assert readme.count("old") == 1, "table 2 was not run and stays"
    assert readme.count("before") == readme.count("after") == 2
    page = (tmp_path / "docs/experiments.md").read_text()
    assert "| DGI | 56.0 ± 1.0 | – | 3.0 [1] |" in page
    assert "never run" not in page
    assert (tmp_path / "docs/figures/cora.svg").is_file()


def test_a_folder_without_results_is_refused(tables, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("sys.argv", ["tables", str(tmp_path)])
    assert tables.main() == 1
    assert "contamination.json" in capsys.readouterr().err
