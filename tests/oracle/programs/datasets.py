"""tf.data: every transformation, structures, static shapes, kinds of iterators, errors."""

import collections
import os
import tempfile

from kit import cases, graph, raises

_Pair = collections.namedtuple("Pair", ["left", "right"])


def _all(tf, dataset, most=40):
    """What is known of the elements, all of them, and the error at the end."""
    element = dataset.make_one_shot_iterator().get_next()
    return _run_all(tf, dataset, element, most=most)


def _initialized(tf, dataset, feeds=None, most=40):
    iterator = dataset.make_initializable_iterator()
    return _run_all(tf, dataset, iterator.get_next(), [iterator.initializer], feeds, most)


def _run_all(tf, dataset, element, before=(), feeds=None, most=40):
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.tables_initializer())
        for operation in before:
            session.run(operation, feeds)
        for _ in range(most):
            error = raises(lambda: found.append(session.run(element)))
            if error != "no error":
                found.append(error.types[0])
                if "OutOfRangeError" in error.types:
                    break
    return [repr(dataset), found]


def _range(tf, *numbers):
    return tf.data.Dataset.range(*numbers)


# ------------------------------------------------------------------------------------------- transformations

_PLAIN = {
    "range": lambda tf, np: _range(tf, 4),
    "range_start": lambda tf, np: _range(tf, 2, 5),
    "range_step": lambda tf, np: _range(tf, 10, 0, -3),
    "range_empty": lambda tf, np: _range(tf, 5, 2),
    "tensors": lambda tf, np: tf.data.Dataset.from_tensors([1, 2, 3]),
    "tensors_tuple": lambda tf, np: tf.data.Dataset.from_tensors((1, (2.0, "x"))),
    "slices": lambda tf, np: tf.data.Dataset.from_tensor_slices(np.arange(6.0).reshape(3, 2)),
    "slices_dict": lambda tf, np: tf.data.Dataset.from_tensor_slices({"b": [1, 2], "a": ["x", "y"]}),
    "slices_named": lambda tf, np: tf.data.Dataset.from_tensor_slices(_Pair([1, 2], [[3.0], [4.0]])),
    "slices_nested": lambda tf, np: tf.data.Dataset.from_tensor_slices(([1, 2], {"k": ([3, 4], [5, 6])})),
    "zip": lambda tf, np: tf.data.Dataset.zip((_range(tf, 3), _range(tf, 10, 20))),
    "zip_nested": lambda tf, np: tf.data.Dataset.zip(
        {"a": _range(tf, 2), "b": (_range(tf, 3), _range(tf, 4))}
    ),
    "concatenate": lambda tf, np: _range(tf, 2).concatenate(_range(tf, 7, 9)),
    "concatenate_shapes": lambda tf, np: tf.data.Dataset.from_tensors([1, 2]).concatenate(
        tf.data.Dataset.from_tensors([3])
    ),
    "map": lambda tf, np: _range(tf, 4).map(lambda x: x * x),
    "map_parallel": lambda tf, np: _range(tf, 20).map(lambda x: x * x, num_parallel_calls=4),
    "map_tuple": lambda tf, np: tf.data.Dataset.zip((_range(tf, 3), _range(tf, 3))).map(lambda a, b: a + b),
    "map_to_dict": lambda tf, np: _range(tf, 3).map(lambda x: {"y": x, "s": tf.as_string(x)}),
    "map_dict": lambda tf, np: tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [3.0, 4.0]}).map(
        lambda e: (e["b"], e["a"] + 1)
    ),
    "map_list": lambda tf, np: _range(tf, 3).map(lambda x: [x, x + 1]),
    "map_constant": lambda tf, np: _range(tf, 2).map(lambda x: 7),
    "map_array": lambda tf, np: _range(tf, 2).map(lambda x: (np.array([1.5, 2.5]), "s")),
    "map_py_func": lambda tf, np: _range(tf, 3).map(
        lambda x: tf.py_func(lambda v: np.float32(v * 2), [x], tf.float32)
    ),
    "map_cond": lambda tf, np: _range(tf, 4).map(lambda x: tf.cond(x > 1, lambda: x * 10, lambda: -x)),
    "map_while": lambda tf, np: _range(tf, 4).map(
        lambda x: tf.while_loop(lambda i: i < 10, lambda i: i + x + 1, [x])
    ),
    "map_unknown_shape": lambda tf, np: _range(tf, 4).map(lambda x: tf.range(x)),
    "flat_map": lambda tf, np: _range(tf, 4).flat_map(lambda x: tf.data.Dataset.from_tensors(x).repeat(x)),
    "flat_map_nested": lambda tf, np: _range(tf, 3).flat_map(
        lambda x: _range(tf, 2).map(lambda y: x * 10 + y)
    ),
    "interleave": lambda tf, np: _range(tf, 1, 6).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(6), cycle_length=2, block_length=4
    ),
    "interleave_uneven": lambda tf, np: _range(tf, 1, 6).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(x), cycle_length=3, block_length=1
    ),
    "interleave_blocks": lambda tf, np: _range(tf, 1, 6).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(x), cycle_length=2, block_length=3
    ),
    "interleave_parallel": lambda tf, np: _range(tf, 1, 6).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(5),
        cycle_length=2,
        block_length=2,
        num_parallel_calls=2,
    ),
    "filter": lambda tf, np: _range(tf, 10).filter(lambda x: tf.equal(x % 3, 0)),
    "filter_none": lambda tf, np: _range(tf, 3).filter(lambda x: x > 9),
    "filter_dict": lambda tf, np: tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3]}).filter(
        lambda e: e["a"] > 1
    ),
    "batch": lambda tf, np: _range(tf, 7).batch(3),
    "batch_drop": lambda tf, np: _range(tf, 7).batch(3, drop_remainder=True),
    "batch_strings": lambda tf, np: tf.data.Dataset.from_tensor_slices(["a", "b", "c"]).batch(2),
    "batch_slices": lambda tf, np: tf.data.Dataset.from_tensor_slices(np.arange(10).reshape(5, 2)).batch(2),
    "batch_batch": lambda tf, np: _range(tf, 8).batch(2, drop_remainder=True).batch(2),
    "batch_tuple": lambda tf, np: tf.data.Dataset.from_tensor_slices(
        ([1, 2, 3], [[1.0], [2.0], [3.0]])
    ).batch(2),
    "padded_batch": lambda tf, np: _range(tf, 5).map(lambda x: tf.range(x)).padded_batch(2, [None]),
    "padded_batch_fixed": lambda tf, np: (
        _range(tf, 5).map(lambda x: tf.fill([x], x)).padded_batch(3, [6], np.int64(-1), drop_remainder=True)
    ),
    "padded_batch_strings": lambda tf, np: (
        _range(tf, 3).map(lambda x: tf.fill([x], "s")).padded_batch(3, [None], padding_values="?")
    ),
    "padded_batch_tuple": lambda tf, np: (
        _range(tf, 4).map(lambda x: (x, tf.fill([x, 2], 1.0))).padded_batch(2, ([], [None, 3]))
    ),
    "unbatch": lambda tf, np: tf.data.Dataset.from_tensor_slices(np.arange(6).reshape(3, 2)).apply(
        tf.data.experimental.unbatch()
    ),
    "unbatch_ragged": lambda tf, np: (
        _range(tf, 4).map(lambda x: tf.range(x)).apply(tf.data.experimental.unbatch())
    ),
    "unbatch_tuple": lambda tf, np: tf.data.Dataset.from_tensors(([1, 2], ["a", "b"])).apply(
        tf.data.experimental.unbatch()
    ),
    "repeat": lambda tf, np: _range(tf, 2).repeat(3),
    "repeat_zero": lambda tf, np: _range(tf, 2).repeat(0),
    "repeat_forever": lambda tf, np: _range(tf, 2).repeat().take(5),
    "repeat_empty": lambda tf, np: _range(tf, 0).repeat(),
    "take": lambda tf, np: _range(tf, 5).take(2),
    "take_all": lambda tf, np: _range(tf, 3).take(-1),
    "take_many": lambda tf, np: _range(tf, 3).take(10),
    "skip": lambda tf, np: _range(tf, 5).skip(3),
    "skip_all": lambda tf, np: _range(tf, 5).skip(-1),
    "skip_many": lambda tf, np: _range(tf, 5).skip(10),
    "shard": lambda tf, np: _range(tf, 10).shard(3, 1),
    "prefetch": lambda tf, np: _range(tf, 5).prefetch(2),
    "prefetch_auto": lambda tf, np: _range(tf, 5).prefetch(tf.data.experimental.AUTOTUNE),
    "cache": lambda tf, np: _range(tf, 3).cache().repeat(2),
    "enumerate": lambda tf, np: tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate(start=5),
    "enumerate_dataset": lambda tf, np: _range(tf, 2).apply(tf.data.experimental.enumerate_dataset(3)),
    "window": lambda tf, np: _range(tf, 7).window(3).flat_map(lambda w: w.batch(3)),
    "window_shift": lambda tf, np: _range(tf, 7).window(3, shift=1).flat_map(lambda w: w.batch(3)),
    "window_stride": lambda tf, np: _range(tf, 9).window(3, 2, 2, True).flat_map(lambda w: w.batch(3)),
    "window_gap": lambda tf, np: _range(tf, 9).window(2, 4).flat_map(lambda w: w.batch(2)),
    "window_zip": lambda tf, np: (
        tf.data.Dataset.zip((_range(tf, 4), _range(tf, 4, 8)))
        .window(2)
        .flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(2), b.batch(2))))
    ),
    "apply": lambda tf, np: _range(tf, 5).apply(lambda d: d.filter(lambda x: x > 2)),
    "generator": lambda tf, np: tf.data.Dataset.from_generator(lambda: iter(range(3)), tf.int64),
    "generator_shapes": lambda tf, np: tf.data.Dataset.from_generator(
        lambda: ((i, [i] * 2) for i in range(3)), (tf.int32, tf.float32), ([], [2])
    ),
    "generator_args": lambda tf, np: tf.data.Dataset.from_generator(
        lambda n, s: ([n, s] for _ in range(2)) if False else ((n + i, s) for i in range(2)),
        (tf.int32, tf.string),
        args=(5, "x"),
    ),
    "generator_dict": lambda tf, np: tf.data.Dataset.from_generator(
        lambda: iter([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]), {"a": tf.int32, "b": tf.string}
    ),
    "generator_twice": lambda tf, np: tf.data.Dataset.from_generator(lambda: iter(range(2)), tf.int64).repeat(
        2
    ),
    "generator_fails": lambda tf, np: tf.data.Dataset.from_generator(lambda: iter([1, "a", 3]), tf.int64),
    "sparse_slices": lambda tf, np: tf.data.Dataset.from_sparse_tensor_slices(
        tf.SparseTensor([[0, 1], [2, 0], [2, 2]], [1.0, 2.0, 3.0], [4, 3])
    ),
    "scan": lambda tf, np: _range(tf, 5).apply(
        tf.data.experimental.scan(np.int64(10), lambda s, x: (s + x, (s, x)))
    ),
    "take_while": lambda tf, np: _range(tf, 9).apply(tf.data.experimental.take_while(lambda x: x < 4)),
    "unique": lambda tf, np: tf.data.Dataset.from_tensor_slices([1, 2, 1, 3, 2]).apply(
        tf.data.experimental.unique()
    ),
    "unique_strings": lambda tf, np: tf.data.Dataset.from_tensor_slices(["a", "b", "a"]).apply(
        tf.data.experimental.unique()
    ),
    "ignore_errors": lambda tf, np: (
        tf.data.Dataset.from_tensor_slices([1.0, 0.0, 2.0])
        .map(lambda x: tf.check_numerics(1.0 / x, "bad"))
        .apply(tf.data.experimental.ignore_errors())
    ),
    "map_fails": lambda tf, np: tf.data.Dataset.from_tensor_slices([1.0, 0.0, 2.0]).map(
        lambda x: tf.check_numerics(1.0 / x, "bad")
    ),
    "map_fails_then_batch": lambda tf, np: (
        tf.data.Dataset.from_tensor_slices([1.0, 0.0, 2.0, 4.0])
        .map(lambda x: tf.check_numerics(1.0 / x, "bad"), num_parallel_calls=2)
        .batch(1)
        .prefetch(1)
    ),
    "map_and_batch": lambda tf, np: _range(tf, 5).apply(
        tf.data.experimental.map_and_batch(lambda x: x + 1, 2)
    ),
    "map_and_batch_drop": lambda tf, np: _range(tf, 5).apply(
        tf.data.experimental.map_and_batch(lambda x: (x, x * 2.5 if False else x), 2, drop_remainder=True)
    ),
    "group_by_window": lambda tf, np: _range(tf, 10).apply(
        tf.data.experimental.group_by_window(lambda x: x % 3, lambda k, d: d.batch(4), 2)
    ),
    "group_by_window_func": lambda tf, np: _range(tf, 10).apply(
        tf.data.experimental.group_by_window(
            lambda x: x % 2, lambda k, d: d.map(lambda x: x + 100 * k), window_size_func=lambda k: k + 2
        )
    ),
    "group_by_reducer": lambda tf, np: _range(tf, 10).apply(
        tf.data.experimental.group_by_reducer(
            lambda x: 2 - x % 3,
            tf.data.experimental.Reducer(
                lambda k: (np.int64(0), k), lambda s, x: (s[0] + x, s[1]), lambda n, k: (n, k)
            ),
        )
    ),
    "bucket": lambda tf, np: (
        _range(tf, 1, 9)
        .map(lambda x: tf.fill([x], x))
        .apply(tf.data.experimental.bucket_by_sequence_length(lambda e: tf.size(e), [3, 5], [2, 2, 2]))
    ),
    "bucket_boundary": lambda tf, np: (
        _range(tf, 1, 9)
        .map(lambda x: tf.fill([x], x))
        .apply(
            tf.data.experimental.bucket_by_sequence_length(
                lambda e: tf.size(e), [3, 5, 10], [2, 2, 2, 2], pad_to_bucket_boundary=True
            )
        )
    ),
    "choose": lambda tf, np: tf.data.experimental.choose_from_datasets(
        [_range(tf, 3), _range(tf, 10, 12)],
        tf.data.Dataset.from_tensor_slices(np.int64([0, 1, 1, 1, 0, 0, 0])),
    ),
    "sample": lambda tf, np: tf.data.experimental.sample_from_datasets(
        [_range(tf, 5), _range(tf, 10, 15)], [0.3, 0.7], seed=1
    ),
    "sample_even": lambda tf, np: tf.data.experimental.sample_from_datasets(
        [_range(tf, 5), _range(tf, 10, 15)], seed=5
    ),
    "counter": lambda tf, np: tf.data.experimental.Counter(3, 2).take(3),
    "random": lambda tf, np: tf.data.experimental.RandomDataset(4).take(5),
    "parallel_interleave": lambda tf, np: _range(tf, 1, 5).apply(
        tf.data.experimental.parallel_interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(3), 2)
    ),
    "prefetch_to_device": lambda tf, np: _range(tf, 2).prefetch(1),
    "shuffle": lambda tf, np: _range(tf, 12).shuffle(5, seed=3),
    "shuffle_whole": lambda tf, np: _range(tf, 12).shuffle(100, seed=7),
    "shuffle_repeat": lambda tf, np: _range(tf, 5).shuffle(3, seed=3).repeat(3),
    "shuffle_same": lambda tf, np: _range(tf, 5).shuffle(3, seed=3, reshuffle_each_iteration=False).repeat(3),
    "shuffle_map_repeat": lambda tf, np: _range(tf, 5).shuffle(3, seed=3).map(lambda x: x + 1).repeat(3),
    "shuffle_and_repeat": lambda tf, np: _range(tf, 5).apply(
        tf.data.experimental.shuffle_and_repeat(3, 3, seed=2)
    ),
    "options": lambda tf, np: _range(tf, 3).with_options(tf.data.Options()),
}


