"""Conditionals in a plan: guards become `if`, only the taken branch runs, state and gradients follow it."""

import re

import numpy as np
import pytest

import tideflow as tf
from tests.compile.steps import PLAIN, Compiled, program, run

BOTH = pytest.mark.parametrize("taken", [True, False])
LEVELS = pytest.mark.parametrize("config", [None, PLAIN], ids=["rewritten", "plain"])
KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def pred():
    return tf.placeholder(tf.bool, [], "pred")


class Counted:
    """Counts, by name, how often a tensor passes."""

    def __init__(self):
        self.counts = {}

    def __call__(self, tensor, name):
        def note(value):
            self.counts[name] = self.counts.get(name, 0) + 1
            return value

        made = tf.py_func(note, [tensor], tensor.dtype)
        made.set_shape(tensor.shape)
        return made


@pytest.fixture
def counted():
    return Counted()


# ------------------------------------------------------------------------------------------ one branch runs


@LEVELS
@BOTH
def test_only_the_taken_branch_runs(pred, counted, taken, config):
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(pred, lambda: counted(x * 2.0, "true"), lambda: counted(x * 3.0, "false"))
    assert run(y, {pred: taken, x: 5.0}, config=config) == (10.0 if taken else 15.0)
    assert counted.counts == {"true" if taken else "false": 1}


@BOTH
def test_what_stands_outside_runs_either_way(pred, counted, taken):
    outside = counted(tf.constant(2.0), "outside")
    y = tf.cond(pred, lambda: outside * 2.0, lambda: tf.constant(1.0))
    assert run(y, {pred: taken}) == (4.0 if taken else 1.0)
    assert counted.counts == {"outside": 1}


def test_the_plan_has_ifs_and_evaluates_one_predicate(pred):
    x = tf.placeholder(tf.float32, [3])
    y = tf.cond(pred, lambda: tf.exp(x) + tf.sin(x), lambda: tf.tanh(x))
    source = Compiled(y, {pred: np.array(True), x: np.ones(3, np.float32)}).plan.source
    assert source.count("    if feed0:") == 1
    assert source.count("    if not feed0:") == 1
    assert re.search(r"= \(v\d+, index0\) if not feed0 else \(v\d+, index1\)", source)


def test_guards_are_the_sides_of_the_switches_behind_a_node(pred):
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(pred, lambda: tf.exp(x), lambda: tf.sin(x)) * 2.0
    made = program(y, {pred: np.array(True), x: np.array(1.0, np.float32)})
    sides = {node.type: {side for _, side in node.guards} for node in made.nodes}
    assert sides["Exp"] == {True} and sides["Sin"] == {False}
    assert sides["Mul"] == set() and sides["Merge"] == set()
    (merge,) = [node for node in made.nodes if node.type == "Merge"]
    assert [next(iter(guards))[1] for guards in merge.choices] == [False, True]


@BOTH
def test_equal_nodes_merge_within_a_branch_and_not_across(pred, taken):
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(
        pred, lambda: tf.exp(x) + tf.exp(x) * 2.0, lambda: tf.exp(x) * 5.0
    )  # three Exp, of which two are one
    step = Compiled(y, {pred: np.array(taken), x: np.array(0.0, np.float32)})
    assert step.types.count("Exp") == 2
    assert step.run() == [3.0 if taken else 5.0]


@BOTH
def test_results_of_any_structure(pred, taken):
    a, b = tf.constant([1.0, 2.0]), tf.constant([3, 4])
    found = tf.cond(pred, lambda: {"f": a, "i": [b, b + 1]}, lambda: {"f": a * 10.0, "i": [b * 10, b]})
    value = run(found, {pred: taken})
    assert value["f"].tolist() == ([1.0, 2.0] if taken else [10.0, 20.0])
    assert [v.tolist() for v in value["i"]] == ([[3, 4], [4, 5]] if taken else [[30, 40], [3, 4]])


