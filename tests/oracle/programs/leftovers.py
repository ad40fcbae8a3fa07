"""Histograms, buckets, indices, unique slices, layouts, copies, references: ops of no larger family."""

from kit import cases, names, normal, product, raises, run

# ---------------------------------------------------------------------------------- histograms


@cases(*product(["float32", "float64", "int32", "int64"], ["int32", "int64"], [1, 5, 100]))
def histogram(tf, np, dtype, counted, bins):
    values = np.array([-1, 0, 1.5, 2, 4.99, 5, 15, 3, 3]).astype(dtype)
    y = tf.histogram_fixed_width(
        tf.constant(values), tf.constant([0, 5], dtype), nbins=bins, dtype=getattr(tf, counted)
    )
    return [y, run(tf, y)]


@cases((0,), (2, 3), (), (2, 0))
def histogram_of_shape(tf, np, *shape):
    y = tf.histogram_fixed_width(np.full(shape, 0.3, np.float32), [0.0, 1.0], 4)
    return [y, run(tf, y)]


def histogram_of_unknown_bins(tf, np):
    bins, span = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
    y = tf.histogram_fixed_width([0.1, 0.5, 2.0], span, bins)
    with tf.Session() as session:
        return [y, session.run(y, {bins: 3, span: [0.0, 1.0]}), session.run(y, {bins: 2, span: [0.0, 3.0]})]


@cases({"bins": ([0.0, 1.0], 0), "negative bins": ([0.0, 1.0], -2), "ends": ([0.0, 1.0, 2.0], 3)})
def bad_histogram(tf, np, span, bins):
    return raises(tf.histogram_fixed_width, [0.5], span, bins)


@cases({"turned": [5.0, 0.0], "empty": [1.0, 1.0]})
def bad_range(tf, np, span):
    return raises(run, tf, tf.histogram_fixed_width([0.5], span, 3))


@cases(*product(["float32", "float64"], [1, 5], [(6,), (2, 3)]))
def histogram_bins(tf, np, dtype, bins, shape):
    values = np.array([-1, 0, 1.5, 2, 5, 15]).astype(dtype).reshape(shape)
    y = tf.histogram_fixed_width_bins(tf.constant(values), tf.constant([0, 5], dtype), nbins=bins)
    return [y, run(tf, y), names(tf)]


# ---------------------------------------------------------------------------------- buckets and places


@cases(*product(["float32", "float64", "int32", "int64"], [(), (0.0,), (-1.0, 0.5, 2.0), (1.0, 1.0)]))
def bucketize(tf, np, dtype, boundaries):
    x = np.array([[-5, -1, 0], [1, 2, 100]]).astype(dtype)
    y = tf.raw_ops.Bucketize(input=x, boundaries=list(boundaries))
    return [y, run(tf, y)]


def unsorted_buckets(tf, np):
    return raises(run, tf, tf.raw_ops.Bucketize(input=[1.0], boundaries=[2.0, 1.0]))


@cases(*product(["int32", "int64"], [(7, 6), (6, 7, 8, 9), (100,)], [22, [22, 41, 37], []]))
def unravel_index(tf, np, dtype, dims, indices):
    y = tf.unravel_index(tf.constant(indices, dtype), tf.constant(dims, dtype))
    return [y, run(tf, y)]


def bad_unravel_index(tf, np):
    many = tf.unravel_index(tf.constant([[1, 2], [3, 4]]), [5, 6])
    return [raises(tf.unravel_index, [1, 2], 7), raises(run, tf, many)]


# ---------------------------------------------------------------------------------- unique slices

_ROWS = [[1, 0, 0], [1, 0, 0], [2, 0, 0], [1, 0, 0]]


@cases(*product(["int32", "int64", "float32", "float64", "uint8", "bool"], [[0], [1], [-1]]))
def unique_slices(tf, np, dtype, axis):
    x = np.array(_ROWS).astype(dtype)
    return run(tf, tf.raw_ops.UniqueWithCountsV2(x=x, axis=np.array(axis)))


