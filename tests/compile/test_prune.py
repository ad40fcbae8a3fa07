"""Pruning: what the fetches need and no more, in an order that honours every edge."""

import numpy as np
import pytest

import tideflow as tf
from tests.compile.steps import program, run, types
from tideflow.compile.frames import arranged
from tideflow.compile.prune import needed


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def names(ops):
    return sorted(op.name for op in ops)


class Calls:
    """Tensors that note, when they are computed, that they were."""

    def __init__(self):
        self.made = []

    def tensor(self, name, *inputs, stateful=True):
        def note(*_):
            self.made.append(name)
            return np.float32(len(self.made))

        made = tf.py_func(note, list(inputs), tf.float32, stateful=stateful, name=name)
        made.set_shape([])
        return made


@pytest.fixture
def calls():
    return Calls()


# ------------------------------------------------------------------------------------------ what is needed


def test_only_what_the_fetches_need():
    a = tf.constant(1.0, name="a")
    b = tf.exp(a, name="b")
    tf.sin(b, name="unused")
    assert names(needed([b], [], set())) == ["a", "b"]
    assert types(program(b)) == ["Const", "Exp"]


def test_nothing_behind_a_fed_tensor():
    a = tf.placeholder(tf.float32, [], "a")
    b = tf.exp(a, name="b")
    c = tf.sin(b, name="c")
    assert names(needed([c], [], {b})) == ["c"]
    assert names(needed([b, c], [], {b})) == ["c"]
    assert run([b, c], {b: 0.0}) == [0.0, 0.0]


def test_a_fed_tensor_that_nobody_needs():
    a, b = tf.constant(1.0), tf.constant(2.0)
    assert run(a * 3.0, {b: 7.0}) == 3.0


def test_one_output_fed_and_another_needed():
    split = tf.unstack(tf.constant([1.0, 2.0]))
    assert run([split[0] + split[1], split[0]], {split[0]: 10.0}) == [12.0, 10.0]


def test_operations_are_needed_although_nobody_takes_their_outputs(calls):
    made = calls.tensor("made")
    assert run(made.op) is None and calls.made == ["made"]


def test_an_operation_runs_although_its_output_is_fed(calls):
    made = calls.tensor("made")
    assert run([made.op, made], {made: 7.0}) == [None, 7.0]
    assert calls.made == ["made"]


def test_fed_values_may_be_fetched_alone(calls):
    made = calls.tensor("made")
    assert run(made, {made: 7.0}) == 7.0 and calls.made == []


# ------------------------------------------------------------------------------------------ control inputs


def test_control_inputs_run_first(calls):
    first = calls.tensor("first")
    with tf.control_dependencies([first]):
        second = calls.tensor("second")
    with tf.control_dependencies([second]):
        third = tf.identity(tf.constant(5.0))
    assert run(third) == 5.0 and calls.made == ["first", "second"]


def test_where_nothing_orders_them_the_one_made_first_runs_first(calls):
    made = [calls.tensor(f"n{i}") for i in range(12)]
    run(made[::-1])
    assert calls.made == [f"n{i}" for i in range(12)]


def test_control_inputs_of_what_is_needed_are_needed():
    v = tf.Variable(1.0, name="v")
    add = v.assign_add(1.0, name="add")
    with tf.control_dependencies([add]):
        c = tf.constant(2.0, name="c")
    assert {"add", "c", "v"} <= set(names(needed([c], [], set())))


def test_waiting_for_a_fed_operation_is_waiting_for_what_it_does(calls):
    made = calls.tensor("made")
    v = tf.Variable(1.0)
    add = v.assign_add(1.0)
    with tf.control_dependencies([made, add]):
        c = tf.constant(2.0) + 0.0
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(c, {made: 10.0, add: 10.0}) == 2.0
        assert session.run(v) == 2.0 and calls.made == ["made"]