@cases(*sorted(_PLAIN))
def transformations(tf, np, which):
    return _all(tf, _PLAIN[which](tf, np))


@cases(*sorted(set(_PLAIN) - {"interleave_parallel", "parallel_interleave"}))
def initializable(tf, np, which):
    return _initialized(tf, _PLAIN[which](tf, np))


@cases(
    "map",
    "batch",
    "batch_drop",
    "zip_nested",
    "slices_dict",
    "padded_batch",
    "window",
    "sparse_slices",
    "scan",
)
def what_is_known(tf, np, which):
    dataset = _PLAIN[which](tf, np)
    iterator = dataset.make_one_shot_iterator()
    found = [repr(dataset.output_types), repr(dataset.output_shapes), repr(iterator.output_shapes)]
    return found + [repr(tf.data.get_output_types(dataset)), repr(tf.data.get_output_shapes(iterator))]


@cases(
    "range", "slices_dict", "map", "map_parallel", "flat_map", "interleave", "filter", "batch",
    "padded_batch_tuple", "repeat", "take", "skip", "shard", "prefetch", "cache", "zip", "concatenate",
    "shuffle", "scan", "group_by_window", "map_and_batch", "choose", "unique", "take_while", "enumerate",
    "sample", "unbatch_ragged",
)  # fmt: skip
def graphs(tf, np, which):
    iterator = _PLAIN[which](tf, np).make_initializable_iterator()
    iterator.get_next()
    return graph(tf, ["output_types", "output_shapes", "Toutput_types", "T", "Targuments"])


