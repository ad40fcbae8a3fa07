"""Queues, and the input pipelines of tf.train that are made of them: graphs node by node, values, errors."""

import os
import tempfile
import threading

from kit import cases, graph, product, raises


def _queue(tf, kind, capacity=10, types=None, shapes=None, **more):
    types = [tf.float32, tf.string] if types is None else types
    shapes = [[2], []] if shapes is None else shapes
    if kind == "RandomShuffleQueue":
        return tf.RandomShuffleQueue(capacity, 0, types, shapes, seed=7, **more)
    if kind == "PriorityQueue":
        return tf.PriorityQueue(capacity, types, shapes, **more)
    return getattr(tf, kind)(capacity, types, shapes, **more)


KINDS = ["FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue"]


def _many(np, kind, count, first=0):
    """Components for enqueue_many."""
    numbers = np.arange(first, first + count)
    rows = [
        np.stack([numbers, -numbers], 1).astype(np.float32),
        np.array([b"%d" % n for n in numbers], object),
    ]
    return [(numbers * 7 % 11).astype(np.int64)] + rows if kind == "PriorityQueue" else rows


# --------------------------------------------------------------------------------------------------- queues


@cases(*KINDS)
def in_and_out(tf, np, kind):
    """Elements one by one and in batches, in a mixture of both, and the graph."""
    queue = _queue(tf, kind)
    many = queue.enqueue_many([tf.constant(v) for v in _many(np, kind, 5)])
    one = queue.enqueue([tf.constant(v[0]) for v in _many(np, kind, 1, 9)])
    single, three, up_to = queue.dequeue(), queue.dequeue_many(3), queue.dequeue_up_to(4)
    size, closed = queue.size(), queue.is_closed()
    with tf.Session() as session:
        session.run(many)
        session.run(one)
        found = [session.run([size, closed]), session.run(single), session.run(three)]
        session.run(many)
        found += [session.run(single), session.run(size)]
        session.run(queue.close())
        found += [session.run(up_to)]
        if kind != "PriorityQueue":  # which loses what is left over, in TensorFlow
            found += [session.run(up_to), session.run([size, closed])]
        error = raises(session.run, up_to) if kind != "PriorityQueue" else None
    return [
        found,
        error,
        queue.name,
        queue.dtypes,
        queue.shapes,
        queue.names,
        single,
        three,
        up_to,
        graph(tf),
    ]


@cases(*product(KINDS[:3], [1, 3, 4]))  # a small PriorityQueue waits forever in TensorFlow
def filled_while_it_is_emptied(tf, np, kind, count):
    """More than fits in goes through, in order."""
    queue = _queue(tf, kind, capacity=count)
    put = queue.enqueue_many([tf.constant(v) for v in _many(np, "PriorityQueue", 12)][-len(queue.dtypes) :])
    take = queue.dequeue_many(3)
    with tf.Session() as session:
        thread = threading.Thread(target=session.run, args=(put,))
        thread.start()
        found = [session.run(take) for _ in range(4)]
        thread.join()
    texts = np.concatenate([f[-1] for f in found]).tolist()
    return texts if kind == "FIFOQueue" or kind == "PaddingFIFOQueue" else sorted(texts)


@cases(*product([0, 3, 8], [1, 5]))
def shuffled(tf, np, least, batch):
    """The order is the seed's."""
    queue = tf.RandomShuffleQueue(40, least, [tf.int32], [[]], seed=11)
    put, out, take = queue.enqueue_many([tf.range(16)]), queue.dequeue(), queue.dequeue_many(batch)
    with tf.Session() as session:
        session.run(put)
        found = [session.run(out), session.run(take).tolist(), session.run(out)]
        session.run(put)
        session.run(queue.close())
        return found + [session.run(take).tolist() for _ in range(2)]


@cases({"numbers": "int32", "strings": "string"})
def padded(tf, np, dtype):
    queue = tf.PaddingFIFOQueue(10, [getattr(tf, dtype)], [[None, None]])
    make = (
        (lambda v: np.array(v, np.int32))
        if dtype == "int32"
        else (lambda v: np.array(v, dtype=str).astype(object))
    )
    rows = [make([[1, 2], [3, 4]]), make([[5]]), make([[6, 7, 8]])]
    value = tf.placeholder(dtype, [None, None])
    put, many, take = (
        queue.enqueue(value),
        queue.enqueue_many([tf.constant(np.stack([make([[9, 1]])] * 2))]),
        queue.dequeue_many(5),
    )
    with tf.Session() as session:
        for row in rows:
            session.run(put, {value: row})
        session.run(many)
        return [session.run(take), take]


