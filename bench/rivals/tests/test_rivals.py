"""Every rival in every setting on a small planted graph.

    bench/rivals/.venv/bin/python -m pytest bench/rivals/tests

A rival whose package is missing is skipped.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

from rivals.data import OneView, TwoViews, load  # noqa: E402
from rivals.registry import BY_NAME, METHODS, RIVALS  # noqa: E402

CLUSTERS = 3
NODES = 123  # the last three have no link
CASES = [(rival.name, setting) for rival in METHODS for setting in rival.settings]

# On a GPU the sums of these run in an order that the hardware picks.
NOT_ALWAYS_THE_SAME_ON_GPU = {
    "graphsage", "gae", "vgae", "dgi", "dgi-jaccard", "dgi-guard", "dgi-svd", "stable", "metagc", "ns4gc", "magi",
}  # fmt: skip


def classes() -> np.ndarray:
    return np.arange(NODES) % CLUSTERS


def planted_links(random: np.random.Generator) -> list[tuple[int, int, int]]:
    """Three clusters; nodes below 90 and the others up to 119 are two components."""
    of, links = classes(), []
    for i in range(NODES - 3):
        for j in range(i + 1, NODES - 3):
            if (i < 90) == (j < 90):
                chance = (0.25 if i < 90 else 0.6) if of[i] == of[j] else 0.01
                if random.random() < chance:
                    links.append((i, j, int(random.integers(1, 4))))
    return links


def write_links(folder: Path, links: list[tuple[int, int, int]]) -> None:
    lines = "".join(f"{i},{j},{weight}\n" for i, j, weight in links)
    (folder / "links.csv").write_text("src,dst,weight\n" + lines)


def write_one_view(folder: Path, dense: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(5)
    write_links(folder, planted_links(random))
    # 60 words, 15 of them twice to eight times as usual in each class.
    chance = np.full((NODES, 60), 0.04)
    for node, cluster in enumerate(classes()):
        chance[node, 15 * cluster : 15 * cluster + 15] = 0.3
    words = (random.random(chance.shape) < chance).astype(float)
    words[7] = 0  # a node without words
    if dense:
        np.save(folder / "features.npy", words @ random.normal(size=(60, 12)))
    else:
        scipy.io.mmwrite(folder / "features.mtx", sp.coo_matrix(words), field="integer")
    test = random.permutation(NODES)[:40]
    test = np.unique(np.concatenate([test, [7, NODES - 1]]))[::-1]
    (folder / "test.csv").write_text("node\n" + "".join(f"{node}\n" for node in test))
    return folder


def write_two_views(folder: Path) -> Path:
    folder.mkdir()
    random = np.random.default_rng(6)
    hidden = random.normal(size=(80, 4))
    for view, width in (("a", 10), ("b", 14)):
        noise = 0.05 * random.normal(size=(80, width))
        np.save(folder / f"features-{view}.npy", hidden @ random.normal(size=(4, width)) + noise + 3)
    write_links(folder, [(i, 80 + i, 1 + i % 3) for i in range(80)])
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_one_view(tmp_path_factory.mktemp("planted"))


def embed(name: str, data: OneView | TwoViews, setting: str, seed: int = 1) -> np.ndarray:
    rival = BY_NAME[name]
    if rival.missing():
        pytest.skip(f"{rival.missing()} is not installed")
    rival.check(data, setting)
    if isinstance(data, TwoViews):
        return rival.function()(data, setting, seed=seed)
    return rival.function()(data, setting, clusters=CLUSTERS, seed=seed)


def agreement(rows: np.ndarray, truth: np.ndarray) -> float:
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score

    found = KMeans(CLUSTERS, n_init=10, random_state=0).fit_predict(rows.astype(np.float64))
    return adjusted_rand_score(truth, found)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer epochs for the one that has 200 at least."""
    if not BY_NAME["metagc"].missing():
        from rivals import metagc

        monkeypatch.setattr(metagc, "LEAST_EPOCHS", 100)
        monkeypatch.setattr(metagc, "MOST_EPOCHS", 110)


def on_gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available() and os.environ.get("LINKPROOF_RIVALS_CPU") != "1"


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_shape_bits_and_clusters(name: str, setting: str, folder: Path) -> None:
    data = load(folder)
    rows = embed(name, data, setting)
    assert rows.ndim == 2 and len(rows) == len(data.test) and np.isfinite(rows).all()
    again = embed(name, load(folder), setting)
    if on_gpu() and name in NOT_ALWAYS_THE_SAME_ON_GPU:
        assert rows.shape == again.shape
    else:
        np.testing.assert_array_equal(rows, again)
    # The nodes without links or words are not to be found by those who read them.
    plain = (data.test < NODES - 3) & (data.test != 7)
    links_only = name in {"sbm", "spectral", "deepwalk", "node2vec", "line"}
    if links_only:
        # Clusters of one component have nothing to do with those of the other.
        plain &= data.test < 90
    assert agreement(rows[plain], classes()[data.test[plain]]) > 0.1, name


