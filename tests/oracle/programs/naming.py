"""Names of operations and tensors: scopes, uniqueness, and the names that functions and operators choose."""

from kit import cases, graph, names, raises


def unique_names_of_plain_ops(tf, np):
    for _ in range(3):
        tf.constant(1.0)
    tf.constant(2, name="Const")
    tf.no_op()
    tf.no_op()
    tf.identity(tf.constant([1]), name="Const_1")
    return names(tf)


def unique_names_ignore_case(tf, np):
    return [tf.constant(1.0, name=n).name for n in ["a", "A", "a", "A_1", "a_1", "a_1_1", "a_2", "A"]]


def suffix_that_is_taken_is_skipped(tf, np):
    return [tf.no_op(name=n).name for n in ["x", "x_1", "x", "x_1", "x", "x_3", "x"]]


def scopes_nest_and_count(tf, np):
    seen = []
    for _ in range(2):
        with tf.name_scope("outer") as outer:
            seen.append(outer)
            for _ in range(2):
                with tf.name_scope("inner") as inner:
                    seen.append(inner)
                    seen.append(tf.constant(0.0, name="c").name)
            seen.append(tf.no_op().name)
    return seen


def scope_entered_again_by_its_own_name(tf, np):
    with tf.name_scope("a") as a:
        first = tf.no_op(name="x").name
    with tf.name_scope(a):
        second = tf.no_op(name="x").name
    with tf.name_scope("b"):
        with tf.name_scope(a):
            third = tf.no_op(name="y").name
        with tf.name_scope(None):
            fourth = tf.no_op(name="z").name
        with tf.name_scope(""):
            fifth = tf.no_op(name="w").name
    return [a, first, second, third, fourth, fifth]


def op_name_with_trailing_slash_is_taken_as_is(tf, np):
    with tf.name_scope("s"):
        a = tf.no_op(name="whole/name/")
    return [a.name, raises(tf.no_op, name="whole/name/"), tf.no_op(name="s/x").name]


def op_names_with_slashes_claim_the_scopes(tf, np):
    tf.no_op(name="a/b/c")
    with tf.name_scope("a") as scope:
        pass
    with tf.name_scope("a/b") as deep:
        inside = tf.no_op(name="c").name
    return [scope, deep, inside]


def op_and_scope_share_one_set_of_names(tf, np):
    tf.no_op(name="x")
    with tf.name_scope("x") as scope:
        inner = tf.no_op(name="x").name
    return [scope, inner, tf.no_op(name="x").name]


def name_scope_with_default_name_and_values(tf, np):
    a = tf.constant(1.0, name="a")
    seen = []
    for given in [None, "mine", None]:
        with tf.name_scope(given, "default", [a]) as scope:
            seen += [scope, tf.identity(a).name]
    return seen


def name_scope_object_has_a_name(tf, np):
    scope = tf.name_scope("thing")
    with scope as text:
        pass
    return [scope.name, text]


def op_scope_of_old(tf, np):
    a = tf.constant(1.0)
    with tf.op_scope([a], None, "old") as scope:
        b = tf.identity(a)
    return [scope, b.name]


def graph_unique_name_marks_or_not(tf, np):
    g = tf.get_default_graph()
    seen = [
        g.unique_name("n"),
        g.unique_name("n"),
        g.unique_name("n", mark_as_used=False),
        g.unique_name("n"),
    ]
    with g.name_scope("s"):
        seen += [g.unique_name("n"), g.get_name_scope()]
    return seen + [g.get_name_scope()]


def get_name_scope_after_entering_variable_scope(tf, np):
    g = tf.get_default_graph()
    with tf.variable_scope("v"):
        with tf.name_scope("n"):
            return g.get_name_scope()


@cases("a b", "-a", "a:0", "_a", "a$", "é", "a/b c", "/a")
def bad_op_names_are_refused(tf, np, name):
    return raises(tf.no_op, name=name)


@cases("a b", "_a", "-a", "a$")
def bad_scope_names_are_refused(tf, np, name):
    return raises(lambda: tf.name_scope(name).__enter__())


def inner_scope_may_start_with_other_characters(tf, np):
    with tf.name_scope("a"):
        with tf.name_scope("_b") as scope:
            return [scope, tf.no_op(name="-c").name]