@cases(
    "range", "range_empty", "slices", "map", "filter", "batch", "batch_drop", "repeat", "repeat_forever",
    "take", "skip", "shard", "zip", "concatenate", "flat_map", "window", "cache", "shuffle", "tensors",
    "counter",
)  # fmt: skip
def cardinality(tf, np, which):
    with tf.Session() as session:
        return session.run(tf.data.experimental.cardinality(_PLAIN[which](tf, np)))


# ----------------------------------------------------------------------------------------- sparse components


def sparse_components(tf, np):
    sparse = tf.SparseTensor([[0, 1], [1, 0], [2, 2]], [1, 2, 3], [3, 3])
    dataset = tf.data.Dataset.from_tensor_slices({"s": sparse, "d": [10, 20, 30]}).batch(2)
    return _all(tf, dataset)


def sparse_maps(tf, np):
    sparse = tf.SparseTensor([[0, 1], [1, 0], [2, 2]], [1.0, 2.0, 3.0], [3, 3])
    dataset = tf.data.Dataset.from_tensor_slices(sparse).map(lambda s: tf.sparse.to_dense(s) * 2.0)
    return _all(tf, dataset)


def dense_to_sparse(tf, np):
    dataset = _range(tf, 5).map(lambda x: tf.fill([x], x))
    return _all(tf, dataset.apply(tf.data.experimental.dense_to_sparse_batch(2, [6])))


