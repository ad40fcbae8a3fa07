"""Clients and servers, as programs for TensorFlow use them."""

import threading

import numpy as np
import pytest
import torch

import tideflow as tf
from tests.cluster.clusters import cluster_of, free_addresses, processes, servers
from tideflow.cluster import client, keys, sockets
from tideflow.ops.control_flow.optionals import Optional
from tideflow.ops.distributed.variants import pack, unpack
from tideflow.runtime.tensor_lists import as_variant
from tideflow.runtime.waiting import StepContext

_SECONDS = 60


@pytest.fixture(scope="module")
def cluster():
    with servers(ps=1, worker=2) as made:
        yield made


@pytest.fixture
def target(cluster):
    tf.Session.reset(cluster["worker", 0].target)
    with tf.Graph().as_default():
        yield cluster["worker", 0].target


def _on(job, task=0):
    return tf.device(f"/job:{job}/task:{task}")


# ------------------------------------------------------------------------------------------------- clients


def test_a_client_waits_for_its_server(monkeypatch):
    """The client may start first. The server starts when the client has failed to reach it once."""
    addresses, tried = cluster_of(worker=1), threading.Event()
    monkeypatch.setattr(client, "server_at", lambda address: None)  # as for a client in another process
    monkeypatch.setattr(client.time, "sleep", lambda seconds: tried.wait(0.01) or tried.set())
    found = []

    def ask():
        with tf.Graph().as_default(), tf.Session(f"grpc://{addresses['worker'][0]}") as session:
            found.append(session.run(tf.constant(3) + 4))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    assert tried.wait(_SECONDS)
    server = tf.train.Server(addresses, "worker", 0)
    try:
        thread.join(_SECONDS)
    finally:
        server.stop()
    assert found == [7]


def test_a_client_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(client, "_PATIENCE_SECONDS", 0.0)
    (address,) = free_addresses(1)
    with tf.Graph().as_default(), tf.Session(f"grpc://{address}") as session:
        constant = tf.constant(1)
        with pytest.raises(tf.errors.UnavailableError, match=address):
            session.run(constant)
        with pytest.raises(tf.errors.DeadlineExceededError, match=address):
            session._executor._session(StepContext(0.01))


def test_a_client_of_another_user_is_refused_at_once(tmp_path, monkeypatch):
    """What the other user has is another key. The client does not wait until the server might let it in."""
    (address,) = free_addresses(1)
    with processes({"local": [address]}, ("local", 0)):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        with tf.Graph().as_default(), tf.Session(f"grpc://{address}") as session:
            with pytest.raises(tf.errors.UnauthenticatedError, match="let the same user start both"):
                session.run(tf.constant(1))


def test_a_network_that_is_trusted_needs_no_key(monkeypatch):
    monkeypatch.delenv(keys.INSECURE, raising=False)
    with pytest.raises(tf.errors.FailedPreconditionError, match="--insecure"):
        sockets.resolve("192.0.2.1:2222", None, keys.network_is_trusted())
    monkeypatch.setenv(keys.INSECURE, "1")
    assert sockets.resolve("192.0.2.1:2222", None, keys.network_is_trusted()) == ("192.0.2.1", 2222, None)


# ------------------------------------------------------------------------------------------------- servers


def test_the_one_task_of_a_job_needs_no_index():
    server = tf.train.Server({"a": {3: "localhost:0"}, "b": ["localhost:1"]}, "a", start=False)
    server.stop()
    assert server.server_def.task_index == 3


@pytest.mark.parametrize(
    "cluster, arguments, error",
    [
        ({"a": ["localhost:0", "localhost:0"]}, ("a",), ValueError),
        ({"a": ["localhost:0"], "b": ["localhost:0"]}, (), ValueError),
        ({"a": ["localhost:0"]}, ("b",), ValueError),
        ({"a": ["localhost:0"]}, ("b", 0), tf.errors.InternalError),
        ({"a": ["localhost:0"]}, ("a", 1), tf.errors.InvalidArgumentError),
        ({"a": ["localhost:0"]}, ("a", 0, "carrier pigeon"), tf.errors.NotFoundError),
    ],
)
def test_a_server_of_no_cluster(cluster, arguments, error):
    with pytest.raises(error):
        tf.train.Server(cluster, *arguments, start=False)


# ------------------------------------------------------------------------------------------------- sessions


def test_the_device_of_an_operation_is_logged_once(target, capfd):
    with _on("ps"):
        x = tf.constant([1.0, 2.0], name="x")
    with _on("worker", 1):
        y = tf.exp(x, name="y")
    with tf.Session(target, config=tf.ConfigProto(log_device_placement=True)) as session:
        session.run(y)
        session.run(y + 1)
    logged = capfd.readouterr().out.splitlines()
    assert logged.count("y: (Exp): /job:worker/replica:0/task:1/device:CPU:0") == 1
    assert logged.count("x: (Const): /job:ps/replica:0/task:0/device:CPU:0") == 1
    assert not [line for line in logged if line.startswith("Device mapping")]


def test_a_trace_holds_what_was_asked_for(target):
    with _on("ps"):
        x = tf.placeholder_with_default(1.0, [])
    with _on("worker", 1):
        y = tf.exp(x)
    graphs = tf.RunOptions(output_partition_graphs=True)
    times = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session(target) as session:
        metadata = tf.RunMetadata()
        session.run(y, options=graphs, run_metadata=metadata)
        assert len(metadata.partition_graphs) == 2 and not metadata.step_stats.dev_stats
        session.run(y, options=times, run_metadata=metadata)
        assert not metadata.partition_graphs and len(metadata.step_stats.dev_stats) == 2


