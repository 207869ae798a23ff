"""The work on bucketed tables: rounds in which every bucket meets another."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkproof._cluster import ClusterError
from linkproof._progress import Progress
from linkproof._tables_hands import Asked, Floats, Gamma, Hands, Meeting
from linkproof._tables_kept import KeptTable

# The longest first step, and the same times the root of the number of parts.
_LONGEST = 0.05
_RATE = 0.2


class Shape(NamedTuple):
    """A table: nodes, dimensions, buckets, and the parts of each."""

    n: int
    dim: int
    buckets: int
    parts: int

    @property
    def all_parts(self) -> int:
        """The parts of all buckets."""
        return self.buckets * self.parts


def cuts_of(n: int, pieces: int) -> npt.NDArray[np.int64]:
    """Where buckets or parts start, and where the last one ends."""
    return np.array([place * n // pieces for place in range(pieces + 1)], np.int64)


@dataclass
class TableState:
    """How far a fit has come, apart from its buckets."""

    epoch: int = 0
    # Rounds of this epoch that are done.
    done: int = 0
    # How often every vector has moved.
    moves: int = 0
    gamma: Gamma = (0.0, 0.0, 0.0)
    values: list[float] = field(default_factory=list)
    # What the meetings of this epoch paid.
    paid: list[float] = field(default_factory=list)
    peak: int = 0


class TableWork:
    """A fit of a bucketed table on its way."""

    def __init__(
        self, hands: Hands, params: dict[str, Any], shape: Shape, kept: KeptTable | None
    ) -> None:
        self._hands = hands
        self._params = params
        self._shape = shape
        self._seed = int(params["seed"])
        self._kept = kept
        self._cuts = cuts_of(shape.n, shape.all_parts)
        # Nodes stand in buckets by chance, so that links spread evenly.
        self.places = np.random.default_rng([self._seed, 1]).permutation(shape.n)
        self._links: dict[tuple[int, int], Any] = {}
        self._per = 1.0
        begin = self._start if kept is None or kept.state is None else kept.bucket
        buckets = [hands.put(begin(place)) for place in range(shape.buckets)]
        # Together, so that whoever looks finds what belongs together.
        self._now = TableState(), buckets

    @property
    def buckets(self) -> list[Any]:
        """The buckets, as they are kept."""
        return self._now[1]

    def _rows(self, place: int) -> list[int]:
        """At which rows of a bucket its parts start, and where the last one ends."""
        first = place * self._shape.parts
        cuts = self._cuts[first : first + self._shape.parts + 1]
        rows: list[int] = (cuts - cuts[0]).tolist()
        return rows

    def _start(self, place: int) -> Floats:
        rows, dim = self._rows(place)[-1], self._shape.dim
        random = np.random.default_rng([self._seed, 2, place])
        state = np.zeros((3, rows * dim), np.float32)
        state[0] = random.normal(size=rows * dim) / np.sqrt(dim)
        return state

    def split(
        self,
        src: npt.NDArray[np.uint32],
        dst: npt.NDArray[np.uint32],
        weight: npt.NDArray[np.float64],
    ) -> None:
        """Put the links of each pair of buckets where meetings find them."""
        count, parts = self._shape.buckets, self._shape.parts
        ends = np.stack([self.places[src], self.places[dst]])
        ends.sort(axis=0)
        part = np.searchsorted(self._cuts, ends, side="right") - 1
        pair = part // parts
        key = pair[0] * count + pair[1]
        part %= parts
        inside = part[0] * parts + part[1]
        order = np.lexsort((ends[1], ends[0], inside, key))
        starts = np.searchsorted(key[order], np.arange(count**2 + 1))
        for a in range(count):
            for b in range(a, count):
                mine = order[starts[a * count + b] : starts[a * count + b + 1]]
                first, second = (
                    (ends[end, mine] - self._cuts[bucket * parts]).astype(np.uint32)
                    for end, bucket in enumerate((a, b))
                )
                begin = np.searchsorted(inside[mine], np.arange(parts**2 + 1)).astype(np.uint32)
                self._links[a, b] = self._hands.put((first, second, weight[mine], begin))
        # The links of two parts on average: what visits divide by has to be the same for
        # all, or those with few links would count for more.
        self._per = 2 * len(weight) / self._shape.all_parts**2
        state, buckets = self._now
        if self._kept is not None and self._kept.state is not None:
            state = TableState(**self._kept.state)
            state.gamma = tuple(self._kept.state["gamma"])
        else:
            median = float(np.median(weight))
            pairs = self._shape.n * (self._shape.n - 1) / 2
            gamma = float(-np.log(np.minimum(weight, median).sum() / pairs))
            state = replace(state, gamma=(gamma, 0.0, 0.0))
        self._now = state, buckets

    def run(self, epochs: int, progress: Progress) -> TableState:
        """All epochs, round after round."""
        try:
            for epoch in range(self._now[0].epoch, epochs):
                self._epoch(epoch, epochs)
                if progress.show is not None:
                    progress.show(epoch + 1, epochs, None)
        except (KeyboardInterrupt, ClusterError):
            # What is lost with a node cannot be kept; the last checkpoint stays.
            with contextlib.suppress(Exception):
                self._keep()
            raise
        if self._kept is not None:
            self._kept.finish()
        return self._now[0]

    def _epoch(self, epoch: int, epochs: int) -> None:
        rounds = np.random.default_rng([self._seed, 3, epoch]).permutation(self._shape.buckets)
        settings = self._settings(epoch, epochs)
        for meeting in rounds[self._now[0].done :].tolist():
            inner = np.random.default_rng([self._seed, 4, epoch, meeting])
            order = inner.permutation(self._shape.parts).tolist()
            # All at once: a round that was cut short leaves all as it was.
            self._now = self._round(settings, meeting, order)
            if self._kept is not None and self._kept.is_due():
                self._keep()
        state, buckets = self._now
        # Inside a part there are half as many pairs as between two.
        value = float(np.sum(state.paid)) / (self._shape.all_parts**2 / 2)
        values = [*state.values, value]
        self._now = replace(state, epoch=epoch + 1, done=0, values=values, paid=[]), buckets

    def _keep(self) -> None:
        if self._kept is not None:
            state, buckets = self._now
            self._kept.save(asdict(state), self._read(buckets))

    def _read(self, buckets: list[Any]) -> Iterator[Floats]:
        """The buckets, one after another: they need not fit into this process."""
        for bucket in buckets:
            yield self._hands.get(bucket)

    def _settings(self, epoch: int, epochs: int) -> str:
        settings = dict(self._params)
        count = self._shape.all_parts
        # Each part is in as many visits of an epoch as there are parts, and the ridge on
        # its vectors is shared out among them.
        settings["ridge"] = float(settings["ridge"]) / count
        # Visits to many parts have few links each. What a vector moves in an epoch, by
        # chance and not, grows with the root of their number.
        rate = settings.get("learning-rate") or min(_LONGEST, _RATE / count**0.5)
        # What a step works on is a quarter of a visit, so that it takes little memory.
        rows = 2 * (self._shape.n // count)
        settings["block"] = max(64, min(4096, rows // 4))
        settings["learning-rate"] = float(rate) * _schedule(epoch, epochs)
        return json.dumps(settings)

    def _round(self, settings: str, meeting: int, order: list[int]) -> tuple[TableState, list[Any]]:
        """The meetings of a round, which share no bucket."""
        state, buckets = self._now
        asked = Asked(settings, self._shape.dim, state.gamma, order, state.moves, self._per)
        meetings = []
        for pair in ((p, p ^ meeting) for p in range(self._shape.buckets) if p <= p ^ meeting):
            places = list(dict.fromkeys(pair))
            chosen = [buckets[place] for place in places]
            rows = [self._rows(place) for place in places]
            meetings.append(Meeting(places, chosen, rows, self._links[pair]))
        moved, found = self._hands.meet(asked, meetings)
        # All meetings of a round start from one gamma, and their ends are averaged.
        gammas = np.array([gamma for gamma, _, _ in found], np.float64)
        state = replace(
            state,
            done=state.done + 1,
            moves=state.moves + self._shape.parts,
            gamma=tuple(gammas.mean(axis=0).tolist()),
            paid=[*state.paid, *(paid for _, paid, _ in found)],
            peak=max([state.peak, *(peak for _, _, peak in found)]),
        )
        return state, [moved[place] for place in range(self._shape.buckets)]


def _schedule(epoch: int, epochs: int) -> float:
    """Steps get shorter towards the end."""
    return 1.0 - 0.9 * epoch / epochs
