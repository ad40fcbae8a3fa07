"""Collective ops in sessions over several devices."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tideflow.ops.distributed import collectives, nccl

CONFIG = tf.ConfigProto(device_count={"CPU": 3})


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def on(device: int):
    return tf.device(f"/cpu:{device}")


def reduced(values, instance=1, merge="Add", final="Id"):
    """Each value, times the number of its device, reduced over all."""
    made = []
    for device, value in enumerate(values):
        with on(device):
            made.append(
                collectives.all_reduce(
                    tf.multiply(value, 1.0 + device), len(values), 1, instance, merge, final
                )
            )
    return made


def test_several_instances_in_one_step():
    sums = reduced([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    means = reduced(sums, instance=2, final="Div")
    with tf.Session(config=CONFIG) as session:
        for _ in range(5):
            found = session.run([sums, means])
            np.testing.assert_array_equal(found, [[[22.0, 28.0]] * 3, [[44.0, 56.0]] * 3])


def test_steps_apart_meet():
    """Each member is run by a step of its own."""
    from concurrent.futures import ThreadPoolExecutor

    sums = reduced([[1.0], [2.0], [4.0]])
    with tf.Session(config=CONFIG) as session, ThreadPoolExecutor(3) as threads:
        assert [found.tolist() for found in threads.map(session.run, sums)] == [[17.0]] * 3


def test_a_member_that_never_comes():
    sums = reduced([[1.0], [2.0]])
    with tf.Session(config=CONFIG) as session:
        with pytest.raises(tf.errors.DeadlineExceededError, match="where 1 of 2 members are"):
            session.run(sums[0], options=tf.RunOptions(timeout_in_ms=50))
        assert session.run(sums)[1] == [5.0]


def test_an_op_may_have_a_time_of_its_own():
    with on(0):
        waits = collectives.reduce_op(
            tf.constant([1.0]),
            group_size=2,
            group_key=1,
            instance_key=1,
            merge_op="Add",
            final_op="Id",
            subdiv_offsets=[0],
            timeout_seconds=0.05,
        )
    with tf.Session(config=CONFIG) as session:
        with pytest.raises(tf.errors.DeadlineExceededError, match=r"in the 0\.05 s"):
            session.run(waits)


def test_all_tensors_one_after_the_other():
    gathered = []
    for device in range(3):
        with on(device):
            value = tf.constant([[float(device), device + 0.5]])
            gathered.append(collectives.all_gather(value, 3, 1, 1))
    assert gathered[0].shape.as_list() == [3, 2]
    with tf.Session(config=CONFIG) as session:
        for found in session.run(gathered):
            np.testing.assert_array_equal(found, [[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])


def test_one_sends_and_all_receive():
    with on(1):
        sent = collectives.broadcast_send(tf.constant([3, 4]), [2], tf.int32, 3, 1, 1)
    received = []
    for device in (0, 2):
        with on(device):
            received.append(collectives.broadcast_recv([2], tf.int32, 3, 1, 1))
    with tf.Session(config=CONFIG) as session:
        np.testing.assert_array_equal(session.run([sent, *received]), [[3, 4]] * 3)


def test_what_is_sent_has_the_declared_shape():
    with on(0):
        value = tf.placeholder(tf.float32)
        sent = collectives.send_op(value, shape=[2], group_size=2, group_key=1, instance_key=1)
    with tf.Session(config=CONFIG) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(3,\) is sent, but \(2,\) was declared"):
            session.run(sent, {value: [1.0, 2.0, 3.0]})


def test_training_without_parameter_servers():
    """Replicas on devices of their own stay equal, and equal one that sees all of the data."""
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    updates, variables = [], []
    for device in range(2):
        with on(device):
            variable = tf.Variable(5.0, name=f"replica_{device}")
            loss = tf.reduce_mean((variable - data[device]) ** 2)
            (slope,) = tf.gradients(loss, variable)
            mean = collectives.all_reduce(slope, 2, 1, 1, "Add", "Div")
            updates.append(tf.train.GradientDescentOptimizer(0.1).apply_gradients([(mean, variable)]))
            variables.append(variable)
    with tf.Session(config=CONFIG) as session:
        session.run(tf.global_variables_initializer())
        expected = 5.0
        for _ in range(10):
            session.run(updates)
            expected -= 0.1 * 2 * (expected - data.mean())
        np.testing.assert_allclose(session.run(variables), [expected] * 2, rtol=1e-5)


@pytest.mark.parametrize(
    ("function", "expected"),
    [(nccl.all_sum, 9.0), (nccl.all_prod, 24.0), (nccl.all_min, 2.0), (nccl.all_max, 4.0)],
)
def test_sums_over_devices(function, expected):
    inputs = []
    for device, value in enumerate((2.0, 3.0, 4.0)):
        with on(device):
            inputs.append(tf.constant([value]))
    made = function(inputs)
    assert [tensor.device for tensor in made] == [tensor.device for tensor in inputs]
    with tf.Session(config=CONFIG) as session:
        assert np.ravel(session.run(made)).tolist() == [expected] * 3


def test_gradients_of_sums_over_devices():
    inputs = []
    for device in range(2):
        with on(device):
            inputs.append(tf.constant([1.0 + device]))
    squares = []
    for device, total in enumerate(nccl.all_sum(inputs)):
        with on(device):
            squares.append(total * total)
    with on(0):
        reduced = nccl.reduce_sum(inputs)
    slopes = tf.gradients(squares, inputs, colocate_gradients_with_ops=True)
    spread = tf.gradients(reduced, inputs, colocate_gradients_with_ops=True)
    with tf.Session(config=CONFIG) as session:
        found = session.run([slopes, spread, reduced])
    assert np.ravel(found[0]).tolist() == [12.0, 12.0]  # two squares, each of slope 2 * 3
    assert np.ravel(found[1]).tolist() == [1.0, 1.0] and found[2].tolist() == [3.0]


def test_sums_need_devices():
    value = tf.constant(1.0)
    with pytest.raises(ValueError, match="Device assignment required"):
        nccl.all_sum([value])
    with pytest.raises(ValueError, match="Must pass >0 tensors"):
        nccl.all_sum([])
    with on(1):
        placed = tf.constant(1.0)
    with on(0), pytest.raises(ValueError, match="must be assigned to current device"):
        nccl.reduce_sum([placed])
    with pytest.raises(LookupError, match="except sum"):
        tf.gradients(nccl.all_max([placed]), placed)
