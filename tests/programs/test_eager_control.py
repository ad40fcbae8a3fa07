"""What TensorFlow's tests of eager mode take from its inner modules: executors, cancellation, tapes,
functions.
"""

import subprocess
import sys
import threading

import pytest

import tideflow as tf
from tests.patience import eventually
from tideflow.eager import context
from tideflow.programs.inner.eager import attributes as eager_attributes
from tideflow.programs.inner.eager import context_names as eager_names
from tideflow.programs.inner.eager import control as eager_control
from tideflow.programs.inner.eager import forward_gradients, tape_names
from tideflow.programs.inner.eager import function_names as eager_function_names


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def test_a_function_that_waits_is_cancelled():
    queue = tf.queue.FIFOQueue(1, [tf.int32], shapes=[()])
    manager = eager_control.CancellationManager()
    waiting = manager.get_cancelable_function(tf.function(lambda: queue.dequeue()).get_concrete_function())
    raised = []

    def run():
        with context.eager_mode():
            try:
                waiting()
            except tf.errors.CancelledError as error:
                raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    eventually(lambda: queue.queue_ref._value.report()["waiting to dequeue"])
    assert not manager.is_cancelled
    manager.start_cancel()
    thread.join(timeout=10)
    assert manager.is_cancelled and len(raised) == 1
    with pytest.raises(tf.errors.CancelledError):
        waiting()


def test_executors_are_those_of_their_block():
    executor = eager_control.new_executor(True)
    with eager_names.executor_scope(executor):
        assert eager_names.context().executor is executor
        eager_names.async_wait()
    assert not eager_names.context().executor.is_async()
    with eager_names.namescope("outer"), eager_names.namescope("inner"):
        assert eager_names.scope_name() == "outer/inner"


def test_attributes_of_other_kinds_are_refused():
    op = eager_names.definitions()["Squeeze"]
    x = tf.zeros([1, 1])
    eager_attributes.check(op, {"squeeze_dims": [0]}, [x])
    for attrs in ({"squeeze_dims": 0}, {"squeeze_dims": ["0"]}, {"other": 1}):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[Op:Squeeze\]"):
            eager_attributes.check(op, attrs, [x])
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not match 0 inputs"):
        eager_names.execute("Squeeze", 1, [], (), None)


def test_tapes_without_a_block_record():
    x = tf.constant(3.0)
    tape = tape_names.push_new_tape()
    tape_names.watch(tape, x)
    y = x * x
    with tape_names.stop_recording():
        z = x * 2.0
    tape_names.record_operation("mine", [z], [x], lambda dz: [dz * 7.0])
    assert tape_names.should_record([x]) and tape_names.could_possibly_record()
    tape_names.pop_tape(tape)
    assert [float(g) for g in tape_names.imperative_grad(tape, [y, z], [x])] == [13.0]


def test_tangents_go_forward_and_nest():
    x = tf.constant(2.0)
    with forward_gradients.ForwardGradientAccumulator() as outer:
        outer.watch(x, tf.constant(1.0))
        with forward_gradients.ForwardGradientAccumulator() as inner:
            inner.watch(x, tf.constant(1.0))
            y = tf.function(lambda x: x * x * x)(x)
        slope = inner.jvp(y)
    assert (float(slope), float(outer.jvp(slope))) == (12.0, 12.0)
    assert inner.jvp(tf.constant(1.0)) is None
    with pytest.raises(NotImplementedError, match="reuse"):
        inner._push_accumulator()


def test_functions_that_capture_values_keep_them():
    variable = tf.Variable(1.0, use_resource=True)
    function = eager_function_names.Function(lambda: variable + 1.0, "f", capture_by_value=True)
    assert float(function()) == 2.0
    variable.assign(5.0)
    assert float(function()) == 2.0


def test_functions_are_registered_with_their_gradients():
    double = tf.contrib.eager.defun(lambda x: 2.0 * x)
    with tf.Graph().as_default() as graph:
        eager_function_names.register(double, tf.constant(1.0))
        assert len(graph._functions) == 3
    with pytest.raises(ValueError, match="Only defun function"):
        eager_function_names.register(len)


def test_the_main_of_eager_tests_runs_eagerly(tmp_path):
    program = tmp_path / "case_test.py"
    program.write_text(
        "import tensorflow as tf\n"
        "from tensorflow.python.eager import test\n"
        "class Case(test.TestCase):\n"
        "  def test_mode(self):\n"
        "    self.assertTrue(tf.executing_eagerly())\n"
        "test.main()\n"
    )
    command = [sys.executable, "-m", "tideflow", "run", str(program)]
    assert subprocess.run(command, capture_output=True, timeout=120).returncode == 0
