"""What compiling may take: limits of functions that are written out, and the step's deadline."""

import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import tideflow as tf
from tideflow.compile import progress


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def _doubling(levels):
    """Functions each of which calls the one before twice, and a call of the last."""
    graph_def = GraphDef()
    for level in range(levels):
        function = graph_def.library.function.add()
        function.signature.name = f"f{level}"
        function.signature.input_arg.add(name="x", type=1)
        function.signature.output_arg.add(name="y", type=1)
        for name, given in (("a", "x"), ("b", "a:y:0")):
            node = function.node_def.add(name=name, op=f"f{level - 1}" if level else "Neg", input=[given])
            if not level:
                node.attr["T"].type = 1
        function.ret["y"] = "b:y:0"
    graph_def.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    graph_def.node.add(name="call", op=f"f{levels - 1}", input=["x"])
    return tf.import_graph_def(graph_def, name="", return_elements=["call:0"])[0]


@pytest.mark.parametrize("executor", ["", "TOKENS"])
def test_functions_that_call_each_other_twice_thirty_deep(monkeypatch, executor):
    monkeypatch.setattr(progress, "MOST_INLINED", 2000)
    config = tf.ConfigProto()
    config.experimental.executor_type = executor
    call = _doubling(30)
    with (
        tf.Session(config=config) as session,
        pytest.raises(tf.errors.ResourceExhaustedError, match=r"at call/.*MOST_INLINED"),
    ):
        session.run(call, {"x:0": 3.0})


def test_functions_within_the_limit():
    call = _doubling(5)
    with tf.Session() as session:
        assert session.run(call, {"x:0": 3.0}) == 3


@pytest.mark.parametrize("whose", ["run", "session"])
def test_the_deadline_holds_while_compiling(whose):
    call = _doubling(30)
    config = tf.ConfigProto(operation_timeout_in_ms=30 if whose == "session" else 0)
    options = tf.RunOptions(timeout_in_ms=30) if whose == "run" else None
    with (
        tf.Session(config=config) as session,
        pytest.raises(tf.errors.DeadlineExceededError, match="compiling the step"),
    ):
        session.run(call, {"x:0": 3.0}, options=options)


def _nested(depth, innermost):
    def level(left, x):
        if not left:
            return innermost(x)

        def body(i, y):
            return i + 1, level(left - 1, y)

        passes = 2 if left <= 3 else 1
        return tf.while_loop(lambda i, y: i < passes, body, [tf.constant(0), x])[1]

    return level(depth, tf.constant(0.0))


@pytest.mark.parametrize("depth", [16, 17, 21, 40])
def test_nested_loops(depth):
    taken = tf.placeholder(tf.float32, [])
    nested = _nested(depth, lambda x: tf.cond(x < 100, lambda: x + taken, lambda: x))
    with tf.Session() as session:
        assert session.run(nested, {taken: 2.0}) == 16


def test_an_error_deep_in_loops_names_its_op():
    nested = _nested(20, lambda x: tf.check_numerics(x / 0, "deep", name="checked"))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="deep") as info:
        session.run(nested)
    assert info.value.op.type == "CheckNumerics"


def test_nested_functional_loops():
    levels = 22
    graph_def = GraphDef()
    for level in range(levels):
        cond = graph_def.library.function.add()
        cond.signature.name = f"cond{level}"
        cond.signature.input_arg.add(name="x", type=1)
        cond.signature.output_arg.add(name="y", type=10)
        limit = cond.node_def.add(name="limit", op="Const")
        limit.attr["dtype"].type = 1
        limit.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(float(level + 1)))
        less = cond.node_def.add(name="less", op="Less", input=["x", "limit:output:0"])
        less.attr["T"].type = 1
        cond.ret["y"] = "less:z:0"
        body = graph_def.library.function.add()
        body.signature.name = f"body{level}"
        body.signature.input_arg.add(name="x", type=1)
        body.signature.output_arg.add(name="y", type=1)
        one = body.node_def.add(name="one", op="Const")
        one.attr["dtype"].type = 1
        one.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(1.0))
        inner = "x"
        if level:
            _while(body.node_def.add(name="inner", input=["x"]), level - 1)
            inner = "inner:output:0"
        add = body.node_def.add(name="add", op="Add", input=[inner, "one:output:0"])
        add.attr["T"].type = 1
        body.ret["y"] = "add:z:0"
    graph_def.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    _while(graph_def.node.add(name="outermost", input=["x"]), levels - 1)
    (outermost,) = tf.import_graph_def(graph_def, name="", return_elements=["outermost:0"])
    with tf.Session() as session:
        assert session.run(outermost, {"x:0": 0.0}) == levels


def _while(node, level):
    node.op = "While"
    node.attr["T"].list.type.append(1)
    node.attr["cond"].func.name, node.attr["body"].func.name = f"cond{level}", f"body{level}"