def named_components(tf, np):
    queue = tf.FIFOQueue(5, [tf.float32, tf.int32], [[], []], names=["x", "n"])
    put = queue.enqueue({"x": 1.5, "n": 2})
    many = queue.enqueue_many({"n": [3, 4], "x": [2.5, 3.5]})
    one, all_ = queue.dequeue(), queue.dequeue_many(2)
    with tf.Session() as session:
        session.run(put)
        session.run(many)
        found = [session.run(one), session.run(all_)]
    errors = [
        raises(queue.enqueue, [1.0, 2]),
        raises(queue.enqueue, {"x": 1.0}),
        raises(queue.enqueue, {"x": 1.0, "m": 2}),
        raises(queue.enqueue_many, [[1.0], [2]]),
        raises(tf.FIFOQueue, 5, [tf.float32], names=["a", "b"]),
        raises(tf.FIFOQueue(5, [tf.float32]).enqueue, {"x": 1.0}),
    ]
    return [found, errors, queue.names]


def one_of_a_list(tf, np):
    queues = [tf.FIFOQueue(5, [tf.int32], [[]], name="q%d" % i) for i in range(2)]
    which = tf.placeholder(tf.int32, [])
    chosen = tf.QueueBase.from_list(which, queues)
    puts = [queue.enqueue(i + 10) for i, queue in enumerate(queues)]
    out = chosen.dequeue()
    with tf.Session() as session:
        session.run(puts)
        found = [session.run(out, {which: i}) for i in (1, 0)]
    return [
        found,
        chosen.dtypes,
        chosen.shapes,
        raises(tf.QueueBase.from_list, which, []),
        raises(tf.QueueBase.from_list, which, [queues[0], "no queue"]),
        raises(tf.QueueBase.from_list, which, [queues[0], tf.FIFOQueue(5, [tf.string])]),
        graph(tf),
    ]


def shared_by_name(tf, np):
    first = tf.FIFOQueue(5, [tf.int32], [[]], shared_name="both")
    second = tf.FIFOQueue(5, [tf.int32], [[]], shared_name="both")
    put, out = first.enqueue(3), second.dequeue()
    others = [
        tf.FIFOQueue(6, [tf.int32], [[]], shared_name="both"),
        tf.FIFOQueue(5, [tf.float32], [[]], shared_name="both"),
        tf.FIFOQueue(5, [tf.int32], [[2]], shared_name="both"),
        tf.PaddingFIFOQueue(5, [tf.int32], [[]], shared_name="both"),
    ]
    with tf.Session() as session:
        session.run(put)
        found = session.run(out)
        return [found, [raises(session.run, other.size()) for other in others]]


@cases(*product(KINDS[:3], [False, True]))  # a PriorityQueue loses what a failed dequeue_many took
def closed(tf, np, kind, cancel):
    queue = _queue(tf, kind)
    values = [tf.constant(v) for v in _many(np, kind, 2)]
    put, one = queue.enqueue_many(values), queue.enqueue([v[0] for v in values])
    take, single, nothing = queue.dequeue_many(3), queue.dequeue(), queue.dequeue_many(0)
    with tf.Session() as session:
        session.run(put)
        session.run(queue.close(cancel_pending_enqueues=cancel))
        return [
            raises(session.run, put),
            raises(session.run, one),
            raises(session.run, take),
            session.run(queue.size()),
            session.run(nothing),
            session.run(single)[-1],
            raises(session.run, queue.dequeue_many(2)),
            session.run(queue.dequeue_up_to(2))[-1],
            raises(session.run, single),
            raises(queue.dequeue_many, -1),
            raises(session.run, queue.close()),
            session.run(queue.close(cancel_pending_enqueues=True)),
        ]


