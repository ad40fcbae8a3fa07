"""A session that closes ends the steps that still wait in it."""

import threading

import pytest

import tideflow as tf
from tideflow.queues.barriers import Barrier
from tideflow.queues.staging import MapStagingArea, StagingArea

WAITING = {
    "dequeue": lambda: tf.FIFOQueue(3, [tf.int32], [[]]).dequeue(),
    "dequeue_many": lambda: tf.RandomShuffleQueue(3, 0, [tf.int32], [[]]).dequeue_many(2),
    "reader": lambda: tf.WholeFileReader().read(tf.FIFOQueue(3, [tf.string], [[]])),
    "accumulator": lambda: tf.ConditionalAccumulator(tf.float32, []).take_grad(1),
    "sparse accumulator": lambda: tf.SparseConditionalAccumulator(tf.float32).take_grad(1),
    "barrier": lambda: Barrier((tf.int32,), shapes=((),)).take_many(1),
    "staging area": lambda: StagingArea([tf.int32]).get(),
    "map staging area": lambda: MapStagingArea([tf.int32]).get(3)[1],
}


@pytest.mark.parametrize("what", WAITING)
def test_closing_the_session_ends_who_waits(what):
    with tf.Graph().as_default() as graph:
        fetch = WAITING[what]()
    session = tf.Session(graph=graph)
    errors: list[Exception] = []

    def step():
        try:
            session.run(fetch)
        except tf.errors.OpError as error:
            errors.append(error)

    thread = threading.Thread(target=step)
    thread.start()
    while "1 to take out" not in tf.train.queue_report(session):
        thread.join(0.001)
    session.close()
    thread.join(60)
    assert not thread.is_alive()
    assert [type(error) for error in errors] == [tf.errors.CancelledError]
