"""The parts of the defences, each against its formula written out.

    bench/rivals/.venv/bin/python -m pytest bench/rivals/tests
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.nn import GCNConv  # noqa: E402

from rivals import metagc, networks, robust  # noqa: E402
from rivals.data import Graph, OneView  # noqa: E402
from rivals.vectors import RowSums  # noqa: E402

WORDS = np.array(
    [
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [0, 0, 0, 1, 1],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
    ],
    dtype=float,
)
LINKS = [(0, 1, 2.0), (1, 2, 5.0), (2, 3, 1.0), (3, 4, 1.0), (4, 5, 3.0), (0, 3, 1.0)]


def graph(features: np.ndarray = WORDS, links: list[tuple[int, int, float]] = LINKS) -> Graph:
    src, dst, weight = zip(*links)
    once = sp.coo_matrix((weight, (src, dst)), shape=(len(features), len(features)))
    return Graph(sp.csr_matrix(features), (once + once.T).tocsr())


def random_graph(nodes: int = 40, seed: int = 3) -> Graph:
    random = np.random.default_rng(seed)
    links = [(i, j, 1.0) for i in range(nodes) for j in range(i) if random.random() < 0.15]
    return graph((random.random((nodes, 12)) < 0.3).astype(float), links)


def links_of(found: Graph) -> set[tuple[int, int]]:
    assert set(found.weights.data) <= {1.0}
    assert (found.weights != found.weights.T).nnz == 0
    return set(zip(*(ends.tolist() for ends in sp.triu(found.weights).nonzero())))


def test_jaccard_of_sets_and_cosine_of_the_rest() -> None:
    src, dst = np.array([0, 1, 2, 3, 4]), np.array([1, 2, 3, 4, 5])
    sets = robust.Likeness(graph().features)
    np.testing.assert_allclose(sets.of_links(graph(), src, dst), [2 / 3, 0, 1 / 2, 0, 1])
    counts = graph(WORDS * [3, 1, 1, 1, 1])
    cosine = [10 / np.sqrt(10 * 11), 0, 1 / np.sqrt(2), 0, 0]
    np.testing.assert_allclose(robust.Likeness(counts.features).of_links(counts, src, dst), cosine)
    real = Graph(np.array([[1.0, -1], [-1, 1], [1, 1], [-1, -1]]), sp.csr_matrix((4, 4)))
    found = robust.Likeness(real.features).of_links(real, np.array([0, 0]), np.array([1, 2]))
    np.testing.assert_allclose(found, [-1, 0], atol=1e-12)


def test_pruning_drops_links_between_unlike_nodes_and_weights() -> None:
    alike = robust.Likeness(graph().features)
    assert links_of(robust.pruned(graph(), alike, 0.01)) == {(0, 1), (2, 3), (4, 5)}
    # At the threshold a link stays.
    assert links_of(robust.pruned(graph(), alike, 0.5)) == {(0, 1), (2, 3), (4, 5)}
    assert links_of(robust.pruned(graph(), alike, 0.6)) == {(0, 1), (4, 5)}


def test_guard_weighs_as_its_program() -> None:
    words = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1]], dtype=float)
    given = graph(words, [(0, 1, 7.0), (0, 2, 1.0), (0, 3, 1.0)])
    found = robust.guarded(given, robust.Likeness(given.features)).weights.toarray()
    near, nearer = 1 / np.sqrt(2), 2 / np.sqrt(6)
    share = np.array([near, nearer]) / (near + nearer)
    expected = np.zeros((4, 4))
    expected[0, :3] = np.exp([1 / 3, *share])  # its own, of two neighbours that are left
    expected[1, :2] = np.exp([1.0, 1 / 2])
    expected[2, [0, 2]] = np.exp([1.0, 1 / 2])
    expected[3, 3] = np.exp(1.0)
    np.testing.assert_allclose(found, expected)


def test_directed_weights_reach_the_layer_as_the_package_has_it() -> None:
    """Row i of the weights is what i hears; the sparse way is GCNConv's."""
    given = random_graph()
    weighed = robust.guarded(given, robust.Likeness(given.features))
    assert abs(weighed.weights - weighed.weights.T).max() > 0.01
    torch.manual_seed(0)
    device = torch.device("cpu")
    fit = networks.tensors(weighed, RowSums(given.features), device)
    ours = networks._FirstConvolution(fit.features.width, 8)
    theirs = GCNConv(fit.features.width, 8)
    theirs.lin.weight, theirs.bias = ours.linear.weight, ours.convolution.bias
    torch.testing.assert_close(ours(fit), theirs(fit.features.rows.to_dense(), fit.links, fit.weights))
    scale = 1 / np.sqrt(np.asarray(weighed.weights.sum(axis=1)))
    norm = scale * weighed.weights.toarray() * scale.T
    plain = RowSums(given.features)(given.features).toarray() @ ours.linear.weight.detach().numpy().T
    np.testing.assert_allclose(ours(fit).detach().numpy(), norm @ plain, rtol=1e-4, atol=1e-6)


