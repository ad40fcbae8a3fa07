"""tf.data as programs used it: whole pipelines from files, orders that seeds fix, effects in functions,
iterators of every kind, and what is refused.
"""

import collections
import os
import sqlite3

from input_files import folder, text_file
from kit import cases, graph, names, product, raises


def _taken(session, element, most=50):
    """The elements, and the error behind them."""
    found = []
    for _ in range(most):
        error = raises(lambda: found.append(session.run(element)))
        if error != "no error":
            found.append(error)
            if "OutOfRangeError" in error.types:
                break
    return found


def _all(tf, dataset, feeds=None):
    """What is known of the elements, and all of them."""
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(iterator.initializer, feeds)
        found = _taken(session, element)
    return [repr(dataset), found, sorted(element.items()) if isinstance(element, dict) else element]


def _example(tf, i):
    feature = {
        "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
        "v": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5] * i)),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def _records(tf, count):
    path = os.path.join(folder(), "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(count):
            writer.write(_example(tf, i))
    return path


def _database():
    path = os.path.join(folder(), "rows.db")
    connection = sqlite3.connect(path)
    connection.execute("create table t (name text, n integer, x real)")
    connection.executemany("insert into t values (?, ?, ?)", [("a", 1, 1.5), ("b", 2, 2.5)])
    connection.commit()
    connection.close()
    return path


def _range(tf, *numbers):
    return tf.data.Dataset.range(*numbers)


_TABLE = ("x,y,z", "1,2.5,q", "3,1.5,r", '4,5,"s,t"')


def _wanted(tf):
    return {"a": tf.FixedLenFeature([], tf.int64), "v": tf.VarLenFeature(tf.float32)}


# ------------------------------------------------------------------------------------------------- from files

_FROM_FILES = {
    "csv": lambda tf, x: x.CsvDataset(
        text_file("a,b", "1,2.5", "3,", '"4",5'), [tf.int32, tf.constant([0.0])], header=True
    ),
    "csv_columns": lambda tf, x: x.CsvDataset(
        text_file("a,b", "1,2.5", '"4",5'), [tf.float32], header=True, select_cols=[0]
    ),
    "table": lambda tf, x: x.make_csv_dataset(
        text_file(*_TABLE), 2, num_epochs=1, shuffle=False, label_name="z"
    ),
    "table_columns": lambda tf, x: x.make_csv_dataset(
        text_file(*_TABLE),
        2,
        num_epochs=2,
        shuffle=False,
        select_columns=["x", "z"],
        column_defaults=[tf.int64, tf.string],
    ),
    "table_shuffled": lambda tf, x: x.make_csv_dataset(
        text_file(*_TABLE), 2, num_epochs=1, shuffle_seed=3, shuffle_buffer_size=3
    ),
    "table_without_header": lambda tf, x: x.make_csv_dataset(
        text_file(*_TABLE[1:]), 1, column_names=["p", "q", "r"], header=False, num_epochs=1, shuffle=False
    ),
    "table_epochs": lambda tf, x: x.make_csv_dataset(text_file(*_TABLE), 2, shuffle_seed=5).take(3),
    "features": lambda tf, x: x.make_batched_features_dataset(
        _records(tf, 5), 2, _wanted(tf), num_epochs=1, shuffle=False
    ),
    "features_and_label": lambda tf, x: x.make_batched_features_dataset(
        _records(tf, 5),
        2,
        _wanted(tf),
        label_key="a",
        num_epochs=1,
        shuffle_seed=2,
        shuffle_buffer_size=3,
        drop_final_batch=True,
    ),
    "features_epochs": lambda tf, x: x.make_batched_features_dataset(
        _records(tf, 5), 2, _wanted(tf), shuffle_seed=2, shuffle_buffer_size=3, reader_num_threads=2
    ).take(4),
    "parsed": lambda tf, x: (
        tf.data.TFRecordDataset(_records(tf, 5)).batch(2).apply(x.parse_example_dataset(_wanted(tf), 2))
    ),
    "records": lambda tf, x: tf.data.TFRecordDataset(
        [_records(tf, 2), _records(tf, 3)], num_parallel_reads=2
    ).map(tf.strings.length),
    "lines_of_several": lambda tf, x: tf.data.Dataset.from_tensor_slices(
        [text_file("a1", "a2", "a3"), text_file("b1"), text_file("c1", "c2")]
    ).interleave(lambda name: tf.data.TextLineDataset(name).skip(1), cycle_length=2, block_length=1),
    "sql": lambda tf, x: x.SqlDataset(
        "sqlite", _database(), "select name, n, x from t order by n", (tf.string, tf.int32, tf.float64)
    ),
}


@cases(*sorted(_FROM_FILES))
def from_files(tf, np, which):
    return _all(tf, _FROM_FILES[which](tf, tf.data.experimental))


def sparse_features_of_a_dataset(tf, np):
    wanted = {"s": tf.SparseFeature("a", "v", tf.float32, 10), "a": tf.VarLenFeature(tf.int64)}
    examples = tf.data.Dataset.from_tensor_slices([_example(tf, 1)] * 3).batch(2)
    return _all(tf, examples.apply(tf.data.experimental.parse_example_dataset(wanted)))


def graph_of_parsed(tf, np):
    examples = tf.data.Dataset.from_tensor_slices(["a", "b"]).batch(2)
    parsed = examples.apply(tf.data.experimental.parse_example_dataset(_wanted(tf)))
    refused = tf.data.experimental.parse_example_dataset
    return [
        graph(tf),
        repr(parsed),
        raises(refused, None),
        raises(lambda: _range(tf, 2).apply(refused(_wanted(tf)))),
    ]


def read_batch_features(tf, np):
    wanted = {"a": tf.FixedLenFeature([], tf.int64)}
    element = tf.contrib.data.read_batch_features(
        _records(tf, 5), 2, wanted, num_epochs=1, randomize_input=False
    )
    with tf.Session() as session:
        return [_taken(session, element), element]


def bad_tables(tf, np):
    make, path = tf.data.experimental.make_csv_dataset, text_file(*_TABLE)
    return [
        raises(make, path + "?", 2),
        raises(make, path, 2, header=False),
        raises(make, path, 2, column_names=["a", "a", "b"]),
        raises(make, path, 2, label_name="w"),
        raises(make, path, 2, select_columns=["w"]),
        raises(make, path, 2, select_columns=["x"], column_defaults=[tf.int32, tf.int32]),
        raises(
            tf.data.experimental.make_batched_features_dataset, path, 2, _wanted(tf), reader=tf.TFRecordReader
        ),
        raises(tf.data.experimental.make_batched_features_dataset, path, 2, _wanted(tf), label_key="w"),
    ]


# ------------------------------------------------------------------------------------------- transformations

_CLASSES = {
    "given": dict(initial_dist=[0.5, 0.5]),
    "estimated": {},
    "as_they_are": dict(initial_dist=[0.8, 0.2]),
}


@cases(*sorted(_CLASSES))
def resampled(tf, np, which):
    classes = _range(tf, 60).map(lambda x: x % 2)
    kept = classes.apply(
        tf.data.experimental.rejection_resample(
            lambda x: tf.cast(x, tf.int32), [0.8, 0.2], seed=3, **_CLASSES[which]
        )
    )
    return [graph(tf), _all(tf, kept)]


_MORE = {
    "batch_and_drop_remainder": lambda tf, np: _range(tf, 5).apply(
        tf.contrib.data.batch_and_drop_remainder(2)
    ),
    "padded_batch_and_drop_remainder": lambda tf, np: (
        _range(tf, 5).map(tf.range).apply(tf.contrib.data.padded_batch_and_drop_remainder(2, [None]))
    ),
    "assert_element_shape": lambda tf, np: tf.data.Dataset.from_generator(
        lambda: iter([[1, 2], [3]]), tf.int32
    ).apply(tf.contrib.data.assert_element_shape(tf.TensorShape([2]))),
    "sliding": lambda tf, np: _range(tf, 7).apply(tf.contrib.data.sliding_window_batch(3, stride=2)),
    "sliding_stride": lambda tf, np: _range(tf, 9).apply(
        tf.contrib.data.sliding_window_batch(3, window_shift=1, window_stride=2)
    ),
    "sloppy": lambda tf, np: _range(tf, 1).apply(
        tf.contrib.data.sloppy_interleave(lambda x: _range(tf, 3), 1)
    ),
    "counter": lambda tf, np: tf.contrib.data.Counter(2, 3).take(3),
    "random": lambda tf, np: tf.contrib.data.RandomDataset(3).take(3),
    "sampled": lambda tf, np: tf.data.experimental.sample_from_datasets(
        [_range(tf, 4), _range(tf, 10, 14)], tf.data.Dataset.from_tensors([0.5, 0.5]).repeat(), seed=4
    ),
    "sparse_batch": lambda tf, np: (
        _range(tf, 1, 4)
        .map(lambda x: tf.fill([x], x))
        .apply(tf.data.experimental.dense_to_sparse_batch(2, [4]))
    ),
    "buckets": lambda tf, np: (
        _range(tf, 1, 12)
        .map(lambda x: (tf.fill([x], x), x))
        .apply(
            tf.data.experimental.bucket_by_sequence_length(
                lambda s, n: tf.cast(n, tf.int32),
                [3, 6],
                [3, 2, 1],
                padding_values=(np.int64(-1), np.int64(0)),
                drop_remainder=True,
            )
        )
    ),
    "means": lambda tf, np: tf.data.Dataset.from_tensor_slices(
        (["a", "bb", "c", "dd"], [1.0, 2.0, 3.0, 4.0])
    ).apply(
        tf.data.experimental.group_by_reducer(
            lambda s, v: tf.cast(tf.strings.length(s), tf.int64),
            tf.data.experimental.Reducer(
                lambda key: (0.0, 0.0), lambda state, e: (state[0] + e[1], state[1] + 1), lambda s, n: s / n
            ),
        )
    ),
    "growing": lambda tf, np: _range(tf, 4).apply(
        tf.data.experimental.scan(tf.zeros([0], tf.int64), lambda s, x: (tf.concat([s, [x]], 0), s))
    ),
    "windows": lambda tf, np: (
        tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]})
        .window(2, 1)
        .flat_map(lambda parts: tf.data.Dataset.zip((parts["a"].batch(2), parts["b"].batch(2))))
    ),
    "sums_of_windows": lambda tf, np: (
        _range(tf, 6).window(3).map(lambda w: w.reduce(np.int64(0), lambda s, x: s + x))
    ),
    "generators": lambda tf, np: _range(tf, 3).interleave(
        lambda n: tf.data.Dataset.from_generator(
            lambda k: ((k, j) for j in range(2)), (tf.int64, tf.int64), args=(n,)
        ),
        cycle_length=3,
    ),
    "uneven_rows": lambda tf, np: tf.data.Dataset.from_generator(
        lambda: iter([([1, 2], [3])]), (tf.int32, tf.int32), ([None], [None])
    ).apply(tf.data.experimental.unbatch()),
    "bad_choice": lambda tf, np: tf.data.experimental.choose_from_datasets(
        [_range(tf, 2), _range(tf, 10, 12)], tf.data.Dataset.from_tensor_slices(np.int64([0, 5]))
    ),
    "too_large_to_pad": lambda tf, np: _range(tf, 5).map(lambda x: tf.zeros([x])).padded_batch(3, [2]),
    "of_different_sizes": lambda tf, np: _range(tf, 3).map(lambda x: tf.zeros([x])).batch(2),
    "words": lambda tf, np: tf.data.Dataset.from_tensor_slices(["a b", "c d e"]).map(
        lambda s: tf.string_split([s])
    ),
}
_NOT_BY_NAMES = ("assert_element_shape", "generators", "uneven_rows")  # the names of their nodes count calls


