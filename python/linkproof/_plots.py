"""Pictures of a fit, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkproof._settings import read_count

if TYPE_CHECKING:
    from linkproof._estimator import GraphEmbedding

MOST_LINKS = 20_000
MOST_CLASSES = 20


def plot_embedding(
    model: GraphEmbedding,
    labels: Any = None,
    *,
    links: bool = True,
    ax: Any = None,
    size: float | None = None,
    names: int = 12,
) -> Any:
    """Draw the embeddings as points, links as faint lines.

    Parameters
    ----------
    model : GraphEmbedding
        Fitted.
    labels : array-like of shape (n_nodes,), optional
        Classes (a colour each, with a legend; above 20 a colour bar) or numbers
        (a colour bar; NaN is grey).
    links : bool, default=True
        Whether to draw the links; of very many a random part is drawn.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    size : float, optional
        The size of a point.
    names : int, default=12
        Write the names of so many nodes, those with the most links, where the model has
        names (``names_``); 0: none.

    Returns
    -------
    ax : matplotlib Axes
        More than two dimensions are drawn by their first two principal
        components, and a single one with points spread at random across it.
    """
    n, dim = model.embedding_.shape
    values = None if labels is None else _checked_labels(labels, n)
    ax = _axes(ax)
    points, how = _flat(model.embedding_)
    # Links between points on a line would be drawn over one another.
    if links and dim > 1:
        _draw_links(ax, model, points)
    size = size if size is not None else float(np.clip(4000 / n, 2, 40))
    if values is None:
        ax.scatter(*points.T, s=size, linewidths=0, zorder=2)
    else:
        _draw_labelled(ax, points, values, size)
    _write_names(ax, model, points, read_count("names", names, 0))
    ax.set_title(f"{n} nodes, {dim} dimension{'s' if dim > 1 else ''}")
    ax.set_xlabel(f"{how} 1")
    if dim == 1:
        ax.set_yticks([])
        return ax
    ax.set_ylabel(f"{how} 2")
    ax.set_aspect("equal", adjustable="datalim")
    return ax


def plot_history(model: GraphEmbedding, *, ax: Any = None) -> Any:
    """Draw the objective, and the held-out score if there is one, over the steps.

    Parameters
    ----------
    model : GraphEmbedding
        Fitted.
    ax : matplotlib Axes, optional

    Returns
    -------
    ax : matplotlib Axes
    """
    ax = _axes(ax)
    history = model.history_
    lines = ax.plot(history["step"], history["value"], label="objective, a link")
    held_out = history.dropna(subset=["held_out"])
    if len(held_out):
        other = ax.twinx()
        lines += other.plot(
            held_out["step"], held_out["held_out"], "C1.-", label="held-out score, a pair"
        )
        other.set_ylabel("held-out score, a pair")
        lines.append(
            ax.axvline(model.report_["best_step"], color="grey", ls=":", label="the model")
        )
    ax.set_xlabel("step")
    ax.set_ylabel("objective, a link")
    ax.set_title(f"ended by {model.stop_reason_} after {model.n_iter_} steps")
    ax.legend(handles=lines)
    return ax


def plot_audit(audit: pd.DataFrame | GraphEmbedding, *, ax: Any = None) -> Any:
    """Draw each link's weight against the weight that the fit expects.

    Where all links weigh the same, how many are expected to weigh how much.
    Weights are drawn as the model's parameter ``weights`` has the fit see them.

    Parameters
    ----------
    audit : DataFrame or GraphEmbedding
        What :meth:`GraphEmbedding.audit` returned, or a fitted model.
    ax : matplotlib Axes, optional

    Returns
    -------
    ax : matplotlib Axes
        Suspects are red. Links above the dotted line, where it is in view, are
        heavier than expected.
    """
    table = audit if isinstance(audit, pd.DataFrame) else audit.audit()
    if table.empty:
        raise ValueError("audit: found no links; expected at least one")
    ax = _axes(ax)
    suspect = table["suspect"].to_numpy(bool)
    mu = np.maximum(table["mu"].to_numpy(np.float64), np.finfo(np.float64).tiny)
    weight = _as_fitted(table["weight"].to_numpy(np.float64), table.attrs.get("weights", "asis"))
    if (weight == weight[0]).all():
        _draw_expected(ax, mu, suspect, weight[0])
    else:
        _draw_against_expected(ax, mu, suspect, weight)
    ax.set_xscale("log")
    _tick_clearly(ax.xaxis, mu)
    ax.set_xlabel("expected weight")
    ax.legend()
    return ax


def _as_fitted(weight: npt.NDArray[Any], transform: str) -> npt.NDArray[Any]:
    """Weights as the fit sees them, which the expected ones compare with."""
    if transform == "binary":
        return np.ones_like(weight)
    return np.log1p(weight) if transform == "log1p" else weight


def _draw_expected(ax: Any, mu: npt.NDArray[Any], suspect: npt.NDArray[Any], weight: float) -> None:
    edges = np.geomspace(mu.min(), mu.max() * (1 + 1e-9), 41)
    groups = [suspect == marked for marked in (False, True)]
    ax.hist(
        [mu[members] for members in groups],
        edges,
        stacked=True,
        color=["C0", "C3"],
        alpha=0.6,
        label=[_counted(members.sum(), bool(marked)) for marked, members in enumerate(groups)],
    )
    ax.set_ylabel(f"links, all of weight {weight:g}")


def _draw_against_expected(
    ax: Any, mu: npt.NDArray[Any], suspect: npt.NDArray[Any], weight: npt.NDArray[Any]
) -> None:
    for marked, style in (
        (False, {"s": 8, "alpha": 0.4, "linewidths": 0}),
        (True, {"s": 16, "marker": "x", "c": "C3", "linewidths": 1}),
    ):
        members = suspect == marked
        label = _counted(members.sum(), marked)
        ax.scatter(mu[members], weight[members], label=label, **style)
    ends = [max(mu.min(), weight.min()), min(mu.max(), weight.max())]
    if ends[0] < ends[1]:
        ax.plot(ends, ends, color="grey", ls=":", label="as expected")
    ax.set_yscale("log")
    ax.set_ylabel("weight")


def _counted(number: int, are_suspects: bool) -> str:
    noun = "suspect" if are_suspects else "other link"
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _tick_clearly(axis: Any, values: npt.NDArray[Any]) -> None:
    """Ticks of a logarithmic axis of a decade or two, which by default overlap."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    if values.max() < 300 * values.min():
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FormatStrFormatter("%g"))
        axis.set_minor_formatter(NullFormatter())


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            "plots need matplotlib, which is not installed: pip install 'linkproof[plot]'"
        ) from None
    return pyplot.subplots(layout="constrained")[1]


