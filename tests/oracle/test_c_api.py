"""Tours of the C API with TensorFlow's own library: `tests/capi` compares what they say with Tideflow's."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import tideflow as tf

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "capi" / "programs"


@pytest.fixture
def built(tmp_path):
    """Compiles a program with TensorFlow's own library, and says what it prints."""
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
    include = ROOT / "tideflow" / "capi" / "include"

    def run(name, *arguments):
        program = tmp_path / name
        linked = [*libraries, f"-L{folder}", "-lpython3.7m", *paths]
        subprocess.run(["gcc", PROGRAMS / f"{name}.c", f"-I{include}", *linked, "-o", program], check=True)
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, check=False, env=environment
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_tensorflow_says_of_the_tour_what_is_kept(built):
    assert built("tour") == (PROGRAMS / "tour.txt").read_text()


def test_tensorflow_says_of_mistakes_what_is_kept(built):
    assert built("refused") == (PROGRAMS / "refused.txt").read_text()


def test_tensorflow_says_of_eager_operations_what_is_kept(built, tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", initializer=[[1.5, 2.5]])
        tf.get_variable("n", initializer=3)
        session.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
    assert built("eager", prefix) == (PROGRAMS / "eager.txt").read_text()
