"""The devices of a process, and the door for kinds of devices that nobody here has heard of."""

from types import ModuleType

import pytest
import torch

import tideflow as tf
from tideflow.runtime import devices as room
from tideflow.runtime.devices import (
    ONE_CPU,
    Choice,
    Device,
    device_type,
    keep_to_limits,
    local_devices,
    register_device_type,
    unregister_device_type,
)

LIMITS: list[tuple[int, int]] = []


@pytest.fixture
def abacus():
    """A made-up kind of device, three of them with 1000 bytes each, which computes with the CPU's kernels."""
    LIMITS.clear()
    kind = register_device_type(
        "ABACUS",
        "cpu",
        count=lambda: 3,
        memory=lambda index: 1000,
        limit=lambda index, size: LIMITS.append((index, size)),
        describe=lambda index: f"device: {index}, name: Abacus",
    )
    yield kind
    unregister_device_type("ABACUS")


@pytest.fixture
def blackboard():
    """A made-up kind whose tensors have no memory: torch's meta device."""
    register_device_type("BLACKBOARD", "meta", count=lambda: 1, memory=lambda index: 1, priority=-1)
    yield
    unregister_device_type("BLACKBOARD")


def names(choice):
    return [d.name.rpartition("device:")[2] for d in local_devices(choice) if d.device_type != "GPU"]


def test_one_cpu_by_default():
    [cpu] = local_devices(ONE_CPU)
    assert cpu.name == "/job:localhost/replica:0/task:0/device:CPU:0" and cpu.torch_device.type == "cpu"
    assert cpu.memory_limit_bytes > 2**20 and cpu.task == "/job:localhost/replica:0/task:0"


def test_several_cpus_and_the_name_of_a_task():
    found = local_devices(Choice({"CPU": 3}, accelerators=False), "/job:ps/replica:0/task:7")
    assert [d.name for d in found] == [f"/job:ps/replica:0/task:7/device:CPU:{i}" for i in range(3)]


def test_incarnations_differ_by_device_and_stay():
    first, again = (local_devices(Choice({"CPU": 8}, accelerators=False)) for _ in range(2))
    assert len({d.incarnation for d in first}) == 8
    assert [d.incarnation for d in first] == [d.incarnation for d in again]
    assert all(0 < d.incarnation < 2**64 for d in first)


def test_a_made_up_kind_is_listed(abacus):
    found = [d for d in local_devices() if d.device_type == "ABACUS"]
    assert [d.index for d in found] == [0, 1, 2] and found[0].memory_limit_bytes == 1000
    assert found[1].description == "device: 1, name: Abacus"
    assert device_type("ABACUS") is abacus


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (Choice({"ABACUS": 2}), ["CPU:0", "ABACUS:0", "ABACUS:1"]),
        (Choice({"ABACUS": 0}), ["CPU:0"]),
        (Choice(visible={"ABACUS": [2]}), ["CPU:0", "ABACUS:0"]),
        (Choice(parts={("ABACUS", 1): [10, 20], ("CPU", 0): [None, None]}, visible={"ABACUS": [1]}),
         ["CPU:0", "CPU:1", "ABACUS:0", "ABACUS:1"]),
    ],
)  # fmt: skip
def test_what_is_chosen_of_it(abacus, choice, expected):
    assert names(choice) == expected


def test_memory_of_parts_and_fractions(abacus):
    parts = Choice(parts={("ABACUS", 1): [10, None]}, visible={"ABACUS": [1, 0]}, fraction=0.5)
    found = [d for d in local_devices(parts) if d.device_type == "ABACUS"]
    assert [d.memory_limit_bytes for d in found] == [10, 500, 500]


def test_limits_are_kept_to_where_they_are_less_than_all(abacus):
    keep_to_limits([d for d in local_devices(Choice(fraction=0.25)) if d.device_type == "ABACUS"])
    assert LIMITS == [(0, 750)]  # three devices that are one to torch
    keep_to_limits(local_devices(ONE_CPU))
    assert len(LIMITS) == 1


def test_steps_run_on_a_made_up_kind(abacus):
    with tf.Graph().as_default():
        with tf.device("/device:ABACUS:1"):
            v = tf.get_variable("v", initializer=[1.0, 2.0])
            y = tf.reduce_sum(v * 2.0, name="y")
        step = tf.train.GradientDescentOptimizer(0.1).minimize(y)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            assert session.run(y) == pytest.approx(5.2)
            names = [d.name for d in session.list_devices()]
    assert "/job:localhost/replica:0/task:0/device:ABACUS:2" in names


def test_kinds_of_higher_priority_come_first(abacus, blackboard, capsys):
    config = tf.ConfigProto(log_device_placement=True, device_count={"GPU": 0})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        a = tf.exp(tf.placeholder_with_default(1.0, []), name="a")
        session.run([a, tf.strings.join(["a", "b"], name="words")])
    said = capsys.readouterr().out
    assert "Device mapping:" in said and "ABACUS:0 -> device: 0, name: Abacus" in said
    assert "a: (Exp): /job:localhost/replica:0/task:0/device:ABACUS:0" in said
    assert "words: (StringJoin): /job:localhost/replica:0/task:0/device:CPU:0" in said


def test_torch_runs_the_kernels_of_a_made_up_kind_where_it_says(blackboard):
    with tf.Graph().as_default(), tf.device("/device:BLACKBOARD:0"):
        y = tf.exp(tf.random_uniform([2, 3]), name="y")
        with tf.Session() as session:
            assert "meta" in session.explain(y)


@pytest.mark.parametrize(
    ("name", "torch_type", "said"),
    [
        ("CPU", "cpu", "is registered already, as torch's 'cpu'"),
        ("A:B", "cpu", "cannot be a device type"),
        ("", "cpu", "cannot be a device type"),
        ("SLATE", "slate", "torch has no device type 'slate'"),
    ],
)
def test_what_cannot_be_registered(name, torch_type, said):
    with pytest.raises(ValueError, match=said):
        register_device_type(name, torch_type, count=lambda: 1, memory=lambda i: 1)
    assert name == "CPU" or name not in room._types


def test_a_device_says_what_it_is():
    device = Device("/job:a/replica:0/task:0/device:CPU:0", "CPU", 0, torch.device("cpu"), 5, 7)
    assert repr(device) == "_DeviceAttributes(/job:a/replica:0/task:0/device:CPU:0, CPU, 5, 7)"


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_forked_child_leaves_what_its_parent_has_begun_to_use(monkeypatch, caplog, has_begun):
    def init():
        if has_begun:
            raise RuntimeError("Cannot re-initialize CUDA in forked subprocess.\nMore words.")

    module = ModuleType("left")
    vars(module).update(init=init, is_available=lambda: True, device_count=lambda: 2)
    monkeypatch.setattr(torch, "get_device_module", lambda torch_type: module)
    room.register_torch_module("LEFT", "cpu")
    try:
        count = room.device_type("LEFT").count
        assert count() == 2
        monkeypatch.setattr(room, "_is_forked", True)
        assert [count(), count()] == ([0, 0] if has_begun else [2, 2])
    finally:
        room.unregister_device_type("LEFT")
    assert [record.message for record in caplog.records] == has_begun * [
        "This forked process computes without GPUs, which its parent has used: "
        "Cannot re-initialize CUDA in forked subprocess."
    ]
