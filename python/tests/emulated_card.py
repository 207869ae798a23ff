"""An emulated graphics card for processes of Python, where g++ can build one."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

EMULATOR = Path(__file__).resolve().parents[2] / "crates" / "cuda" / "tests" / "emulator"


def build(folder):
    """Builds the card in a folder; the variables of processes that find it there."""
    if shutil.which("g++") is None or not EMULATOR.is_dir():
        pytest.skip("no g++ or no sources to build an emulated card with: cards are not tested")
    shutil.copy(EMULATOR / "kernel.h", folder)
    library = str(folder / "libcuda.so")
    flags = ["-O2", "-std=c++17", "-shared", "-fPIC", "-U_FORTIFY_SOURCE"]
    source = str(EMULATOR / "driver.cpp")
    subprocess.run(["g++", *flags, "-o", library, source, "-ldl", "-lpthread"], check=True)
    (folder / "libnvrtc.so").symlink_to("libcuda.so")
    libraries = [str(folder), os.environ.get("LD_LIBRARY_PATH", "")]
    return {
        "LINKPROOF_EMULATOR": str(folder),
        # Its kernels are no one else's.
        "XDG_CACHE_HOME": str(folder),
        "LD_LIBRARY_PATH": ":".join(filter(None, libraries)),
    }
