"""Where and with what a run was made."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path

from harness.report import table

PACKAGES = [
    "torch", "pykeops", "gensim", "ensmallen", "scikit-network", "numpy", "scipy", "pandas", "polars",
    "pyarrow",
]  # fmt: skip


def describe(root: Path, threads: int) -> str:
    """A table of machine, versions, date and commit."""
    rows = [
        ["date", datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")],
        ["commit", commit(root)],
        ["processor", f"{processor()}, {threads} threads used"],
        ["instructions", instructions()],
        ["memory", memory()],
        ["system", f"{platform.system()} {platform.machine()}"],
        ["compilers", f"{first_line(['rustc', '--version'])}; {first_line(['c++', '--version'])}"],
        ["Python", platform.python_version()],
        ["peers", ", ".join(f"{name} {version(name)}" for name in PACKAGES)],
    ]
    return table(["", ""], rows)


def commit(root: Path) -> str:
    """The commit, and whether the files are those of the commit."""
    git = ["git", "-C", str(root)]
    name = first_line([*git, "rev-parse", "--short=12", "HEAD"])
    changed = first_line([*git, "status", "--porcelain", "--untracked-files=no"])
    return name + (" with changes" if changed else "")


def processor() -> str:
    """The processor's name and its number of cores."""
    names = [line.split(":", 1)[1].strip() for line in cpuinfo() if line.startswith("model name")]
    return f"{names[0]}, {len(names)} cores seen" if names else platform.processor()


def instructions() -> str:
    """The widest vectors that the processor has."""
    flags = next((line for line in cpuinfo() if line.startswith("flags")), "")
    known = [name for name in ("avx2", "fma", "avx512f") if f" {name} " in f"{flags} "]
    return ", ".join(known) or "unknown"


def cpuinfo() -> list[str]:
    """What the system says about its processors."""
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def memory() -> str:
    """The memory of the machine."""
    path = Path("/proc/meminfo")
    if not path.exists():
        return "unknown"
    return f"{int(path.read_text().split()[1]) / 2**20:.0f} GB"


def version(package: str) -> str:
    """The installed version."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def first_line(command: list[str]) -> str:
    """The first line that a command prints."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return f"no {command[0]}"
    return (done.stdout.splitlines() or [""])[0].strip()
