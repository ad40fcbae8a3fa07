"""What scopes around `import_graph_def` do to the imported nodes, and which damaged nodes are refused."""

import pytest
from google.protobuf import text_format
from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef

import tideflow as tf
from tideflow.graph.graph_import import extend_graph


def exported():
    with tf.Graph().as_default() as graph:
        tf.identity(tf.identity(tf.placeholder(tf.float32, name="a"), name="b"), name="c")
    return graph.as_graph_def()


def test_every_imported_node_waits_for_the_scopes_controls():
    with tf.Graph().as_default() as graph:
        before, x = tf.no_op(name="before"), tf.constant(1.0, name="x")
        with tf.control_dependencies([before, x]):
            (c,) = tf.import_graph_def(exported(), {"a:0": x}, ["c:0"], name="i")
            after = tf.identity(c)
        for name in ("i/a", "i/b", "i/c"):
            assert graph.get_operation_by_name(name).control_inputs == [before, x.op]
        assert after.op.control_inputs == []  # what it takes has waited


def test_an_imported_colocation_keeps_the_device_of_its_group():
    with tf.Graph().as_default() as graph:
        with tf.device("/gpu:0"):
            anchor = tf.constant(1.0)
        with tf.colocate_with(anchor), tf.device("/cpu:0"):
            tf.import_graph_def(exported(), name="i")
        assert graph.get_operation_by_name("i/a").device == "/device:GPU:0"


def _of_node_lines(*nodes):
    return text_format.Parse("versions { producer: 27 } " + " ".join(nodes), tf.GraphDef())


def _beside(group, device=""):
    attr = f"attr {{ key: '_class' value {{ list {{ s: 'loc:@{group}' }} }} }}"
    return f"node {{ name: 'b' op: 'NoOp' device: '{device}' {attr} }}"


CONSTANT = [
    "node { name: 'k' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }",
    "attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 2.0 } } } }",
]


def test_nodes_that_stand_with_others_have_their_device_alone():
    first = "node { name: 'a' op: 'NoOp' device: '/device:CPU:0' }"
    a, b = tf.import_graph_def(_of_node_lines(first, _beside("a")), return_elements=["a", "b"])
    assert (a.device, b.device) == ("/device:CPU:0", "/device:CPU:0")
    first = "node { name: 'a' op: 'NoOp' }"
    with tf.device(lambda op: "/device:GPU:1" if op.name.endswith("b") else ""):
        _, b = tf.import_graph_def(_of_node_lines(first, _beside("a", "/cpu:0")), return_elements=["a", "b"])
    assert b.device == ""


def test_clients_extend_a_graph_by_nodes_that_keep_their_devices_beside_earlier_ones():
    graph = tf.Graph()
    extend_graph(graph, _of_node_lines("node { name: 'a' op: 'NoOp' }"))
    extend_graph(graph, _of_node_lines(_beside("a", "/device:CPU:0")))
    b = graph.get_operation_by_name("b")
    assert (b.device, b.colocation_groups()) == ("/device:CPU:0", [b"loc:@a"])


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_groups_are_called_as_their_operations_are(graph):
    message = _of_node_lines("node { name: 'a' op: 'NoOp' }", _beside("a"))
    for name in ("a", "a_1"):
        _, b = tf.import_graph_def(message, return_elements=["a", "b"], name="")
        assert b.colocation_groups() == [f"loc:@{name}".encode()]


def test_an_imported_name_may_be_that_of_a_scope_without_operations(graph):
    with tf.name_scope("a"):
        pass
    with tf.name_scope("c"):
        tf.no_op("inside")
    message = _of_node_lines("node { name: 'a' op: 'NoOp' }", "node { name: 'c' op: 'NoOp' }")
    made = tf.import_graph_def(message, return_elements=["a", "c"], name="")
    assert [op.name for op in made] == ["a", "c_1"]


def test_a_replaced_tensor_that_no_node_takes_has_to_be_there():
    message = _of_node_lines("node { name: 'a' op: 'NoOp' }", *CONSTANT)
    one = tf.constant(1.0)
    tf.import_graph_def(message, {"k:0": one, "^a": one.op})
    with pytest.raises(ValueError, match=r"not found in graph_def: \[k:1, \^b\]"):
        tf.import_graph_def(message, {"k:1": one, "^b": one.op})


def test_a_loop_imported_into_a_branch():
    with tf.Graph().as_default() as graph:
        counted = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])
    message = graph.as_graph_def()
    pred = tf.placeholder(tf.bool)
    out = tf.cond(pred, lambda: tf.import_graph_def(message, return_elements=[counted.name])[0], lambda: 1)
    with tf.Session() as session:
        assert [session.run(out, {pred: value}) for value in (True, False)] == [10, 1]


@pytest.mark.parametrize("attr", ['list { s: "loc:@\\377" }', "i: 3", 's: "loc:@a"'])
def test_a_colocation_that_is_no_list_of_names_is_refused(attr):
    graph_def = exported()
    graph_def.node[0].attr["_class"].CopyFrom(text_format.Parse(attr, AttrValue()))
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"'_class' is .*, not a list of names"):
        tf.import_graph_def(graph_def)


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ({"producer": -1}, "producer version -1 below min producer 0"),
        ({"producer": 134, "min_consumer": 135}, "min consumer version 135 above current version 134"),
        ({"producer": 134, "bad_consumers": [134]}, "disallows consumer version 134"),
    ],
)
def test_versions_that_are_refused(versions, message):
    graph_def = tf.GraphDef(versions=versions)
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        tf.import_graph_def(graph_def)


