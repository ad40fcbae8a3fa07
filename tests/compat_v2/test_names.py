"""The names of `tf.compat.v2`, and programs that import it."""

import subprocess
import sys

import numpy as np
import pytest

import tideflow as tf
from tideflow.compat_v2.names import _spaces
from tideflow.compat_v2.rearranged import _rows, form_of

v2 = tf.compat.v2

# What `tf` does not have either, and says why.
NOT_THERE = {
    "config.experimental_connect_to_cluster",
    "config.experimental_connect_to_host",
    "nondifferentiable_batch_function",
    "summary.trace_export",
    "summary.trace_off",
    "summary.trace_on",
}


def _find(path):
    value = v2
    for name in filter(None, path.split(".")):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("space", _spaces())
def test_every_name_of_a_namespace(space):
    namespace = _find(space)
    for name in _spaces()[space]:
        path = f"{space}.{name}".lstrip(".")
        if name != "*" and path not in NOT_THERE:
            assert hasattr(namespace, name) and name in dir(namespace)


@pytest.mark.parametrize("path", _rows())
def test_rearranged_arguments_are_those_that_the_function_takes(path):
    assert callable(form_of(path)) and form_of(path).__doc__


def test_what_only_version_1_has():
    assert not hasattr(v2, "placeholder") and not hasattr(v2.nn, "xw_plus_b")
    assert v2.compat.v1 is tf
    with pytest.raises(AttributeError, match=r"tideflow\.compat\.v2"):
        v2.Session()
    with pytest.raises(TypeError):
        v2.argmax([1.0], dimension=0)


def test_arguments_in_version_2s_order():
    x = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    with tf.Session() as sess:
        given = [v2.argmax(x, 1, tf.int32), v2.gather(x, [1], None, 1), v2.zeros_like(input=x)]
        indices, taken, zeros = sess.run(given)
    assert indices.dtype == np.int32 and taken.tolist() == [[2.0], [4.0]] and not zeros.any()


PROGRAM = """
import tensorflow.compat.v2 as tf
from tensorflow.compat.v2.keras import layers
tf.compat.v1.enable_v2_behavior()
x = tf.constant([1, 2])
assert tf.executing_eagerly() and x.shape[0] == 2 and (x == [1, 3]).numpy().tolist() == [True, False]
model = tf.keras.Sequential([layers.Dense(1, kernel_initializer="ones")])
model.compile("sgd", "mse", metrics=["mae"])
history = model.fit(tf.ones([4, 2]), tf.ones([4, 1]), verbose=0).history
assert set(history) == {"loss", "mae"}, history
assert {x.experimental_ref(): 1}
try:
    {x: 1}
except TypeError as error:
    print(error)
"""


def test_a_program_of_version_2(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "tideflow", "run", str(tmp_path / "program.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert "Tensor is unhashable" in done.stdout, done.stderr
