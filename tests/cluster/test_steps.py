"""Steps over several tasks: whatever a step is cut into, its results are those of one process."""

import gc
import threading
from dataclasses import replace

import numpy as np
import pytest

import tideflow as tf
from tests.cluster.clusters import servers
from tideflow.cluster.part import RegisteredPart
from tideflow.runtime.rendezvous import Rendezvous


@pytest.fixture(scope="module")
def cluster():
    with servers(ps=2, worker=2) as made:
        yield made


@pytest.fixture
def target(cluster):
    with tf.Graph().as_default():
        yield cluster["worker", 0].target
    tf.Session.reset(cluster["worker", 0].target)


def _on(job, task=0):
    return tf.device(f"/job:{job}/task:{task}")


def test_values_cross_tasks(target):
    x = tf.placeholder(tf.float32, [None])
    with _on("ps"):
        double = x * 2
    with _on("worker", 1):
        total = tf.reduce_sum(double) + x
    with _on("ps", 1):
        result = total - double
    with tf.Session(target) as session:
        for size in (3, 5):
            fed = np.arange(size, dtype=np.float32)
            np.testing.assert_allclose(session.run(result, {x: fed}), fed.sum() * 2 - fed)


def test_everything_that_has_a_dtype_crosses(target):
    kinds = [tf.float16, tf.float64, tf.int8, tf.uint8, tf.int64, tf.bool, tf.complex64, tf.bfloat16]
    with _on("ps"):
        made = [tf.cast(tf.constant([0, 1, 2]), kind) for kind in kinds] + [tf.constant([b"a", b"", b"\xff"])]
    with _on("worker"):
        taken = [tf.identity(tensor) for tensor in made]
    with tf.Session(target) as session:
        for sent, received in zip(session.run(made), session.run(taken)):
            assert sent.dtype == received.dtype
            np.testing.assert_array_equal(sent, received)


def test_a_value_goes_to_a_task_once(target, monkeypatch):
    with _on("ps"):
        source = tf.random_uniform([3])
    with _on("worker"):
        taken = [source + i for i in range(4)]
    sent = []
    put = Rendezvous.put
    monkeypatch.setattr(
        Rendezvous, "put", lambda self, *args: (sent.append(args) if args[2:] else None, put(self, *args))
    )
    with tf.Session(target) as session:
        values = session.run(taken)
    assert len(sent) == 1
    np.testing.assert_allclose(values[3], values[0] + 3, rtol=1e-6)


def test_control_edges_cross_tasks(target):
    with _on("ps"):
        counter = tf.Variable(0, use_resource=True)
    with tf.Session(target) as session:
        session.run(counter.initializer)
        with _on("worker", 1), tf.control_dependencies([counter.assign_add(5)]):
            waited = tf.constant(1)
        with _on("ps"), tf.control_dependencies([waited]):
            read = counter.read_value()
        assert session.run(read) == 5


@pytest.mark.parametrize("taken", [True, False])
def test_a_branch_elsewhere(target, taken):
    pred, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [2])

    def there():
        with _on("ps"):
            return x * 10

    def here():
        with _on("worker", 1):
            return x - 1

    result = tf.cond(pred, there, here)
    with tf.Session(target) as session:
        expected = [10, 20] if taken else [0, 1]
        np.testing.assert_allclose(session.run(result, {pred: taken, x: [1, 2]}), expected)


def test_a_loop_over_three_tasks(target):
    def body(i, total):
        with _on("ps"):
            doubled = total * 2
        with _on("worker", 1):
            return i + 1, doubled + tf.cast(i, tf.float32)

    looped = tf.while_loop(lambda i, total: i < 5, body, [0, 1.0])
    with tf.Session(target) as session:
        assert session.run(looped) == (5, 58.0)


