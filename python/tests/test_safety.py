"""Nothing of the user's is lost, and what is damaged or absurd is told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkproof
from linkproof import GraphEmbedding, Search


def fitted(planted: Any) -> GraphEmbedding:
    return GraphEmbedding(dim=2, steps=5, verbose=False).fit(planted.X, planted.matrix)


def test_saving_replaces_models_and_nothing_else(planted: Any, tmp_path: Path) -> None:
    model = fitted(planted)
    model.save(tmp_path / "m")
    model.report(tmp_path / "m" / "report.html", layout="pca")
    with pytest.raises(FileExistsError, match="already holds a model.*overwrite=True"):
        model.save(tmp_path / "m")
    model.save(tmp_path / "m", overwrite=True)
    (tmp_path / "m" / "diary.txt").write_text("dear diary")
    with pytest.raises(FileExistsError, match=r"'diary\.txt', which is no part of a model"):
        model.save(tmp_path / "m", overwrite=True)
    assert (tmp_path / "m" / "diary.txt").read_text() == "dear diary"
    # Names that a model has too make no model.
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "links.csv").write_text("a,b")
    with pytest.raises(FileExistsError, match=r"'links\.csv'"):
        model.save(tmp_path / "data", overwrite=True)
    with pytest.raises(FileExistsError) as raised:
        model.save(tmp_path / "data")
    assert "overwrite" not in str(raised.value)
    assert (tmp_path / "data" / "links.csv").read_text() == "a,b"


def test_the_current_folder_stays(
    planted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fitted(planted)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for path in (".", "../here", "..", tmp_path):
        with pytest.raises(FileExistsError, match="the current folder"):
            model.save(path, overwrite=True)
    os.symlink("gone", "dangling")
    with pytest.raises(OSError, match="symbolic link to nothing"):
        model.save("dangling")


def test_a_page_is_not_written_over_a_model(planted: Any, tmp_path: Path) -> None:
    model = fitted(planted)
    model.save(tmp_path / "m")
    with pytest.raises(FileExistsError, match="is a file of a model"):
        model.report(tmp_path / "m" / "model.safetensors")
    with pytest.raises(OSError, match="cannot be written"):
        model.report(tmp_path / "m" / "fit.json" / "page.html")
    GraphEmbedding.load(tmp_path / "m")


def test_a_damaged_table_is_an_ordinary_error(planted: Any, tmp_path: Path, capfd: Any) -> None:
    fitted(planted).save(tmp_path / "m")
    path = tmp_path / "m" / "links.parquet"
    sound = path.read_bytes()
    refused = 0
    for place in range(0, len(sound), 2):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 0xFF]) + sound[place + 1 :])
        try:
            GraphEmbedding.load(tmp_path / "m")
        except (OSError, ValueError) as error:
            assert "links.parquet" in str(error)
            refused += 1
    assert refused > 50
    assert capfd.readouterr().err == ""


def test_weights_that_are_too_large(planted: Any) -> None:
    heavy = planted.matrix.astype(np.float64) * 1e305
    message = r"links: found weight .*e305 between '\d+' and '\d+'; expected .* 1e17 at most"
    model = GraphEmbedding(dim=2, steps=5, verbose=False)
    with pytest.raises(ValueError, match=message) as raised:
        model.fit(planted.X, heavy)
    assert 'weights="log1p"' in str(raised.value) and 'score="probability"' in str(raised.value)
    model.set_params(weights="log1p").fit(planted.X, heavy)
    model.set_params(weights="asis", score="probability", beta=0.5).fit(planted.X, heavy)
    settings = {"scores": ["likelihood"], "ridges": [1.0], "folds": 2, "dims": [2]}
    with pytest.raises(ValueError, match=message):
        linkproof.select(
            planted.X, heavy, search=Search(criterion="likelihood", **settings), verbose=False
        )
    # Ranks know no unit of weights.
    linkproof.select(planted.X, heavy, search=Search(**settings), verbose=False)


def test_long_and_hostile_values_are_shown_short_and_plain(planted: Any) -> None:
    long = "x" * 1_000_000
    cases: list[tuple[Any, Any]] = [
        (None, [("a", long), ("a", long), (long, "a"), ("a", long)]),
        (None, [("a", "b", long)]),
        (planted.X, [("0", long)]),
        (None, [(long, long)]),
    ]
    for X, links in cases:
        with pytest.raises((ValueError, TypeError)) as raised:
            GraphEmbedding(dim=2, steps=5, verbose=False).fit(X, links)
        assert len(str(raised.value)) < 1000, str(raised.value)[:300]
    with pytest.raises(ValueError) as raised:
        hostile = "\x1b[2Ja"
        GraphEmbedding(dim=2, verbose=False).fit(None, [(hostile, hostile)])
    assert "\x1b" not in str(raised.value)
