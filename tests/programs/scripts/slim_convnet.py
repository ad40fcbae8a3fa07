"""A small convolutional network in slim that tells horizontal stripes from vertical ones."""

from __future__ import print_function

import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim
from tensorflow.contrib.framework.python.ops import add_arg_scope
from tensorflow.python.platform import tf_logging as logging

flags = tf.app.flags
flags.DEFINE_integer("batch_size", 32, "Images in a batch.")
flags.DEFINE_integer("max_steps", 60, "Steps of training.")
flags.DEFINE_float("weight_decay", 0.0005, "Weight decay of the convolutions.")
FLAGS = flags.FLAGS


@add_arg_scope
def block(inputs, depth, is_training=True, scope=None):
    with tf.variable_scope(scope, "block", [inputs]):
        net = slim.conv2d(inputs, depth, [3, 3], scope="conv")
        return slim.max_pool2d(net, [2, 2], scope="pool")


def stripes_arg_scope(weight_decay):
    with slim.arg_scope(
        [slim.conv2d],
        activation_fn=tf.nn.relu,
        normalizer_fn=slim.batch_norm,
        normalizer_params={"decay": 0.9, "updates_collections": None},
        weights_regularizer=slim.l2_regularizer(weight_decay),
    ):
        with slim.arg_scope([slim.conv2d], padding="SAME") as sc:
            return sc


def network(images, is_training, reuse=None):
    with tf.variable_scope("stripes", "stripes", [images], reuse=reuse):
        with slim.arg_scope(stripes_arg_scope(FLAGS.weight_decay)):
            with slim.arg_scope([slim.batch_norm, slim.dropout], is_training=is_training):
                net = block(images, 8, scope="block1")
                net = block(net, 16, scope="block2")
                net = slim.flatten(net)
                net = slim.dropout(net, 0.9)
                return slim.fully_connected(net, 2, activation_fn=None, scope="logits")


def make_batch(rng, size):
    labels = rng.randint(0, 2, size)
    images = rng.normal(scale=0.3, size=(size, 8, 8, 1))
    images[labels == 0, ::2, :, :] += 1.0
    images[labels == 1, :, ::2, :] += 1.0
    return images.astype(np.float32), labels


def main(_):
    logging.set_verbosity(logging.INFO)
    tf.set_random_seed(1)
    rng = np.random.RandomState(0)
    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")

    logits = network(images, is_training=True)
    tf.losses.sparse_softmax_cross_entropy(labels, logits)
    total_loss = tf.losses.get_total_loss()
    optimizer = tf.train.AdamOptimizer(0.01)
    train_op = slim.learning.create_train_op(total_loss, optimizer, clip_gradient_norm=4.0)

    predictions = tf.argmax(network(images, is_training=False, reuse=True), 1)
    names_to_values, names_to_updates = tf.contrib.metrics.aggregate_metric_map(
        {"accuracy": tf.contrib.metrics.streaming_accuracy(predictions, labels)}
    )
    slim.model_analyzer.analyze_vars(slim.get_model_variables(), print_info=True)

    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for step in range(FLAGS.max_steps):
            image_batch, label_batch = make_batch(rng, FLAGS.batch_size)
            loss = sess.run(train_op, {images: image_batch, labels: label_batch})
            if step % 20 == 0:
                logging.info("step %d: loss = %.3f", step, loss)
        for _ in range(4):
            image_batch, label_batch = make_batch(rng, 64)
            sess.run(list(names_to_updates.values()), {images: image_batch, labels: label_batch})
        print("global step", tf.train.global_step(sess, tf.train.get_global_step()))
        print("accuracy %.3f" % sess.run(names_to_values["accuracy"]))


if __name__ == "__main__":
    tf.app.run()