# ------------------------------------------------------------------------------------------------ reduce


@cases({"sum": (0,), "pair": (1,), "empty": (2,), "growing": (3,)})
def reduce(tf, np, which):
    if which == 0:
        result = _range(tf, 6).reduce(np.int64(0), lambda s, x: s + x)
    elif which == 1:
        result = _range(tf, 6).reduce((np.int64(1), 0.0), lambda s, x: (s[0] + x, s[1] + 0.5))
    elif which == 2:
        result = _range(tf, 0).reduce(np.int64(7), lambda s, x: s + x)
    else:
        result = _range(tf, 4).reduce(np.zeros([0], np.int64), lambda s, x: tf.concat([s, [x]], 0))
    with tf.Session() as session:
        return [session.run(result), result]


# ------------------------------------------------------------------------------------------------ iterators


def fed_by_placeholder(tf, np):
    given = tf.placeholder(tf.float32, [None, 2])
    dataset = tf.data.Dataset.from_tensor_slices(given).map(lambda x: x * 2.0)
    return _initialized(tf, dataset, {given: [[1, 2], [3, 4]]})


def initialized_again(tf, np):
    count = tf.placeholder(tf.int64, [])
    iterator = _range(tf, count).make_initializable_iterator()
    element = iterator.get_next()
    results = []
    with tf.Session() as session:
        results.append(raises(session.run, element))
        for size in (3, 1):
            session.run(iterator.initializer, {count: size})
            results.append(session.run(element))
        results.append(raises(session.run, element))
        results.append(raises(session.run, element))
        session.run(iterator.initializer, {count: 5})
        results.append(session.run(element))
    return results


