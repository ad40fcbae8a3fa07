"""Readers and files of records: what each kind reads, key by key, and what it counts."""

import gzip
import os
import struct
import tempfile
import zlib

from kit import cases, graph, names, product, raises


def _files(folder, contents):
    paths = {}
    for name, data in contents.items():
        paths[name] = os.path.join(folder, name)
        with open(paths[name], "wb") as file:
            file.write(data)
    return paths


def _records(tf, folder, name, records, options=None):
    path = os.path.join(folder, name)
    with tf.python_io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)
    return path


def _short(folder, value):
    """Keys without the folder, which differs from run to run."""
    prefix = folder.encode() + b"/"
    if isinstance(value, list):
        return [_short(folder, item) for item in value]
    if isinstance(value, bytes):
        return value.replace(prefix, b"")
    if hasattr(value, "dtype") and value.dtype == object:
        return [_short(folder, item) for item in value.tolist()]
    return value


def _everything(tf, reader, work, up_to=None):
    """All that a reader makes of a queue of work, with its counts, until the first error."""
    queue = tf.FIFOQueue(99, [tf.string], shapes=[()])
    fill, close = queue.enqueue_many([work]), queue.close()
    read = reader.read(queue) if up_to is None else reader.read_up_to(queue, up_to)
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    found = []
    with tf.Session() as session:
        session.run(fill)
        session.run(close)
        for _ in range(60):
            try:
                found.append([list(session.run(read)), session.run(counts)])
            except tf.errors.OpError as error:
                found += [type(error).__name__, session.run(counts)]
                break
    return found


_TEXTS = {
    "plain": b"one\ntwo\nthree\n",
    "no last end": b"one\ntwo",
    "empty": b"",
    "only ends": b"\n\n\n",
    "windows": b"a\r\nb\r\n\r\nc",
    "returns inside": b"a\rb\nc\r",
    "two returns": b"a\r\r\nb",
    "binary": bytes(bytearray(range(256))),
    "long": b"x" * 300000 + b"\n" + b"y" * 70000,
}


@cases(*product(sorted(_TEXTS), [None, 0, 1, 5], [None, 1, 2, 100]))
def lines(tf, np, text, skip, up_to):
    folder = tempfile.mkdtemp()
    paths = _files(folder, {"a": _TEXTS[text], "b": b"last\nfile\n"})
    reader = tf.TextLineReader(skip_header_lines=skip)
    return _short(folder, _everything(tf, reader, [paths["a"], paths["b"]], up_to))


@cases(
    *product(
        [
            (3,),
            (3, 2),
            (3, 2, 3),
            (4, 1, 0, 2),
            (2, 1, 0, 6),
            (5, 0, 1, 3),
            (15,),
            (16,),
            (1, 14),
            (1, 0, 14),
        ],
        [None, 2, 100],
    )
)
def fixed_lengths(tf, np, sizes, up_to):
    folder = tempfile.mkdtemp()
    paths = _files(folder, {"a": b"HH0123456789FFF", "b": b"the second file here"})
    reader = tf.FixedLengthRecordReader(*sizes)
    return _short(folder, _everything(tf, reader, [paths["a"], paths["b"]], up_to))


@cases("GZIP", "ZLIB")
def compressed_fixed_lengths(tf, np, kind):
    folder = tempfile.mkdtemp()
    squeeze = {"GZIP": gzip.compress, "ZLIB": zlib.compress}[kind]
    paths = _files(folder, {"a": squeeze(b"H" + b"abcd" * 20 + b"f")})
    reader = tf.FixedLengthRecordReader(4, 1, 1, 6, encoding=kind)
    return _short(folder, _everything(tf, reader, [paths["a"]], 3))


def bad_fixed_lengths(tf, np):
    folder = tempfile.mkdtemp()
    paths = _files(folder, {"a": b"HH0123456789FFF", "short": b"ab"})

    def tried(*sizes, **keywords):
        return raises(_everything, tf, tf.FixedLengthRecordReader(*sizes, **keywords), [paths["a"]])

    return [
        tried(-1),
        tried(2, -1),
        tried(2, 1, -1),
        tried(2, 1, 1, -1),
        _everything(tf, tf.FixedLengthRecordReader(2, 5), [paths["short"], paths["a"]]),
        _everything(tf, tf.FixedLengthRecordReader(2, encoding="GZIP"), [paths["a"]]),
    ]


@cases(None, 1, 3)
def whole_files(tf, np, up_to):
    folder = tempfile.mkdtemp()
    paths = _files(folder, {"a": b"HH0123456789FFF", "empty": b""})
    work = [paths["a"], paths["empty"], paths["a"], os.path.join(folder, "missing")]
    return _short(folder, _everything(tf, tf.WholeFileReader(), work, up_to))


