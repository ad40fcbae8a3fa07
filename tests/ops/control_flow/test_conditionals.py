"""Switch, Merge and cond as graphs: names, shapes, contexts, what may be fed and fetched, GraphDefs.

What a plan makes of them is in tests/compile/test_cond.py.
"""

import collections

import numpy as np
import pytest

import tideflow as tf
from tideflow.ops.control_flow import switches


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def pred():
    return tf.placeholder(tf.bool, [], "p")


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def names(graph):
    return [(op.name, op.type) for op in graph.get_operations()]


# --------------------------------------------------------------------------------------- the graph of a cond


def test_the_nodes_of_a_cond(graph, pred):
    x = tf.constant(1.0, name="x")
    tf.cond(pred, lambda: tf.exp(x), lambda: tf.constant(2.0))
    assert names(graph)[2:] == [
        ("cond/Switch", "Switch"),
        ("cond/switch_t", "Identity"),
        ("cond/switch_f", "Identity"),
        ("cond/pred_id", "Identity"),
        ("cond/Exp/Switch", "Switch"),
        ("cond/Exp", "Exp"),
        ("cond/Const", "Const"),
        ("cond/Merge", "Merge"),
    ]


def test_constants_of_a_branch_wait_for_its_pivot(graph, pred):
    tf.cond(pred, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    assert [op.name for op in graph.get_operation_by_name("cond/Const").control_inputs] == ["cond/switch_t"]
    assert [op.name for op in graph.get_operation_by_name("cond/Const_1").control_inputs] == ["cond/switch_f"]


def test_a_value_enters_a_branch_once(graph, pred):
    x = tf.constant(1.0)
    tf.cond(pred, lambda: x * x + x, lambda: x - x)
    switches = [op for op in graph.get_operations() if op.type == "Switch" and op.inputs[0] is x]
    assert len(switches) == 2


def test_the_order_of_a_merge_is_false_then_true(graph, pred):
    y = tf.cond(pred, lambda: tf.constant(1.0, name="yes"), lambda: tf.constant(2.0, name="no"))
    assert [t.op.name for t in y.op.inputs] == ["cond/no", "cond/yes"]


def test_conds_are_counted_and_named(graph, pred):
    first = tf.cond(pred, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    second = tf.cond(pred, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    third = tf.cond(pred, lambda: tf.constant(1.0), lambda: tf.constant(2.0), name="choice")
    assert [t.op.name for t in (first, second, third)] == ["cond/Merge", "cond_1/Merge", "choice/Merge"]


def test_nothing_inside_is_fed_or_fetched(graph, pred):
    tf.cond(pred, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    inside = graph.get_operation_by_name("cond/Const")
    assert not graph.is_fetchable(inside) and not graph.is_feedable(inside.outputs[0])
    assert graph.is_fetchable(graph.get_operation_by_name("cond/Merge"))


def test_outer_conds_are_collected(graph, pred):
    tf.cond(
        pred,
        lambda: tf.cond(pred, lambda: tf.constant(1.0), lambda: tf.constant(2.0)),
        lambda: tf.constant(3.0),
    )
    contexts = graph.get_collection(tf.GraphKeys.COND_CONTEXT)
    assert [c.branch for c in contexts] == [1, 0]


def test_an_error_while_building_leaves_no_branch_open(graph, pred):
    with pytest.raises(ZeroDivisionError):
        tf.cond(pred, lambda: 1 / 0, lambda: tf.constant(1.0))
    after = tf.constant(1.0)
    assert after.op._control_flow_context is None and run(after) == 1.0


def test_graphs_with_conds_go_out_and_in(graph, pred):
    x = tf.placeholder(tf.float32, [], "x")
    y = tf.cond(pred, lambda: tf.cond(x > 0.0, lambda: x * 2.0, lambda: x * 3.0), lambda: -x)
    tf.identity(y, name="y")
    with tf.Graph().as_default():
        found = tf.import_graph_def(graph.as_graph_def(), return_elements=["y:0"], name="")[0]
        with tf.Session() as session:
            for p, value in ((True, 2.0), (True, -2.0), (False, 5.0)):
                wanted = (value * 2 if value > 0 else value * 3) if p else -value
                assert session.run(found, {"p:0": p, "x:0": value}) == wanted


# ------------------------------------------------------------------------------------------ shapes and types


def test_shapes_of_a_merge_are_what_both_sides_have(pred):
    def shape(a, b):
        merged = tf.cond(pred, lambda: tf.zeros(a), lambda: tf.zeros(b))
        return merged.shape.as_list() if merged.shape.ndims is not None else None

    assert shape([2, 3], [2, 3]) == [2, 3]
    assert shape([2, 3], [2, 4]) == [2, None]
    assert shape([2, 3], [2]) is None


def test_a_predicate_is_a_scalar_of_booleans():
    with pytest.raises(ValueError, match="rank 0"):
        tf.cond(tf.constant([True]), lambda: tf.constant(1.0), lambda: tf.constant(1.0))
    with pytest.raises((TypeError, ValueError)):
        tf.cond(tf.constant(1.0), lambda: tf.constant(1.0), lambda: tf.constant(1.0))


def test_references_pass_as_references(pred):
    v = tf.Variable(1.0)
    sides = switches.switch(v._ref(), pred)
    assert sides[0].op.type == "RefSwitch" and sides[0].dtype._is_ref_dtype
    merged = switches.merge(list(sides))
    assert merged.output.op.type == "RefMerge"
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(tf.assign_add(merged.output, 5.0), {pred: True}) == 6.0
        assert session.run(v) == 6.0


def test_single_results_are_taken_from_their_list_unless_strict(pred):
    one = tf.cond(pred, lambda: [tf.constant(1.0)], lambda: [tf.constant(2.0)])
    assert isinstance(one, tf.Tensor)
    strict = tf.cond(pred, lambda: [tf.constant(1.0)], lambda: [tf.constant(2.0)], strict=True)
    assert isinstance(strict, list) and len(strict) == 1


def test_operations_become_a_tensor_to_wait_for(pred):
    v = tf.Variable(0)
    made = tf.cond(pred, lambda: v.assign_add(1).op, tf.no_op)
    assert isinstance(made, tf.Tensor)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(made, {pred: True})
        session.run(made.op, {pred: True})
        assert session.run(v) == 2


def test_python_values_as_results(pred):
    y = tf.cond(pred, lambda: 1.5, lambda: 2.5)
    assert [run(y, {pred: p}) for p in (True, False)] == [1.5, 2.5]


# -------------------------------------------------------------------------------------- control dependencies


def test_what_a_cond_waits_for_outside(pred):
    v = tf.Variable(0)
    with tf.control_dependencies([v.assign_add(1)]):
        y = tf.cond(pred, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    with tf.Session() as session:
        session.run(v.initializer)
        for p, count in ((True, 1), (False, 2)):
            session.run(y, {pred: p})
            assert session.run(v) == count


def test_dependencies_inside_a_branch_stay_inside(pred):
    v = tf.Variable(0)

    def branch():
        with tf.control_dependencies([v.assign_add(1)]):
            return tf.constant(1.0) + 0.0

    y = tf.cond(pred, branch, lambda: tf.constant(2.0))
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(y, {pred: False})
        assert session.run(v) == 0
        session.run(y, {pred: True})
        assert session.run(v) == 1


# ------------------------------------------------------------------------------------------ smart_cond


@pytest.mark.parametrize(("given", "known"), [(True, True), (False, False), (1, True), (0, False)])
def test_known_predicates_choose_at_once(graph, given, known):
    made = tf.contrib.framework.smart_cond(given, lambda: "yes", lambda: "no")
    assert made == ("yes" if known else "no") and names(graph) == []


def test_constant_tensors_are_known_and_others_are_not(pred):
    assert tf.contrib.framework.smart_constant_value(tf.constant(True)) is True
    assert tf.contrib.framework.smart_constant_value(pred) is None
    y = tf.contrib.framework.smart_cond(pred, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    assert run(y, {pred: np.array(False)}) == 2.0
    with pytest.raises(TypeError, match="pred"):
        tf.contrib.framework.smart_cond("text", lambda: 1, lambda: 2)


# ------------------------------------------------------------------------------------------ gradients


def test_gradients_of_switches_are_merges_and_the_other_way(graph, pred):
    x = tf.constant(2.0)
    y = tf.cond(pred, lambda: x * 3.0, lambda: x * 5.0)
    before = len(graph.get_operations())
    (grad,) = tf.gradients(y, x)
    made = {op.type for op in graph.get_operations()[before:]}
    assert {"Switch", "Merge"} <= made
    assert [t.op.type for t in grad.op.inputs] == ["Merge", "Merge"]  # x came into each branch by itself


def test_a_side_without_a_gradient_gets_zeros_of_the_values_shape(pred):
    x = tf.placeholder(tf.float32, [None])
    y = tf.cond(pred, lambda: tf.reduce_sum(x * 3.0), lambda: tf.constant(0.0))
    (grad,) = tf.gradients(y, x)
    assert run(grad, {pred: False, x: [1.0, 2.0]}).tolist() == [0.0, 0.0]
    assert run(grad, {pred: True, x: [1.0, 2.0]}).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_sparse_gradients_through_a_cond(pred, use_resource):
    v = tf.Variable([[1.0], [2.0], [3.0]], use_resource=use_resource)
    y = tf.cond(pred, lambda: tf.reduce_sum(tf.gather(v, [0, 2])), lambda: tf.reduce_sum(v * 2.0))
    (grad,) = tf.gradients(y, v)
    dense = tf.convert_to_tensor(grad)
    assert run(dense, {pred: True}).tolist() == [[1.0], [0.0], [1.0]]
    assert run(dense, {pred: False}).tolist() == [[2.0], [2.0], [2.0]]


@pytest.mark.parametrize("use_resource", [False, True])
def test_rows_read_in_both_branches_have_a_sparse_gradient(pred, use_resource):
    v = tf.Variable([[1.0], [2.0], [3.0]], use_resource=use_resource)
    (grad,) = tf.gradients(tf.cond(pred, lambda: tf.gather(v, [0, 2]), lambda: tf.gather(v, [1])), v)
    assert isinstance(grad, tf.IndexedSlices)
    assert run(tf.convert_to_tensor(grad), {pred: True}).tolist() == [[1.0], [0.0], [1.0]]
    assert run(tf.convert_to_tensor(grad), {pred: False}).tolist() == [[0.0], [1.0], [0.0]]


def test_merges_without_a_cond_pass_the_gradient_on(pred):
    switch = tf.raw_ops.Switch(data=tf.constant(3.0), pred=pred)
    x = switch.output_true
    merged = tf.raw_ops.Merge(inputs=[switch.output_false, x * 5.0]).output
    (grad,) = tf.gradients(merged, x)
    assert run(grad, {pred: True}) == 5.0


def test_a_tuple_of_one_is_its_item_unless_that_is_strict():
    One = collections.namedtuple("One", "item")
    with tf.Graph().as_default():
        chosen = tf.placeholder_with_default(True, [])
        sides = (lambda: One(tf.constant(1)), lambda: One(tf.constant(2)))
        assert isinstance(tf.cond(chosen, *sides), tf.Tensor)
        assert isinstance(tf.cond(chosen, *sides, strict=True), One)
