"""Input by queues as tutorials wrote it: files, readers, batches, threads; how it ends, and how it fails."""

import os
import threading

from input_files import folder, text_file
from kit import cases, graph, names, raises


def _loop(tf, fetches, most=60):
    """The loop of the tutorials: what it fetched, how it ended, and which threads are left."""
    found, end = [], "not yet"
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=session, coord=coord)
        try:
            while len(found) < most and not coord.should_stop():
                found.append(session.run(fetches))
        except tf.errors.OutOfRangeError as error:
            end = error.op.name
        finally:
            coord.request_stop()
        coord.join(threads)
    return [found, end, [thread.is_alive() for thread in threads]]


def _tables():
    return [text_file(*("%d,%d,%s" % (i, i * i, "ab"[i % 2]) for i in range(k, k + 5))) for k in (0, 10)]


def _numbers(tf, count, epochs=1):
    return tf.train.range_input_producer(count, num_epochs=epochs, shuffle=False).dequeue()


def _runners_left():
    return [thread.name for thread in threading.enumerate() if "QueueRunner" in thread.name]


# ------------------------------------------------------------------------------------------------- tutorials


def csv_files(tf, np):
    names_of_files = tf.train.string_input_producer(_tables(), num_epochs=2, shuffle=False)
    _, line = tf.TextLineReader().read(names_of_files)
    number, square, letter = tf.decode_csv(line, record_defaults=[[0], [0.0], ["x"]])
    features = tf.stack([tf.to_float(number), square])
    batch = tf.train.batch([features, letter], 4, allow_smaller_final_batch=True)
    return [_loop(tf, batch), batch]


def csv_files_shuffled(tf, np):
    tf.set_random_seed(3)
    names_of_files = tf.train.string_input_producer(_tables(), num_epochs=2, shuffle=True, seed=5)
    _, line = tf.TextLineReader(skip_header_lines=1).read(names_of_files)
    fields = tf.decode_csv(line, record_defaults=[[0], [0.0], ["x"]])
    batch = tf.train.shuffle_batch(
        fields, 3, capacity=40, min_after_dequeue=10, seed=8, allow_smaller_final_batch=True
    )
    found, end, left = _loop(tf, batch)
    return [sorted(int(n) for rows in found for n in rows[0]), end, left, batch, names(tf)]


def cifar10(tf, np):
    """Images of fixed size, as the tutorial reads them."""
    base = folder()
    random = np.random.RandomState(0)
    paths = [os.path.join(base, "data_batch_%d.bin" % i) for i in (1, 2)]
    for path in paths:
        with open(path, "wb") as file:
            file.write(random.randint(0, 255, (10, 1 + 8 * 8 * 3)).astype(np.uint8).tobytes())
    files = tf.train.string_input_producer(paths, shuffle=False)
    _, value = tf.FixedLengthRecordReader(record_bytes=1 + 192).read(files)
    record = tf.decode_raw(value, tf.uint8)
    label = tf.cast(tf.strided_slice(record, [0], [1]), tf.int32)
    image = tf.transpose(tf.reshape(tf.strided_slice(record, [1], [193]), [3, 8, 8]), [1, 2, 0])
    image = tf.image.resize_image_with_crop_or_pad(tf.cast(image, tf.float32), 6, 6)
    image = tf.image.per_image_standardization(image)
    image.set_shape([6, 6, 3])
    label.set_shape([1])
    images, labels = tf.train.batch([image, label], batch_size=6, num_threads=1, capacity=18)
    tf.summary.image("images", images)
    return [_loop(tf, [images, tf.reshape(labels, [6])], 7), images, labels, names(tf)]


def several_readers(tf, np):
    paths = [text_file(*map(str, range(k, k + 5))) for k in (0, 10, 20)]
    files = tf.train.string_input_producer(paths, num_epochs=1, shuffle=True)
    examples = [[tf.string_to_number(tf.TextLineReader().read(files)[1])] for _ in range(3)]
    batch = tf.train.shuffle_batch_join(examples, 4, 50, 5, allow_smaller_final_batch=True)
    found, end, left = _loop(tf, batch)
    return [sorted(float(n) for rows in found for n in rows), end, left, batch]


def padded(tf, np):
    length = _numbers(tf, 7)
    parts = [length, tf.range(length), tf.fill([length, 2], "s")]
    batch = tf.train.batch(parts, 3, dynamic_pad=True, allow_smaller_final_batch=True)
    return [_loop(tf, batch), batch]


def by_name(tf, np):
    number = _numbers(tf, 5)
    batch = tf.train.batch({"x": number, "y": tf.to_float(number) * 2}, 2)
    return [_loop(tf, batch), sorted(batch.items()), names(tf)]


