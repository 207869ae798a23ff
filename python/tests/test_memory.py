"""Arrays are read where they are, and the interpreter is free meanwhile."""

from __future__ import annotations

import _thread
import platform
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from linkproof import GraphEmbedding, Sgd, _core, _progress
from linkproof._features import read_matrix
from linkproof._inputs import core_links, core_vectors
from linkproof._links import MatrixLinks, read_links

MILLION = 1_000_000


def large_matrix(index: Any = np.int32, real: Any = np.float32) -> Any:
    """A million rows of three entries."""
    columns = np.arange(3 * MILLION) % MILLION
    indptr = np.arange(0, 3 * MILLION + 1, 3)
    data = np.ones(3 * MILLION, real)
    matrix = sp.csr_array((data, columns, indptr), shape=(MILLION, MILLION))
    matrix.sum_duplicates()
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_a_million_sparse_rows_pass_without_a_copy(index: Any, real: Any) -> None:
    X = large_matrix(index, real)
    found = core_vectors(read_matrix(X)).addresses()
    assert found["data"] == address(X.data)
    assert found["indptr"] == address(X.indptr)
    # The core counts columns in 32 bits: wider ones are narrowed.
    assert (found["indices"] == address(X.indices)) == (index is np.int32)


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_dense_rows_pass_without_a_copy(real: Any) -> None:
    X = np.ones((1000, 50), real)
    assert core_vectors(read_matrix(X)).addresses()["data"] == address(X)
    rows = X[200:300]
    assert core_vectors(read_matrix(rows)).addresses()["data"] == address(rows)