@cases(*product(KINDS, ["enqueue", "enqueue_many"]))
def bad_elements(tf, np, kind, what):
    queue = _queue(tf, kind, types=[tf.float32], shapes=[[2]])
    put = getattr(queue, what)
    first = [[1, 2] if what == "enqueue_many" else 1] if kind == "PriorityQueue" else []
    loose = tf.placeholder(tf.float32)
    checked = put([*first, loose])
    with tf.Session() as session:
        late = [
            raises(session.run, checked, {loose: value})
            for value in (np.zeros(3), np.zeros([2, 3]), np.zeros([1, 2, 2]), 0.0)
        ]
    return [
        raises(put, [*first, np.zeros([2, 2], np.int32)]),
        raises(put, [*first, "text"]),
        raises(put, [*first, np.zeros([2, 3], np.float32)]),
        late,
    ]


def bad_queues(tf, np):
    unshaped = tf.FIFOQueue(3, [tf.float32])
    return [
        raises(tf.FIFOQueue, 3, [tf.float32], [[1], [2]]),
        raises(tf.PaddingFIFOQueue, 3, [tf.float32], None),
        raises(tf.PaddingFIFOQueue, 3, [tf.float32, tf.int32], [[None]]),
        raises(tf.FIFOQueue, 3, [tf.float32], [[None]]),
        raises(lambda: tf.Session().run(tf.RandomShuffleQueue(3, 3, [tf.float32]).size())),
        raises(lambda: tf.Session().run(unshaped.dequeue_many(2))),
        raises(unshaped.enqueue_many, [1.0]),
        unshaped.dequeue(),
    ]


# ---------------------------------------------------------------------------------------------- input queues


def _all(tf, fetches, threads=True):
    """What comes until the end, with the queue runners of the graph."""
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        try:
            while len(found) < 100:
                found.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return found


def _runners(tf):
    """The queue runners of the graph, as messages."""
    return [runner.to_proto().SerializeToString() for runner in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]


def _summary_names(tf):
    return [tensor.name for tensor in tf.get_collection(tf.GraphKeys.SUMMARIES)]


def _made(tf, *outputs):
    return [list(outputs), graph(tf), _runners(tf), _summary_names(tf)]


@cases(*product([None, 2], [False, True]))
def producers(tf, np, epochs, shuffle):
    """Every producer: its graph, and what it gives where that ends."""
    numbers = tf.train.range_input_producer(4, epochs, shuffle, seed=3, capacity=5)
    names_ = tf.train.string_input_producer(["a", "b", "c"], epochs, shuffle, seed=4)
    pieces = tf.train.slice_input_producer([[1, 2, 3], ["x", "y", "z"]], epochs, shuffle, seed=5)
    rows = tf.train.input_producer(np.arange(6).reshape(3, 2), None, epochs, shuffle, seed=6, cancel_op=None)
    outputs = [numbers.dequeue(), names_.dequeue(), pieces, rows.dequeue()]
    found = None if epochs is None else [_all(tf, output) for output in outputs]
    return _made(tf, *outputs) + [found, [q.name for q in (numbers, names_, rows)]]


def limited(tf, np):
    value = tf.train.limit_epochs(tf.constant([1, 2]), 2)
    with tf.Session() as session:
        early = raises(session.run, value)
        session.run(tf.local_variables_initializer())
        found = [session.run(value).tolist() for _ in range(2)]
        late = raises(session.run, value)
    return _made(tf, value) + [early, found, late, raises(tf.train.limit_epochs, 1.0, 0)]


def bad_producers(tf, np):
    return [
        raises(tf.train.string_input_producer, []),
        raises(
            lambda: _all(
                tf, tf.train.string_input_producer(tf.constant([], tf.string), num_epochs=1).dequeue()
            )
        ),
        raises(tf.train.input_producer, tf.placeholder(tf.int32)),
        raises(tf.train.input_producer, 3),
        raises(tf.train.slice_input_producer, []),
        raises(tf.train.slice_input_producer, [[1, 2], [1, 2, 3]]),
        raises(tf.train.string_input_producer, ["a"], num_epochs=0),
        raises(tf.train.string_input_producer, ["a"], num_epochs=-1),
    ]


def _source(tf, epochs=1, count=5):
    number = tf.train.range_input_producer(count, epochs, shuffle=False).dequeue()
    return {"n": number, "square": number * number, "pair": tf.stack([number, -number])}


