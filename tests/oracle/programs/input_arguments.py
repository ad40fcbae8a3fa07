"""Arguments of what reads and feeds data that few programs give: readers, CSV, buckets, maybe-batches."""

import gzip
import os
import tempfile
import zlib

from kit import cases, names, raises


def _values(tf, dataset, limit=20):
    """All elements of a dataset, and how it ends."""
    element = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        for _ in range(limit):
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found
    return found + ["and so on"]


def _file(content, name="a", packed=None):
    path = os.path.join(tempfile.mkdtemp(), name)
    with open(path, "wb") as f:
        f.write({"GZIP": gzip.compress, "ZLIB": zlib.compress}.get(packed, bytes)(content))
    return path


def _records(tf, rows, packed=None):
    path = os.path.join(tempfile.mkdtemp(), "r")
    kind = {"GZIP": tf.io.TFRecordCompressionType.GZIP, "ZLIB": tf.io.TFRecordCompressionType.ZLIB}
    options = tf.io.TFRecordOptions(kind[packed]) if packed else None
    with tf.io.TFRecordWriter(path, options) as writer:
        for row in rows:
            writer.write(row)
    return path


@cases("", "GZIP", "ZLIB")
def readers_of_packed_files(tf, np, packed):
    given = dict(compression_type=packed, buffer_size=3)
    lines = _file(b"one\ntwo\r\nthree", packed=packed)
    fixed = _file(b"hhaabbccff", packed=packed)
    records = _records(tf, [b"x", b"", b"yz"], packed)
    text = tf.data.TextLineDataset([lines, lines], num_parallel_reads=2, **given)
    cut = tf.data.FixedLengthRecordDataset(
        fixed, 2, header_bytes=2, footer_bytes=2, num_parallel_reads=None, **given
    )
    read = tf.data.TFRecordDataset(records, num_parallel_reads=1, **given)
    csv = tf.data.experimental.CsvDataset(
        _file(b"a;b\n1;'2'\n3;4\n", packed=packed),
        [tf.constant([7]), tf.string],
        header=True,
        field_delim=";",
        use_quote_delim=False,
        compression_type=packed,
        buffer_size=5,
    )
    return [_values(tf, d) for d in (text, cut, read, csv)], [
        d.output_classes is tf.Tensor for d in (text, read)
    ]


def readers_refuse(tf, np):
    path = _file(b"one\ntwo, and more than a header")
    other = _file(b"one\ntwo", packed="GZIP")
    return [
        raises(_values, tf, tf.data.TextLineDataset(path, compression_type="GZIP")),
        raises(_values, tf, tf.data.TextLineDataset(path, compression_type="ZIP")),
        raises(_values, tf, tf.data.TFRecordDataset(path)),
        raises(_values, tf, tf.data.TFRecordDataset(other, "ZLIB")),
        raises(_values, tf, tf.data.FixedLengthRecordDataset(path, 3)),
        raises(_values, tf, tf.data.FixedLengthRecordDataset(path, 0)),
        raises(_values, tf, tf.data.TextLineDataset([path, path + ".none"])),
        raises(tf.data.TFRecordDataset, 3),
        raises(tf.data.TFRecordDataset, [[path]]),
        raises(_values, tf, tf.data.experimental.CsvDataset(path, [tf.int32])),
        raises(_values, tf, tf.data.experimental.CsvDataset(path, [tf.string, tf.string])),
        raises(tf.data.experimental.CsvDataset, path, [tf.uint8]),
        raises(_values, tf, tf.data.experimental.CsvDataset(path, [tf.string], select_cols=[1, 0])),
    ]