@pytest.mark.parametrize("name", [name for name, setting in CASES if setting == "unseen"])
def test_unseen_does_not_see_links_of_test_nodes(name: str, folder: Path, tmp_path: Path) -> None:
    data = load(folder)
    other = write_one_view(tmp_path / "other")
    test = set(data.test.tolist())
    links = [link for link in planted_links(np.random.default_rng(5)) if not test & set(link[:2])]
    order = data.test.tolist()
    write_links(other, links + [(order[i], order[i + 1], 9) for i in range(0, 20, 2)])
    np.testing.assert_array_equal(embed(name, data, "unseen"), embed(name, load(other), "unseen"))


@pytest.mark.parametrize("name", [name for name, setting in CASES if setting == "unseen-links"])
def test_unseen_links_fits_without_test_nodes(name: str, folder: Path) -> None:
    """Links at a test node change its own row, but not rows out of its reach."""
    data = load(folder)
    alone = data.test == NODES - 1
    before = embed(name, data, "unseen-links")
    changed = load(folder)
    far = next(node for node in data.test if 90 <= node < NODES - 3)
    keep = np.ones(NODES)
    keep[far] = 0
    changed.graph.weights = (sp.diags(keep) @ changed.graph.weights @ sp.diags(keep)).tocsr()
    changed.graph.weights.eliminate_zeros()
    after = embed(name, changed, "unseen-links")
    if name != "sbm":  # a missing link is news to every node of a block model
        np.testing.assert_allclose(before[alone], after[alone], rtol=1e-5, atol=1e-6)
    assert np.abs(before[data.test == far] - after[data.test == far]).max() > 0


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_dense_data_vectors_below_zero(name: str, setting: str, tmp_path: Path) -> None:
    data = load(write_one_view(tmp_path / "dense", dense=True))
    rows = embed(name, data, setting)
    assert len(rows) == len(data.test) and np.isfinite(rows).all()


@pytest.mark.parametrize("name", [rival.name for rival in RIVALS if rival.variant_of])
def test_binary_is_the_rival_on_weights_of_one(name: str, folder: Path, tmp_path: Path) -> None:
    rival = BY_NAME[name]
    base = BY_NAME[rival.variant_of]
    assert base.reads_weights and (rival.settings, rival.views) == (base.settings, base.views)
    data = load(folder if rival.settings else write_two_views(tmp_path / "two"))
    weights = (data if rival.views and not rival.settings else data.graph).weights
    given = weights.data.copy()
    found = embed(name, data, "all")
    np.testing.assert_array_equal(weights.data, given)
    weights.data[:] = 1.0
    if not (on_gpu() and base.name in NOT_ALWAYS_THE_SAME_ON_GPU):
        np.testing.assert_array_equal(found, embed(base.name, data, "all"))


@pytest.mark.parametrize("rival", METHODS, ids=lambda rival: rival.name)
def test_weights_are_read_where_it_says_so(rival, folder: Path) -> None:
    if not rival.settings:
        pytest.skip("two views only")
    data, heavy = load(folder), load(folder)
    heavy.graph.weights.data **= 3
    light, heavy = embed(rival.name, data, "all"), embed(rival.name, heavy, "all")
    if on_gpu() and rival.name in NOT_ALWAYS_THE_SAME_ON_GPU and not rival.reads_weights:
        pytest.skip("the same only on a processor")
    assert np.array_equal(light, heavy) != rival.reads_weights


@pytest.mark.parametrize("name", [rival.name for rival in RIVALS if rival.views])
def test_two_views_find_their_partners(name: str, tmp_path: Path) -> None:
    data = load(write_two_views(tmp_path / "two"))
    rows = embed(name, data, "all")
    assert len(rows) == 160 and np.isfinite(rows).all()
    np.testing.assert_array_equal(rows, embed(name, data, "all"))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    nearest = (unit[:80] @ unit[80:].T).argmax(axis=1)
    assert np.mean(nearest == np.arange(80)) > 0.8


def test_cca_is_scikit_learns_without_ridge_and_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.cross_decomposition import CCA

    from rivals import linear

    monkeypatch.setattr(linear, "RIDGE", 1e-10)
    monkeypatch.setattr(linear, "RETRIEVAL_POWER", 0)
    random = np.random.default_rng(2)
    hidden = random.normal(size=(80, 3))
    # Noise of different size, so that no two correlations are the same.
    views = [
        (hidden + random.normal(size=(80, 3)) * [0.1, 0.5, 2.0]) @ random.normal(size=(3, 3))
        for _ in range(2)
    ]
    pairs = sp.eye(80, format="csr")
    rows = linear.cca(TwoViews(*views, sp.bmat([[None, pairs], [pairs, None]]).tocsr()), "all", seed=0)
    theirs = CCA(2, max_iter=5000, tol=1e-12).fit_transform(*views)
    for column in range(2):
        for part, view in zip((rows[:80], rows[80:]), theirs):
            assert abs(np.corrcoef(view[:, column], part[:, column])[0, 1]) > 0.999


