"""Functions of datasets: loops, branches and TensorArrays in them; datasets of datasets; order; files."""

import os
import tempfile
import threading

from kit import cases, raises, run


def _elements(tf, dataset):
    iterator = tf.data.make_initializable_iterator(dataset)
    following, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(iterator.initializer)
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


def _scaled(tf, x):
    return tf.map_fn(lambda y: y * x, tf.range(3, dtype=tf.int64))


def _gradient_of_a_loop(tf, x):
    x = tf.cast(x, tf.float32)
    return tf.gradients(tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, 1.0])[1], x)[0]


_BODIES = {
    "map_fn": _scaled,
    "while_loop": lambda tf, x: tf.while_loop(lambda i: i < x, lambda i: i + 2, [tf.constant(0, tf.int64)]),
    "scan": lambda tf, x: tf.scan(lambda a, b: a + b * x, tf.range(3, dtype=tf.int64)),
    "case": lambda tf, x: tf.case([(x < 1, lambda: x * 10), (x < 3, lambda: x * 100)], default=lambda: -x),
    "a loop in a branch": lambda tf, x: tf.cond(x > 1, lambda: _scaled(tf, x), lambda: tf.stack([x, x, x])),
    "a TensorArray": lambda tf, x: tf.TensorArray(tf.int64, 2).write(0, x).write(1, x * 2).stack(),
    "the gradient of a loop": _gradient_of_a_loop,
}


@cases(*_BODIES)
def a_body_of(tf, np, key):
    numbers = tf.data.Dataset.range(4)
    body = _BODIES[key]
    return [
        _elements(tf, numbers.map(lambda x: body(tf, x))),
        _elements(tf, numbers.map(lambda x: body(tf, x), num_parallel_calls=2)),
        _elements(tf, numbers.filter(lambda x: tf.reduce_sum(body(tf, x)) > 3)),
        _elements(tf, numbers.flat_map(lambda x: tf.data.Dataset.from_tensors(body(tf, x)))),
        _elements(tf, numbers.interleave(lambda x: numbers.map(lambda y: body(tf, x + y)), 2, 1)),
        run(tf, numbers.reduce(np.int64(0), lambda s, x: s + tf.cast(tf.reduce_sum(body(tf, x)), tf.int64))),
    ]


def a_loop_over_what_is_captured(tf, np):
    v, c = tf.Variable(3, dtype=tf.int64), tf.constant([1, 2], tf.int64)
    return _elements(tf, tf.data.Dataset.range(3).map(lambda x: tf.map_fn(lambda y: y * x + c[0] + v, c)))


def tensor_arrays_are_elements(tf, np):
    def pair(x):
        return x, tf.TensorArray(tf.int64, 2, element_shape=[]).unstack([x, x + 1])

    pairs = tf.data.Dataset.range(4).map(pair)
    return [
        [kind.__name__ for kind in tf.data.get_output_classes(pairs)],
        _elements(tf, pairs.map(lambda x, array: (array.read(1), array.stack(), array.size()))),
        _elements(
            tf, pairs.filter(lambda x, array: array.read(0) > 1).map(lambda x, array: array.gather([1]))
        ),
        _elements(tf, pairs.flat_map(lambda x, array: tf.data.Dataset.from_tensor_slices(array.stack()))),
        run(tf, pairs.reduce(np.int64(0), lambda total, each: total + tf.reduce_sum(each[1].stack()))),
        run(tf, tf.data.make_one_shot_iterator(pairs).get_next()[1].stack()),
    ]


def specs_of_tensor_arrays(tf, np):
    spec = tf.TensorArraySpec([None], tf.int32)
    return [
        spec == tf.TensorArraySpec([None], tf.int32),
        spec.is_compatible_with(tf.TensorArraySpec([2], tf.int32, infer_shape=False)),
        spec.is_compatible_with(tf.TensorArraySpec([2], tf.int32, dynamic_size=True)),
        str(spec.most_specific_compatible_type(tf.TensorArraySpec([2], tf.int32))),
        raises(spec.most_specific_compatible_type, tf.TensorArraySpec([2], tf.float32)),
        repr(tf.data.experimental.TensorArrayStructure(tf.int32, [2], False, True)),
    ]


