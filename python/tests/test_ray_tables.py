"""Tables in buckets, on a cluster of several node processes on this machine."""

import json
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: bucketed tables are not tested")

from ray_cluster import kill_a_worker  # noqa: E402

from linkproof import __version__, _bucket_work, _buckets, _core  # noqa: E402
from linkproof._bucket_work import InProcess, KeptTable, TableWork  # noqa: E402
from linkproof._buckets import _buckets_and_parts  # noqa: E402
from linkproof.ray import Cluster, ClusterError, fit_table, visit_bytes  # noqa: E402

HOW = {"dim": 4, "score": "likelihood", "ridge": 0.1, "learning_rate": 0.2, "verbose": False}


def groups_and_links():
    groups = np.repeat(np.arange(6), 20)
    same = np.argwhere(np.triu(groups[:, None] == groups, 1))
    random = np.random.default_rng(0)
    return groups, same, same[random.random(len(same)) < 0.4]


def same(found, expected):
    return (
        np.array_equal(found.embedding(), expected.embedding())
        and found.gamma == expected.gamma
        and found.values == expected.values
    )


@pytest.mark.parametrize("parts", [1, 4])
def test_tables_have_the_same_bits_in_one_process_and_with_any_number_of_workers(cluster, parts):
    groups, same_group, links = groups_and_links()
    how = {"buckets": 4, "parts": parts, "epochs": 5, **HOW}
    alone = fit_table(links, ray=False, **how)
    for where in (Cluster(workers=1), Cluster(workers=2), Cluster()):
        found = fit_table(links, ray=where, **how)
        assert same(found, alone) and (found.n_buckets, found.n_parts) == (4, parts)
    assert alone.values[-1] < alone.values[0]
    # Linked groups are closer than others.
    inside = alone.score_pairs(same_group).mean()
    others = np.argwhere(np.triu(groups[:, None] != groups, 1))
    assert inside > alone.score_pairs(others).mean() + 1
    nodes, vectors = alone.bucket(2)
    assert np.array_equal(alone.embedding()[nodes], vectors)


def test_every_pair_of_parts_is_visited_once_in_an_epoch(monkeypatch):
    _, _, links = groups_and_links()
    visited = []

    class Watched(InProcess):
        def meet(self, asked, meetings):
            for meeting in meetings:
                # The parts of all buckets, counted through.
                first, second = (4 * meeting[0][end] for end in (0, -1))
                visited.extend(
                    tuple(sorted((first + p, second + (p ^ r))))
                    for r in asked["order"]
                    for p in range(4)
                    if first != second or p <= p ^ r
                )
            return super().meet(asked, meetings)

    monkeypatch.setattr(_buckets, "InProcess", Watched)
    fit_table(links, buckets=4, parts=4, epochs=1, ray=False, **HOW)
    assert sorted(visited) == [(p, q) for p in range(16) for q in range(p, 16)]


def test_what_buckets_cannot_do_is_refused():
    links = np.array([[0, 1], [1, 2], [2, 3], [0, 9]])
    for wrong, words in [
        ({"buckets": 3}, "buckets must be a power of two"),
        ({"parts": 3}, "parts must be a power of two"),
        ({"buckets": 2, "parts": 2}, "buckets must be a power of two|parts must be"),
        ({"memory": 10}, "memory must be .* bytes or more"),
        ({"memory": 10**9, "buckets": 2}, "buckets: found with memory"),
        ({"memory": 10**9, "parts": 2}, "parts: found with memory"),
        ({"hidden": 3}, "settings must be names among"),
        ({"ray": 3}, "ray must be True"),
    ]:
        with pytest.raises(ValueError, match=words):
            fit_table(links, list(range(10)), verbose=False, **wrong)