def test_low_rank_is_the_normalised_truncated_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robust, "RANK", 6)
    adjacency = random_graph().weights
    left, values, right = np.linalg.svd(adjacency.toarray())
    low = (left[:, :6] * values[:6]) @ right[:6] + np.eye(40)
    scale = np.where(low.sum(axis=1) > 0, np.maximum(low.sum(axis=1), 1e-12) ** -0.5, 0)
    some = np.random.default_rng(0).normal(size=(40, 3))
    found = robust.LowRank.of(adjacency, 0, torch.device("cpu"))(torch.tensor(some, dtype=torch.float32))
    expected = (scale[:, None] * low * scale) @ some
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3, atol=1e-4)


def test_stable_refines_by_its_representations() -> None:
    """Two groups in the representations; a link across goes, neighbours come."""
    found = np.array([[1, 0.0], [1, 0.1], [1, 0.2], [-0.2, 1], [-0.1, 1], [0, 1]])
    links = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (2, 3, 9.0), (3, 4, 1.0), (4, 5, 1.0)]
    passed = robust.refined(graph(WORDS, links), found).toarray()
    np.testing.assert_allclose(passed.sum(axis=1), 1.0)
    assert passed[2, 3] == 0
    # Nodes 0, 1, 2 and 4 have two links left and may be heard; 3 and 5 have one.
    heard = [set(np.flatnonzero(row).tolist()) for row in passed]
    assert heard[0] == heard[1] == heard[2] == {0, 1, 2}
    # The third place goes to the nearest of the others.
    assert heard[3] == {3, 4, 2, 1} and heard[5] == {5, 4, 2, 1} and heard[4] == {4, 3, 5, 2, 1}
    degrees = np.array([len(row) for row in heard]) ** 0.3
    np.testing.assert_allclose(passed[4, 3] / passed[4, 5], degrees[3] / degrees[5])
    np.testing.assert_allclose(passed[4, 4] / passed[4, 2], degrees[4] / degrees[2])


def test_stable_puts_back_a_fifth_of_the_pruned_links() -> None:
    given = random_graph()
    kept = robust.pruned(given, robust.Likeness(given.features), 0.2)
    gone = (given.weights.nnz - kept.weights.nnz) // 2
    back = robust._recovered(given, kept, np.random.default_rng(0))
    assert gone > 10 and (back.nnz - kept.weights.nnz) // 2 == int(0.2 * gone)
    assert set(back.data) == {1.0} and (back - given.weights).max() == 0


def meta_parts(sparse: bool):
    given = random_graph()
    features = given.features if sparse else given.features.toarray()
    device = torch.device("cpu")
    inputs = metagc.Inputs.of(Graph(features, given.weights), RowSums(features), device)
    assert inputs.vectors.sparse == sparse
    torch.manual_seed(1)
    cluster, meta = metagc.Cluster(12, 3), metagc.Meta(12)
    return inputs, metagc.Pairs(given, device), cluster, meta


