"""What a robust fit found: the belief in each link, and what follows from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from linkproof import _core
from linkproof._fitted import FittedModel
from linkproof._nodes import rows_of
from linkproof._pairs import pair_ends
from linkproof._settings import from_core
from linkproof._words import quoted

# Why a robust fit makes settings itself.
_WHY = dict(_core.robust_settings())
_DEFAULTS = from_core(json.loads(_core.default_settings()))
# Those settings, with the values that leave the choice to it.
CHOSEN_BY_RECIPE: dict[str, Any] = {name: _DEFAULTS[name] for name in _WHY}


@dataclass(frozen=True)
class Verdict:
    """What a fit found about links and data vectors. ``str`` says it in words.

    A plain fit knows less: the judge's facts, without a comparison with the features.

    Attributes
    ----------
    share_false : float or None
        The estimated share of false links; None if nothing can be said.
    share_low, share_high : float or None
        Its bounds.
    auc : float
        How often a link outranks a non-link of its degrees; NaN if that is not known.
    abstained : bool
        Whether the links look random to everything that is known. Beliefs then are all 1,
        and say nothing.
    candidates : float
        How far the links look as if the features had picked them, 0 to 1.
    detection : tuple of dict
        The test with planted links, by kind: planted, flagged, found, own. Empty without.
    averaged : bool
        Whether ``embedding_`` is smoothed over believed links.
    gate : float or None
        What clusters of smoothed embeddings explain of hidden feature columns, as a share
        of what clusters of the embeddings explain; None without features to hide.
    ridge : float
        The ridge of the fit, which a robust one chose.
    effective_rank : float
        The effective dimension of ``embedding_``; 1 if it lies on a line.
    advice : str
        What to do, in one word: "use", "either", "vectors-alone", "links-alone",
        "fit-robustly", "fit-again" or "unknown".
    says : tuple of str
        All of it in sentences.
    auc_decoys, implanted
        auc and the test under the names of earlier versions.
    """

    share_false: float | None
    share_low: float | None
    share_high: float | None
    auc: float
    abstained: bool
    candidates: float
    detection: tuple[dict[str, Any], ...]
    averaged: bool
    gate: float | None
    ridge: float
    effective_rank: float
    advice: str
    says: tuple[str, ...]
    implanted: tuple[dict[str, Any], ...] = ()

    @property
    def auc_decoys(self) -> float:
        """``auc`` under the name of earlier versions."""
        return self.auc

    @classmethod
    def of(cls, found: Mapping[str, Any], said: Any) -> Verdict:
        """From what ``fit.json`` says under ``robust`` and ``verdict``."""
        return cls(
            share_false=found["share_false"],
            share_low=found.get("share_low"),
            share_high=found.get("share_high"),
            auc=float(found["auc_decoys"]),
            abstained=bool(found["abstained"]),
            candidates=float(found.get("candidates", 0.0)),
            detection=_dicts(found.get("detection")),
            averaged=bool(found["averaged"]),
            gate=None if found["gate"] is None else float(found["gate"]),
            ridge=float(found["chosen"]["ridge"]),
            effective_rank=float(found["effective_rank"]),
            advice=str(found.get("advice", "unknown")),
            says=tuple(str(one["says"]) for one in said),
            implanted=_dicts(found["implanted"]),
        )

    @classmethod
    def of_plain(cls, look: Mapping[str, Any], said: Any, ridge: float) -> Verdict:
        """From what ``fit.json`` of a plain fit says under ``look`` and ``verdict``."""
        # Models of earlier versions have "trust" in place of "judged".
        judged = look.get("judged") or look.get("trust") or {}
        share = judged.get("share") or {}
        auc = judged.get("auc", judged.get("auc_decoys"))
        return cls(
            share_false=share.get("estimate", judged.get("share_false")),
            share_low=share.get("low"),
            share_high=share.get("high"),
            auc=float("nan" if auc is None else auc),
            abstained=bool(judged.get("abstained", True)),
            candidates=float(judged.get("candidates", 0.0)),
            detection=_dicts(judged.get("detection")),
            averaged=False,
            gate=None,
            ridge=ridge,
            effective_rank=float(look["effective_rank"]),
            advice=str(look.get("advice", "unknown")),
            says=tuple(str(one["says"]) for one in said),
        )

    def __repr__(self) -> str:
        share = None if self.abstained else self.share_false
        false = "no share of false links" if share is None else f"{100 * share:.0f}% links false"
        found = "links look random" if self.abstained else false
        averaged = "smoothed" if self.averaged else "not smoothed"
        return f"<Verdict: {found}, {averaged}, ridge {self.ridge:g}>"

    def to_dict(self) -> dict[str, Any]:
        """The same as a dict."""
        return asdict(self)

    def __str__(self) -> str:
        return " ".join(self.says)


class Beliefs(FittedModel):
    """What a robust fit knows beside its embeddings."""

    @property
    def plain_embedding_(self) -> npt.NDArray[np.float32]:
        """The encoder's embeddings, not smoothed; read-only. Expected weights are theirs."""
        check_is_fitted(self)
        return self._model.plain_embedding

    @property
    def offsets_(self) -> npt.NDArray[np.float32]:
        """The offset of each node, in a model with offsets."""
        check_is_fitted(self)
        found = self._model.offsets
        if found is None:
            raise AttributeError("offsets_: a model without offsets; fit with offsets=True")
        return found.reshape(2, -1).T if self._model.directed else found

    @property
    def belief_(self) -> npt.NDArray[np.float64]:
        """The belief in each link, 0 to 1, in the order of :meth:`beliefs`."""
        check_is_fitted(self)
        found = self._model.beliefs
        if found is None:
            raise AttributeError(_absent("belief_"))
        return found

    @property
    def verdict_(self) -> Verdict:
        """What was found about links and data vectors; ``str`` says it in words."""
        report = self.report_
        found = report.get("robust") or report.get("look")
        if found is None:
            raise AttributeError("verdict_: a model of an earlier version; fit again")
        said = report.get("verdict") or found["verdict"]
        if report.get("robust") is not None:
            return Verdict.of(found, said)
        return Verdict.of_plain(found, said, float(report["params"]["ridge"]))

    def beliefs(self, pairs: Any = None) -> Any:
        """The beliefs of a robust fit in its links.

        Parameters
        ----------
        pairs : array of shape (n_pairs, 2), list of pairs, or data frame, optional
            Ids of nodes, as in ``nodes_``: the beliefs in these links, in this
            order; NaN for pairs without a link. None: all links.

        Returns
        -------
        beliefs : DataFrame, or ndarray of shape (n_pairs,)
            For all links a table src, dst, weight, belief, in the order of
            ``belief_``: by the row of the first end in ``nodes_``, then by that of
            the other, which comes later.

        Examples
        --------
        >>> import numpy as np
        >>> from linkproof import GraphEmbedding, measures
        >>> random = np.random.default_rng(0)
        >>> groups = np.arange(150) % 3
        >>> X = np.eye(3)[groups] @ random.normal(size=(3, 12))
        >>> X += 0.5 * random.normal(size=X.shape)
        >>> alike = groups[:, None] == groups
        >>> chance = np.where(alike, 0.2, 0.03)               # one link in five is false
        >>> links = np.argwhere(np.triu(random.random(alike.shape) < chance, 1))
        >>> model = GraphEmbedding(dim=4, robust=True, verbose=False).fit(X, links)
        >>> model.beliefs().columns.tolist()
        ['src', 'dst', 'weight', 'belief']
        >>> is_sound = alike[links[:, 0], links[:, 1]]
        >>> bool(measures.auc(model.beliefs(links), is_sound) > 0.85)
        True
        """
        check_is_fitted(self)
        belief = self.belief_
        src, dst, weight = self._model.links.arrays()
        if pairs is None:
            table = pd.DataFrame(
                {"src": self._nodes_of(src), "dst": self._nodes_of(dst), "weight": weight,
                 "belief": belief}
            )  # fmt: skip
            return self._with_names(table, src_name=src, dst_name=dst)
        n, row_of = len(self.embedding_), self._rows_by_text()
        ends = [rows_of(end, row_of, n, "pairs").astype(np.int64) for end in pair_ends(pairs)]
        if self._model.directed:
            ends[1] += n
            n *= 2
        wanted = np.minimum(*ends) * n + np.maximum(*ends)
        known = src.astype(np.int64) * n + dst
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where(known[place] == wanted, belief[place], np.nan)


def _dicts(found: Any) -> tuple[dict[str, Any], ...]:
    return tuple(dict(entry) for entry in found or ())


def refuse_settings(params: Mapping[str, Any]) -> None:
    """Refuses settings that a robust fit would not obey."""
    for name, free in CHOSEN_BY_RECIPE.items():
        given = params[name]
        is_free = given is None if free is None else bool(np.all(given == free))
        if not is_free:
            raise ValueError(
                f"{name} must be left at {quoted(free)} for a robust fit, but is {quoted(given)}: "
                f"{_WHY[name]}"
            )


def _absent(name: str) -> str:
    return f"{name}: found a fit without beliefs; expected GraphEmbedding(robust=True)"