_NESTED = {
    "tensors": lambda D: D.from_tensors((D.range(3), D.range(9, 11))).flat_map(lambda a, b: a.concatenate(b)),
    "slices": lambda D: D.from_tensor_slices([D.range(3), D.range(2)]).flat_map(lambda d: d.batch(2)),
    "made by map": lambda D: D.range(3).map(lambda x: (x, D.range(x + 1))).flat_map(lambda x, d: d.repeat(x)),
    "windows of windows": lambda D: (
        D.range(8).window(2).window(2).flat_map(lambda outer: outer.flat_map(lambda inner: inner.batch(2)))
    ),
    "a dict": lambda D: D.from_tensors({"a": D.range(2), "b": 1}).flat_map(lambda d: d["a"].repeat(2)),
}


@cases(*_NESTED)
def datasets_of_datasets(tf, np, key):
    return _elements(tf, _NESTED[key](tf.data.Dataset))


def slices_of_ragged_tensors(tf, np):
    rows = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3], [], [4, 5, 6]]))
    deep = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[[1, 2], [3]], [[]], []]))
    return [_elements(tf, d.map(lambda row: row.to_tensor())) for d in (rows.batch(2), deep)]


def collections_in_functions(tf, np):
    v = tf.get_variable("v", initializer=np.int64(2), use_resource=True)
    tf.add_to_collection("numbers", 1)
    seen = []

    def function(x):
        tf.add_to_collection("numbers", 2)
        tf.summary.scalar("x", x)
        seen.append((tf.get_collection("numbers"), [w.name for w in tf.global_variables()]))
        with tf.variable_scope(tf.get_variable_scope(), reuse=True):
            return x * tf.get_variable("v", dtype=tf.int64, shape=[], use_resource=True)

    found = _elements(tf, tf.data.Dataset.range(3).map(function))
    return [seen, found, tf.get_collection("numbers"), tf.get_collection(tf.GraphKeys.SUMMARIES), v]


def variables_made_in_functions_are_outside(tf, np):
    def function(x):
        return x * tf.get_variable("v", initializer=np.int64(2), use_resource=True)

    found = _elements(tf, tf.data.Dataset.range(3).map(function))
    return [found, [v.name for v in tf.global_variables()]]


def seeded_operations_go_on(tf, np):
    tf.set_random_seed(1)
    numbers = tf.data.Dataset.range(3)
    drawn = numbers.map(lambda x: tf.random_uniform([], seed=3)).repeat(2)
    inside = numbers.flat_map(lambda x: numbers.map(lambda y: tf.random_uniform([], seed=3)))
    return [_elements(tf, drawn), _elements(tf, inside)]


def _late_first(tf, transform):
    """Two elements, the first of which is not there before the second was taken."""
    taken = threading.Event()

    def wait(x):
        if x == 0:
            taken.wait(60)
        return x

    dataset = transform(tf.data.Dataset.range(2), lambda x: tf.py_func(wait, [x], tf.int64))
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        first = session.run(following)
        taken.set()
        return [first, session.run(following), raises(session.run, following)]


@cases("parallel_interleave", "interleave", "map")
def sloppy_is_out_of_order(tf, np, how):
    def parts(function):
        return lambda x: tf.data.Dataset.from_tensors(x).map(function)

    options = tf.data.Options()
    options.experimental_deterministic = False

    def transform(numbers, function):
        if how == "map":
            return numbers.map(function, num_parallel_calls=2).with_options(options)
        if how == "interleave":
            return numbers.interleave(parts(function), 2, num_parallel_calls=2).with_options(options)
        return numbers.apply(tf.data.experimental.parallel_interleave(parts(function), 2, sloppy=True))

    return _late_first(tf, transform)


def files_named_by_a_dataset(tf, np):
    folder, names = tempfile.mkdtemp(), []
    for i in range(2):
        names.append(os.path.join(folder, "lines%d" % i))
        with open(names[-1], "w") as file:
            file.write("%d-a\n%d-b\n" % (i, i))
    records = os.path.join(folder, "records")
    with tf.python_io.TFRecordWriter(records) as writer:
        writer.write(b"one")
    files = tf.data.Dataset.from_tensor_slices(names)
    return [
        _elements(tf, tf.data.TextLineDataset(files)),
        _elements(tf, tf.data.TextLineDataset(tf.data.Dataset.list_files(folder + "/lines*", shuffle=False))),
        _elements(tf, tf.data.FixedLengthRecordDataset(files, 4)),
        _elements(tf, tf.data.TFRecordDataset(tf.data.Dataset.from_tensors(records))),
        raises(tf.data.TextLineDataset, tf.data.Dataset.range(3)),
        raises(tf.data.TFRecordDataset, tf.data.Dataset.from_tensors(names)),
    ]
