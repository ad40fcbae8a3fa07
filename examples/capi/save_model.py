"""Saves the model that the programs beside this file serve: y = x / 2 + 2.

python examples/capi/save_model.py out/half_plus_two
"""

import sys

import tideflow as tf

x = tf.placeholder(tf.float32, [None], name="x")
half, two = tf.Variable(0.5, name="half"), tf.Variable(2.0, name="two")
y = tf.add(half * x, two, name="y")
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    tf.saved_model.simple_save(session, sys.argv[1], inputs={"x": x}, outputs={"y": y})
