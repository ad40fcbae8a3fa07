"""Mistakes, each refused with TensorFlow's type of error: at once if shapes are known, else in the step."""

from kit import cases, names, raises, run

# name -> (function of tf and the inputs, dtype and shape of each input)
_SHAPE_MISTAKES = {
    "add": (lambda tf, a, b: a + b, [[2], [3]]),
    "matmul": (lambda tf, a, b: tf.raw_ops.MatMul(a=a, b=b), [[2, 3], [2, 3]]),
    "matmul rank": (lambda tf, a, b: tf.raw_ops.MatMul(a=a, b=b), [[2, 3], [3]]),
    "batch matmul": (lambda tf, a, b: tf.raw_ops.BatchMatMulV2(x=a, y=b), [[2, 2, 3], [3, 3, 2]]),
    "concat": (lambda tf, a, b: tf.concat([a, b], 0), [[2, 3], [2, 4]]),
    "stack": (lambda tf, a, b: tf.stack([a, b]), [[2], [3]]),
    "select": (lambda tf, a, b: tf.where(tf.equal(a, a), a, b), [[2, 3], [3, 2]]),
    "bias_add": (lambda tf, a, b: tf.nn.bias_add(a, b), [[2, 3], [4]]),
    "add_n": (lambda tf, a, b: tf.add_n([a, b]), [[2], [3]]),
    "softmax cross entropy": (
        lambda tf, a, b: tf.nn.softmax_cross_entropy_with_logits_v2(labels=a, logits=b),
        [[2, 3], [3, 3]],
    ),
    "conv2d": (lambda tf, a, b: tf.nn.conv2d(a, b, [1, 1, 1, 1], "SAME"), [[1, 4, 4, 3], [3, 3, 2, 2]]),
    "conv2d too large": (
        lambda tf, a, b: tf.nn.conv2d(a, b, [1, 1, 1, 1], "VALID"),
        [[1, 2, 2, 3], [3, 3, 3, 2]],
    ),
    "squared_difference": (lambda tf, a, b: tf.squared_difference(a, b), [[2, 3], [3, 3]]),
    "less": (lambda tf, a, b: tf.less(a, b), [[4], [3]]),
    "reshape": (lambda tf, a, b: tf.reshape(a, [4]) + 0.0 * tf.reduce_sum(b), [[3], [1]]),
    "squeeze": (lambda tf, a, b: tf.squeeze(a, [0]) + 0.0 * tf.reduce_sum(b), [[3], [1]]),
    "split": (lambda tf, a, b: tf.split(a, 2)[0] + 0.0 * tf.reduce_sum(b), [[3], [1]]),
    "unstack": (lambda tf, a, b: tf.unstack(a, 2)[0] + 0.0 * tf.reduce_sum(b), [[3], [1]]),
    "top_k": (lambda tf, a, b: tf.nn.top_k(a, 5).values + 0.0 * tf.reduce_sum(b), [[3], [1]]),
    "max_pool": (
        lambda tf, a, b: tf.nn.max_pool(a, [1, 3, 3, 1], [1, 1, 1, 1], "VALID") + 0.0 * tf.reduce_sum(b),
        [[1, 2, 2, 1], [1]],
    ),
    "transpose": (lambda tf, a, b: tf.transpose(a, [0, 1, 2]) + 0.0 * tf.reduce_sum(b), [[3, 2], [1]]),
    "tile": (lambda tf, a, b: tf.tile(a, [1]) + 0.0 * tf.reduce_sum(b), [[3, 2], [1]]),
    "gather axis": (lambda tf, a, b: tf.gather(a, 0, axis=2) + 0.0 * tf.reduce_sum(b), [[3, 2], [1]]),
    "reduce axis": (lambda tf, a, b: tf.reduce_sum(a, 2) + 0.0 * tf.reduce_sum(b), [[3, 2], [1]]),
    "strided slice": (lambda tf, a, b: a[5] + 0.0 * tf.reduce_sum(b), [[3, 2], [1]]),
    "slice": (lambda tf, a, b: tf.slice(a, [1], [3]) + 0.0 * tf.reduce_sum(b), [[3], [1]]),
    "gradient shapes": (lambda tf, a, b: tf.gradients(a * 2.0, a, b)[0], [[3], [4]]),
}


