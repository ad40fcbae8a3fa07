"""A small model that the tests of SavedModels write."""

import numpy as np

import tideflow as tf

INPUT = np.float32([[1, 2, 3]])


def build(path, **options):
    """Writes a model whose answer to INPUT is returned: variables of both kinds, and a table over a file."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.get_variable("w", initializer=np.float32([[1], [2], [3]]), use_resource=True)
        b = tf.get_variable("b", initializer=np.float32([0.5]), use_resource=False)
        y = tf.add(tf.matmul(x, w), b, name="y")
        sess.run(tf.global_variables_initializer())
        signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
        builder = tf.saved_model.Builder(str(path))
        builder.add_meta_graph_and_variables(sess, ["serve"], {"serving_default": signature}, **options)
        builder.save()
        return sess.run(y, {x: INPUT})


def answer(path, **options):
    """What a model answers to INPUT, loaded into a graph of its own."""
    with tf.Graph().as_default(), tf.Session() as sess:
        message = tf.saved_model.load(sess, ["serve"], str(path), **options)
        signature = message.signature_def["serving_default"]
        return sess.run(signature.outputs["y"].name, {signature.inputs["x"].name: INPUT})
