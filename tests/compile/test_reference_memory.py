"""What is read of a reference variable is the variable's memory: later writes of the step are seen in it."""

import pytest

import tideflow as tf

EXECUTORS = pytest.mark.parametrize("executor", ["DEFAULT", "TOKENS"])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def _run(executor, variable, fetches):
    config = tf.ConfigProto(experimental=tf.ConfigProto.Experimental(executor_type=executor))
    with tf.Session(config=config) as session:
        session.run(variable.initializer)
        return [value.tolist() for value in session.run(fetches)]


@EXECUTORS
def test_operations_and_fetches_see_later_writes(executor):
    v = tf.Variable([1.0, 2.0], use_resource=False)
    read = v.read_value()
    passed = tf.stop_gradient(tf.identity(read))
    with tf.control_dependencies([read, passed]):
        write = v.assign_add([5.0, 5.0])
    with tf.control_dependencies([write]):
        after = [read + 0.0, passed + 0.0]
    assert _run(executor, v, [*after, read, passed]) == [[6.0, 7.0]] * 4


@EXECUTORS
def test_a_write_of_another_size_is_into_new_memory(executor):
    v = tf.Variable([1.0, 2.0], use_resource=False, validate_shape=False)
    read = v.read_value()
    with tf.control_dependencies([read]):
        write = tf.assign(v, [7.0, 8.0, 9.0], validate_shape=False)
    with tf.control_dependencies([write]):
        after = [read + 0.0, v.read_value()]
    assert _run(executor, v, [*after, read]) == [[1.0, 2.0], [7.0, 8.0, 9.0], [1.0, 2.0]]


def _read_and_write(v, i, total):
    read = v.read_value()
    with tf.control_dependencies([read]):
        write = v.assign_add(10.0)
    with tf.control_dependencies([write]):
        return i + 1, total + read


def _write_and_read(v, i, total):
    with tf.control_dependencies([total]):
        write = v.assign_add(10.0)
    with tf.control_dependencies([write]):
        return i + 1, total + v.read_value()


@EXECUTORS
@pytest.mark.parametrize(
    ("body", "total"),
    [
        (_read_and_write, 63.0),
        (_write_and_read, 63.0),
        (lambda v, i, total: (i + 1, v.assign_add(total)), 4.0),
        (lambda v, i, total: (i + 1, v.assign(total + 2.0)), 6.0),
    ],
    ids=["read, write", "write, read", "carries a sum", "carries an assignment"],
)
def test_iterations_see_their_writes(executor, body, total):
    v = tf.Variable(1.0, use_resource=False)
    loop = tf.while_loop(
        lambda i, _: i < 3, lambda i, x: body(v, i, x), [0, tf.zeros([])], parallel_iterations=1
    )
    assert _run(executor, v, loop)[1] == total


def _assigned(v):
    return v.assign(v * 2.0)


def _assigned_in_a_branch(v):
    return tf.cond(tf.constant(True), lambda: tf.assign(v, v * 2.0), lambda: v)


def _added_and_assigned(v):
    with tf.control_dependencies([v.assign_add(1.0)]):
        return v.assign(v * 2.0)


def _assigned_in_a_loop(v):
    def body(j):
        with tf.control_dependencies([v.assign(v * 2.0)]):
            return j + 1

    return tf.while_loop(lambda j: j < 2, body, [0])


def _trained(v):
    return tf.train.GradientDescentOptimizer(0.25).minimize(tf.square(v - 3.0))


@EXECUTORS
@pytest.mark.parametrize(
    ("write", "last"),
    [
        (_assigned, 8.0),
        (_assigned_in_a_branch, 8.0),
        (_added_and_assigned, 22.0),
        (_assigned_in_a_loop, 64.0),
        (_trained, 2.75),
    ],
)
def test_a_read_from_outside_of_a_loop_sees_what_earlier_iterations_wrote(executor, write, last):
    v = tf.Variable(1.0, use_resource=False)

    def body(i):
        with tf.control_dependencies(tf.nest.flatten(write(v))):
            return i + 1

    loop = tf.while_loop(lambda i: i < 3, body, [0])
    with tf.control_dependencies([loop]):
        assert _run(executor, v, [loop, v.read_value()]) == [3, last]
