"""The tour of the C API with TensorFlow's own library: `tests/capi` compares what it says with Tideflow's."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "capi" / "programs"


def test_tensorflow_says_of_the_tour_what_is_kept(tmp_path):
    packages = ROOT / ".oracles" / "tf1" / "lib" / "python3.7" / "site-packages" / "tensorflow_core"
    if not packages.exists() or shutil.which("gcc") is None:
        pytest.skip("needs TensorFlow 1.15 (make oracle) and gcc")
    asked = "import sysconfig; print(sysconfig.get_config_var('LIBDIR'))"
    python = ROOT / ".oracles" / "tf1" / "bin" / "python"
    folder = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    libraries = [
        packages / "python" / "_pywrap_tensorflow_internal.so",
        packages / "libtensorflow_framework.so.1",
    ]
    paths = [f"-Wl,-rpath,{path}" for path in (packages / "python", packages, folder)]
    program = tmp_path / "tour"
    include = ROOT / "tideflow" / "capi" / "include"
    subprocess.run(
        [
            "gcc",
            PROGRAMS / "tour.c",
            f"-I{include}",
            *libraries,
            f"-L{folder}",
            "-lpython3.7m",
            *paths,
            "-o",
            program,
        ],
        check=True,
    )
    done = subprocess.run(
        [program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (PROGRAMS / "tour.txt").read_text()
