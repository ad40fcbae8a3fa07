"""Checkpoints to restore from."""

import tideflow as tf


def checkpoint_of(prefix, **values) -> str:
    """The path of a new checkpoint of variables of these values."""
    with tf.Graph().as_default(), tf.Session() as sess:
        for name, value in values.items():
            tf.get_variable(name, initializer=value)
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, str(prefix), write_meta_graph=False)
