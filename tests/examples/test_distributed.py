"""The distributed examples, each as a small cluster of processes that it starts itself."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run_example(name, *arguments):
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        env={**os.environ, "PYTHONPATH": str(EXAMPLES.parent), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_downpour_learns():
    printed = run_example("downpour.py", "--workers=2", "--pushes=150")
    accuracies = [float(number) for number in re.findall(r"([\d.]+)%", printed)]
    assert accuracies[-1] > 70


def test_sharded_embeddings_learn():
    flags = ["--ps=2", "--workers=1", "--rows=2000", "--width=8", "--steps=300"]
    printed = run_example("embedding_shards.py", *flags)
    losses = [float(number) for number in re.findall(r"loss ([\d.]+)", printed)]
    assert losses[-1] < losses[0]
    assert "kB each way" in printed


class TestTask:
    """Which task a process is."""

    @pytest.fixture(autouse=True)
    def path(self, monkeypatch):
        monkeypatch.syspath_prepend(str(EXAMPLES))
        monkeypatch.delenv("TF_CONFIG", raising=False)

    @pytest.fixture
    def task_of(self):
        import cluster_task

        return lambda **given: cluster_task.task_of(SimpleNamespace(**{"job_name": None, **given}))

    def test_by_flags(self, task_of):
        found = task_of(job_name="worker", task_index=1, ps_hosts="p:1", worker_hosts="a:1,b:1")
        assert found == ({"ps": ["p:1"], "worker": ["a:1", "b:1"]}, "worker", 1)

    def test_by_neither(self, task_of):
        assert task_of() is None

    @pytest.mark.parametrize(
        ("job", "index", "expected"),
        [("chief", 0, ("worker", 0)), ("worker", 0, ("worker", 1)), ("ps", 0, ("ps", 0))],
    )
    def test_by_the_environment(self, task_of, monkeypatch, job, index, expected):
        cluster = {"chief": ["c:1"], "worker": ["a:1"], "ps": ["p:1"]}
        monkeypatch.setenv(
            "TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": job, "index": index}})
        )
        assert task_of() == ({"ps": ["p:1"], "worker": ["c:1", "a:1"]}, *expected)
