"""100,000 Examples from a TFRecord file through tf.data: batched, parsed a batch at a time, prefetched."""

from benchmarks.works import Step
from benchmarks.works.example_files import BATCH, COUNT, examples_file, features

title = "100,000 Examples from TFRecords through tf.data, batches parsed"
steps = 2
reach = {"tensorflow": 1.0}


def tf1(tf):
    return whole_pass(
        tf,
        lambda records: records.batch(BATCH).map(lambda batch: tf.parse_example(batch, features(tf))),
    )


def whole_pass(tf, parsed):
    """A step that goes through the whole file, once `parsed` has made batches of its records."""
    path = examples_file(tf)

    def prepare():
        graph = tf.Graph()
        with graph.as_default():
            dataset = parsed(tf.data.TFRecordDataset(path)).prefetch(2)
            iterator = tf.data.make_initializable_iterator(dataset)
            labels = iterator.get_next()["label"]
        sess = tf.Session(graph=graph)
        sess.run(iterator.initializer)
        return sess, labels

    def read_all(sess, labels):
        count = total = 0
        try:
            while True:
                found = sess.run(labels)
                count, total = count + len(found), total + found.sum()
        except tf.errors.OutOfRangeError:
            sess.close()
        assert count == COUNT
        return total

    return Step(read_all, prepare)
