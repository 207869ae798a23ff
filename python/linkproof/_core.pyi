from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

_Record: TypeAlias = dict[str, Any]
_Show: TypeAlias = Callable[[int, int, _Record | None], object] | None
_EveryStep: TypeAlias = Callable[[_Record], object] | None
_View: TypeAlias = tuple[str, int, Vectors | None]
_Column: TypeAlias = tuple[str, Sequence[str]]
# evidence, checked, weights, one_to_one, test and seed.
_JudgeRequest: TypeAlias = dict[str, Any]
_Verified: TypeAlias = Sequence[tuple[int, int, bool]]
_Near: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[np.float64], npt.NDArray[np.float64]]

__all__ = [
    "BucketWorker",
    "Check",
    "Checkpoint",
    "Context",
    "Data",
    "FitError",
    "Links",
    "Model",
    "PairWorker",
    "Vectors",
    "__version__",
    "audit",
    "bootstrap",
    "compare_labels",
    "compare_scores",
    "default_settings",
    "export",
    "fit_robust",
    "inspect",
    "kmeans",
    "missing_pairs",
    "objective",
    "robust_settings",
    "select",
    "solve_task",
    "spread",
    "stability",
    "together",
    "update",
    "write_page",
]
__version__: str

class FitError(RuntimeError): ...

@final
class Links:
    @staticmethod
    def from_matrix(
        ids: int | Sequence[str],
        indptr: npt.NDArray[Any],
        indices: npt.NDArray[Any],
        data: npt.NDArray[Any],
        rules: tuple[str, str, str],
    ) -> Links: ...
    @staticmethod
    def from_rows(
        ids: int | Sequence[str],
        src: npt.NDArray[Any],
        dst: npt.NDArray[Any],
        weight: npt.NDArray[Any] | None,
        rules: tuple[str, str, str],
    ) -> Links: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def n_links(self) -> int: ...
    def arrays(
        self, weights: str = "asis"
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64]]: ...

@final
class Vectors:
    @staticmethod
    def dense(array: npt.NDArray[Any]) -> Vectors: ...
    @staticmethod
    def sparse(
        n_columns: int,
        indptr: npt.NDArray[Any],
        indices: npt.NDArray[Any],
        data: npt.NDArray[Any],
    ) -> Vectors: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    def addresses(self) -> dict[str, int]: ...

@final
class Data:
    def __new__(
        cls,
        links: Links,
        views: Sequence[_View],
        columns: Sequence[_Column] = ...,
        name: str | None = None,
    ) -> Data: ...

@final
class Check:
    @staticmethod
    def judge(
        data: Data,
        request: _JudgeRequest,
        context: Context,
    ) -> Check: ...
    @staticmethod
    def load(folder: str | PathLike[str]) -> Check: ...
    def save(self, folder: str | PathLike[str], overwrite: bool, extra: str) -> None: ...
    @property
    def ids(self) -> list[str] | None: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def names(self) -> list[str] | None: ...
    @property
    def directed(self) -> bool: ...
    @property
    def n_sources(self) -> int | None: ...
    @property
    def report(self) -> str: ...
    def table(self, all: bool) -> dict[str, Any]: ...
    def sample(self, count: int, seed: int) -> dict[str, Any]: ...
    def missing(self, data: Data, count: int, context: Context) -> list[tuple[int, int, float]]: ...
    def at_rate(self, rate: float) -> list[int]: ...
    def checked(self, checks: _Verified) -> Check: ...
    def lines(self, next: Sequence[str]) -> str: ...

@final
class Context:
    def __new__(
        cls,
        *,
        threads: int | None = None,
        show: _Show = None,
        every_step: _EveryStep = None,
        device: str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        resume: bool = False,
        remote: Any = None,
    ) -> Context: ...

@final
class Checkpoint:
    def __new__(cls, folder: str | PathLike[str], resume: bool, about: str) -> Checkpoint: ...
    def recall(self, key: str) -> bytes | None: ...
    def keep(self, key: str, bytes: bytes) -> None: ...
    def finish(self) -> None: ...

@final
class BucketWorker:
    def __new__(cls, threads: int | None) -> BucketWorker: ...
    def meet(
        self,
        settings: str,
        dim: int,
        buckets: Sequence[npt.NDArray[np.float32]],
        cuts: Sequence[Sequence[int]],
        gamma: tuple[float, float, float],
        links: tuple[
            npt.NDArray[np.uint32],
            npt.NDArray[np.uint32],
            npt.NDArray[np.float64],
            npt.NDArray[np.uint32],
        ],
        *,
        order: Sequence[int],
        moves: int,
        per: float,
    ) -> tuple[tuple[float, float, float], float]: ...

@final
class PairWorker:
    def __new__(cls, device: str = "cpu") -> PairWorker: ...
    @property
    def card(self) -> str: ...
    def part(
        self,
        request: str,
        y: npt.NDArray[Any],
        offsets: npt.NDArray[Any],
        share: tuple[int, int],
        with_gradient: bool,
        *,
        threads: int | None,
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint32], npt.NDArray[Any]]: ...

