"""Settings of a fit and of a search that few change, in groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from linkproof._words import refused


@dataclass(frozen=True)
class Network:
    """The encoder "mlp", and the space that encoders map to.

    Attributes
    ----------
    hidden : int or sequence of int, default=(3000,)
        The widths of the hidden layers of "mlp".
    activation : {"tanh", "relu"}, default="tanh"
        The function after each hidden layer.
    output_activation : {"none", "tanh"}, default="none"
        The function after the last layer of "mlp".
    batch_norm : bool, default=False
        Batch normalisation before each hidden activation.
    dropout, input_dropout : float, default=0.0
        The probability that a hidden unit, or an entry of a data vector, is dropped.
    init_scale : float, default=1.0
        The scale of the random start.
    negative_share : float, default=0.5
        The share of the dimensions that ``similarity="signed"`` counts as negative.
    """

    hidden: int | Sequence[int] = (3000,)
    activation: str = "tanh"
    output_activation: str = "none"
    batch_norm: bool = False
    dropout: float = 0.0
    input_dropout: float = 0.0
    init_scale: float = 1.0
    negative_share: float = 0.5


@dataclass(frozen=True)
class Sgd:
    """How ``solver="sgd"`` samples, how "adam" and "sgd" descend, and when a fit gives up.

    Attributes
    ----------
    sampler : {"block", "pairs"}, default="block"
        What a stochastic step draws.
    link_batch, pair_batch, block : int
        The links, pairs and nodes that a stochastic step draws.
    lambda_ : float or None, default=None
        The weight of the all-pairs part under ``sampler="pairs"``. None: the value at which
        the limit solves the exact equations.
    learning_rate, schedule_alpha, schedule_t0 : float
        The length of the steps of "adam" and "sgd",
        ``learning_rate * (1 + t / schedule_t0) ** -schedule_alpha``.
    momentum : float, default=0.9
        The momentum of the optimizer "sgd".
    clip : float or None, default=None
        The largest length of a gradient.
    radius : float or None, default=None
        The ball around the start that parameters are kept in.
    patience : int, default=10
        How many evaluations without a better held-out score end the fit, with any optimizer.
    """

    sampler: str = "block"
    link_batch: int | None = None
    pair_batch: int = 512
    block: int | None = None
    lambda_: float | None = None
    learning_rate: float | None = None
    schedule_alpha: float | None = None
    schedule_t0: float = 100.0
    momentum: float = 0.9
    clip: float | None = None
    radius: float | None = None
    patience: int = 10


@dataclass(frozen=True)
class Inputs:
    """How data vectors and link weights are prepared before a fit.

    Attributes
    ----------
    normalize : {"l2", "none"}, default="l2"
        Data vectors are scaled to length 1, or taken as they are.
    propagate : int, default=0
        How often data vectors are averaged over the links.
    walks : int, default=0
        Weights averaged over walks of up to this length; 0: as they are.
    walks_weighted : bool, default=False
        Walks follow the weights rather than the pattern of the links.
    view_pairs : list of (str, str) or None, default=None
        The pairs of views that take part. None: those with at least one link.
    """

    normalize: str = "l2"
    propagate: int = 0
    walks: int = 0
    walks_weighted: bool = False
    view_pairs: Sequence[tuple[str, str]] | None = None


@dataclass(frozen=True)
class Search:
    """What :func:`linkproof.select` tries, and how it compares.

    Attributes
    ----------
    scores, betas, ridges, dims, walk_lengths, step_limits : sequences, optional
        What to try. Default: likelihood and probability score, exponents 0.1 and 0.5, ridges
        from 0.1 to 300, and single values of the rest.
    folds : int, default=5
        The number of folds, 2 to 100.
    hold_out : {"pairs", "nodes"}, default="pairs"
        What a fold holds out: single pairs, or nodes with all of their pairs, for models that
        shall embed unseen nodes.
    criterion : str, default="rank"
        What compares candidates: ``"rank"``, or a score of the weights of held-out pairs,
        ``"SCORE"`` or ``"SCORE:BETA"``, such as ``"probability:0.5"``.
    exhaustive : bool, default=False
        Fit every candidate on every fold; otherwise most are dropped after one fold or two.
    one_standard_error : bool, default=False
        With a score as `criterion`: of the candidates within one standard error of the best
        choose the simplest.
    """

    scores: Sequence[str] | None = None
    betas: Sequence[float] | None = None
    ridges: Sequence[float] | None = None
    dims: Sequence[int] | None = None
    walk_lengths: Sequence[int] | None = None
    step_limits: Sequence[int] | None = None
    folds: int = 5
    hold_out: str = "pairs"
    criterion: str = "rank"
    exhaustive: bool = False
    one_standard_error: bool = False


# The parameters of an estimator that are groups of settings; None stands for the defaults.
GROUPS: dict[str, Any] = {"network": Network, "sgd": Sgd, "inputs": Inputs}
_GROUP_OF = {field.name: group for group, kind in GROUPS.items() for field in fields(kind)}
_OF_FIT = ("callback", "checkpoint", "resume")


def read_options(name: str, kind: Any, value: Any) -> Any:
    """A group of settings, or its defaults for None."""
    if value is None:
        return kind()
    if isinstance(value, kind):
        return value
    raise refused(name, f"a linkproof.{kind.__name__} or None", value)


def by_name(options: Any) -> dict[str, Any]:
    """The settings of a group."""
    return {field.name: getattr(options, field.name) for field in fields(options)}


def flat(params: Mapping[str, Any]) -> dict[str, Any]:
    """An estimator's parameters with the settings of groups in their place."""
    found = {name: value for name, value in params.items() if name not in GROUPS}
    for group, kind in GROUPS.items():
        found.update(by_name(read_options(group, kind, params[group])))
    return found


