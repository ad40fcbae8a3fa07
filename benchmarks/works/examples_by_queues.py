"""100,000 Examples read from a TFRecord file and parsed through queues: a reader, a batch queue, runners."""

from benchmarks.works import Step
from benchmarks.works.example_files import BATCH, COUNT, examples_file, features

title = "100,000 Examples from TFRecords through queues"
steps = 2
reach = {"tensorflow": 1.0}


def tf1(tf):
    path = examples_file(tf)

    def prepare():
        graph = tf.Graph()
        with graph.as_default():
            files = tf.train.string_input_producer([path], num_epochs=1)
            _, records = tf.TFRecordReader().read_up_to(files, BATCH)
            batch = tf.train.batch(
                [records], BATCH, capacity=8 * BATCH, enqueue_many=True, allow_smaller_final_batch=True
            )
            labels = tf.parse_example(batch, features(tf))["label"]
            init = tf.local_variables_initializer()
        sess = tf.Session(graph=graph)
        sess.run(init)
        return sess, labels

    def read_all(sess, labels):
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        count = total = 0
        try:
            while True:
                found = sess.run(labels)
                count, total = count + len(found), total + found.sum()
        except tf.errors.OutOfRangeError:
            coord.request_stop()
        coord.join(threads)
        sess.close()
        assert count == COUNT
        return total

    return Step(read_all, prepare)
