"""Functions of elements that use what is outside of them: variables are read when the function is called."""

import threading

import pytest

import tideflow as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def iterated(session, dataset):
    iterator = dataset.make_initializable_iterator()
    session.run(tf.global_variables_initializer())
    session.run(iterator.initializer)
    return iterator.get_next()


@pytest.mark.parametrize("parallel", [None, 2])
def test_a_variable_is_read_for_each_element(session, parallel):
    scale = tf.get_variable("scale", initializer=2.0, use_resource=True)
    dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0])
    element = iterated(session, dataset.map(lambda x: x * scale, num_parallel_calls=parallel))
    assert session.run(element) == 2.0
    session.run(scale.assign(10.0))
    assert session.run(element) == 20.0


def test_a_variable_of_a_function_inside_a_function(session):
    scale = tf.get_variable("scale", initializer=2, use_resource=True)
    dataset = tf.data.Dataset.range(2).flat_map(
        lambda x: tf.data.Dataset.range(2).map(lambda y: tf.to_int32(x + y) * scale)
    )
    element = iterated(session, dataset)
    assert [session.run(element) for _ in range(2)] == [0, 2]
    session.run(scale.assign(10))
    assert [session.run(element) for _ in range(2)] == [10, 20]


def test_effects_happen_once_for_each_element_and_in_order(session):
    seen = tf.get_variable("seen", initializer=0, use_resource=True)

    def counted(x):
        before = seen.read_value()
        seen.assign_add(1)
        return before, seen.read_value()

    element = iterated(session, tf.data.Dataset.range(3).map(counted))
    assert [tuple(session.run(element)) for _ in range(3)] == [(0, 1), (1, 2), (2, 3)]
    assert session.run(seen) == 3


def test_a_variable_can_be_used_while_another_graph_is_the_default():
    with tf.Graph().as_default() as graph:
        variable = tf.get_variable("v", initializer=1.0, use_resource=True)
    with tf.Graph().as_default():
        assert variable.read_value().graph is graph
        assert variable.assign(2.0, read_value=False).graph is graph


def test_what_is_no_function_is_refused():
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match=r"must be callable: Dataset.map\(\) was given 3"),
    ):
        tf.data.Dataset.range(2).map(3)


def elements(session, dataset):
    following, found = iterated(session, dataset), []
    while True:
        try:
            found.append(session.run(following).tolist())
        except tf.errors.OutOfRangeError:
            return found


def test_loops_over_what_is_inside_and_outside(session):
    outside = tf.constant([1, 2], tf.int64)
    numbers = tf.data.Dataset.range(3)
    scaled = numbers.map(lambda x: tf.map_fn(lambda y: y * x, outside))
    assert elements(session, scaled) == [[0, 0], [1, 2], [2, 4]]
    summed = numbers.filter(lambda x: tf.foldl(lambda a, b: a + b, tf.range(x + 1)) > 0)
    assert elements(session, summed) == [1, 2]


def test_the_gradient_of_a_loop(session):
    def cubed(x):
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, 1.0])[1]
        return tf.gradients(y, x)[0]

    assert elements(session, tf.data.Dataset.from_tensor_slices([1.0, 2.0]).map(cubed)) == [3.0, 12.0]


def test_tensor_arrays_are_elements(session):
    arrays = tf.data.Dataset.range(2).map(lambda x: tf.TensorArray(tf.int64, 2).unstack([x, x + 1]))
    assert tf.data.get_output_classes(arrays) is tf.TensorArray
    assert elements(session, arrays.map(lambda array: array.stack())) == [[0, 1], [1, 2]]


def test_datasets_are_slices(session):
    parts = tf.data.Dataset.from_tensor_slices([tf.data.Dataset.range(2), tf.data.Dataset.range(1)])
    assert elements(session, parts.flat_map(lambda part: part)) == [0, 1, 0]


def test_collections_are_seen_and_not_filled(session):
    tf.add_to_collection("numbers", 1)

    def function(x):
        tf.add_to_collection("numbers", 2)
        return x + sum(tf.get_collection("numbers"))

    assert elements(session, tf.data.Dataset.range(2).map(function)) == [3, 4]
    assert tf.get_collection("numbers") == [1]


def test_a_variable_made_in_a_function_is_outside(session):
    dataset = tf.data.Dataset.range(2).map(
        lambda x: tf.to_int32(x) + tf.get_variable("v", initializer=5, use_resource=True)
    )
    assert [v.name for v in tf.global_variables()] == ["v:0"]
    assert elements(session, dataset) == [5, 6]


@pytest.mark.parametrize("how", ["parallel_interleave", "interleave", "map"])
def test_sloppy_elements_come_when_they_are_there(session, how):
    """The first element is not there before the second was taken."""
    taken = threading.Event()

    def wait(x):
        if x == 0:
            taken.wait(60)
        return x

    def late(x):
        return tf.py_func(wait, [x], tf.int64)

    def part(x):
        return tf.data.Dataset.from_tensors(x).map(late)

    numbers, options = tf.data.Dataset.range(2), tf.data.Options()
    options.experimental_deterministic = False
    dataset = {
        "parallel_interleave": lambda: numbers.apply(
            tf.data.experimental.parallel_interleave(part, 2, sloppy=True)
        ),
        "interleave": lambda: numbers.interleave(part, 2, num_parallel_calls=2).with_options(options),
        "map": lambda: numbers.map(late, num_parallel_calls=2).with_options(options),
    }[how]()
    element = iterated(session, dataset)
    assert session.run(element) == 1
    taken.set()
    assert session.run(element) == 0
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(element)


def test_sloppy_datasets_report_errors_and_go_on(session):
    dataset = tf.data.Dataset.from_tensor_slices([0.0, 1.0]).apply(
        tf.data.experimental.parallel_interleave(
            lambda x: tf.data.Dataset.from_tensors(x).map(lambda y: tf.check_numerics(1 / y, "inverse")),
            cycle_length=1,
            sloppy=True,
        )
    )
    element = iterated(session, dataset)
    with pytest.raises(tf.errors.InvalidArgumentError, match="inverse"):
        session.run(element)
    assert session.run(element) == 1.0
