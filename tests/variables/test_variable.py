"""tf.Variable: its nodes and names, both kinds, every constructor argument, reading, writing, messages."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.ops.state import reference_variables
from tideflow.variables.reference import RefVariable
from tideflow.variables.resource import ResourceVariable

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def nodes(graph):
    return [(op.name, op.type) for op in graph.get_operations()]


def run(*fetches):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(list(fetches))


# ------------------------------------------------------------------------------------------ making


def test_nodes_of_a_reference_variable(graph):
    v = tf.Variable([1.0, 2.0])
    assert nodes(graph) == [
        ("Variable/initial_value", "Const"),
        ("Variable", "VariableV2"),
        ("Variable/Assign", "Assign"),
        ("Variable/read", "Identity"),
    ]
    assert isinstance(v, RefVariable) and isinstance(v, tf.Variable)
    assert repr(v) == "<tf.Variable 'Variable:0' shape=(2,) dtype=float32_ref>"
    assert graph.get_operation_by_name("Variable/Assign").colocation_groups() == [b"loc:@Variable"]
    assert v.op.name == "Variable" and v.initializer.name == "Variable/Assign" and v.value() is v._snapshot


def test_nodes_of_a_resource_variable(graph):
    v = tf.Variable([1.0, 2.0], name="w", use_resource=True)
    assert nodes(graph) == [
        ("w/Initializer/initial_value", "Const"),
        ("w", "VarHandleOp"),
        ("w/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp"),
        ("w/Assign", "AssignVariableOp"),
        ("w/Read/ReadVariableOp", "ReadVariableOp"),
    ]
    assert isinstance(v, ResourceVariable) and isinstance(v, tf.Variable)
    assert repr(v) == "<tf.Variable 'w:0' shape=(2,) dtype=float32>"
    assert v.op.get_attr("shared_name") == b"w" and v.initializer.name == "w/Assign"


@KINDS
def test_a_function_makes_the_initial_value_beside_the_variable(graph, use_resource):
    with tf.name_scope("scope"), tf.control_dependencies([tf.no_op()]):
        v = tf.Variable(lambda: tf.zeros([2]), name="v", use_resource=use_resource)
    made = graph.get_operation_by_name("scope/v/Initializer/zeros")
    assert made.colocation_groups() == [b"loc:@scope/v"]
    assert not made.control_inputs and not v.initializer.control_inputs
    np.testing.assert_array_equal(run(v), [[0, 0]])


@KINDS
def test_names_count_up(use_resource):
    made = [tf.Variable(1.0, use_resource=use_resource).name for _ in range(2)]
    with tf.name_scope("s"):
        made += [tf.Variable(1.0, name="v", use_resource=use_resource).name for _ in range(2)]
    assert made == ["Variable:0", "Variable_1:0", "s/v:0", "s/v_1:0"]


@KINDS
def test_collections_and_training(use_resource):
    v = tf.Variable(1.0, use_resource=use_resource)
    fixed = tf.Variable(1.0, trainable=False, use_resource=use_resource)
    filed = tf.Variable(1.0, collections=["a"], use_resource=use_resource)
    on_read = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ, use_resource=use_resource)
    assert tf.global_variables() == tf.all_variables() == [v, fixed, on_read]
    assert tf.trainable_variables() == [v, filed]
    assert tf.get_collection("a") == [filed]
    assert (v.trainable, fixed.trainable, on_read.trainable) == (True, False, False)


@KINDS
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "initial_value must be specified"),
        ({"initial_value": 1.0, "collections": "abc"}, "must be a list, tuple, or set"),
        ({"initial_value": 1.0, "constraint": 3}, "must be a callable"),
        ({"initial_value": 1.0, "name": ""}, "not a valid node name"),
        ({"initial_value": 1.0, "shape": [3]}, "compatible|must be equal"),
    ],
)
def test_arguments_that_make_no_variable(use_resource, arguments, message):
    with pytest.raises(ValueError, match=message):
        tf.Variable(use_resource=use_resource, **arguments)


def test_shapes_that_are_not_known():
    value = tf.placeholder(tf.float32, [None, 2])
    with pytest.raises(ValueError, match="initial_value must have a shape specified"):
        tf.Variable(value)
    free = tf.Variable(value, validate_shape=False)
    assert free.shape.ndims is None
    assert tf.Variable(value, use_resource=True).shape.as_list() == [None, 2]
    assert tf.Variable([1.0], shape=tf.TensorShape(None), use_resource=True).shape.ndims is None
    with tf.Session() as sess:
        sess.run(free.initializer, {value: np.ones([3, 2])})
        assert sess.run(free).shape == (3, 2)


@KINDS
def test_types(use_resource):
    assert tf.Variable(1, dtype=tf.float64, use_resource=use_resource).dtype.base_dtype is tf.float64
    with pytest.raises(ValueError, match="requested dtype float64"):
        tf.Variable(tf.zeros([2]), dtype=tf.float64, use_resource=use_resource)
    text = tf.Variable(["a", "b"], use_resource=use_resource)
    assert run(text)[0].tolist() == [b"a", b"b"]


@KINDS
def test_caching_device(graph, use_resource):
    v = tf.Variable(1.0, name="v", caching_device="/cpu:0", use_resource=use_resource)
    cached = graph.get_operation_by_name("v/Read/Identity" if use_resource else "v/read")
    assert v.value().op is cached and cached.device == "/device:CPU:0"
    assert run(v + 1.0) == [2.0]


# ----------------------------------------------------------------------------- reading and writing


@KINDS
def test_operators_and_slices_work_on_the_value(use_resource):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=use_resource)
    results = run(v + 1.0, 2.0 * v, -v, v[1], v[:, 0], v > 2.0, np.float32(1) - v, v @ v, abs(-v))
    value = np.array([[1.0, 2.0], [3.0, 4.0]])
    wanted = [value + 1, 2 * value, -value, value[1], value[:, 0], value > 2, 1 - value, value @ value, value]
    for found, right in zip(results, wanted):
        np.testing.assert_array_equal(found, right)
    with pytest.raises(TypeError, match="'Variable' object is not iterable"):
        iter(v)
    assert v == v and v != 3 and hash(v) == hash(v)
    assert {v.experimental_ref(): 1}[v.experimental_ref()] == 1 and v.experimental_ref().deref() is v


@KINDS
def test_assignment_to_a_slice(use_resource):
    v = tf.Variable(np.zeros([3, 2], np.float32), use_resource=use_resource)
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(v[1].assign([1.0, 2.0]))
        np.testing.assert_array_equal(sess.run(v[::2, 1].assign([5.0, 6.0])), [[0, 5], [1, 2], [0, 6]])


@KINDS
def test_writing(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    slices = tf.IndexedSlices(tf.constant([10.0]), tf.constant([1]))
    steps = [
        (v.assign_add([2.0, 2.0]), [3, 4]),
        (v.assign_sub([1.0, 1.0]), [2, 3]),
        (tf.assign_add(v, [1.0, 1.0], name="named"), [3, 4]),
        (v.scatter_add(slices), [3, 14]),
        (v.scatter_sub(slices), [3, 4]),
        (v.scatter_update(slices), [3, 10]),
        (v.scatter_div(slices), [3, 1]),
        (v.scatter_mul(slices), [3, 10]),
        (v.scatter_min(slices), [3, 10]),
        (v.scatter_nd_update([[0]], [7.0]), [7, 10]),
        (v.scatter_nd_add([[0]], [1.0]), [8, 10]),
        (v.scatter_nd_sub([[0]], [8.0]), [0, 10]),
        (v.scatter_max(slices), [0, 10]),
    ]
    assign = v.assign([3.0, 4.0], read_value=False)
    gathered = [v.gather_nd([[1]]), v.sparse_read([1, 0])]
    with tf.Session() as sess:
        sess.run(v.initializer)
        for step, wanted in steps:
            assert sess.run(step).tolist() == wanted, step
        assert [part.tolist() for part in sess.run(gathered)] == [[10], [10, 0]]
        assert sess.run(assign) is None and sess.run(v).tolist() == [3, 4]
        v.load([8.0, 9.0], sess)
        assert v.eval(sess).tolist() == [8, 9]
    with pytest.raises(TypeError, match="not IndexedSlices"):
        v.scatter_add(tf.constant([1.0]))
    with pytest.raises(ValueError, match="default session"):
        v.load([1.0, 2.0])


@KINDS
def test_batch_scatter_update(use_resource):
    v = tf.Variable(np.zeros([2, 3], np.float32), use_resource=use_resource)
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([[0], [2]]))
    with tf.Session() as sess:
        sess.run(v.initializer)
        np.testing.assert_array_equal(sess.run(v.batch_scatter_update(slices)), [[1, 0, 0], [0, 0, 2]])


def test_a_write_of_a_resource_variable_is_the_variable_after_it():
    v = tf.Variable([1.0], use_resource=True)
    after = v.assign_add([10.0])
    assert isinstance(after, tf.Variable) and after.op.type == "AssignAddVariableOp"
    twice = after * 2.0
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(twice).tolist() == [22.0]
        assert sess.run(v).tolist() == [11.0]
    with pytest.raises(RuntimeError, match="assign_add"):
        v += 1.0


@KINDS
def test_conversion_checks_the_type(use_resource):
    v = tf.Variable([1.0], use_resource=use_resource)
    with pytest.raises(ValueError, match="Incompatible type conversion requested to type 'int32'"):
        tf.convert_to_tensor(v, dtype=tf.int32)
    with pytest.raises(TypeError, match="mutable tensor"):
        reference_variables.assign_op(tf.zeros([1]), [1.0])


# ------------------------------------------------------------------------------------------ initial values


@KINDS
def test_initial_values_of_other_variables_initialize_in_one_step(use_resource):
    a = tf.Variable([2.0], name="a", use_resource=use_resource)
    b = tf.Variable(a.initialized_value() * 3.0, name="b", use_resource=use_resource)
    c = tf.Variable(lambda: b.initialized_value() + 1.0, name="c", use_resource=use_resource)
    assert [x.tolist() for x in run(a, b, c)] == [[2.0], [6.0], [7.0]]


def test_initial_values_from_reference_variables_are_guarded(graph):
    a = tf.Variable(tf.random_uniform([3]), name="a")
    b = tf.Variable(tf.stack([a, a * 2.0]), name="b")
    assert b.initializer.inputs[1].op.name == "stack_b"
    assert b.initial_value.op.name == "stack"
    for _ in range(3):
        with tf.Session() as sess:
            sess.run([b.initializer, a.initializer])
            doubled = sess.run([a, b])
        assert doubled[1].shape == (2, 3)


@KINDS
def test_initialized_value_prefers_the_value(use_resource):
    v = tf.Variable([1.0], use_resource=use_resource)
    safe = v.initialized_value()
    with tf.Session() as sess:
        assert sess.run(safe).tolist() == [1.0]
        sess.run(v.initializer)
        sess.run(v.assign([5.0]))
        assert sess.run(safe).tolist() == [5.0]


def test_initializers_group(graph):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b", collections=["local_variables"])
    init, local, none = (
        tf.global_variables_initializer(),
        tf.local_variables_initializer(),
        tf.variables_initializer([], name="nothing"),
    )
    assert [op.name for op in (init, local, none)] == ["init", "init_1", "nothing"]
    assert init.control_inputs == [a.initializer] and local.control_inputs == [b.initializer]
    assert tf.initialize_all_variables().type == "NoOp"


@KINDS
def test_report_of_what_is_not_initialized(use_resource):
    a = tf.Variable(1.0, name="a", use_resource=use_resource)
    tf.Variable([1.0], name="b", use_resource=use_resource)
    report, check = tf.report_uninitialized_variables(), tf.assert_variables_initialized()
    with tf.Session() as sess:
        assert sess.run(report).tolist() == [b"a", b"b"]
        sess.run(a.initializer)
        assert sess.run(report).tolist() == [b"b"]
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(check)
        sess.run(tf.global_variables_initializer())
        assert sess.run(report).tolist() == []
        sess.run(check)


# ------------------------------------------------------------------------------------------ messages


@KINDS
def test_through_a_message_and_back(graph, use_resource):
    with tf.name_scope("s"):
        v = tf.Variable([1.0], name="v", trainable=False, use_resource=use_resource)
    v._set_save_slice_info(tf.Variable.SaveSliceInfo("s/whole", [4], [2], [1]))
    message = v.to_proto()
    assert message.variable_name == "s/v:0" and message.is_resource == use_resource
    back = tf.Variable.from_proto(message)
    assert type(back) is type(v) and back.name == v.name and back.initializer is v.initializer
    assert back.initial_value is v.initial_value and not back.trainable
    assert back._get_save_slice_info().spec == "4 2,1"
    assert run(back + 1.0)[0].tolist() == [2.0] if not use_resource else back.shape.as_list() == [1]
    inside = v.to_proto(export_scope="s")
    assert inside.variable_name == "v:0" and inside.save_slice_info_def.full_name == "whole"
    assert v.to_proto(export_scope="elsewhere") is None
    assert tf.Variable.from_proto(inside, import_scope="s").name == "s/v:0"
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.Variable(1.0, variable_def=message)


# ------------------------------------------------------------------------------------------ creators


def test_creators_wrap_each_other():
    seen = []

    def renaming(next_creator, **arguments):
        seen.append(("renaming", arguments["name"]))
        return next_creator(**{**arguments, "name": "renamed"})

    def watching(next_creator, **arguments):
        seen.append(("watching", arguments["name"]))
        return next_creator(**arguments)

    with tf.variable_creator_scope(renaming), tf.variable_creator_scope(watching):
        v = tf.Variable(1.0, name="v")
        w = tf.get_variable("w", [1], initializer=tf.zeros_initializer())
    assert (v.name, w.name) == ("renamed:0", "renamed_1:0")
    assert seen == [("watching", "v"), ("renaming", "v"), ("watching", "w"), ("renaming", "w")]
    assert tf.Variable(1.0, name="after").name == "after:0"


def test_resource_variables_as_the_default():
    tf.enable_resource_variables()
    try:
        assert tf.resource_variables_enabled()
        assert isinstance(tf.Variable(1.0), ResourceVariable)
        assert isinstance(tf.Variable(1.0, use_resource=False), RefVariable)
    finally:
        tf.disable_resource_variables()
    assert isinstance(tf.Variable(1.0), RefVariable)
