"""The summary ops that TensorBoard's plugins bring along: they ask for TensorFlow, and get us."""

import subprocess
import sys

_PROGRAM = """
import numpy as np
import tensorflow as tf
from tensorboard.plugins.custom_scalar import layout_pb2, summary as custom_scalar
from tensorboard.plugins.histogram import summary as histogram
from tensorboard.plugins.mesh import summary as mesh
from tensorboard.plugins.pr_curve import summary as pr_curve
from tensorboard.plugins.scalar import summary as scalar

ops = [
    custom_scalar.op(layout_pb2.Layout()),
    histogram.op("histogram", tf.constant([1.0, 2.0])),
    mesh.op("mesh", tf.zeros([1, 3, 3])),
    pr_curve.op("pr_curve", tf.constant([True, False]), tf.constant([0.2, 0.9]), 3),
    scalar.op("scalar", tf.constant(1.5)),
]
with tf.Session() as session:
    session.run(tf.local_variables_initializer())
    for summary in session.run(ops):
        print(*(value.metadata.plugin_data.plugin_name for value in tf.Summary.FromString(summary).value))
print(*(value.tag for value in pr_curve.pb("by hand", np.array([True]), np.array([0.5]), 3).value))
"""


def test_plugins_find_their_tensorflow(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(_PROGRAM)
    command = [sys.executable, "-m", "tideflow", "run", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == "custom_scalars histograms mesh pr_curves scalars by hand/pr_curves".split()
