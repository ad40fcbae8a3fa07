"""Placement: what was asked for, what the op can run on, beside the state it touches. No device is needed."""

import logging

import numpy as np
import pytest
import torch

import tideflow as tf
from tests.compile.steps import program
from tideflow.compile.build import build_program
from tideflow.compile.place import place
from tideflow.compile.request import StepRequest
from tideflow.functions.defun import Defun
from tideflow.runtime.devices import Device, Placement

TASK = "/job:localhost/replica:0/task:0"
CPU = Device(f"{TASK}/device:CPU:0", "CPU", 0, torch.device("cpu"), 1)
CPU_1 = Device(f"{TASK}/device:CPU:1", "CPU", 1, torch.device("cpu"), 1)
GPUS = tuple(Device(f"{TASK}/device:GPU:{i}", "GPU", i, torch.device("cuda", i), 1) for i in range(2))


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def placed(fetches, feeds=None, devices=(CPU, *GPUS), **options):
    """The device of each node, by name."""
    made = program(fetches, feeds)
    place(made, Placement(tuple(devices), **options))
    return {node.name: str(node.device) for node in made.nodes}


def test_without_gpus_all_is_on_the_cpu():
    found = placed(tf.exp(tf.constant(1.0)) + 1.0, devices=[CPU])
    assert set(found.values()) == {"cpu"}


def test_numbers_go_to_the_first_gpu():
    assert placed(tf.exp(tf.constant(1.0), name="e"))["e"] == "cuda:0"


def test_sizes_and_strings_stay_on_the_cpu():
    sizes = tf.constant([1, 2]) + tf.constant([3, 4], name="i")
    words = tf.concat([tf.constant(["a"]), tf.constant(["b"])], 0, name="s")
    found = placed([sizes, words])
    assert found["i"] == "cpu" and found["s"] == "cpu"


def test_booleans_are_reduced_where_they_are():
    numbers = tf.exp(tf.constant([1.0, 2.0]))
    found = placed(
        [
            tf.reduce_all(tf.math.is_finite(numbers), name="of_numbers"),
            tf.reduce_all(tf.placeholder_with_default([1, 2], [2]) > 0, name="of_sizes"),
        ]
    )
    assert found["of_numbers"] == "cuda:0" and found["of_sizes"] == "cpu"


def test_what_was_asked_for_is_given():
    with tf.device("/gpu:1"):
        a = tf.exp(tf.constant(1.0), name="a")
    with tf.device("/cpu:0"):
        b = tf.exp(a, name="b")
    found = placed(b)
    assert found["a"] == "cuda:1" and found["b"] == "cpu"


def test_state_and_what_touches_it_are_together():
    with tf.device("/gpu:1"):
        v = tf.Variable(tf.zeros([2]), name="v")
        r = tf.Variable(tf.zeros([2]), name="r", use_resource=True)
    change = tf.raw_ops.AssignAddVariableOp(resource=r.handle, value=[1.0, 1.0], name="change")
    found = placed([tf.assign_add(v, [1.0, 1.0], name="add"), change])
    assert found["v"] == found["add"] == found["r"] == found["change"] == "cuda:1"


def test_counters_stay_where_the_plan_can_read_them():
    step = tf.Variable(0, name="step")
    assert placed(step.assign_add(1))["step"] == "cpu"


def test_colocated_nodes_follow():
    with tf.device("/gpu:1"):
        a = tf.exp(tf.constant(1.0), name="a")
    with tf.colocate_with(a):
        b = tf.exp(tf.constant(2.0), name="b")
    assert placed([a, b])["b"] == "cuda:1"


def test_a_device_that_has_no_kernel_for_the_op():
    with tf.device("/gpu:0"):
        words = tf.concat([tf.constant(["a"]), tf.constant(["b"])], 0, name="s")
    assert placed(words)["s"] == "cpu"