def test_a_loop_in_a_loop_and_its_gradient(target):
    start = tf.placeholder(tf.float32, [])

    def outer(i, value):
        def inner(j, value):
            with _on("ps"):
                return j + 1, value * start

        with _on("worker", 1):
            value = value + 1
        return i + 1, tf.while_loop(lambda j, value: j < 2, inner, [0, value])[1]

    result = tf.while_loop(lambda i, value: i < 3, outer, [0, start])[1]
    (slope,) = tf.gradients(result, start)

    def f(x):
        for _ in range(3):
            x_next = (f.value + 1) * x * x
            f.value = x_next
        return f.value

    with tf.Session(target) as session:
        found, found_slope = session.run([result, slope], {start: 1.5})
    values = []
    for x in (1.5 - 1e-4, 1.5, 1.5 + 1e-4):
        f.value = x
        values.append(f(x))
    np.testing.assert_allclose(found, values[1], rtol=1e-5)
    np.testing.assert_allclose(found_slope, (values[2] - values[0]) / 2e-4, rtol=1e-3)


def test_sessions_share_variables_and_containers_keep_them_apart(target, cluster):
    with _on("ps"):
        shared = tf.Variable(1.0, name="shared")
        with tf.container("apart"):
            apart = tf.Variable(2.0, name="apart")
    with tf.Session(target) as session:
        session.run([shared.initializer, apart.initializer])
        session.run(shared.assign_add(4.0))
    with tf.Session(cluster["worker", 1].target) as session:
        assert session.run([shared, apart]) == [5.0, 2.0]
        assert not session.run(tf.report_uninitialized_variables()).size
    tf.Session.reset(target, ["apart"])
    with tf.Session(target) as session:
        assert session.run(shared) == 5.0
        with pytest.raises(tf.errors.FailedPreconditionError, match="apart"):
            session.run(apart)


def test_an_isolated_session_has_state_of_its_own(target):
    with _on("ps"):
        variable = tf.Variable(1.0)
    with tf.Session(target) as session:
        session.run(variable.initializer)
    with tf.Session(target, config=tf.ConfigProto(isolate_session_state=True)) as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(variable)


def test_a_reset_ends_the_sessions(target):
    with _on("ps"):
        value = tf.constant(1) + tf.Variable(2).initialized_value()
    session = tf.Session(target)
    session.run(value)
    tf.Session.reset(target)
    with pytest.raises(tf.errors.AbortedError):
        session.run(value)


def test_an_error_names_the_users_operation(target):
    with _on("ps"):
        bad = tf.check_numerics(tf.constant([1.0]) / 0.0, "not finite", name="the_check")
    with _on("worker"):
        result = bad + 1
    with tf.Session(target) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="not finite") as caught:
            session.run(result)
    assert caught.value.op is bad.op
    assert "test_steps.py" in str(caught.value)


def test_a_part_that_waits_for_a_task_that_failed_learns_the_reason(target):
    """The worker waits for what the failing task would have sent, not for its answer."""
    with _on("ps"):
        bad = tf.check_numerics(tf.log(tf.constant([-1.0])), "not a number")
    with _on("ps", 1):
        relayed = bad + 1
    with _on("worker"):
        result = relayed + 1
    with tf.Session(target) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="not a number"):
            session.run(result)


def test_a_step_that_takes_too_long_ends_everywhere(target, cluster):
    with _on("ps"):
        queue = tf.FIFOQueue(3, tf.float32)
        taken = queue.dequeue()
    with _on("worker", 1):
        result = taken + 1
    with tf.Session(target) as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(result, options=tf.RunOptions(timeout_in_ms=200))
        session.run(queue.enqueue(4.0))
        assert session.run(result) == 5.0  # the element was not taken by the step that gave up


def test_closing_a_session_ends_its_steps_and_leaves_those_of_others(target, cluster):
    with _on("ps"):
        queue = tf.FIFOQueue(3, tf.float32, shared_name="shared queue")
        taken = queue.dequeue()
    errors, session = [], tf.Session(target)

    def wait():
        try:
            session.run(taken)
        except tf.errors.OpError as error:
            errors.append(error)

    with tf.Session(cluster["worker", 1].target) as other:
        other.run(queue.size())
        thread = threading.Thread(target=wait)
        thread.start()
        while not cluster["ps", 0]._worker._running:
            pass
        session.close()
        thread.join(20)
        assert isinstance(errors[0], tf.errors.CancelledError)
        other.run(queue.enqueue(1.0))
        assert other.run(taken) == 1.0


