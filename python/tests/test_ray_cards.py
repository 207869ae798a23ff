"""Fits by workers on graphics cards; the card is an emulated one."""

from contextlib import contextmanager

import numpy as np
import pytest

from linkproof import GraphEmbedding, select

ray = pytest.importorskip("ray", reason="Ray is not installed: workers on cards are not tested")

import emulated_card  # noqa: E402
from ray_cluster import (  # noqa: E402
    end,
    fit_with,
    graph,
    kill_a_worker,
    local_cluster,
    on,
)

from linkproof._cluster import Remote  # noqa: E402
from linkproof.ray import Cluster, ClusterError, fit_table  # noqa: E402

STORE = 80 * 1024 * 1024


@contextmanager
def with_card(card, **more):
    """Nodes that start meanwhile have a card, as their workers do; this process has none."""
    with pytest.MonkeyPatch.context() as there:
        for name, value in {**card, **more}.items():
            there.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    """What processes that have a card find in their environment."""
    return emulated_card.build(tmp_path_factory.mktemp("card"))


@pytest.fixture(scope="module")
def cards(card):
    """Two nodes, each with two CPUs and a card."""
    with with_card(card):
        cluster = local_cluster(1, num_cpus=2, num_gpus=1)
        cluster.add_node(num_cpus=2, num_gpus=1, object_store_memory=STORE)
        cluster.wait_for_nodes()
    yield cluster
    end(cluster)


@pytest.fixture(scope="module")
def data():
    # So many nodes that shares of them would be cut into more parts than the whole.
    return graph(800, 1800, 6)


def exact(**settings):
    return GraphEmbedding(dim=3, steps=4, random_state=1, verbose=False, **settings)


def on_cards(workers=None, **how):
    return on(workers, device="cuda", **how)


SETTINGS = [
    {},
    {"optimizer": "adam", "offsets": True, "similarity": "signed"},
    {"score": "probability", "beta": 0.5, "precision": "f64"},
]


def fits_by(where, X, links):
    """Fits of every kind by the same workers; their embeddings."""
    helpers = Remote(where)
    try:
        found = [fit_with(helpers, exact(**settings), X, links).embedding for settings in SETTINGS]
        assert helpers.passes_done > len(SETTINGS)
        return found
    finally:
        helpers.close()


def test_any_number_of_workers_on_cards_gives_the_same_bits(cards, data):
    one = fits_by(on_cards(1), *data)
    # One on each card, and four that have two cards between them.
    for where in (on_cards(), on_cards(4, cards=0.5)):
        for found, expected in zip(fits_by(where, *data), one):
            assert np.array_equal(found, expected), where
    # Cards have bits of their own, and the numbers of processors.
    for settings, found in zip(SETTINGS, one):
        here = exact(**settings).fit(*data).embedding_
        assert np.allclose(found, here, atol=1e-3 * np.abs(here).max())
    assert not np.array_equal(one[0], exact().fit(*data).embedding_)


def test_a_worker_on_a_card_is_replaced(cards, data):
    model = exact()
    expected = model.fit(*data, ray=on_cards(1)).embedding_.copy()
    killed = []

    def kill(record):
        if record["step"] in (1, 3):
            killed.append(kill_a_worker(cards, "_PairActor"))

    # Two on one card.
    found = model.fit(*data, ray=on_cards(2, cards=0.5), callback=kill)
    assert killed == [True] * 2
    assert np.array_equal(found.embedding_, expected)


def test_a_fit_on_cards_goes_on_from_its_checkpoint(cards, data, tmp_path):
    model, kept = exact(), tmp_path / "kept"
    expected = model.fit(*data, ray=on_cards(1)).embedding_.copy()

    def stop(record):
        if record["step"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(*data, ray=on_cards(2), callback=stop, checkpoint=kept)
    found = model.fit(*data, ray=on_cards(2), checkpoint=kept, resume=True)
    assert np.array_equal(found.embedding_, expected)


# Bad input and faults


def test_what_is_no_card_is_refused(data):
    with pytest.raises(ValueError, match="device must be 'cpu' or 'cuda', but is 'auto'"):
        Cluster(device="auto")
    for cards in (0, 1.5, float("nan")):
        with pytest.raises(ValueError, match="cards must be"):
            Cluster(device="cuda", cards=cards)
    with pytest.raises(ValueError, match=r"device must be 'auto' with ray: linkproof\.ray"):
        exact(device="cuda").fit(*data, ray=Cluster())


def test_work_that_cards_do_not_do_is_refused(data):
    where = Cluster(device="cuda")
    alone = "whose cards compute plain fits alone.*expected one with device='cpu'"
    with pytest.raises(ValueError, match=alone):
        GraphEmbedding(robust=True).fit(*data, ray=where)
    with pytest.raises(ValueError, match=alone):
        select(*data, ray=where)
    with pytest.raises(ValueError, match=alone):
        fit_table(data[1], dim=2, ray=where)


def test_more_workers_than_there_are_cards(cards, data):
    words = r"they ask for 3 CPUs and 3 cards, and the cluster has 4 and 2"
    with pytest.raises(ClusterError, match=words):
        exact().fit(*data, ray=Cluster(workers=3, device="cuda", patience=1))


def test_cards_of_two_kinds(cards, card, data):
    with with_card(card, LINKPROOF_PRODUCTS="plain"):
        node = cards.add_node(num_cpus=1, num_gpus=1, object_store_memory=STORE)
        cards.wait_for_nodes()
    try:
        with pytest.raises(ClusterError, match=r"two kinds of cards.*(exact|plain) products"):
            exact().fit(*data, ray=on_cards())
    finally:
        cards.remove_node(node)
