"""What RunMetadata tells of a step: times, memory, devices, graphs."""

import itertools
import json
import threading

import numpy as np
import pytest

import tideflow as tf
from tideflow.session.timeline import Timeline

FULL = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
CPU = "/job:localhost/replica:0/task:0/device:CPU:{}".format


def traced(session, fetches, feeds=None, options=FULL):
    told = tf.RunMetadata()
    return session.run(fetches, feeds, options=options, run_metadata=told), told


def runs(told, device=CPU(0)):
    return [s for d in told.step_stats.dev_stats if d.device == device for s in d.node_stats]


def by_name(told, device=CPU(0)):
    return {stats.node_name: stats for stats in runs(told, device)}


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_what_is_told_of_an_op(graph):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable(tf.ones([3, 2]), name="w")
    y = tf.matmul(x, w, name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        value, told = traced(session, y, {x: np.ones([4, 3])})
        assert value.shape == (4, 2)
    stats = by_name(told)["y"]
    assert stats.timeline_label == "y = MatMul(x, w/read)"
    assert stats.all_start_micros == stats.all_start_nanos // 1000
    assert 0 <= stats.op_end_rel_micros < stats.all_end_rel_micros
    assert stats.thread_id == threading.get_native_id()
    (output,) = stats.output
    assert output.tensor_description.dtype == tf.float32.as_datatype_enum
    assert [dim.size for dim in output.tensor_description.shape.dim] == [4, 2]
    assert output.tensor_description.allocation_description.requested_bytes == 32
    assert (stats.memory[0].allocator_name, stats.memory[0].total_bytes) == ("cpu", 32)
    assert by_name(told)["w"].memory_stats.persistent_memory_size == 24
    assert not by_name(told)["w/read"].memory  # a read makes nothing


def test_ops_are_told_in_order_and_do_not_overlap(graph):
    x = y = tf.placeholder(tf.float32, [2])
    for i in range(5):
        y = tf.sin(y, name=f"sin{i}")
    with tf.Session() as session:
        _, told = traced(session, y, {x: [1.0, 2.0]})
    sines = [stats for stats in runs(told) if stats.node_name.startswith("sin")]
    assert [stats.node_name for stats in sines] == [f"sin{i}" for i in range(5)]
    for one, other in itertools.pairwise(sines):
        assert one.all_start_nanos + one.all_end_rel_nanos <= other.all_start_nanos


def test_a_step_is_traced_again_and_again(graph):
    x = tf.placeholder(tf.float32, [None])
    y = tf.exp(x, name="y")
    with tf.Session() as session:
        for size in (3, 3, 7):
            value, told = traced(session, y, {x: np.zeros(size)})
            assert value.tolist() == [1.0] * size
            assert by_name(told)["y"].output[0].tensor_description.shape.dim[0].size == size
        assert len(session._steps.steps) == 1
        assert session.run(y, {x: [0.0]}).tolist() == [1.0]


def test_a_traced_step_computes_the_same(graph):
    with tf.variable_scope("net"):
        w = tf.get_variable("w", [4, 4], initializer=tf.glorot_uniform_initializer(seed=1))
    loss = tf.reduce_sum(tf.nn.relu(tf.matmul(w, w) + 1.0))
    step = tf.train.AdamOptimizer(0.1).minimize(loss)
    weights = []
    for options in (None, FULL):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                told = tf.RunMetadata() if options else None
                session.run(step, options=options, run_metadata=told)
            weights.append(session.run(w))
    np.testing.assert_array_equal(*weights)


def test_updates_that_run_together_are_told_one_by_one(graph):
    big, small = (tf.get_variable(name, [size]) for name, size in (("big", 30), ("small", 10)))
    step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(big) + tf.reduce_sum(small))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert "_GroupedAdam" in session.explain(step)
        _, told = traced(session, step)
    of_big, of_small = (by_name(told)[f"Adam/update_{name}/ApplyAdam"] for name in ("big", "small"))
    assert of_big.timeline_label.startswith("Adam/update_big/ApplyAdam = ApplyAdam(big, ")
    assert of_big.op_end_rel_nanos == pytest.approx(3 * of_small.op_end_rel_nanos, abs=4)
    assert of_small.all_start_nanos == pytest.approx(of_big.all_start_nanos + of_big.op_end_rel_nanos, abs=4)


@pytest.mark.parametrize("executor", ["", "TOKENS"])
def test_loops_tell_every_iteration(graph, executor):
    _, total = tf.while_loop(
        lambda i, _: i < 4, lambda i, t: (i + 1, tf.sin(t, name="body")), [tf.constant(0), tf.constant([1.0])]
    )
    config = tf.ConfigProto()
    config.experimental.executor_type = executor
    with tf.Session(config=config) as session:
        _, told = traced(session, total)
    names = [stats.node_name for stats in runs(told)]
    assert names.count("while/body") == 4
    assert names.count("while/Less") == 5


def test_the_side_of_a_cond_that_ran(graph):
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0, lambda: tf.sin(x, name="yes"), lambda: tf.cos(x, name="no"))
    with tf.Session() as session:
        _, told = traced(session, y, {x: 1.0})
    assert "cond/yes" in by_name(told) and "cond/no" not in by_name(told)


def test_ops_that_wait_have_their_own_threads(graph):
    queues = [tf.FIFOQueue(1, tf.int32, shapes=[]) for _ in range(2)]
    puts = [queue.enqueue(i) for i, queue in enumerate(queues)]
    takes = [queue.dequeue(name=f"take{i}") for i, queue in enumerate(queues)]
    with tf.Session() as session:
        _, told = traced(session, [puts, takes])
    assert {"take0", "take1"} <= by_name(told).keys()
    assert len({stats.thread_id for stats in runs(told)}) > 1