@cases("GZIP", "ZLIB", "")
def records_with_options(tf, np, kind):
    io = tf.io
    options = io.TFRecordOptions(
        compression_type=kind,
        flush_mode=0,
        input_buffer_size=1000,
        output_buffer_size=2000,
        window_bits=31 if kind == "GZIP" else 15,
        compression_level=9,
        compression_method=8,
        mem_level=8,
        compression_strategy=0,
    )
    path = os.path.join(tempfile.mkdtemp(), "r")
    with io.TFRecordWriter(path, options=options) as writer:
        for row in (b"a" * 100, b"", b"b"):
            writer.write(row)
        writer.flush()
    return [
        list(io.tf_record_iterator(path, options=options)),
        io.TFRecordOptions.get_compression_type_string(options),
        [options.compression_type, options.compression_level, options.window_bits, options.mem_level],
        raises(io.TFRecordOptions, "ZIP"),
        io.TFRecordOptions.get_compression_type_string(None),
        raises(list, io.tf_record_iterator(path + ".none")),
    ]


_CSV = b"x,y,label\n1,a,0\n2,,1\n,NA,0\n4,d,1\n"
_CSV_DATASETS = {
    "plain": dict(),
    "label": dict(label_name="label", num_epochs=1),
    "defaults": dict(column_defaults=[tf_type for tf_type in ([9], ["none"], [0.5])], num_epochs=1),
    "selected": dict(select_columns=["label", "x"], num_epochs=1, na_value="NA"),
    "numbers": dict(select_columns=[0, 2], num_epochs=1),
    "names": dict(column_names=["a", "b", "c"], header=False, column_defaults=["", "", ""], num_epochs=1),
    "missing": dict(na_value="NA", num_epochs=2, num_rows_for_inference=2),
    "options": dict(
        num_epochs=1,
        prefetch_buffer_size=2,
        num_parallel_reads=2,
        sloppy=False,
        use_quote_delim=True,
        field_delim=",",
    ),
    "no label": dict(label_name="none"),
    "no column": dict(select_columns=["none"]),
    "two delimiters": dict(field_delim="--"),
}


@cases({name: name for name in _CSV_DATASETS})
def csv_datasets(tf, np, name):
    path = _file(_CSV, "a.csv")
    make = tf.data.experimental.make_csv_dataset

    def made():
        dataset = make(path, batch_size=3, shuffle=False, **_CSV_DATASETS[name])
        return _values(tf, dataset, 3), dataset.output_types, dataset.output_shapes

    return raises(made) if name.startswith(("no ", "two")) else made()


def csv_datasets_of_more_files(tf, np):
    folder = os.path.dirname(_file(_CSV, "a.csv"))
    with open(os.path.join(folder, "b.csv"), "wb") as f:
        f.write(gzip.compress(_CSV))
    make = tf.data.experimental.make_csv_dataset
    packed = make(
        folder + "/b*.csv",
        2,
        compression_type="GZIP",
        shuffle=False,
        num_epochs=1,
        column_defaults=[0, "", 0],
        column_names=["x", "y", "z"],
    )
    with open(os.path.join(folder, "c.csv"), "w") as f:
        f.write("x,y,label\n1,a,zero\n2,b,1\n")
    lenient = make(
        folder + "/c.csv", 1, shuffle=False, num_epochs=1, ignore_errors=True, column_defaults=[0, "", 0]
    )
    return _values(tf, packed), _values(tf, lenient), raises(make, folder + "/none*", 2)


