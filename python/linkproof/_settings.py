"""Settings of a fit: the estimator's parameters, checked and written for the core."""

from __future__ import annotations

import json
import math
import numbers
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from linkproof._words import quoted

COUNTS = (
    "dim", "propagate", "steps", "patience", "walks", "link_batch", "pair_batch", "block",
)  # fmt: skip
REALS = (
    "beta", "ridge", "dropout", "input_dropout", "validation", "learning_rate", "schedule_alpha",
    "schedule_t0", "momentum", "clip", "lambda_", "radius", "init_scale",
)  # fmt: skip
CHOICES = (
    "score", "weights", "activation", "output_activation", "normalize", "solver", "optimizer",
    "sampler", "precision",
)  # fmt: skip
FLAGS = ("batch_norm", "walks_weighted")
# Settings for which None means: chosen to fit the data and the other settings.
CHOSEN = (
    "solver", "optimizer", "steps", "validation", "learning_rate", "schedule_alpha", "clip",
    "link_batch", "block", "lambda_", "radius", "view_pairs",
)  # fmt: skip
# Where the core's name is not the Python name with dashes.
_CORE_NAMES = {"lambda_": "lambda", "random_state": "seed"}


def to_core(params: Mapping[str, Any], seed: int) -> str:
    """The settings among an estimator's parameters, as the JSON that the core reads."""
    settings: dict[str, Any] = {"seed": seed}
    kinds: list[tuple[tuple[str, ...], Any]] = [
        (COUNTS, _count), (REALS, read_real), (CHOICES, _choice), (FLAGS, read_flag),
    ]  # fmt: skip
    for names, read in kinds:
        for name in names:
            value = params[name]
            if value is None and name in CHOSEN:
                continue
            settings[core_name(name)] = read(name, value)
    hidden = params["hidden"]
    widths = hidden if isinstance(hidden, Iterable) else [hidden]
    settings["hidden"] = [_count("hidden", width) for width in widths]
    settings.update(_encoders(params["encoder"]))
    if params["view_pairs"] is not None:
        settings["view-pairs"] = _view_pairs(params["view_pairs"])
    return json.dumps(settings)


def from_core(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The estimator's parameters for settings as the core writes them."""
    params: dict[str, Any] = {}
    for name in (*COUNTS, *REALS, *CHOICES, *FLAGS, "hidden", "view_pairs"):
        value = settings.get(core_name(name))
        params[name] = tuple(value) if name == "hidden" and value is not None else value
    if params["view_pairs"] is not None:
        params["view_pairs"] = [tuple(pair) for pair in params["view_pairs"]]
    encoder = settings.get("encoder") or "auto"
    by_view = settings.get("view-encoders") or {}
    params["encoder"] = {**by_view, "*": encoder} if by_view else encoder
    params["random_state"] = settings["seed"]
    return params


def core_name(name: str) -> str:
    """The core's name of a parameter."""
    return _CORE_NAMES.get(name, name.replace("_", "-"))


def read_seed(random_state: Any) -> int:
    """The seed of all randomness; drawn where a generator, or None, is given."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if 0 <= int(random_state) < 2**64:
            return int(random_state)
        raise _refused("random_state", "a whole number from 0 to 2^64 - 1", random_state)
    try:
        generator = check_random_state(random_state)
    except ValueError:
        accepted = "a whole number, a numpy.random.RandomState or None"
        raise _refused("random_state", accepted, random_state) from None
    return int(generator.randint(2**31 - 1))


def read_threads(n_jobs: Any) -> int | None:
    """The number of threads; None for as many as there are cores."""
    if n_jobs is None or (_is_whole(n_jobs) and n_jobs == -1):
        return None
    if _is_whole(n_jobs) and n_jobs < 0:
        # As everywhere in scikit-learn: -2 is all cores but one.
        return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
    if _is_whole(n_jobs) and 1 <= n_jobs <= 1024:
        return int(n_jobs)
    raise _refused("n_jobs", "1 to 1024 threads, or None or -1 for all cores", n_jobs)


def read_count(name: str, value: Any, least: int = 1, most: int = 2**31 - 1) -> int:
    """A whole number within bounds."""
    if _is_whole(value) and least <= value <= most:
        return int(value)
    bounds = f"{least} or more" if most == 2**31 - 1 else f"{least} to {most}"
    raise _refused(name, f"a whole number, {bounds}" if least <= 1 else bounds, value)


def read_flag(name: str, value: Any) -> bool:
    """A parameter that is True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise _refused(name, "True or False", value)


def read_real(name: str, value: Any) -> float:
    """A finite number."""
    is_real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if is_real and math.isfinite(float(value)):
        return float(value)
    raise _refused(name, f"a finite number{_or_none(name)}", value)


def read_rules(duplicates: Any, self_links: Any) -> tuple[str, str]:
    """What to do with repeated pairs and with self-links; the core knows the names."""
    for name, rule in (("duplicates", duplicates), ("self_links", self_links)):
        if not isinstance(rule, str):
            raise _refused(name, "the name of a rule as text", rule)
    return duplicates, self_links


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _count(name: str, value: Any) -> int:
    if _is_whole(value) and 0 <= value < 2**63:
        return int(value)
    raise _refused(name, f"a whole number{_or_none(name)}", value)


def _choice(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None and name in ("normalize", "output_activation"):
        return "none"
    raise _refused(name, f"the name of a choice as text{_or_none(name)}", value)


def _encoders(encoder: Any) -> dict[str, Any]:
    """One encoder for all views, or one by view, with '*' for all others."""
    if encoder is None or encoder == "auto":
        return {}
    if isinstance(encoder, str):
        return {"encoder": encoder}
    if not isinstance(encoder, Mapping):
        accepted = "'auto', 'linear', 'mlp', 'table' or a dict of these by view"
        raise _refused("encoder", accepted, encoder)
    settings: dict[str, Any] = {}
    by_view = {str(view): kind for view, kind in encoder.items() if kind not in (None, "auto")}
    if "*" in by_view:
        settings["encoder"] = by_view.pop("*")
    settings["view-encoders"] = by_view
    return settings


def _view_pairs(pairs: Any) -> list[list[str]]:
    accepted = "a list of pairs of views, such as [('text', 'image')]"
    if isinstance(pairs, (str, bytes)) or not isinstance(pairs, Iterable):
        raise _refused("view_pairs", accepted, pairs)
    listed = [list(pair) if isinstance(pair, (tuple, list)) else pair for pair in pairs]
    for pair in listed:
        is_pair = isinstance(pair, list) and len(pair) == 2
        if not is_pair or not all(isinstance(end, str) for end in pair):
            raise _refused("view_pairs", accepted, pairs)
    return listed


def _or_none(name: str) -> str:
    return " or None" if name in CHOSEN else ""


def _refused(name: str, accepted: str, given: Any) -> ValueError:
    return ValueError(f"{name}: accepted is {accepted}; given was {quoted(given)}")
