"""Arguments of functions that programs seldom give: older names, checks, types of results, options."""

from kit import cases, graph, names, normal, raises, run


def _one(np, *shape):
    return normal(np, *shape).astype(np.float32)


def _of(tf, made):
    """The tensors, their values, and the graph."""
    listed = made if isinstance(made, (list, tuple)) else [made]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return (
            [(t.shape, t.dtype) if isinstance(t, tf.Tensor) else t for t in listed],
            session.run(made),
            dict(names(tf)),
        )


_OLDER_NAMES = {
    "count_nonzero": lambda tf, x: tf.count_nonzero(input_tensor=x, keep_dims=True, reduction_indices=[1]),
    "count_nonzero new": lambda tf, x: tf.count_nonzero(input=x, keepdims=True, axis=[0], dtype=tf.int32),
    "all": lambda tf, x: tf.reduce_all(x > 0, reduction_indices=1, keep_dims=True),
    "any": lambda tf, x: tf.reduce_any(x > 0, reduction_indices=[0, 1], keep_dims=True),
    "any new": lambda tf, x: tf.reduce_any(input_tensor=x > 0, axis=0, keepdims=True),
    "logsumexp": lambda tf, x: tf.reduce_logsumexp(x, reduction_indices=[1], keep_dims=True),
    "logsumexp new": lambda tf, x: tf.reduce_logsumexp(x, axis=0, keepdims=True),
    "max": lambda tf, x: tf.reduce_max(x, reduction_indices=[1]),
    "mean": lambda tf, x: tf.reduce_mean(x, reduction_indices=[1], keep_dims=True),
    "min": lambda tf, x: tf.reduce_min(x, reduction_indices=0, keep_dims=True),
    "prod": lambda tf, x: tf.reduce_prod(x, reduction_indices=0, keep_dims=True),
    "sum": lambda tf, x: tf.reduce_sum(x, reduction_indices=-1, keep_dims=False),
    "norm": lambda tf, x: tf.norm(x, axis=1, keep_dims=True),
    "arg_max": lambda tf, x: [tf.arg_max(x, 1, output_type=tf.int32), tf.arg_min(x, dimension=0)],
    "argmin": lambda tf, x: tf.argmin(x, dimension=1, output_type=tf.int32),
    "argmax": lambda tf, x: tf.argmax(input=x, dimension=0),
    "softmax": lambda tf, x: [tf.nn.softmax(x, dim=0), tf.nn.log_softmax(x, dim=0)],
    "normalize": lambda tf, x: tf.nn.l2_normalize(x, dim=0),
    "moments": lambda tf, x: tf.nn.moments(x, [0], keep_dims=True),
    "expand": lambda tf, x: tf.expand_dims(x, dim=1),
    "squeeze": lambda tf, x: tf.squeeze(x[:, :1], squeeze_dims=[1]),
    "reverse": lambda tf, x: tf.reverse_sequence(x, [1, 2, 3], seq_dim=1, batch_dim=0),
    "reverse new": lambda tf, x: tf.reverse_sequence(x, [1, 2, 3], seq_axis=1, batch_axis=0),
    "gather": lambda tf, x: tf.gather(x, [0, 2], validate_indices=False, axis=1),
    "sort": lambda tf, x: [tf.sort(x, axis=0), tf.argsort(x, axis=0, direction="DESCENDING", stable=True)],
    "transpose": lambda tf, x: tf.matrix_transpose(tf.complex(x, x), conjugate=True),
    "complex": lambda tf, x: [tf.real(input=tf.complex(x, x)), tf.imag(input=tf.complex(x, x)), tf.conj(x=x)],
    "angle": lambda tf, x: tf.angle(input=tf.complex(x, -x)),
    "like": lambda tf, x: [tf.zeros_like(x, optimize=False), tf.ones_like(x, optimize=False, dtype=tf.int64)],
    "product": lambda tf, x: tf.matmul(x, x, transpose_b=True, b_is_sparse=True),
    "sparse product": lambda tf, x: tf.sparse_matmul(
        x, x, transpose_a=False, transpose_b=True, a_is_sparse=True, b_is_sparse=True
    ),
    "vector": lambda tf, x: [
        tf.linalg.matvec(x, tf.ones((4,)), b_is_sparse=False),
        tf.linalg.matvec(x, tf.ones((3,)), transpose_a=True),
        tf.linalg.matvec(tf.complex(x, x), tf.complex(tf.ones((3,)), tf.ones((3,))), adjoint_a=True),
    ],
    "accumulate": lambda tf, x: tf.accumulate_n([x, x, x], shape=[3, 4], tensor_dtype=tf.float32),
    "searched": lambda tf, x: tf.searchsorted(tf.sort(x), x, side="right", out_type=tf.int64),
    "unique": lambda tf, x: [
        tf.unique([3, 1, 3], out_idx=tf.int64),
        tf.unique_with_counts([3, 1, 3], out_idx=tf.int64),
    ],
    "difference": lambda tf, x: tf.setdiff1d([1, 2, 3], [2], index_dtype=tf.int64),
    "shapes": lambda tf, x: [
        tf.shape_n([x, x[0]], out_type=tf.int64),
        tf.shape(x, out_type=tf.int64),
        tf.size(x, out_type=tf.int64),
    ],
    "histogram": lambda tf, x: [
        tf.histogram_fixed_width_bins(x, [-1.0, 1.0], nbins=4, dtype=tf.int64),
        tf.histogram_fixed_width(x, [-1.0, 1.0], nbins=4, dtype=tf.int64),
    ],
    "depth": lambda tf, x: [
        tf.space_to_depth(tf.reshape(x, (1, 2, 2, 3)), 2, data_format="NHWC"),
        tf.depth_to_space(tf.reshape(x, (1, 1, 1, 12)), block_size=2, data_format="NHWC"),
    ],
    "batch": lambda tf, x: [
        tf.space_to_batch(tf.reshape(x, (1, 3, 4, 1)), [[1, 0], [0, 0]], block_size=2),
        tf.batch_to_space(tf.reshape(x, (4, 1, 3, 1)), crops=[[0, 1], [1, 0]], block_size=2),
    ],
    "paddings": lambda tf, x: tf.required_space_to_batch_paddings(
        [3, 4], [2, 3], base_paddings=[[1, 0], [0, 1]]
    ),
    "strided": lambda tf, x: tf.strided_slice(x, [0, 1], [2, 4], [1, 2], begin_mask=1, end_mask=2),
    "string": lambda tf, x: [
        tf.as_string(x, precision=2, width=8, fill="0"),
        tf.as_string(x, scientific=True, precision=3),
        tf.as_string(x, shortest=True),
        tf.as_string(tf.cast(x * 9.0, tf.int32), width=5, fill=" "),
    ],
    "scaled": lambda tf, x: [
        tf.math.reciprocal_no_nan(x=x),
        tf.math.reduce_variance(input_tensor=x, axis=0, keepdims=True),
    ],
    "deviation": lambda tf, x: tf.math.reduce_std(input_tensor=x, axis=1, keepdims=True, name="d"),
    "bessel": lambda tf, x: [
        tf.math.bessel_i0(x),
        tf.math.bessel_i1(x),
        tf.math.bessel_i0e(x=x),
        tf.math.bessel_i1e(x=x),
    ],
    "next": lambda tf, x: tf.math.nextafter(x, x + 1.0),
    "floors": lambda tf, x: [tf.floor_div(x, 0.5), tf.realdiv(x, 0.5), tf.truncatediv(x=[7, -7], y=[2, 2])],
    "beta": lambda tf, x: tf.lbeta(tf.abs(x)),
    "polynomials": lambda tf, x: [
        tf.math.polyval([1.0, x, 2.0], x),
        tf.math.digamma(x=tf.abs(x)),
        tf.rint(x=x * 3.0),
    ],
    "logarithms": lambda tf, x: [
        tf.log_sigmoid(x=x),
        tf.ceil(x=x),
        tf.logical_xor(x=x > 0, y=x < 1),
        tf.atan2(y=x, x=x + 1),
    ],
    "diagonals": lambda tf, x: [
        tf.matrix_diag(diagonal=x),
        tf.matrix_diag_part(input=x),
        tf.linalg.tensor_diag(x[0]),
    ],
    "inverse": lambda tf, x: tf.matrix_inverse(tf.matmul(x, x, transpose_b=True) + tf.eye(3), adjoint=True),
    "triangular": lambda tf, x: [
        tf.matrix_triangular_solve(x[:, :3] + 3.0 * tf.eye(3), x, lower=False, adjoint=True),
        tf.linalg.triangular_solve(x[:, :3] + 3.0 * tf.eye(3), x, lower=True, adjoint=True),
    ],
    "cumulated": lambda tf, x: [
        tf.cumprod(x, axis=1, exclusive=True, reverse=True),
        tf.cumsum(x, exclusive=True),
    ],
    "ordered": lambda tf, x: [
        tf.is_strictly_increasing(x=x),
        tf.is_non_decreasing(x=[1, 1, 2]),
        tf.less_equal(x=x, y=0.0),
    ],
    "shifts": lambda tf, x: [
        tf.bitwise.left_shift(x=[1, 2], y=[3, 1]),
        tf.bitwise.bitwise_xor(x=[5, 6], y=[3, 3]),
    ],
}


