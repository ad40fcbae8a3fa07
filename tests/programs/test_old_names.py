"""Names that Python and NumPy have dropped are there for old programs, and packages find what they import."""

import subprocess
import sys

import tideflow as tf
from tideflow.programs.inner.keras import standalone_names as keras_names

PROGRAM = """
import base64, collections, fractions, inspect, threading, time
import numpy as np
import tensorflow as tf
from collections import Iterable, Mapping
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
from tensorflow.python.keras import backend
from tensorflow.python.keras.utils import tf_utils
from PIL import Image
import h5py
HELD = np.zeros(2)
assert Image.ANTIALIAS == Image.LANCZOS
FILE = h5py.File('old', driver='core', backing_store=False)
ATTRS = FILE.attrs
assert FILE.create_dataset('d', data=[1, 2]).value.tolist() == [1, 2]
ATTRS['text'], ATTRS['texts'] = b'a', ['b', 'c']
assert ATTRS['text'].decode('utf-8') == 'a' and [t.decode('utf8') for t in ATTRS['texts']] == ['b', 'c']
assert issubclass(dict, Mapping) and isinstance([], collections.Sequence)
assert inspect.getargspec(lambda a, *b, c=1, **d: 0).keywords == "d"
assert np.reshape([1, 2], newshape=(2, 1)).shape == np.reshape([1, 2], (2, 1)).shape == (2, 1)
assert np.string_ is np.bytes_ and np.in1d([1, 2], [2]).tolist() == [False, True]
assert np.array([1, 2], copy=False).tolist() == [1, 2] and np.array(HELD, copy=False) is HELD
assert np.asscalar(np.ones(1)) == 1 and np.zeros(2, np.float).dtype == np.float64
assert np.string_ is np.bytes_ and np.alltrue([1]) and not np.sometrue([0]) and np.NINF < 0
assert np.asfarray([1]).dtype == np.float64 and list(np.in1d([[1, 2]], [2])) == [False, True]
assert np.find_common_type([np.float32], [np.int64, np.float64]) == np.float32
assert np.find_common_type([np.int32], [np.float64]) == np.float64
assert np.find_common_type([], [np.int8]) == np.int8
assert int(np.array([2.5])) == 2 and float(np.array([[3]])) == 3.0 and "%d" % np.array([4]) == "4"
assert int(np.matrix([[5]])) == 5 and float(np.array(6)) == 6.0
assert np.array([1], np.uint8).tostring() == np.uint8(1).tostring() == b"\\x01"
HELD.itemset(1, 2.0)
assert HELD.ptp() == 2.0 and HELD.newbyteorder().dtype == ">f8"
try:
    raise AssertionError(int(HELD))
except TypeError:
    HELD.itemset((1,), 0.0)
assert fractions.gcd(4, 6) == 2 and base64.encodestring(b"a") == b"YQ==\\n"
assert time.clock() <= time.clock() and threading.current_thread().isAlive()
assert isinstance(tf.ones(2), ops._TensorLike) and ops.is_dense_tensor_like(tf.Variable(1.0))
assert backend.get_graph() is tf.get_default_graph() and tf.ones(2).shape._dims[0].value == 2
with context.eager_mode():
    print(tf.executing_eagerly())
"""


def test_old_programs_find_old_names(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "tideflow", "run", str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "True\n", done.stderr


def test_what_is_computed_from_inputs():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32)
        y, z = x * 2.0, tf.constant(1.0)
        reached = keras_names.get_reachable_from_inputs([x])
        assert {x, y, y.op} <= reached and z not in reached
        assert keras_names.get_reachable_from_inputs([x], targets=[x]) == {x}
