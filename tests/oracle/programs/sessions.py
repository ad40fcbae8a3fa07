"""Session: fetches, feeds, callables, partial runs, defaults, closing, and many threads."""

import collections

from kit import Raised, cases, product, raises, run

_Pair = collections.namedtuple("_Pair", "left right")


def _abc(tf):
    a = tf.placeholder(tf.float32, [2], "a")
    b = tf.multiply(a, 2.0, name="b")
    return a, b, tf.reduce_sum(b, name="c")


_FETCHES = {
    "tensor": lambda a, b, c: b,
    "name": lambda a, b, c: "b:0",
    "operation": lambda a, b, c: b.op,
    "operation name": lambda a, b, c: "b",
    "list": lambda a, b, c: [b, c],
    "tuple": lambda a, b, c: (b, c),
    "empty list": lambda a, b, c: [],
    "empty tuple": lambda a, b, c: (),
    "empty dictionary": lambda a, b, c: {},
    "dictionary": lambda a, b, c: {"x": b, "y": [c, b]},
    "ordered dictionary": lambda a, b, c: collections.OrderedDict([("z", b), ("a", c)]),
    "named tuple": lambda a, b, c: _Pair(b, [c]),
    "nested": lambda a, b, c: [[b, [c]], {"k": (b, {"d": c})}, _Pair([], c)],
    "repeated": lambda a, b, c: [b, b, "b:0", b.op],
    "the feed": lambda a, b, c: a,
    "with operations": lambda a, b, c: [b.op, c, c.op],
}


@cases(*_FETCHES)
def fetches(tf, np, key):
    a, b, c = _abc(tf)
    with tf.Session() as session:
        found = session.run(_FETCHES[key](a, b, c), {a: [1.0, 2.0]})
        return [found, type(found).__name__]


def fetched_types(tf, np):
    made = [
        tf.constant(1.0),
        tf.constant([1]),
        tf.constant("a"),
        tf.constant(["a", "b"]),
        tf.zeros([0]),
    ]
    with tf.Session() as session:
        return [type(v).__name__ for v in session.run(made)]


def fetching_variables_and_slices(tf, np):
    v, r = tf.Variable(1.0), tf.Variable(2.0, use_resource=True)
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([3]), tf.constant([5]))
    bare = tf.IndexedSlices(tf.constant([1.0]), tf.constant([3]))
    sparse = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
    return run(tf, [v, r, slices, bare, sparse, {"s": [sparse]}])


_BAD_FETCHES = {
    "number": lambda tf, a: 3,
    "none": lambda tf, a: None,
    "list with none": lambda tf, a: [a, None],
    "unknown name": lambda tf, a: "nothing:0",
    "unknown operation": lambda tf, a: "nothing",
    "bad name": lambda tf, a: "a:b:c",
    "array": lambda tf, a: [1.5],
    "unhashable": lambda tf, a: {"k": {1, 2}},
    "function": lambda tf, a: len,
}


@cases(*_BAD_FETCHES)
def bad_fetches(tf, np, key):
    a = tf.constant(1.0, name="a")
    with tf.Session() as session:
        return raises(session.run, _BAD_FETCHES[key](tf, a))


def fetch_of_another_graph(tf, np):
    a = tf.constant(1.0)
    with tf.Graph().as_default():
        tf.constant(2.0)
        with tf.Session() as session:
            return [raises(session.run, a), raises(session.run, tf.constant(1.0), {a: 2.0})]


_FEEDS = {
    "list": [1.0, 2.0],
    "ints": [1, 2],
    "float64": "np.array([1.0, 2.0])",
    "tuple": (3.0, 4.0),
    "bools": [True, False],
    "scalars of numpy": "[np.float32(1), np.int64(2)]",
    "fortran": "np.asfortranarray(np.array([1.0, 2.0]))",
    "strided": "np.arange(4.0)[::2]",
}


@cases(*_FEEDS)
def feeds(tf, np, key):
    a, b, c = _abc(tf)
    value = eval(_FEEDS[key], {"np": np}) if isinstance(_FEEDS[key], str) else _FEEDS[key]
    return run(tf, [b, c], {a: value})


_BAD_FEEDS = {
    "shape": lambda np: [1.0, 2.0, 3.0],
    "rank": lambda np: 1.0,
    "matrix": lambda np: [[1.0, 2.0]],
    "text": lambda np: ["a", "b"],
    "none": lambda np: None,
    "ragged": lambda np: [[1.0], [2.0, 3.0]],
    "object": lambda np: object(),
}


@cases(*_BAD_FEEDS)
def bad_feeds(tf, np, key):
    a, b, _ = _abc(tf)
    with tf.Session() as session:
        error = raises(session.run, b, {a: _BAD_FEEDS[key](np)})
        return [error, session.run(b, {a: [1.0, 2.0]})]