@cases({name: name for name in _OLDER_NAMES})
def older_names(tf, np, name):
    return _of(tf, _OLDER_NAMES[name](tf, tf.constant(_one(np, 3, 4))))


def hessians_with_options(tf, np):
    x = tf.constant(_one(np, 3, 4))
    made = tf.hessians(
        tf.reduce_sum(x**3), x, colocate_gradients_with_ops=True, gate_gradients=True, aggregation_method=2
    )
    return run(tf, made)


_BOTH_NAMES = {
    "count_nonzero": lambda tf, x: tf.count_nonzero(input_tensor=x, input=x),
    "count_nonzero axis": lambda tf, x: tf.count_nonzero(x, axis=0, reduction_indices=0),
    "count_nonzero nothing": lambda tf, x: tf.count_nonzero(),
    "reduce_sum": lambda tf, x: tf.reduce_sum(x, axis=0, reduction_indices=0),
    "reduce_mean": lambda tf, x: tf.reduce_mean(x, keepdims=True, keep_dims=True),
    "argmax": lambda tf, x: tf.argmax(x, axis=0, dimension=0),
    "softmax": lambda tf, x: tf.nn.softmax(x, axis=0, dim=0),
    "expand_dims": lambda tf, x: tf.expand_dims(x, axis=0, dim=0),
    "expand_dims nothing": lambda tf, x: tf.expand_dims(x),
    "squeeze": lambda tf, x: tf.squeeze(x, axis=0, squeeze_dims=0),
    "concat": lambda tf, x: tf.sparse_concat(0, [], axis=0),
    "split": lambda tf, x: tf.sparse_split(sp_input=None, num_split=2),
    "convolution": lambda tf, x: tf.nn.conv2d(x, filter=x, filters=x, strides=1, padding="SAME"),
    "convolution nothing": lambda tf, x: tf.nn.conv2d(),
    "pool": lambda tf, x: tf.nn.max_pool(value=x, input=x, ksize=2, strides=1, padding="SAME"),
    "embedding": lambda tf, x: tf.nn.embedding_lookup(x, [0], partition_strategy="mix"),
    "cond": lambda tf, x: tf.cond(tf.constant(True), fn1=lambda: x, true_fn=lambda: x, false_fn=lambda: x),
    "cond one": lambda tf, x: tf.cond(tf.constant(True), lambda: x),
    "reverse": lambda tf, x: tf.reverse_sequence(x, [1, 2, 3], seq_axis=0, seq_dim=0),
    "normalize": lambda tf, x: tf.nn.l2_normalize(x, axis=0, dim=0),
    "crossed": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(x, x),
    "crossed sigmoid": lambda tf, x: tf.nn.sigmoid_cross_entropy_with_logits(x, x),
    "crossed sparse": lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1]),
    "weighted": lambda tf, x: tf.nn.weighted_cross_entropy_with_logits(
        labels=x, targets=x, logits=x, pos_weight=1
    ),
    "range": lambda tf, x: tf.range(),
    "gather": lambda tf, x: tf.gather(x, [0], axis=0, bad=1),
    "convert": lambda tf, x: tf.convert_to_tensor(1, dtype_hint=tf.int64, preferred_dtype=tf.int32),
    "dropout": lambda tf, x: tf.nn.dropout(x, keep_prob=0.5, rate=0.5),
    "dropout nothing": lambda tf, x: tf.nn.dropout(x),
}


