"""Trains a network on pictures of digits in TFRecord files, through queues.

A queue hands the names of the files to several readers, each in a thread of its own. They parse and decode
pictures and put them into a shuffle queue, from which the training steps take batches. A QueueRunner runs the
threads, a Coordinator stops them. `digits_from_records.py` does the same with tf.data.
"""

from digit_files import BATCH, build_network, console, digit_files, parse, parse_options, tell_accuracy, train

import tideflow as tf

READERS = 3


def shuffled_batches(paths, seed):
    """Batches without end, in random order, from several readers."""
    files = tf.train.string_input_producer(paths, seed=seed)
    examples = [parse(tf.TFRecordReader().read(files)[1]) for _ in range(READERS)]
    return tf.train.shuffle_batch_join(
        examples, BATCH, capacity=1000 + 4 * BATCH, min_after_dequeue=1000, seed=seed
    )


def all_in_order(paths):
    """Every picture once, and then OutOfRangeError."""
    files = tf.train.string_input_producer(paths, num_epochs=1, shuffle=False)
    example = parse(tf.TFRecordReader().read(files)[1])
    return tf.train.batch(example, BATCH, allow_smaller_final_batch=True)


def main():
    options = parse_options(__doc__)
    tf.set_random_seed(options.seed)
    with digit_files(options.seed) as (training, test):
        with tf.variable_scope("network"):
            loss, _ = build_network(*shuffled_batches(training, options.seed))
        with tf.variable_scope("network", reuse=True):
            _, right = build_network(*all_in_order(test))
        train_step = tf.train.AdamOptimizer(1e-3).minimize(loss)
        with tf.Session() as sess, tf.train.Coordinator() as coord:
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            tf.train.start_queue_runners(sess, coord)
            train(sess, train_step, loss, options.steps)
            console.print(tf.train.queue_report(sess), highlight=False, soft_wrap=True)
            tell_accuracy(sess, right)


if __name__ == "__main__":
    main()
