"""Estimators on a cluster that `tideflow launch` starts: chief, worker, parameter server, evaluator."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tideflow as tf

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow(reason="five processes start, and train together")
def test_a_cluster_trains_evaluates_and_exports(tmp_path):
    program = ROOT / "tests" / "estimator" / "cluster_program.py"
    cluster = ["--plain", "--ps", "1", "--chief", "--workers", "1", "--evaluator"]
    done = subprocess.run(
        [sys.executable, "-m", "tideflow", "launch", *cluster, program, tmp_path],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "[evaluator 0] INFO:tensorflow:Exiting evaluation, global_step=" in said
    for task in ("chief 0", "worker 0"):
        assert f"[{task}] INFO:tensorflow:Loss for final step" in said
    assert int(tf.train.load_variable(str(tmp_path), "global_step")) >= 60
    assert "linear/linear_model/x/weights" in [name for name, _ in tf.train.list_variables(str(tmp_path))]
    assert len(os.listdir(tmp_path / "export" / "final")) == 1
