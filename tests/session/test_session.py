"""Session: fetches of any nesting, feeds of any tensor, partial runs, callables, closing, errors."""

import collections
import threading
import warnings

import numpy as np
import pytest

import tideflow as tf

Point = collections.namedtuple("Point", "x y")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_fetches_keep_their_structure():
    a, b = tf.constant(1.0), tf.constant([2, 3])
    op = tf.no_op()
    with tf.Session() as sess:
        assert sess.run([]) == []
        assert sess.run(op) is None
        assert sess.run("Const:0") == 1.0
        result = sess.run({"p": Point(a, [b, op]), "q": (a, "Const_1:0")})
    assert list(result) == ["p", "q"]
    assert isinstance(result["p"], Point) and result["p"].x == 1.0
    np.testing.assert_array_equal(result["p"].y[0], [2, 3])
    assert result["p"].y[1] is None
    assert isinstance(result["q"], tuple)


def test_ordered_dicts_and_sparse_values():
    sparse = tf.SparseTensor([[0, 1]], [5.0], [2, 2])
    with tf.Session() as sess:
        result = sess.run(collections.OrderedDict([("b", sparse), ("a", tf.constant(1))]))
    assert type(result) is collections.OrderedDict and list(result) == ["b", "a"]
    assert isinstance(result["b"], tf.SparseTensorValue)
    np.testing.assert_array_equal(result["b"].indices, [[0, 1]])


def test_results_are_numpy_scalars_and_arrays():
    with tf.Session() as sess:
        scalar, vector, text = sess.run([tf.constant(1.5), tf.constant([1]), tf.constant("hi")])
    assert type(scalar) is np.float32
    assert vector.dtype == np.int32 and vector.flags.c_contiguous and vector.flags.writeable
    assert text == b"hi"


@pytest.mark.parametrize(
    "bad, error", [(None, TypeError), (3.5, TypeError), ("nope:0", ValueError), ([None], TypeError)]
)
def test_what_cannot_be_fetched(bad, error):
    tf.constant(1)
    with tf.Session() as sess, pytest.raises(error, match="Fetch argument"):
        sess.run(bad)


def test_a_tensor_of_another_graph_is_refused():
    with tf.Graph().as_default():
        other = tf.constant(1)
    tf.constant(2)
    with tf.Session() as sess, pytest.raises(ValueError, match="not an element of this graph"):
        sess.run(other)


def test_any_tensor_can_be_fed():
    a = tf.constant(1.0)
    b = a + 1.0
    c = b * 2.0
    with tf.Session() as sess:
        assert sess.run(c) == 4.0
        assert sess.run(c, {b: 10.0}) == 20.0
        assert sess.run(c, {"add:0": 11.0}) == 22.0
        assert sess.run([b, c], {b: 10.0}) == [10.0, 20.0]


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], np.int64),
        np.array([[1, 2], [3, 4]], ">f4"),
        ((1.0, 2.0), (3.0, 4.0)),
    ],
)
def test_fed_values_are_converted(value):
    x = tf.placeholder(tf.float32, [None, 2])
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(x + 0.0, {x: value}), [[1, 2], [3, 4]])


def test_views_and_read_only_arrays_can_be_fed():
    x = tf.placeholder(tf.float32, [3])
    base = np.arange(3, dtype=np.float32)
    frozen = base.copy()
    frozen.flags.writeable = False
    with tf.Session() as sess, warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(sess.run(x * 1.0, {x: base[::-1]}), [2, 1, 0])
        np.testing.assert_array_equal(sess.run(x * 1.0, {x: frozen}), [0, 1, 2])


def test_bad_feeds():
    x = tf.placeholder(tf.int32, [2], name="x")
    y = tf.identity(x)
    with tf.Session() as sess:
        with pytest.raises(
            ValueError, match=r"Cannot feed value of shape \(3,\) for Tensor 'x:0', which has shape '\(2,\)'"
        ):
            sess.run(y, {x: [1, 2, 3]})
        with pytest.raises(TypeError, match=r"cannot be a tf.Tensor"):
            sess.run(y, {x: tf.constant([1, 2])})
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
            sess.run(y, {"z:0": [1, 2]})
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="must feed a value for placeholder tensor 'x'"
        ):
            sess.run(y)
        with pytest.raises(ValueError):
            sess.run(y, {x: ["a", "b"]})