def test_a_partial_run_that_fetches_a_variable_first(target):
    with _on("ps"):
        variable = tf.Variable(1.0)
        x = tf.placeholder(tf.float32, [])
        changed = tf.assign_add(variable, x)
    with tf.Session(target) as session:
        session.run(variable.initializer)
        handle = session.partial_run_setup([variable, changed], [x])
        assert session.partial_run(handle, variable) == 1.0
        assert session.partial_run(handle, changed, {x: 2.0}) == 3.0


def test_the_parts_of_a_variable_are_joined_after_a_first_step(target):
    with tf.Graph().as_default(), tf.Session(target) as session:
        parts = tf.fixed_size_partitioner(2)
        variable = tf.get_variable("v", [4], initializer=tf.ones_initializer(), partitioner=parts)
        session.run(tf.global_variables_initializer())
        joined = tf.convert_to_tensor(variable)
        assert joined.name == "v:0"
        np.testing.assert_array_equal(session.run(joined), [1, 1, 1, 1])


def test_a_branch_over_tasks_again_and_again(target):
    """Also when the part is known to be quick: one that waits must not block the listener's thread."""
    with _on("ps"):
        variable = tf.Variable(0.0)
    taken = tf.placeholder(tf.bool, [])

    def count():
        with _on("worker", 1):
            return tf.assign_add(variable, 1.0) * 10.0

    result = tf.cond(taken, count, lambda: tf.constant(-1.0))
    with tf.Session(target) as session:
        session.run(variable.initializer)
        assert [session.run(result, {taken: i % 2 == 0}) for i in range(12)] == [
            value for i in range(6) for value in (10.0 * i + 10, -1.0)
        ]


def test_a_step_that_times_out_says_so(target):
    """All parts of such a step report the timeout, whichever of them answers first."""
    with _on("worker", 1):
        queue = tf.FIFOQueue(1, tf.float32)
        taken = queue.dequeue()
    with _on("ps"):
        result = taken + 1.0
    with tf.Session(target) as session:
        for _ in range(5):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(result, options=tf.RunOptions(timeout_in_ms=20))


def test_a_cluster_keeps_no_tensors_between_steps(target):
    handle = tf.get_session_handle(tf.constant(1.0))
    with tf.Session(target) as session, pytest.raises(tf.errors.FailedPreconditionError, match="variables"):
        session.run(handle)


def test_a_reset_without_a_target_closes_the_sessions_of_this_process(target):
    one = tf.constant(1)
    with tf.Session(target) as elsewhere:
        here = tf.Session()
        tf.Session.reset("")
        with pytest.raises(tf.errors.CancelledError):
            here.run(one)
        with pytest.raises(tf.errors.CancelledError):
            here.list_devices()
        assert elsewhere.run(one) == 1


def test_the_coordinator_does_not_wait_for_the_chiefs_runner():
    """The runner waits for gradients of which none come: the coordinator stops without it."""
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.get_or_create_global_step()
        weight = tf.get_variable("weight", initializer=1.0)
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2)
        optimizer.minimize(tf.square(weight), global_step=step)
        session.run([tf.global_variables_initializer(), optimizer.chief_init_op])
        coordinator = tf.train.Coordinator()
        runner = optimizer.get_chief_queue_runner()
        threads = runner.create_threads(session, coord=coordinator, start=True)
        coordinator.request_stop()
        coordinator.join(stop_grace_period_secs=0)
        assert any(thread.is_alive() for thread in threads)
    for thread in threads:
        thread.join(_SECONDS)
        assert not thread.is_alive()


# ------------------------------------------------------------------------------------------------- variants


def test_lists_of_tensors_cross_tasks(target):
    shape = tf.constant([], tf.int32)
    with _on("ps"):
        texts = tf.raw_ops.TensorListFromTensor(tensor=tf.constant(["a", "bc"]), element_shape=shape)
        empty = tf.raw_ops.EmptyTensorList(element_shape=shape, max_num_elements=4, element_dtype=tf.variant)
        nested = tf.raw_ops.TensorListPushBack(input_handle=empty, tensor=texts)
        some = tf.raw_ops.TensorListReserve(element_shape=shape, num_elements=2, element_dtype=tf.float32)
        some = tf.raw_ops.TensorListSetItem(input_handle=some, index=1, item=7.0)
    with _on("worker", 1):
        _, inner = tf.raw_ops.TensorListPopBack(
            input_handle=nested, element_shape=shape, element_dtype=tf.variant
        )
        stack = tf.raw_ops.TensorListStack(input_handle=inner, element_shape=shape, element_dtype=tf.string)
        items = [
            tf.raw_ops.TensorListGetItem(
                input_handle=some, index=i, element_shape=shape, element_dtype=tf.float32
            )
            for i in range(2)
        ]
    with tf.Session(target) as session:
        assert session.run(stack).tolist() == [b"a", b"bc"]
        assert session.run(items) == [0.0, 7.0]


def test_a_dataset_stays_on_its_task(target):
    with _on("ps"):
        dataset = tf.data.Dataset.range(3)._variant_tensor
    with _on("worker", 1):
        copy = tf.raw_ops.OptionalHasValue(optional=tf.identity(dataset))
    with (
        tf.Session(target) as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="cannot go to another"),
    ):
        session.run(copy)


def test_bytes_that_are_no_variant_are_refused():
    whole = pack(as_variant(Optional([torch.tensor([1.0, 2.0])])))[()]
    assert unpack(as_variant(whole))[()].components[0].tolist() == [1.0, 2.0]
    for junk in (b"junk", whole[:-1], whole.replace(b"empty", b"ytpme")):
        with pytest.raises(tf.errors.DataLossError):
            unpack(as_variant(junk))