def test_a_device_that_is_not_there():
    with tf.device("/gpu:7"):
        a = tf.exp(tf.constant(1.0), name="a")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device for operation") as info:
        placed(a)
    assert "GPU:0" in str(info.value) and "GPU:1" in str(info.value)
    assert placed(a, soft=True)["a"] == "cuda:0"
    assert placed(a, devices=[CPU], soft=True)["a"] == "cpu"


@pytest.mark.parametrize(
    "wanted", ["/job:worker/task:0/cpu:0", "/job:localhost/task:1", "/device:TPU:0", "/replica:3"]
)
def test_other_jobs_tasks_and_kinds_are_not_here(wanted):
    with tf.device(wanted):
        a = tf.exp(tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
        placed(a)


@pytest.mark.parametrize("wanted", ["/job:localhost", "/cpu:0", "/device:CPU:*", "/task:0/cpu:0", ""])
def test_names_may_be_partial(wanted):
    with tf.device(wanted):
        a = tf.exp(tf.constant(1.0), name="a")
    assert placed(a, devices=[CPU])["a"] == "cpu"


def test_logical_cpus():
    with tf.device("/cpu:1"):
        a = tf.exp(tf.constant(0.0))
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        assert session.run(a) == 1.0
    assert placed(a, devices=[CPU, CPU_1])


def test_the_choice_is_told_when_asked(caplog):
    with tf.device("/gpu:0"):
        a = tf.exp(tf.constant(1.0), name="told")
    with caplog.at_level(logging.INFO, "tideflow"):
        placed(a, log=True)
    assert f"told: (Exp): {TASK}/device:GPU:0" in caplog.text


def test_feeds_arrive_on_the_cpu():
    x = tf.placeholder(tf.float32, [2])
    made = program(tf.exp(x), {x: np.zeros(2, np.float32)})
    place(made, Placement((CPU, *GPUS)))
    assert str(made.feeds[0].op.device) == "cpu"


@Defun(tf.float32)
def demanding(x):
    with tf.device("/gpu:1"):
        return tf.exp(x, name="e")


def test_what_a_function_asks_for():
    with tf.device("/cpu:0"):
        y = demanding(tf.constant(1.0))
    assert next(device for name, device in placed(y).items() if name.endswith("/e")) == "cuda:1"
    with pytest.raises(tf.errors.InvalidArgumentError, match="explicitly assigned to /device:GPU:1"):
        placed(y, devices=[CPU])
    assert set(placed(y, devices=[CPU], soft=True).values()) == {"cpu"}


@Defun(tf.float32)
def modest(x):
    return tf.exp(x, name="e")


def test_a_function_that_asks_for_nothing_runs_beside_its_input():
    with tf.device("/gpu:1"):
        y = modest(tf.exp(1.0))
    assert next(device for name, device in placed(y).items() if name.endswith("/e")) == "cuda:1"


def test_each_operation_is_told_once(capsys):
    config = tf.ConfigProto(log_device_placement=True, device_count={"GPU": 0})
    a = tf.exp(tf.placeholder_with_default(1.0, []), name="told")
    with tf.Session(config=config) as session:
        session.run(a)
        session.run([a, a + 1.0])
    said = capsys.readouterr().out
    assert said.startswith("Device mapping: no known devices.\n")
    assert said.count(f"told: (Exp): {TASK}/device:CPU:0\n") == 1


def test_a_function_that_is_the_step_is_placed_as_a_graph_with_its_feeds_where_they_are():
    body = tf.Graph()
    with body.as_default():
        x, sizes = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int32, [1])
        y = tf.reshape(tf.exp(x, name="e"), sizes, name="r")
    request = StepRequest((y,), feeds=(x, sizes), feed_devices=(GPUS[1].torch_device, CPU.torch_device))
    made = build_program(request)
    place(made, Placement((CPU, *GPUS)), {body})
    assert [str(value.device) for value in made.feeds] == ["cuda:1", "cpu"]
    assert {node.name: str(node.device) for node in made.nodes}["e"] == "cuda:0"
