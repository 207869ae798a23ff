"""Checkpoints of bucketed tables: folders from which a fit goes on that was cut short."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkproof import _core
from linkproof._settings import read_flag
from linkproof._words import refused

Floats = npt.NDArray[np.float32]

# The file that says what a folder belongs to, and how far it has come.
_HEADER = "table.json"
# Seconds between two saves, and the share of the time that saves may take, one in so many.
_EVERY = 300.0
_COST = 200


class KeptTable:
    """A folder in which a fit keeps how far it has come.

    Buckets are written to a folder of their own; the header, which is put in place last,
    names it. So the folder is whole at every moment.
    """

    def __init__(self, folder: Any, resume: Any, work: dict[str, Any]) -> None:
        if not isinstance(folder, (str, os.PathLike)):
            raise refused("checkpoint", "a folder or None", folder)
        self._folder = Path(folder)
        self._work = work
        self._lock: _core.FolderLock | None = _core.FolderLock(self._folder)
        self._next = 0.0
        self._number = 0
        self._found: dict[str, Any] | None = None
        try:
            self._open(read_flag("resume", resume))
        except BaseException:
            self.close()
            raise

    def _open(self, resume: bool) -> None:
        if (self._folder / _HEADER).is_file():
            found = self._read()
            self._number = int(found.get("number", 0))
            if resume:
                self._check(found)
                self._found = found
        elif self._folder.exists() and any(self._folder.iterdir()):
            raise FileExistsError(
                f"{self._folder}: is no checkpoint of a table and not empty; "
                "expected a new folder, an empty one or a checkpoint's"
            )

    def close(self) -> None:
        """Leave the folder to others; what was raised may keep this alive."""
        self._lock = None

    @property
    def state(self) -> dict[str, Any] | None:
        """How far the fit had come; None where it begins."""
        return None if self._found is None else self._found["state"]

    def bucket(self, place: int) -> Floats:
        """A bucket as it was kept."""
        assert self._found is not None
        path = self._folder / self._found["buckets"] / f"{place}.npy"
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != self._found["digests"][place]:
            raise OSError(
                f"{path}: is not what was written there; expected the checkpoint as it was, "
                "or a fit that begins anew, without resume"
            )
        bucket: Floats = np.load(io.BytesIO(data), allow_pickle=False)
        return bucket

    def is_due(self) -> bool:
        """Whether it is time for the next save."""
        return time.monotonic() >= self._next

    def save(self, state: dict[str, Any], buckets: Iterable[Floats]) -> None:
        """Keep the state of a fit in place of the last one."""
        begun = time.monotonic()
        number = self._number + 1
        name = f"buckets-{number}"
        inside = self._folder / name
        shutil.rmtree(inside, ignore_errors=True)
        inside.mkdir(parents=True)
        digests = []
        for place, bucket in enumerate(buckets):
            data = io.BytesIO()
            np.save(data, bucket, allow_pickle=False)
            digests.append(hashlib.sha256(data.getbuffer()).hexdigest())
            _write(inside / f"{place}.npy", data.getbuffer())
        header = {"work": self._work, "number": number, "state": state}
        header |= {"buckets": name, "digests": digests}
        side = self._folder / f"{_HEADER}.part"
        _write(side, json.dumps(header).encode())
        os.replace(side, self._folder / _HEADER)
        self._number, self._found = number, header
        for other in self._folder.glob("buckets-*"):
            if other != inside:
                shutil.rmtree(other, ignore_errors=True)
        took = time.monotonic() - begun
        self._next = time.monotonic() + max(_EVERY, _COST * took)

    def finish(self) -> None:
        """Remove what is kept: the fit is done."""
        (self._folder / _HEADER).unlink(missing_ok=True)
        for other in self._folder.glob("buckets-*"):
            shutil.rmtree(other, ignore_errors=True)
        if self._folder.exists() and not any(self._folder.iterdir()):
            self._folder.rmdir()

    def _read(self) -> dict[str, Any]:
        path = self._folder / _HEADER
        try:
            found = json.loads(path.read_bytes())
        except ValueError as error:
            raise OSError(f"{path}: {error}; expected the header of a checkpoint") from error
        if not (isinstance(found, dict) and isinstance(found.get("work"), dict)):
            raise OSError(f"{path}: is no header of a checkpoint of a table")
        return found

    def _check(self, found: dict[str, Any]) -> None:
        """Refuse what other work left."""
        kept, here = _flat(found["work"]), _flat(self._work)
        other = [
            f"{name} {_shown(kept.get(name))} and not {_shown(here.get(name))}"
            for name in sorted({*kept, *here})
            if kept.get(name) != here.get(name)
        ]
        if other:
            raise OSError(
                f"{self._folder / _HEADER}: a checkpoint of other work: {', '.join(other)}; "
                "expected one of the same data, settings and version"
            )


def _write(path: Path, data: Any) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _flat(work: dict[str, Any]) -> dict[str, Any]:
    """Settings beside all else."""
    return {
        **{name: value for name, value in work.items() if name != "settings"},
        **work["settings"],
    }


def _shown(value: Any) -> str:
    return json.dumps(value)[:60]