@cases(*sorted(_MORE))
def transformations(tf, np, which):
    return _all(tf, _MORE[which](tf, np))


@cases(*sorted(set(_MORE) - set(_NOT_BY_NAMES)))
def graphs(tf, np, which):
    _MORE[which](tf, np)
    return graph(tf)


def reduced(tf, np):
    reducer = tf.contrib.data.Reducer(lambda key: np.int64(0), lambda s, x: s + x, lambda s: s)
    value = tf.contrib.data.reduce_dataset(_range(tf, 5), reducer)
    with tf.Session() as session:
        return [session.run(value), raises(tf.contrib.data.reduce_dataset, 3, reducer)]


# ------------------------------------------------------------------------------------------------- seeds

_ORDERS = {
    "twice": lambda d: d.shuffle(4, seed=1).shuffle(3, seed=2).repeat(2),
    "batches": lambda d: d.shuffle(10, seed=42).batch(4).repeat(2),
    "kept_before": lambda d: d.cache().shuffle(6, seed=9).repeat(2),
    "kept_after": lambda d: d.shuffle(6, seed=9).cache().repeat(2),
    "repeated_before": lambda d: d.repeat(3).shuffle(7, seed=9),
    "by_the_graph": lambda d: d.shuffle(5).repeat(2),
}


