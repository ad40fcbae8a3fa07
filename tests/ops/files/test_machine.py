"""Ops that reach beyond the step, and gradients that compute again."""

import signal
import subprocess
import sys

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize(("quietly", "status"), [(True, 0), (False, -signal.SIGABRT)])
def test_abort_ends_the_process(quietly, status):
    program = (
        "import tideflow as tf\n"
        f"op = tf.raw_ops.Abort(error_msg='that was it', exit_without_error={quietly})\n"
        "with tf.control_dependencies([op]): y = tf.constant(1)\n"
        "tf.Session().run(tf.identity(y))\n"
        "print('still here')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert "still here" not in done.stdout
    assert quietly or "that was it" in done.stderr


def test_a_mapped_file_is_not_written_to(tmp_path):
    path = tmp_path / "region"
    path.write_bytes(np.arange(4, dtype=np.float32).tobytes())
    x = tf.raw_ops.ImmutableConst(dtype=tf.float32, shape=[4], memory_region_name=str(path))
    v = tf.Variable(x, use_resource=False)
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(tf.assign_add(v, tf.ones([4]))), [1, 2, 3, 4])
        np.testing.assert_array_equal(session.run(x), [0, 1, 2, 3])
    assert path.read_bytes() == np.arange(4, dtype=np.float32).tobytes()


def test_a_timestamp_is_taken_in_each_step():
    now = tf.timestamp()
    with tf.Session() as session:
        assert session.run(now) < session.run(now)


def test_recomputed_means_computed_twice():
    calls = []

    def counted(x):
        def square(value):
            calls.append(value)
            return value * value

        return tf.py_func(square, [x], tf.float32, stateful=False)

    @tf.recompute_grad
    def block(x):
        return x * tf.stop_gradient(counted(x))

    x = tf.constant(2.0)
    y = block(x)
    grad = tf.gradients(y, x)[0]
    with tf.Session() as session:
        value, slope = session.run([y, grad])
    assert (value, slope, len(calls)) == (8.0, 4.0, 2)