def test_devices_have_their_own_statistics_and_graphs(graph):
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.exp(x, name="y")
    with tf.device("/cpu:1"):
        z = tf.reduce_sum(y, name="z")
        with tf.control_dependencies([y]):
            w = tf.negative(z, name="w")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        _, told = traced(session, w, {x: [0.0, 0.0]}, options)
    assert "y" in by_name(told) and "z" in by_name(told, CPU(1))
    first, second = ({node.name: node for node in part.node} for part in told.partition_graphs)
    assert first["_arg_x_0_0"].op == "_Arg" and list(first["y"].input) == ["_arg_x_0_0"]
    assert {node.device for node in second.values()} == {CPU(1)}
    (received,) = [node for node in second.values() if node.name == second["z"].input[0]]
    assert received.op == "_Recv" and received.attr["send_device"].s.decode() == CPU(0)
    sent = [node for node in first.values() if node.op == "_Send"]
    keys = {node.attr["tensor_name"].s for node in sent}
    assert keys >= {node.attr["tensor_name"].s for node in second.values() if node.op == "_Recv"}
    for part in (first, second):
        edges = {edge.lstrip("^").partition(":")[0] for node in part.values() for edge in node.input}
        assert edges <= part.keys()


def test_costs_where_the_session_builds_a_cost_model(graph):
    x = tf.placeholder(tf.float32, [1, 2], name="x")
    y = tf.matmul(x, x, transpose_b=True, name="y")
    config = tf.ConfigProto(graph_options=tf.GraphOptions(build_cost_model=1))
    with tf.Session(config=config) as session:
        _, told = traced(session, y, {x: [[1.0, 2.0]]}, options=None)
    nodes = {node.name: node for node in told.cost_graph.node}
    assert nodes["y"].compute_cost >= 1
    assert nodes["y"].output_info[0].size == 4
    ids = {node.id: node.name for node in told.cost_graph.node}
    assert [ids[info.preceding_node] for info in nodes["y"].input_info] == ["_arg_x_0_0"] * 2


def test_nothing_is_told_that_was_not_asked_for(graph):
    y = tf.constant(1.0) + 1.0
    told = tf.RunMetadata()
    told.step_stats.dev_stats.add(device="left from before")
    with tf.Session() as session:
        session.run(y, run_metadata=told)
        assert not told.step_stats.dev_stats
        session.run(y, options=tf.RunOptions(), run_metadata=told)
    assert not told.step_stats.dev_stats and not told.partition_graphs


def test_a_step_that_fails_tells_what_ran(graph):
    x = tf.placeholder(tf.int32, [])
    before = tf.negative(x, name="before")
    with tf.control_dependencies([before]):
        y = tf.floordiv(x, 0, name="bad")
    told = tf.RunMetadata()
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run([y, before], {x: 1}, options=FULL, run_metadata=told)
    assert "before" in by_name(told)


def test_threads_trace_the_same_step_at_once(graph):
    x = tf.placeholder(tf.float32, [None])
    y = tf.exp(x, name="y")
    found = {}
    with tf.Session() as session:

        def work(size):
            for _ in range(20):
                _, found[size] = traced(session, y, {x: np.zeros(size)})
                assert by_name(found[size])["y"].output[0].tensor_description.shape.dim[0].size == size

        threads = [threading.Thread(target=work, args=(size,)) for size in (2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found.keys() == {2, 3}


def test_a_time_limit_of_one_run(graph):
    queue = tf.FIFOQueue(1, tf.int32)
    with tf.Session() as session:
        for told in (None, tf.RunMetadata()):
            with pytest.raises(tf.errors.DeadlineExceededError):
                options = tf.RunOptions(timeout_in_ms=50, trace_level=tf.RunOptions.FULL_TRACE)
                session.run(queue.dequeue(), options=options, run_metadata=told)


def test_the_first_nan_is_named_where_loops_and_branches_hide_it(graph):
    x = tf.placeholder(tf.float32, [])
    _, looped = tf.while_loop(
        lambda i, _: i < 5, lambda i, t: (i + 1, tf.log(t - 1.0, name="in_loop")), [0, x]
    )
    branch = tf.cond(x > 0, lambda: tf.sqrt(-x, name="in_branch"), lambda: x)
    for executor in ("", "TOKENS"):
        config = tf.ConfigProto()
        config.experimental.executor_type = executor
        with tf.Session(config=config, check_finite=True) as session:
            with pytest.raises(tf.errors.InvalidArgumentError, match="Log 'while/in_loop', the first op"):
                session.run(looped, {x: 3.0})
            with pytest.raises(tf.errors.InvalidArgumentError, match="Sqrt 'cond/in_branch', the first op"):
                session.run(branch, {x: 3.0})


def test_chrome_shows_ops_arrows_and_memory(graph):
    x = tf.placeholder(tf.float32, [3])
    y = tf.nn.top_k(x, 2, name="top")
    with tf.Session() as session:
        _, told = traced(session, [y.values, tf.cast(y.indices, tf.float32, name="at")], {x: [3.0, 1.0, 2.0]})
    before = told.SerializeToString(deterministic=True)
    trace = json.loads(Timeline(told.step_stats).generate_chrome_trace_format(show_memory=True))
    phases = {event["ph"] for event in trace["traceEvents"]}
    assert phases >= {"M", "X", "N", "O", "D", "C"}
    (top,) = [event for event in trace["traceEvents"] if event.get("args", {}).get("name") == "top"]
    assert top["name"] == "TopKV2" and top["args"]["op"] == "TopKV2"
    assert told.SerializeToString(deterministic=True) == before  # reading changes nothing