def test_layers_computed_apart_are_the_packages_own(folder: Path) -> None:
    pytest.importorskip("torch_geometric")
    import torch
    from torch_geometric.nn import GCNConv, GraphSAGE

    from rivals import networks

    fit, _, _ = networks.prepare(load(folder), "all", seed=0)
    device = fit.links.device
    rows = fit.features.rows.to_dense()
    sage = GraphSAGE(fit.features.width, 8, 2).to(device)
    torch.testing.assert_close(networks._sage(sage, fit), sage(rows, fit.links))
    ours = networks._FirstConvolution(fit.features.width, 8).to(device)
    theirs = GCNConv(fit.features.width, 8).to(device)
    theirs.lin.weight, theirs.bias = ours.linear.weight, ours.convolution.bias
    order = torch.randperm(len(rows), device=device)
    found = ours(fit, order)
    expected = theirs(rows[order], fit.links, fit.weights)
    torch.testing.assert_close(found, expected)
    # As on a GPU, link by link:
    torch.testing.assert_close(ours(dataclasses.replace(fit, spread=None), order), expected)
    slopes = [torch.autograd.grad(out.square().sum(), ours.linear.weight)[0] for out in (found, expected)]
    torch.testing.assert_close(*slopes)


def test_node2vec_walks_follow_their_law() -> None:
    """On a triangle with a tail, p = 1 and q = 0.5 make known chances."""
    pytest.importorskip("gensim")
    from rivals.walks import _Walker

    weights = np.zeros((4, 4))
    for i, j, weight in ((0, 1, 1), (0, 2, 2), (1, 2, 1), (2, 3, 3)):
        weights[i, j] = weights[j, i] = weight
    walker = _Walker(sp.csr_matrix(weights), p=1.0, q=0.5)
    random = np.random.default_rng(0)
    draws = walker._second_order(np.zeros(40000, int), np.full(40000, 2), random)
    # From 0 to 2: back with 2 x 1, on to the shared neighbour 1 x 1, out with 3 x 2.
    shares = np.bincount(draws, minlength=4) / 40000
    np.testing.assert_allclose(shares, np.array([2, 1, 0, 6]) / 9, atol=0.01)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    chosen = {**os.environ, "LINKPROOF_PYTHON": sys.executable, **environment}
    return subprocess.run([HERE / "run", *arguments], capture_output=True, text=True, env=chosen)


def test_list() -> None:
    listed = json.loads(run("list").stdout)
    assert [rival["name"] for rival in listed["rivals"]] == [rival.name for rival in RIVALS]
    assert "numpy" in listed["versions"]
    assert all(rival["settings"] or rival["views"] for rival in listed["rivals"])


def test_a_missing_package_is_named() -> None:
    rival = dataclasses.replace(BY_NAME["kmeans"], packages=("scikit-learn", "no-such-package"))
    assert rival.described()["missing"] == "no-such-package"
    with pytest.raises(ImportError, match="no-such-package"):
        rival.function()


def test_list_does_not_import_torch() -> None:
    code = "import sys, rivals.registry as r; r.listing(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=HERE).returncode == 0


@pytest.mark.parametrize("processes", ["1", "2"])
def test_jobs(processes: str, folder: Path, tmp_path: Path) -> None:
    job = {"data": str(folder), "setting": "all", "clusters": 3, "seed": 0}
    jobs = [
        {**job, "id": "good", "rival": "mds", "out": str(tmp_path / "good.npy")},
        {**job, "id": "nobody", "rival": "nobody", "out": str(tmp_path / "a.npy")},
        {**job, "id": "setting", "rival": "mds", "setting": "unseen", "out": str(tmp_path / "b.npy")},
        {**job, "id": "folder", "rival": "mds", "data": "/nowhere", "out": str(tmp_path / "c.npy")},
        {**job, "id": "out", "rival": "mds", "out": str(tmp_path / "none" / "d.npy")},
        {"id": "short"},
        {**job, "id": "network", "rival": "gae", "out": str(tmp_path / "network.npy")},
        {**job, "id": "last", "rival": "kmeans", "out": str(tmp_path / "last.npy")},
    ]
    file = tmp_path / "jobs"
    file.write_text("".join(json.dumps(line) + "\n" for line in jobs) + "not JSON\n")
    done = run("jobs", str(file), "--processes", processes, "--threads", "1")
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    ok = {answer["id"]: answer["ok"] for answer in answers}
    network = BY_NAME["gae"].missing() is None
    assert ok == {
        "good": True, "nobody": False, "setting": False, "folder": False, "out": False,
        "short": False, "network": network, "last": True, None: False,
    }  # fmt: skip
    for answer in answers:
        assert ("seconds" in answer) if answer["ok"] else "\n" not in answer["error"]
    rows = np.load(tmp_path / "last.npy")
    assert rows.dtype == np.float32 and rows.shape == (len(load(folder).test), 60)
    assert {path.name for path in tmp_path.glob("*.npy")} <= {"good.npy", "last.npy", "network.npy"}
    assert not list(tmp_path.glob(".*"))


def test_run_says_what_to_do_without_python() -> None:
    done = run("list", LINKPROOF_PYTHON="/no/such/python")
    assert done.returncode == 1 and "LINKPROOF_PYTHON" in done.stderr
