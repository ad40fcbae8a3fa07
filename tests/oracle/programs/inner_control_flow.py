"""cond_v2, while_v2, TensorArrays and variables, as tests take them from TensorFlow's inner modules."""

import importlib
import pickle
import re

from kit import cases, raises, run


def _inner(tf, name):
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow.python." + name)


@cases({"true": [[True]], "false": False})
def conditionals(tf, np, value):
    pred, x = tf.placeholder(tf.bool), tf.constant(3.0, name="x")
    y = _inner(tf, "ops.cond_v2").cond_v2(pred, lambda: tf.pow(x, 3), lambda: x, name="choice")
    op = y.op.inputs[0].op
    names = [re.sub("[0-9]+$", "N", op.get_attr(branch).name) for branch in ("then_branch", "else_branch")]
    return [op.type, op.name, names, run(tf, [y] + tf.gradients(y, [x]), {pred: value})]


def loops(tf, np):
    x, rows = tf.constant([[5.0]]), []

    def body(v, w):
        rows.append(tf.zeros(tf.concat([[2], sizes], 0)).shape.as_list())
        return v * w, w

    sizes = tf.constant([3])
    result = _inner(tf, "ops.while_v2").while_loop(lambda v, _: v < 45.0, body, [x, 3.0], name="repeat")
    op = result[0].op.inputs[0].op
    return [type(result).__name__, op.name, rows, run(tf, result + tf.gradients(result, [x]))]


def parts_wait_for_what_is_outside(tf, np):
    v = _inner(tf, "ops.variables").Variable(1.0)
    add = v.assign_add(1.0)

    def waiting():
        with tf.control_dependencies([add]):
            return 1.0

    chosen = _inner(tf, "ops.cond_v2").cond_v2(tf.placeholder_with_default(False, []), waiting, lambda: 2.0)
    with tf.Session() as session:
        session.run(v.initializer)
        return [type(v).__name__, session.run(chosen), session.run(v)]


def branches_do_not_share_tensors(tf, np):
    def call(build):
        return raises(lambda: tf.function(build, autograph=False)())

    def leak(make):
        kept = [tf.constant(1.0)]

        def keep():
            kept[0] = tf.identity(kept[0], name="kept")
            return kept[0]

        return make(keep, lambda: tf.identity(kept[0]))

    def two_kinds():
        rows = tf.IndexedSlices(tf.constant([1]), tf.constant([0]))
        return tf.cond(tf.constant(True), lambda: rows, lambda: rows.values).values

    found = [
        call(lambda: leak(lambda a, b: tf.cond(tf.constant(True), a, b))),
        call(lambda: leak(lambda a, b: tf.switch_case(tf.constant(1), [a, b]))),
        call(two_kinds),
    ]
    return [(each.types[0], each.message.strip().split(":\n")[0]) for each in found]


def arrays_refuse(tf, np):
    make = lambda size=3: tf.TensorArray(tf.float32, size, infer_shape=False, tensor_array_name="list")
    array, lengths = make(), tf.placeholder(tf.int64)
    inner, grad = _inner(tf, "ops.gen_data_flow_ops"), make().grad("source")
    read = inner.tensor_array_read_v3(array.handle, 0, array.flow, tf.float64)
    found = []
    for tensor in (
        read,
        array.read(-1),
        make().write(0, [3.0]).write(1, [4.0]).write(2, [[3.0]]).concat(),
        make().split([1.0, 2.0, 3.0], lengths).flow,
        grad.write(1, 1.0).write(1, [1.0]).flow,
    ):
        message = re.sub("list_[0-9]+", "list", raises(lambda: run(tf, tensor, {lengths: 1})).message)
        found.append(re.split("\n|\t", message)[0].strip())
    return found


