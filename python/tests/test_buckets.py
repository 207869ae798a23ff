"""Meetings of buckets, as workers make them."""

import json

import numpy as np
import pytest

from linkproof import GraphEmbedding, Sgd, _core
from linkproof._settings import to_core

DIM = 2


def bucket(rows, seed=0):
    state = np.zeros((3, rows * DIM), np.float32)
    state[0] = np.random.default_rng(seed).normal(size=rows * DIM)
    return state


def listed(first, second, starts):
    ends = (np.array(end, np.uint32) for end in (first, second))
    return (*ends, np.ones(len(first)), np.array(starts, np.uint32))


def meet(threads=1, **other):
    """Two buckets of 7 and 6 nodes, of two parts each, with a link between the first parts."""
    base = GraphEmbedding(encoder="table", dim=DIM, ridge=0.1, sgd=Sgd(learning_rate=0.1))
    asked = {
        "settings": json.dumps(json.loads(to_core(base.get_params(deep=False), 0))),
        "dim": DIM,
        "buckets": [bucket(7), bucket(6, 1)],
        "cuts": [[0, 3, 7], [0, 3, 6]],
        "gamma": (0.5, 0.0, 0.0),
        "links": listed([1], [2], [0, 1, 1, 1, 1]),
        "order": [1, 0],
        "moves": 3,
        "per": 1.5,
        **other,
    }
    gamma, paid = _core.BucketWorker(threads).meet(**asked)
    return asked["buckets"], gamma, paid


def test_buckets_move_in_place_to_the_same_bits_with_any_number_of_threads():
    (first, second), gamma, paid = meet()
    for found, start in ((first, bucket(7)), (second, bucket(6, 1))):
        assert (found[0] != start[0]).all()
    assert gamma[0] != 0.5 and np.isfinite(paid)
    (again, _), *told = meet(threads=3)
    assert np.array_equal(first, again) and told == [gamma, paid]


def test_what_is_no_meeting_is_refused():
    one = bucket(7)
    for other, words in [
        ({"buckets": [one]}, "one or two buckets, and the cuts of each"),
        ({"buckets": [], "cuts": []}, "one or two buckets"),
        ({"order": [0]}, "different numbers"),
        ({"cuts": [[0, 3, 7], [0, 6]]}, "as many parts in each bucket as rounds"),
        ({"cuts": [[0, 3, 8], [0, 3, 6]]}, "cuts from 0 to the last row"),
        ({"cuts": [[0, 9, 7], [0, 3, 6]]}, "cuts from 0 to the last row"),
        ({"buckets": [one[:2].copy(), bucket(6)]}, "three rows each"),
        ({"links": listed([1], [2], [0, 1, 1, 1])}, "different numbers"),
        ({"links": listed([1], [2], [0, 1, 0, 1, 1])}, "different numbers"),
        ({"links": listed([1], [2], [0, 0, 0, 1, 1])}, "a link outside its part"),
        ({"links": listed([1], [], [0, 1, 1, 1, 1])}, "different numbers"),
        ({"order": [0, 2]}, "each number once"),
        ({"per": 0.0}, "links of a visit on average"),
    ]:
        with pytest.raises(ValueError, match=words):
            meet(**other)
    with pytest.raises(Exception, match="borrow"):
        meet(buckets=[one, one], cuts=[[0, 3, 7], [0, 3, 7]])