def test_enqueue_and_dequeue_of_one_queue_in_one_step(target):
    with _on("ps"):
        queue = tf.FIFOQueue(1, tf.float32)
        take = queue.dequeue()
    with _on("worker"):
        put = queue.enqueue(7.0)
    with tf.Session(target) as session:
        assert session.run([take, put])[0] == 7.0


def test_a_graph_that_grows(target):
    with _on("ps"):
        value = tf.Variable(1.0)
    with tf.Session(target) as session:
        session.run(value.initializer)
        for i in range(3):
            with _on("worker", 1):
                assert session.run(value + i) == 1.0 + i


def test_partial_runs(target):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with _on("ps"):
        first = a * 2
    with _on("worker", 1):
        second = first + b
    with tf.Session(target) as session:
        handle = session.partial_run_setup([first, second], [a, b])
        assert session.partial_run(handle, first, {a: 3}) == 6
        assert session.partial_run(handle, second, {b: 1}) == 7


def test_unknown_jobs_and_tasks(target):
    with tf.device("/job:trainer"):
        nowhere = tf.constant(1)
    with tf.device("/job:ps/task:7"):
        neither = tf.constant(1)
    with tf.Session(target) as session:
        for tensor in (nowhere, neither):
            with pytest.raises(tf.errors.InvalidArgumentError, match="available devices are"):
                session.run(tensor)


def test_handles_stay_on_their_task(target):
    with _on("ps"):
        handle = tf.Variable(1.0, use_resource=True).handle
    with _on("worker"):
        read = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(read) == 1.0  # it runs beside the variable, wherever it was asked to


