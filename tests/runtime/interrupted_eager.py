"""What eager mode does, to be interrupted (`interrupts.py`): steps under tapes, calls of functions."""

from __future__ import annotations

import gc
import threading

import numpy as np

import tideflow as tf
from tideflow.eager import gradient_plans
from tideflow.eager.context import eager_mode
from tideflow.eager.recording import recording


def in_a_thread(work) -> None:
    """Does the work in another thread, which finds no lock held."""
    done = []
    thread = threading.Thread(target=lambda: done.append(work()), daemon=True)
    thread.start()
    thread.join(30)
    assert done, "another thread does not get through"


class _Eager:
    """Something that runs eagerly. `check` looks at the state, and `act` must work again after it."""

    def __init__(self):
        with eager_mode():
            self.begin()
            self.run()
        self.check()

    def act(self):
        with eager_mode():
            self.run()

    def check(self):
        gc.collect()  # blocks that an interrupt kept from ending end with the frames that held them
        assert not tf.executing_eagerly() and tf.get_default_graph().get_name_scope() == ""

        def work():
            with eager_mode():
                self.look()
                self.run()
                self.look()
            return True

        in_a_thread(work)
        with eager_mode():
            self.run()
            with tf.GradientTape():
                assert len(recording.tapes) == 1, "a tape still records"
            self.look()

    def close(self):
        pass


class EagerSteps(_Eager):
    """Training steps under tapes, with updates of many variables at once and of rows of one."""

    def begin(self):
        self.made = [tf.Variable(np.zeros(8, np.float32)) for _ in range(2)]
        self.table = tf.Variable(np.zeros([4, 3], np.float32))
        self.optimizers = [tf.train.GradientDescentOptimizer(0.1), tf.train.AdamOptimizer(0.1)]
        for _ in range(gradient_plans._COMPILED_AT + 1):
            self.run()

    def run(self):
        for optimizer in self.optimizers:
            with tf.name_scope("step"), tf.GradientTape() as tape:
                rows = tf.reduce_sum(tf.gather(self.table, [1, 2]))
                loss = tf.add_n([tf.reduce_sum(v * v - v) for v in self.made]) + rows
            optimizer.apply_gradients(
                zip(tape.gradient(loss, [*self.made, self.table]), [*self.made, self.table])
            )
        self.made[0].assign_add(tf.ones([8]))

    def look(self):
        for variable in self.made:
            value = variable.numpy()
            assert np.isfinite(value).all() and value.min() == value.max(), "a variable is torn"
        assert np.isfinite(self.table.numpy()).all()


class EagerFunctions(_Eager):
    """Calls of functions, known and new ones, under a tape and without."""

    def begin(self):
        self.v = tf.Variable(np.ones(4, np.float32))
        self.size = 0
        self.known = tf.function(self.body)

    def body(self, x):
        self.v.assign_add(tf.ones([4]))
        return tf.reduce_sum(self.v) * tf.reduce_sum(x * x)

    def run(self):
        self.size = self.size % 3 + 1  # now and then of a size that is not traced yet
        for function in (self.known, tf.function(self.body)):
            x = tf.ones([self.size])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            slope = tape.gradient(y, x)
            assert slope.shape == x.shape

    def look(self):
        value = self.v.numpy()
        assert value.min() == value.max(), "a variable is torn"
        before = value[0]
        assert float(self.known(tf.ones([1]))) == 4 * (before + 1)


EAGER_KINDS = (EagerSteps, EagerFunctions)
