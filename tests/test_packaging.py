"""What is installed: dependencies with a reason and a tested version, and a wheel that is whole and works."""

import email
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tideflow import __version__

TREE = Path(__file__).parents[1]
PACKAGES = ("tideflow", "tideflow-stubs")


def names(requirements: list[str]) -> set[str]:
    return {
        re.match(r"[\w-]+", requirement).group().lower().replace("_", "-") for requirement in requirements
    }


def dependencies() -> set[str]:
    listed = re.search(r"^dependencies = \[(.*?)^\]", (TREE / "pyproject.toml").read_text(), re.M | re.S)
    return names(re.findall(r'"(.*?)"', listed.group(1)))


def test_every_dependency_has_its_reason_in_the_design():
    section = (TREE / "docs" / "design.md").read_text().split("## Dependencies")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| ")][1:]
    assert names([name for row in rows for name in row.strip().split(", ")]) == dependencies()


def test_every_dependency_is_pinned():
    lines = (TREE / "constraints.txt").read_text().splitlines()
    assert dependencies() <= names([line for line in lines if "==" in line])


def test_six_comes_along_as_it_did_with_tensorflow():
    assert "six" in dependencies()


# ------------------------------------------------------------------------------------------------- the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy of what it is built from: building leaves files in the tree."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for package in PACKAGES:
        shutil.copytree(TREE / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(TREE / file, source)
    build = "import sys, setuptools.build_meta as backend; backend.build_wheel(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", build, str(built)], cwd=source, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    (path,) = built.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_has_every_file_of_the_packages(wheel):
    files = {
        str(path.relative_to(TREE))
        for package in PACKAGES
        for path in (TREE / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files <= set(wheel.namelist())
    assert {"tideflow/py.typed", "tideflow/graph/data/api_contrib.txt"} <= files


def test_the_wheel_says_what_it_needs_and_brings(wheel):
    (info,) = {name.partition("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    metadata = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
    needed = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert names(needed) == dependencies()
    assert metadata["Version"] == __version__ and metadata["License-Expression"] == "Apache-2.0"
    assert b"tideflow = tideflow.cli:main" in wheel.read(f"{info}/entry_points.txt")


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Runs the command of the unpacked wheel in an empty folder, where nothing of the tree is found."""
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("elsewhere")
    wheel.extractall(site)

    def run(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(site), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tideflow", *map(str, arguments)]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240
        )

    run.site, run.folder = site, folder
    return run


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


@pytest.mark.slow(
    reason="a wheel is built and unpacked, and four commands run from it, one of them a cluster"
)
def test_a_program_a_cluster_inspect_and_check_run_from_the_wheel(installed):
    program, task = installed.folder / "program.py", installed.folder / "task.py"
    program.write_text(PROGRAM)
    task.write_text(TASK)
    done = installed("run", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{installed.site}/tideflow/__init__.py [2. 6.]\n"
    done = installed("inspect", "model")
    assert done.returncode == 0 and "w" in done.stdout, done.stderr
    done = installed("check", program)
    assert done.returncode == 0 and "TensorFlow symbols that it uses are there" in done.stdout, done.stderr
    done = installed("launch", "--ps", 1, "--workers", 1, task)
    assert done.returncode == 0 and "counted 42" in done.stdout, done.stdout + done.stderr
