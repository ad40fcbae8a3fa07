"""Folding, merging and dropping: what changes in a program, what never may, and that it stays legal."""

import numpy as np
import pytest

import tideflow as tf
from tests.compile.models import MODELS
from tests.compile.steps import EVERY_RULE, PLAIN, Compiled, normal, program, run, types
from tideflow.compile import rewrite
from tideflow.compile.group import group_updates
from tideflow.compile.ir import Node
from tideflow.compile.rewrite import optimize
from tideflow.graph.op import definition

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def optimized(fetches, feeds=None):
    made = program(fetches, feeds)
    optimize(made, check=True)
    return types(made)


# ------------------------------------------------------------------------------------------ folding


def test_constants_are_computed_once_and_for_all():
    y = tf.exp(tf.constant([1.0, 2.0])) * 3.0 - tf.reduce_sum(tf.ones([2]))
    assert optimized(y) == ["Const"]
    np.testing.assert_allclose(run(y), np.exp([1.0, 2.0]) * 3 - 2, rtol=1e-6)


def test_sizes_that_follow_from_this_steps_feeds_fold():
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.reshape(x, [tf.shape(x)[0] * 3]) + 1.0
    assert "Shape" not in optimized(y, {x: np.zeros((2, 3), np.float32)})
    assert run(y, {x: np.zeros((2, 3))}).shape == (6,)


def test_strings_fold():
    y = tf.concat([tf.constant(["a"]), tf.constant(["b", "c"])], 0)
    assert optimized(y) == ["Const"]
    assert run(y).tolist() == [b"a", b"b", b"c"]