def arithmetic_operators_with_tensors(tf, np):
    a, b = tf.placeholder(tf.float32, [2], "a"), tf.placeholder(tf.float32, [2], "b")
    made = [a + b, a - b, a * b, a / b, a // b, a % b, a**b, -a, abs(a), a < b, a <= b, a > b, a >= b]
    return {"tensors": made, "graph": graph(tf)}


def arithmetic_operators_with_numbers_on_the_right(tf, np):
    a = tf.placeholder(tf.float32, [2], "a")
    made = [a + 1, a - 1, a * 2, a / 2, a // 2, a % 2, a**2, a < 1, a <= 1, a > 1, a >= 1]
    return {"tensors": made, "graph": graph(tf)}


def arithmetic_operators_with_numbers_on_the_left(tf, np):
    a = tf.placeholder(tf.float32, [2], "a")
    made = [1 + a, 1 - a, 2 * a, 2 / a, 2 // a, 2 % a, 2**a, a > 1, a <= 1]
    return {"tensors": made, "graph": graph(tf)}


def integer_division_operators(tf, np):
    a, b = tf.placeholder(tf.int32, [2], "a"), tf.placeholder(tf.int32, [2], "b")
    made = [a / b, a // b, a % b, a / 2, 7 // b, tf.div(a, b), tf.truediv(a, b), tf.floordiv(a, b)]
    return {"tensors": made, "graph": graph(tf)}


def logical_operators(tf, np):
    a, b = tf.placeholder(tf.bool, [2], "a"), tf.placeholder(tf.bool, [2], "b")
    return {"tensors": [a & b, a | b, a ^ b, ~a, True & a, a | False], "graph": graph(tf)}


def matmul_operator(tf, np):
    import operator

    a, b = tf.placeholder(tf.float32, [2, 3], "a"), tf.placeholder(tf.float32, [3, 4], "b")
    made = [operator.matmul(a, b), operator.matmul(a, np.ones([3, 1], np.float32))]
    return {"tensors": made, "graph": graph(tf)}


def array_on_the_left_of_an_operator(tf, np):
    a = tf.placeholder(tf.float32, [2], "a")
    return {"tensors": [np.ones(2, np.float32) + a, np.float32(2) * a], "graph": graph(tf)}


def operators_in_a_scope(tf, np):
    with tf.name_scope("layer"):
        a = tf.placeholder(tf.float32, [2], "a")
        (a + 1) * 2 - a
    return graph(tf)


def function_names_differ_from_operator_names(tf, np):
    a = tf.placeholder(tf.float32, [2, 2], "a")
    made = [
        tf.add(a, 1.0),
        tf.subtract(a, 1.0),
        tf.multiply(a, 2.0),
        tf.divide(a, 2.0),
        tf.pow(a, 2.0),
        tf.negative(a),
        tf.abs(a),
        tf.reduce_sum(a),
        tf.reduce_mean(a, 0),
        tf.matmul(a, a),
        tf.square(a),
        tf.nn.relu(a),
        tf.argmax(a, 1),
        tf.equal(a, a),
        tf.cast(a, tf.int32),
        tf.to_int64(a),
    ]
    return {"tensors": made, "graph": graph(tf)}


_SLICES = {
    "index": lambda a: a[0],
    "negative index": lambda a: a[-1],
    "range": lambda a: a[1:3],
    "reversed": lambda a: a[1:, ::-1],
    "ellipsis": lambda a: a[..., 1],
    "newaxis": lambda a: a[:, None, 1],
    "everything": lambda a: a[:],
    "steps": lambda a: a[::2, 1::2],
    "mixed": lambda a: a[1, ..., None, :2],
    "beyond the end": lambda a: a[5:9],
}


@cases({key: (value,) for key, value in _SLICES.items()})
def slicing(tf, np, take):
    a = tf.placeholder(tf.float32, [4, 5, 6], "a")
    return {"tensor": take(a), "graph": graph(tf)}


def slicing_by_tensors(tf, np):
    a = tf.placeholder(tf.float32, [4, 5], "a")
    i = tf.placeholder(tf.int32, [], "i")
    return {"tensors": [a[i], a[i:, 1], a[:i], a[i : i + 2, ::2]], "graph": graph(tf)}


def slicing_in_a_scope_and_twice(tf, np):
    with tf.name_scope("s"):
        a = tf.constant(np.arange(4), name="a")
        made = [a[0], a[1], a[2:]]
    return {"tensors": made, "graph": graph(tf)}


_ON_A_MATRIX = {
    "reshape": lambda tf, a: tf.reshape(a, [3, 2]),
    "transpose": lambda tf, a: tf.transpose(a),
    "transpose perm": lambda tf, a: tf.transpose(a, [1, 0]),
    "matrix_transpose": lambda tf, a: tf.matrix_transpose(a),
    "concat": lambda tf, a: tf.concat([a, a], 1),
    "concat of one": lambda tf, a: tf.concat([a], 1),
    "split": lambda tf, a: tf.split(a, 3, axis=1),
    "split sizes": lambda tf, a: tf.split(a, [1, 2], axis=1),
    "tile": lambda tf, a: tf.tile(a, [1, 2]),
    "pad": lambda tf, a: tf.pad(a, [[1, 1], [0, 0]]),
    "pad reflect": lambda tf, a: tf.pad(a, [[1, 1], [0, 0]], "REFLECT"),
    "pad value": lambda tf, a: tf.pad(a, [[1, 1], [0, 0]], constant_values=2.0),
    "expand_dims": lambda tf, a: tf.expand_dims(a, 0),
    "squeeze": lambda tf, a: tf.squeeze(a[:1]),
    "gather": lambda tf, a: tf.gather(a, [1, 0]),
    "gather axis": lambda tf, a: tf.gather(a, [1, 0], axis=1),
    "gather_nd": lambda tf, a: tf.gather_nd(a, [[1, 0]]),
    "stack": lambda tf, a: tf.stack([a, a]),
    "stack mixed": lambda tf, a: tf.stack([a, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], 1),
    "unstack": lambda tf, a: tf.unstack(a),
    "reduce_sum": lambda tf, a: tf.reduce_sum(a),
    "reduce_sum axis": lambda tf, a: tf.reduce_sum(a, 1),
    "reduce_max axes": lambda tf, a: tf.reduce_max(a, axis=[0, 1], keepdims=True),
    "reduce_mean negative": lambda tf, a: tf.reduce_mean(a, axis=-1),
    "reduce_logsumexp": lambda tf, a: tf.reduce_logsumexp(a, 1, name="lse"),
    "argmin": lambda tf, a: tf.argmin(a),
    "argmax": lambda tf, a: tf.argmax(a, 1, output_type="int32"),
    "cumsum": lambda tf, a: tf.cumsum(a, 1),
    "fill": lambda tf, a: tf.fill([2, 2], 1.0),
    "zeros": lambda tf, a: tf.zeros([2, 3]),
    "zeros large": lambda tf, a: tf.zeros([100, 30]),
    "ones_like": lambda tf, a: tf.ones_like(a),
    "zeros_like": lambda tf, a: tf.zeros_like(a),
    "zeros_like other dtype": lambda tf, a: tf.zeros_like(a, tf.int32),
    "one_hot": lambda tf, a: tf.one_hot([0, 1], 2),
    "range": lambda tf, a: tf.range(3),
    "range floats": lambda tf, a: tf.range(0.0, 1.0, 0.25),
    "linspace": lambda tf, a: tf.linspace(0.0, 1.0, 3),
    "clip_by_value": lambda tf, a: tf.clip_by_value(a, 0.0, 1.0),
    "clip_by_norm": lambda tf, a: tf.clip_by_norm(a, 1.0, name="clip"),
    "clip_by_global_norm": lambda tf, a: tf.clip_by_global_norm([a, 2 * a], 1.0)[0],
    "global_norm": lambda tf, a: tf.global_norm([a, 2 * a]),
    "norm": lambda tf, a: tf.norm(a, name="length"),
    "boolean_mask": lambda tf, a: tf.boolean_mask(a, [True, False], name="mask"),
    "tensordot": lambda tf, a: tf.tensordot(a, a, [[1], [1]], name="dot"),
    "reverse": lambda tf, a: tf.reverse(a, [-1]),
    "slice": lambda tf, a: tf.slice(a, [0, 1], [2, -1]),
    "where": lambda tf, a: tf.where(a > 0, a, -a),
    "cast": lambda tf, a: tf.cast(a, tf.int32),
    "cast to the same": lambda tf, a: tf.cast(a, tf.float32),
    "to_double": lambda tf, a: tf.to_double(a),
    "matmul transposed": lambda tf, a: tf.matmul(a, a, transpose_b=True),
    "add_n": lambda tf, a: tf.add_n([a, a, a]),
    "add_n of one": lambda tf, a: tf.add_n([a]),
    "accumulate_n": lambda tf, a: tf.accumulate_n([a, a]),
    "reduce_std": lambda tf, a: tf.math.reduce_std(a, 0),
    "scalar_mul": lambda tf, a: tf.scalar_mul(3.0, a),
    "divide_no_nan": lambda tf, a: tf.div_no_nan(a, a),
    "meshgrid": lambda tf, a: tf.meshgrid([1, 2], [3, 4]),
    "broadcast_to": lambda tf, a: tf.broadcast_to(a, [2, 2, 3]),
    "eye": lambda tf, a: tf.eye(3),
    "size": lambda tf, a: tf.size(a),
    "rank": lambda tf, a: tf.rank(a),
    "shape": lambda tf, a: tf.shape(a),
    "shape int64": lambda tf, a: tf.shape(a, out_type=tf.int64),
    "shape_n": lambda tf, a: tf.shape_n([a, a]),
}


@cases({key: (value,) for key, value in _ON_A_MATRIX.items()})
def subgraph_of(tf, np, build):
    return {"made": build(tf, tf.placeholder(tf.float32, [2, 3], "a")), "graph": graph(tf)}


@cases(
    "shape",
    "size",
    "rank",
    "transpose",
    "zeros_like",
    "ones_like",
    "reduce_sum",
    "reduce_mean axis",
    "argmin",
    "squeeze",
)
def subgraph_of_partly_unknown(tf, np, key):
    build = {"transpose": tf.transpose, "ones_like": tf.ones_like, "squeeze": lambda a: tf.squeeze(a, 0)}.get(
        key
    )
    build = build or (lambda a: tf.reduce_mean(a, 1) if key == "reduce_mean axis" else getattr(tf, key)(a))
    return {"made": build(tf.placeholder(tf.float32, [None, 3], "a")), "graph": graph(tf)}


@cases(
    "shape",
    "size",
    "rank",
    "transpose",
    "zeros_like",
    "ones_like",
    "reduce_sum",
    "reduce_mean",
    "matrix_transpose",
)
def subgraph_of_wholly_unknown(tf, np, key):
    return {"made": getattr(tf, key)(tf.placeholder(tf.float32, name="a")), "graph": graph(tf)}


_NN = {
    "softmax": lambda tf, x, y: tf.nn.softmax(x),
    "softmax named": lambda tf, x, y: tf.nn.softmax(x, name="mine"),
    "softmax first axis": lambda tf, x, y: tf.nn.softmax(x, axis=0),
    "log_softmax": lambda tf, x, y: tf.nn.log_softmax(x),
    "softmax_cross_entropy": lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=x),
    "softmax_cross_entropy_v2": lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits_v2(
        labels=x, logits=x
    ),
    "sparse_cross_entropy": lambda tf, x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=y, logits=x
    ),
    "sigmoid_cross_entropy": lambda tf, x, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=x),
    "weighted_cross_entropy": lambda tf, x, y: tf.nn.weighted_cross_entropy_with_logits(x, x, 2.0),
    "l2_loss": lambda tf, x, y: tf.nn.l2_loss(x),
    "bias_add": lambda tf, x, y: tf.nn.bias_add(x, [1.0, 2.0, 3.0]),
    "xw_plus_b": lambda tf, x, y: tf.nn.xw_plus_b(x, [[1.0], [2.0], [3.0]], [0.5]),
    "relu_layer": lambda tf, x, y: tf.nn.relu_layer(x, [[1.0], [2.0], [3.0]], [0.5]),
    "l2_normalize": lambda tf, x, y: tf.nn.l2_normalize(x, 1),
    "moments": lambda tf, x, y: tf.nn.moments(x, [0]),
    "moments keep": lambda tf, x, y: tf.nn.moments(x, [0, 1], keep_dims=True, name="stats"),
    "batch_normalization": lambda tf, x, y: tf.nn.batch_normalization(x, 0.0, 1.0, 0.0, 1.0, 0.1),
    "top_k": lambda tf, x, y: tf.nn.top_k(x, 2),
    "in_top_k": lambda tf, x, y: tf.nn.in_top_k(x, y, 1),
    "leaky_relu": lambda tf, x, y: tf.nn.leaky_relu(x),
    "relu6": lambda tf, x, y: tf.nn.relu6(x),
    "crelu": lambda tf, x, y: tf.nn.crelu(x),
    "swish": lambda tf, x, y: tf.nn.swish(x),
    "zero_fraction": lambda tf, x, y: tf.nn.zero_fraction(x),
    "dropout": lambda tf, x, y: tf.nn.dropout(x, 0.5, seed=1),
    "dropout rate": lambda tf, x, y: tf.nn.dropout(x, rate=0.25, seed=2, name="drop"),
    "dropout of nothing": lambda tf, x, y: tf.nn.dropout(x, rate=0.0, seed=2),
    "dropout tensor": lambda tf, x, y: tf.nn.dropout(x, rate=tf.constant(0.1), noise_shape=[2, 1], seed=3),
    "embedding_lookup": lambda tf, x, y: tf.nn.embedding_lookup(x, y),
}


@cases({key: (value,) for key, value in _NN.items()})
def nn_subgraph(tf, np, build):
    x = tf.placeholder(tf.float32, [2, 3], "x")
    return {"made": build(tf, x, tf.placeholder(tf.int32, [2], "y")), "graph": graph(tf)}


_IMAGES = {
    "conv2d": lambda tf, x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"),
    "conv2d explicit": lambda tf, x, w: tf.nn.conv2d(x, w, 2, [[0, 0], [1, 0], [0, 1], [0, 0]]),
    "conv2d dilated": lambda tf, x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME", dilations=[1, 2, 2, 1]),
    "convolution": lambda tf, x, w: tf.nn.convolution(x, w, "VALID"),
    "convolution strided": lambda tf, x, w: tf.nn.convolution(x, w, "SAME", strides=[2, 2], name="c"),
    "convolution dilated": lambda tf, x, w: tf.nn.convolution(x, w, "SAME", dilation_rate=[2, 2]),
    "atrous_conv2d": lambda tf, x, w: tf.nn.atrous_conv2d(x, w, 2, "SAME"),
    "depthwise_conv2d": lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"),
    "conv2d_transpose": lambda tf, x, w: tf.nn.conv2d_transpose(
        x, w[:, :, :, :2], [1, 8, 8, 2], [1, 2, 2, 1]
    ),
    "max_pool": lambda tf, x, w: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"),
    "avg_pool": lambda tf, x, w: tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], "SAME", name="average"),
    "pool": lambda tf, x, w: tf.nn.pool(x, [2, 2], "MAX", "SAME"),
    "lrn": lambda tf, x, w: tf.nn.lrn(x),
    "fused_batch_norm": lambda tf, x, w: tf.nn.fused_batch_norm(x, [1.0, 1.0], [0.0, 0.0]),
    "bias_add": lambda tf, x, w: tf.nn.bias_add(x, [1.0, 1.0]),
    "fused inference": lambda tf, x, w: tf.nn.fused_batch_norm(
        x, [1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0], is_training=False
    ),
}


