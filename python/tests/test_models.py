"""Models are the same folders as the command line's, both ways."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.io import mmread

import linkproof
from linkproof import GraphEmbedding, measures


def write_inputs(planted: Any, folder: Path) -> tuple[Path, Path]:
    names = [f"node {row}" for row in range(90)]
    links, features = folder / "links.csv", folder / "x.csv"
    table = pd.DataFrame(planted.listed, columns=["src", "dst", "weight"])
    for end in ("src", "dst"):
        table[end] = [names[int(row)] for row in table[end]]
    table.to_csv(links, index=False)
    pd.DataFrame(planted.X, index=pd.Index(names, name="node")).to_csv(features)
    return links, features


def test_the_command_line_and_python_give_the_same_bits(
    planted: Any, command: Any, tmp_path: Path
) -> None:
    links, features = write_inputs(planted, tmp_path)
    command("fit", "--links", links, "--features", features, "--dim", 4, "--ridge", 0.3,
            "--beta", 0.5, "--seed", 3, "--out", tmp_path / "cli")  # fmt: skip
    X = pd.read_csv(features, index_col="node")
    model = GraphEmbedding(dim=4, ridge=0.3, beta=0.5, random_state=3, verbose=False)
    model.fit(X, pd.read_csv(links)).save(tmp_path / "python")
    ours, theirs = (np.load(tmp_path / name / "embeddings.npy") for name in ("python", "cli"))
    assert np.array_equal(ours, theirs)
    for name in ("model.safetensors", "nodes.csv", "embeddings.npy"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "cli" / name).read_bytes()


def test_python_reads_what_the_command_line_wrote(
    planted: Any, command: Any, tmp_path: Path
) -> None:
    links, features = write_inputs(planted, tmp_path)
    command("fit", "--links", links, "--features", features, "--dim", 4, "--ridge", 0.3,
            "--encoder", "mlp", "--hidden", 16, "--steps", 30, "--out", tmp_path / "m")  # fmt: skip
    model = GraphEmbedding.load(tmp_path / "m")
    params = model.get_params()
    assert (params["dim"], params["encoder"], params["network__hidden"]) == (4, "mlp", (16,))
    assert np.array_equal(model.embedding_, np.load(tmp_path / "m" / "embeddings.npy"))
    assert list(model.nodes_[:2]) == ["node 0", "node 1"]
    assert model.n_features_in_ == 8
    command("embed", "--model", tmp_path / "m", "--features", features, "--out", tmp_path / "y.npy")
    assert np.allclose(model.transform(planted.X), np.load(tmp_path / "y.npy"), atol=1e-6)
    command("audit", "--model", tmp_path / "m", "--links", links, "--out", tmp_path / "audit.csv")
    theirs = pd.read_csv(tmp_path / "audit.csv", float_precision="round_trip")
    with pytest.warns(UserWarning, match="links alone"):
        ours = model.audit(pd.read_csv(links))
    assert list(ours["src"]) == list(theirs["src"]) and list(ours["dst"]) == list(theirs["dst"])
    for column in ("rank", "weight", "belief", "suspect", "mu", "trust", "influence"):
        assert np.allclose(ours[column], theirs[column], rtol=1e-6, atol=1e-12), column
    # What the command line noted stays when Python writes the model again.
    model.save(tmp_path / "again")
    before, after = (
        json.loads((tmp_path / name / "fit.json").read_text()) for name in ("m", "again")
    )
    assert after.pop("python") and after == before


def test_the_command_line_reads_what_python_wrote(
    planted: Any, command: Any, tmp_path: Path
) -> None:
    links, features = write_inputs(planted, tmp_path)
    X = pd.read_csv(features, index_col="node")
    model = GraphEmbedding(dim=4, ridge=0.3, verbose=False).fit(X, pd.read_csv(links))
    model.save(tmp_path / "m")
    command("embed", "--model", tmp_path / "m", "--features", features, "--out", tmp_path / "y.npy")
    assert np.allclose(np.load(tmp_path / "y.npy"), model.transform(X), atol=1e-6)
    pairs = [("node 0", "node 3"), ("node 5", "node 1")]
    pd.DataFrame(pairs, columns=["src", "dst"]).to_csv(tmp_path / "pairs.csv", index=False)
    command("score", "--model", tmp_path / "m", "--pairs", tmp_path / "pairs.csv",
            "--out", tmp_path / "scores.csv")  # fmt: skip
    scores = pd.read_csv(tmp_path / "scores.csv")
    assert np.allclose(scores["mu"], model.score_pairs(pairs), rtol=1e-6)
    assert list(scores.columns) == ["src", "dst", "p_link", "size", "mu"]
    assert np.allclose(scores[["p_link", "size", "mu"]], model.score_pairs(pairs, parts=True))


def test_the_same_workflows_by_the_command_line(planted: Any, command: Any, tmp_path: Path) -> None:
    links, features = write_inputs(planted, tmp_path)
    X, listed = pd.read_csv(features, index_col="node"), pd.read_csv(links)
    model = GraphEmbedding(dim=4, ridge=0.3, verbose=False).fit(X, listed)
    model.save(tmp_path / "m")
    judged = ("--model", tmp_path / "m", "--links", links, "--features", features)
    # An audit with all that it tells.
    theirs = json.loads(command("audit", *judged, "--out", tmp_path / "a.csv", "--json"))
    ours, written = model.audit(X=X), pd.read_csv(tmp_path / "a.csv")
    assert list(ours.columns) == [it for it in written.columns if not it.endswith("_name")]
    assert list(ours["why"]) == list(written["why"])
    for column in ("rank", "weight", "belief", "suspect", "mu", "trust", "false_discovery_rate"):
        assert np.allclose(ours[column].astype(float), written[column], equal_nan=True), column
    for name in ("abstained", "share_false", "share_low", "share_high"):
        assert ours.attrs[name] == theirs[name], name
    new = X[:3].set_axis(pd.Index(["u", "v", "w"], name="node"))
    new.to_csv(tmp_path / "new.csv")
    # Neighbours of unseen nodes.
    command("neighbors", "--model", tmp_path / "m", "--features", tmp_path / "new.csv",
            "--top", 3, "--out", tmp_path / "n.csv")  # fmt: skip
    theirs, ours = pd.read_csv(tmp_path / "n.csv"), model.neighbors(X=new, top=3)
    assert list(theirs["neighbor"]) == list(ours["node"])
    assert list(theirs["node"]) == list(ours["row"]) and np.allclose(theirs["mu"], ours["mu"])


def test_selections_agree(planted: Any, command: Any, tmp_path: Path) -> None:
    links, features = write_inputs(planted, tmp_path)
    theirs = json.loads(command("select", "--links", links, "--features", features, "--dim", 3,
                                "--ridges", "1,10", "--folds", 3, "--json"))  # fmt: skip
    X = pd.read_csv(features, index_col="node")
    ours = linkproof.select(
        X,
        pd.read_csv(links),
        dim=3,
        search=linkproof.Search(ridges=[1, 10], folds=3),
        verbose=False,
    )
    assert ours.params == {
        name: theirs["chosen"][name] for name in ("score", "beta", "ridge", "dim", "weights")
    }
    names = {"behind": "behind", "standard_error": "standard_error", "criterion": "mean"}
    for column, name in names.items():
        found = [candidate[name] for candidate in theirs["candidates"]]
        assert np.allclose(ours.candidates[column].astype(float),
                           np.array(found, dtype=float), equal_nan=True)  # fmt: skip


def test_objectives_agree(planted: Any, command: Any, tmp_path: Path) -> None:
    y = np.random.default_rng(0).normal(size=(90, 3))
    np.save(tmp_path / "y.npy", y)
    pd.DataFrame(planted.listed).astype({0: int, 1: int}).to_csv(
        tmp_path / "links.csv", index=False, header=["src", "dst", "weight"]
    )
    for score, beta in [("moment", 0.5), ("probability", 0.3), ("likelihood", 0.0)]:
        theirs = json.loads(
            command(
                "objective",
                "--embeddings",
                tmp_path / "y.npy",
                "--links",
                tmp_path / "links.csv",
                "--gamma",
                1.5,
                "--score",
                score,
                "--beta",
                beta,
                "--gradient",
                tmp_path / "dy.npy",
                "--json",
            )  # fmt: skip
        )
        ours = linkproof.objective(y, planted.matrix, 1.5, score, beta)
        assert ours.value == theirs["value"] and ours.pairs == theirs["pairs"]
        assert ours.gamma_gradient == theirs["gamma_gradient"]
        assert np.array_equal(ours.gradient, np.load(tmp_path / "dy.npy"))


def test_saving_and_loading(planted: Any, tmp_path: Path) -> None:
    X = {"a": planted.X[:50], "b": planted.X[50:, :3]}
    model = GraphEmbedding(
        dim=3, encoder={"b": "mlp"}, network=linkproof.Network(hidden=8), steps=9, verbose=False
    )
    model.fit(X, planted.matrix).save(tmp_path / "m")
    loaded = GraphEmbedding.load(str(tmp_path / "m"))
    assert loaded.views_ == ["a", "b"] and loaded.gamma_ == model.gamma_
    assert list(loaded.nodes_) == list(model.nodes_)
    assert loaded.encoder == {"b": "mlp", "*": "auto"}
    assert np.array_equal(loaded.embedding_, model.embedding_)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        model.save(tmp_path / "m")
    model.save(tmp_path / "m", overwrite=True)
    # A loaded model can be fitted again, as it was.
    again = loaded.fit(X, planted.matrix)
    assert np.array_equal(again.embedding_, model.embedding_)


def test_columns_and_rules_are_kept(planted: Any, tmp_path: Path) -> None:
    X = pd.DataFrame(planted.X, columns=list("abcdefgh"))
    model = GraphEmbedding(dim=3, steps=5, duplicates="max", verbose=False)
    model.fit(X, planted.matrix).save(tmp_path / "m")
    loaded = GraphEmbedding.load(tmp_path / "m")
    assert loaded.duplicates == "max"
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(X[X.columns[::-1]])
    assert np.array_equal(loaded.transform(X), model.transform(X))
    (tmp_path / "diary").mkdir()
    (tmp_path / "diary" / "monday.txt").write_text("dear diary")
    with pytest.raises(FileExistsError, match="no part of a model"):
        model.save(tmp_path / "diary", overwrite=True)


def test_the_page_is_that_of_the_command_line(planted: Any, command: Any, tmp_path: Path) -> None:
    model = GraphEmbedding(dim=4, ridge=0.3, verbose=False).fit(planted.X, planted.matrix)
    model.save(tmp_path / "m")
    command("report", tmp_path / "m", "--out", tmp_path / "theirs.html")
    model.report(tmp_path / "ours.html", title="m")
    ours, theirs = ((tmp_path / f"{who}.html").read_text() for who in ("ours", "theirs"))
    assert ours == theirs
    model.report(tmp_path / "ours.html", labels=planted.groups, layout="pca")
    assert "PCA" in (tmp_path / "ours.html").read_text()
    with pytest.raises(ValueError, match="labels: found 3; expected 90"):
        model.report(tmp_path / "x.html", labels=[1, 2, 3])
    with pytest.raises(ValueError, match="layout must be 'auto', 'pca' or"):
        model.report(tmp_path / "x.html", layout="best")
    assert not (tmp_path / "x.html").exists()


def test_folders_that_cannot_be_read(planted: Any, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        GraphEmbedding.load(tmp_path / "none")
    assert caught.value.filename and "none" in str(caught.value)
    GraphEmbedding(dim=2, steps=2, verbose=False).fit(planted.X, planted.matrix).save(
        tmp_path / "m"
    )
    for name in ("model.safetensors", "nodes.csv", "fit.json", "embeddings.npy"):
        shutil.copytree(tmp_path / "m", tmp_path / name)
        (tmp_path / name / name).write_bytes(b"\x00 nonsense")
        with pytest.raises(OSError, match=name):
            GraphEmbedding.load(tmp_path / name)


@pytest.mark.skipif("LINKPROOF_CORA" not in os.environ, reason="LINKPROOF_CORA is not set")
def test_cora() -> None:
    folder = Path(os.environ["LINKPROOF_CORA"])
    X = mmread(folder / "features.mtx").tocsr()
    labels = pd.read_csv(folder / "labels.csv")["label"].to_numpy()
    links = pd.read_csv(folder / "edges.csv")
    model = GraphEmbedding(verbose=False).fit(X, links)
    assert measures.evaluate(model.embedding_, labels)["nmi"] > 0.4
