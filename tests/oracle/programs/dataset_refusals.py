"""What datasets refuse, while they are made and while elements are taken, in TensorFlow's words."""

import os
import tempfile

from kit import cases, raises


def _file(contents):
    path = os.path.join(tempfile.mkdtemp(), "data")
    with open(path, "wb") as stream:
        stream.write(contents)
    return path


def _first_error(tf, dataset, most=8):
    following = tf.data.make_initializable_iterator(dataset)
    value = following.get_next()
    with tf.Session() as session:
        failure = raises(session.run, following.initializer)
        for _ in range(most):
            if failure != "no error":
                break
            failure = raises(session.run, value)
    return failure


@cases(
    {
        "unquoted": b'1,2"3,x\n',
        "unescaped": b'1,"2"3,x\n',
        "open": b'1,2,"x\n',
        "missing": b"1,,x\n",
        "not a number": b"1,a,x\n",
        "too large": b"1,99999999999,x\n",
        "few": b"1,2\n",
        "many": b"1,2,x,4\n",
        "many, and not a number": b"1,2.5,x,4\n",
        "good": b'1,2,"x,""y"""\n',
    }
)
def rows_of_csv(tf, np, contents):
    types = [tf.int32, tf.int32, tf.string]
    return _first_error(tf, tf.data.experimental.CsvDataset(_file(contents), types))


@cases({"order": [2, 0], "negative": [-1, 1], "beyond": [0, 5]})
def columns_of_csv(tf, np, columns):
    path, defaults = _file(b"1,2,3\n"), [[0], [0]]
    return _first_error(tf, tf.data.experimental.CsvDataset(path, defaults, select_cols=columns))


@cases({"rest": (4, 0, 0), "frames": (5, 2, 1)})
def fixed_records(tf, np, size, header, footer):
    path = _file(b"0123456789")
    return _first_error(tf, tf.data.FixedLengthRecordDataset(path, size, header, footer))


@cases(
    {
        "unescaped": '1,"2"3",4\n1,"2"3",4",5,5\na,b,"c"d"\ne,f,g\n',
        "over lines": '"a\nb",c,"d""e"\n"x,y",z,"w\n"\n',
        "in plain fields": '1,2"3,4\na,b,c"d\n9,8,"7"\ne,f,g\n',
        "doubled": '"1""2",3,""\n"","",""\n,,\n',
        "open at the end": '1,2,3\n1,"2"3,x\n1,2,x\n',
    }
)
def rows_with_quotes(tf, np, text):
    dataset = tf.data.experimental.CsvDataset(_file(text.encode()), [[""]] * 3)
    following, found = tf.data.make_one_shot_iterator(dataset).get_next(), []
    with tf.Session() as session:
        for _ in range(6):
            failure = raises(lambda: found.append(session.run(following)))
            if failure != "no error":
                found.append(failure)
    return found


_TRANSFORMATIONS = {
    "batch of 0": lambda tf, x: x.batch(0),
    "map and batch of 0": lambda tf, x: x.apply(tf.data.experimental.map_and_batch(lambda y: y, 0)),
    "padding too small": lambda tf, x: x.map(lambda y: tf.ones([3])).padded_batch(2, [1]),
    "shard outside": lambda tf, x: x.shard(3, 5),
    "uneven batch": lambda tf, x: x.map(lambda y: tf.ones([y])).batch(2),
    "wide rows": lambda tf, x: x.map(lambda y: tf.ones([y + 2])).apply(
        tf.data.experimental.dense_to_sparse_batch(2, [1])
    ),
    "window of 0": lambda tf, x: x.apply(
        tf.data.experimental.group_by_window(lambda y: y % 2, lambda key, rows: rows.batch(2), window_size=0)
    ),
    "interleaved 0": lambda tf, x: x.interleave(tf.data.Dataset.range, 0),
}


@cases(_TRANSFORMATIONS)
def transformations(tf, np, transform):
    return raises(lambda: _raise(_first_error(tf, transform(tf, tf.data.Dataset.range(5)))))


def _raise(failure):
    if failure != "no error":
        raise ValueError(failure.message)


def paddings(tf, np):
    pairs, words = tf.data.Dataset.from_tensors((1, 2)), tf.data.Dataset.from_tensors("a")
    return [
        raises(pairs.padded_batch, 2, []),
        raises(pairs.padded_batch, 2, ([], [], [])),
        raises(words.padded_batch, 2, [], padding_values=1),
        raises(words.padded_batch, 2, [None, None]),
    ]


def examples(tf, np):
    message = tf.train.Example()
    message.features.feature["x"].int64_list.value.extend([1, 2])
    parse = tf.data.experimental.parse_example_dataset
    dataset = tf.data.Dataset.from_tensors([message.SerializeToString()])
    return [
        _first_error(tf, dataset.apply(parse({"x": tf.FixedLenFeature([1], tf.int64)}))),
        _first_error(tf, dataset.apply(parse({"y": tf.FixedLenFeature([1], tf.int64)}))),
        _first_error(tf, dataset.apply(parse({"x": tf.FixedLenFeature([2], tf.float32)}))),
    ]