@cases({name: name for name in _BOTH_NAMES})
def both_names(tf, np, name):
    return raises(lambda: _BOTH_NAMES[name](tf, tf.constant(_one(np, 3, 4))))


_CONDITIONS = {
    "fn1": lambda tf, x: tf.cond(tf.reduce_sum(x) > 0, fn1=lambda: x, fn2=lambda: -x),
    "strict": lambda tf, x: tf.cond(tf.reduce_sum(x) > 0, lambda: [x], lambda: [-x], strict=True),
    "not strict": lambda tf, x: tf.cond(tf.reduce_sum(x) > 0, lambda: [x], lambda: [-x], strict=False),
    "case": lambda tf, x: tf.case(
        [(tf.reduce_sum(x) > 9, lambda: x), (tf.reduce_sum(x) > -9, lambda: -x)], exclusive=True, strict=True
    ),
    "foldl": lambda tf, x: tf.foldl(
        lambda a, b: a + b,
        x,
        initializer=tf.zeros(4),
        parallel_iterations=1,
        back_prop=False,
        swap_memory=True,
    ),
    "foldr": lambda tf, x: tf.foldr(
        lambda a, b: a - b, x, parallel_iterations=2, back_prop=False, swap_memory=True
    ),
    "map": lambda tf, x: tf.map_fn(
        lambda a: a * 2.0, x, parallel_iterations=3, back_prop=False, swap_memory=True, infer_shape=False
    ),
    "scan": lambda tf, x: tf.scan(
        lambda a, b: a + b,
        x,
        parallel_iterations=1,
        back_prop=False,
        swap_memory=True,
        infer_shape=False,
        reverse=True,
    ),
    "while": lambda tf, x: tf.while_loop(
        lambda i, v: i < 5,
        lambda i, v: [i + 1, v * 2.0],
        [tf.constant(0), x],
        parallel_iterations=1,
        back_prop=False,
        swap_memory=True,
        maximum_iterations=3,
        return_same_structure=True,
    ),
}


