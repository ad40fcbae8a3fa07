"""tf.contrib.slim's data sets: decoders, providers, readers, queues, summaries."""

import os
import tempfile

from kit import cases, graph, names, raises, run


def _example(tf, **features):
    def feature(value):
        if isinstance(value, list) and isinstance(value[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=value))
        if isinstance(value, list) and isinstance(value[0], int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=value))
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))

    made = {key.replace("__", "/"): feature(value) for key, value in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def _decoder(tf):
    return tf.contrib.slim.tfexample_decoder


@cases("png", "jpeg", "raw", "RAW")
def image(tf, np, form):
    pixels = (np.arange(5 * 4 * 3) % 256).reshape(5, 4, 3).astype("uint8")
    d = _decoder(tf)
    encoded = {"png": tf.image.encode_png, "jpeg": tf.image.encode_jpeg}.get(form)
    data = pixels.tobytes() if encoded is None else run(tf, encoded(pixels))
    record = _example(tf, image__encoded=[data], image__format=[form.encode()])
    features = {
        "image/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
        "image/format": tf.FixedLenFeature((), tf.string, default_value="png"),
    }
    handler = d.Image(shape=(5, 4, 3) if encoded is None else None)
    (made,) = d.TFExampleDecoder(features, {"image": handler}).decode(record)
    return [made, run(tf, made) if form != "jpeg" else run(tf, made).shape, handler.keys]


def tensors(tf, np):
    d = _decoder(tf)
    record = _example(tf, a=[1, 2, 3, 4, 5, 6], b=[2, 3], c=[0.5, 1.5], s=[b"one", b"two"], e=[7])
    features = {
        "a": tf.VarLenFeature(tf.int64),
        "b": tf.VarLenFeature(tf.int64),
        "c": tf.FixedLenFeature([2], tf.float32),
        "s": tf.VarLenFeature(tf.string),
        "e": tf.FixedLenFeature([1], tf.int64),
        "none": tf.VarLenFeature(tf.int64),
    }
    table = tf.contrib.lookup.index_table_from_tensor(["zero", "one", "two"])
    handlers = {
        "plain": d.Tensor("a"),
        "shaped": d.Tensor("a", shape=[3, 2]),
        "by key": d.Tensor("a", shape_keys="b"),
        "fixed": d.Tensor("c"),
        "fixed shaped": d.Tensor("c", shape=[2, 1]),
        "looked up": d.LookupTensor("s", table),
        "backup": d.BackupHandler(d.Tensor("none"), d.Tensor("a")),
        "called": d.ItemHandlerCallback(["c", "e"], lambda k: k["c"] * 2 + tf.cast(k["e"], tf.float32)),
    }
    decoder = d.TFExampleDecoder(features, handlers)
    items = sorted(handlers)
    made = decoder.decode(tf.placeholder_with_default(record, []), items)
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return [sorted(decoder.list_items()), made, session.run(made)]


@cases(False, True)
def sparse(tf, np, densify):
    d = _decoder(tf)
    record = _example(tf, indices=[1, 4, 5], values=[0.1, 0.2, 0.3], shape=[6])
    features = {
        "indices": tf.VarLenFeature(tf.int64),
        "values": tf.VarLenFeature(tf.float32),
        "shape": tf.FixedLenFeature([1], tf.int64),
    }
    handlers = {
        "by shape": d.SparseTensor(shape=[7], densify=densify),
        "by key": d.SparseTensor(shape_key="shape", densify=densify),
    }
    made = d.TFExampleDecoder(features, handlers).decode(record, ["by shape", "by key"])
    found = run(tf, made)
    return found if densify else [list(each) for each in found]


def boxes(tf, np):
    d = _decoder(tf)
    sides = {
        "box__ymin": [0.1, 0.2],
        "box__xmin": [0.3, 0.4],
        "box__ymax": [0.5, 0.6],
        "box__xmax": [0.7, 0.8],
    }
    features = {key.replace("__", "/"): tf.VarLenFeature(tf.float32) for key in sides}
    handler = d.BoundingBox(prefix="box/")
    (made,) = d.TFExampleDecoder(features, {"boxes": handler}).decode(_example(tf, **sides))
    return [run(tf, made), handler.keys, raises(d.BoundingBox, ["a"])]


def _records(tf, folder, files, records):
    paths = []
    for f in range(files):
        paths.append(os.path.join(folder, "part-%d" % f))
        with tf.python_io.TFRecordWriter(paths[-1]) as writer:
            for r in range(records):
                writer.write(_example(tf, number=[10 * f + r]))
    return paths


def _dataset(tf, folder):
    d = _decoder(tf)
    decoder = d.TFExampleDecoder({"number": tf.FixedLenFeature([], tf.int64)}, {"number": d.Tensor("number")})
    return tf.contrib.slim.dataset.Dataset(
        os.path.join(folder, "part-*"), tf.TFRecordReader, decoder, 6, {"number": "a number"}, extra=3
    )


@cases(False, True)
def provided(tf, np, shuffle):
    folder = tempfile.mkdtemp()
    _records(tf, folder, 2, 3)
    dataset = _dataset(tf, folder)
    provider = tf.contrib.slim.dataset_data_provider.DatasetDataProvider(
        dataset, shuffle=shuffle, num_epochs=1, common_queue_capacity=20, common_queue_min=2
    )
    (number,) = provider.get(["number"])
    seen = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        with tf.contrib.slim.queues.QueueRunners(session):
            nested = raises(tf.contrib.slim.queues.QueueRunners(session).__enter__)
            try:
                while True:
                    seen.append(int(session.run(number)))
            except tf.errors.OutOfRangeError:
                pass
    return [
        sorted(seen),
        number,
        sorted(provider.list_items()),
        provider.num_samples(),
        dataset.extra,
        nested,
        raises(provider.get, ["other"]),
        raises(provider.get, "number"),
        sorted(names(tf)),
    ]


def single_pass(tf, np):
    folder = tempfile.mkdtemp()
    paths = _records(tf, folder, 2, 2)
    reader = tf.contrib.slim.parallel_reader
    _, value = reader.single_pass_read(paths, tf.TFRecordReader)
    seen = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with tf.contrib.slim.queues.QueueRunners(session):
            for _ in range(4):
                example = tf.train.Example.FromString(session.run(value))
                seen.append(int(example.features.feature["number"].int64_list.value[0]))
    found = [os.path.basename(p) for p in sorted(reader.get_data_files([os.path.join(folder, "part-?")]))]
    wrong = tf.FIFOQueue(3, [tf.string, tf.int32])
    return [
        seen,
        found,
        raises(reader.get_data_files, os.path.join(folder, "x*")),
        raises(reader.ParallelReader, tf.TFRecordReader, wrong),
        raises(reader.ParallelReader, tf.TFRecordReader, tf.FIFOQueue(3, [tf.string])),
        reader.ParallelReader(tf.TFRecordReader, tf.FIFOQueue(3, [tf.string, tf.string]), 2).num_readers,
    ]


@cases("list", "dict", "padded")
def prefetched(tf, np, kind):
    counter = tf.train.range_input_producer(6, shuffle=False, num_epochs=1).dequeue()
    tensors = {"number": counter, "twice": [counter, 2 * counter]}
    tensors = {key: tf.convert_to_tensor(value) for key, value in tensors.items()}
    if kind == "padded":
        tensors["many"] = tf.range(counter)
    given = [tensors["number"], tensors["twice"]] if kind == "list" else tensors
    queue = tf.contrib.slim.prefetch_queue.prefetch_queue(given, capacity=3, dynamic_pad=kind == "padded")
    taken = queue.dequeue()
    seen = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        with tf.contrib.slim.queues.QueueRunners(session):
            for _ in range(6):
                seen.append(session.run(taken))
    return [seen, queue.names, queue.shapes, [d.name for d in queue.dtypes], sorted(names(tf))]


@cases(False, True)
def summarized(tf, np, printed):
    s = tf.contrib.slim.summaries
    x = tf.constant(0.5, name="x")
    y = tf.constant([[0.0, 1.0]], name="y")
    made = [
        s.add_scalar_summary(x, print_summary=printed),
        s.add_scalar_summary(x, "other", prefix="before"),
        s.add_histogram_summary(y, prefix="h"),
        s.add_zero_fraction_summary(y),
        s.add_image_summary(tf.zeros([1, 2, 2, 1], name="z"), print_summary=printed),
    ]
    made += s.add_scalar_summaries([x, x], prefix="p") + s.add_zero_fraction_summaries([y])
    made += s.add_histogram_summaries([y]) + s.add_image_summaries([tf.zeros([1, 2, 2, 1], name="w")])
    return [[m.name for m in made], len(tf.get_collection(tf.GraphKeys.SUMMARIES)), graph(tf, attrs=["T"])]
