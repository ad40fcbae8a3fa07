"""`tf.function` where values are on other devices than the first CPU."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import tideflow as tf

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="computes on a GPU")

LOGICAL_CPUS = """
import tideflow as tf
tf.enable_eager_execution(tf.ConfigProto(device_count={"CPU": 3}))
with tf.device("/cpu:2"):
    v = tf.Variable([1.0, 2.0])
    c = tf.constant(3.0)

@tf.function
def f(x):
    with tf.device("/cpu:1"):
        y = x * v
    return y + c

with tf.device("/cpu:1"), tf.GradientTape() as tape:
    y = f(tf.constant([10.0, 20.0]))
cpus = [device for device in tf.contrib.eager.list_devices() if "CPU" in device]
print(y.numpy().tolist(), tape.gradient(y, v).numpy().tolist(), len(cpus))
"""


def test_captures_and_arguments_on_logical_cpus():
    done = subprocess.run([sys.executable, "-c", LOGICAL_CPUS], capture_output=True, text=True, timeout=120)
    assert done.stdout == "[13.0, 43.0] [10.0, 20.0] 3\n", done.stdout + done.stderr


@gpu
def test_captures_arguments_and_results_are_on_the_gpu():
    with tf.device("/gpu:0"):
        v, c = tf.Variable([1.0, 2.0]), tf.constant(3.0)
    with tf.device("/cpu:0"):
        host = tf.Variable([5.0, 6.0])

    @tf.function
    def f(x, size):
        v.assign_add(tf.ones([2]))
        return tf.reshape(x * v + c, [size]) + host, tf.shape(x)

    for place in ("/gpu:0", "/cpu:0", "/gpu:0"):
        v.assign([1.0, 2.0])
        with tf.device(place):
            x = tf.constant([10.0, 20.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, sizes = f(x, tf.constant(2))
        assert y.numpy().tolist() == [28.0, 69.0] and sizes.numpy().tolist() == [2]
        assert y.device.endswith("GPU:0")
        slopes = tape.gradient(y, [x, v, host])
        assert [slope.numpy().tolist() for slope in slopes] == [[2.0, 3.0], [10.0, 20.0], [1.0, 1.0]]
    assert v.handle._value.read().is_cuda and not host.handle._value.read().is_cuda


@gpu
def test_a_taped_step_on_the_gpu_by_a_plan():
    with tf.device("/gpu:0"):
        w, b = tf.Variable([[1.0], [2.0]]), tf.Variable([0.5])
    optimizer = tf.train.AdamOptimizer(0.1)
    losses = []
    for _ in range(8):  # the way back is compiled at the fifth
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.constant([[1.0, -1.0], [0.5, 2.0]]), w) + b))
        slopes = tape.gradient(loss, [w, b])
        assert all(slope.device.endswith("GPU:0") for slope in slopes)
        optimizer.apply_gradients(zip(slopes, [w, b], strict=True))
        losses.append(float(loss))
    assert losses == sorted(losses, reverse=True)


@gpu
def test_a_function_that_runs_often_keeps_each_result():
    with tf.device("/gpu:0"):
        x = tf.ones([8, 8])

    @tf.function
    def f(x):
        for _ in range(20):
            x = tf.abs(x) * 1.5 + 1.0
        return x

    first = f(x)
    wanted = first.numpy()
    later = [f(x * float(i)) for i in range(2, 12)]  # recorded and replayed meanwhile
    assert (first.numpy() == wanted).all() and first.device.endswith("GPU:0")
    assert len({result.numpy().tobytes() for result in later}) == len(later)


@gpu
@pytest.mark.parametrize("place", ["/gpu:0", "/cpu:0"])
def test_a_tape_follows_tensors_that_are_copied_to_another_device(place):
    with tf.device("/cpu:0" if "gpu" in place else "/gpu:0"):
        x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.device(place):
            y = x * x
    assert y.device.lower().endswith(place[1:])
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0]