# TensorFlow lets these pass when the shapes are not known.
_ONLY_AT_ONCE = ("conv2d too large", "max_pool", "transpose", "tile")


@cases(*[k for k in _SHAPE_MISTAKES if k not in _ONLY_AT_ONCE])
def shapes_known_too_late(tf, np, key):
    build, shapes = _SHAPE_MISTAKES[key]
    inputs = [tf.placeholder(tf.float32, name=n) for n in "ab"]
    made = build(tf, *inputs)
    return raises(run, tf, made, {x: np.ones(s) for x, s in zip(inputs, shapes)})


@cases(*[k for k in _SHAPE_MISTAKES if k not in ("slice", "gradient shapes")])
def shapes_known_at_once(tf, np, key):
    build, shapes = _SHAPE_MISTAKES[key]
    return raises(build, tf, *[tf.placeholder(tf.float32, s) for s in shapes])


_DTYPE_MISTAKES = {
    "add": lambda tf, f, i, s: tf.add(f, i),
    "operator": lambda tf, f, i, s: f + i,
    "matmul": lambda tf, f, i, s: tf.matmul(f, i),
    "concat": lambda tf, f, i, s: tf.concat([f, i], 0),
    "stack": lambda tf, f, i, s: tf.stack([f, i]),
    "where": lambda tf, f, i, s: tf.where(f, f, f),
    "exp": lambda tf, f, i, s: tf.exp(i),
    "softmax": lambda tf, f, i, s: tf.nn.softmax(i),
    "relu of text": lambda tf, f, i, s: tf.nn.relu(s),
    "logical": lambda tf, f, i, s: tf.logical_not(f),
    "gather indices": lambda tf, f, i, s: tf.gather(f, f),
    "reshape shape": lambda tf, f, i, s: tf.reshape(f, [1.5, 2.0]),
    "one_hot": lambda tf, f, i, s: tf.one_hot(f, 3),
    "argmax of text": lambda tf, f, i, s: tf.argmax(s),
    "reduce_sum of text": lambda tf, f, i, s: tf.reduce_sum(s),
    "cast to nothing": lambda tf, f, i, s: tf.cast(f, "nothing"),
    "int plus float": lambda tf, f, i, s: i + 0.5,
    "float times text": lambda tf, f, i, s: f * "a",
    "assign tensor": lambda tf, f, i, s: tf.assign(tf.Variable([[1.0, 1.0], [1.0, 1.0]]), i),
    "fill": lambda tf, f, i, s: tf.fill([1.5], 0),
    "range of text": lambda tf, f, i, s: tf.linspace("a", "b", 3),
    "pad": lambda tf, f, i, s: tf.pad(f, [[0.5, 1.0], [0.0, 0.0]]),
    "lrn": lambda tf, f, i, s: tf.nn.lrn(tf.zeros([1, 1, 1, 1], tf.float64)),
    "check_numerics": lambda tf, f, i, s: tf.check_numerics(i, "m"),
    "bitwise": lambda tf, f, i, s: tf.bitwise.invert(f),
    "placeholder": lambda tf, f, i, s: tf.placeholder("nothing"),
    "cumsum axis": lambda tf, f, i, s: tf.cumsum(f, 0.5),
    "top_k of complex": lambda tf, f, i, s: tf.nn.top_k(tf.cast(f, tf.complex64)),
}


@cases(*_DTYPE_MISTAKES)
def dtypes(tf, np, key):
    f, i, s = (
        tf.placeholder(tf.float32, [2, 2]),
        tf.placeholder(tf.int32, [2, 2]),
        tf.placeholder(tf.string, [2, 2]),
    )
    return raises(_DTYPE_MISTAKES[key], tf, f, i, s)


