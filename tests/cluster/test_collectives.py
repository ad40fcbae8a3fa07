"""Collectives between tasks: the store at which they meet, and where their processes listen."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

import tideflow as tf
from tests.cluster.clusters import cluster_of, processes
from tideflow.cluster import collectives as store_of_collectives
from tideflow.cluster.collectives import StoreKeeper
from tideflow.ops.distributed import collectives

_LISTENS = "0A"  # of /proc/net/tcp
_LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")


def _listening(pid: int) -> list[str]:
    """The addresses at which a process listens, as the system writes them."""
    links = [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]
    own = {found[1] for link in links if (found := re.fullmatch(r"socket:\[(\d+)\]", link))}
    tables = [Path(f"/proc/{pid}/net/{name}").read_text() for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table.splitlines()[1:]]
    return [row[1].partition(":")[0] for row in rows if row[3] == _LISTENS and row[9] in own]


def test_a_cluster_on_the_loopback_listens_nowhere_else():
    cluster = cluster_of(worker=2)
    with processes(cluster, ("worker", 0), ("worker", 1)) as tasks, tf.Graph().as_default():
        parts = []
        for index in range(2):
            with tf.device(f"/job:worker/task:{index}/cpu:0"):
                parts.append(collectives.all_reduce(tf.constant([1.0 + index]), 2, 1, 1, "Add", "Id"))
        with tf.Session(f"grpc://{cluster['worker'][0]}") as session:
            for value in session.run(parts):
                np.testing.assert_allclose(value, [3.0])
            for task in tasks:
                found = _listening(task.process.pid)
                assert found and set(found) <= set(_LOOPBACK)


def test_a_store_is_bounded(monkeypatch):
    monkeypatch.setattr(store_of_collectives, "_MAX_STORE_BYTES", 100)
    store = StoreKeeper()
    for _ in range(10):
        store.set("key", bytes(50))
    assert [store.add("count", 2), store.add("count", 3)] == [2, 5]
    assert store.find(["key", "count", "other"]) == [bytes(50), b"5", None]
    with pytest.raises(tf.errors.ResourceExhaustedError, match="100 bytes at most"):
        store.set("large", bytes(100))
