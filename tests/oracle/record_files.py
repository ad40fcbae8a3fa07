"""Writes the records of a pickle into files of every kind, and reads such files, in one engine.

record_files.py <engine> write <records.pickle> <folder>
record_files.py <engine> read <folder> <found.pickle>
"""

import importlib
import os
import pickle
import sys

KINDS = ["", "GZIP", "ZLIB"]


def write(tf, pickled, folder):
    with open(pickled, "rb") as file:
        batches = pickle.load(file)
    for number, records in enumerate(batches):
        for kind in KINDS:
            with tf.io.TFRecordWriter(os.path.join(folder, "%d.%s" % (number, kind)), kind) as writer:
                for record in records:
                    writer.write(record)


def read(tf, folder, pickled):
    found = {}
    for name in os.listdir(folder):
        kind = name.partition(".")[2]
        found[name] = list(tf.io.tf_record_iterator(os.path.join(folder, name), kind))
    with open(pickled, "wb") as file:
        pickle.dump(found, file, 2)


def main(engine, action, *paths):
    path = "tensorflow.compat.v1" if engine == "compat.v1" else engine
    {"write": write, "read": read}[action](importlib.import_module(path), *paths)


if __name__ == "__main__":
    main(*sys.argv[1:])