def _examples(tf):
    rows = []
    for i in range(4):
        feature = {
            "x": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
            "y": tf.train.Feature(float_list=tf.train.FloatList(value=[float(i)] * i)),
        }
        rows.append(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    return rows


@cases("plain", "label", "reader", "last")
def datasets_of_features(tf, np, name):
    path = _records(tf, _examples(tf), "GZIP" if name == "reader" else None)
    features = {"x": tf.io.FixedLenFeature([], tf.int64), "y": tf.io.VarLenFeature(tf.float32)}
    options = {
        "plain": dict(num_epochs=1),
        "label": dict(
            num_epochs=1, label_key="x", parser_num_threads=2, reader_num_threads=1, sloppy_ordering=False
        ),
        "reader": dict(
            num_epochs=1, reader=tf.data.TFRecordDataset, reader_args=["GZIP"], prefetch_buffer_size=3
        ),
        "last": dict(num_epochs=1, drop_final_batch=True, shuffle_buffer_size=3, shuffle_seed=3),
    }[name]
    dataset = tf.data.experimental.make_batched_features_dataset(path, 3, features, shuffle=False, **options)
    return _values(tf, dataset, 4), dataset.output_types


_BUCKETS = {
    "padded": dict(bucket_boundaries=[3, 5], bucket_batch_sizes=[2, 2, 2]),
    "to the boundary": dict(
        bucket_boundaries=[3, 6], bucket_batch_sizes=[2, 2, 2], pad_to_bucket_boundary=True
    ),
    "shapes": dict(bucket_boundaries=[4], bucket_batch_sizes=[2, 3], padded_shapes=[6], padding_values=-1),
    "last": dict(bucket_boundaries=[4], bucket_batch_sizes=[2, 2], drop_remainder=True),
    "sizes": dict(bucket_boundaries=[4], bucket_batch_sizes=[2]),
    "none": dict(bucket_boundaries=[4], bucket_batch_sizes=[1, 1], no_padding=True),
}


@cases({name: name for name in _BUCKETS})
def buckets(tf, np, name):
    lengths = [1, 4, 2, 5, 3, 1, 4]
    if name == "to the boundary":
        lengths = [1, 4, 2, 5, 3]

    def made():
        rows = tf.data.Dataset.from_generator(lambda: ([n] * n for n in lengths), tf.int32, [None])
        if name == "none":
            rows = rows.map(lambda row: tf.sparse.from_dense(row))
        apply = tf.data.experimental.bucket_by_sequence_length(
            (lambda row: tf.cast(row.dense_shape[0], tf.int32))
            if name == "none"
            else (lambda row: tf.shape(row)[0]),
            **_BUCKETS[name],
        )
        return _values(tf, rows.apply(apply))

    return raises(made) if name == "sizes" else made()


def transformations_with_options(tf, np):
    e, numbers = tf.data.experimental, tf.data.Dataset.range(6)
    interleaved = e.parallel_interleave(
        lambda i: tf.data.Dataset.from_tensors(i).repeat(2),
        cycle_length=2,
        block_length=2,
        sloppy=False,
        buffer_output_elements=1,
        prefetch_input_elements=1,
    )
    reducer = e.Reducer(
        init_func=lambda key: (key, 0),
        reduce_func=lambda s, v: (s[0], s[1] + 1),
        finalize_func=lambda a, b: a * 10 + tf.cast(b, tf.int64),
    )
    return [
        _values(tf, numbers.apply(interleaved)),
        _values(tf, numbers.apply(e.map_and_batch(lambda i: i * 2, 4, num_parallel_batches=2))),
        _values(
            tf, numbers.apply(e.map_and_batch(lambda i: i * 2, 4, num_parallel_calls=2, drop_remainder=True))
        ),
        raises(e.map_and_batch, lambda i: i, 2, num_parallel_batches=1, num_parallel_calls=1),
        _values(tf, numbers.apply(e.map_and_batch_with_legacy_function(lambda i: i + 1, 4))),
        _values(tf, numbers.apply(e.group_by_reducer(lambda i: i % 2, reducer))),
        _values(tf, numbers.map_with_legacy_function(lambda i: i + 1, num_parallel_calls=2)),
        _values(tf, numbers.filter_with_legacy_function(lambda i: i > 3)),
        _values(tf, numbers.apply(e.prefetch_to_device("/cpu:0", buffer_size=2))),
        _values(tf, e.Counter(start=2, step=-3, dtype=tf.int32).take(3)),
        _values(tf, e.RandomDataset(seed=3).take(2)),
        _values(tf, numbers.apply(e.copy_to_device("/cpu:0"))),
        reducer.init_func(3),
        reducer.finalize_func(1, 2).shape,
        raises(e.parallel_interleave(lambda i: i, 2), numbers),
    ]


def structures(tf, np):
    e, d = tf.data.experimental, tf.data
    dataset = d.Dataset.from_tensors({"a": 1.0, "b": tf.SparseTensor([[0]], [1], [2])})
    iterator = tf.compat.v1.data.make_one_shot_iterator(d.Dataset.range(3).batch(2))
    spec = d.DatasetSpec(tf.TensorSpec([], tf.int64), dataset_shape=[2])
    return [
        repr(e.get_structure(dataset)["a"]),
        repr(e.get_structure(dataset)["b"]),
        repr(e.get_structure(iterator)),
        repr(e.TensorStructure(tf.float32, [2, None])),
        repr(e.SparseTensorStructure(tf.int32, [2])),
        repr(e.TensorArrayStructure(tf.int32, [2], False, True)),
        repr(e.RaggedTensorStructure(tf.int32, [2, None], 1)),
        spec.is_compatible_with(d.DatasetSpec(tf.TensorSpec([], tf.int64), [2])),
        spec == d.DatasetSpec(tf.TensorSpec([], tf.int32), [2]),
        raises(e.get_structure, 3),
        [iterator.output_types, iterator.output_shapes, iterator.output_classes is tf.Tensor],
    ]


def options_of_datasets(tf, np):
    options = tf.data.Options()
    o = options.experimental_optimization
    o.apply_default_optimizations = False
    o.autotune = True
    o.autotune_buffers = False
    o.autotune_cpu_budget = 2
    o.filter_fusion = o.map_fusion = o.map_and_batch_fusion = o.map_and_filter_fusion = True
    o.map_parallelization = o.noop_elimination = o.parallel_batch = o.shuffle_and_repeat_fusion = True
    o.hoist_random_uniform = True
    o.map_vectorization.enabled = True
    o.map_vectorization.use_choose_fastest = False
    options.experimental_threading.max_intra_op_parallelism = 1
    options.experimental_threading.private_threadpool_size = 2
    options.experimental_stats.latency_all_edges = False
    options.experimental_distribute.auto_shard = False
    options.experimental_deterministic = True
    options.experimental_slack = True
    options.experimental_stateful_whitelist = []
    dataset = tf.data.Dataset.range(6).map(lambda i: i + 1).filter(lambda i: i > 2).batch(2)
    other = tf.data.Options()
    other.experimental_deterministic = True
    merged = options.merge(other)
    different = tf.data.Options()
    different.experimental_deterministic = False
    return [
        _values(tf, dataset.prefetch(1).with_options(options)),
        merged == options,
        options == tf.data.Options(),
        raises(options.merge, different),
        raises(setattr, options, "nothing", 3),
        raises(setattr, options, "experimental_slack", 3),
        raises(setattr, o, "map_fusion", "yes"),
        raises(setattr, options.experimental_threading, "max_intra_op_parallelism", 1.5),
        dataset.with_options(options).options().experimental_slack,
        tf.data.Options().experimental_distribute.num_devices,
    ]


# ------------------------------------------------------------------------------------------ queues of batches


def _batches(tf, fetches, count):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator, daemon=True, start=True)
        found = []
        try:
            for _ in range(count):
                found.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            found.append("the end")
        coordinator.request_stop()
        coordinator.join(threads, ignore_live_threads=True)
        return found