def bad_feed_keys(tf, np):
    a, b, _ = _abc(tf)
    with tf.Session() as session:
        return {
            "number": raises(session.run, b, {3: 1.0}),
            "operation": raises(session.run, b, {b.op: [1.0, 2.0]}),
            "unknown name": raises(session.run, b, {"nothing:0": 1.0}),
            "operation name": raises(session.run, b, {"a": [1.0, 2.0]}),
            "tensor as value": raises(session.run, b, {a: tf.constant([1.0, 2.0])}),
            "missing": raises(session.run, b),
            "list": raises(session.run, b, [1.0, 2.0]),
            "none": raises(session.run, b, {None: 1.0}),
        }


def integers_are_fed_exactly(tf, np):
    i, u, h = tf.placeholder(tf.int32), tf.placeholder(tf.uint8), tf.placeholder(tf.float16)
    with tf.Session() as session:
        seen = [session.run(i, {i: 7}), session.run(u, {u: [1, 255]}), session.run(h, {h: 1.5})]
        return seen + [raises(session.run, i, {i: "a"})]


def any_tensor_can_be_fed(tf, np):
    a, b, c = _abc(tf)
    v = tf.Variable([5.0, 6.0], name="v")
    parts = tf.split(tf.constant([1.0, 2.0]), 2)
    total = parts[0] + 10.0 * parts[1]
    with tf.Session() as session:
        session.run(v.initializer)
        return [
            session.run(c, {b: [1.0, 1.0]}),
            session.run([b, c], {b: [3.0, 3.0]}),
            session.run(c, {"b:0": [1.0, 2.0]}),
            session.run(total, {parts[1]: [7.0]}),
            session.run(v + 1.0, {v: [0.0, 0.0]}),
            session.run(v),
            session.run([a, c], {a: [1.0, 1.0], c: 99.0}),
        ]


def feeding_constants(tf, np):
    k = tf.constant([1.0, 2.0])
    y = k * 2.0
    with tf.Session() as session:
        return [session.run(y, {k: [5.0, 6.0]}), session.run(y), raises(session.run, y, {k: [1.0]})]


def feeding_sparse_and_slices(tf, np):
    s = tf.sparse_placeholder(tf.float32)
    fixed = tf.sparse_placeholder(tf.float32, shape=[2, 2])
    slices = tf.IndexedSlices(tf.placeholder(tf.float32), tf.placeholder(tf.int64), tf.placeholder(tf.int64))
    value = tf.SparseTensorValue([[0, 1]], [2.0], [2, 2])
    with tf.Session() as session:
        return [
            session.run(s, {s: value}),
            session.run(s, {s: ([[1, 0]], [3.0], [2, 2])}),
            session.run(fixed.values * 2.0, {fixed: value}),
            session.run(slices, {slices: ([1.0], [0], [3])}),
            raises(session.run, s, {s: 3.0}),
        ]


def placeholder_with_default(tf, np):
    p = tf.placeholder_with_default([1.0, 2.0], [None])
    return [run(tf, p * 2.0), run(tf, p * 2.0, {p: [5.0]}), p.shape, run(tf, tf.gradients(p * 3.0, p))]


@cases(*product(["float32", "int32", "string", "bool"]))
def unfed_placeholders(tf, np, dtype):
    known, unknown = tf.placeholder(dtype, [2]), tf.placeholder(dtype)
    with tf.Session() as session:
        return [raises(session.run, known), raises(session.run, tf.identity(unknown))]


def feeding_large_and_empty(tf, np):
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.reduce_sum(x, 0)
    return [run(tf, y, {x: np.zeros([0, 3])}), run(tf, tf.shape(x), {x: np.zeros([100, 3])})]


def strings_in_and_out(tf, np):
    s = tf.placeholder(tf.string, [None])
    t = tf.identity(s)
    with tf.Session() as session:
        return [
            session.run(t, {s: ["a", "bc"]}),
            session.run(t, {s: [b"\x00\xff", b""]}),
            session.run(t, {s: np.array(["x", "long text"])}),
            session.run(t, {s: np.array(["\u00e9"], dtype=object)}),
            session.run(t, {s: []}),
        ]


def make_callable(tf, np):
    a, b, c = _abc(tf)
    with tf.Session() as session:
        one = session.make_callable([b, c], [a])
        two = session.make_callable(c, [b])
        none = session.make_callable(b.op, [a])
        structure = session.make_callable({"k": c}, ["a:0"])
        return [
            one([1.0, 2.0]),
            two(np.array([3.0, 4.0])),
            none([1.0, 1.0]),
            structure([5.0, 5.0]),
            raises(one, [1.0]),
        ]