def test_metagc_rows_are_those_of_the_whole_matrices() -> None:
    inputs, pairs, cluster, meta = meta_parts(sparse=True)
    links = pairs.links.toarray()
    degrees = links.sum(axis=1)
    everything, some = pairs.rows(np.arange(40)), pairs.rows(np.array([3, 17, 5]))
    np.testing.assert_allclose(everything.surplus, links - np.outer(degrees, degrees) / links.sum(), rtol=1e-4)
    common = links @ np.diag(1 / degrees) @ links
    np.fill_diagonal(common, 0)
    np.testing.assert_allclose(everything.shared, common, rtol=1e-4)
    chances = cluster(inputs).detach()
    adds = -everything.surplus * (chances @ chances.T) / links.sum()
    whole = meta(inputs, everything, adds)
    torch.testing.assert_close(meta(inputs, some, adds[some.nodes]), whole[some.nodes])
    norm = links / np.sqrt(np.outer(degrees, degrees))
    rows = inputs.vectors.rows.to_dense().numpy()
    weights = [value.detach().numpy() for value in (cluster.around, cluster.itself, cluster.bias)]
    hidden = torch.tensor(norm @ rows @ weights[0] + rows @ weights[1] + weights[2]).float()
    expected = cluster.linear(torch.nn.functional.selu(hidden)).softmax(dim=1)
    torch.testing.assert_close(chances, expected.detach(), rtol=1e-4, atol=1e-5)
    # The batches' losses add up to the whole's.
    batches = [pairs.rows(np.arange(at, at + 10)) for at in range(0, 40, 10)]
    parts = sum(metagc._weighted(b, whole[b.nodes], chances, pairs.count) for b in batches)
    torch.testing.assert_close(parts, metagc._weighted(everything, whole, chances, pairs.count))


def test_metagc_steps_are_the_same_with_sparse_and_dense_vectors() -> None:
    """The sparse product's gradient has a gradient: the meta network moves alike."""
    moved = []
    for sparse in (True, False):
        inputs, pairs, cluster, meta = meta_parts(sparse)
        before = [value.detach().clone() for value in meta.parameters()]
        # Plain steps: Adam's would hide the size of a gradient.
        optimizers = [torch.optim.SGD(part.parameters(), lr=1.0) for part in (cluster, meta)]
        halves = np.arange(20), np.arange(20, 40)
        metagc._step((cluster, optimizers[0]), (meta, optimizers[1]), inputs, pairs, *halves)
        moved.append([now.detach() - old for now, old in zip(meta.parameters(), before)])
        moved[-1] += [value.detach() for value in cluster.parameters()]
    assert max(value.abs().max() for value in moved[1][:2]) > 0
    for one, other in zip(*moved):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-9)


def test_modularity_is_its_definition() -> None:
    links = random_graph().weights
    clusters = np.arange(40) % 3
    dense, degrees = links.toarray(), np.asarray(links.sum(axis=1)).ravel()
    same = clusters[:, None] == clusters
    expected = ((dense - np.outer(degrees, degrees) / dense.sum()) * same).sum() / dense.sum()
    assert metagc.modularity(links, clusters) == pytest.approx(expected)


def test_magi_pairs_are_those_that_walks_meet() -> None:
    from rivals.contrast import met_by_walks

    path = graph(np.ones((5, 1)), [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)])
    met = met_by_walks(path.pattern, 1000, 2, np.random.default_rng(0))
    # Of two steps from 1, an eighth of the visits are to 3: less than one node in five.
    half = {(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)}
    assert set(zip(*met.tolist())) == half | {(3 - i, 3 - j) for i, j in half} | {(4, 4)}


def test_no_links_is_an_error_that_says_so() -> None:
    bare = OneView(Graph(sp.csr_matrix(WORDS), sp.csr_matrix((6, 6))), np.array([0]))
    for embed in (robust.dgi_jaccard, robust.stable, metagc.metagc):
        with pytest.raises(ValueError, match="no link"):
            embed(bare, "all", clusters=2, seed=0)