@cases("batch", "many", "join", "padded", "kept")
def maybe_batches(tf, np, kind):
    t = tf.train
    (x,) = t.slice_input_producer([tf.range(6)], num_epochs=1, shuffle=False)
    keep = tf.equal(x % 2, 0)
    if kind == "batch":
        made = t.maybe_batch([x, x * 2], keep, 2, num_threads=1, capacity=8, allow_smaller_final_batch=True)
    elif kind == "many":
        made = t.maybe_batch(
            [tf.stack([x, x + 1])],
            tf.stack([keep, True]),
            2,
            enqueue_many=True,
            shapes=[[]],
            shared_name="s",
            name="n",
        )
    elif kind == "join":
        made = t.maybe_batch_join([[x]], keep, 2, allow_smaller_final_batch=True, shapes=[[]])
    elif kind == "padded":
        made = t.maybe_batch([tf.range(x)], keep, 2, dynamic_pad=True, shapes=[[None]])
    else:
        made = t.maybe_batch({"x": x}, True, batch_size=3)
    shapes = [
        y.shape
        for y in (made.values() if isinstance(made, dict) else made if isinstance(made, list) else [made])
    ]
    return _batches(tf, made, 5), shapes, dict(names(tf))


@cases("shuffle", "join")
def maybe_shuffled(tf, np, kind):
    t = tf.train
    (x,) = t.slice_input_producer([tf.range(8)], num_epochs=1, shuffle=False)
    keep = tf.less(x, 6)
    given = dict(batch_size=3, capacity=10, min_after_dequeue=1, seed=3, allow_smaller_final_batch=True)
    if kind == "shuffle":
        made = t.maybe_shuffle_batch(
            [x], keep_input=keep, num_threads=1, enqueue_many=False, shapes=[[]], **given
        )
    else:
        made = t.maybe_shuffle_batch_join([[x]], keep_input=keep, shapes=[[]], **given)
    found = _batches(tf, made, 4)
    rows = sorted(int(v) for batch in found if not isinstance(batch, str) for v in np.ravel(batch))
    return rows, dict(names(tf))