@cases({key: (value,) for key, value in _IMAGES.items()})
def nn_image_subgraph(tf, np, build):
    x = tf.placeholder(tf.float32, [1, 4, 4, 2], "x")
    return {"made": build(tf, x, tf.placeholder(tf.float32, [3, 3, 2, 4], "w")), "graph": graph(tf)}


_RANDOM = {
    "uniform": lambda tf: tf.random_uniform([2, 3], -1.0, 1.0, seed=1),
    "uniform ints": lambda tf: tf.random_uniform([2], 0, 10, tf.int32, seed=1),
    "normal": lambda tf: tf.random_normal([2], 1.0, 2.0, seed=1),
    "truncated": lambda tf: tf.truncated_normal([2], stddev=0.1, seed=1, name="t"),
    "shuffle": lambda tf: tf.random_shuffle([1, 2, 3], seed=1),
    "multinomial": lambda tf: tf.multinomial([[0.5, 0.5]], 3, seed=1),
    "categorical": lambda tf: tf.random.categorical([[0.5, 0.5]], 3, seed=1),
}


@cases({key: (value,) for key, value in _RANDOM.items()})
def random_subgraph(tf, np, build):
    return {"made": build(tf), "graph": graph(tf)}


def control_flow_free_helpers(tf, np):
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    tf.group(a, b)
    tf.group(a, b, name="both")
    tf.group()
    tf.tuple([a, b])
    tf.tuple([a, b], name="pair", control_inputs=[a.op])
    tf.identity(a)
    tf.identity_n([a, b])
    tf.stop_gradient(a)
    tf.check_numerics(a, "bad")
    tf.where([True, False])
    return graph(tf)


def group_over_devices(tf, np):
    made = []
    for device in ["/cpu:0", "/gpu:0", "/cpu:0"]:
        with tf.device(device):
            made.append(tf.no_op())
    return [tf.group(*made).name, graph(tf)]


def placeholders(tf, np):
    tf.placeholder(tf.float32)
    tf.placeholder(tf.int64, [None, 2])
    tf.placeholder(tf.string, [], name="text")
    tf.placeholder_with_default([1.0, 2.0], [None])
    tf.placeholder_with_default(tf.zeros([2]), [2], name="p")
    return graph(tf)


def import_prefixes_follow_the_same_rules(tf, np):
    with tf.Graph().as_default() as g:
        tf.constant(1.0, name="c")
    for _ in range(2):
        tf.import_graph_def(g.as_graph_def())
    tf.import_graph_def(g.as_graph_def(), name="mine")
    with tf.name_scope("s"):
        tf.import_graph_def(g.as_graph_def(), name="mine")
    tf.import_graph_def(g.as_graph_def(), name="")
    return names(tf)