def test_scalars_too_large_for_the_placeholder():
    x = tf.placeholder(tf.int32, [])
    with tf.Session() as sess, pytest.raises(TypeError, match="not compatible with Tensor type"):
        sess.run(tf.identity(x), {x: 2**40})


def test_fetched_arrays_share_memory_with_nothing():
    x = tf.placeholder(tf.float32, [3])
    v = tf.Variable([1.0, 2.0, 3.0])
    c = tf.constant([7.0, 8.0])
    fed = np.ones(3, np.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        same, value, const = sess.run([tf.identity(x), v, c], {x: fed})
        fed[:] = 5
        np.testing.assert_array_equal(same, [1, 1, 1])
        value[:] = 0
        const[:] = 0
        np.testing.assert_array_equal(sess.run(v), [1, 2, 3])
        np.testing.assert_array_equal(sess.run(c), [7, 8])
        kept = sess.run(v)
        sess.run(v.assign_add([1.0, 1.0, 1.0]))
        np.testing.assert_array_equal(kept, [1, 2, 3])


def test_a_fed_array_does_not_become_the_variables_memory():
    v = tf.Variable(tf.zeros([2]))
    x = tf.placeholder(tf.float32, [2])
    assign = v.assign(x)
    fed = np.array([1, 2], np.float32)
    with tf.Session() as sess:
        sess.run(assign, {x: fed})
        fed[:] = 9
        np.testing.assert_array_equal(sess.run(v), [1, 2])
        sess.run(v.assign_add([1.0, 1.0]))
        np.testing.assert_array_equal(fed, [9, 9])


def test_many_feed_shapes_share_one_step():
    x = tf.placeholder(tf.float32, [None, None])
    y = tf.reduce_sum(x * 2.0, 1)
    with tf.Session() as sess:
        for n in range(1, 20):
            np.testing.assert_allclose(sess.run(y, {x: np.ones((n, n + 1))}), np.full(n, 2.0 * (n + 1)))
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            sess.run(y, {x: np.ones(3)})


def test_partial_run():
    a, b, c = (tf.placeholder(tf.float32, [], name=n) for n in "abc")
    count = tf.Variable(0)
    with tf.control_dependencies([count.assign_add(1)]):
        r1 = a + b
    r2 = r1 * c
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        handle = sess.partial_run_setup([r1, r2], [a, b, c])
        assert sess.partial_run(handle, r1, {a: 1.0, b: 2.0}) == 3.0
        assert sess.partial_run(handle, r2, {c: 10.0}) == 30.0
        assert sess.run(count) == 1  # what the first piece ran, the second did not run again
        handle = sess.partial_run_setup([r1, r2], [a, b, c])
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed"):
            sess.partial_run(handle, r2, {c: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="was not specified in partial_run_setup"):
            sess.partial_run(handle, r1, {count.op.outputs[0]: 1})


def test_make_callable():
    x = tf.placeholder(tf.float32, [])
    y = x * 3.0
    with tf.Session() as sess:
        f = sess.make_callable([y, y.op], [x])
        assert f(2.0) == [6.0, None]
        with pytest.raises(ValueError, match="Expected 1 arguments"):
            f()
        assert sess.make_callable(y, [x], accept_options=True)(1.0, options=tf.RunOptions()) == 3.0


def test_default_session_for_eval_and_run():
    a = tf.constant(2.0)
    with pytest.raises(ValueError, match="No default session"):
        a.eval()
    with tf.Session():
        assert a.eval() == 2.0
        a.op.run()
    with (
        tf.Session(graph=tf.Graph()).as_default(),
        pytest.raises(ValueError, match="different from the session's graph"),
    ):
        a.eval()


def test_interactive_session():
    sess = tf.InteractiveSession()
    try:
        assert tf.constant(3).eval() == 3
    finally:
        sess.close()
    assert tf.get_default_session() is None


def test_a_closed_session_refuses():
    a = tf.constant(1)
    sess = tf.Session()
    sess.run(a)
    sess.close()
    sess.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        sess.run(a)


def test_errors_name_the_op_its_inputs_and_the_users_line():
    x = tf.placeholder(tf.float32, [None])
    y = tf.reshape(x, [2, 2], name="square")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as info:
        sess.run(y, {x: [1.0, 2.0, 3.0]})
    assert "square" in str(info.value) and __file__ in str(info.value)
    assert sess.run is not None


def test_a_state_stays_as_it_was_when_a_step_fails():
    v = tf.Variable([1.0, 2.0])
    x = tf.placeholder(tf.float32, None)
    bad = v.assign_add(x)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(bad, {x: [1.0, 2.0, 3.0]})
        np.testing.assert_array_equal(sess.run(v), [1, 2])


def test_uninitialized_variables():
    v = tf.Variable(1.0, name="weights")
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.FailedPreconditionError, match=r"uninitialized value weights"),
    ):
        sess.run(v)