def grouped(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`flat`."""
    found = {name: value for name, value in settings.items() if name not in _GROUP_OF}
    for group, kind in GROUPS.items():
        options = kind(**{field.name: settings[field.name] for field in fields(kind)})
        found[group] = None if options == kind() else options
    return found


def nested(params: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of groups by scikit-learn's names, such as ``sgd__momentum``."""
    found = {}
    for group, kind in GROUPS.items():
        options = kind() if params[group] is None else params[group]
        if isinstance(options, kind):
            found.update({f"{group}__{name}": it for name, it in by_name(options).items()})
    return found


def with_nested(current: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters where those such as ``sgd__momentum`` are part of new groups."""
    found = {name: value for name, value in given.items() if name.split("__")[0] not in GROUPS}
    found.update({group: given[group] for group in GROUPS if group in given})
    for name in [name for name in given if name not in found]:
        group, setting = name.split("__", 1)
        options = read_options(group, GROUPS[group], found.get(group, current[group]))
        if setting not in by_name(options):
            valid = list(by_name(options))
            raise ValueError(f"Invalid parameter {setting!r} of {group}; valid: {valid}")
        found[group] = replace(options, **{setting: given[name]})
    return found


def refuse_removed(removed: Mapping[str, Any]) -> None:
    """Refuses keywords that a constructor does not have, and shows the call with old ones."""
    known = [name for name in removed if name in _GROUP_OF or name in _OF_FIT]
    unknown = [name for name in removed if name not in known]
    if unknown:
        raise TypeError(f"GraphEmbedding() got an unexpected keyword argument {unknown[0]!r}")
    if not known:
        return
    inside = []
    for group, kind in GROUPS.items():
        mine = [f"{name}={removed[name]!r}" for name in known if _GROUP_OF.get(name) == group]
        if mine:
            inside.append(f"{group}=linkproof.{kind.__name__}({', '.join(mine)})")
    call = f"GraphEmbedding({', '.join(inside)})" if inside else "GraphEmbedding()"
    of_fit = [f"{name}={removed[name]!r}" for name in known if name in _OF_FIT]
    call += f".fit(X, links, {', '.join(of_fit)})" if of_fit else ""
    raise TypeError(f"GraphEmbedding() has no keyword {known[0]!r} any more; the call is {call}")


def refuse_flat_search(settings: Mapping[str, Any]) -> None:
    """Refuses what belongs into :class:`Search`, and shows the call."""
    names = [field.name for field in fields(Search) if field.name in settings]
    if names:
        inside = ", ".join(f"{name}={settings[name]!r}" for name in names)
        raise TypeError(
            f"select() has no keyword {names[0]!r} any more; the call is "
            f"select(X, links, search=linkproof.Search({inside}))"
        )