def test_many_threads_of_several_sessions(cluster, target):
    with _on("ps"):
        counter = tf.Variable(0, dtype=tf.int64)
        one = tf.constant(1, tf.int64)
    with _on("worker"):
        add = counter.assign_add(one * 1, use_locking=True)
    with tf.Session(target) as session, tf.Session(cluster["worker", 1].target) as other:
        session.run(counter.initializer)

        def work(mine):
            for _ in range(25):
                mine.run(add.op)

        threads = [threading.Thread(target=work, args=(mine,)) for mine in (session, other) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run(counter) == 8 * 25


def test_training_with_parameters_elsewhere(target):
    x = np.random.RandomState(0).randn(64, 3).astype(np.float32)
    y = x @ np.array([[1.0], [-2.0], [0.5]], np.float32) + 0.3
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:0")):
        predicted = tf.layers.dense(tf.constant(x), 1, name="dense")
        loss = tf.reduce_mean((predicted - y) ** 2)
        train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    assert {variable.device for variable in tf.global_variables()} == {"/job:ps/task:0", "/job:ps/task:1"}
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(150):
            session.run(train)
        assert session.run(loss) < 1e-3


def test_floats_cut_to_sixteen_bits_on_their_way(target):
    with _on("ps"):
        value = tf.Variable([1.0, 1.0 + 2.0**-12, 3e38])
    with _on("worker"):
        taken = value * 1
    config = tf.ConfigProto(graph_options=tf.GraphOptions(enable_bfloat16_sendrecv=True))
    with tf.Session(target, config=config) as session:
        session.run(value.initializer)
        cut = session.run(taken)
    assert cut.dtype == np.float32
    np.testing.assert_allclose(cut, [1.0, 1.0, 3e38], rtol=2.0**-7)
    assert cut[1] == 1.0


def test_a_trace_has_the_operations_of_every_task(target):
    with _on("ps"):
        value = tf.constant([1.0, 2.0]) + tf.random_uniform([2])
    with _on("worker", 1):
        result = tf.exp(value, name="the_exp")
    metadata = tf.RunMetadata()
    with tf.Session(target) as session:
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
        session.run(result, options=options, run_metadata=metadata)
    nodes = {
        stats.device: [node.node_name for node in stats.node_stats] for stats in metadata.step_stats.dev_stats
    }
    assert "the_exp" in nodes["/job:worker/replica:0/task:1/device:CPU:0"]
    assert "/job:ps/replica:0/task:0/device:CPU:0" in nodes
    assert {node.op for graph in metadata.partition_graphs for node in graph.node} >= {
        "_Send",
        "_Recv",
        "Exp",
    }


def test_state_without_a_device_is_shared(cluster, target):
    counter = tf.Variable(0, name="counter")
    with tf.Session(target) as session, tf.Session(cluster["worker", 1].target) as other:
        session.run(counter.initializer)
        session.run(counter.assign_add(1))
        assert other.run(counter.assign_add(1)) == 2


def test_an_all_reduce_over_tasks(target):
    from tideflow.ops.distributed import collectives

    parts = []
    for i in range(2):
        with tf.device(f"/job:worker/task:{i}/cpu:0"):
            mine = tf.placeholder_with_default([1.0 + i, 2.0], [2])
            parts.append(collectives.all_reduce(mine, 2, 1, 1, "Add", "Id"))
    with tf.Session(target) as session:
        for value in session.run(parts):
            np.testing.assert_allclose(value, [3.0, 4.0])


def test_a_step_leaves_nothing_to_the_collector(target, cluster):
    """Garbage that waits for the collector would hold memory, and make writers copy variables."""
    with _on("ps"):
        table = tf.get_variable("table", initializer=np.ones([100, 100], np.float32))
    with _on("worker"):
        train = table.assign_add(table + 1.0)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run([train, table])
        for server in cluster.values():
            server._sessions.masters()  # forgets the closed sessions of other tests before the check
        # What a step leaves it leaves every time. What other threads of the process leave meanwhile (servers,
        # their heartbeats and connections) is not always there.
        left = [_garbage_of(lambda: session.run([train, table])) for _ in range(5)]
    assert not all(left), left


def _garbage_of(work):
    """The types of objects of this package for which only the collector is left, after some work."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        work()
        gc.collect()
        return [type(one) for one in gc.garbage if type(one).__module__.startswith(("tideflow", "torch"))]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def test_a_part_on_the_token_executor_gets_the_values_of_other_tasks(target, monkeypatch):
    """There the thread that runs the part does not wait for the values."""
    real = RegisteredPart._compile

    def by_tokens(part, *arguments):
        part._request = replace(part._request, disabled_rules=frozenset({"structure"}))
        return real(part, *arguments)

    monkeypatch.setattr(RegisteredPart, "_compile", by_tokens)
    with _on("ps"):
        table = tf.get_variable("table", initializer=np.ones([3], np.float32), use_resource=True)
    with _on("worker"):
        train = table.assign_add(table * 2.0)
    with tf.Session(target) as session:
        session.run(table.initializer)
        for _ in range(4):
            session.run(train.op, options=tf.RunOptions(timeout_in_ms=60_000))
        assert session.run(table).tolist() == [81.0] * 3


@pytest.mark.parametrize("is_conditional", [False, True])
def test_a_reference_is_read_after_the_writes_before_its_reader(target, is_conditional):
    writes = tf.placeholder_with_default(True, [])
    with _on("ps"):
        v = tf.Variable(1.0, use_resource=False)

        def add():
            return tf.assign_add(v, 5.0)

        written = tf.cond(writes, add, lambda: tf.constant(0.0)) if is_conditional else add()
    with _on("worker", 1), tf.control_dependencies([written]):
        read = v.read_value() + 0.0
    with tf.Session(target) as session:
        session.run(v.initializer)
        found = [session.run(read, {writes: choice}) for choice in (True, False, True)]
    assert found == ([6.0, 6.0, 11.0] if is_conditional else [6.0, 11.0, 16.0])
