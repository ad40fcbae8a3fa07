"""slim: one name for layers, scopes and training."""

import pytest

import tideflow as tf

slim = tf.contrib.slim


def test_slim_has_what_layers_and_framework_have():
    assert slim.conv2d is tf.contrib.layers.conv2d and slim.arg_scope is tf.contrib.framework.arg_scope
    assert slim.losses.softmax_cross_entropy is tf.contrib.losses.softmax_cross_entropy
    assert slim.metrics.streaming_accuracy is tf.contrib.metrics.streaming_accuracy
    assert slim.utils.collect_named_outputs is tf.contrib.layers.utils.collect_named_outputs
    assert slim.get_model_variables is tf.contrib.framework.get_model_variables


def test_a_train_op_runs_the_updates_and_the_step():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[3.0, 4.0])
        seen = tf.get_variable("seen", initializer=0.0, trainable=False)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, seen.assign_add(1.0))
        train = slim.learning.create_train_op(
            tf.reduce_sum(v * v), tf.train.GradientDescentOptimizer(1.0), clip_gradient_norm=1.0
        )
        session.run(tf.global_variables_initializer())
        assert session.run(train) == 25.0
        assert session.run(seen) == 1.0 and session.run(tf.train.get_global_step()) == 1
        assert session.run(v) == pytest.approx([2.4, 3.2])


def test_a_loss_that_is_not_finite_ends_the_step():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=-1.0)
        train = slim.learning.create_train_op(tf.log(v), tf.train.GradientDescentOptimizer(0.1))
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan"):
            session.run(train)


def test_the_size_of_a_model(capsys):
    with tf.Graph().as_default() as graph:
        slim.fully_connected(tf.zeros([2, 3]), 4, scope="fc")
        assert slim.model_analyzer.analyze_vars(slim.get_model_variables(), print_info=True) == (16, 64)
        assert slim.model_analyzer.analyze_ops(graph) > 16
    assert "fc/weights:0 (float32_ref 3x4) [12, bytes: 48]" in capsys.readouterr().out