def slices(tf, np):
    tables = [np.arange(5), np.arange(10.0).reshape(5, 2)]
    rows = tf.train.slice_input_producer(tables, num_epochs=2, shuffle=False)
    batch = tf.train.batch(rows, 3, allow_smaller_final_batch=True)
    return [_loop(tf, batch), batch, names(tf)]


def several_enqueue_operations(tf, np):
    queue = tf.FIFOQueue(100, tf.int32, shapes=[])
    number = _numbers(tf, 9)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(number + k) for k in (0, 100, 1000)])
    tf.train.add_queue_runner(runner)
    found, end, left = _loop(tf, queue.dequeue())
    return [
        sorted(int(n) % 100 for n in found),
        end,
        left,
        runner.name,
        runner.enqueue_ops,
        runner.close_op,
        runner.cancel_op,
        [kind.__name__ for kind in runner.queue_closed_exception_types],
    ]


def epochs(tf, np):
    value = tf.train.limit_epochs(tf.constant([1, 2]), 2)
    with tf.Session() as session:
        before = raises(session.run, value)
        session.run(tf.local_variables_initializer())
        found = [session.run(value), session.run(value), raises(session.run, value)]
    return [before, found, value, names(tf), tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES)]


# ------------------------------------------------------------------------------------------------ what fails


def local_variables_forgotten(tf, np):
    name = tf.train.string_input_producer(["a", "b"], num_epochs=1, shuffle=False).dequeue()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        errors = [raises(session.run, name), raises(coord.join, threads)]
    return [errors, [thread.is_alive() for thread in threads]]


def an_element_that_fails(tf, np):
    number = _numbers(tf, 5)
    with tf.control_dependencies([tf.Assert(number < 3, ["too large", number])]):
        checked = tf.identity(number)
    batch = tf.train.batch([checked], 1)
    found = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)

        def forever():
            while True:
                found.append(session.run(batch))

        first = raises(forever)
        coord.request_stop()
        then = raises(coord.join, threads)
    return [found, first, then, then.message.splitlines()[0], [thread.is_alive() for thread in threads]]


def threads_of_a_runner(tf, np):
    queue = tf.FIFOQueue(10, "float")
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)])
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        first = runner.create_threads(session, coord=coord)
        again = runner.create_threads(session, coord=coord)
        for thread in first:
            thread.start()
        coord.request_stop()
        coord.join(first)
    described = [(thread.name, thread.daemon) for thread in first]
    return [described, again, runner.exceptions_raised]


def bad_runners(tf, np):
    queue = tf.FIFOQueue(10, "float")
    put = queue.enqueue(1.0)
    with tf.Session():
        none = tf.train.start_queue_runners()
    return [
        none,
        raises(tf.train.start_queue_runners),
        raises(tf.train.start_queue_runners, sess="a session"),
        raises(tf.train.QueueRunner),
        raises(tf.train.QueueRunner, queue),
        raises(tf.train.QueueRunner, queue, []),
        raises(tf.train.QueueRunner, queue, [put], queue_closed_exception_types=3),
    ]


def an_error_in_a_thread(tf, np):
    coord = tf.train.Coordinator()

    def work():
        with coord.stop_on_exception():
            raise ValueError("boom")

    thread = threading.Thread(target=work)
    thread.start()
    coord.wait_for_stop(10)
    error = raises(coord.join, [thread])
    return [error, error.message, coord.joined, coord.should_stop(), raises(coord.raise_requested_exception)]


@cases(False, True)
def a_thread_that_does_not_end(tf, np, ignored):
    coord = tf.train.Coordinator()
    done = threading.Event()
    thread = threading.Thread(target=done.wait, name="slow")
    thread.start()
    coord.register_thread(thread)
    coord.request_stop()
    error = raises(coord.join, stop_grace_period_secs=1, ignore_live_threads=ignored)
    done.set()
    thread.join()
    return error


# ---------------------------------------------------------------------------------------------- monitored


def monitored(tf, np):
    batch = tf.train.batch([_numbers(tf, 7)], 2, allow_smaller_final_batch=True)
    found = []
    with tf.train.MonitoredSession() as session:
        again = tf.train.start_queue_runners(sess=session)
        while not session.should_stop():
            found.append(session.run(batch))
    return [found, again, _runners_left()]


def monitored_until_a_step(tf, np):
    step = tf.train.get_or_create_global_step()
    batch = tf.train.batch([_numbers(tf, 100, None)], 2)
    with tf.control_dependencies([batch]):
        count = tf.assign_add(step, 1)
    found = []
    with tf.train.SingularMonitoredSession(hooks=[tf.train.StopAtStepHook(5)]) as session:
        while not session.should_stop():
            found.append(session.run([batch, count]))
    return [found, _runners_left()]