@cases({name: name for name in _CONDITIONS})
def options_of_loops(tf, np, name):
    x = tf.constant(_one(np, 3, 4))
    made = _CONDITIONS[name](tf, x)
    flat = [t for t in (made if isinstance(made, (list, tuple)) else [made])]
    with tf.Session() as session:
        return session.run(made), [(t.shape, t.dtype) for t in flat], graph(tf, attrs=["parallel_iterations"])


_ASSERTIONS = {
    "assert_greater": lambda tf, x: ([2.0, 3.0], [1.0, 1.0]),
    "assert_greater_equal": lambda tf, x: ([2.0, 1.0], [1.0, 1.0]),
    "assert_less": lambda tf, x: ([0.0, 0.5], [1.0, 1.0]),
    "assert_less_equal": lambda tf, x: ([0.0, 1.0], [1.0, 1.0]),
    "assert_equal": lambda tf, x: ([1.0, 1.0], [1.0, 1.0]),
    "assert_none_equal": lambda tf, x: ([1.0, 1.0], [2.0, 3.0]),
    "assert_near": lambda tf, x: ([1.0, 1.0], [1.0, 1.0]),
    "assert_negative": lambda tf, x: ([-1.0, -2.0],),
    "assert_positive": lambda tf, x: ([1.0, 2.0],),
    "assert_non_negative": lambda tf, x: ([0.0, 2.0],),
    "assert_non_positive": lambda tf, x: ([0.0, -2.0],),
    "assert_rank": lambda tf, x: ([0.0, -2.0], 1),
    "assert_rank_at_least": lambda tf, x: ([0.0, -2.0], 1),
    "assert_rank_in": lambda tf, x: ([0.0, -2.0], [1, 2]),
}


