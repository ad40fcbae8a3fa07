"""Functions with constants in place of their variables, as `convert_variables_to_constants_v2` makes them."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.programs.inner.graph.constant_functions import (
    convert_variables_to_constants_v2,
    disable_lower_using_switch_merge,
)
from tideflow.programs.modules import look_up

_VARIABLES = {"VarHandleOp", "ReadVariableOp", "ResourceGather", "PartitionedCall", "StatefulPartitionedCall"}


def _op_types(graph_def):
    bodies = [function.node_def for function in graph_def.library.function]
    return {node.op for nodes in (graph_def.node, *bodies) for node in nodes}


def _run(frozen, feeds):
    """What the function's graph computes after an import, by a session."""
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = [output.name for output in frozen.outputs]
        made = tf.import_graph_def(frozen.graph.as_graph_def(), name="", return_elements=outputs)
        return session.run(made, feeds)


def test_the_function_is_where_programs_import_it():
    place = "python.framework.convert_to_constants"
    assert look_up(place, "convert_variables_to_constants_v2") is convert_variables_to_constants_v2


@pytest.mark.parametrize("lowered", [True, False])
def test_variables_in_calls_branches_and_loops_become_constants(lowered):
    scale, weights = tf.Variable(3.0), tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def scaled(x):
        return x * scale

    @tf.function
    def whole(x, n):
        y = scaled(tf.matmul(x, weights))
        y = tf.cond(n > 2, lambda: y * scale, lambda: y)
        return {"y": tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a + scale), [0, y])[1]}

    concrete = whole.get_concrete_function(tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([], tf.int32))
    frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=lowered)
    types = _op_types(frozen.graph.as_graph_def())
    assert not types & _VARIABLES and ("Switch" in types) is lowered
    assert [tensor.name for tensor in frozen.inputs] == ["x:0", "n:0"]
    assert [tensor.name for tensor in frozen.outputs] == [tensor.name for tensor in concrete.outputs]
    x, n = tf.ones([1, 2]), tf.constant(3)
    expected = concrete(x=x, n=n)["y"].numpy()
    np.testing.assert_array_equal(frozen(x, n)["y"].numpy(), expected)
    np.testing.assert_array_equal(_run(frozen, {"x:0": x.numpy(), "n:0": 3})[0], expected)


def test_rows_of_variables_and_what_is_captured_become_constants():
    rows, offset = tf.Variable([[1.0], [2.0], [3.0]]), tf.constant(1.0) + 1.0

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def looked_up(i):
        return tf.nn.embedding_lookup(rows, i) + offset

    frozen = convert_variables_to_constants_v2(looked_up.get_concrete_function())
    assert len(frozen.inputs) == 1 and not _op_types(frozen.graph.as_graph_def()) & _VARIABLES
    assert _run(frozen, {"i:0": [2, 0]})[0].tolist() == [[5.0], [3.0]]


def test_a_function_that_writes_its_variables_is_refused():
    count = tf.Variable(0.0)
    add = tf.function(lambda: count.assign_add(1.0)).get_concrete_function()
    with pytest.raises(ValueError, match="needs the variable, not a constant"):
        convert_variables_to_constants_v2(add)


def test_conditionals_and_loops_are_marked_to_stay_calls():
    message = tf.GraphDef(node=[tf.NodeDef(name="a", op="If"), tf.NodeDef(name="b", op="NoOp")])
    marked = disable_lower_using_switch_merge(message)
    assert [list(node.attr) for node in marked.node] == [["_lower_using_switch_merge"], []]
    assert not message.node[0].attr