@cases(*sorted(_ORDERS))
def orders(tf, np, which):
    tf.set_random_seed(7)
    return _all(tf, _ORDERS[which](_range(tf, 10)))


@cases(*[(seed, flag) for seed in (None, 7) for flag in (None, False, True)])
def shuffled_again(tf, np, graph_seed, flag):
    """Passes over the same iterator, and over a new one."""
    if graph_seed is not None:
        tf.set_random_seed(graph_seed)
    seed = None if graph_seed else 3
    dataset = _range(tf, 7).shuffle(7, seed=seed, reshuffle_each_iteration=flag).repeat(2)
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    found = []
    for _ in range(2):
        with tf.Session() as session:
            for _ in range(2):
                session.run(iterator.initializer)
                found.append(_taken(session, element))
    return found


def chance_in_functions(tf, np):
    tf.set_random_seed(11)

    def drawn(x):
        return x, tf.random_uniform([]), tf.random_normal([], seed=3)

    return [_all(tf, _range(tf, 6).shuffle(4).map(drawn).repeat(2)), graph(tf)]


def augmented_images(tf, np):
    tf.set_random_seed(1)

    def augmented(i):
        image = tf.reshape(tf.to_float(tf.range(48)), [4, 4, 3]) + tf.to_float(i)
        image = tf.image.random_flip_left_right(image, seed=2)
        image = tf.image.random_brightness(image, 3.0, seed=4)
        return tf.random_crop(image, [3, 3, 3], seed=5)

    return _all(tf, _range(tf, 4).map(augmented).batch(2))