def make_callable_without_feeds(tf, np):
    v = tf.Variable(0.0)
    with tf.Session() as session:
        session.run(v.initializer)
        step = session.make_callable(v.assign_add(1.0))
        return [step(), step(), session.run(v)]


def make_callable_mistakes(tf, np):
    _, b, _ = _abc(tf)
    with tf.Session() as session:
        return [raises(session.make_callable, b, 3), raises(session.make_callable, 3)]


def partial_run(tf, np):
    a, b, c = (tf.placeholder(tf.float32, shape=[]) for _ in range(3))
    first = a + b
    second = first * c
    with tf.Session() as session:
        handle = session.partial_run_setup([first, second], [a, b, c])
        one = session.partial_run(handle, first, {a: 1.0, b: 2.0})
        two = session.partial_run(handle, second, {c: one * 17})
        return [one, two]


def partial_run_runs_state_once(tf, np):
    v = tf.Variable(0.0)
    x = tf.placeholder(tf.float32, [])
    added = v.assign_add(x)
    later = added * 10.0
    with tf.Session() as session:
        session.run(v.initializer)
        handle = session.partial_run_setup([added, later], [x])
        first = session.partial_run(handle, added, {x: 2.0})
        return [first, session.partial_run(handle, later), session.run(v)]


def partial_run_mistakes(tf, np):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    c = a + b
    with tf.Session() as session:
        handle = session.partial_run_setup([c], [a, b])
        other = session.partial_run_setup([c], [a, b])
        session.partial_run(other, [], {a: 1.0})
        return [
            raises(session.partial_run, handle, c * 2.0, {a: 1.0}),
            raises(session.partial_run, "nothing", c, {a: 1.0}),
            raises(session.partial_run, other, [], {a: 1.0}),
        ]


def evaluation_shortcuts(tf, np):
    a, b, c = _abc(tf)
    v = tf.Variable(3.0)
    with tf.Session() as session:
        v.initializer.run()
        return [
            b.eval({a: [1.0, 2.0]}),
            c.eval(feed_dict={a: [1.0, 2.0]}, session=session),
            v.eval(),
            b.op.run({a: [1.0, 2.0]}),
        ]


def no_default_session(tf, np):
    a = tf.constant(1.0)
    return [raises(a.eval), raises(a.op.run), tf.get_default_session()]


def default_sessions_nest(tf, np):
    a = tf.constant(1.0)
    outer, inner = tf.Session(), tf.Session()
    with outer.as_default():
        seen = [tf.get_default_session() is outer]
        with inner.as_default():
            seen += [tf.get_default_session() is inner, a.eval()]
        seen += [tf.get_default_session() is outer]
    still = a.eval(session=outer)
    outer.close()
    inner.close()
    return [seen, still]


def session_enters_its_graph(tf, np):
    g = tf.Graph()
    with g.as_default():
        tf.constant(1.0, name="inside")
    with tf.Session(graph=g) as session:
        return [tf.get_default_graph() is g, session.run("inside:0"), session.graph is g]


def interactive_session(tf, np):
    session = tf.InteractiveSession()
    a = tf.constant(4.0)
    seen = [a.eval(), tf.get_default_session() is session]
    session.close()
    return seen


def closed_session(tf, np):
    a = tf.constant(1.0)
    session = tf.Session()
    value = session.run(a)
    session.close()
    session.close()
    return [value, raises(session.run, a)]


def closed_by_its_context(tf, np):
    a = tf.constant(1.0)
    with tf.Session() as session:
        pass
    return raises(session.run, a)


def session_mistakes(tf, np):
    return [
        raises(tf.Session, graph="text"),
        raises(tf.Session, config="text"),
        raises(tf.Session, target=3),
        raises(tf.Session, "nonsense://x"),
    ]


def empty_graph(tf, np):
    with tf.Session() as session:
        return [raises(session.run, "nothing"), raises(session.run, [])]


def graph_grows_between_steps(tf, np):
    v = tf.Variable(1.0)
    with tf.Session() as session:
        session.run(v.initializer)
        first = session.run(v * 2.0)
        w = tf.Variable(5.0)
        session.run(w.initializer)
        return [first, session.run(v + w)]


def finalized_graph_still_runs(tf, np):
    a, b, _ = _abc(tf)
    tf.get_default_graph().finalize()
    with tf.Session() as session:
        return session.run(b, {a: [1.0, 2.0]})