_ARGUMENT_MISTAKES = {
    "concat of nothing": lambda tf: tf.concat([], 0),
    "none": lambda tf: tf.add(None, 1.0),
    "expand_dims both": lambda tf: tf.expand_dims([1], axis=0, dim=0),
    "expand_dims neither": lambda tf: tf.expand_dims([1]),
    "reduce both": lambda tf: tf.reduce_sum([1.0], axis=0, reduction_indices=0),
    "pool padding": lambda tf: tf.nn.max_pool(tf.zeros([1, 4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], "NONE"),
    "too many positional": lambda tf: tf.exp(1.0, "name", 3),
    "unknown keyword": lambda tf: tf.exp(1.0, what=3),
    "missing argument": lambda tf: tf.matmul([[1.0]]),
    "bad control input": lambda tf: tf.control_dependencies([tf.TensorShape([])]).__enter__(),
    "group of numbers": lambda tf: tf.group(3),
    "tuple of nothing": lambda tf: tf.tuple([None]),
    "name of a number": lambda tf: tf.name_scope(3).__enter__(),
    "placeholder shape": lambda tf: tf.placeholder(tf.float32, "abc"),
    "negative shape": lambda tf: tf.placeholder(tf.float32, [-5]),
    "random of bool": lambda tf: tf.random_uniform([2], dtype=tf.bool),
    "split of unknown": lambda tf: tf.split(tf.placeholder(tf.float32), 0),
    "tensor as bool": lambda tf: bool(tf.constant(True)),
    "meshgrid indexing": lambda tf: tf.meshgrid([1], [2], indexing="zz"),
    "norm order": lambda tf: tf.norm([1.0], ord="zz"),
    "tensordot axes": lambda tf: tf.tensordot([[1.0]], [[1.0]], [[0, 1], [0]]),
    "pad mode": lambda tf: tf.pad([1.0], [[1, 1]], "zz"),
    "matmul adjoint and transpose": lambda tf: tf.matmul([[1.0]], [[1.0]], transpose_a=True, adjoint_a=True),
    "dropout rate": lambda tf: tf.nn.dropout(tf.zeros([2]), rate=2.0),
    "dropout both": lambda tf: tf.nn.dropout(tf.zeros([2]), 0.5, rate=0.5),
    "broadcast shapes": lambda tf: tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3])),
}


@cases(*_ARGUMENT_MISTAKES)
def arguments(tf, np, key):
    return raises(_ARGUMENT_MISTAKES[key], tf)


def a_refused_op_leaves_the_graph_as_it_was(tf, np):
    a = tf.placeholder(tf.float32, [2, 3], "a")
    before = len(tf.get_default_graph().get_operations())
    raises(tf.matmul, a, a, name="bad")
    kept = [n for n, _ in names(tf)]
    return [before, kept]


def a_refused_run_leaves_state_as_it_was(tf, np):
    v = tf.Variable([1.0, 2.0])
    x = tf.placeholder(tf.float32)
    with tf.Session() as session:
        session.run(v.initializer)
        errors = [
            raises(session.run, v.assign(x), {x: [1.0, 2.0, 3.0]}),
            raises(session.run, v.assign_add(x), {x: [1.0, 2.0, 3.0]}),
            raises(session.run, v.assign(x)),
        ]
        return [errors, session.run(v)]


def graphs_are_not_mixed(tf, np):
    a = tf.constant(1.0)
    with tf.Graph().as_default():
        b = tf.constant(2.0)
        return {
            "add": raises(lambda: a + b),
            "control": raises(lambda: tf.control_dependencies([a]).__enter__()),
            "group": raises(tf.group, a, b),
            "colocate": raises(tf.stack, [a, b]),
            "session": raises(tf.Session().run, a),
        }


def ragged_lists(tf, np):
    return [
        raises(tf.constant, [[1, 2], [3]]),
        raises(tf.convert_to_tensor, [[1.0], 2.0]),
    ]


def attributes_of_tensors_that_are_not(tf, np):
    a = tf.constant(1.0)
    return [
        raises(lambda: a.numpy()),
        raises(lambda: a.assign(1.0)),
        raises(lambda: a.no_such_thing),
        raises(lambda: a.shape.nothing),
    ]


@cases("nan", "inf", "-inf")
def numbers_that_are_checked(tf, np, text):
    x = tf.placeholder(tf.float64, [2])
    made = tf.check_numerics(tf.exp(x) * 0 + x, "while testing")
    with tf.Session() as session:
        return [raises(session.run, made, {x: [0.0, float(text)]}), session.run(made, {x: [0.0, 1.0]})]