def from_structure(tf, np):
    iterator = tf.data.Iterator.from_structure(tf.int64, tf.TensorShape([]))
    element = iterator.get_next()
    first, second = iterator.make_initializer(_range(tf, 2)), iterator.make_initializer(_range(tf, 5, 7))
    results = [element, first.name]
    with tf.Session() as session:
        for operation in (first, second, first):
            session.run(operation)
            results.append([session.run(element), session.run(element), raises(session.run, element)])
    return results


def structure_mismatch(tf, np):
    iterator = tf.data.Iterator.from_structure(tf.int64, tf.TensorShape([]))
    return [
        raises(iterator.make_initializer, tf.data.Dataset.from_tensors(1.0)),
        raises(iterator.make_initializer, tf.data.Dataset.from_tensors(np.int64([1]))),
        raises(iterator.make_initializer, tf.data.Dataset.from_tensors((np.int64(1), np.int64(1)))),
        raises(lambda: iterator.initializer),
    ]


def feedable(tf, np):
    handle = tf.placeholder(tf.string, [])
    iterator = tf.data.Iterator.from_string_handle(handle, tf.int64, tf.TensorShape([]))
    element = iterator.get_next()
    first = _range(tf, 3).make_one_shot_iterator()
    second = _range(tf, 10, 13).make_initializable_iterator()
    results = [element]
    with tf.Session() as session:
        handles = session.run([first.string_handle(), second.string_handle()])
        session.run(second.initializer)
        for which in (0, 1, 0, 1, 1, 0):
            results.append(session.run(element, {handle: handles[which]}))
        results.append(raises(session.run, element, {handle: handles[0]}))
    return results