def test_timeouts_end_a_step():
    x = tf.random_uniform([300, 300])
    for _ in range(200):
        x = tf.matmul(x, x)
    with tf.Session() as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(x, options=tf.RunOptions(timeout_in_ms=1))


def test_check_finite_names_the_first_op():
    x = tf.placeholder(tf.float32, [2])
    y = tf.sqrt(tf.log(x, name="the_log") * 1.0)
    with tf.Session(check_finite=True) as sess:
        assert np.isfinite(sess.run(y, {x: [2.0, 3.0]})).all()
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Inf.*Log 'the_log'") as info:
            sess.run(y, {x: [0.0, 1.0]})
    assert __file__ in str(info.value)


def test_a_growing_graph_is_said_once():
    v = tf.constant(1.0)
    with tf.Session() as sess, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(20):
            sess.run(-v)
    said = [str(w.message) for w in caught if "graph has grown" in str(w.message)]
    assert len(said) == 1 and __file__ in said[0]


def test_many_threads_step_one_session():
    v = tf.Variable(0)
    add = v.assign_add(1)
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(x)
    wrong = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())

        def work(k):
            for i in range(200):
                sess.run(add)
                if sess.run(y, {x: np.full(k, i, np.float32)}) != k * i:
                    wrong.append((k, i))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sess.run(v) == 1600
    assert not wrong


def test_readers_never_see_a_torn_update():
    v = tf.Variable(tf.zeros([50_000]))
    add = v.assign_add(tf.ones([50_000]))
    read = v.read_value()
    torn = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(add.op)
        done = threading.Event()

        def look():
            while not done.is_set():
                seen = sess.run(read)
                if seen.min() != seen.max():
                    torn.append(seen)

        reader = threading.Thread(target=look)
        reader.start()
        for _ in range(300):
            sess.run(add.op)
        done.set()
        reader.join()
        assert sess.run(read)[0] == 301
    assert not torn


def test_explain_shows_the_plan():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.nn.relu(tf.matmul(x, tf.ones([3, 4])) + 1.0, name="out")
    with tf.Session() as sess:
        text = sess.explain(y, {x: np.ones((2, 3))})
    assert "def step(feed0):" in text and "# out float32[2,4]" in text and "peak memory" in text


def test_no_optimization_gives_the_same():
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.reduce_mean(tf.nn.relu(tf.identity(x) * 2.0 + 1.0), 0)
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = -1
    value = np.random.default_rng(0).normal(size=(4, 3))
    with tf.Session() as sess, tf.Session(config=config) as plain:
        np.testing.assert_allclose(sess.run(y, {x: value}), plain.run(y, {x: value}), rtol=1e-6)


def test_devices_that_are_not_there():
    with tf.device("/gpu:7"):
        a = tf.constant(1.0) + 1.0
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=r"Cannot assign a device"):
        sess.run(a)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        assert sess.run(a) == 2.0


def test_logical_cpu_devices():
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        assert [d.name for d in sess.list_devices() if d.device_type == "CPU"] == [
            "/job:localhost/replica:0/task:0/device:CPU:0",
            "/job:localhost/replica:0/task:0/device:CPU:1",
        ]


def test_a_session_says_what_it_is():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        assert repr(session) == f"<Session of {graph!r}>"
    assert repr(session) == f"<Session (closed) of {graph!r}>"


def test_a_session_of_another_graph_is_refused_by_how_it_was_found():
    with tf.Graph().as_default():
        value, nothing = tf.constant(1.0), tf.no_op()
    with tf.Session(graph=tf.Graph()) as other:
        with pytest.raises(
            ValueError, match=r"use the default session to evaluate.*`eval\(session=sess\)`\.$"
        ):
            value.eval()
        with pytest.raises(ValueError, match=r"use the default session to execute.* run\(session=sess\)\.$"):
            nothing.run()
        with pytest.raises(ValueError, match=r"use the given session to evaluate.* the session's graph\.$"):
            value.eval(session=other)