def unique_slices_of_strings(tf, np):
    x = np.array([[b"a", b"b"], [b"c", b"b"], [b"a", b"b"]], dtype=object)
    return run(tf, [tf.raw_ops.UniqueV2(x=x, axis=np.array([axis])) for axis in (0, 1)])


def unique_of_a_vector(tf, np):
    empty = np.zeros([0], np.int64)
    return run(tf, [tf.raw_ops.UniqueV2(x=x, axis=empty) for x in ([3.0, 1.0, 3.0], np.zeros([0]))])


@cases({"axis": [2], "no axis": [], "axes": [0, 1]})
def bad_unique_slices(tf, np, axis):
    x = tf.placeholder(tf.float32)
    y = tf.raw_ops.UniqueV2(x=x, axis=np.array(axis, np.int64))
    with tf.Session() as session:
        return raises(session.run, y, {x: np.ones((2, 2))})


# ---------------------------------------------------------------------------------- layouts

_FORMATS = [("NHWC", "NCHW"), ("NCHW", "NHWC"), ("HWNC", "WHCN")]


@cases(*product(["int32", "int64"], _FORMATS))
def layout_of_axes(tf, np, dtype, formats):
    x = np.arange(-4, 4).astype(dtype).reshape(2, 4)
    y = tf.raw_ops.DataFormatDimMap(x=tf.constant(x), src_format=formats[0], dst_format=formats[1])
    return [y, run(tf, y)]


@cases(*product(["int32", "int64"], _FORMATS[:2], [(4,), (4, 2)]))
def layout_of_sizes(tf, np, dtype, formats, shape):
    x = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
    y = tf.raw_ops.DataFormatVecPermute(x=tf.constant(x), src_format=formats[0], dst_format=formats[1])
    return [y, run(tf, y)]


@cases((3,), (2, 3), (2, 3, 4), ())
def bad_layout(tf, np, *shape):
    x = tf.placeholder(tf.int32)
    y = tf.raw_ops.DataFormatVecPermute(x=x)
    with tf.Session() as session:
        return raises(session.run, y, {x: np.zeros(shape, np.int32)})


# ---------------------------------------------------------------------------------- copies and rows


@cases(*product(["DeepCopy", "Snapshot", "DebugGradientIdentity"], ["float32", "int64", "bool"]))
def copies(tf, np, name, dtype):
    key = "x" if name == "DeepCopy" else "input"
    made = [getattr(tf.raw_ops, name)(**{key: np.ones(shape).astype(dtype)}) for shape in ((), (2, 3), (0,))]
    return [made, run(tf, made)]


@cases(*product(["InplaceUpdate", "InplaceAdd", "InplaceSub"], ["float32", "int32", "int64"]))
def rows_replaced(tf, np, name, dtype):
    found = []
    for rows in ([0], [2, -1], [1, 1], [5, 0], []):
        x = tf.constant(np.arange(12).reshape(4, 3).astype(dtype)) + tf.constant(0, dtype)
        v = (np.ones((len(rows), 3)) * 7).astype(dtype)
        y = getattr(tf.raw_ops, name)(x=x, i=np.array(rows, np.int32), v=v)
        found += [y.shape, run(tf, y)]
    return found


@cases({"number": ([0, 1], (3, 3)), "width": ([0, 1], (2, 2)), "rank": ([0], (3,)), "index": (0, (1, 3))})
def bad_rows_replaced(tf, np, rows, shape):
    y = tf.raw_ops.InplaceUpdate(
        x=tf.ones([4, 3]) + 0, i=np.array(rows, np.int32), v=np.ones(shape, np.float32)
    )
    return raises(run, tf, y)


@cases("float32", "int32", "bool", "string", "complex64")
def empty(tf, np, dtype):
    made = [
        tf.raw_ops.Empty(shape=s, dtype=getattr(tf, dtype), init=True)
        for s in ([2, 3], [0], np.zeros(0, np.int32))
    ]
    return [made, run(tf, made)]


# ---------------------------------------------------------------------------------- references