def test_what_would_be_large_is_not_folded():
    small, large = tf.zeros([10]), tf.fill([rewrite._LARGEST_FOLD // 4 + 1], 0.0)
    assert optimized(small + 1.0) == ["Const"]
    assert "Fill" in optimized(large)


def test_results_as_large_as_the_limit_fold():
    assert optimized(tf.fill([rewrite._LARGEST_FOLD // 4], 0.0)) == ["Const"]


def test_random_numbers_do_not_fold():
    y = tf.random_uniform([2], seed=1)
    assert "RandomUniform" in optimized(y)


@pytest.mark.parametrize("stateful", [True, False])
def test_python_functions_do_not_fold(stateful):
    seen = []

    def note():
        seen.append(1)
        return np.float32(1)

    y = tf.py_func(note, [], tf.float32, stateful=stateful) + 1.0
    with tf.Session() as session:
        session.run(y)
        session.run(y)
    assert len(seen) == 2


def test_an_error_of_constants_belongs_to_the_step():
    bad = tf.gather(tf.constant([1.0, 2.0]), tf.placeholder_with_default([7], [1]))
    direct = tf.raw_ops.GatherV2(params=[1.0, 2.0], indices=[7], axis=0, name="too_far")
    with tf.Session() as session:
        for fetch in (bad, direct):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(fetch)
        assert session.run(tf.constant(1.0)) == 1.0


def test_integer_division_by_zero_belongs_to_the_step():
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        session.run(tf.constant([1, 2]) // tf.constant([1, 0]))


def test_folded_constants_are_not_the_users_arrays():
    value = np.ones(3, np.float32)
    c = tf.constant(value)
    value[:] = 7
    y = tf.identity(c)
    with tf.Session() as session:
        found = session.run(y)
        found[:] = 9
        assert session.run(y).tolist() == [1.0, 1.0, 1.0]


def test_folding_can_be_switched_off():
    y = tf.exp(tf.constant(0.0))
    assert Compiled(y).types == ["Const"]
    step = Compiled(y, disabled={"fold"})
    assert step.types == ["Const", "Exp"] and step.run() == [1.0]


# ------------------------------------------------------------------------------------------ merging


def test_equal_nodes_are_computed_once():
    x = tf.placeholder(tf.float32, [2])
    y = tf.exp(x) + tf.exp(tf.identity(x)) * tf.exp(x)
    assert optimized(y, {x: np.ones(2, np.float32)}).count("Exp") == 1


def test_nodes_of_other_attributes_or_inputs_are_not_merged():
    x, y = tf.placeholder(tf.float32, [2, 2]), tf.placeholder(tf.float32, [2, 2])
    made = [
        tf.matmul(x, y),
        tf.matmul(x, y, transpose_a=True),
        tf.matmul(y, x),
        tf.reduce_sum(x, 0),
        tf.reduce_sum(x, 0, keepdims=True),
    ]
    found = optimized(made, {x: np.ones((2, 2), np.float32), y: np.ones((2, 2), np.float32)})
    assert found.count("MatMul") == 3 and found.count("Sum") == 2


@pytest.mark.parametrize(
    "constants", [(1.0, 2.0), (0.0, -0.0), (np.float32(1), np.float64(1)), ([1.0], 1.0), (1, True)]
)
def test_constants_that_differ_are_not_merged(constants):
    a, b = (tf.constant(c) for c in constants)
    found = run([a, b])
    for value, wanted in zip(found, (a, b), strict=True):
        assert value.dtype == wanted.dtype.as_numpy_dtype and np.shape(value) == tuple(wanted.shape)
    assert Compiled([a, b]).types == ["Const", "Const"]
    np.testing.assert_array_equal(np.signbit(np.float64(found[1])), np.signbit(np.float64(constants[1])))


def test_nans_keep_their_bits():
    x = np.array([0x7FC00001, 0x7FC00002], np.uint32).view(np.float32)
    found = run([tf.constant(x[:1]), tf.constant(x[1:])])
    assert np.concatenate(found).view(np.uint32).tolist() == x.view(np.uint32).tolist()


def test_random_ops_are_never_merged():
    made = [tf.random_uniform([4]) for _ in range(3)]
    a, b, c = run(made)
    assert not np.array_equal(a, b) and not np.array_equal(b, c)


def test_python_functions_without_state_merge():
    seen = []

    def note(value):
        seen.append(value)
        return value

    x = tf.placeholder(tf.float32, [])
    once = tf.py_func(note, [x], tf.float32, stateful=False)
    run(once + once, {x: 1.0})
    assert seen == [1.0]


# ------------------------------------------------------------------------------------------ reads


def reads(found):
    return found.count("_Read") + found.count("ReadVariableOp")


@KINDS
def test_reads_with_nothing_between_are_one(use_resource):
    v = tf.Variable(1.0, use_resource=use_resource)
    assert reads(optimized(v * 2.0 + v.read_value() * v)) == 1


@KINDS
@pytest.mark.parametrize("config", [None, PLAIN], ids=["rewritten", "plain"])
def test_reads_are_not_merged_across_writes(use_resource, config):
    v = tf.Variable(1.0, use_resource=use_resource)
    before = v.read_value() + 0.0
    with tf.control_dependencies([before]):
        write = v.assign(10.0)
    with tf.control_dependencies([write]):
        after = v.read_value() + 0.0
    assert reads(optimized([before, after])) == 2
    assert run([before, after], config=config) == [1.0, 10.0]


def test_writes_of_another_variable_do_not_count():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    before = v.read_value() + 0.0
    with tf.control_dependencies([before]), tf.control_dependencies([w.assign(10.0)]):
        after = v.read_value() * 3.0
    assert reads(optimized([before, after])) == 1
    assert run([before, after]) == [1.0, 3.0]


def test_reads_through_what_a_write_handed_on():
    v = tf.Variable(1.0)
    added = v.assign_add(1.0)
    first = added + 0.0
    with tf.control_dependencies([first]):
        again = v.assign_add(10.0)
    with tf.control_dependencies([again]):
        second = added * 1.0 + 0.0
    assert run([first, second]) == [2.0, 12.0]


@KINDS
def test_reads_of_a_variable_that_two_nodes_share(use_resource):
    v = tf.Variable(1.0, use_resource=use_resource, name="v")
    if use_resource:
        other = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name="v", name="w")
        first = tf.raw_ops.ReadVariableOp(resource=v.handle, dtype=tf.float32)
    else:
        other = tf.raw_ops.VariableV2(dtype=tf.float32, shape=[], shared_name="v", name="w")
        first = v._ref() + 0.0
    with tf.control_dependencies([first]):
        if use_resource:
            write = tf.raw_ops.AssignAddVariableOp(resource=other, value=10.0)
        else:
            write = tf.assign_add(other, 10.0)
    with tf.control_dependencies([write]):
        second = v.read_value() + 0.0
    assert run([first, second]) == [1.0, 11.0]


def test_scatters_are_writes():
    v = tf.Variable([1.0, 2.0])
    before = v.read_value() + 0.0
    with tf.control_dependencies([before]):
        write = tf.scatter_add(v, [1], [5.0])
    with tf.control_dependencies([write]):
        after = v.read_value() + 0.0
    assert [x.tolist() for x in run([before, after])] == [[1.0, 2.0], [1.0, 7.0]]


# ------------------------------------------------------------------------------------------ dropping


def test_what_nobody_takes_is_not_computed():
    x = tf.placeholder(tf.float32, [])
    y = tf.exp(x)
    with tf.control_dependencies([tf.sin(x), tf.no_op()]):
        z = tf.identity(y)
    assert optimized(z, {x: np.array(1.0, np.float32)}) == ["Exp"]


def test_operations_that_were_asked_for_run():
    x = tf.placeholder(tf.float32, [None])
    bad = tf.reshape(x, [2, 2])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(bad.op, {x: [1.0]})


def test_what_was_asked_for_runs_under_its_new_name():
    x = tf.placeholder(tf.float32, [None])
    y = tf.identity(tf.reshape(x, [2, 2]))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(y.op, {x: [1.0]})


# ------------------------------------------------------------------------------------------ legal programs


@pytest.mark.parametrize("name", MODELS)
class TestModels:
    def test_programs_stay_legal_after_every_pass(self, name):
        fetches, feeds = MODELS[name]()
        made = program(fetches, feeds)
        made.check()
        optimize(made, check=True)
        group_updates(made)
        made.check()

    def test_they_are_legal_without_any_one_rule(self, name):
        fetches, feeds = MODELS[name]()
        applied = set(Compiled(fetches, feeds).plan.applied)
        for disabled in (*({rule} for rule in sorted(applied)), {"fold"}, EVERY_RULE):
            Compiled(fetches, feeds, disabled).plan.program.check()

    def test_rewritten_and_plain_agree_over_steps(self, name):
        fetches, feeds = MODELS[name]()
        seen = []
        for config in (None, PLAIN):
            with tf.Session(config=config) as session:
                session.run(tf.global_variables_initializer())
                steps = [session.run(fetches, feeds) for _ in range(3)]
                seen.append([steps, session.run(tf.global_variables())])
        for a, b in zip(flat(seen[0]), flat(seen[1]), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


def flat(value):
    if isinstance(value, (list, tuple)):
        return [item for part in value for item in flat(part)]
    return [] if value is None else [value]


class TestCheck:
    def broken(self):
        x = tf.placeholder(tf.float32, [2])
        return program(tf.exp(x) + tf.sin(x), {x: normal(2)})

    def test_a_value_taken_before_it_is_made(self):
        made = self.broken()
        made.nodes.reverse()
        with pytest.raises(AssertionError, match="before it is made"):
            made.check()

    def test_a_value_that_nobody_makes(self):
        made = self.broken()
        del made.nodes[0]
        with pytest.raises(AssertionError, match="before it is made"):
            made.check()

    def test_a_fetch_that_nobody_makes(self):
        made = self.broken()
        del made.nodes[-1]
        with pytest.raises(AssertionError, match="never made"):
            made.check()

    def test_a_node_with_too_few_inputs(self):
        made = self.broken()
        del made.nodes[-1].inputs[1:]
        with pytest.raises((ValueError, IndexError)):
            made.check()

    def test_a_predicate_that_nobody_makes(self):
        made = self.broken()
        stray = Node(definition("Const"), "stray", [], {}, None)
        stray.outputs = program(tf.constant(True)).fetches
        made.nodes[-1].guards = frozenset({(stray.outputs[0], True)})
        with pytest.raises(AssertionError, match="before it is made"):
            made.check()