def configuration(tf, np):
    config = tf.ConfigProto(
        allow_soft_placement=True,
        log_device_placement=False,
        inter_op_parallelism_threads=1,
        intra_op_parallelism_threads=1,
        device_count={"CPU": 1, "GPU": 0},
        gpu_options=tf.GPUOptions(allow_growth=True),
        graph_options=tf.GraphOptions(
            optimizer_options=tf.OptimizerOptions(opt_level=tf.OptimizerOptions.L0)
        ),
    )
    with tf.Session(config=config) as session:
        with tf.device("/gpu:0"):
            a = tf.constant([1.0, 2.0]) * 2.0
        return session.run(a)


def hard_placement_on_what_is_not_there(tf, np):
    with tf.device("/gpu:7"):
        a = tf.constant(1.0) + 1.0
    with tf.device("/job:nowhere/task:3"):
        b = tf.constant(1.0) + 1.0
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=False, device_count={"GPU": 0})) as session:
        return [raises(session.run, a), raises(session.run, b)]


def run_options_and_metadata(tf, np):
    a = tf.constant([1.0, 2.0])
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=60000)
    with tf.Session() as session:
        value = session.run(a * 2.0, options=options, run_metadata=metadata)
        return [value, len(metadata.step_stats.dev_stats) > 0]


def list_devices(tf, np):
    with tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})) as session:
        found = [d for d in session.list_devices() if d.device_type == "CPU"]
        return [found[0].name, found[0].device_type, len(found)]


def errors_carry_the_operation(tf, np):
    x = tf.placeholder(tf.float32, [None], "x")
    y = tf.gather(x, [5], name="picked")
    with tf.Session() as session:
        try:
            session.run(y, {x: [1.0]})
        except tf.errors.OpError as error:
            return [
                error.op.name,
                error.op is y.op,
                type(error).__name__,
                error.error_code,
                "picked" in str(error),
            ]
    return "no error"


def error_classes(tf, np):
    found = {}
    for name in sorted(n for n in dir(tf.errors) if n.endswith("Error") and n != "OpError"):
        error = getattr(tf.errors, name)(None, None, "said")
        found[name] = [error.error_code, error.message, error.op, str(error)]
    return found


def error_codes(tf, np):
    return {n: getattr(tf.errors, n) for n in dir(tf.errors) if n.isupper()}


def exception_type_from_error_code(tf, np):
    e = tf.errors
    return [e.exception_type_from_error_code(3).__name__, e.error_code_from_exception_type(e.NotFoundError)]


def failure_leaves_the_session_usable(tf, np):
    v = tf.Variable([1.0, 2.0])
    x = tf.placeholder(tf.float32)
    bad = v.assign_add(tf.check_numerics(x, "bad"))
    with tf.Session() as session:
        session.run(v.initializer)
        error = raises(session.run, bad, {x: [float("nan"), 1.0]})
        return [error, session.run(v), session.run(bad, {x: [1.0, 1.0]})]


def pruning_runs_only_what_is_needed(tf, np):
    seen = []

    def note(name):
        def called():
            seen.append(name)
            return np.float32(1.0)

        return tf.py_func(called, [], tf.float32, name=name)

    a, b = note("a"), note("b")
    c = a + 1.0
    d = b + c
    with tf.Session() as session:
        session.run(c)
        session.run(d, {b: 5.0})
        session.run([c, a])
        session.run(d, {c: 2.0})
    return seen


def threads_share_one_session(tf, np):
    import threading

    v = tf.Variable(0, dtype=tf.int64)
    add = tf.assign_add(v, 1, use_locking=True)
    errors = []
    with tf.Session() as session:
        session.run(v.initializer)

        def work():
            try:
                for _ in range(50):
                    session.run(add.op)
            except Exception as error:
                errors.append(Raised(error))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [errors, session.run(v)]


def threads_have_their_own_defaults(tf, np):
    import threading

    seen = []
    with tf.Graph().as_default() as g:
        thread = threading.Thread(target=lambda: seen.append(tf.get_default_graph() is g))
        thread.start()
        thread.join()
    return seen


def steps_are_atomic_in_order(tf, np):
    v = tf.Variable(0.0)
    up, down = v.assign_add(1.0), v.assign_sub(0.5)
    with tf.Session() as session:
        session.run(v.initializer)
        return [session.run(up), session.run(down), session.run([v]), session.run(up.op)]


def graph_def_property(tf, np):
    tf.constant(1.0, name="a")
    with tf.Session() as session:
        return [[n.name for n in session.graph_def.node], session.sess_str in (b"", "")]


def session_handles_of_values(tf, np):
    handle = tf.get_session_handle(tf.constant([1.0, 2.0]))
    with tf.Session() as session:
        kept = session.run(handle)
        holder, tensor = tf.get_session_tensor(kept.handle, tf.float32)
        return session.run(tensor * 2.0, {holder: kept.handle})
