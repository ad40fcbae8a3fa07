"""Strategies beyond what is compared with TensorFlow: failures, threads, input, values that are shown."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tideflow as tf
from tideflow.distribute.inputs import sharded

TWO = ["/cpu:0", "/cpu:1"]
CONFIG = tf.ConfigProto(device_count={"CPU": 2})


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def mirrored():
    return tf.distribute.MirroredStrategy(TWO)


def replica_id():
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def threads_of_replicas():
    return [thread for thread in threading.enumerate() if thread.name.startswith("tideflow replica")]


def test_a_failing_replica_ends_all_and_leaves_the_scopes_whole(mirrored):
    def fails():
        with tf.name_scope("inner"), tf.variable_scope("other"):
            tf.get_variable("w", [])
            tf.distribute.get_replica_context().merge_call(lambda strategy: None)
            raise KeyError("mine")

    with mirrored.scope():
        with pytest.raises(KeyError, match="mine"):
            mirrored.experimental_run_v2(fails)
        assert tf.distribute.in_cross_replica_context()
        assert tf.constant(1.0, name="c").name == "c:0"
        assert tf.get_variable("v", []).name == "v:0"
    assert not tf.distribute.has_strategy()
    for thread in threads_of_replicas():
        thread.join(10)
    assert not threads_of_replicas()


def test_an_error_in_a_merge_reaches_the_program(mirrored):
    def step():
        tf.distribute.get_replica_context().merge_call(lambda strategy: 1 / 0)

    with mirrored.scope(), pytest.raises(ZeroDivisionError):
        mirrored.experimental_run_v2(step)


def test_replicas_that_do_not_meet_are_told_so(mirrored):
    def step():
        replica = tf.distribute.get_replica_context()
        if replica._position == 0:
            replica.merge_call(lambda strategy: None)

    with mirrored.scope(), pytest.raises(RuntimeError, match="the same calls on every replica"):
        mirrored.experimental_run_v2(step)


def test_a_session_of_the_program_is_there_in_replicas(mirrored):
    with mirrored.scope(), tf.Session(config=CONFIG) as session:
        found = mirrored.experimental_run_v2(lambda: tf.get_default_session())
        assert found is session


def test_values_are_fetched_as_they_are(mirrored):
    with mirrored.scope(), tf.Session(config=CONFIG) as session:
        value = mirrored.experimental_run_v2(lambda: replica_id() * 10)
        found = session.run(value)
    assert found.values == (0, 10) and found.devices == value.devices
    assert repr(found).startswith("PerReplica:{\n  0 /replica:0/task:0/device:CPU:0: ")


def test_replicas_of_odd_batches_have_parts_of_different_sizes(mirrored):
    numbers = tf.data.Dataset.range(9).batch(3, drop_remainder=True)
    with mirrored.scope():
        iterator = mirrored.make_dataset_iterator(numbers)
        parts = list(mirrored.unwrap(iterator.get_next()))
    assert [part.shape.as_list() for part in parts] == [[None], [None]]
    with tf.Session(config=CONFIG) as session:
        session.run(iterator.initialize())
        assert [part.tolist() for part in session.run(parts)] == [[0, 1], [2]]


def test_workers_share_a_dataset_unless_it_says_otherwise():
    second = tf.distribute.InputContext(num_input_pipelines=2, input_pipeline_id=1)
    numbers = tf.data.Dataset.range(6)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard = False
    own, whole = sharded(numbers, second), sharded(numbers.with_options(options), second)
    with tf.Session() as session:
        taken = [each.batch(9).make_one_shot_iterator().get_next() for each in (own, whole)]
        assert [each.tolist() for each in session.run(taken)] == [[1, 3, 5], [0, 1, 2, 3, 4, 5]]


def test_the_rest_of_a_dataset_is_divided_too(mirrored):
    with mirrored.scope():
        iterator = mirrored.make_dataset_iterator(tf.data.Dataset.range(7).batch(4))
        parts = list(mirrored.unwrap(iterator.get_next()))
    with tf.Session(config=CONFIG) as session:
        session.run(iterator.initialize())
        found = [[part.tolist() for part in session.run(parts)] for _ in range(2)]
        assert found == [[[0, 1], [2, 3]], [[4, 5], [6]]]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(parts)


def test_several_steps_in_one_operation(mirrored):
    with mirrored.scope():
        iterator = mirrored.make_dataset_iterator(tf.data.Dataset.range(8).map(tf.to_float).batch(2))
        total = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

        def on_replica(context, x):
            update = total.assign_add(tf.reduce_sum(x))
            context.set_last_step_output("sum", tf.reduce_sum(x), tf.distribute.ReduceOp.SUM)
            return update

        def step(context, x):
            assert tf.distribute.in_cross_replica_context()
            return mirrored.group(mirrored.extended.call_for_each_replica(on_replica, args=(context, x)))

        steps = mirrored.extended.experimental_run_steps_on_iterator(
            step, iterator, iterations=3, initial_loop_values={"sum": 0.0}
        )
    with tf.Session(config=CONFIG) as session:
        session.run([tf.global_variables_initializer(), iterator.initialize()])
        assert session.run([steps.run_op, steps.last_step_outputs])[1] == {"sum": 9.0}
        assert session.run(total) == 15.0


def test_a_strategy_for_the_whole_program(mirrored):
    tf.distribute.experimental_set_strategy(mirrored)
    try:
        assert tf.distribute.get_strategy() is mirrored
        assert len(tf.Variable(1.0).values) == 2
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert not tf.distribute.has_strategy()


def test_parameter_servers_without_a_cluster():
    strategy = tf.distribute.experimental.ParameterServerStrategy()
    with strategy.scope():
        v = tf.Variable(3.0)
        train = strategy.experimental_run_v2(lambda: tf.train.GradientDescentOptimizer(0.1).minimize(v * v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(strategy.group(train))
        np.testing.assert_allclose(session.run(v), 2.4, rtol=1e-6)


def test_parameter_servers_of_a_cluster():
    cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:1"], "ps": ["p:1", "q:1"]})
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, task_type="worker", task_id=1)
    strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
    with strategy.scope():
        places = [tf.get_variable(name, []).device for name in ("a", "b", "c")]
        assert [place.partition("/device")[0] for place in places] == [
            "/job:ps/task:0",
            "/job:ps/task:1",
            "/job:ps/task:0",
        ]
        assert tf.constant(1.0).device.startswith("/job:worker/task:1")
    assert not strategy.extended.should_checkpoint
    config = strategy.update_config_proto(tf.ConfigProto())
    assert list(config.device_filters) == ["/job:worker/task:1", "/job:ps"]


def test_eager_replicas_share_variables_and_sum_gradients():
    program = """
