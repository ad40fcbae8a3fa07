"""A training loop fed from a TFRecord file through queues, beside the same loop on data in memory."""

from benchmarks.works.training_files import BATCH, fed_and_in_memory, parse

title = "conv net 32-64, 28x28, batch 64, training step fed through queues"
steps = 2
baseline = "data in memory"
reach = {"baseline": 1.05}


def tf1(tf):
    return fed_and_in_memory(tf, pipeline)


def pipeline(tf, path):
    files = tf.train.string_input_producer([path], shuffle=False)
    _, records = tf.TFRecordReader().read_up_to(files, BATCH)
    batch = tf.train.batch(
        parse(tf, records), BATCH, capacity=4 * BATCH, enqueue_many=True, shapes=[[784], []]
    )
    return *batch, tf.train.start_queue_runners
