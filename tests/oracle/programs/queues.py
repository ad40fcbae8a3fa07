"""Barriers, staging areas and RecordInput, and queues in one step with what feeds them."""

import os
import tempfile

from kit import cases, graph, names, product, raises


def _flows():
    """TensorFlow's data_flow_ops, where the engine keeps it."""
    try:
        from tensorflow.python.ops import data_flow_ops as flows
    except ImportError:
        from tideflow.queues import barriers, record_input, staging

        class flows:
            Barrier = barriers.Barrier
            MapStagingArea = staging.MapStagingArea
            StagingArea = staging.StagingArea
            RecordInput = record_input.RecordInput

    return flows


# ------------------------------------------------------------------------------------------------ barriers


def _barrier(tf):
    return _flows().Barrier((tf.float32, tf.string), shapes=((2,), ()), name="b")


def barrier(tf, np):
    made = _barrier(tf)
    numbers = made.insert_many(0, ["k1", "k2", "k3"], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    words = made.insert_many(1, ["k3", "k1"], ["three", "one"])
    taken = made.take_many(2)
    sizes = [made.ready_size(), made.incomplete_size()]
    found = []
    with tf.Session() as session:
        for step in (numbers, words):
            session.run(step)
            found.append(session.run(sizes))
        indices, keys, values = session.run(taken)
        found += [indices, keys, list(values), session.run(sizes)]
    return [found, taken[0], taken[1], list(taken[2]), made.barrier_ref, made.name, graph(tf)]


def order_of_a_barrier(tf, np):
    made = _flows().Barrier((tf.int32, tf.int32), shapes=((), ()))
    keys, values = tf.placeholder(tf.string, [None]), tf.placeholder(tf.int32, [None])
    inserts = [made.insert_many(i, keys, values) for i in range(2)]
    with tf.Session() as session:
        for component, which in (
            (0, "a"),
            (1, "a"),
            (0, "bc"),
            (1, "d"),
            (0, "e"),
            (1, "cb"),
            (0, "d"),
            (1, "e"),
        ):
            session.run(inserts[component], {keys: list(which), values: list(range(len(which)))})
        indices, found, _ = session.run(made.take_many(5))
    return [indices, sorted(found.tolist())]  # of one index, any order


@cases(*product([False, True], [False, True], [1, 2, 3]))
def closed_barrier(tf, np, cancel, small, count):
    made = _barrier(tf)
    keys, words = tf.placeholder(tf.string, [None]), tf.placeholder(tf.string, [None])
    number_of = tf.placeholder(tf.float32, [None, 2])
    numbers, text = made.insert_many(0, keys, number_of), made.insert_many(1, keys, words)
    taken = made.take_many(count, allow_small_batch=small)
    sizes = [made.ready_size(), made.incomplete_size()]
    found = []
    with tf.Session() as session:
        session.run(numbers, {keys: ["a", "b", "c"], number_of: np.ones([3, 2])})
        session.run(text, {keys: ["b"], words: ["bb"]})
        session.run(made.close(cancel_pending_enqueues=cancel))
        found.append(session.run(sizes))
        found.append(raises(session.run, numbers, {keys: ["new"], number_of: np.ones([1, 2])}))
        found.append(raises(session.run, text, {keys: ["c"], words: ["cc"]}))
        found.append(session.run(sizes))
        if cancel or small or count <= 2:
            for _ in range(2):
                if not cancel and not small and session.run(sizes)[0] < count:
                    break  # it would wait for what is incomplete

                def take():
                    indices, names_of, values = session.run(taken)
                    found.append([indices, names_of, list(values)])

                found.append(raises(take))
        found.append(raises(session.run, made.close(cancel_pending_enqueues=cancel)))
    return found


def bad_barriers(tf, np):
    flows = _flows()
    made = _barrier(tf)
    keys, values = tf.placeholder(tf.string), tf.placeholder(tf.float32)
    insert = made.insert_many(0, keys, values)
    with tf.Session() as session:
        session.run(insert, {keys: ["a"], values: [[1.0, 2.0]]})

        def tried(names_of, data):
            return raises(session.run, insert, {keys: names_of, values: data})

        return [
            tried(["a"], [[1.0, 2.0]]),
            raises(flows.Barrier, (tf.float32,), shapes=((0,),)),
            raises(session.run, made.insert_many(1, ["q"], [1.0])),
            raises(session.run, made.insert_many(2, ["q"], [1.0])),
            session.run([made.ready_size(), made.incomplete_size()]),
        ]


# ------------------------------------------------------------------------------------------- staging areas


@cases("StagingArea", "shared")
def staging(tf, np, name):
    keywords = {} if name == "StagingArea" else {"shared_name": name, "capacity": 5, "memory_limit": 1000}
    area = _flows().StagingArea([tf.float32, tf.string], shapes=[[2], []], **keywords)
    number, word = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.string, [])
    put, size, peek = area.put([number, word]), area.size(), area.peek(1)
    get, clear = area.get(), area.clear()
    found = []
    with tf.Session() as session:
        for i in range(4):
            session.run(put, {number: [i, i], word: "w%d" % i})
        found += [session.run(size), session.run(peek), session.run(get), session.run(peek)]
        found += [session.run(get), session.run(size)]
        session.run(clear)
        found.append(session.run(size))
    return [found, area.name, area.capacity, area.memory_limit, area.names, get, peek, size, graph(tf)]


def staging_by_name(tf, np):
    area = _flows().StagingArea([tf.float32, tf.int32], names=["x", "y"])
    put = area.put({"x": tf.constant(1.0), "y": tf.constant([2, 3])})
    get = area.get()
    with tf.Session() as session:
        session.run(put)
        return [session.run(get), sorted(get), names(tf)]