def references(tf, np):
    inner, v = (
        _inner(tf, "ops.control_flow_ops"),
        _inner(tf, "ops.variables").VariableV1(7, use_resource=False),
    )
    passed = inner._Identity(v)
    sides = inner._SwitchRefOrTensor(v._ref(), tf.constant(True))
    assigned = [tf.assign(passed, 9), tf.assign(sides[1], 8)]
    shapes = [
        _inner(tf, "ops.gen_control_flow_ops").enter(tf.ones([2]), "f", is_constant=c).shape.ndims
        for c in (True, False)
    ]
    with tf.Session() as session:
        session.run(v.initializer)
        return [sides[1].dtype.name, shapes, [session.run(each) for each in assigned]]


def variables_are_pickled(tf, np):
    with _inner(tf, "eager.context").eager_mode():
        v = _inner(tf, "ops.resource_variable_ops").ResourceVariable([1.0, 2.0], dtype=tf.float16, name="v")
        again = pickle.loads(pickle.dumps(v))
        return [again.name, again.dtype.name, again.trainable, again.numpy()]


def primitives_of_composite_values(tf, np):
    inner = _inner(tf, "ops.control_flow_ops")
    sparse = tf.SparseTensor([[1]], [2.0], [3])
    rows = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([4, 1]))
    found = []
    for value in (sparse, rows):
        same = inner._Identity(value)
        inside = inner._Enter(value, "frame", is_constant=True, use_input_shape=False)
        entered = inner.exit(inner._NextIteration(inner._Enter(value, "other")))
        sides = inner.switch(value, True, name="either")
        merged, index = inner.merge(sides, name="both")
        found += [same, inner.exit(inside), entered, merged, index]
        found.append(inner.with_dependencies([tf.no_op()], same).values)
    mixed, _ = inner.merge([inner.switch(rows, False)[0], tf.zeros([4, 1])])
    names = [each.values.op.name for each in (sides[0], merged, inside, mixed)]
    bad = [[sparse, tf.zeros([3])], [sparse, rows], [tf.IndexedSlices(rows.values, rows.indices), rows]]
    with tf.Session() as session:
        return [session.run(found), names, [raises(inner.merge, each) for each in bad]]


def primitives_of_plain_values(tf, np):
    inner = _inner(tf, "ops.control_flow_ops")
    first = tf.constant(1)
    waiting = [inner.with_dependencies([first], each) for each in (3, [1, 2], "text", np.ones(2))]
    made = [inner._Identity([1, 2]), inner.switch([1.0], False, dtype=tf.float64)[0], *waiting]
    with tf.Session() as session:
        return [each.dtype.name for each in made] + session.run(made)


def sides_at_once(tf, np):
    inner = _inner(tf, "ops.control_flow_ops")
    with _inner(tf, "eager.context").eager_mode():
        sides = inner.switch([1, 2], True)
        found = [side.numpy() for side in sides] + [inner.merge([tf.constant(5)])[0].numpy()]
        return found + [raises(inner.merge, [sides[1], sides[1]])]


def branches_of_sparse_rows(tf, np):
    yes, rows = tf.constant(True), tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    wide = tf.IndexedSlices(rows.values * 2.0, tf.cast(rows.indices, tf.int64))
    whole = tf.IndexedSlices(rows.values, rows.indices, tf.constant([3]))
    sparse = tf.SparseTensor([[1]], [2.0], [3])
    chosen = tf.cond(yes, lambda: wide, lambda: rows)
    with tf.Session() as session:
        return [
            session.run([chosen, tf.cond(yes, lambda: [[1]], lambda: [[2]])]),
            [raises(tf.cond, yes, lambda x=x: x, lambda: rows) for x in (whole, tf.constant(1.0))],
            raises(tf.cond, yes, lambda: sparse, lambda: tf.constant(1.0)),
        ]


def gradients_of_rows_read_in_a_branch(tf, np):
    pred = tf.placeholder(tf.bool, [])
    v = tf.get_variable("v", [4, 2], initializer=tf.ones_initializer(), use_resource=True)
    chosen = tf.cond(pred, lambda: tf.gather(v, [1, 2]), lambda: tf.gather(v, [1, 0]) * 2.0)
    (grad,) = tf.gradients(chosen, v)
    with tf.Session() as session:
        session.run(v.initializer)
        return [session.run([grad, tf.convert_to_tensor(grad)], {pred: way}) for way in (True, False)]