import numpy as np, tideflow as tf
tf.enable_eager_execution(tf.ConfigProto(device_count={"CPU": 2}))
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope():
    v = tf.Variable(1.0)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(8).map(tf.to_float).batch(4))

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * x)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        return loss

    for x in data:
        losses = strategy.experimental_run_v2(step, (x,))
        print(strategy.reduce(tf.distribute.ReduceOp.SUM, losses).numpy(), [c.numpy() for c in v.values])
"""
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "6.0 [np.float32(0.39999998), np.float32(0.39999998)]", lines
    assert len(lines) == 2


@pytest.mark.parametrize(
    "strategy",
    [
        tf.distribute.MirroredStrategy(TWO),
        tf.distribute.experimental.CentralStorageStrategy(TWO, "/cpu:0"),
    ],
    ids=["mirrored", "central"],
)
def test_slots_that_are_made_behind_a_steps_input_are_initialized_without_it(strategy):
    fed = tf.placeholder(tf.float32, [], name="fed")

    def step():
        weight = tf.get_variable("w", [], initializer=tf.ones_initializer())
        with tf.control_dependencies([fed]):
            return tf.train.AdamOptimizer(0.1).minimize(weight * 2.0)

    with strategy.scope():
        strategy.experimental_run_v2(step)
    with tf.Session(config=CONFIG) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(tf.global_variables()[0]) == 1.0


@pytest.mark.parametrize(("kind", "parts"), [("mirrored", 0), ("central", 2)])
def test_only_variables_on_one_device_have_parts(kind, parts):
    strategy = {
        "mirrored": lambda: tf.distribute.MirroredStrategy(TWO),
        "central": lambda: tf.distribute.experimental.CentralStorageStrategy(TWO, "/cpu:0"),
    }[kind]()
    with strategy.scope():
        made = tf.get_variable("w", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    assert len(list(made)) == parts if parts else made.name == "w:0"
