"""The mode: who is in it, how it is switched, and what of graph mode stays as it was."""

import subprocess
import sys
import threading

import pytest

import tideflow as tf
from tideflow.eager.context import eager_mode

PROGRAM = """
import tideflow as tf
assert not tf.executing_eagerly()
tf.enable_eager_execution(tf.ConfigProto(), tf.contrib.eager.DEVICE_PLACEMENT_WARN, tf.contrib.eager.ASYNC)
tf.enable_eager_execution()
assert tf.executing_eagerly() and float(tf.constant(1.0) + 1.0) == 2.0
with tf.Graph().as_default() as graph:
    assert not tf.executing_eagerly() and (tf.constant(1.0) + 1.0).op.graph is graph
tf.compat.v1.disable_eager_execution()
assert (tf.constant(1.0) + 1.0).name == "add:0"
try:
    tf.enable_eager_execution()
except ValueError as error:
    print(error)
"""


def test_a_program_switches_the_mode():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.stdout == "tf.enable_eager_execution must be called at program startup.\n", done.stderr


@pytest.mark.parametrize(
    ("arguments", "error"),
    [({"config": 3}, TypeError), ({"device_policy": 9}, ValueError), ({"execution_mode": 9}, ValueError)],
)
def test_arguments_are_checked(arguments, error):
    with pytest.raises(error):
        tf.enable_eager_execution(**arguments)


def test_a_thread_is_in_its_own_mode():
    seen = []
    with eager_mode():
        thread = threading.Thread(target=lambda: seen.append(tf.executing_eagerly()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_scopes_name_and_place_nothing(eagerly):
    with tf.name_scope("a"), tf.name_scope("b") as scope, tf.control_dependencies([tf.constant(1)]):
        with tf.device("/cpu:0"), tf.colocate_with(tf.constant(1)):
            assert tf.Variable(1.0, name="v").name == "a/b/v:0"
    assert scope == "a/b/"
    called = []
    with tf.control_dependencies([lambda: called.append(1)]):
        assert called == [1]
    with pytest.raises(RuntimeError, match="GPU:7 unknown device"), tf.device("/gpu:7"):
        tf.constant(1.0)
    with pytest.raises(RuntimeError, match="does not support functions"):
        tf.device(lambda op: "/cpu:0")


def test_init_scope_leaves_a_function_for_eager_mode(eagerly):
    seen = []

    def double(x):
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
        seen.append(tf.executing_eagerly())
        return x * 2

    assert [int(x) for x in tf.data.Dataset.range(2).map(double)] == [0, 2]
    assert seen == [True, False]


def test_a_kernel_is_bound_once_for_types_and_shapes(eagerly):
    graph = tf.get_default_graph()
    x, y = tf.ones([2, 3]), tf.ones([3])
    x + y, tf.reduce_sum(x, [1]), tf.concat([x, x], 0)
    before = len(graph.kernels)
    for _ in range(3):
        x + y, tf.reduce_sum(x, [1]), tf.concat([x, x], 0)
    assert len(graph.kernels) == before


def test_numbers_that_are_equal_but_not_the_same(eagerly):
    x = tf.constant([1.0])
    assert [str((x * 0.0).numpy()[0]), str((x * -0.0).numpy()[0])] == ["0.0", "-0.0"]
    assert (tf.constant([2]) + 1).dtype is tf.int32
    assert (x + 1).dtype is (x + 1.0).dtype is tf.float32


def test_reset_default_graph_begins_names_anew(eagerly):
    assert tf.train.get_or_create_global_step() is tf.train.get_or_create_global_step()
    graph = tf.get_default_graph()
    graph.forget()
    assert tf.train.get_global_step() is None


def test_reset_default_graph_outside_of_eager_mode_begins_its_names_anew():
    names = []
    for _ in range(2):
        with eager_mode():
            v = tf.Variable([1.0], name="v")
            optimizer = tf.train.AdamOptimizer(0.1)
            optimizer.apply_gradients([(tf.constant([1.0]), v)])
            names.append(optimizer.get_slot(v, "m").name)
        tf.reset_default_graph()
    assert names[1] == "v/Adam:0"


def test_eagerly_no_optimizer_updates_a_tensor(eagerly):
    x = tf.constant(1.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    (pair,) = optimizer.compute_gradients(lambda: x * x, [x])
    assert (float(pair[0]), pair[1]) == (2.0, x)
    with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
        optimizer.apply_gradients([pair])


def test_nodes_of_graphs_are_refused(eagerly):
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="c")
    with pytest.raises(RuntimeError, match="would be a node of a graph"):
        tf.import_graph_def(graph.as_graph_def())


def test_callbacks_see_operations_whose_kernels_are_known():
    seen = []
    with eager_mode():
        x = tf.ones([4, 4])

        def work():
            tf.concat([x, x], 0), x[1:3], tf.reshape(x, [2, 8])

        work()
        tf.contrib.eager.add_execution_callback(lambda kind, *_: seen.append(kind))
        try:
            work()
        finally:
            tf.contrib.eager.clear_execution_callbacks()
        work()
    assert seen == ["ConcatV2", "StridedSlice", "Reshape"]
