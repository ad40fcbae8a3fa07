"""100,000 Examples read from a TFRecord file through tf.data: parsed one by one, then batched, prefetched."""

from benchmarks.works.example_files import BATCH, features
from benchmarks.works.examples_by_data import whole_pass

title = "100,000 Examples from TFRecords through tf.data, parsed by map, then batched"
steps = 2
reach = {"tensorflow": 1.0}


def tf1(tf):
    def parse(record):
        return tf.parse_single_example(record, features(tf))

    return whole_pass(tf, lambda records: records.map(parse, num_parallel_calls=2).batch(BATCH))
