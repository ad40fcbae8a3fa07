"""`tensorflow.MasterService`, asked by gRPC's own client; `tests/oracle` asks with TensorFlow's."""

import random
import threading

import grpc
import ml_dtypes
import numpy as np
import pytest
from tensorboard.compat.proto.config_pb2 import CallableOptions, ConfigProto, RunOptions
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.tensor_pb2 import TensorProto

import tideflow as tf
from tests.cluster.clusters import cluster_of
from tests.cluster.tensorflow_clients.raw_client import RawClient, as_proto
from tests.serving.loops import make_certificate

SECONDS = 60
PAIR = np.array([1, 2], np.float32)
METHODS = (
    "CreateSession ExtendSession PartialRunSetup RunStep CloseSession ListDevices Reset MakeCallable "
    "RunCallable ReleaseCallable"
).split()


@pytest.fixture(scope="module")
def server():
    server = tf.train.Server({"local": ["127.0.0.1:0"]}, tensorflow_clients="127.0.0.1:0")
    yield server
    server.stop()


@pytest.fixture
def client(server):
    with RawClient(server.tensorflow_target) as client:
        yield client
        client.call("Reset")


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.multiply(x, 2.0, name="y")
        tf.add(y, 1.0, name="z")
        variable = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)
        tf.identity(tf.assign_add(variable, 1.0), name="count")
        queue = tf.FIFOQueue(2, tf.float32, shapes=[[]], name="q")
        queue.enqueue(5.0, name="put")
        tf.identity(queue.dequeue(), name="got")
        tf.no_op(name="nothing")
    return graph


