"""Several hosts on one machine: a Ray cluster over network namespaces, and its bytes.

sudo .venv/bin/python bench/ray_hosts.py --workers 2
sudo .venv/bin/python bench/ray_hosts.py --workers 3 --steps 6

Every node of the cluster has a network of its own, joined by a bridge, so that all it is
told and tells passes a wire that the kernel counts. The driver has a host to itself. Prints
what a step of an exact fit moves, and whether the fit has the bits of one machine. docs/ray.md has the results.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

NET = "10.213.77"
PORT = 6379


def run(*words: str) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


class Hosts:
    """So many namespaces on a bridge; the first is the driver's."""

    def __init__(self, count: int) -> None:
        self.names = [f"linkproof{place}" for place in range(count)]
        self.processes: list[subprocess.Popen] = []

    def __enter__(self) -> Hosts:
        self.clear()
        run("ip", "link", "add", "linkproof-br", "type", "bridge")
        run("ip", "link", "set", "linkproof-br", "up")
        for place, name in enumerate(self.names):
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"lpv{place}", "type", "veth", "peer", "name", "eth0",
                "netns", name)  # fmt: skip
            run("ip", "link", "set", f"lpv{place}", "master", "linkproof-br", "up")
            self.inside(
                place, "ip", "addr", "add", f"{NET}.{place + 1}/24", "dev", "eth0"
            )
            self.inside(place, "ip", "link", "set", "eth0", "up")
            self.inside(place, "ip", "link", "set", "lo", "up")
        return self

    def inside(self, place: int, *words: str) -> None:
        run("ip", "netns", "exec", self.names[place], *words)

    def ray(self, place: int, cpus: int) -> None:
        """A node of the cluster on a host."""
        here = f"{NET}.{place + 1}"
        where = (
            ["--head", f"--port={PORT}"]
            if place == 0
            else [f"--address={NET}.1:{PORT}"]
        )
        ray = str(Path(sys.executable).with_name("ray"))
        words = [
            ray,
            "start",
            *where,
            f"--node-ip-address={here}",
            f"--num-cpus={cpus}",
        ]
        words += [
            "--object-store-memory=300000000",
            "--block",
            "--include-dashboard=false",
        ]
        if place:
            words.remove("--include-dashboard=false")
        line = ["ip", "netns", "exec", self.names[place], *words]
        self.processes.append(
            subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        )

    def wait(self) -> None:
        """Until the first host answers: others that come too early give up."""
        knock = f"import socket; socket.create_connection(('{NET}.1', {PORT}), 1)"
        line = ["ip", "netns", "exec", self.names[0], sys.executable, "-c", knock]
        while subprocess.run(line, stderr=subprocess.DEVNULL, check=False).returncode:
            time.sleep(1)

    def __exit__(self, *_: object) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait(timeout=60)
        self.clear()

    def clear(self) -> None:
        for name in self.names:
            if Path(f"/run/netns/{name}").exists():
                run("ip", "netns", "del", name)
        if Path("/sys/class/net/linkproof-br").exists():
            run("ip", "link", "del", "linkproof-br")


def on_the_wire() -> int:
    """The bytes that this host was told and told."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "eth0":
            fields = numbers.split()
            return int(fields[0]) + int(fields[8])
    raise OSError("this host has no wire: run this program without --inside")


def fit(given: argparse.Namespace) -> None:
    import numpy as np
    import ray
    from linkproof import GraphEmbedding
    from linkproof.ray import Cluster
    from ray_fit import graph

    X, links = graph(given.nodes, 10)
    how = {"dim": given.dim, "steps": given.steps, "validation": 0.0, "verbose": False}
    model = GraphEmbedding(optimizer="adam", **how)
    expected = model.fit(X, links).embedding_.copy()
    counts: list[int] = []
    cluster = Cluster(f"{NET}.1:{PORT}", workers=given.workers, threads=1, patience=600)
    cluster.connect()
    begun = time.monotonic()
    while len([node for node in ray.nodes() if node["Alive"]]) < given.workers + 1:
        if time.monotonic() - begun > 120:
            raise OSError("a host has not joined the cluster in two minutes: try again")
        time.sleep(0.5)
    model.fit(X, links, ray=cluster, callback=lambda record: counts.append(on_the_wire()))
    same = np.array_equal(model.embedding_, expected)
    idle = on_the_wire()
    time.sleep(10)
    idle = (on_the_wire() - idle) / 10
    # The first steps start workers.
    steps = np.diff(counts)[1:]
    print(
        f"n = {given.nodes}, dim = {given.dim}, {given.workers} hosts with a worker each: "
        f"{'the same' if same else 'OTHER'} bits; {np.median(steps) / 1e6:.3f} MB a step on the "
        f"driver's wire ({steps.min() / 1e6:.3f} to {steps.max() / 1e6:.3f}, {len(steps)} steps; "
        f"idle {idle / 1e3:.1f} kB/s)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--steps", type=int, default=9)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        fit(given)
        return
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with Hosts(given.workers + 1) as hosts:
        hosts.ray(0, 0)
        hosts.wait()
        for place in range(1, given.workers + 1):
            hosts.ray(place, 1)
        words = [
            "ip",
            "netns",
            "exec",
            hosts.names[0],
            sys.executable,
            *sys.argv,
            "--inside",
        ]
        subprocess.run(words, check=True)


if __name__ == "__main__":
    main()
