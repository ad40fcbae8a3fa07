"""TensorFlow's parser of Examples, measured by the Python of its environment: prints its rates as JSON."""

import json
import sys
import time

import numpy as np


def rate(parse, batches, seconds: float) -> tuple[float, float]:
    """Examples for each second of processor time, by the median of parsing these batches again and again, and
    the sum of all numbers that were parsed in one round. Processor time does not count what else runs.
    """
    total = sum(
        float(np.sum(values, dtype=np.float64))
        for batch in batches
        for values in map(np.asarray, parse(batch).values())
        if values.dtype != object
    )
    rounds, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(rounds) < 3:
        begin = time.process_time()
        for batch in batches:
            parse(batch)
        rounds.append(time.process_time() - begin)
    return sum(map(len, batches)) / float(np.median(rounds)), total


def main(file: str, features, seconds: float, batches, count: int) -> None:
    import tensorflow as tf  # only here: the rest is our own benchmark's too

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    examples = [record.numpy() for record in tf.data.TFRecordDataset(file)]
    spec = {name: tf.io.FixedLenFeature([size], tf.as_dtype(dtype)) for name, dtype, size in features}
    parse = tf.function(
        lambda serialized: tf.io.parse_example(serialized, spec),
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    found = {}
    for size in batches:
        fed = [tf.constant(examples[at : at + size]) for at in range(0, count, size)]
        found[size] = rate(parse, fed, seconds)
    print(json.dumps(found))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