def runners(tf, np):
    t = tf.train
    queue = tf.FIFOQueue(4, [tf.int32], shapes=[[]])
    runner = t.QueueRunner(
        queue,
        [queue.enqueue(1)] * 2,
        close_op=queue.close(),
        cancel_op=queue.close(cancel_pending_enqueues=True),
        queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError),
    )
    t.add_queue_runner(runner, collection="mine")
    with tf.Session() as session:
        coordinator = t.Coordinator(clean_stop_exception_types=(tf.errors.CancelledError,))
        threads = t.start_queue_runners(session, coordinator, daemon=True, start=False, collection="mine")
        started = [thread.is_alive() for thread in threads]
        for thread in threads:
            thread.start()
        values = session.run([queue.dequeue(), queue.dequeue()])
        coordinator.request_stop()
        coordinator.join(threads)
    proto = runner.to_proto()
    again = t.QueueRunner(queue_runner_def=proto)
    return [
        started,
        values,
        [runner.name, runner.close_op.name, runner.cancel_op.name, len(runner.enqueue_ops)],
        [again.name, again.close_op.name, [e.__name__ for e in again.queue_closed_exception_types]],
        runner.exceptions_raised,
        raises(t.QueueRunner, queue, [queue.enqueue(1)], queue_runner_def=proto),
        raises(t.QueueRunner),
        raises(t.QueueRunner, queue, [queue.enqueue(1)], queue_closed_exception_types=[3]),
        raises(t.start_queue_runners, 3),
        raises(t.start_queue_runners, session, collection="none"),
    ]


def loopers(tf, np):
    said = []
    coordinator = tf.train.Coordinator()

    def step(a, b=0):
        said.append((a, b))
        if len(said) == 3:
            coordinator.request_stop()

    thread = tf.train.LooperThread(coordinator, None, target=step, args=(1,), kwargs={"b": 2})
    thread.start()
    coordinator.join([thread])
    looped = tf.train.LooperThread.loop(tf.train.Coordinator(), 0.01, step, args=(5,), kwargs=None)
    return (
        said[:3],
        looped.daemon,
        raises(tf.train.LooperThread, 3, 1.0),
        raises(tf.train.LooperThread, coordinator, "often"),
    )
