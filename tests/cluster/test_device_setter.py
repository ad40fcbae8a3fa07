"""replica_device_setter: variables take turns on the parameter servers. (tests/oracle compares the rest.)"""

import pytest
import torch

import tideflow as tf
from tideflow.compile.placer import assign
from tideflow.runtime.devices import Device

CLUSTER = {"ps": ["127.0.0.1:1", "127.0.0.1:2"], "worker": ["127.0.0.1:3"]}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_variables_take_turns():
    with tf.device(tf.train.replica_device_setter(cluster=CLUSTER)):
        variables = [tf.get_variable(f"v{i}", [2]) for i in range(3)]
        y = tf.add_n([v * 2.0 for v in variables])
    assert [v.device for v in variables] == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
    assert y.device == "/job:worker"


def test_what_it_says_can_be_placed(graph):
    with tf.device(tf.train.replica_device_setter(cluster=CLUSTER, worker_device="/job:worker/task:0")):
        v = tf.get_variable("v", [2], use_resource=True)
        loss = tf.reduce_sum(tf.square(v))
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    tasks = [f"/job:{job}/replica:0/task:{i}" for job, hosts in CLUSTER.items() for i in range(len(hosts))]
    devices = [Device(f"{task}/device:CPU:0", "CPU", 0, torch.device("cpu"), 1) for task in tasks]
    found = {op.name: device.task for op, device in assign(graph.get_operations(), devices).items()}
    assert found["v"] == found["v/Momentum"] == found["v/Assign"] == tasks[0]
    assert found["Momentum/update_v/ResourceApplyMomentum"] == tasks[0]
    assert found["Square"] == found["Sum"] == tasks[2]


def test_operations_as_messages():
    setter = tf.train.replica_device_setter(ps_tasks=2)
    assert setter(tf.NodeDef(op="VariableV2")) == "/job:ps/task:0"
    assert setter(tf.NodeDef(op="VariableV2", device="/cpu:0")) == "/job:ps/task:1/device:CPU:0"
    assert setter(tf.NodeDef(op="MatMul")) == "/job:worker"


def test_no_parameter_servers():
    assert tf.train.replica_device_setter() is None
    assert tf.train.replica_device_setter(cluster={"worker": ["127.0.0.1:1"]}) is None


def test_refusals():
    with pytest.raises(TypeError, match="ps_strategy must be callable"):
        tf.train.replica_device_setter(ps_tasks=2, ps_strategy=3)
    with pytest.raises(TypeError, match="`cluster` must be a dictionary"):
        tf.train.replica_device_setter(cluster=3)
