"""Compiling libraries of kernels for tests."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent


def compiled(source: Path, folder: Path, flags: list[str]) -> str:
    """The shared library of a source, in a folder."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    library = folder / f"{source.stem}.so"
    command = [
        compiler,
        "-std=c++11",
        "-shared",
        "-fPIC",
        "-O0",
        "-w",
        str(source),
        "-o",
        str(library),
        *flags,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return str(library)