def test_what_stands_behind_a_fed_operation_that_is_waited_for_runs(calls):
    fed = calls.tensor("made") + 1.0
    with tf.control_dependencies([fed]):
        c = tf.constant(2.0) + 0.0
    assert run(c, {fed: 10.0}) == 2.0 and calls.made == ["made"]


def test_of_a_placeholder_feeding_is_all_there_is_to_wait_for():
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([x]):
        c = tf.constant(2.0) + 0.0
    assert run(c, {x: 1.0}) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value for placeholder"):
        run(c)


def test_a_placeholder_behind_a_fed_operation_needs_no_value():
    x = tf.placeholder(tf.float32, [])
    y = tf.exp(x)
    with tf.control_dependencies([y]):
        c = tf.constant(2.0) + 0.0
    assert run([c, tf.sin(y)], {y: 0.0}) == [2.0, 0.0]


def test_unfed_placeholders_are_errors_even_where_a_rewrite_would_drop_them():
    x = tf.placeholder(tf.float32, [2], "x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="placeholder tensor 'x'"):
        run(tf.raw_ops.Shape(input=x))


def test_values_that_are_only_waited_for_are_not_computed(calls):
    pure = calls.tensor("pure", stateful=False)
    with tf.control_dependencies([pure]):
        c = tf.constant(2.0) + 0.0
    assert run(c) == 2.0 and calls.made == []


def test_pieces_of_a_step_run_every_operation_once(calls):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    made = calls.tensor("made")
    with tf.control_dependencies([made]):
        first = a * 2.0
    with tf.control_dependencies([made.op]):
        second = first * b
    with tf.Session() as session:
        handle = session.partial_run_setup([first, second], [a, b])
        assert session.partial_run(handle, first, {a: 1.0}) == 2.0
        assert session.partial_run(handle, second, {b: 3.0}) == 6.0
    assert calls.made == ["made"]


# ------------------------------------------------------------------------------------------ cycles


def cycle():
    a = tf.constant(1.0, name="a")
    b = tf.exp(a, name="b")
    c = tf.sin(b, name="c")
    b.op._add_control_input(c.op)
    return a, b, c


def test_a_cycle_is_an_error_that_names_an_operation_and_its_line():
    a, _, c = cycle()
    with pytest.raises(tf.errors.InvalidArgumentError, match="cycle through 'b'") as info:
        run(c)
    assert __file__ in str(info.value)
    assert run(a) == 1.0


def test_feeding_can_open_a_cycle():
    _, b, c = cycle()
    assert run(c, {b: 0.0}) == 0.0


def test_the_order_is_topological():
    a, b = tf.constant(1.0), tf.constant(2.0)
    late = tf.exp(a)
    early = tf.sin(b)
    late.op._add_control_input(early.op)
    order = arranged(needed([late], [], set()), set()).members
    assert order.index(early.op) < order.index(late.op)
    assert len(order) == 4


# ------------------------------------------------------------------------------------------ the program


def test_references_are_read_where_a_value_is_wanted():
    v = tf.Variable(2.0)
    with tf.control_dependencies([v.assign(5.0)]):
        after = v._ref() * 1.0
    found = types(program([after]))
    assert found.count("_Read") == 1 and found.index("Assign") < found.index("_Read")
    assert run(after) == 5.0


def test_shapes_follow_from_this_steps_feeds():
    x = tf.placeholder(tf.float32, [None, None])
    y = tf.reduce_sum(tf.exp(x), 1)
    made = program(y, {x: np.zeros((2, 3), np.float32)})
    assert made.fetches[0].shape.as_list() == [2]
    assert y.shape.as_list() == [None]


def test_sizes_that_do_not_fit_in_a_branch_that_is_not_taken_are_nobodys_business():
    x, pred = tf.placeholder(tf.float32, None), tf.placeholder(tf.bool, [])
    y = tf.cond(pred, lambda: tf.matmul(x, tf.ones([3, 1])), lambda: tf.zeros([2, 1]))
    assert run(y, {x: np.ones((2, 2)), pred: False}).shape == (2, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="MatMul"):
        run(y, {x: np.ones((2, 2)), pred: True})