@BOTH
def test_sparse_results(pred, taken):
    rows = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]), tf.constant([2, 1]))
    other = tf.IndexedSlices(tf.constant([[5.0]]), tf.constant([0]), tf.constant([2, 1]))
    made = tf.cond(pred, lambda: rows, lambda: other)
    assert run(tf.convert_to_tensor(made), {pred: taken}).tolist() == (
        [[0.0], [1.0]] if taken else [[5.0], [0.0]]
    )


@BOTH
def test_strings_pass(pred, taken):
    y = tf.cond(pred, lambda: tf.constant("yes"), lambda: tf.constant("no"))
    assert run(y, {pred: taken}) == (b"yes" if taken else b"no")


@BOTH
def test_branches_that_return_outer_tensors(pred, taken):
    x, y = tf.constant(1.0), tf.constant(2.0)
    assert run(tf.cond(pred, lambda: x, lambda: y), {pred: taken}) == (1.0 if taken else 2.0)


@BOTH
def test_shapes_may_differ(pred, taken):
    y = tf.cond(pred, lambda: tf.zeros([2, 3]), lambda: tf.zeros([2, 5]))
    assert y.shape.as_list() == [2, None]
    assert run(y, {pred: taken}).shape == ((2, 3) if taken else (2, 5))


@BOTH
def test_a_computed_predicate(taken):
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(tf.logical_and(x > 0.0, tf.equal(x, x)), lambda: x, lambda: -x)
    assert run(y, {x: 3.0 if taken else -4.0}) == (3.0 if taken else 4.0)


@BOTH
@LEVELS
def test_a_constant_predicate(counted, taken, config):
    y = tf.cond(tf.constant(taken), lambda: counted(tf.constant(1.0), "t"), lambda: tf.constant(2.0))
    assert run(y, config=config) == (1.0 if taken else 2.0)
    assert counted.counts == ({"t": 1} if taken else {})


def test_one_predicate_for_many_conds(pred):
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(pred, lambda: x + 1.0, lambda: x - 1.0)
    z = tf.cond(pred, lambda: y * 2.0, lambda: y * 3.0)
    w = tf.cond(tf.logical_not(pred), lambda: z, lambda: -z)
    with tf.Session() as session:
        assert session.run(w, {pred: True, x: 1.0}) == -4.0
        assert session.run(w, {pred: False, x: 2.0}) == 3.0


def test_the_predicate_as_a_value(pred):
    y = tf.cond(pred, lambda: tf.cast(pred, tf.int32), lambda: tf.cast(pred, tf.int32) - 5)
    with tf.Session() as session:
        assert session.run([y, pred], {pred: True}) == [1, True]
        assert session.run([y, pred], {pred: False}) == [-5, False]


# ------------------------------------------------------------------------------------------ nesting


@LEVELS
@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_nested_conds(pred, counted, outer, inner, config):
    q = tf.placeholder(tf.bool, [], "q")
    x = tf.placeholder(tf.float32, [])

    def inside(name, factor):
        return tf.cond(
            q,
            lambda: counted(x * factor, f"{name} true"),
            lambda: counted(x * -factor, f"{name} false"),
        )

    y = tf.cond(pred, lambda: inside("outer true", 2.0) + 1.0, lambda: inside("outer false", 3.0) - 1.0)
    found = run(y + x, {pred: outer, q: inner, x: 10.0}, config=config)
    sign = 1 if inner else -1
    assert found == (sign * 20.0 + 11.0 if outer else sign * 30.0 + 9.0)
    assert counted.counts == {f"outer {str(outer).lower()} {str(inner).lower()}": 1}


