"""Clusters that run out of memory or of room: clear errors, nothing lost."""

import json

import numpy as np
import pytest

from linkproof import GraphEmbedding, Search, _core, select

ray = pytest.importorskip("ray", reason="Ray is not installed: faults of clusters are not tested")

from ray_cluster import end, graph, local_cluster  # noqa: E402

from linkproof.ray import Cluster, ClusterError, fit_table  # noqa: E402


@pytest.fixture(scope="module")
def small():
    return graph(150, 200, 8)


@pytest.fixture(scope="module")
def large(small):
    """Data vectors of 96 MB, more than the store of 80 MB."""
    return np.random.default_rng(0).normal(size=(150, 80_000)), small[1]


def chain(n):
    return np.stack([np.arange(n - 1), np.arange(1, n)], 1)


def test_a_full_store_and_a_full_disk(large, tmp_path):
    # Nothing may be written to disk: as if it were full.
    cluster = local_cluster(1, _system_config={"local_fs_capacity_threshold": 0.0})
    how = {"buckets": 2, "epochs": 1, "verbose": False, "ray": True}
    try:
        with pytest.raises(ClusterError, match=r"store cannot hold 96 MB more: .*larger object"):
            select(*large, dim=2, search=Search(ridges=[1], folds=2), verbose=False, ray=True)
        with pytest.raises(ClusterError, match="store cannot hold the table"):
            fit_table(chain(8000), dim=900, **how)
        # One copy fits and two do not: the first round ends it, and the start is kept.
        kept = tmp_path / "kept"
        with pytest.raises(ClusterError, match="store cannot hold the table: .*from a checkpoint"):
            fit_table(chain(8000), dim=600, checkpoint=kept, **how)
        about = (kept / "checkpoint.json").read_text()
        state = json.loads(_core.Checkpoint(kept, True, about).recall("state"))["state"]
        assert state["moves"] == 0
    finally:
        end(cluster)


def test_workers_that_are_killed_for_their_memory(small, monkeypatch):
    # Any memory is too much: whatever runs is killed.
    monkeypatch.setenv("RAY_task_oom_retries", "1")
    killing = {"memory_usage_threshold": 0.0001, "memory_monitor_refresh_ms": 50}
    cluster = local_cluster(1, _system_config=killing)
    try:
        with pytest.raises(ClusterError, match=r"lost with its worker.*running low on memory"):
            GraphEmbedding(dim=3, robust=True, verbose=False).fit(*small, ray=True)
    finally:
        end(cluster)


def test_fits_that_foresee_too_little_memory_on_their_node(small, monkeypatch):
    with monkeypatch.context() as there:
        there.setenv("LINKPROOF_MAX_MEMORY", "1MB")
        cluster = local_cluster(1)
    try:
        with pytest.raises(MemoryError, match=r"LINKPROOF_MAX_MEMORY"):
            select(*small, dim=64, search=Search(ridges=[1], folds=2), verbose=False, ray=True)
    finally:
        end(cluster)


def test_clusters_without_cards(small):
    # One that says so, and one whose node promises a card that it does not have.
    model = GraphEmbedding(dim=2, verbose=False)
    where = Cluster(device="cuda", patience=600)
    cluster = local_cluster(1)
    try:
        with pytest.raises(ClusterError, match="no node with a card; .*--num-gpus"):
            model.fit(*small, ray=where)
    finally:
        end(cluster)
    cluster = local_cluster(1, num_gpus=1)
    try:
        words = "a worker cannot start: .*no driver for NVIDIA cards; install it, or compute on"
        with pytest.raises(ClusterError, match=words):
            model.fit(*small, ray=where)
    finally:
        end(cluster)
