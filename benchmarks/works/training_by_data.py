"""A training loop fed from a TFRecord file through tf.data, beside the same loop on data in memory."""

from benchmarks.works.training_files import BATCH, fed_and_in_memory, parse

title = "conv net 32-64, 28x28, batch 64, training step fed through tf.data"
steps = 2
baseline = "data in memory"
reach = {"baseline": 1.05}


def tf1(tf):
    return fed_and_in_memory(tf, pipeline)


def pipeline(tf, path):
    records = tf.data.TFRecordDataset(path).repeat().batch(BATCH, drop_remainder=True)
    iterator = tf.data.make_initializable_iterator(records.map(lambda batch: parse(tf, batch)).prefetch(4))
    return *iterator.get_next(), lambda sess: sess.run(iterator.initializer)