def _flat(embedding: npt.NDArray[np.float32]) -> tuple[npt.NDArray[Any], str]:
    """Two coordinates of each node, and what they are."""
    if embedding.shape[1] == 1:
        spread = np.random.default_rng(0).uniform(size=len(embedding))
        return np.column_stack([embedding, spread]), "dimension"
    if embedding.shape[1] == 2:
        return embedding, "dimension"
    centred = embedding - embedding.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
    return centred @ vectors[:, -1:-3:-1], "principal component"


def _draw_links(ax: Any, model: GraphEmbedding, points: npt.NDArray[Any]) -> None:
    from matplotlib.collections import LineCollection

    src, dst, _ = model._model.links.arrays()
    if len(src) > MOST_LINKS:
        some = np.random.default_rng(0).choice(len(src), MOST_LINKS, replace=False)
        src, dst = src[some], dst[some]
    opacity = float(np.clip(150 / max(len(src), 1), 0.03, 0.4))
    ends = np.stack([points[src], points[dst]], axis=1)
    ax.add_collection(LineCollection(list(ends), colors="grey", alpha=opacity, linewidths=0.5))
    ax.autoscale_view()


def _write_names(ax: Any, model: GraphEmbedding, points: npt.NDArray[Any], most: int) -> None:
    called = model.names_
    if called is None or most == 0:
        return
    ends = np.concatenate(model._model.links.arrays()[:2]).astype(np.int64) % len(points)
    degree = np.bincount(ends, minlength=len(points))
    named = [row for row in np.argsort(-degree, kind="stable") if called[row]]
    for row in named[:most]:
        ax.annotate(
            called[row], points[row], xytext=(4, 0), textcoords="offset points", va="center",
            fontsize="small", zorder=3, parse_math=False,
        )  # fmt: skip


def _checked_labels(labels: Any, n: int) -> npt.NDArray[Any]:
    values = np.asarray(labels)
    if values.shape != (n,):
        found = f"{len(values)}" if values.ndim == 1 else f"an array of shape {values.shape}"
        raise ValueError(f"labels: found {found}; expected {n}, one for each node")
    # Labels of mixed types cannot be sorted.
    return values.astype(str) if values.dtype.kind == "O" else values


def _draw_labelled(
    ax: Any, points: npt.NDArray[Any], values: npt.NDArray[Any], size: float
) -> None:
    classes, codes = np.unique(values, return_inverse=True)
    if values.dtype.kind == "f" or (values.dtype.kind in "iu" and len(classes) > MOST_CLASSES):
        _draw_numbers(ax, points, values, size)
    elif len(classes) > MOST_CLASSES:
        bar = _draw_numbers(ax, points, codes, size)
        some = np.linspace(0, len(classes) - 1, 8).round().astype(int)
        bar.set_ticks(some, labels=[str(classes[code]) for code in some])
    else:
        _draw_classes(ax, points, classes, codes, size)


def _draw_numbers(ax: Any, points: npt.NDArray[Any], values: npt.NDArray[Any], size: float) -> Any:
    """Draws points by a number each, and returns the colour bar."""
    known = np.isfinite(values)
    if not known.all():
        ax.scatter(*points[~known].T, s=size, color="lightgrey", linewidths=0, zorder=2)
    drawn = ax.scatter(*points[known].T, c=values[known], s=size, linewidths=0, zorder=2)
    return ax.figure.colorbar(drawn, ax=ax)


def _draw_classes(
    ax: Any,
    points: npt.NDArray[Any],
    classes: npt.NDArray[Any],
    codes: npt.NDArray[Any],
    size: float,
) -> None:
    for code, name in enumerate(classes):
        colour = f"C{code}" if len(classes) <= 10 else _twenty(code)
        members = points[codes == code]
        ax.scatter(*members.T, s=size, color=colour, linewidths=0, label=str(name), zorder=2)
    # Beside the points, which it would hide.
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, markerscale=2)


def _twenty(place: int) -> Any:
    from matplotlib import colormaps

    return colormaps["tab20"](place)