def test_a_million_rows_of_links_are_read_where_they_are() -> None:
    matrix = large_matrix()
    links = read_links(matrix)
    assert isinstance(links, MatrixLinks)
    for name in ("data", "indices", "indptr"):
        assert address(getattr(links, name)) == address(getattr(matrix, name))
    tracemalloc.start()
    graph = core_links(links, links.n, ("max", "drop", "alike"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert graph.n_nodes == MILLION
    # NumPy's arrays are traced: no array was made on the way.
    assert peak < 1_000_000


def test_the_embeddings_are_the_model_s_own_memory(planted: Any) -> None:
    model = GraphEmbedding(dim=4, steps=3, verbose=False).fit(planted.X, planted.matrix)
    first = model.embedding_
    assert address(first) == address(model.embedding_)
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 1
    del model
    # The array keeps the memory.
    assert np.isfinite(first).all()


def test_the_caller_s_arrays_stay_as_they_were(planted: Any) -> None:
    X = sp.csr_array(planted.X)
    links = planted.matrix.copy()
    before = [array.copy() for array in (X.data, X.indices, links.data, links.indices)]
    GraphEmbedding(dim=3, steps=3, verbose=False).fit(X, links)
    for old, new in zip(before, (X.data, X.indices, links.data, links.indices)):
        assert np.array_equal(old, new)


def test_arrays_that_may_not_be_written_to(planted: Any) -> None:
    X, links = planted.X.copy(), planted.listed.copy()
    X.flags.writeable = links.flags.writeable = False
    GraphEmbedding(dim=3, steps=3, verbose=False).fit(X, links)


def test_entries_stored_twice_or_out_of_order(planted: Any) -> None:
    X = sp.csr_array(planted.X)
    rows = np.repeat(np.arange(90), 16)
    columns = np.tile(np.r_[np.arange(8)[::-1], np.arange(8)], 90)
    halves = np.repeat(planted.X[:, None, :], 2, axis=1)
    halves[:, 0] = halves[:, 0, ::-1]
    messy = sp.csr_array(
        (halves.ravel() / 2, columns, np.arange(0, 90 * 16 + 1, 16)), shape=(90, 8)
    )
    assert len(messy.data) == len(rows)
    fits = [GraphEmbedding(dim=3, verbose=False).fit(x, planted.matrix) for x in (X, messy)]
    assert np.allclose(fits[0].embedding_, fits[1].embedding_, atol=1e-5)
    assert len(messy.data) == len(rows)


def test_other_threads_run_during_a_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit that would take hours ends because another thread gets on and interrupts it."""
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 40))
    links = random.integers(0, 3000, (20_000, 2))
    links = np.unique(np.sort(links[links[:, 0] != links[:, 1]], axis=1), axis=0)
    begun = threading.Event()
    monkeypatch.setattr(_progress.Progress, "__enter__", lambda self: begun.set() or self)

    def interrupt() -> None:
        begun.wait()
        for _ in range(100):
            time.sleep(0.002)
        _thread.interrupt_main()

    # A shell may have started these tests with interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    other = threading.Thread(target=interrupt)
    other.start()
    settings = {
        "steps": 10**6,
        "optimizer": "adam",
        "sgd": Sgd(learning_rate=1e-9),
        "validation": 0,
    }
    with pytest.raises(KeyboardInterrupt):
        GraphEmbedding(dim=32, verbose=False, **settings).fit(X, links)
    other.join()
    signal.signal(signal.SIGINT, before)


def test_the_core_refuses_arrays_that_it_cannot_read() -> None:
    with pytest.raises(TypeError, match="float32 or float64"):
        _core.Vectors.dense(np.ones((2, 2), np.int64))
    with pytest.raises(TypeError, match="contiguous"):
        _core.Vectors.dense(np.ones((4, 4))[:, ::2])
    with pytest.raises(ValueError, match="fit together"):
        _core.Vectors.sparse(3, np.array([0, 5]), np.array([1]), np.ones(1))
    with pytest.raises(ValueError, match="columns below 3"):
        _core.Vectors.sparse(3, np.array([0, 1]), np.array([-1]), np.ones(1))


# Prints how many pools of memory the system's allocator has, after some work on two
# threads and after much more.
POOLS = """
import ctypes, os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import numpy as np
from linkproof import GraphEmbedding
X = np.arange(60.0).reshape(30, 2) % 7
links = np.array([(a, (a + step) % 30) for a in range(30) for step in (1, 2)])
model = GraphEmbedding(dim=2, steps=2, n_jobs=2, verbose=False).fit(X, links)
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]
for rounds in (3, 300):
    for _ in range(rounds):
        model.transform(X)
        model.report_
    file = libc.fopen(b"pools.xml", b"w")
    libc.malloc_info(0, file)
    libc.fclose(file)
    print(open("pools.xml").read().count("<heap nr="))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="asks the allocator of glibc")
def test_threads_have_ended_when_work_returns(tmp_path: Path) -> None:
    command = [sys.executable, "-c", POOLS]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    # One pool for each thread that is about at the same time. A thread that is still about
    # while the next ones start would make for another, now and then.
    few, many = map(int, found.stdout.split())
    assert many <= few


# Fits under a limit of the address space that leaves so many megabytes more than there are.
LIMITED = """
import resource, sys
import numpy as np
from linkproof import GraphEmbedding
random = np.random.default_rng(0)
X = random.normal(size=(2000, 100)).astype(np.float32)
links = random.integers(0, 2000, (6000, 2))
links = np.unique(np.sort(links[links[:, 0] != links[:, 1]], axis=1), axis=0)
words = open("/proc/self/status").read().split()
limit = int(words[words.index("VmSize:") + 1]) * 1024 + int(sys.argv[1]) * 10**6
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    GraphEmbedding(dim=16, steps=2, n_jobs=3, verbose=False).fit(X, links)
except (MemoryError, OSError):
    sys.exit(3)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space of a process")
@pytest.mark.parametrize("megabytes", [5, 30, 50, 70, 100, 130, 400])
def test_a_limit_of_the_address_space_does_not_end_the_interpreter(megabytes: int) -> None:
    command = [sys.executable, "-c", LIMITED, str(megabytes)]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode in (0, 3), found.stderr
    if megabytes == 400:
        assert found.returncode == 0, found.stderr
