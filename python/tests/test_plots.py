"""Pictures show what they say."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from linkproof import GraphEmbedding, plot_audit, plot_embedding, plot_history

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


@pytest.fixture(scope="module")
def unweighted(planted: Any) -> GraphEmbedding:
    return GraphEmbedding(dim=4, ridge=0.3, verbose=False).fit(planted.X, planted.edges)


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


class TestHistory:
    def test_objective(self, models: Any) -> None:
        ax = plot_history(models[2])
        history = models[2].history_
        np.testing.assert_allclose(ax.lines[0].get_xdata(), history["step"])
        np.testing.assert_allclose(ax.lines[0].get_ydata(), history["value"])
        assert legend(ax)[0] == "objective, a link" and ax.get_xlabel() == "step"
        assert models[2].stop_reason_ in ax.get_title()

    def test_held_out_score(self, planted: Any) -> None:
        model = GraphEmbedding(dim=2, validation=0.2, verbose=False)
        ax = plot_history(model.fit(planted.X, planted.matrix))
        assert legend(ax) == ["objective, a link", "held-out score, a pair", "the model"]
        known = model.history_["held_out"].dropna()
        other = next(each for each in ax.figure.axes if each is not ax)
        np.testing.assert_allclose(other.lines[0].get_ydata(), known)
        assert set(ax.lines[1].get_xdata()) == {model.report_["best_step"]}


class TestAudit:
    def test_weights_against_expected_ones(self, models: Any) -> None:
        table = models[2].audit()
        table["suspect"] = table["trust"] < 0.5
        suspects = int(table["suspect"].sum())
        assert 0 < suspects < len(table)
        ax = plot_audit(table)
        sound, marked = [each.get_offsets() for each in ax.collections]
        ordered = table.sort_values("suspect", kind="stable")
        assert len(marked) == suspects and len(sound) == len(table) - suspects
        np.testing.assert_allclose(points(ax), ordered[["mu", "weight"]].to_numpy(), rtol=1e-6)
        labels = [f"{len(sound)} other links", f"{suspects} suspects", "as expected"]
        assert legend(ax) == labels
        assert ax.get_xscale() == ax.get_yscale() == "log"

    def test_links_of_the_same_weight_are_counted(self, unweighted: Any, planted: Any) -> None:
        table = unweighted.audit()
        table["suspect"] = table["mu"] < table["mu"].median()
        ax = plot_audit(table)
        heights = [sum(bar.get_height() for bar in bars) for bars in ax.containers]
        assert heights == [(~table["suspect"]).sum(), table["suspect"].sum()]
        assert sum(heights) == len(planted.edges)
        assert ax.get_ylabel() == "links, all of weight 1" and len(legend(ax)) == 2

    def test_a_single_link(self, unweighted: Any) -> None:
        assert legend(plot_audit(unweighted.audit().assign(suspect=False).tail(1)))[0] == (
            "1 other link"
        )

    def test_a_model_is_audited(self, unweighted: Any) -> None:
        assert legend(plot_audit(unweighted)) == legend(plot_audit(unweighted.audit()))

    def test_weights_are_drawn_as_the_fit_saw_them(self, planted: Any) -> None:
        model = GraphEmbedding(dim=4, ridge=0.3, weights="log1p", verbose=False)
        drawn = points(plot_audit(model.fit(planted.X, planted.matrix)))
        np.testing.assert_allclose(sorted(drawn[:, 1]), sorted(np.log1p(planted.weights)))
        model = GraphEmbedding(dim=4, ridge=0.3, weights="binary", verbose=False)
        ax = plot_audit(model.fit(planted.X, planted.matrix))
        assert ax.get_ylabel() == "links, all of weight 1"

    def test_no_links(self, unweighted: Any) -> None:
        with pytest.raises(ValueError, match="audit: found no links"):
            plot_audit(unweighted.audit().head(0))


def test_given_axes_are_used(models: Any) -> None:
    figure, axes = pyplot.subplots(1, 3)
    assert plot_embedding(models[2], ax=axes[0]) is axes[0]
    assert plot_history(models[2], ax=axes[1]) is axes[1]
    assert plot_audit(models[2], ax=axes[2]) is axes[2]
    assert pyplot.get_fignums() == [figure.number]
    assert all(ax.has_data() for ax in axes)


def test_pictures_can_be_written(models: Any, planted: Any, tmp_path: Any) -> None:
    drawn = (
        plot_embedding(models[64], planted.groups),
        plot_history(models[2]),
        plot_audit(models[2]),
    )
    for number, ax in enumerate(drawn):
        path = tmp_path / f"{number}.png"
        ax.figure.savefig(path)
        assert path.stat().st_size > 1000


@pytest.mark.parametrize("plot", [plot_embedding, plot_history, plot_audit])
def test_without_matplotlib(models: Any, monkeypatch: pytest.MonkeyPatch, plot: Any) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"matplotlib.*pip install 'linkproof\[plot\]'"):
        plot(models[2])