@pytest.mark.parametrize("outer", [True, False])
def test_an_inner_predicate_that_is_only_there_in_its_branch(pred, counted, outer):
    x = tf.placeholder(tf.float32, [])

    def branch():
        inner = counted(x, "inner predicate") > 0.0
        return tf.cond(inner, lambda: x + 100.0, lambda: x - 100.0)

    y = tf.cond(pred, branch, lambda: x)
    assert run(y, {pred: outer, x: 1.0}) == (101.0 if outer else 1.0)
    assert counted.counts == ({"inner predicate": 1} if outer else {})


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_deep_nesting(depth):
    levels = tf.placeholder(tf.bool, [depth])
    flags = tf.unstack(levels)

    def nested(i):
        if i == depth:
            return tf.constant(float(depth))
        return tf.cond(flags[i], lambda: nested(i + 1) + 0.0, lambda: tf.constant(float(i)))

    y = nested(0)
    with tf.Session() as session:
        for stop in range(depth + 1):
            assert session.run(y, {levels: [i != stop for i in range(depth)]}) == stop


@BOTH
def test_the_same_predicate_inside_its_own_branch(pred, taken):
    x = tf.constant(1.0)
    y = tf.cond(pred, lambda: tf.cond(pred, lambda: x + 1.0, lambda: x + 2.0), lambda: x + 3.0)
    assert run(y, {pred: taken}) == (2.0 if taken else 4.0)


@BOTH
def test_merges_without_a_cond(pred, taken):
    switch = tf.raw_ops.Switch(data=tf.constant(3.0), pred=pred)
    merged = tf.raw_ops.Merge(inputs=[switch.output_false * 2.0, switch.output_true * 5.0])
    assert run(list(merged), {pred: taken}) == ([15.0, 1] if taken else [6.0, 0])


# ------------------------------------------------------------------------------------------ dead values


def test_fetching_from_a_branch_that_was_not_taken(pred):
    switch = tf.raw_ops.Switch(data=tf.constant(3.0), pred=pred)
    inside = tf.exp(switch.output_true, name="inside") * 0.0
    with tf.Session() as session:
        assert session.run([inside, switch.output_true], {pred: True}) == [0.0, 3.0]
        for fetch in (inside, switch.output_true):
            with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value") as info:
                session.run(fetch, {pred: False})
            assert __file__ in str(info.value)


def test_operations_of_a_branch_that_was_not_taken_do_nothing(pred):
    v = tf.Variable(1.0)
    add = v.assign_add(tf.raw_ops.Switch(data=tf.constant(3.0), pred=pred).output_true)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(add.op, {pred: False})
        assert session.run(v) == 1.0
        session.run(add.op, {pred: True})
        assert session.run(v) == 4.0


def test_what_needs_both_sides_never_runs(pred, counted):
    switch = tf.raw_ops.Switch(data=tf.constant(3.0), pred=pred)
    both = counted(switch.output_true + switch.output_false, "both")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="no branch"):
        session.run(both, {pred: True})
    assert counted.counts == {}


def test_a_merge_of_which_no_input_is_there(pred):
    q = tf.placeholder(tf.bool, [])
    left = tf.raw_ops.Switch(data=tf.constant(3.0), pred=pred).output_true
    right = tf.raw_ops.Switch(data=tf.constant(5.0), pred=q).output_true
    merged = tf.raw_ops.Merge(inputs=[left, right]).output
    with tf.Session() as session:
        assert session.run(merged, {pred: True, q: False}) == 3.0
        assert session.run(merged, {pred: False, q: True}) == 5.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
            session.run(merged, {pred: False, q: False})


def test_a_merge_of_which_every_input_is_there_takes_the_first():
    assert run(list(tf.raw_ops.Merge(inputs=[tf.constant(3.0), tf.constant(5.0)]))) == [3.0, 0]


def test_what_waits_for_a_branch_runs_with_it(pred, counted):
    made = []

    def branch():
        made.append(counted(tf.constant(1.0), "branch"))
        return made[0]

    y = tf.cond(pred, branch, lambda: tf.constant(2.0))
    with tf.control_dependencies([made[0].op]):
        after = counted(tf.constant(7.0), "after")
    with tf.Session() as session:
        session.run([y, after.op], {pred: False})
        assert counted.counts == {}
        session.run([y, after.op], {pred: True})
        assert counted.counts == {"branch": 1, "after": 1}


