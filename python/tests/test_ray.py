"""Fits on clusters of several node processes on this machine."""

import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from linkproof import GraphEmbedding, Search, select

ray = pytest.importorskip("ray", reason="Ray is not installed: fits on clusters are not tested")

from ray_cluster import graph, kill_a_worker, on  # noqa: E402

from linkproof import _cluster  # noqa: E402
from linkproof._cluster import Remote  # noqa: E402
from linkproof.ray import Cluster, ClusterError  # noqa: E402


@pytest.fixture(scope="module")
def large():
    """Enough nodes for passes to be shared out."""
    return graph(5000, 3000, 8)


def exact(**settings):
    return GraphEmbedding(dim=4, steps=3, random_state=1, verbose=False, **settings)


@pytest.fixture(scope="module")
def plain(large):
    return exact().fit(*large).embedding_.copy()


@pytest.mark.parametrize(
    "where",
    [on(1), on(2), on(None)],
    ids=["1", "2", "4"],
)
def test_any_number_of_workers_gives_the_bits_of_one_machine(cluster, large, plain, where):
    # Without a number there is one worker on each of the four nodes.
    assert np.array_equal(exact().fit(*large, ray=where).embedding_, plain)


@pytest.mark.parametrize(
    "settings",
    [
        {"score": "probability", "beta": 0.5, "precision": "f64"},
        {"offsets": True, "similarity": "signed", "optimizer": "adam"},
    ],
)
def test_every_kind_of_pass_travels(cluster, large, settings):
    model = exact(**settings)
    expected = model.fit(*large).embedding_.copy()
    found = model.fit(*large, ray=on(3))
    assert np.array_equal(found.embedding_, expected)


def test_a_fit_survives_workers_that_are_killed(cluster, large):
    model = exact()
    model.set_params(steps=12)
    expected = model.fit(*large).embedding_.copy()
    killed = []

    def kill(record):
        if record["step"] in (2, 5, 9):
            killed.append(kill_a_worker(cluster, "_PairActor"))

    found = model.fit(*large, ray=on(2), callback=kill)
    assert killed == [True] * 3
    assert np.array_equal(found.embedding_, expected)


def test_a_share_that_no_worker_survives_ends_the_fit(cluster, large, monkeypatch):
    monkeypatch.setattr(_cluster, "_TRIES", 1)

    def kill(record):
        kill_a_worker(cluster, "_PairActor")

    model = exact()
    with pytest.raises(ClusterError, match="workers were lost one after another"):
        model.fit(*large, ray=on(1), callback=kill)


def test_a_fit_whose_driver_was_killed_goes_on(cluster, large, tmp_path):
    model, kept = exact(), tmp_path / "kept"
    model.set_params(steps=12)
    expected = model.fit(*large).embedding_.copy()
    np.savez(tmp_path / "data.npz", X=large[0], links=large[1])
    script = f"""
        import numpy as np
        import os, signal
        from linkproof import GraphEmbedding
        from linkproof.ray import Cluster

        data = np.load({str(tmp_path / "data.npz")!r})
        def kill(record):
            if record["step"] == 6:
                raise KeyboardInterrupt
            if record["step"] == 9:
                os.kill(os.getpid(), signal.SIGKILL)
        model = GraphEmbedding(dim=4, steps=12, random_state=1, verbose=False)
        how = dict(callback=kill, checkpoint={str(tmp_path / "kept")!r}, resume=True)
        cluster = Cluster({cluster.address!r}, workers=2, threads=1, patience=600)
        try:
            model.fit(data["X"], data["links"], ray=cluster, **how)
        except KeyboardInterrupt:
            model.fit(data["X"], data["links"], ray=cluster, **how)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)])
    assert done.returncode == -signal.SIGKILL
    assert kept.exists()
    found = model.fit(*large, ray=on(2), checkpoint=kept, resume=True)
    assert np.array_equal(found.embedding_, expected)
    assert len(found.history_) == 12


# Many fits


@pytest.fixture(scope="module")
def small():
    return graph(150, 200, 8)


def test_a_search_by_tasks_chooses_the_same(cluster, small):
    how = {"dim": 3, "search": Search(ridges=[1, 10, 100], folds=3), "verbose": False}
    here = select(*small, **how)
    there = select(*small, ray=True, **how)
    assert here.params == there.params
    assert here.candidates.equals(there.candidates)
    assert here.fits == there.fits


def test_a_robust_fit_by_tasks_has_the_same_bits(cluster, small):
    model = GraphEmbedding(dim=3, robust=True, random_state=2, verbose=False)
    here = model.fit(*small)
    expected = here.embedding_.copy(), here.belief_.copy()
    there = model.fit(*small, ray=True)
    assert np.array_equal(there.embedding_, expected[0])
    assert np.array_equal(there.belief_, expected[1])


def test_tasks_of_lost_workers_run_again(cluster, small):
    stop = threading.Event()
    killed = []

    def kill():
        while not stop.is_set() and len(killed) < 2:
            if kill_a_worker(cluster, "_solve"):
                killed.append(True)
            time.sleep(0.05)

    model = GraphEmbedding(dim=3, robust=True, random_state=2, verbose=False)
    expected = model.fit(*small).embedding_.copy()
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = model.fit(*small, ray=True)
    finally:
        stop.set()
        killer.join()
    assert np.array_equal(found.embedding_, expected)


def test_data_vectors_are_put_once(cluster, small, monkeypatch):
    seen, original = [], _cluster.put

    def put(ray, what, called):
        seen.append(what.nbytes)
        return original(ray, what, called)

    monkeypatch.setattr(_cluster, "put", put)
    helpers = Remote(Cluster())
    try:
        vectors = [np.arange(1000.0)]
        for _ in range(3):
            helpers.begin(b"{}", [("the same", vectors), (None, [np.zeros(10)])])
        assert seen == [8000, 80, 80, 80]
    finally:
        helpers.close()


# Bad input and faults


def test_what_is_no_cluster_is_refused(small):
    with pytest.raises(ValueError, match="ray must be True, the address"):
        GraphEmbedding(dim=2).fit(*small, ray=3)
    with pytest.raises(ValueError, match="workers must be a whole number"):
        Cluster(workers=0)
    with pytest.raises(ValueError, match="address must be"):
        Cluster(5)


def test_an_address_that_does_not_answer():
    script = """
        from linkproof.ray import Cluster, ClusterError
        try:
            Cluster("127.0.0.1:1").connect()
        except ClusterError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True
    )
    assert "no cluster answers at 127.0.0.1:1: [Errno 111]" in done.stdout


def test_more_workers_than_there_is_room_for(cluster, large):
    with pytest.raises(ClusterError, match=r"workers did not start within 1 seconds.*has 4"):
        exact().fit(*large, ray=Cluster(workers=9, threads=2, patience=1))


def test_more_threads_than_a_node_has(cluster, small):
    with pytest.raises(ClusterError, match=r"no node with 3 CPUs.*the largest has 1"):
        select(
            *small, dim=2, search=Search(folds=2), verbose=False, ray=Cluster(threads=3, patience=0)
        )


def test_nodes_with_another_linkproof(cluster, large, small, monkeypatch):
    monkeypatch.setattr(_cluster, "_about", lambda: ("0.0.1", b""))
    with pytest.raises(ClusterError, match=r"found linkproof .* on a node; expected 0\.0\.1"):
        exact().fit(*large, ray=on(1))
    with pytest.raises(ClusterError, match=r"on a node; expected 0\.0\.1"):
        select(*small, dim=2, search=Search(ridges=[1, 10], folds=2), verbose=False, ray=True)
