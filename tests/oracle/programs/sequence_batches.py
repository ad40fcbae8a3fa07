"""tf.contrib.training: sequences in pieces, with the states between them."""

from kit import cases, raises


def _saver(tf, np, batch=2, unroll=2, **options):
    key = tf.placeholder(tf.string, [])
    length = tf.placeholder(tf.int32, [])
    steps = tf.placeholder(tf.float32, [None, 3])
    saver = tf.contrib.training.SequenceQueueingStateSaver(
        batch,
        unroll,
        input_length=length,
        input_key=key,
        input_sequences={"steps": steps, "ids": tf.cast(steps[:, 0], tf.int64)},
        input_context={"who": tf.string_join(["by ", key])},
        initial_states={"sum": tf.zeros([3]), "count": tf.constant(10, tf.int64)},
        **options,
    )
    return saver, (key, length, steps)


def pieces(tf, np):
    saver, (key, length, steps) = _saver(tf, np)
    batch = saver.next_batch
    sums = batch.state("sum") + tf.reduce_sum(batch.sequences["steps"], 1)
    saves = [batch.save_state("sum", sums), batch.save_state("count", batch.state("count") + 1)]
    fetched = [
        batch.key,
        batch.next_key,
        batch.sequence,
        batch.sequence_count,
        batch.length,
        batch.total_length,
        batch.batch_size,
        batch.insertion_index,
        batch.context,
        batch.sequences,
        batch.state("sum"),
        batch.state("count"),
    ]
    found = []
    with tf.Session() as session:
        for i in range(2):
            data = np.arange(12, dtype="float32").reshape(4, 3) + 100 * i
            session.run(saver.prefetch_op, {key: "seq%d" % i, length: 3 + i, steps: data})
        for _ in range(2):
            values, _ = session.run([fetched, saves])
            # Pieces of a batch come in any order.
            order = np.argsort(values[0])
            found.append(
                [
                    {k: part[order] for k, part in value.items()}
                    if isinstance(value, dict)
                    else (value[order] if np.ndim(value) else value)
                    for i, value in enumerate(values)
                    if i != 7
                ]
            )
    return [found, [batch.sequences["steps"].shape, batch.state("sum").shape, batch.key.shape]]


def refused_lengths(tf, np):
    saver, (key, length, steps) = _saver(tf, np)

    def put(count, of):
        with tf.Session() as session:
            session.run(saver.prefetch_op, {key: "a", length: of, steps: np.zeros((count, 3), "float32")})

    return [raises(put, 3, 3), raises(put, 4, 5), raises(put, 0, 0)]


def refusals(tf, np):
    make = tf.contrib.training.SequenceQueueingStateSaver
    good = {
        "batch_size": 1,
        "num_unroll": 2,
        "input_length": tf.constant(2),
        "input_key": tf.constant("a"),
        "input_sequences": {"x": tf.zeros([2, 1])},
        "input_context": {},
        "initial_states": {"s": tf.zeros([1])},
    }
    batch = make(**good).next_batch
    bad = [
        {"initial_states": {}},
        {"initial_states": [1]},
        {"initial_states": {"a:b": tf.zeros([1])}},
        {"initial_states": {"a": tf.placeholder(tf.float32, [None])}},
        {"input_sequences": {}},
        {"input_sequences": {"x:y": tf.zeros([2, 1])}},
        {"input_sequences": {"x": tf.placeholder(tf.float32, [2, None])}},
        {"input_context": {3: tf.zeros([1])}},
        {"input_length": tf.constant(2.0)},
        {"input_key": tf.constant(2)},
        {"input_length": tf.constant([2])},
        {"capacity": 0},
    ]
    return [raises(make, **dict(good, **change)) for change in bad] + [
        raises(batch.save_state, "other", tf.zeros([1, 1]))
    ]


@cases({"padded": (5, True), "whole": (4, False)})
def batches(tf, np, count, pad):
    data = np.arange(count * 2, dtype="float32").reshape(count, 2)
    sparse = tf.SparseTensor([[0, 1], [2, 0], [3, 3]], [1, 2, 3], [4, 4])
    batch = tf.contrib.training.batch_sequences_with_states(
        input_key=tf.constant("only"),
        input_sequences={"dense": tf.constant(data), "sparse": sparse},
        input_context={"label": tf.constant(7), "tags": tf.SparseTensor([[0], [2]], ["a", "b"], [3])},
        input_length=None if pad else tf.constant(3),
        initial_states={"s": tf.constant([0.5])},
        num_unroll=2,
        batch_size=1,
        num_threads=1,
        capacity=1,
        pad=pad,
        make_keys_unique=True,
    )
    save = batch.save_state("s", batch.state("s") * 2)
    found = []
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for _ in range(3 if pad else 2):
            values, _ = session.run(
                [
                    [
                        batch.length,
                        batch.total_length,
                        batch.sequences["dense"],
                        batch.sequences["sparse"],
                        batch.context["label"],
                        batch.context["tags"],
                        batch.state("s"),
                    ],
                    save,
                ]
            )
            found.append(values)
        coordinator.request_stop()
        coordinator.join(threads)
    return found