def test_buckets_and_parts_follow_from_the_bound():
    for n, dim in [(50_000, 64), (1_000_000, 128)]:
        size, bound = (n, 5 * n, dim), n * dim
        count, parts = _buckets_and_parts(size, bound, None, 1)
        assert visit_bytes(*size, count, parts) <= bound
        # Fewer buckets would not do, nor fewer parts of them.
        assert visit_bytes(*size, count // 2, 8) > bound
        assert parts == 1 or visit_bytes(*size, count, parts // 2) > bound


def test_weights_are_taken_as_asked(cluster):
    _, _, links = groups_and_links()
    heavy = np.column_stack([links, np.full(len(links), 3.0)])
    how = {"buckets": 2, "epochs": 1, "ray": True, **HOW}
    ones = fit_table(links, **how).embedding()
    assert np.array_equal(fit_table(heavy, weights="binary", **how).embedding(), ones)
    assert not np.array_equal(fit_table(heavy, **how).embedding(), ones)


# Checkpoints


# What is kept does not depend on who makes the meetings: most of this needs no cluster.


@pytest.fixture(scope="module")
def undisturbed():
    _, _, links = groups_and_links()
    return fit_table(links, buckets=4, epochs=4, ray=False, **HOW)


def kept_state(folder, *names):
    """What a checkpoint says of a fit."""
    about = (folder / "checkpoint.json").read_text()
    state = json.loads(_core.Checkpoint(folder, True, about).recall("state"))["state"]
    return [state[name] for name in names]


def at_every_round(monkeypatch):
    monkeypatch.setattr(_bucket_work, "_EVERY", 0.0)
    monkeypatch.setattr(_bucket_work, "_COST", 0)


def test_a_table_whose_driver_was_killed_goes_on(cluster, undisturbed, tmp_path):
    _, _, links = groups_and_links()
    np.save(tmp_path / "links.npy", links)
    script = f"""
        import os, signal
        import numpy as np
        from linkproof import _bucket_work
        from linkproof._bucket_work import TableWork
        from linkproof.ray import Cluster, fit_table

        _bucket_work._EVERY = _bucket_work._COST = 0
        rounds, original = [], TableWork._round
        def visit(self, *asked):
            rounds.append(1)
            if len(rounds) == 7:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(self, *asked)
        TableWork._round = visit
        fit_table(np.load({str(tmp_path / "links.npy")!r}), buckets=4, epochs=4,
                  checkpoint={str(tmp_path / "kept")!r}, ray={cluster.address!r}, **{HOW!r})
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)])
    assert done.returncode == -signal.SIGKILL
    assert kept_state(tmp_path / "kept", "epoch", "done") == [1, 2]
    how = {"buckets": 4, "epochs": 4, "checkpoint": tmp_path / "kept", "resume": True, **HOW}
    found = fit_table(links, ray=Cluster(workers=1), **how)
    assert same(found, undisturbed)
    assert not (tmp_path / "kept").exists()


def interrupt(monkeypatch, at, error):
    """Ends a fit before its round of this number."""
    rounds, original = [], TableWork._round

    def visit(self, *asked):
        rounds.append(1)
        if len(rounds) == at:
            raise error
        return original(self, *asked)

    monkeypatch.setattr(TableWork, "_round", visit)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ClusterError("gone")])
def test_a_table_that_was_cut_short_keeps_its_last_round(undisturbed, tmp_path, monkeypatch, error):
    _, _, links = groups_and_links()
    how = {"buckets": 4, "epochs": 4, "checkpoint": tmp_path / "kept", "ray": False, **HOW}
    with monkeypatch.context() as here:
        interrupt(here, 11, error)
        with pytest.raises(type(error)):
            fit_table(links, **how)
    assert kept_state(tmp_path / "kept", "epoch", "done") == [2, 2]
    assert same(fit_table(links, resume=True, **how), undisturbed)


def test_what_is_kept_is_whole_wherever_writing_ends(undisturbed, tmp_path, monkeypatch):
    _, _, links = groups_and_links()
    how = {"buckets": 4, "epochs": 4, "checkpoint": tmp_path / "kept", "ray": False, **HOW}
    original = KeptTable._write
    # The first save writes four buckets and the state; later ones end at each of these.
    for writes in range(5, 13):
        at_every_round(monkeypatch)
        written = []

        def write(self, key, data, written=written, writes=writes):
            if len(written) == writes:
                raise KeyboardInterrupt
            written.append(key)
            original(self, key, data)

        with monkeypatch.context() as here:
            here.setattr(KeptTable, "_write", write)
            with pytest.raises(KeyboardInterrupt):
                fit_table(links, **how)
        assert same(fit_table(links, resume=True, **how), undisturbed)


def test_an_interrupt_between_two_lines_keeps_what_belongs_together(
    undisturbed, tmp_path, monkeypatch
):
    """A user's interrupt comes at any moment, also right after the buckets have moved."""
    _, _, links = groups_and_links()
    how = {"buckets": 4, "epochs": 4, "checkpoint": tmp_path / "kept", "ray": False, **HOW}
    original = InProcess.meet
    for at in (1, 6, 16):
        rounds = []

        def meet(self, *asked, at=at, rounds=rounds):
            found = original(self, *asked)
            rounds.append(1)
            if len(rounds) == at:
                raise KeyboardInterrupt
            return found

        with monkeypatch.context() as here:
            here.setattr(InProcess, "meet", meet)
            with pytest.raises(KeyboardInterrupt):
                fit_table(links, **how)
        assert kept_state(tmp_path / "kept", "moves") == [at - 1]
        assert same(fit_table(links, resume=True, **how), undisturbed)


def test_checkpoints_of_other_work_are_refused(tmp_path, monkeypatch):
    _, _, links = groups_and_links()
    kept = tmp_path / "kept"
    how = {"buckets": 4, "epochs": 2, "checkpoint": kept, "ray": False, **HOW}
    with monkeypatch.context() as here:
        interrupt(here, 3, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            fit_table(links, **how)
    for other, words in [
        ({"ridge": 0.2}, "ridge 0.1 and not 0.2"),
        ({"epochs": 3}, "epochs 2 and not 3"),
        ({"buckets": 2}, "buckets 4 and not 2"),
        ({"parts": 2}, "parts 1 and not 2"),
        ({"random_state": 1}, "seed 0 and not 1"),
    ]:
        with pytest.raises(OSError, match=words):
            fit_table(links, resume=True, **{**how, **other})
    with pytest.raises(OSError, match='data "[0-9a-f]*"? and not'):
        fit_table(links[1:], resume=True, **how)
    header = json.loads((kept / "checkpoint.json").read_text())
    (kept / "checkpoint.json").write_text(json.dumps({**header, "linkproof": "0.0.1"}))
    with pytest.raises(OSError, match='linkproof "0.0.1" and not'):
        fit_table(links, resume=True, **how)
    (kept / "checkpoint.json").write_text(json.dumps({**header, "linkproof": __version__}))
    for bucket in kept.glob("*-2.running"):
        bucket.write_bytes(bucket.read_bytes()[:-1] + b"x")
    with pytest.raises(OSError, match=r"bucket 2 is not what was written there"):
        fit_table(links, resume=True, **how)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="is no checkpoint and not empty"):
        fit_table(links, **{**how, "checkpoint": tmp_path / "other"})
    with pytest.raises(ValueError, match="checkpoint must be a folder"):
        fit_table(links, **{**how, "checkpoint": 3})


def test_meetings_of_lost_workers_are_made_again(cluster, monkeypatch):
    _, _, links = groups_and_links()
    how = {"buckets": 4, "parts": 2, "epochs": 4, **HOW}
    rounds, killed, original = [], [], TableWork._round

    def visit(self, *asked):
        # Workers stay between rounds, and what they made with them. A few times: each takes
        # a busy machine long to start.
        rounds.append(1)
        if len(rounds) in (2, 6, 11):
            killed.append(kill_a_worker(cluster, "IDLE"))
        return original(self, *asked)

    monkeypatch.setattr(TableWork, "_round", visit)
    found = fit_table(links, ray=True, **how)
    monkeypatch.undo()
    assert any(killed) and same(found, fit_table(links, ray=False, **how))