@final
class Model:
    @staticmethod
    def fit(
        data: Data,
        settings: str,
        context: Context,
    ) -> Model: ...
    @staticmethod
    def load(folder: str | PathLike[str]) -> Model: ...
    def save(self, folder: str | PathLike[str], overwrite: bool, extra: str) -> None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    @property
    def embedding(self) -> npt.NDArray[np.float32]: ...
    @property
    def plain_embedding(self) -> npt.NDArray[np.float32]: ...
    @property
    def report(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    def history(self) -> dict[str, npt.NDArray[Any]]: ...
    @property
    def ids(self) -> list[str] | None: ...
    @property
    def views(self) -> list[tuple[str, bool, int]]: ...
    @property
    def node_views(self) -> npt.NDArray[np.uint32]: ...
    @property
    def gamma(self) -> list[tuple[int, int, float]]: ...
    @property
    def links(self) -> Links: ...
    def embed(
        self,
        view: int,
        vectors: Vectors,
        links: Sequence[tuple[int, int, float]] | None,
        *,
        threads: int | None,
    ) -> npt.NDArray[np.float32]: ...
    def encode(
        self,
        view: int,
        vectors: Vectors,
        links: Sequence[tuple[int, int, float]] | None,
    ) -> npt.NDArray[np.float32]: ...
    @property
    def points(self) -> npt.NDArray[np.float32]: ...
    @property
    def directed(self) -> bool: ...
    @property
    def offsets(self) -> npt.NDArray[np.float32] | None: ...
    @property
    def beliefs(self) -> npt.NDArray[np.float64] | None: ...
    def expected(
        self,
        points: npt.NDArray[np.float32],
        views: npt.NDArray[np.uint32],
        src: npt.NDArray[np.int64],
        dst: npt.NDArray[np.int64],
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
    def neighbors(
        self,
        points: npt.NDArray[np.float32],
        recommended: npt.NDArray[np.float32],
        view: int,
        *,
        top: int,
        leaving_out: int | None,
        within: int | None,
        by: str | None,
    ) -> tuple[str, list[_Near]]: ...
    @property
    def columns(self) -> list[tuple[str, list[str]]]: ...
    @property
    def name_column(self) -> str | None: ...

def bootstrap(model: Model, data: Data, count: int, context: Context) -> Model: ...
def spread(
    model: Model, src: npt.NDArray[np.int64], dst: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]] | None: ...
def stability(
    model: Model, row: int, neighbors: Sequence[int]
) -> npt.NDArray[np.float64] | None: ...
def together(
    model: Model, clusters: Sequence[int], seed: int, *, threads: int | None
) -> npt.NDArray[np.float64] | None: ...
def default_settings() -> str: ...
def robust_settings() -> list[tuple[str, str]]: ...
def inspect(data: Data, settings: str, *, threads: int | None) -> str: ...
def select(data: Data, settings: str, search: str, given: list[str], context: Context) -> str: ...
def audit(
    model: Model,
    links: Links | None,
    views: Sequence[_View],
    request: _JudgeRequest,
    missing_pairs: int,
    context: Context,
) -> tuple[dict[str, Any], list[tuple[int, int, float]], str]: ...
def missing_pairs(
    model: Model, links: Links | None, count: int
) -> list[tuple[int, int, float]]: ...
def fit_robust(
    data: Data,
    settings: str,
    request: _JudgeRequest,
    context: Context,
) -> Model: ...
def solve_task(
    words: bytes, lists: Sequence[Sequence[npt.NDArray[Any]]], *, threads: int | None
) -> bytes: ...
def update(
    model: Model,
    links: Links | None,
    withdrawn: Links | None,
    vectors: Sequence[tuple[int, Sequence[str], Vectors]],
    named: tuple[Sequence[str], Sequence[_Column]],
    context: Context,
) -> Model: ...
def write_page(
    model: Model,
    path: str | PathLike[str],
    title: str,
    labels: Sequence[str | None] | None,
    layout: str | None,
    context: Context,
) -> None: ...
def export(
    model: Model,
    path: str | PathLike[str],
    context: Context,
    *,
    format: str,
    embeddings: bool,
    layout: str | None,
) -> int: ...
def objective(
    y: npt.NDArray[Any],
    links: Links,
    gamma: float,
    score: str,
    beta: float,
    *,
    gradient: bool,
    threads: int | None,
) -> tuple[float, float, int, npt.NDArray[Any] | None]: ...
def compare_labels(
    truth: npt.NDArray[np.uint32], found: npt.NDArray[np.uint32]
) -> tuple[float, float, float, float]: ...
def compare_scores(
    scores: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_]
) -> tuple[float, float]: ...
def kmeans(
    points: npt.NDArray[np.float32], clusters: int, seed: int, threads: int | None
) -> npt.NDArray[np.uint32]: ...
