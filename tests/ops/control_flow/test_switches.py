"""The primitives of control flow, node by node, on references too: compiled, and on the token executor."""

import pytest

import tideflow as tf
from tideflow.eager.context import eager_mode
from tideflow.ops.control_flow import switches

raw = tf.raw_ops
REFERENCES = {"value": "", "reference": "Ref"}


@pytest.fixture(params=["", "TOKENS"], ids=["plan", "tokens"])
def session(request):
    config = tf.ConfigProto(experimental=tf.ConfigProto.Experimental(executor_type=request.param))
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        yield session


def source(session, kind, value):
    """A value, or a reference to a variable that holds it."""
    if kind == "value":
        return tf.constant(value)
    variable = tf.Variable(value, use_resource=False)
    session.run(variable.initializer)
    return variable._ref()


@pytest.mark.parametrize("kind", REFERENCES)
def test_a_value_goes_one_of_two_ways(session, kind):
    pred, prefix = tf.placeholder(tf.bool, []), REFERENCES[kind]
    sides = getattr(raw, f"{prefix}Switch")(data=source(session, kind, [1.0, 2.0]), pred=pred)
    plain = [tf.identity(sides.output_false) * 10.0, tf.identity(sides.output_true)]
    merged = raw.Merge(inputs=plain)
    for choice, expected in ((False, [10.0, 20.0]), (True, [1.0, 2.0])):
        value, index = session.run([merged.output, merged.value_index], {pred: choice})
        assert (value.tolist(), index) == (expected, int(choice))


def test_references_meet_again(session):
    pred = tf.placeholder(tf.bool, [])
    sides = raw.RefSwitch(data=source(session, "reference", [3.0]), pred=pred)
    merged = raw.RefMerge(inputs=[sides.output_false, sides.output_true])
    assert [session.run(merged.value_index, {pred: choice}) for choice in (False, True)] == [0, 1]
    assert session.run(tf.identity(merged.output), {pred: True}).tolist() == [3.0]


def in_every_iteration(value):
    return raw.Enter(data=value, frame_name="loop", is_constant=True)


def test_a_loop_node_by_node(session):
    """Enter, Merge, LoopCond, Switch, NextIteration and Exit: the powers of two below a bound."""
    bound = tf.placeholder(tf.int32, [])
    enter = raw.Enter(data=1, frame_name="loop")
    limit = in_every_iteration(bound)
    merged = raw.Merge(inputs=[enter, enter])
    going_on = raw.LoopCond(input=merged.output < limit)
    sides = raw.Switch(data=merged.output, pred=going_on)
    following = raw.NextIteration(data=tf.identity(sides.output_true) * in_every_iteration(2))
    merged.output.op._update_input(1, following)
    left = raw.Exit(data=sides.output_false)
    assert [session.run(left, {bound: n}) for n in (1, 5, 100)] == [1, 8, 128]


def test_a_reference_goes_through_a_frame(session):
    """RefEnter, RefNextIteration and RefExit hand the reference on, not the value."""
    reference = source(session, "reference", [7.0])
    enter = raw.RefEnter(data=reference, frame_name="loop")
    count = raw.Enter(data=0, frame_name="loop")
    merged, counted = raw.RefMerge(inputs=[enter, enter]), raw.Merge(inputs=[count, count])
    going_on = raw.LoopCond(input=counted.output < in_every_iteration(3))
    sides = raw.RefSwitch(data=merged.output, pred=going_on)
    counts = raw.Switch(data=counted.output, pred=going_on)
    merged.output.op._update_input(1, raw.RefNextIteration(data=sides.output_true))
    following = tf.identity(counts.output_true) + in_every_iteration(1)
    counted.output.op._update_input(1, raw.NextIteration(data=following))
    left = raw.RefExit(data=sides.output_false)
    assert left.dtype is tf.float32._as_ref
    assert session.run(tf.identity(left)).tolist() == [7.0]


def test_a_trigger_runs_after_what_it_waits_for(session):
    pred = tf.placeholder(tf.bool, [])
    sides = raw.Switch(data=1.0, pred=pred)
    with tf.control_dependencies([tf.identity(sides.output_true)]):
        trigger = raw.ControlTrigger()
    with tf.control_dependencies([trigger]):
        after = tf.constant(2.0)
    assert session.run(after, {pred: True}) == 2.0


def composites():
    rows = tf.IndexedSlices(tf.constant([1.0]), tf.constant([2]), tf.constant([3]))
    return {"sparse tensor": tf.SparseTensor([[1]], [1.0], [3]), "sparse rows": rows}


@pytest.mark.parametrize("kind", composites())
def test_values_of_several_tensors_pass_as_one(session, kind):
    pred, value = tf.placeholder(tf.bool, []), composites()[kind]
    merged, index = switches.merge(list(switches.switch(value, pred)))
    left = switches.exit(switches.next_iteration(switches.enter(value, "loop")))
    for choice in (False, True):
        results = session.run([value, merged, left, index], {pred: choice})
        assert results[3] == int(choice)
        for result in results[:3]:
            assert type(result) is type(results[0])
            assert [part.tolist() for part in result] == [part.tolist() for part in results[0]]


def test_what_cannot_meet(session):
    sparse, rows = composites().values()
    with pytest.raises(TypeError, match="don't have the same nested structure"):
        switches.merge([sparse, rows])
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        switches.merge([rows, tf.IndexedSlices(rows.values, rows.indices)])
    with pytest.raises(TypeError, match="not supported"):
        switches.merge([sparse, tf.constant(1.0)])


def test_at_once_the_other_side_is_empty():
    with eager_mode():
        sides = switches.switch(tf.constant([1, 2]), False)
        assert [side.numpy().tolist() for side in sides] == [[1, 2], []]
        assert switches.merge([tf.constant(4)])[0].numpy() == 4
        with pytest.raises(tf.errors.InternalError, match="more than one valid input"):
            switches.merge([tf.constant(1), tf.constant(2)])
