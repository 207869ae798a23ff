"""Experiments with damaged graphs."""

import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from linkproof import contamination

HOW = {"damage": ["clean", "u90"], "runs": 2, "random_state": 3, "verbose": False}


@pytest.fixture(scope="module")
def found(planted):
    X, labels = sp.csr_array(planted.X), np.array(["c", "a", "b"])[planted.groups]
    return contamination(X, planted.edges, labels, name="three", **HOW)


def test_the_numbers_are_the_commands(found, planted, command, tmp_path):
    folder = tmp_path / "three"
    folder.mkdir()
    rows = "".join(f"{a},{b},1\n" for a, b in planted.edges)
    (folder / "edges.csv").write_text("src,dst,weight\n" + rows)
    scipy.io.mmwrite(folder / "features.mtx", sp.coo_array(planted.X), precision=17)
    labels = "".join(f"{node},{group}\n" for node, group in enumerate(planted.groups))
    (folder / "labels.csv").write_text("node,label\n" + labels)
    words = ["--data", folder, "--graphs", "three", "--damage", "clean,u90", "--runs", 2]
    command("reproduce", "contamination", *words, "--seed", 3, "--out", tmp_path / "out", "--quiet")
    report = json.loads((tmp_path / "out" / "contamination.json").read_text())
    tables = {table["name"]: table for table in report["tables"]}
    for frame, name in ((found.table, "three"), (found.links, "three-links")):
        cells = {row["name"]: row["cells"] for row in tables[name]["rows"] if row["cells"]}
        assert list(frame.index) == list(cells)
        for row in cells:
            for column in frame.columns:
                value = frame.loc[row, column]
                cell = cells[row].get(column)
                assert np.isnan(value) if cell is None else value == cell["mean"]
    assert "three: NMI (x 100)" in found.markdown


def test_threads_change_nothing(found, planted):
    X, labels = sp.csr_array(planted.X), planted.groups
    again = contamination(X, planted.edges, labels, name="three", n_jobs=1, **HOW)
    assert again.readings.equals(found.readings)
    assert again.markdown == found.markdown


def test_a_part_is_a_part(found, planted):
    some = dict(HOW, methods=["plain"], damage=["u90"])
    part = contamination(sp.csr_array(planted.X), planted.edges, planted.groups, **some)
    assert part.table.shape == (1, 1) and part.links.empty and part.failures == {}
    assert part.table.iloc[0, 0] == found.table.loc["Linkproof, fit", "+90% uniform"]
    assert len(part.readings) == 2


def test_what_fails_is_told_beside_the_rest(planted):
    # False links need unlinked pairs of two classes; here all of them are linked.
    groups = np.arange(20) // 19
    links = np.argwhere(np.triu(np.ones((20, 20)), 1))
    X = np.random.default_rng(0).normal(size=(20, 3))
    how = dict(HOW, methods=["plain"], runs=1)
    found = contamination(X, links, groups, **how)
    assert list(found.failures) == ["graph-u90-plain-run0"]
    assert "enough unlinked pairs" in found.failures["graph-u90-plain-run0"]
    assert list(found.table.columns) == ["clean"]


def test_what_cannot_be_damaged_is_refused(planted):
    X, links, labels = planted.X, planted.edges, planted.groups
    for arguments, how, words in [
        ((X, links), {}, "labels: found None"),
        ((X, links, labels[:5]), {}, "labels: found 5; expected 90"),
        ((X, links, np.where(labels == 2, np.nan, labels)), {}, "labels: found none in row 2"),
        ((X, links, np.zeros(90)), {}, "1 classes and 18 test nodes"),
        ((X, links, np.arange(90)), {}, "90 classes and 18 test nodes"),
        ((X, links, labels), {"damage": ["u31"]}, "damage.*'u31'|damage.*u31"),
        ((X, links, labels), {"methods": "plain"}, "methods must be a list of names"),
        ((X, links, labels), {"methods": []}, "methods: found an empty list"),
        ((X, links, labels), {"runs": 0}, "runs must be a whole number"),
        ((X, links, labels), {"name": "blocks"}, "name .*other than blocks, bloggers or views"),
        ((X, links, labels), {"generated": "blocks"}, "generated: found with data"),
        ((), {"generated": "cubes"}, "generated .*'blocks', 'bloggers' or 'views'"),
        (({"a": X, "b": X}, {("a", "b"): links}, labels), {}, "X: found 2 views"),
    ]:
        with pytest.raises(ValueError, match=words):
            contamination(*arguments, verbose=False, **how)