def test_a_graph_keeps_the_versions_of_what_it_imports():
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef(versions={"producer": 21, "min_consumer": 12, "bad_consumers": [1]}))
        tf.import_graph_def(tf.GraphDef(versions={"producer": 22, "min_consumer": 3}))
    versions = graph.as_graph_def().versions
    assert (versions.producer, versions.min_consumer, list(versions.bad_consumers)) == (21, 12, [1])


# ----------------------------------------------------------------------------------- damage


def _node(graph_def, name, op, *inputs, **types):
    node = graph_def.node.add(name=name, op=op, input=inputs)
    for key, dtype in types.items():
        node.attr[key].type = dtype.as_datatype_enum
    return node


@pytest.fixture
def damaged():
    """A GraphDef with a constant `c`."""
    graph_def = GraphDef()
    node = _node(graph_def, "c", "Const", dtype=tf.float32)
    node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto([1.0, 2.0]))
    return graph_def


def _refused(graph_def, match, error=ValueError):
    with tf.Graph().as_default() as graph:
        with pytest.raises(error, match=match):
            tf.import_graph_def(graph_def, name="")
        assert not graph.get_operations()


def test_a_merge_without_an_input_from_outside(damaged):
    _node(damaged, "m", "Merge", "n", "n", T=tf.float32).attr["N"].i = 2
    _node(damaged, "n", "NextIteration", "m", T=tf.float32)
    _refused(damaged, "none from outside")


def test_a_merge_that_waits_for_its_next_iteration(damaged):
    _node(damaged, "m", "Merge", "c", "n", "^n", T=tf.float32).attr["N"].i = 2
    _node(damaged, "n", "NextIteration", "m", T=tf.float32)
    _refused(damaged, "cycle")


@pytest.mark.parametrize("count", [-1, 1 << 40, 1 << 62])
def test_a_number_of_tensors_that_no_node_has(damaged, count):
    _node(damaged, "s", "Split", "c", "c", T=tf.float32).attr["num_split"].i = count
    _refused(damaged, "'num_split'")


def test_an_attribute_without_a_value(damaged):
    damaged.node[0].attr["dtype"].Clear()
    _refused(damaged, r"AttrValue missing value with expected type 'type'\n\t for attr 'dtype'")


def test_an_attribute_of_two_kinds(damaged):
    node = _node(damaged, "i", "IdentityN", "c")
    node.attr["T"].list.type.append(1)
    node.attr["T"].list.i.append(1)
    _refused(damaged, "type 'list\\(int\\)' when")


def test_a_type_that_is_a_reference(damaged):
    damaged.node[0].attr["dtype"].type = tf.float32._as_ref.as_datatype_enum
    _refused(damaged, "must not have reference type")


def test_a_constant_of_another_type_than_its_value(damaged):
    damaged.node[0].attr["dtype"].type = tf.int32.as_datatype_enum
    _refused(damaged, r"mismatch between value \(float32\) and dtype \(int32\)")


def test_output_shapes_that_are_no_shapes(damaged):
    damaged.node[0].attr["_output_shapes"].type = 1
    with tf.Graph().as_default():
        (c,) = tf.import_graph_def(damaged, return_elements=["c:0"])
        assert c.shape == [2]


def _function(graph_def, output="a:y:0"):
    function = graph_def.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="x", type=1)
    function.signature.output_arg.add(name="y", type=1)
    node = function.node_def.add(name="a", op="Neg", input=["x"])
    node.attr["T"].type = 1
    function.ret["y"] = output
    graph_def.node.add(name="call", op="f", input=["c"])
    return function


@pytest.mark.parametrize("output", ["", "a:y:7", "a:y:99999999999999999999", "b:y:0", "a:z:0"])
def test_a_function_whose_output_is_not_there(damaged, output):
    _function(damaged, output)
    _runs_or_is_refused(damaged)


@pytest.mark.parametrize("key", ["type_attr", "type_list_attr", "number_attr"])
def test_a_function_whose_argument_needs_an_attribute_that_is_not_there(damaged, key):
    setattr(_function(damaged).signature.input_arg[0], key, "Tmissing")
    _runs_or_is_refused(damaged)


def test_a_function_with_a_node_that_lacks_its_types(damaged):
    function = _function(damaged)
    function.node_def.add(name="b", op="IdentityN", input=["x"])
    _runs_or_is_refused(damaged)


def _runs_or_is_refused(graph_def):
    with tf.Graph().as_default() as graph, pytest.raises((tf.errors.OpError, ValueError)):
        tf.import_graph_def(graph_def, name="")
        with tf.Session(graph=graph) as session:
            session.run(graph.get_operation_by_name("call"))


def test_an_operation_inside_of_a_loop_is_no_target():
    with tf.Graph().as_default():
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="w")
        graph_def = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        with pytest.raises(tf.errors.InvalidArgumentError, match="'w/Merge' is inside a loop"):
            session.run(graph.get_operation_by_name("w/Merge"))


def test_nothing_is_assigned_to_a_tensor_that_refers_to_no_variable():
    with tf.Graph().as_default(), pytest.raises(AttributeError, match="refers to no variable"):
        tf.assign(tf.constant(1.0), 2.0)