@cases(*product([False, True], [1, 3], [False, True], ["dict", "list", "single"]))
def batched(tf, np, smaller, threads, many, kind):
    source = _source(tf)
    tensors = {"dict": source, "list": [source["n"], source["pair"]], "single": [source["pair"]]}[kind]
    if many:
        tensors = (
            {k: tf.stack([v, v]) for k, v in source.items()}
            if kind == "dict"
            else tf.stack([source["pair"]] * 2)
        )
        tensors = tensors if kind == "dict" else [tensors]
    batch = tf.train.batch(
        tensors, 2, threads, capacity=7, enqueue_many=many, allow_smaller_final_batch=smaller, name="b"
    )
    found = _all(tf, batch) if threads == 1 else None
    flat = [batch[k] for k in sorted(batch)] if isinstance(batch, dict) else batch
    return _made(tf, flat) + [found]


@cases(*product([False, True], [False, True]))
def batched_and_padded(tf, np, smaller, shared):
    number = _source(tf)["n"]
    batch = tf.train.batch(
        [tf.range(number), number],
        2,
        capacity=4,
        dynamic_pad=True,
        shapes=[[None], []],
        allow_smaller_final_batch=smaller,
        shared_name="pads" if shared else None,
    )
    return _made(tf, *batch) + [_all(tf, batch)]


@cases(*product([False, True], [False, True]))
def batched_sparse(tf, np, many, smaller):
    number = tf.cast(_source(tf)["n"], tf.int64)
    sparse = tf.SparseTensor([[0, 0], [1, 2]], tf.stack([number, number + 1]), [2, 3])
    dense = tf.stack([number, number]) if many else number
    batch = tf.train.batch(
        [sparse, dense], 2, enqueue_many=many, allow_smaller_final_batch=smaller, capacity=6
    )
    return _made(tf, *batch) + [_all(tf, batch)]


@cases(*product([False, True], [False, True]))
def maybe_batched(tf, np, many, smaller):
    number = _source(tf)["n"]
    keep = tf.equal(number % 2, 0)
    tensors, keep = ([tf.stack([number, -number])], tf.stack([keep, True])) if many else ([number], keep)
    batch = tf.train.maybe_batch(tensors, keep, 2, enqueue_many=many, allow_smaller_final_batch=smaller)
    return _made(tf, batch) + [_all(tf, batch)]


@cases(*product(["batch_join", "maybe_batch_join"], [False, True]))
def joined(tf, np, what, dynamic_pad):
    number = _source(tf)["n"]
    lists = [[number, tf.range(2)], [number + 100, tf.range(2)]]
    keep = tf.less(number, 100)
    more = [keep] if what.startswith("maybe") else []
    batch = getattr(tf.train, what)(lists, *more, batch_size=2, capacity=9, dynamic_pad=dynamic_pad)
    return _made(tf, *batch)


@cases(
    *product(
        ["shuffle_batch", "maybe_shuffle_batch", "shuffle_batch_join", "maybe_shuffle_batch_join"],
        [False, True],
    )
)
def shuffled_batches(tf, np, what, smaller):
    number = _source(tf, count=12)["n"]
    tensors = [[number], [number]] if what.endswith("join") else [number]
    keep = tf.less(number, 100)
    more = [keep] if what.startswith("maybe") else []
    if what.startswith("maybe"):
        batch = getattr(tf.train, what)(
            tensors,
            batch_size=2,
            capacity=20,
            min_after_dequeue=3,
            keep_input=more[0],
            seed=5,
            allow_smaller_final_batch=smaller,
        )
    else:
        batch = getattr(tf.train, what)(tensors, 2, 20, 3, seed=5, allow_smaller_final_batch=smaller)
    found = (
        sorted(np.concatenate([np.ravel(b) for b in _all(tf, batch)]).tolist())
        if "join" not in what
        else None
    )
    return _made(tf, batch) + [found]


def bad_batches(tf, np):
    loose = tf.placeholder(tf.float32)
    return [
        raises(tf.train.batch, [loose], 2),
        raises(tf.train.batch, [], 2),
        raises(tf.train.batch, [1.0], 2, shapes=[[], []]),
        raises(tf.train.batch, [tf.zeros([2])], 2, shapes=[[3]]),
        raises(tf.train.batch_join, [], 2),
        raises(tf.train.batch_join, [[1.0], [1]], 2),
        raises(tf.train.batch, [1.0, tf.zeros([2])], 2, enqueue_many=True),
        raises(tf.train.maybe_batch, [1.0], tf.constant([True, False]), 2),
        raises(tf.train.maybe_batch, [tf.zeros([2])], tf.constant([[True]]), 2, enqueue_many=True),
        raises(tf.train.shuffle_batch, [loose], 2, 10, 5),
        raises(tf.train.shuffle_batch, [1.0], 2, 5, 5),
    ]


