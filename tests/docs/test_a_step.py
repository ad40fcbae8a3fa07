"""The page about one step: its stations exist, and a real step passes them in their order."""

import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tideflow as tf
from tests.cluster.clusters import servers

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "a_step.md").read_text()
STATION = re.compile(r"^### \d\. `([\w.]+)` in `([^`]+)`$", re.MULTILINE)


def stations(title):
    (walk,) = [part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE) if part.startswith(title)]
    return STATION.findall(walk)


LOCAL, CLUSTER = stations("From `tf.matmul"), stations("From a cluster's")
STATIONS = {*LOCAL, *CLUSTER}


class Calls:
    """Which stations are called in the block, by this thread and by those that start in it."""

    def __init__(self):
        self.seen = []

    def note(self, frame, event, argument):
        code = frame.f_code
        if event == "call" and "tideflow" in code.co_filename:
            path = code.co_filename.removeprefix(f"{ROOT}/")
            if (code.co_qualname, path) in STATIONS:
                self.seen.append((code.co_qualname, path))

    def __enter__(self):
        threading.setprofile(self.note)
        sys.setprofile(self.note)
        return self

    def __exit__(self, *error):
        sys.setprofile(None)
        threading.setprofile(None)

    def missing(self, walk):
        """The stations of a walk that were not called, or not after the one before."""
        seen = iter(self.seen)
        return [station for station in walk if station not in seen]


@pytest.mark.parametrize("walk", [LOCAL, CLUSTER], ids=["local", "cluster"])
def test_a_walk_has_at_most_eight_stations_that_exist(walk):
    assert 0 < len(walk) <= 8
    for name, path in walk:
        if not path.startswith("<"):
            assert re.search(rf"def {name.rpartition('.')[2]}\(", (ROOT / path).read_text()), (name, path)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code objects have no qualified names")
def test_a_local_step_passes_its_stations():
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [3, 4])
        feeds = {a: np.ones([2, 3]), b: np.ones([3, 4])}
        with Calls() as calls:
            c = tf.matmul(a, b)
            session.run(c, feeds)
        plan = session.explain(c, feeds).partition("\n\n")[2].replace(", )", ",)")  # as the page is formatted
    assert not calls.missing(LOCAL)
    assert f"```python\n{plan}\n```" in PAGE


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code objects have no qualified names")
def test_a_step_on_a_cluster_passes_its_stations():
    calls = Calls()
    with calls, servers(ps=1, worker=1) as cluster, tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
        doubled = w * 2.0
        with tf.Session(cluster["worker", 0].target) as session:
            session.run(w.initializer)
            session.run(doubled)
            assert not calls.missing(CLUSTER)
            calls.seen.clear()
            session.run(doubled)
            assert not calls.missing([station for station in CLUSTER if station[0] != "Master.compile"])