# ----------------------------------------------------------------------------------- state inside functions


def a_variable_that_changes(tf, np):
    scale = tf.get_variable("scale", initializer=2.0, use_resource=True)
    iterator = _range(tf, 3).map(lambda x: tf.to_float(x) * scale).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(iterator.initializer)
        found = [session.run(element), session.run(element)]
        session.run(scale.assign(10.0))
        return [found, _taken(session, element), names(tf)]


def a_variable_that_counts(tf, np):
    seen = tf.get_variable("seen", initializer=0, use_resource=True)

    def counted(x):
        return x, seen.assign_add(1)

    def only_counted(x, count):
        seen.assign_add(10)
        return x, count

    iterator = _range(tf, 3).map(counted).map(only_counted).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(iterator.initializer)
        return [_taken(session, element), session.run(seen)]


def effects_in_order(tf, np):
    value = tf.get_variable("value", initializer=1, use_resource=True)

    def changed(x):
        first = value.read_value()
        value.assign_add(first)
        second = value.read_value()
        value.assign(second * 10)
        return first, second, value.value()

    iterator = _range(tf, 2).map(changed).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(iterator.initializer)
        return [_taken(session, element), session.run(value)]


def a_queue_in_a_function(tf, np):
    queue = tf.FIFOQueue(10, tf.int32, [[]])
    put = queue.enqueue_many([[5, 6, 7]])
    iterator = _range(tf, 3).map(lambda x: queue.dequeue()).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(put)
        return _taken(session, element)


def a_generator_per_pass(tf, np):
    log = []

    def numbers():
        log.append("begun")
        for i in range(3):
            yield i
        log.append("ended")

    return [_all(tf, tf.data.Dataset.from_generator(numbers, tf.int32, []).repeat(2)), log]


def a_function_of_python_that_fails(tf, np):
    def checked(x):
        if x == 2:
            raise KeyError("no two")
        return x

    return _all(tf, _range(tf, 4).map(lambda x: tf.py_func(checked, [x], tf.int64)))


# ------------------------------------------------------------------------------------------------- iterators


def feedable(tf, np):
    forever, few = _range(tf, 3).repeat(), _range(tf, 10, 12)
    handle = tf.placeholder(tf.string, [])
    iterator = tf.data.Iterator.from_string_handle(handle, forever.output_types, forever.output_shapes)
    element = iterator.get_next()
    one_shot, initializable = forever.make_one_shot_iterator(), few.make_initializable_iterator()
    with tf.Session() as session:
        first, second = session.run([one_shot.string_handle(), initializable.string_handle()])
        found = [session.run(element, {handle: first}), raises(session.run, element, {handle: second})]
        session.run(initializable.initializer)
        for key in (second, first, second):
            found.append(session.run(element, {handle: key}))
        found.append(raises(session.run, element, {handle: second}))
        found.append(raises(session.run, element, {handle: b"nonsense"}))
    return [found, raises(lambda: iterator.initializer), raises(lambda: one_shot.initializer), names(tf)]


