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

from linkproof import _core
from linkproof._options import flat
from linkproof._words import refused

# Every setting of the core with its default, by its name there.
_DEFAULTS: dict[str, Any] = json.loads(_core.default_settings())
# Those that have another form in Python.
_OTHERWISE = ("seed", "encoder", "view-encoders")
# Where the Python name is not the core's with underscores.
_PYTHON_NAMES = {"lambda": "lambda_", "seed": "random_state"}


def to_core(params: Mapping[str, Any], seed: int) -> str:
    """The settings among an estimator's parameters, as the JSON that the core reads."""
    params = flat(params)
    settings: dict[str, Any] = {"seed": seed}
    for core in _DEFAULTS:
        name = _python_name(core)
        if core not in _OTHERWISE:
            settings[core] = _plain(name, params[name])
    if not isinstance(settings["hidden"], (list, str)):
        settings["hidden"] = [settings["hidden"]]
    settings.update(_encoders(params["encoder"]))
    return json.dumps(settings)


def from_core(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The estimator's parameters for settings as the core writes them, without groups."""
    names = [core for core in _DEFAULTS if core not in _OTHERWISE]
    params: dict[str, Any] = {_python_name(core): settings.get(core) for core in names}
    params["hidden"] = tuple(params["hidden"])
    if params["view_pairs"] is not None:
        params["view_pairs"] = [tuple(pair) for pair in params["view_pairs"]]
    encoder = settings.get("encoder") or "auto"
    by_view = settings.get("view-encoders") or {}
    params["encoder"] = {**by_view, "*": encoder} if by_view else encoder
    params["random_state"] = settings["seed"]
    return params


def _python_name(core: str) -> str:
    return _PYTHON_NAMES.get(core, core.replace("-", "_"))


def _plain(name: str, value: Any) -> Any:
    """A value of plain Python types, which the core checks."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return read_real(name, value)
    if isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)):
        return [_plain(name, item) for item in value]
    raise refused(name, "a number, text, or a list of them", value)


def read_seed(random_state: Any) -> int:
    """The seed of all randomness; drawn where a generator, or None, is given."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if 0 <= int(random_state) < 2**64:
            return int(random_state)
        raise refused("random_state", "a whole number from 0 to 2^64 - 1", random_state)
    try:
        generator = check_random_state(random_state)
    except ValueError:
        accepted = "a whole number, a numpy.random.RandomState or None"
        raise refused("random_state", accepted, random_state) from None
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
    raise refused("n_jobs", "1 to 1024 threads, or None or -1 for all cores", n_jobs)


def read_count(name: str, value: Any, least: int = 1, most: int = 2**31 - 1) -> int:
    """A whole number within bounds."""
    if _is_whole(value) and least <= value <= most:
        return int(value)
    bounds = f"of {least} or more" if most == 2**31 - 1 else f"from {least} to {most}"
    raise refused(name, f"a whole number {bounds}", value)


def read_flag(name: str, value: Any) -> bool:
    """A parameter that is True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise refused(name, "True or False", value)


def read_real(name: str, value: Any) -> float:
    """A finite number."""
    is_real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if is_real and math.isfinite(float(value)):
        return float(value)
    raise refused(name, "a finite number", value)


def read_rules(duplicates: Any, self_links: Any, directed: Any = False) -> tuple[str, str, str]:
    """What to do with repeated pairs and self-links, and what ends are, by the core's names."""
    for name, rule in (("duplicates", duplicates), ("self_links", self_links)):
        if not isinstance(rule, str):
            raise refused(name, "the name of a rule as text", rule)
    return duplicates, self_links, "directed" if read_flag("directed", directed) else "alike"


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _encoders(encoder: Any) -> dict[str, Any]:
    """One encoder for all views, or one by view, with '*' for all others."""
    if encoder is None or encoder == "auto":
        return {}
    if isinstance(encoder, str):
        return {"encoder": encoder}
    if not isinstance(encoder, Mapping):
        accepted = "'auto', 'linear', 'mlp', 'table' or a dict of these by view"
        raise refused("encoder", accepted, encoder)
    settings: dict[str, Any] = {}
    by_view = {str(view): kind for view, kind in encoder.items() if kind not in (None, "auto")}
    if "*" in by_view:
        settings["encoder"] = by_view.pop("*")
    settings["view-encoders"] = by_view
    return settings
