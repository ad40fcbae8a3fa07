"""The C library, built once for all tests, and programs compiled against it."""

import fcntl
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tideflow.capi.build import build

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def library():
    """The folder with the library. Compiled again only where the sources have changed."""
    if shutil.which("g++") is None or not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        pytest.skip("needs g++ and a Python with a shared library")
    folder = ROOT / "build" / "capi"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:  # the processes of a test run share it
        fcntl.flock(lock, fcntl.LOCK_EX)
        build(folder)
    return folder


@pytest.fixture
def compiled(library, tmp_path):
    """Compiles a program against the library, with the flags that pkg-config would give."""

    def compile_program(source, compiler="gcc"):
        program = tmp_path / source.stem
        warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-pthread"]
        linked = [f"-L{library}/lib", "-ltideflow", f"-Wl,-rpath,{library}/lib"]
        given = [compiler, *warnings, source, f"-I{library}/include", *linked, "-o", program]
        subprocess.run(given, check=True)
        return program

    return compile_program


@pytest.fixture
def output_of():
    """Runs a program of C, as a user does: without what pytest has told Python, and says what it printed."""

    def run(program, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run(
            [program, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