@cases({name: name for name in _ASSERTIONS})
def assertions(tf, np, name):
    """With data, a summary and a message; statically, when fed, and when what is fed fails."""
    given = _ASSERTIONS[name](tf, np)
    assertion = getattr(tf, name)
    options = {
        "data": [tf.constant("so"), tf.constant([3, 4, 5])],
        "summarize": 2,
        "message": "mine",
        "name": "it",
    }
    fed = tf.placeholder(tf.float32)
    known = assertion(
        *[tf.constant(v) if isinstance(v, list) and name != "assert_rank_in" else v for v in given], **options
    )
    unknown = assertion(fed, *given[1:], **options)
    wrong = {"assert_negative": 1.0, "assert_non_positive": 1.0, "assert_less": 5.0, "assert_less_equal": 5.0}
    bad = np.full((2,), wrong.get(name, -7.0)) if not name.startswith("assert_rank") else np.float32(3.0)
    if name == "assert_none_equal":
        bad = np.array([2.0, 3.0])
    with tf.Session() as session:
        done = [session.run(op, {fed: given[0]}) for op in (known, unknown) if op is not None]
        failed = raises(session.run, unknown, {fed: bad})
    return done, failed, dict(names(tf))


def assert_near_with_tolerances(tf, np):
    x = tf.placeholder(tf.float32, [2])
    ops = [
        tf.assert_near(x, [1.0, 2.0], rtol=0.1, atol=0.0, data=[x], summarize=3, message="far"),
        tf.assert_near(x, [1.0, 2.0], rtol=tf.constant(0.0), atol=tf.constant(0.2)),
        tf.debugging.assert_near(tf.cast(x, tf.float64), np.array([1.0, 2.0]), atol=0.25, rtol=0),
    ]
    with tf.Session() as session:
        return [
            [raises(session.run, op, {x: [1.0 + d, 2.0 - d]}) for d in (0.0, 0.15, 0.22, 0.3)] for op in ops
        ] + [raises(tf.assert_near, tf.constant([1]), tf.constant([1.0])), dict(names(tf))]


def other_assertions(tf, np):
    x = tf.placeholder(tf.float32, [None, 3])
    return [
        raises(tf.assert_integer, x, message="mine"),
        raises(tf.assert_type, x, tf.int32, message="mine"),
        raises(tf.assert_scalar, x, message="mine"),
        raises(tf.debugging.assert_shapes, {x: ("n", 4)}, message="mine"),
        tf.debugging.assert_shapes([(x, ("n", 3))], data=[x], summarize=2),
        tf.assert_proper_iterable([1]),
        raises(tf.assert_proper_iterable, "text"),
        raises(tf.assert_proper_iterable, x),
        raises(tf.assert_same_float_dtype, [x, tf.constant(1.0, tf.float64)]),
        names(tf),
    ]
