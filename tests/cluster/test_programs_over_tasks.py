"""Programs of the differential tests, their operations scattered over the tasks of a cluster."""

import zlib
from pathlib import Path

import numpy as np
import pytest

import tideflow as tf
from tests.cluster.clusters import servers
from tests.oracle import comparison, engine
from tideflow.session.session import BaseSession

ORACLE = Path(__file__).parent.parent / "oracle"
AREAS = ("control_flow", "tensor_arrays", "embeddings", "whole_programs")
TASKS = [f"/job:{job}/task:{index}" for job in ("ps", "worker") for index in range(2)]
_ABOUT_THE_GRAPH = ("graph", "device", "towers", "functional")  # which is another one where devices are given


def _programs():
    for area in AREAS:
        for name, program in engine.load_programs(ORACLE / "programs" / f"{area}.py").items():
            if not any(word in name for word in _ABOUT_THE_GRAPH):
                yield pytest.param(program, id=f"{area}/{name}")


@pytest.fixture(scope="module")
def target():
    with servers(ps=2, worker=2) as made:
        yield made["worker", 0].target


def _somewhere(op) -> str:
    """A task for an operation: any, but always the same."""
    return TASKS[zlib.crc32(op.name.encode()) % len(TASKS)]


@pytest.mark.parametrize("program", list(_programs()))
def test_scattered_programs_agree(program, target, monkeypatch):
    alone = engine.outcome(tf, np, program)
    made = BaseSession.__init__

    def on_the_cluster(self, unused="", graph=None, config=None, *more, **keywords):
        config = tf.ConfigProto() if config is None else config
        config.isolate_session_state = config.allow_soft_placement = True
        made(self, target, graph, config, *more, **keywords)

    def scattered(tf, np):
        with tf.device(_somewhere):
            return program(tf, np)

    monkeypatch.setattr(BaseSession, "__init__", on_the_cluster)
    assert not comparison.differences(alone, engine.outcome(tf, np, scattered))