def reinitializable(tf, np):
    iterator = tf.data.Iterator.from_structure(
        (tf.int64, tf.float32), (tf.TensorShape([]), tf.TensorShape([None]))
    )
    first = _range(tf, 3).map(lambda x: (x, tf.fill([tf.to_int32(x)], 1.0)))
    second = _range(tf, 5, 7).map(lambda x: (x, tf.zeros([2])))
    element = iterator.get_next()
    begin = [iterator.make_initializer(first), iterator.make_initializer(second, name="second")]
    with tf.Session() as session:
        found = [raises(session.run, element)]
        session.run(begin[0])
        found.append(session.run(element))
        for each in begin[::-1]:
            session.run(each)
            found += _taken(session, element)
    other = raises(iterator.make_initializer, _range(tf, 2))
    return [found, begin, element, other, raises(lambda: iterator.initializer), graph(tf)]


def fed_datasets(tf, np):
    rows, others = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None])
    dataset = tf.data.Dataset.from_tensor_slices((rows, others)).batch(2)
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        found = [raises(session.run, element), raises(session.run, iterator.initializer)]
        for values in ([1, 2, 3], []):
            session.run(iterator.initializer, {rows: values, others: values})
            found += _taken(session, element)
        found.append(raises(session.run, iterator.initializer, {rows: [1, 2], others: [1]}))
    return [found, raises(dataset.make_one_shot_iterator)]


def saved_and_restored(tf, np):
    dataset = _range(tf, 8).shuffle(3, seed=2).map(lambda x: x * 2).batch(2)
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
    saver = tf.train.Saver()
    path = os.path.join(folder(), "model")
    with tf.Session() as session:
        session.run(iterator.initializer)
        found = [session.run(element)]
        saver.save(session, path)
        found.append(_taken(session, element))
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        return found + _taken(session, element)


def known_of_elements(tf, np):
    sparse = tf.SparseTensor([[0, 0]], [1.0], [2, 3])
    dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": sparse}).batch(2)
    iterator = dataset.make_one_shot_iterator()
    data = tf.compat.v1.data
    return [
        [data.get_output_types(each), data.get_output_shapes(each), str(each.element_spec)]
        + sorted(kind.__name__ for kind in data.get_output_classes(each).values())
        for each in (dataset, iterator)
    ]


# ------------------------------------------------------------------------------------------- what is refused

_Pair = collections.namedtuple("Pair", "a b")
_RETURNED = {
    "nothing": lambda tf, x: None,
    "lists": lambda tf, x: {"a": [x, x]},
    "list_inside": lambda tf, x: (x, [x, x + 1]),
    "named": lambda tf, x: _Pair(x, x),
    "text": lambda tf, x: "s",
    "deep": lambda tf, x: ((x,),),
    "dictionaries": lambda tf, x: {"z": x, "a": {"k": x}},
    "sparse": lambda tf, x: tf.SparseTensor([[0]], [x], [1]),
    "dataset": lambda tf, x: _range(tf, 3),
    "object": lambda tf, x: object(),
}


@cases(*sorted(_RETURNED))
def returned(tf, np, which):
    made = []
    error = raises(lambda: made.append(_range(tf, 2).map(lambda x: _RETURNED[which](tf, x))))
    return [str(made[0].element_spec)] if made and which != "dataset" else error