# ------------------------------------------------------------------------------------------ state


@KINDS
@LEVELS
@BOTH
def test_state_is_written_only_in_the_taken_branch(pred, use_resource, taken, config):
    v = tf.Variable(1.0, use_resource=use_resource)
    w = tf.Variable(1.0, use_resource=use_resource)

    def written(variable, value):
        with tf.control_dependencies([variable.assign(value)]):
            return tf.constant(0.0) + 0.0

    y = tf.cond(pred, lambda: written(v, 10.0), lambda: written(w, 20.0))
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        session.run(y, {pred: taken})
        assert session.run([v, w]) == ([10.0, 1.0] if taken else [1.0, 20.0])


@KINDS
@BOTH
def test_reads_after_a_cond_see_what_its_branch_wrote(pred, use_resource, taken):
    v = tf.Variable(1.0, use_resource=use_resource)
    before = v.read_value()
    with tf.control_dependencies([before]):
        change = tf.cond(pred, lambda: v.assign_add(5.0).op, tf.no_op)
    with tf.control_dependencies([change]):
        after = v.read_value()
    seen = 1.0 if use_resource or not taken else 6.0  # what is read of a reference is the variable's memory
    assert run([before, after], {pred: taken}) == ([seen, 6.0] if taken else [1.0, 1.0])


@KINDS
def test_reads_within_a_branch_see_its_writes(pred, use_resource):
    v = tf.Variable(1.0, use_resource=use_resource)

    def branch():
        first = v.read_value()
        with tf.control_dependencies([first]):
            change = v.assign(first * 10.0)
        with tf.control_dependencies([change]):
            return [first, v.read_value()]

    y = tf.cond(pred, branch, lambda: [v.read_value(), tf.constant(0.0)])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(y, {pred: False}) == [1.0, 0.0]
        assert session.run(y, {pred: True}) == [1.0, 10.0]
        assert session.run(y, {pred: True}) == [10.0, 100.0]


@BOTH
def test_operations_as_branches(pred, taken):
    v = tf.Variable(0)
    step = tf.cond(pred, lambda: tf.group(v.assign_add(1), tf.no_op()), lambda: tf.no_op())
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(step, {pred: taken})
        assert session.run(v) == int(taken)


@BOTH
def test_errors_come_only_from_the_taken_branch(pred, taken):
    bad = tf.placeholder_with_default(np.float32(-1.0), [])
    y = tf.cond(
        pred,
        lambda: tf.check_numerics(tf.log(bad), "in the branch"),
        lambda: tf.constant(1.0),
    )
    if not taken:
        assert run(y, {pred: False}) == 1.0
        return
    with pytest.raises(tf.errors.InvalidArgumentError, match="in the branch"):
        run(y, {pred: True})


# ------------------------------------------------------------------------------------------ gradients


@LEVELS
@BOTH
def test_gradient_with_respect_to_an_outer_tensor(pred, taken, config):
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(pred, lambda: x**2, lambda: 5.0 * x)
    assert run(tf.gradients(y, x), {pred: taken, x: 3.0}, config=config) == [6.0 if taken else 5.0]


@BOTH
def test_gradient_where_one_branch_does_not_use_it(pred, taken):
    x, z = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    y = tf.cond(pred, lambda: x * 2.0, lambda: z * 3.0)
    found = run(tf.gradients(y, [x, z]), {pred: taken, x: [1.0, 2.0], z: [1.0, 2.0]})
    assert found[0].tolist() == ([2.0, 2.0] if taken else [0.0, 0.0])
    assert found[1].tolist() == ([0.0, 0.0] if taken else [3.0, 3.0])


