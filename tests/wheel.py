"""The wheel, tried as a user has it: `make wheel`, or `python -m tests.wheel 3.10 3.12`.

The wheel is built once and installed with its dependencies into a new environment of each Python. There a
program, a cluster, a server, `tideflow inspect` and `tideflow check` run in an empty folder, outside the
tree.
`tests/test_packaging.py` does the same with the wheel unpacked beside the dependencies of the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

TREE = Path(__file__).parents[1]
PACKAGES = ("tideflow", "tideflow-stubs")
PYTHONS = ("3.10", "3.11", "3.12", "3.13")

PROGRAM = """
import tensorflow as tf

x = tf.placeholder(tf.float32, [None])
w = tf.get_variable("w", initializer=2.0)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(tf.__file__, session.run(w * x, {x: [1.0, 3.0]}))
    tf.train.Saver().save(session, "model")
"""

TASK = """
import json, os
import tensorflow as tf

config = json.loads(os.environ["TF_CONFIG"])
task = config["task"]
server = tf.train.Server(config["cluster"], task["type"], task["index"])
if task["type"] == "ps":
    server.join()
else:
    with tf.device("/job:ps"):
        counted = tf.assign_add(tf.get_variable("count", initializer=40), 2)
    with tf.train.MonitoredTrainingSession(server.target, is_chief=True) as session:
        print("counted", session.run(counted))
"""

SERVED = """
import http.client, subprocess, sys
import tensorflow as tf
from tideflow.serving.client import Client

with tf.Graph().as_default(), tf.Session() as session:
    x = tf.placeholder(tf.float32, [None, 2])
    tf.saved_model.simple_save(session, "models/double/1", {"x": x}, {"y": 2 * x})
command = [sys.executable, "-m", "tideflow", "serve", "models", "--port=-1", "--rest_api_port=-1"]
server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
try:
    addresses = [server.stdout.readline().split()[-1] for _ in range(2)]
    rest = addresses[0].split("//")[1].rstrip("/")
    ready = 0
    while ready != 200:
        connection = http.client.HTTPConnection(rest)
        connection.request("GET", "/readyz")
        ready = connection.getresponse().status
    for url in (f"http://{rest}", f"grpc://{addresses[1]}"):
        with Client(url) as client:
            print("served", client.predict("double", [[1, 2]])["y"].tolist())
finally:
    server.terminate()
    print("ended", server.wait(60))
"""


def main(versions: Sequence[str]) -> int:
    """Tries the wheel under each of these versions of Python; 1 where one is missing or fails."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = build(Path(folder))
        print(f"== built {wheel.name}", flush=True)
        return int(any([not _passes(wheel, version) for version in versions]))


def build(folder: Path) -> Path:
    """The wheel, built in `folder` from a copy of its files: building leaves some in the tree."""
    source = folder / "source"
    for package in PACKAGES:
        shutil.copytree(TREE / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(TREE / file, source)
    backend = "import sys, setuptools.build_meta as backend; backend.build_wheel(sys.argv[1])"
    _called(sys.executable, "-c", backend, folder / "wheel", cwd=source)
    (path,) = (folder / "wheel").glob("*.whl")
    return path


def try_out(command: Sequence[str], package: Path, folder: Path, environment: Mapping[str, str]) -> None:
    """Runs a program, `inspect`, `check`, a cluster and a server in an empty folder; AssertionError where one
    fails.

    Args:
      command: How the `tideflow` command is called.
      package: Where the package must be, so that nothing of the tree is tried instead.
      folder: The empty folder.
      environment: Environment variables of the commands.
    """
    program, task, served = (folder / f"{name}.py" for name in ("program", "task", "served"))
    program.write_text(PROGRAM)
    task.write_text(TASK)
    served.write_text(SERVED)
    expected = {
        ("run", program): f"{package / '__init__.py'} [2. 6.]\n",
        ("inspect", "model"): "w",
        ("check", program): "TensorFlow symbols that it uses are there",
        ("launch", "--ps", "1", "--workers", "1", task): "counted 42",
        ("run", served): "served [[2.0, 4.0]]\nserved [[2.0, 4.0]]\nended 0\n",
    }
    for arguments, answer in expected.items():
        said = _called(*command, *arguments, cwd=folder, env=environment)
        assert answer in said, f"`tideflow {arguments[0]}` does not say {answer!r}, but:\n{said}"


def _passes(wheel: Path, version: str) -> bool:
    python = _python(version)
    if python is None:
        print(f"== Python {version}: not installed")
        return False
    print(f"== Python {version}: installing the wheel into a new environment", flush=True)
    with tempfile.TemporaryDirectory() as place:
        site, folder = Path(place, "environment").resolve(), Path(place, "elsewhere")
        folder.mkdir()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        try:
            _called(python, "-m", "venv", site)
            _called(
                site / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[serving]"
            )
            package = site / "lib" / f"python{version}" / "site-packages" / "tideflow"
            try_out([str(site / "bin" / "tideflow")], package, folder, clean)
        except AssertionError as error:
            print(f"== Python {version}: {error}")
            return False
    print(f"== Python {version}: a program, a cluster, a server, inspect and check ran")
    return True


def _python(version: str) -> str | None:
    """The interpreter of this version: on the PATH, or one that pyenv has installed."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for found in [f"python{version}", *map(str, pyenv.glob(f"{version}.*/bin/python"))]:
        # A shim of pyenv's is on the PATH for versions that are not switched on, and fails.
        if shutil.which(found) and not subprocess.run([found, "--version"], capture_output=True).returncode:
            return found
    return None


def _called(*command: str | Path, **options: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=1800, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or PYTHONS))
