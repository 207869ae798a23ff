"""A small cluster on this machine, and graphs for it."""

import os
import signal
import subprocess

import numpy as np

from linkproof.ray import Cluster


def on(workers, **how):
    """So many workers, which a busy machine may take its time to start."""
    return Cluster(workers=workers, threads=1, patience=600, **how)


def local_cluster(nodes, store=80, **settings):
    """So many nodes with a CPU each and so many MB of object store; this process joins."""
    import ray
    from ray.cluster_utils import Cluster as LocalCluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    size = store * 1024 * 1024
    head = {"num_cpus": 1, "object_store_memory": size, "include_dashboard": False}
    cluster = LocalCluster(initialize_head=True, head_node_args={**head, **settings})
    for _ in range(nodes - 1):
        cluster.add_node(num_cpus=1, object_store_memory=size)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    cluster.wait_for_nodes()
    return cluster


def end(cluster):
    import ray

    ray.shutdown()
    cluster.shutdown()


def graph(n, links, columns, seed=0):
    random = np.random.default_rng(seed)
    groups = random.integers(0, 6, n)
    X = np.eye(6, columns, dtype=np.float32)[groups]
    X += 0.3 * random.normal(size=X.shape).astype(np.float32)
    order = np.argsort(groups, kind="stable")
    pairs = np.stack([order[:-1], order[1:]], 1)
    more = random.integers(0, n, (links, 2))
    pairs = np.vstack([pairs, more[more[:, 0] != more[:, 1]]])
    pairs = np.unique(np.sort(pairs, 1), axis=0)
    return X, pairs


def fit_with(helpers, model, X, links):
    """A fit whose passes are computed by these hands."""
    from linkproof import _core
    from linkproof._inputs import core_data, read_graph
    from linkproof._settings import read_rules, to_core

    data = core_data(read_graph(X, links, None), read_rules("error", "error", False))
    settings = to_core(model.get_params(deep=False), 1)
    return _core.Model.fit(data, settings, _core.Context(remote=helpers))


def kill_a_worker(cluster, name):
    """Kills a process of this cluster that does such work, as the system would."""
    nodes = [node.all_processes["raylet"][0].process.pid for node in cluster.list_all_nodes()]
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True)
    for line in listed.stdout.splitlines()[1:]:
        pid, parent, args = line.split(None, 2)
        if args.startswith(f"ray::{name}") and int(parent) in nodes:
            os.kill(int(pid), signal.SIGKILL)
            return True
    return False