def bad_staging(tf, np):
    flows = _flows()
    area, named = flows.StagingArea([tf.float32]), flows.StagingArea([tf.float32], names=["x"])
    limited = flows.StagingArea([tf.float32], memory_limit=7)
    shaped = flows.StagingArea([tf.float32], shapes=[[2]])
    with tf.Session() as session:
        too_much = raises(session.run, limited.put(tf.constant([1.0, 2.0])))
    return [
        raises(area.put, {"x": tf.constant(1.0)}),
        raises(named.put, tf.constant(1.0)),
        raises(named.put, {"y": tf.constant(1.0)}),
        raises(area.put, [tf.constant(1.0), tf.constant(1.0)]),
        raises(area.put, tf.constant(1)),
        raises(shaped.put, tf.constant([1.0])),
        raises(flows.StagingArea, [tf.float32], shapes=[]),
        raises(flows.StagingArea, [tf.float32], names=["x", "y"]),
        raises(flows.StagingArea, [tf.float32], shared_name=3),
        too_much,
    ]


@cases(True, False)
def map_staging(tf, np, ordered):
    area = _flows().MapStagingArea([tf.float32, tf.string], shapes=[[], []], ordered=ordered)
    key = tf.placeholder(tf.int64, [])
    whole = area.put(key, [tf.constant(1.5), tf.constant("both")], [0, 1])
    first, second = (
        area.put(key, [tf.constant(2.5)], [0]),
        area.put(key, [tf.constant("second")], [1]),
    )
    size, missing, clear = area.size(), area.incomplete_size(), area.clear()
    peek, get, part = area.peek(key), area.get(key), area.get(key, [1])
    some = area.get()
    found = []
    with tf.Session() as session:
        session.run(whole, {key: 5})
        session.run(first, {key: 3})
        found.append(session.run([size, missing]))
        found.append(raises(session.run, first, {key: 3}))
        session.run(second, {key: 3})
        found.append(session.run([size, missing]))
        found.append(session.run(peek, {key: 3}))
        found.append(session.run(get[1], {key: 5}))
        session.run(whole, {key: 8})
        found.append(session.run(part[1], {key: 8}))
        found.append(raises(session.run, part[1], {key: 8}))
        found.append(session.run([size, missing]))
        if ordered:
            session.run(whole, {key: -4})
            found.append(session.run(some))
        session.run(clear)
        found.append(session.run([size, missing]))
    return [found, list(some), graph(tf)]


def map_staging_by_name(tf, np):
    area = _flows().MapStagingArea([tf.float32, tf.int32], names=["x", "y"], shared_name="named")
    put = area.put(tf.constant(3, tf.int64), {"y": tf.constant([2, 3]), "x": tf.constant(1.0)})
    _, got = area.get(tf.constant(3, tf.int64), ["y"])
    with tf.Session() as session:
        session.run(put)
        found = session.run(got)
    return [
        found,
        names(tf),
        raises(area.get, 3, []),
        raises(area.get, 3, "x"),
        raises(area.get, 3, ["x", 1]),
        raises(area.put, 3, [tf.constant(1.0)]),
    ]


def bad_map_staging(tf, np):
    area = _flows().MapStagingArea([tf.float32, tf.float32])
    value = tf.constant(1.0)
    key = tf.constant(1, tf.int64)
    with tf.Session() as session:
        return [
            raises(session.run, area.put(key, [value, value], [1, 0])),
            raises(area.put, key, [value], [0, 1]),
            raises(area.put, key, [value, value, value], [0, 1, 2]),
        ]


# ---------------------------------------------------------------------------------------------- RecordInput


@cases(*product([None, 2], ["", "GZIP"]))
def record_input(tf, np, batches, kind):
    folder = tempfile.mkdtemp()
    for i in range(3):
        with tf.python_io.TFRecordWriter(os.path.join(folder, "r%d" % i), kind) as writer:
            for j in range(4):
                writer.write(b"%d-%d" % (i, j))
    source = _flows().RecordInput(
        os.path.join(folder, "r*"), 6, 10, 2, 0.25, 301, "input", batches, tf.io.TFRecordOptions(kind)
    )
    output = source.get_yield_op()
    with tf.Session() as session:
        found = [session.run(output) for _ in range(2 if batches is None else 1)]
    return [sorted(np.concatenate([np.ravel(f) for f in found]).tolist()), output, names(tf)]


# ---------------------------------------------------------------------------------- several waits in a step


@cases("FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue")
def in_one_step(tf, np, kind):
    """A step that puts in what it takes out."""
    queue = {
        "FIFOQueue": lambda: tf.FIFOQueue(1, [tf.int64], [[]]),
        "PaddingFIFOQueue": lambda: tf.PaddingFIFOQueue(1, [tf.int64], [[]]),
        "PriorityQueue": lambda: tf.PriorityQueue(1, [tf.int64], [[]]),
        "RandomShuffleQueue": lambda: tf.RandomShuffleQueue(1, 0, [tf.int64], [[]]),
    }[kind]()
    element = [tf.constant(3, tf.int64)] * len(queue.dtypes)
    out, put = queue.dequeue(), queue.enqueue(element)
    with tf.Session() as session:
        return [session.run([out, put])[0] for _ in range(3)]


def staged_in_one_step(tf, np):
    area = _flows().StagingArea([tf.float32], capacity=1)
    get, put = area.get(), area.put(tf.constant(2.0))
    with tf.Session() as session:
        return session.run([get, put])[0]
