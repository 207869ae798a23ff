"""Pictures show what they say."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from linkproof import GraphEmbedding, plot_embedding

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.collections import LineCollection, PathCollection  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures() -> Any:
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def models(planted: Any) -> dict[int, GraphEmbedding]:
    settings: dict[str, Any] = {"ridge": 0.3, "verbose": False}
    return {
        dim: GraphEmbedding(dim=dim, **settings).fit(planted.X, planted.matrix)
        for dim in (1, 2, 64)
    }


def points(ax: Any) -> Any:
    """The places of all points, in the order in which they were drawn."""
    drawn = [drawn for drawn in ax.collections if isinstance(drawn, PathCollection)]
    return np.concatenate([each.get_offsets() for each in drawn])


def lines(ax: Any) -> list[LineCollection]:
    return [drawn for drawn in ax.collections if isinstance(drawn, LineCollection)]


def legend(ax: Any) -> list[str]:
    found = ax.get_legend()
    return [] if found is None else [text.get_text() for text in found.get_texts()]


def has_colour_bar(ax: Any) -> bool:
    return len(ax.figure.axes) > 1


class TestEmbedding:
    def test_two_dimensions_are_drawn_as_they_are(self, models: Any, planted: Any) -> None:
        ax = plot_embedding(models[2])
        np.testing.assert_allclose(points(ax), models[2].embedding_)
        assert len(lines(ax)[0].get_segments()) == len(planted.edges)
        assert ax.get_xlabel() == "dimension 1" and ax.get_ylabel() == "dimension 2"
        assert ax.get_title() == "90 nodes, 2 dimensions" and legend(ax) == []

    def test_lines_join_the_ends_of_links(self, models: Any, planted: Any) -> None:
        ax = plot_embedding(models[2])
        drawn = {tuple(np.sort(ends, axis=0).ravel()) for ends in lines(ax)[0].get_segments()}
        y = models[2].embedding_.astype(np.float64)
        assert drawn == {tuple(np.sort(y[edge], axis=0).ravel()) for edge in planted.edges}

    def test_one_dimension_is_spread(self, models: Any) -> None:
        ax = plot_embedding(models[1])
        np.testing.assert_allclose(points(ax)[:, 0], models[1].embedding_[:, 0])
        assert len(set(points(ax)[:, 1])) == 90
        assert not lines(ax) and len(ax.get_yticks()) == 0
        assert ax.get_title() == "90 nodes, 1 dimension"

    def test_many_dimensions_by_principal_components(self, models: Any) -> None:
        ax = plot_embedding(models[64])
        centred = models[64].embedding_ - models[64].embedding_.mean(axis=0)
        most = np.linalg.svd(centred, compute_uv=False)[:2]
        np.testing.assert_allclose(np.linalg.norm(points(ax), axis=0), most, rtol=1e-4)
        assert ax.get_xlabel() == "principal component 1"

    def test_links_can_be_left_out(self, models: Any) -> None:
        assert not lines(plot_embedding(models[2], links=False))

    def test_of_many_links_a_part_is_drawn(
        self, models: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("linkproof._plots.MOST_LINKS", 50)
        assert len(lines(plot_embedding(models[2]))[0].get_segments()) == 50

    @pytest.mark.parametrize(
        "names", [["a", "b", "c"], [0, 1, 2], [True, False, True], np.array([7, "b", None], object)]
    )
    def test_classes_have_a_legend(self, models: Any, planted: Any, names: Any) -> None:
        labels = np.asarray(names)[planted.groups]
        ax = plot_embedding(models[2], labels)
        assert sorted(legend(ax)) == sorted({str(name) for name in names})
        assert len(points(ax)) == 90 and not has_colour_bar(ax)
        drawn = [each for each in ax.collections if isinstance(each, PathCollection)]
        colours = {tuple(each.get_facecolor()[0]) for each in drawn}
        assert len(colours) == len(drawn) == len(legend(ax))
        for each in drawn:
            members = labels.astype(str) == each.get_label()
            np.testing.assert_allclose(each.get_offsets(), models[2].embedding_[members])

    def test_twenty_classes_have_colours_of_their_own(self, models: Any) -> None:
        ax = plot_embedding(models[2], [f"class {row % 20}" for row in range(90)])
        drawn = [each for each in ax.collections if isinstance(each, PathCollection)]
        assert len({tuple(each.get_facecolor()[0]) for each in drawn}) == len(legend(ax)) == 20

    def test_numbers_have_a_colour_bar(self, models: Any) -> None:
        for labels in (np.linspace(0, 1, 90), np.arange(90), list(range(90))):
            ax = plot_embedding(models[64], labels)
            assert has_colour_bar(ax) and legend(ax) == [] and len(points(ax)) == 90

    def test_many_classes_have_a_colour_bar_with_their_names(self, models: Any) -> None:
        ax = plot_embedding(models[64], [f"class {row % 30:02}" for row in range(90)])
        ticks = [tick.get_text() for tick in ax.figure.axes[1].get_yticklabels()]
        assert ticks[0] == "class 00" and ticks[-1] == "class 29" and legend(ax) == []

    def test_unknown_numbers_are_grey(self, models: Any) -> None:
        labels = np.where(np.arange(90) < 5, np.nan, 1.0)
        ax = plot_embedding(models[2], labels)
        grey = next(each for each in ax.collections if isinstance(each, PathCollection))
        np.testing.assert_allclose(grey.get_offsets(), models[2].embedding_[:5])
        assert len(points(ax)) == 90

    @pytest.mark.parametrize("labels", [["a"] * 89, np.zeros((90, 2)), []])
    def test_labels_must_be_one_for_each_node(self, models: Any, labels: Any) -> None:
        with pytest.raises(ValueError, match="labels: found .*expected 90, one for each node"):
            plot_embedding(models[2], labels)
        assert not pyplot.get_fignums()

    def test_size_of_points(self, models: Any) -> None:
        ax = plot_embedding(models[2], size=17)
        drawn = next(each for each in ax.collections if isinstance(each, PathCollection))
        assert drawn.get_sizes().tolist() == [17]


def test_given_axes_are_used(models: Any) -> None:
    figure, axes = pyplot.subplots(1, 2)
    assert plot_embedding(models[2], ax=axes[0]) is axes[0]
    assert pyplot.get_fignums() == [figure.number] and axes[0].has_data()


def test_the_nodes_of_directed_links_are_drawn_once(planted: Any) -> None:
    model = GraphEmbedding(dim=1, directed=True, steps=5, verbose=False)
    ax = plot_embedding(model.fit(planted.X, planted.edges))
    assert len(points(ax)) == 90 and len(lines(ax)[0].get_segments()) == len(planted.edges)


def test_pictures_can_be_written(models: Any, planted: Any, tmp_path: Any) -> None:
    path = tmp_path / "picture.png"
    plot_embedding(models[64], planted.groups).figure.savefig(path)
    assert path.stat().st_size > 1000


def test_without_matplotlib(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"matplotlib.*pip install 'linkproof\[plot\]'"):
        plot_embedding(models[2])