@cases("pipeline", "program")
def monitored_and_failing(tf, np, where):
    bad = 3 if where == "pipeline" else -1
    value = tf.check_numerics(1.0 / tf.to_float(bad - _numbers(tf, 7)), "zero")
    batch = tf.train.batch([value], 1)

    def run():
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                session.run(batch)
                if where == "program":
                    raise KeyError("mine")

    return [raises(run), _runners_left()]


# ------------------------------------------------------------------------------------------ contrib.training


@cases(False, True)
def buckets_of_lengths(tf, np, smaller):
    number = _numbers(tf, 23)
    lengths, batch = tf.contrib.training.bucket_by_sequence_length(
        number % 7,
        [tf.range(number % 7), tf.as_string(number)],
        3,
        [2, 5],
        dynamic_pad=True,
        capacity=100,
        allow_smaller_final_batch=smaller,
    )
    found, end, left = _loop(tf, [lengths] + batch)
    rows = [[sorted(zip(n.tolist(), text.tolist())), table.shape] for n, table, text in found]
    return [sorted(rows, key=str), end, left, lengths, batch]


def graph_of_buckets(tf, np):
    number = _numbers(tf, 23)
    which, batch = tf.contrib.training.bucket(
        {"s": tf.range(number % 7), "x": number},
        number % 3,
        [2, 3, 4],
        3,
        dynamic_pad=True,
        capacity=50,
        bucket_capacities=[10, 20, 30],
        num_threads=2,
        keep_input=number > 3,
        shared_name="shared",
    )
    return [which, sorted(batch.items()), graph(tf)]


def graph_of_buckets_of_lengths(tf, np):
    number = _numbers(tf, 23)
    shapes = [tf.TensorShape([])]
    lengths, batch = tf.contrib.training.bucket_by_sequence_length(
        number, [tf.to_float(number)], 2, [4, 8], shapes=shapes
    )
    return [lengths, batch, graph(tf)]


def bad_buckets(tf, np):
    bucket, by_length = tf.contrib.training.bucket, tf.contrib.training.bucket_by_sequence_length
    return [
        raises(bucket, [1], 0, [1], 2),
        raises(bucket, [1], 0, 1, 2, bucket_capacities=[1]),
        raises(bucket, [], 0, 1, 2),
        raises(by_length, 3, [1], 2, 5),
        raises(by_length, 3, [1], 2, []),
        raises(by_length, 3, [1], 2, [3, 3]),
        raises(by_length, 3, [1], 2, [3, 4.5]),
    ]


def stratified(tf, np):
    label = _numbers(tf, 3, None)
    data, labels = tf.contrib.training.stratified_sample(
        [label * 10], label, [1.0, 0.0, 0.0], 4, init_probs=[1 / 3.0] * 3
    )
    return _loop(tf, [data, labels], 5)


@cases({"estimated": None, "given": ([0.2, 0.4, 0.4],)})
def graph_of_stratified(tf, np, initial):
    many = initial is not None
    data = tf.placeholder(tf.float32, [6, 2] if many else [2])
    label = tf.placeholder(tf.int32, [6] if many else [])
    found = tf.contrib.training.stratified_sample(
        [data], label, [0.5, 0.25, 0.25], 4, init_probs=initial, enqueue_many=many
    )
    return [found, graph(tf)]


def rejected(tf, np):
    number = _numbers(tf, 3, None)
    batch = tf.contrib.training.rejection_sample(
        [number], lambda parts: tf.to_float(tf.equal(parts[0], 1)), 4, runtime_checks=True
    )
    return [_loop(tf, batch, 3), graph(tf)]


def resampled(tf, np):
    rows = [tf.constant([1, 2, 3, 4]), tf.constant(["a", "b", "c", "d"])]
    found = tf.contrib.training.resample_at_rate(rows, [0.5, 2.0, 0.0, 1.0], seed=7)
    with tf.Session() as session:
        return [session.run(found), session.run(found), found, graph(tf)]


def resampled_by_weight(tf, np):
    weights = tf.constant([0.5, 2.0, 0.0, 1.0])
    found = tf.contrib.training.weighted_resample([tf.constant([1, 2, 3, 4])], weights, 1.5, seed=7)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return [session.run(found), session.run(found), graph(tf)]


def fed_by_functions(tf, np):
    queue = tf.FIFOQueue(100, tf.int32, shapes=[])
    value = tf.placeholder(tf.int32, [])
    numbers = iter(range(5))

    def feeds():
        for number in numbers:
            return {value: number}
        raise tf.errors.OutOfRangeError(None, None, "done")

    put = queue.enqueue(value)
    kind = tf.contrib.training.FeedingQueueRunner
    runner = kind(queue, [put], feed_fns=[feeds])
    tf.train.add_queue_runner(runner)
    return [_loop(tf, queue.dequeue()), raises(runner.to_proto), raises(kind, queue, [put], feed_fns=[])]
