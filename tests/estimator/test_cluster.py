"""Estimators on a cluster that `tideflow launch` starts: chief, worker, parameter server, evaluator."""

import json
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


@pytest.mark.slow(reason="two processes start, and train together")
def test_workers_that_a_strategy_keeps_in_step_need_no_chief(tmp_path):
    program = ROOT / "tests" / "estimator" / "workers_program.py"
    cluster = ["--plain", "--ps", "0", "--workers", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "tideflow", "launch", *cluster, program, tmp_path],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    losses = [line.partition("final step")[2] for line in said.splitlines() if "Loss for final step" in line]
    assert len(losses) == 2 and len(set(losses)) == 1
    assert "[worker 0] INFO:tensorflow:Saving checkpoints for 10" in said
    assert "[worker 1] INFO:tensorflow:Saving checkpoints" not in said
    # Each step takes a fifth of what is left to 2: the gradients of both workers are averaged.
    assert tf.train.load_variable(str(tmp_path), "weight") == pytest.approx(2 * (1 - 0.8**10), 1e-5)


@pytest.mark.parametrize(("index", "is_chief"), [(0, True), (1, False)])
def test_the_first_of_workers_in_step_is_their_chief(monkeypatch, index, is_chief):
    cluster = {"worker": ["localhost:1", "localhost:2"]}
    place = {"cluster": cluster, "task": {"type": "worker", "index": index}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(place))
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    config = tf.estimator.RunConfig(train_distribute=strategy)
    assert (config.task_type, config.task_id, config.is_chief) == ("worker", index, is_chief)
    assert (config.num_worker_replicas, config.global_id_in_cluster) == (2, index)
    assert config.master == f"grpc://localhost:{index + 1}"
    with pytest.raises(ValueError, match='must have one "chief" node'):
        tf.estimator.RunConfig()