@cases(None, 0, 1, 3)
def identities(tf, np, up_to):
    return _everything(tf, tf.IdentityReader(), ["x", "", "zzz"], up_to)


_SOME = [b"", b"a", b"bc" * 40, bytes(bytearray(range(256))), b"last"]


@cases(*product(["", "GZIP", "ZLIB"], [None, 1, 2, 100]))
def record_files(tf, np, kind, up_to):
    folder = tempfile.mkdtemp()
    options = tf.python_io.TFRecordOptions(kind) if kind else None
    paths = [_records(tf, folder, name, _SOME[:n], options) for name, n in (("a", 5), ("b", 0), ("c", 3))]
    return [
        _short(folder, _everything(tf, tf.TFRecordReader(options=options), paths, up_to)),
        [list(tf.python_io.tf_record_iterator(path, options)) for path in paths],
    ]


@cases(
    *product(
        ["GZIP", "ZLIB"],
        [
            {},
            {"compression_level": 9},
            {"compression_level": 0},
            {"mem_level": 1},
            {"flush_mode": zlib.Z_FULL_FLUSH},
            {"input_buffer_size": 16, "output_buffer_size": 16, "flush_mode": zlib.Z_SYNC_FLUSH},
            {"compression_strategy": zlib.Z_HUFFMAN_ONLY},
        ],
    )
)
def record_options(tf, np, kind, keywords):
    folder = tempfile.mkdtemp()
    options = tf.io.TFRecordOptions(kind, **keywords)
    path = _records(tf, folder, "a", _SOME * 10, options)
    return [
        list(tf.io.tf_record_iterator(path, kind)),
        tf.io.TFRecordOptions.get_compression_type_string(options),
        vars(options),
    ]


def record_file_bytes(tf, np):
    """What TensorFlow writes, byte by byte."""
    with open(_records(tf, tempfile.mkdtemp(), "a", _SOME), "rb") as file:
        return file.read()


def _damaged(tf, kind):
    folder = tempfile.mkdtemp()
    path = _records(tf, folder, "a", [b"first", b"second", b"third"])
    with open(path, "rb") as file:
        data = bytearray(file.read())
    second = 16 + 5
    if kind == "length":
        data[second] ^= 1
    elif kind == "checksum of length":
        data[second + 8] ^= 1
    elif kind == "data":
        data[second + 12] ^= 1
    elif kind == "checksum of data":
        data[second + 12 + 6] ^= 128
    elif kind == "cut in data":
        data = data[: second + 14]
    elif kind == "cut in checksum":
        data = data[: second + 12 + 6 + 2]
    elif kind == "huge length":
        data[second : second + 8] = struct.pack("<Q", 1 << 60)
    with open(path, "wb") as file:
        file.write(bytes(data))
    return folder, path


@cases(
    "length",
    "checksum of length",
    "data",
    "checksum of data",
    "cut in data",
    "cut in checksum",
    "huge length",
)
def damaged_files(tf, np, kind):
    folder, path = _damaged(tf, kind)
    found = []

    def read():
        for record in tf.python_io.tf_record_iterator(path):
            found.append(record)

    error = raises(read)
    return [error, found, _short(folder, _everything(tf, tf.TFRecordReader(), [path]))]


def bad_files(tf, np):
    folder = tempfile.mkdtemp()
    path = _records(tf, folder, "a", _SOME)
    missing = os.path.join(folder, "missing")
    writer = tf.python_io.TFRecordWriter(os.path.join(folder, "b"))
    wrong = [raises(writer.write, value) for value in ("text", 3, bytearray(b"x"))]
    writer.close()
    writer.close()
    return [
        wrong,
        raises(writer.write, b"x"),
        raises(writer.flush),
        raises(lambda: list(tf.python_io.tf_record_iterator(missing))),
        raises(lambda: list(tf.python_io.tf_record_iterator(path, "GZIP"))),
        raises(lambda: list(tf.python_io.tf_record_iterator(path, "other"))),
        raises(tf.python_io.TFRecordWriter, os.path.join(missing, "x")),
        raises(tf.python_io.TFRecordWriter, path, "other"),
        raises(tf.io.TFRecordOptions, "other"),
        _short(folder, _everything(tf, tf.TFRecordReader(), [path, missing], 3)),
        _short(folder, _everything(tf, tf.TextLineReader(), [missing, path])),
    ]