_BUILT_WRONG = {
    "zip_list": lambda tf, d, x: tf.data.Dataset.zip([d, d]),
    "zip_number": lambda tf, d, x: tf.data.Dataset.zip((d, 3)),
    "map_number": lambda tf, d, x: d.map(3),
    "map_no_arguments": lambda tf, d, x: d.map(lambda: 1),
    "map_two_arguments": lambda tf, d, x: d.map(lambda a, b: a),
    "filter_number": lambda tf, d, x: d.filter(lambda e: e),
    "flat_map": lambda tf, d, x: d.flat_map(lambda e: e),
    "interleave": lambda tf, d, x: d.interleave(lambda e: e, 2),
    "batch_text": lambda tf, d, x: d.batch("a"),
    "batch_fraction": lambda tf, d, x: d.batch(2.5),
    "padded_rank": lambda tf, d, x: d.padded_batch(2, [None]),
    "padded_structure": lambda tf, d, x: d.padded_batch(2, ([], [])),
    "padded_values": lambda tf, d, x: d.map(lambda e: (e, "a")).padded_batch(2, ([], []), (0, 0)),
    "concatenate_types": lambda tf, d, x: d.concatenate(tf.data.Dataset.from_tensors(1.0)),
    "concatenate_structure": lambda tf, d, x: d.concatenate(tf.data.Dataset.from_tensors((1, 2))),
    "range_nothing": lambda tf, d, x: tf.data.Dataset.range(),
    "range_four": lambda tf, d, x: tf.data.Dataset.range(1, 2, 3, 4),
    "slices_scalar": lambda tf, d, x: tf.data.Dataset.from_tensor_slices(3),
    "slices_uneven": lambda tf, d, x: tf.data.Dataset.from_tensor_slices(([1, 2], [1])),
    "apply": lambda tf, d, x: d.apply(lambda e: 3),
    "sample": lambda tf, d, x: x.sample_from_datasets([d, d], [0.5]),
    "choose": lambda tf, d, x: x.choose_from_datasets([d, d], tf.data.Dataset.from_tensors(1.0)),
    "reduce": lambda tf, d, x: d.reduce(0, lambda s, e: s + e),
    "generator": lambda tf, d, x: tf.data.Dataset.from_generator(3, tf.int32),
    "sliding": lambda tf, d, x: tf.contrib.data.sliding_window_batch(3, 1, 1),
}


@cases(*sorted(_BUILT_WRONG))
def built_wrong(tf, np, which):
    return raises(_BUILT_WRONG[which], tf, _range(tf, 4), tf.data.experimental)


_RUN_WRONG = {
    "batch": lambda tf, d, zero: d.batch(zero),
    "shuffle": lambda tf, d, zero: d.shuffle(zero),
    "shards": lambda tf, d, zero: d.shard(zero, 0),
    "shard": lambda tf, d, zero: d.shard(2, 2 + zero),
    "window": lambda tf, d, zero: d.window(zero).flat_map(lambda w: w),
    "range": lambda tf, d, zero: _range(tf, 0, 4, zero),
    "interleave": lambda tf, d, zero: d.interleave(lambda x: d, cycle_length=zero),
    "padded_batch": lambda tf, d, zero: d.padded_batch(zero, []),
    "parallel_map": lambda tf, d, zero: d.map(lambda x: x, num_parallel_calls=tf.to_int32(zero)),
    "prefetch": lambda tf, d, zero: d.prefetch(zero - 5),
    "group": lambda tf, d, zero: d.apply(
        tf.data.experimental.group_by_window(lambda x: x % 2, lambda k, e: e.batch(2), window_size=zero)
    ),
}


@cases(*sorted(_RUN_WRONG))
def run_wrong(tf, np, which):
    zero = tf.placeholder_with_default(np.int64(0), [])
    iterator = _RUN_WRONG[which](tf, _range(tf, 4), zero).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        return [raises(session.run, iterator.initializer), raises(session.run, element)]


_ODD_LINES = {
    "carriage returns": b"a\rb\r\nc\r\r\n\rd\n\r\ne\r",
    "a quoted one": b'"a\rb",1\r\n"c\r\nx",2\rd,3\n',
    "blank": b"h\n\na\n\n",
    "blank first": b"\na\n",
    "only line ends": b"\n\r",
}


@cases(*product(_ODD_LINES, ["text", "text and number", "required"]))
def odd_line_ends(tf, np, name, columns):
    """Text lines leave carriage returns out; in CSV files they end rows, and a blank line is a row."""
    path = os.path.join(folder(), "lines")
    with open(path, "wb") as file:
        file.write(_ODD_LINES[name])
    defaults = {"text": [["z"]], "text and number": [["z"], [0]], "required": [tf.string]}[columns]
    rows = tf.data.experimental.CsvDataset(path, defaults)
    found = []
    for dataset in (tf.data.TextLineDataset(path), rows, rows.skip(1)):
        taken, error = [], None
        value = dataset.make_one_shot_iterator().get_next()
        with tf.Session() as session:
            while error is None:
                try:
                    taken.append(session.run(value))
                except tf.errors.OpError as raised:
                    error = type(raised).__name__
        found.append([taken, error])
    return found