def status(call):
    """The code and the text with which a call fails."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code().name, caught.value.details()


def negated_y():
    graph_def = GraphDef()
    graph_def.node.add(name="w", op="Neg", input=["y"]).attr["T"].type = 1
    return graph_def


def test_a_client_trains_and_adds_to_its_graph(client, graph):
    created = client.call("CreateSession", graph_def=graph.as_graph_def())
    session = created.session_handle
    assert created.graph_version == 0
    client.run(session, targets=["v/Assign"])
    assert [client.run(session, ["count:0"])[0] for _ in range(3)] == [1, 2, 3]
    added = client.call("ExtendSession", session_handle=session, graph_def=negated_y())
    assert added.new_graph_version == 1
    fetched = client.run(session, ["w:0", "z", "w:0"], {"x:0": PAIR}, ["nothing"])
    np.testing.assert_array_equal(fetched, [[-2, -4], [3, 5], [-2, -4]])
    assert (
        client.call("ExtendSession", session_handle=session, current_graph_version=1).new_graph_version == 2
    )


def test_an_operation_is_added_that_has_the_name_of_a_scope(client):
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="part/one")
    session = client.call("CreateSession", graph_def=graph.as_graph_def()).session_handle
    with tf.Graph().as_default() as graph:
        tf.constant(2.0, name="part")
    client.call("ExtendSession", session_handle=session, graph_def=graph.as_graph_def())
    assert client.run(session, ["part:0", "part/one:0"]) == [2, 1]


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6, dtype=np.float64).reshape(2, 3),
        np.array([True, False]),
        np.array(7, np.int64),
        np.array([[1 + 2j]], np.complex64),
        np.array([1.5, -2], np.float16),
        np.array([1.5, -2], ml_dtypes.bfloat16),
        np.array([250], np.uint8),
        np.array([2**31 + 1], np.uint32),
        np.zeros([0, 3], np.float32),
        np.array([b"a", b"", b"\xff\x00c"], object),
        np.array(b"scalar", object),
    ],
    ids=lambda value: f"{value.dtype}{list(value.shape)}",
)
def test_values_come_back_as_they_were_fed(client, value):
    kind = tf.string if value.dtype == object else tf.as_dtype(value.dtype)
    with tf.Graph().as_default() as graph:
        tf.identity(tf.placeholder(kind, name="x"), name="y")
    session = client.create(graph)
    as_elements = tf.make_tensor_proto(value)
    for fed in (as_proto(value), as_elements):
        (back,) = client.run(session, ["y:0"], {"x:0": fed})
        assert back.dtype == value.dtype and back.shape == value.shape
        np.testing.assert_array_equal(back, value)


def test_a_piece_at_a_time_and_prepared_steps(client, graph):
    session = client.create(graph)
    announced = client.call("PartialRunSetup", session_handle=session, feed=["x:0"], fetch=["y:0", "z:0"])
    handle = announced.partial_run_handle
    early = status(lambda: client.run(session, ["y:0"], partial_run_handle=handle))
    assert early[0] == "INVALID_ARGUMENT" and "can't be computed from the feeds" in early[1]
    (y,) = client.run(session, ["y:0"], {"x:0": PAIR}, partial_run_handle=handle)
    (z,) = client.run(session, ["z:0"], partial_run_handle=handle)
    np.testing.assert_array_equal([y, z], [[2, 4], [3, 5]])
    over = status(lambda: client.run(session, ["z:0"], partial_run_handle=handle))
    assert over[0] == "INVALID_ARGUMENT" and "Must run PartialRunSetup" in over[1]

    options = CallableOptions(feed=["x:0"], fetch=["z:0"], run_options=RunOptions(trace_level=3))
    number = client.call("MakeCallable", session_handle=session, options=options).handle
    ran = client.call("RunCallable", session_handle=session, handle=number, feed=[as_proto(PAIR)])
    np.testing.assert_array_equal(tf.make_ndarray(ran.fetch[0]), [3, 5])
    assert ran.metadata.step_stats.dev_stats
    few = status(lambda: client.call("RunCallable", session_handle=session, handle=number))
    assert few == ("INVALID_ARGUMENT", "Expected 1 feed tensors, but got 0.")
    client.call("ReleaseCallable", session_handle=session, handle=number)
    gone = status(lambda: client.call("ReleaseCallable", session_handle=session, handle=number))
    assert gone == ("INVALID_ARGUMENT", f"No such callable handle: {number}")


def test_callables_with_connections_between_tensors(client):
    graph = tf.Graph()
    with graph.as_default():
        x, v = tf.placeholder(tf.float32, [], name="x"), tf.Variable(10.0, name="v", use_resource=True)
        y = tf.multiply(x, v, name="y")
        tf.add(y, 1.0, name="z")
        with tf.control_dependencies([y]):
            more = v.assign_add(x, read_value=False)
        tf.constant(2.0, name="two")
    session = client.create(graph)
    client.run(session, targets=[v.initializer.name])

    def make(source, sink, **fields):
        connection = {"from_tensor": source, "to_tensor": sink}
        options = CallableOptions(tensor_connection=[connection], **fields)
        return client.call("MakeCallable", session_handle=session, options=options).handle

    number = make("two:0", "x:0", fetch=["z:0", "two:0"], target=[more.name])
    for wanted in (21, 25):
        ran = client.call("RunCallable", session_handle=session, handle=number)
        assert [float(tf.make_ndarray(each)) for each in ran.fetch] == [wanted, 2]
    assert client.run(session, ["z:0"], {"x:0": np.float32(1)}) == [15]  # the graph itself is as it was
    for given, words in (
        (("none:0", "x:0"), ("INVALID_ARGUMENT", 'Requested tensor connection from unknown node: "x:0".')),
        (("two:0", "none:0"), ("NOT_FOUND", "FeedInputs: unable to find feed output none:0")),
        (
            ("z:0", "x:0"),
            (
                "INVALID_ARGUMENT",
                'Requested Tensor connection between nodes "x" and "z" would create a cycle.',
            ),
        ),
    ):
        assert status(lambda given=given: make(*given, fetch=["z:0"])) == words
    both = status(lambda: make("two:0", "x:0", fetch=["x:0"]))
    assert both == ("INVALID_ARGUMENT", "x:0 is both fed and fetched.")


def test_what_the_options_ask_to_know_of_a_step(client, graph):
    session = client.create(graph)
    assert not client.step(session, ["z:0"], {"x:0": PAIR}).HasField("metadata")
    told = client.step(session, ["z:0"], {"x:0": PAIR}, options=RunOptions(trace_level=3)).metadata
    assert "z" in {node.node_name for stats in told.step_stats.dev_stats for node in stats.node_stats}
    assert not told.partition_graphs
    told = client.step(
        session, ["z:0"], {"x:0": PAIR}, options=RunOptions(output_partition_graphs=True)
    ).metadata
    assert "z" in {node.name for part in told.partition_graphs for node in part.node}
    assert not told.HasField("step_stats")


def test_errors_have_the_codes_and_phrases_of_tensorflow(client, graph):
    session = client.create(graph)
    bad_input, bad_op, no_shape = GraphDef(), GraphDef(), as_proto(PAIR)
    bad_input.node.add(name="w", op="Neg", input=["missing"]).attr["T"].type = 1
    bad_op.node.add(name="w", op="NoSuchOp")
    no_shape.tensor_shape.dim[0].size = -1

    def extended(graph_def, version=0):
        return lambda: client.call(
            "ExtendSession", session_handle=session, graph_def=graph_def, current_graph_version=version
        )

    def ran(*args):
        return lambda: client.run(session, *args)

    refused = [
        ("ABORTED", "Current version is 0 but caller expected 7.", extended(negated_y(), 7)),
        ("INVALID_ARGUMENT", "includes node 'x', which was created", extended(graph.as_graph_def())),
        ("INVALID_ARGUMENT", "Node 'w': Unknown input node 'missing'", extended(bad_input)),
        ("NOT_FOUND", "Op type not registered 'NoSuchOp'", extended(bad_op)),
        ("INVALID_ARGUMENT", "Must specify at least one target", ran()),
        ("NOT_FOUND", "FetchOutputs node missing:0: not found", ran(["missing:0"])),
        ("NOT_FOUND", "FetchOutputs node y:-1: not found", ran(["y:-1"])),
        ("INVALID_ARGUMENT", "FetchOutputs y:5: output index too large, must be < 1", ran(["y:5"])),
        ("NOT_FOUND", "Some target nodes not found: missing", ran([], {}, ["missing"])),
        ("NOT_FOUND", "unable to find feed output missing:0", ran(["y:0"], {"missing:0": PAIR})),
        ("INVALID_ARGUMENT", "x:0 is both fed and fetched.", ran(["x:0"], {"x:0": PAIR})),
        ("INVALID_ARGUMENT", 'Endpoint "x" fed more than once.', ran(["y:0"], {"x:0": PAIR, "x": PAIR})),
        ("INVALID_ARGUMENT", "You must feed a value for placeholder tensor 'x'", ran(["y:0"])),
        ("INVALID_ARGUMENT", "is of type float32", ran(["y:0"], {"x:0": np.arange(2)})),
        ("INVALID_ARGUMENT", "Cannot feed value of shape (3,)", ran(["y:0"], {"x:0": np.ones(3, "f")})),
        ("INVALID_ARGUMENT", "Invalid TensorProto", ran(["y:0"], {"x:0": no_shape})),
        ("INVALID_ARGUMENT", "is of type float32", ran(["y:0"], {"x:0": TensorProto()})),
        ("NOT_FOUND", "[[{{node ", ran(["count:0"])),
        ("ABORTED", "Session elsewhere is not found.", lambda: client.run("elsewhere", ["y:0"])),
    ]
    for code, phrase, call in refused:
        found = status(call)
        assert found[0] == code and phrase in found[1], found
    stored = client.step(session, ["count:0"], store_errors_in_response_body=True)
    assert stored.status_code == tf.errors.NOT_FOUND and "[[{{node " in stored.status_error_message


def test_messages_that_are_none_are_refused_and_change_nothing(client, graph):
    session = client.create(graph)
    for method in METHODS:
        for garbage in (b"\xff" * 11, b"\x0a\x7f123", b"\x0b"):
            assert status(lambda: client.method(method)(garbage, timeout=SECONDS))[0] == "INTERNAL"
    assert status(lambda: client.method("Fly")(b"", timeout=SECONDS))[0] == "UNIMPLEMENTED"
    fed = {"name": "x:0", "tensor": as_proto(PAIR)}
    whole = client.request("RunStep", session_handle=session, feed=[fed], fetch=["y:0"]).SerializeToString()
    damage = random.Random(7)
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[damage.randrange(len(whole))] = damage.randrange(256)
        try:
            client.method("RunStep")(bytes(damaged), timeout=SECONDS)
        except grpc.RpcError as error:
            assert error.code().name in ("INTERNAL", "INVALID_ARGUMENT", "NOT_FOUND", "ABORTED"), error
    np.testing.assert_array_equal(client.run(session, ["y:0"], {"x:0": PAIR})[0], [2, 4])


def test_a_tensor_of_a_few_bytes_does_not_fill_the_memory(client):
    with tf.Graph().as_default() as graph:
        tf.shape(tf.placeholder(tf.float32, name="x"), name="size")
    session = client.create(graph)
    huge = TensorProto(dtype=1, float_val=[1.0])
    huge.tensor_shape.dim.add(size=1 << 33)
    assert status(lambda: client.run(session, ["size:0"], {"x:0": huge}))[0] == "RESOURCE_EXHAUSTED"


def test_steps_end_by_timeouts_and_cancellation_and_take_nothing_with_them(server, client, graph):
    session = client.create(graph)
    late = status(lambda: client.run(session, ["got:0"], options=RunOptions(timeout_in_ms=50)))
    assert late[0] == "DEADLINE_EXCEEDED"
    config = ConfigProto(operation_timeout_in_ms=50)
    hasty = client.create(graph, config)
    assert status(lambda: client.run(hasty, ["got:0"]))[0] == "DEADLINE_EXCEEDED"
    began = threading.Semaphore(0)
    real, cancelled = server._tensorflow_clients._step, threading.Event()

    def step(message, feeds, context):
        began.release()
        try:
            return real(message, feeds, context)
        except tf.errors.CancelledError:
            cancelled.set()
            raise

    server._tensorflow_clients._step = step
    try:
        request = client.request("RunStep", session_handle=session, fetch=["got:0"]).SerializeToString()
        waiting = client.method("RunStep").future(request)
        assert began.acquire(timeout=SECONDS)
        waiting.cancel()
        assert cancelled.wait(SECONDS)
        cancelled.clear()
        with RawClient(server.tensorflow_target) as other:  # a client that leaves
            leaving = other.method("RunStep").future(request)
            assert began.acquire(timeout=SECONDS)
        assert cancelled.wait(SECONDS) and leaving.done()
    finally:
        del server._tensorflow_clients._step
    client.run(session, targets=["put"])
    assert client.run(session, ["got:0"]) == [5]


def test_clients_share_state_unless_a_session_is_isolated(server, client, graph):
    first = client.create(graph)
    client.run(first, targets=["v/Assign"])
    assert client.run(first, ["count:0"]) == [1]
    with RawClient(server.tensorflow_target) as other:
        assert other.run(other.create(graph), ["count:0"]) == [2]
        alone = other.create(graph, ConfigProto(isolate_session_state=True))
        assert status(lambda: other.run(alone, ["count:0"]))[0] == "NOT_FOUND"
    with tf.Session(server.target, graph=graph) as own:
        assert own.run("count:0") == 3
    client.call("CloseSession", session_handle=first)
    assert status(lambda: client.run(first, ["count:0"]))[0] == "ABORTED"
    second = client.create(graph)
    assert client.run(second, ["count:0"]) == [4]
    client.call("Reset")
    assert status(lambda: client.run(second, ["count:0"]))[0] == "ABORTED"
    assert status(lambda: client.run(client.create(graph), ["count:0"]))[0] == "NOT_FOUND"


def test_the_connections_of_clients_are_known():
    # A server of its own: gRPC's channels to one address may share a connection that an earlier one left.
    server = tf.train.Server({"local": ["127.0.0.1:0"]}, tensorflow_clients="127.0.0.1:0")
    ports = server._tensorflow_clients._server.ports
    try:
        assert not ports()
        with RawClient(server.tensorflow_target) as client:
            client.call("ListDevices")
            assert len(ports()) == 1
    finally:
        server.stop()


def test_devices_of_the_whole_cluster_are_listed_and_used(graph):
    cluster = cluster_of(worker=2)
    first = tf.train.Server(cluster, job_name="worker", task_index=0, tensorflow_clients="127.0.0.1:0")
    second = tf.train.Server(cluster, job_name="worker", task_index=1)
    try:
        with graph.as_default(), tf.device("/job:worker/task:1"):
            tf.negative(graph.get_tensor_by_name("y:0"), name="far")
        with RawClient(first.tensorflow_target) as client:
            session = client.create(graph)
            for listed in (
                client.call("ListDevices", session_handle=session),
                client.call("ListDevices"),
            ):
                (own,), (other,) = listed.local_device, listed.remote_device
                assert own.name == "/job:worker/replica:0/task:0/device:CPU:0"
                assert other.name == "/job:worker/replica:0/task:1/device:CPU:0"
                assert own.incarnation and own.memory_limit > 0 and own.device_type == "CPU"
            step = client.step(session, ["far:0"], {"x:0": PAIR}, options=RunOptions(trace_level=3))
            np.testing.assert_array_equal(tf.make_ndarray(step.tensor[0].tensor), [-2, -4])
            assert len(step.metadata.step_stats.dev_stats) == 2
    finally:
        first.stop()
        second.stop()


def test_off_the_loopback_tls_or_trust_is_needed(tmp_path, graph, monkeypatch):
    monkeypatch.delenv("TIDEFLOW_INSECURE", raising=False)
    with pytest.raises(tf.errors.FailedPreconditionError, match="cannot authenticate"):
        tf.train.Server({"local": ["127.0.0.1:0"]}, tensorflow_clients="0.0.0.0:0")
    certificate, _ = make_certificate(tmp_path)
    server = tf.train.Server(
        {"local": ["127.0.0.1:0"]},
        tensorflow_clients="0.0.0.0:0",
        tls=(str(certificate), str(tmp_path / "key.pem")),
    )
    try:
        port = server.tensorflow_target.rpartition(":")[2]
        trusted = grpc.ssl_channel_credentials(certificate.read_bytes())
        with RawClient(f"localhost:{port}", trusted) as client:
            np.testing.assert_array_equal(client.run(client.create(graph), ["y:0"], {"x:0": PAIR})[0], [2, 4])
        with RawClient(f"localhost:{port}") as client:
            assert status(lambda: client.create(graph))[0] == "UNAVAILABLE"
    finally:
        server.stop()


def test_a_port_that_is_taken_is_an_error(server):
    address = server.tensorflow_target.removeprefix("grpc://")
    with pytest.raises(tf.errors.UnavailableError, match="cannot be answered"):
        tf.train.Server({"local": ["127.0.0.1:0"]}, tensorflow_clients=address)
    assert tf.train.Server.create_local_server(start=False).tensorflow_target == ""
