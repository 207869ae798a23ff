"""A picture of an embedding, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

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
) -> Any:
    """Draw the embeddings as points, links as faint lines.

    For names, suspects and the training curve see :meth:`GraphEmbedding.report`.

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

    Returns
    -------
    ax : matplotlib Axes
        More than two dimensions are drawn by their first two principal
        components, and a single one with points spread at random across it.
    """
    n, dim = model.embedding_.shape
    values = None if labels is None else _checked_labels(labels, n)
    ax = _axes(ax)
    points, axis = _flat(model.embedding_)
    # Links between points on a line would be drawn over one another.
    if links and dim > 1:
        _draw_links(ax, model, points)
    size = size if size is not None else float(np.clip(4000 / n, 2, 40))
    how = {"s": size, "linewidths": 0, "zorder": 2}
    if values is None:
        ax.scatter(*points.T, **how)
    else:
        _draw_labelled(ax, points, values, how)
    ax.set_title(f"{n} nodes, {dim} dimension{'s' if dim > 1 else ''}")
    ax.set_xlabel(f"{axis} 1")
    if dim == 1:
        ax.set_yticks([])
        return ax
    ax.set_ylabel(f"{axis} 2")
    ax.set_aspect("equal", adjustable="datalim")
    return ax


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
    # Rows of directed links are sources, and then the same nodes as targets.
    ends = np.stack([points[src % len(points)], points[dst % len(points)]], axis=1)
    ax.add_collection(LineCollection(list(ends), colors="grey", alpha=opacity, linewidths=0.5))
    ax.autoscale_view()


def _checked_labels(labels: Any, n: int) -> npt.NDArray[Any]:
    values = np.asarray(labels)
    if values.shape != (n,):
        found = f"{len(values)}" if values.ndim == 1 else f"an array of shape {values.shape}"
        raise ValueError(f"labels: found {found}; expected {n}, one for each node")
    # Labels of mixed types cannot be sorted.
    return values.astype(str) if values.dtype.kind == "O" else values


def _draw_labelled(
    ax: Any, points: npt.NDArray[Any], values: npt.NDArray[Any], how: dict[str, Any]
) -> None:
    classes, codes = np.unique(values, return_inverse=True)
    if values.dtype.kind == "f" or len(classes) > MOST_CLASSES:
        numbers = values if values.dtype.kind in "iuf" else codes
        known = np.isfinite(numbers)
        ax.scatter(*points[~known].T, color="lightgrey", **how)
        drawn = ax.scatter(*points[known].T, c=numbers[known], **how)
        bar = ax.figure.colorbar(drawn, ax=ax)
        if values.dtype.kind not in "iuf":
            some = np.linspace(0, len(classes) - 1, 8).round().astype(int)
            bar.set_ticks(some, labels=[str(classes[code]) for code in some])
        return
    from matplotlib import colormaps

    colours = colormaps["tab10" if len(classes) <= 10 else "tab20"]
    for code, name in enumerate(classes):
        ax.scatter(*points[codes == code].T, color=colours(code), label=str(name), **how)
    # Beside the points, which it would hide.
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, markerscale=2)
