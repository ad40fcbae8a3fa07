"""A TFRecord file of tf.train.Examples, for the works that read one."""

import functools
import os
import tempfile

import numpy as np

COUNT = 100_000
BATCH = 1000
VALUES = 16


@functools.cache
def examples_file(tf):
    """The file's path; it goes when the process ends."""
    return write(tf, examples(tf))


def examples(tf):
    rng = np.random.RandomState(0)
    for i, values in enumerate(rng.rand(COUNT, VALUES).astype(np.float32)):
        feature = {
            "values": tf.train.Feature(float_list=tf.train.FloatList(value=values)),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 1000])),
            "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"example %d" % i])),
        }
        yield tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def write(tf, records):
    """The records in a new file, which goes when the process ends."""
    path = os.path.join(scratch().name, f"{len(os.listdir(scratch().name))}.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    return path


@functools.cache
def scratch():
    return tempfile.TemporaryDirectory()


def features(tf):
    return {
        "values": tf.FixedLenFeature([VALUES], tf.float32),
        "label": tf.FixedLenFeature([], tf.int64),
        "name": tf.FixedLenFeature([], tf.string),
    }
