"""Trains a network on pictures of digits in TFRecord files, through tf.data.

The pipeline reads the files in turn, shuffles, decodes and batches them, and works ahead in a thread while
the network trains. `digits_from_queues.py` does the same with queues.
"""

from digit_files import BATCH, FILES, build_network, digit_files, parse, parse_options, tell_accuracy, train

import tideflow as tf


def pipeline(paths, training, seed):
    """Batches of pictures and answers."""
    files = tf.data.Dataset.from_tensor_slices(paths)
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=FILES, block_length=4)
    if training:
        records = records.shuffle(2000, seed=seed).repeat()
    return records.map(parse, num_parallel_calls=2).batch(BATCH).prefetch(2)


def main():
    options = parse_options(__doc__)
    tf.set_random_seed(options.seed)
    with digit_files(options.seed) as (training, test):
        iterator = tf.data.Iterator.from_structure(
            (tf.float32, tf.int32), (tf.TensorShape([None, 8, 8, 1]), tf.TensorShape([None]))
        )
        to_training = iterator.make_initializer(pipeline(training, True, options.seed))
        to_test = iterator.make_initializer(pipeline(test, False, options.seed))
        loss, right = build_network(*iterator.get_next())
        train_step = tf.train.AdamOptimizer(1e-3).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(to_training)
            train(sess, train_step, loss, options.steps)
            sess.run(to_test)
            tell_accuracy(sess, right)


if __name__ == "__main__":
    main()