def two_get_nexts(tf, np):
    iterator = _range(tf, 6).make_one_shot_iterator()
    a, b = iterator.get_next(), iterator.get_next("other")
    with tf.Session() as session:
        return [a.name, b.name, sorted(session.run([a, b])), sorted(session.run([a, b]))]


def optional(tf, np):
    iterator = _range(tf, 1).make_initializable_iterator()
    maybe = tf.data.experimental.get_next_as_optional(iterator)
    there, value = maybe.has_value(), maybe.get_value()
    with tf.Session() as session:
        session.run(iterator.initializer)
        return [session.run([there, value]), session.run(there), raises(session.run, value), value]


def optional_values(tf, np):
    some = tf.data.experimental.Optional.from_value((1, "a"))
    none = tf.data.experimental.Optional.none_from_structure(tf.TensorSpec([], tf.int32))
    with tf.Session() as session:
        return session.run([some.has_value(), some.get_value(), none.has_value()])


def variables_and_tables(tf, np):
    variable = tf.get_variable("v", [], tf.int64, tf.constant_initializer(5), use_resource=True)
    plain = tf.Variable(np.int64(100))
    source = tf.lookup.KeyValueTensorInitializer(np.int64([0, 1]), ["zero", "one"])
    table = tf.lookup.StaticHashTable(source, "other")
    dataset = _range(tf, 3).map(lambda x: (x + variable + plain, table.lookup(x)))
    return [_initialized(tf, dataset), raises(dataset.make_one_shot_iterator)]


def one_shot_placeholder(tf, np):
    given = tf.placeholder(tf.int64, [])
    return raises(_range(tf, 3).map(lambda x: x + given).make_one_shot_iterator)


