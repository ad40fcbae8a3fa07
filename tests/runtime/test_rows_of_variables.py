"""Rows of large variables: neither lookups nor sparse updates copy the whole."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.errors import FailedPreconditionError
from tideflow.runtime.resources import Variable

_ROWS, _WIDTH = 2000, 4

_OPTIMIZERS = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1),
    "lazy adam": lambda: tf.contrib.opt.LazyAdamOptimizer(0.1),
}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def table_of(resource, shards=2):
    with tf.variable_scope("scope", use_resource=resource):
        return tf.get_variable(
            "table",
            [_ROWS, _WIDTH],
            initializer=tf.ones_initializer(),
            partitioner=tf.fixed_size_partitioner(shards),
        )


def memory_of(session) -> dict:
    """Where each variable's numbers are."""
    held = session._resources._resources.values()
    return {found.name: found.value.data_ptr() for found in held if isinstance(found, Variable)}


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("key", _OPTIMIZERS)
def test_a_sparse_step_writes_in_place(key, resource):
    rows = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table_of(resource), rows) ** 2)
    train = _OPTIMIZERS[key]().minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = memory_of(session)
        for step in range(5):
            session.run([train, loss], {rows: [step, 7, _ROWS - 1, 7]})
        assert before and memory_of(session) == before


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("function", [tf.nn.nce_loss, tf.nn.sampled_softmax_loss])
def test_so_does_one_of_a_sampled_loss(function, resource):
    weights = table_of(resource)
    with tf.variable_scope("biases", use_resource=resource):
        biases = tf.get_variable("b", [_ROWS], partitioner=tf.fixed_size_partitioner(2))
    labels = tf.placeholder(tf.int64, [None, 1])
    inputs = tf.ones([3, _WIDTH])
    loss = tf.reduce_sum(
        function(weights, biases, labels, inputs, num_sampled=5, num_classes=_ROWS, partition_strategy="div")
    )
    train = tf.train.AdagradOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = memory_of(session)
        for step in range(5):
            session.run(train, {labels: [[step], [3], [_ROWS - 1]]})
        assert before and memory_of(session) == before


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
def test_nor_do_steps_that_run_at_once(resource):
    """A lookup of one step and an update of another never meet amid a read of the whole."""
    rows = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table_of(resource), rows))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    count, workers = 200, 4
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = memory_of(session)

        def work(worker):
            for step in range(count):
                session.run(train, {rows: [worker, (step * 31 + worker) % _ROWS]})

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert memory_of(session) == before
        found = sum(session.run(list(tf.global_variables())[i]).sum() for i in range(2))
    assert found == _ROWS * _WIDTH - 2 * _WIDTH * count * workers  # no update was lost


def test_a_lookup_sees_the_writes_before_it():
    table = tf.Variable(np.zeros([4, 1], np.float32))
    old = tf.gather(table, [1])
    with tf.control_dependencies([old]):
        update = tf.scatter_add(table, [1], [[5.0]])
    with tf.control_dependencies([update]):
        new = tf.gather(table.read_value(), [1])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [found.item() for found in session.run([old, new])] == [0.0, 5.0]
        assert [found.item() for found in session.run([old, new])] == [5.0, 10.0]


def test_looking_at_what_is_not_there():
    with pytest.raises(FailedPreconditionError, match="uninitialized value v"):
        Variable("v").look(lambda value: value)