def references(tf, np):
    a = tf.Variable([1.0, 2.0], use_resource=False)
    b = tf.Variable([3.0, 4.0], use_resource=False)
    index = tf.placeholder(tf.int32, [])
    chosen = tf.raw_ops.RefSelect(index=index, inputs=[a._ref(), b._ref()])
    same = tf.raw_ops.RefIdentity(input=a._ref())
    marked = tf.raw_ops.DebugGradientRefIdentity(input=a._ref())
    assigned = tf.assign(chosen, [9.0, 9.0])
    added = tf.assign_add(same, [1.0, 1.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run([chosen, same, marked], {index: 1})]
        session.run(assigned, {index: 1})
        session.run(added)
        found += [session.run([a, b])]
        return [
            found,
            [chosen.dtype, same.dtype, same.shape, chosen.shape],
            raises(session.run, chosen, {index: 2}),
        ]


# ---------------------------------------------------------------------------------- the rest


def facts(tf, np):
    return run(tf, tf.raw_ops.Fact())


def time(tf, np):
    t = tf.timestamp(name="now")
    with tf.Session() as session:
        first, second = session.run(t), session.run(t)
        return [t, bool(1e9 < first <= second)]


def mapped_files(tf, np):
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(np.arange(4, dtype=np.float32).tobytes())
        file.flush()

        def read(shape, path=file.name):
            op = tf.raw_ops.ImmutableConst(dtype=tf.float32, shape=shape, memory_region_name=path)
            return run(tf, op)

        return [read([2, 2]), raises(read, [3, 3]), raises(read, [2], "/nowhere/at/all")]


@cases(*product(["REFLECT", "SYMMETRIC"], ["SAME", "VALID"], [1, 2]))
def padded_convolution(tf, np, mode, padding, stride):
    x, kernel = normal(np, 1, 5, 6, 3).astype(np.float32), normal(np, 3, 2, 3, 4).astype(np.float32)
    y = tf.raw_ops.FusedPadConv2D(
        input=x,
        paddings=[[0, 0], [1, 2], [2, 1], [0, 0]],
        filter=kernel,
        mode=mode,
        strides=[1, stride, stride, 1],
        padding=padding,
    )
    return [y, run(tf, y)]


@cases(*product(["REFLECT", "SYMMETRIC"], ["SAME", "VALID"], [False, True]))
def resized_convolution(tf, np, mode, padding, corners):
    x, kernel = normal(np, 1, 5, 6, 3).astype(np.float32), normal(np, 3, 2, 3, 4).astype(np.float32)
    y = tf.raw_ops.FusedResizeAndPadConv2D(
        input=x,
        size=[7, 9],
        paddings=[[0, 0], [1, 2], [2, 1], [0, 0]],
        filter=kernel,
        mode=mode,
        strides=[1, 1, 1, 1],
        padding=padding,
        resize_align_corners=corners,
    )
    return [y, run(tf, y)]


# ---------------------------------------------------------------------------------- gradients that forget


def passed_through(tf, np):
    x = tf.constant([1.0, -2.0, 3.0])
    with tf.variable_scope("a", use_resource=True):
        y = tf.grad_pass_through(tf.round)(x * 1.3)
        z = tf.grad_pass_through(lambda a: tf.cast(a > 0, tf.float32))(x)
    return run(tf, [y, z] + tf.gradients(y * y, x) + tf.gradients(z, x))


def recomputed(tf, np):
    x = tf.constant([[1.0, -2.0, 3.0]])

    @tf.recompute_grad
    def block(a):
        return tf.tanh(tf.matmul(a, tf.ones([3, 2])) * 0.1)

    with tf.variable_scope("a", use_resource=True):
        y = block(block(tf.tile(x, [2, 1]))[:, :1] * x)
    return run(tf, [y] + tf.gradients(y * y, x))


def recomputed_with_variables(tf, np):
    x = tf.constant([[1.0, -2.0, 3.0]])
    with tf.variable_scope("a", use_resource=True):
        w = tf.get_variable("w", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))

        @tf.recompute_grad
        def block(a):
            return tf.sin(tf.matmul(a, w))

        y = block(x)
    return run(tf, [y] + tf.gradients(y, [x, w]))