def single_element(tf, np):
    get = tf.data.experimental.get_single_element
    with tf.Session() as session:
        return [
            session.run(get(_range(tf, 3).skip(2))),
            raises(session.run, get(_range(tf, 0))),
            raises(session.run, get(_range(tf, 2))),
        ]


# ------------------------------------------------------------------------------------------------ bad input


def refused(tf, np):
    numbers = _range(tf, 3)
    return [
        raises(numbers.map, lambda x: object()),
        raises(numbers.flat_map, lambda x: x),
        raises(numbers.interleave, lambda x: x),
        raises(numbers.filter, lambda x: x),
        raises(numbers.apply, lambda d: 3),
        raises(numbers.concatenate, tf.data.Dataset.from_tensors(1.0)),
        raises(tf.data.Dataset.zip, [numbers, numbers]),
        raises(tf.data.Dataset.zip, 3),
        raises(tf.data.Dataset.range),
        raises(tf.data.Dataset.from_tensor_slices, ([1, 2], [1, 2, 3])),
        raises(tf.data.Dataset.from_tensor_slices, 3),
        raises(tf.data.Dataset.from_generator, 3, tf.int64),
        raises(numbers.padded_batch, 2, [3]),
        raises(numbers.padded_batch, 2, [], 0.5),
        raises(numbers.batch, "x"),
        raises(numbers.reduce, 0, lambda s, x: s + x),
        raises(iter, numbers),
        raises(tf.data.experimental.get_single_element, 3),
        raises(tf.data.experimental.group_by_window, lambda x: x, lambda k, d: d),
    ]


_FAILING = {
    "batch_of_zero": lambda tf, np: _range(tf, 3).batch(0),
    "batch_of_different": lambda tf, np: _range(tf, 3).map(lambda x: tf.range(x)).batch(2),
    "shuffle_of_zero": lambda tf, np: _range(tf, 3).shuffle(0),
    "shard_of_zero": lambda tf, np: _range(tf, 3).shard(0, 0),
    "shard_outside": lambda tf, np: _range(tf, 3).shard(2, 2),
    "range_of_zero": lambda tf, np: _range(tf, 0, 3, 0),
    "window_of_zero": lambda tf, np: _range(tf, 3).window(0).flat_map(lambda w: w),
    "cycle_of_zero": lambda tf, np: _range(tf, 3).interleave(lambda x: _range(tf, x), 0),
    "padded_too_small": lambda tf, np: _range(tf, 3).map(lambda x: tf.range(x)).padded_batch(3, [1]),
    "padded_rank": lambda tf, np: (
        _range(tf, 3)
        .map(lambda x: tf.py_func(lambda v: np.zeros(1, np.int64), [x], tf.int64))
        .padded_batch(2, [])
    ),
    "selector": lambda tf, np: tf.data.experimental.choose_from_datasets(
        [_range(tf, 3)] * 2, _range(tf, 2, 4)
    ),
    "no_file": lambda tf, np: tf.data.TextLineDataset("/nowhere/at/all"),
    "no_records": lambda tf, np: tf.data.TFRecordDataset("/nowhere/at/all"),
}


@cases(*sorted(_FAILING))
def failing(tf, np, which):
    iterator = _FAILING[which](tf, np).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        error = raises(session.run, iterator.initializer)
        return error if error != "no error" else raises(session.run, element)


# ------------------------------------------------------------------------------------------------ files


def _file(contents, suffix=""):
    handle, path = tempfile.mkstemp(suffix=suffix)
    with os.fdopen(handle, "wb") as file:
        file.write(contents)
    return path


@cases({"one": (1, None), "two": (2, None), "parallel": (2, 2)})
def text_lines(tf, np, count, parallel):
    paths = [_file(b"a\nbb\r\n\nlast"), _file(b"x\ny\n")][:count]
    return _all(tf, tf.data.TextLineDataset(paths, num_parallel_reads=parallel))[1]


@cases("", "GZIP", "ZLIB")
def records(tf, np, compression):
    path = _file(b"")
    with tf.python_io.TFRecordWriter(path, {"": None}.get(compression, compression)) as writer:
        for record in (b"first", b"", b"third" * 50):
            writer.write(record)
    return _all(tf, tf.data.TFRecordDataset(path, compression))[1]