def options(tf, np):
    kinds, text = tf.io.TFRecordCompressionType, tf.io.TFRecordOptions.get_compression_type_string
    made = tf.io.TFRecordOptions
    return [
        [kinds.NONE, kinds.ZLIB, kinds.GZIP],
        made.compression_type_map,
        [text(o) for o in (None, "", "GZIP", "ZLIB", kinds.GZIP, kinds.ZLIB, kinds.NONE)],
        [text(made(o)) for o in (None, "", "GZIP", kinds.ZLIB)],
    ]


@cases("IdentityReader", "WholeFileReader")
def states(tf, np, kind):
    folder = tempfile.mkdtemp()
    paths = _files(folder, {"a": b"A", "b": b"B", "c": b"C"})
    reader = getattr(tf, kind)(name="reader")
    queue = tf.FIFOQueue(9, tf.string, shapes=[()])
    key, _ = reader.read(queue)
    state, placeholder = reader.serialize_state(), tf.placeholder(tf.string, [])
    restore, count = reader.restore_state(placeholder), reader.num_records_produced()
    with tf.Session() as session:
        session.run(queue.enqueue_many([sorted(paths.values())]))
        saved = [session.run(state)]
        for _ in range(2):
            session.run(key)
            saved.append(session.run(state).replace(folder.encode(), b""))
        earlier = b"\x08\x01\x10\x01\x18\x01"
        session.run(restore, {placeholder: earlier})
        after = [session.run(state), session.run(count)]
        session.run(reader.reset())
        after.append(session.run([state, count]))
        bad = [
            raises(session.run, restore, {placeholder: data})
            for data in (b"xxx", b"\x08\x05", b"\x08" + b"\xff" * 9 + b"\x01")
        ]
    # a string of another folder has another length in front of it
    return [[len(s) for s in saved[:1]], after, bad, reader.supports_serialize]


def stateless_kinds(tf, np):
    made = [tf.TextLineReader(), tf.FixedLengthRecordReader(3), tf.TFRecordReader()]
    with tf.Session() as session:
        return [
            [
                reader.supports_serialize,
                raises(session.run, reader.serialize_state()),
                raises(session.run, reader.restore_state(b"")),
            ]
            for reader in made
        ]


def nodes(tf, np):
    queue = tf.FIFOQueue(9, tf.string)
    made = [
        tf.TextLineReader(2),
        tf.WholeFileReader(name="whole"),
        tf.FixedLengthRecordReader(3, 1, encoding="GZIP"),
        tf.IdentityReader(),
        tf.TFRecordReader(options=tf.io.TFRecordOptions("GZIP")),
    ]
    tensors = []
    for reader in made:
        tensors += [reader.reader_ref, reader.read(queue), reader.read_up_to(queue, 3, name="some")]
        tensors += [reader.num_records_produced(), reader.num_work_units_completed(name="units")]
        tensors += [reader.serialize_state(), reader.restore_state("x").name, reader.reset().name]
    return [[list(t) if isinstance(t, tuple) else t for t in tensors], names(tf), graph(tf)]


def wrong_arguments(tf, np):
    queue = tf.FIFOQueue(9, tf.string)
    reader = tf.IdentityReader()
    pairs = tf.FIFOQueue(9, tf.string)
    with tf.Session() as session:
        session.run(pairs.enqueue([["a", "b"]]))
        several = raises(session.run, reader.read(pairs))
    return [
        raises(reader.read_up_to, queue, [1]),
        raises(reader.read_up_to, queue, "x"),
        raises(reader.restore_state, ["a"]),
        raises(reader.restore_state, 3),
        several,
    ]


def reset_in_the_middle(tf, np):
    folder = tempfile.mkdtemp()
    paths = _files(folder, {"a": b"1\n2\n3\n", "b": b"4\n5\n"})
    queue = tf.FIFOQueue(9, tf.string, shapes=[()])
    reader = tf.TextLineReader()
    read = reader.read(queue)
    with tf.Session() as session:
        session.run(queue.enqueue_many([[paths["a"], paths["b"]]]))
        before = list(session.run(read))
        session.run(reader.reset())
        after = list(session.run(read))
        return _short(folder, [before, after, session.run(reader.num_records_produced())])


def shared_by_a_pipeline(tf, np):
    folder = tempfile.mkdtemp()
    paths = [_records(tf, folder, "f%d" % i, [b"%d%d" % (i, j) for j in range(7)]) for i in range(3)]
    queue = tf.train.string_input_producer(paths, num_epochs=2, shuffle=False)
    _, values = tf.TFRecordReader().read_up_to(queue, 4)
    batch = tf.train.batch([values], 6, enqueue_many=True, allow_smaller_final_batch=True)
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while not coordinator.should_stop():
                found.append(session.run(batch).tolist())
        except tf.errors.OutOfRangeError:
            coordinator.request_stop()
        coordinator.join(threads)
    return found