def matched_files(tf, np):
    folder = tempfile.mkdtemp()
    for name in ("b.txt", "a.txt", "c.md"):
        with open(os.path.join(folder, name), "w") as file:
            file.write(name)
    found = tf.train.match_filenames_once(os.path.join(folder, "*.txt"))
    with tf.Session() as session:
        early = raises(session.run, found)
        session.run(tf.local_variables_initializer())
        paths = sorted(os.path.basename(p).decode() for p in session.run(found))
    made = [(op.name, op.type) for op in tf.get_default_graph().get_operations()]
    return [paths, early, made, [v.name for v in tf.local_variables()]]


# --------------------------------------------------------------------------------------- threads around it


def runners_as_messages(tf, np):
    with tf.name_scope("outer"):
        queue = tf.FIFOQueue(3, [tf.int32], [[]], name="q")
        runner = tf.train.QueueRunner(
            queue,
            [queue.enqueue(1)] * 2,
            queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError),
        )
    again = tf.train.QueueRunner.from_proto(runner.to_proto())
    inner = tf.train.QueueRunner.from_proto(runner.to_proto(export_scope="outer"), import_scope="outer")
    return [
        runner.to_proto().SerializeToString(),
        runner.to_proto(export_scope="outer").SerializeToString(),
        [r.name for r in (runner, again, inner)],
        [[op.name for op in r.enqueue_ops] for r in (runner, again, inner)],
        [r.close_op.name for r in (runner, again, inner)],
        [t.__name__ for t in again.queue_closed_exception_types],
        raises(tf.train.QueueRunner),
        raises(tf.train.QueueRunner, queue),
        raises(tf.train.QueueRunner, queue, []),
        raises(tf.train.QueueRunner, queue, [queue.enqueue(1)], queue_closed_exception_types=("a",)),
        raises(tf.train.QueueRunner, queue, [queue.enqueue(1)], queue_runner_def=runner.to_proto()),
        raises(tf.train.start_queue_runners),
        graph(tf),
    ]


def runner_that_fails(tf, np):
    queue = tf.FIFOQueue(3, [tf.int32], [[]])
    value = tf.placeholder_with_default(3, [])
    broken = tf.Print(value, [value], first_n=0) // 0
    runner = tf.train.QueueRunner(queue, [queue.enqueue(broken)])
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(session, coord, start=True)
        with_coordinator = raises(coord.join, threads)
        for thread in runner.create_threads(session, start=True):
            thread.join()
        return [with_coordinator.types[0], [type(e).__name__ for e in runner.exceptions_raised], coord.joined]


@cases("clean", "error", "no error", "raised in block", "after stop")
def coordinated(tf, np, how):
    coord = tf.train.Coordinator()
    errors = {"clean": tf.errors.OutOfRangeError(None, None, "end"), "error": ValueError("bad")}

    def work():
        with coord.stop_on_exception():
            if how in errors:
                raise errors[how]
            if how == "after stop":
                coord.wait_for_stop()
                raise ValueError("late")
            coord.request_stop()

    thread = threading.Thread(target=work)
    thread.start()
    if how == "raised in block":

        def block():
            with coord.stop_on_exception():
                raise TypeError("block")

        block()
    if how == "after stop":
        coord.request_stop()
    ended = raises(coord.join, [thread])
    before = coord.should_stop(), coord.joined
    again = raises(coord.raise_requested_exception)
    coord.clear_stop()
    return [ended, before, again, coord.should_stop(), coord.joined, coord.wait_for_stop(0.001)]


def looped(tf, np):
    coord = tf.train.Coordinator()
    seen = []

    def turn(word):
        seen.append(word)
        if len(seen) == 3:
            coord.request_stop()

    looper = tf.train.LooperThread.loop(coord, 0.001, turn, ("x",))
    coord.join([looper])
    return [
        seen,
        raises(tf.train.LooperThread, "coord", 1),
        raises(tf.train.LooperThread, coord, 1, None, ("a",)),
    ]