def truncated_records(tf, np):
    path = _file(b"")
    with tf.python_io.TFRecordWriter(path) as writer:
        for record in (b"first", b"second"):
            writer.write(record)
    with open(path, "rb") as file:
        data = file.read()
    return _all(tf, tf.data.TFRecordDataset([_file(data[:-3]), path]))[1]


def written_records(tf, np):
    path = _file(b"")
    dataset = tf.data.Dataset.from_tensor_slices(["a", "bc", ""])
    with tf.Session() as session:
        session.run(tf.data.experimental.TFRecordWriter(path).write(dataset))
    return list(tf.python_io.tf_record_iterator(path))


@cases({"plain": (0, 0, b"aabbcc"), "framed": (1, 2, b"Haabbff"), "excess": (0, 0, b"aabbc")})
def fixed_records(tf, np, header, footer, data):
    return _all(tf, tf.data.FixedLengthRecordDataset(_file(data), 2, header, footer), most=3)[1][
        : 3 - 2 * (len(data) % 2 and not header)
    ]


def csv_fields(tf, np):
    path = _file(b'1,2.5,a\n3,,"b,c"\n5,6.5,"d""e"\n')
    dataset = tf.data.experimental.CsvDataset(path, [tf.int32, -1.0, tf.string])
    return _all(tf, dataset)


def csv_options(tf, np):
    path = _file(b"x|y|z\n1|2|3\n4|NA|6\n")
    dataset = tf.data.experimental.CsvDataset(
        path, [[0], ["none"]], header=True, field_delim="|", na_value="NA", select_cols=[0, 1]
    )
    return _all(tf, dataset)


def csv_bad(tf, np):
    path = _file(b"1,2\nx,3\n4\n5,6\n")
    return _all(tf, tf.data.experimental.CsvDataset(path, [tf.int32, tf.int32]))


def listed_files(tf, np):
    folder = tempfile.mkdtemp()
    for name in ("b.txt", "a.txt", "c.csv"):
        open(os.path.join(folder, name), "w").close()
    dataset = tf.data.Dataset.list_files(os.path.join(folder, "*.txt"), shuffle=False)
    found = [os.path.basename(name) for name in _all(tf, dataset)[1][:-1]]
    shuffled = tf.data.Dataset.list_files(os.path.join(folder, "*"), seed=4)
    return [found, [os.path.basename(name) for name in _all(tf, shuffled)[1][:-1]]]


def no_listed_files(tf, np):
    iterator = tf.data.Dataset.list_files("/nowhere/*", shuffle=False).make_initializable_iterator()
    with tf.Session() as session:
        return raises(session.run, iterator.initializer)


def cached_in_a_file(tf, np):
    path = os.path.join(tempfile.mkdtemp(), "cache")
    dataset = _range(tf, 3).map(lambda x: (x, tf.as_string(x))).cache(path).repeat(2)
    return _all(tf, dataset)


def parsed_examples(tf, np):
    path = _file(b"")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(5):
            feature = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + 0.5]))}
            feature["y"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    features = {"x": tf.FixedLenFeature([2], tf.float32), "y": tf.FixedLenFeature([], tf.int64)}
    dataset = tf.data.TFRecordDataset(path).map(lambda s: tf.parse_single_example(s, features)).batch(2)
    return _all(tf, dataset.prefetch(1))


# ------------------------------------------------------------------------------------------------ seeds


@cases((1, None), (None, 2), (1, 2))
def shuffle_seeds(tf, np, graph_seed, op_seed):
    if graph_seed is not None:
        tf.set_random_seed(graph_seed)
    return _initialized(tf, _range(tf, 10).shuffle(4, seed=op_seed).repeat(2))[1]


def random_in_map(tf, np):
    tf.set_random_seed(3)
    dataset = _range(tf, 3).map(lambda x: tf.random_uniform([], seed=5))
    return _initialized(tf, dataset)[1]
