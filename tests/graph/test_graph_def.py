"""GraphDef out and in: whole graphs, bad ones, and nothing left behind by a failure."""

import numpy as np
import pytest
from google.protobuf import text_format

import tideflow as tf

FLOAT = 'attr { key: "dtype" value { type: DT_FLOAT } }'
T_FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'
PLACEHOLDER = f'node {{ name: "A" op: "Placeholder" {FLOAT} }}'


def parsed(text):
    return text_format.Parse(text, tf.GraphDef())


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        np.arange(6, dtype=np.int64).reshape(2, 3),
        np.array([[True, False]]),
        np.float16([1.5, 2.5]),
        np.complex64([1 + 2j]),
        ["a", "bc", ""],
        np.zeros((0, 3), np.float32),
        np.uint8([255, 1]),
    ],
)
def test_constants_survive_the_round_trip(value):
    with tf.Graph().as_default() as first:
        a = tf.constant(value, name="a")
        expected = tf.Session().run(a)
    message = tf.GraphDef.FromString(first.as_graph_def().SerializeToString())
    with tf.Graph().as_default():
        (b,) = tf.import_graph_def(message, return_elements=["a:0"], name="")
        assert b.dtype == a.dtype and b.shape.as_list() == a.shape.as_list()
        np.testing.assert_array_equal(tf.Session().run(b), expected)


def test_names_inputs_controls_devices_and_colocation_are_kept():
    with tf.Graph().as_default() as first:
        a = tf.placeholder(tf.float32, [None, 3], name="a")
        with tf.control_dependencies([a]), tf.device("/cpu:0"):
            b = tf.identity(a, name="s/b")
            c = tf.constant(2.0, name="c")
        with tf.colocate_with(b.op):
            tf.identity(c, name="d")
    with tf.Graph().as_default() as second:
        tf.import_graph_def(first.as_graph_def(), name="p")
    ops = {op.name: op for op in second.get_operations()}
    assert list(ops) == ["p/a", "p/s/b", "p/c", "p/d"]
    assert ops["p/s/b"].inputs == (ops["p/a"].outputs[0],)
    assert ops["p/c"].control_inputs == [ops["p/a"]]
    assert ops["p/s/b"].device == "/device:CPU:0"
    assert ops["p/d"].colocation_groups() == [b"loc:@p/s/b"]
    assert ops["p/a"].outputs[0].shape.as_list() == [None, 3]


def test_input_map_replaces_tensors():
    message = parsed(f'{PLACEHOLDER} node {{ name: "B" op: "Identity" input: "A" {T_FLOAT} }}')
    with tf.Graph().as_default():
        x = tf.constant(5.0)
        (b,) = tf.import_graph_def(message, input_map={"A:0": x}, return_elements=["B:0"])
        assert b.op.inputs[0] is x
        assert tf.Session().run(b) == 5.0


def test_nodes_may_come_in_any_order():
    message = parsed(f'node {{ name: "B" op: "Identity" input: "A" {T_FLOAT} }} {PLACEHOLDER}')
    with tf.Graph().as_default() as g:
        tf.import_graph_def(message, name="")
        assert [op.name for op in g.get_operations()] == ["A", "B"]


BAD = {
    "unknown op": ('node { name: "A" op: "Foo" }', tf.errors.NotFoundError, "Op type not registered 'Foo'"),
    "twice": (PLACEHOLDER * 2, ValueError, "not unique"),
    "missing attribute": (
        f'{PLACEHOLDER} node {{ name: "B" op: "Identity" input: "A" }}',
        ValueError,
        "missing attr 'T'",
    ),
    "wrong type": (
        f'{PLACEHOLDER} node {{ name: "B" op: "Identity" input: "A" '
        'attr { key: "T" value { type: DT_INT32 } } }',
        ValueError,
        "Input 0 of node import/B was passed float",
    ),
    "too many inputs": (
        f'{PLACEHOLDER} node {{ name: "B" op: "Identity" input: "A" input: "A" {T_FLOAT} }}',
        ValueError,
        "2 inputs",
    ),
    "unknown input": (
        f'node {{ name: "B" op: "Identity" input: "C" {T_FLOAT} }}',
        ValueError,
        "Unknown input node 'C'",
    ),
    "cycle": (
        f'node {{ name: "B" op: "Identity" input: "C" {T_FLOAT} }}'
        f'node {{ name: "C" op: "Identity" input: "B" {T_FLOAT} }}',
        ValueError,
        "2 nodes in a cycle",
    ),
    "no such output": (
        f'{PLACEHOLDER} node {{ name: "B" op: "Identity" input: "A:3" {T_FLOAT} }}',
        ValueError,
        "invalid output 3",
    ),
    "unknown attribute": (
        f'node {{ name: "A" op: "Placeholder" {FLOAT} attr {{ key: "x" value {{ i: 3 }} }} }}',
        ValueError,
        "'x'",
    ),
    "bad name": ('node { name: "a b" op: "NoOp" }', ValueError, "invalid characters"),
    "short content": (
        'node { name: "A" op: "Const" ' + FLOAT + ' attr { key: "value" value { tensor { dtype: DT_FLOAT '
        'tensor_shape { dim { size: 2 } } tensor_content: "abc" } } } }',
        ValueError,
        "tensor_content has 3 bytes",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_graph_defs_are_refused_and_leave_nothing_behind(case):
    text, error, message = BAD[case]
    with tf.Graph().as_default() as g:
        kept = tf.constant(1.0, name="kept")
        with pytest.raises(error, match=message):
            tf.import_graph_def(parsed(text), input_map=None)
        assert g.get_operations() == [kept.op]


def test_mapped_inputs_and_return_elements_must_exist():
    with tf.Graph().as_default() as g:
        with pytest.raises(ValueError, match="not found in graph_def"):
            tf.import_graph_def(parsed(PLACEHOLDER), input_map={"Z:0": tf.constant(1.0)})
        with pytest.raises(ValueError, match="'Z' not found"):
            tf.import_graph_def(parsed(PLACEHOLDER), return_elements=["Z"])
        with pytest.raises(TypeError, match="GraphDef proto"):
            tf.import_graph_def(3)
        assert len(g.get_operations()) == 1


def test_unknown_attributes_of_a_node_stay_with_it():
    message = parsed(
        f'node {{ name: "A" op: "Placeholder" {FLOAT} attr {{ key: "_mine" value {{ s: "yes" }} }} }}'
    )
    with tf.Graph().as_default() as g:
        tf.import_graph_def(message, name="")
        assert g.get_operation_by_name("A").get_attr("_mine") == b"yes"
        assert g.as_graph_def().node[0].attr["_mine"].s == b"yes"