@KINDS
@LEVELS
@BOTH
def test_gradient_with_respect_to_variables(pred, use_resource, taken, config):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    w = tf.Variable([3.0, 4.0], use_resource=use_resource)
    y = tf.cond(pred, lambda: v * v, lambda: v * w)
    found = run(tf.gradients(y, [v, w]), {pred: taken}, config=config)
    assert found[0].tolist() == ([2.0, 4.0] if taken else [3.0, 4.0])
    assert found[1].tolist() == ([0.0, 0.0] if taken else [1.0, 2.0])


@BOTH
def test_gradient_of_what_is_used_inside_and_outside(pred, taken):
    x = tf.placeholder(tf.float32, [])
    inside = tf.cond(pred, lambda: x * x, lambda: x)
    y = inside * x
    assert run(tf.gradients(y, x), {pred: taken, x: 2.0}) == [12.0 if taken else 4.0]


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_gradient_of_nested_conds(pred, outer, inner):
    q = tf.placeholder(tf.bool, [])
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(
        pred,
        lambda: tf.cond(q, lambda: x**3, lambda: x**2) * 2.0,
        lambda: tf.cond(q, lambda: 7.0 * x, lambda: 11.0 * x),
    )
    wanted = {(True, True): 24.0, (True, False): 8.0, (False, True): 7.0, (False, False): 11.0}
    assert run(tf.gradients(y, x), {pred: outer, q: inner, x: 2.0}) == [wanted[outer, inner]]


@BOTH
def test_second_order(pred, taken):
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(pred, lambda: x**3, lambda: x**2)
    (first,) = tf.gradients(y, x)
    (second,) = tf.gradients(first, x)
    assert run([first, second], {pred: taken, x: 2.0}) == ([12.0, 12.0] if taken else [4.0, 2.0])


@BOTH
def test_gradient_runs_only_the_taken_side(pred, counted, taken):
    @tf.custom_gradient
    def noted(x):
        def grad(dy):
            return counted(dy, "gradient")

        return tf.identity(x), grad

    x = tf.placeholder(tf.float32, [])
    y = tf.cond(pred, lambda: noted(x) * 2.0, lambda: x * 3.0)
    assert run(tf.gradients(y, x), {pred: taken, x: 1.0}) == [2.0 if taken else 3.0]
    assert counted.counts == ({"gradient": 1} if taken else {})


@KINDS
def test_training_through_a_cond(pred, use_resource):
    w = tf.Variable([[1.0], [2.0]], use_resource=use_resource)
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.cond(pred, lambda: tf.matmul(x, w), lambda: tf.matmul(x, w * 0.5))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {pred: True, x: [[1.0, 1.0]]})
        np.testing.assert_allclose(session.run(w), [[0.9], [1.9]], rtol=1e-6)
        session.run(step, {pred: False, x: [[1.0, 1.0]]})
        np.testing.assert_allclose(session.run(w), [[0.85], [1.85]], rtol=1e-6)


# ------------------------------------------------------------------------------------------ bad calls


def test_mistakes(pred):
    one = tf.constant(1.0)
    with pytest.raises(TypeError, match="must not be a Python bool"):
        tf.cond(True, lambda: one, lambda: one)
    with pytest.raises(TypeError, match="callable"):
        tf.cond(pred, one, lambda: one)
    with pytest.raises(TypeError, match="false_fn"):
        tf.cond(pred, lambda: one)
    with pytest.raises(ValueError, match="true_fn must have a return value"):
        tf.cond(pred, lambda: None, lambda: one)
    with pytest.raises(ValueError, match="same type"):
        tf.cond(pred, lambda: one, lambda: tf.constant(1))
    with pytest.raises((ValueError, TypeError), match="Incompatible return values"):
        tf.cond(pred, lambda: (one, one), lambda: one)
    with pytest.raises(TypeError, match="may not be set simultaneously"):
        tf.cond(pred, lambda: one, lambda: one, fn1=lambda: one)
