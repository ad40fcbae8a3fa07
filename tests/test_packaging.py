"""What is installed: dependencies with a reason and a tested version, and a wheel that is whole and works."""

import email
import os
import re
import sys
import zipfile

import pytest

from tests.wheel import PACKAGES, TREE, build, try_out
from tideflow import __version__


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
    return zipfile.ZipFile(build(tmp_path_factory.mktemp("built")))


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


@pytest.mark.slow(
    reason="a wheel is built and unpacked, and five commands run from it, a cluster and a server among them"
)
def test_a_program_a_cluster_a_server_inspect_and_check_run_from_the_wheel(wheel, tmp_path):
    site, folder = tmp_path / "site", tmp_path / "elsewhere"
    folder.mkdir()
    wheel.extractall(site)
    environment = {**os.environ, "PYTHONPATH": str(site), "OMP_NUM_THREADS": "1"}
    try_out([sys.executable, "-m", "tideflow"], site / "tideflow", folder, environment)
