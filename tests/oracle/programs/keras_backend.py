"""tf.keras.backend, function by function: values, shapes, names of nodes, errors."""

from kit import cases, names, normal, raises


def _one(np, *shape):
    return normal(np, *shape).astype(np.float32)


def _made(tf, outputs):
    """What the outputs are, and their values."""
    k = tf.keras.backend
    listed = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    known = [(x.shape, x.dtype) if isinstance(x, tf.Tensor) else x for x in listed]
    return known, k.get_session().run([x for x in listed if isinstance(x, (tf.Tensor, tf.SparseTensor))])


_SHAPES = {
    "batch_flatten": lambda k, x: k.batch_flatten(x),
    "flatten": lambda k, x: k.flatten(x),
    "permute": lambda k, x: k.permute_dimensions(x, (2, 0, 1)),
    "permute list": lambda k, x: k.permute_dimensions(x, [0, 2, 1]),
    "repeat elements": lambda k, x: k.repeat_elements(x, 2, 1),
    "repeat elements last": lambda k, x: k.repeat_elements(x, rep=3, axis=-1),
    "repeat": lambda k, x: k.repeat(x[0], n=2),
    "resize images": lambda k, x: k.resize_images(k.expand_dims(x), 2, 3, "channels_last"),
    "resize images first": lambda k, x: k.resize_images(
        k.expand_dims(x, 1), height_factor=2, width_factor=1, data_format="channels_first"
    ),
    "resize bilinear": lambda k, x: k.resize_images(
        k.expand_dims(x), 2, 2, "channels_last", interpolation="bilinear"
    ),
    "resize volumes": lambda k, x: k.resize_volumes(
        k.expand_dims(k.expand_dims(x)), 2, 1, 2, "channels_last"
    ),
    "resize volumes first": lambda k, x: k.resize_volumes(
        k.expand_dims(k.expand_dims(x, 0), 0), 1, 2, 1, data_format="channels_first"
    ),
    "temporal padding": lambda k, x: k.temporal_padding(x),
    "temporal padding uneven": lambda k, x: k.temporal_padding(x, padding=(0, 2)),
    "spatial 2d": lambda k, x: k.spatial_2d_padding(k.expand_dims(x)),
    "spatial 2d first": lambda k, x: k.spatial_2d_padding(
        k.expand_dims(x), padding=((0, 1), (2, 0)), data_format="channels_first"
    ),
    "spatial 3d": lambda k, x: k.spatial_3d_padding(k.expand_dims(k.expand_dims(x))),
    "spatial 3d first": lambda k, x: k.spatial_3d_padding(
        k.expand_dims(k.expand_dims(x)), ((0, 1), (2, 0), (1, 1)), "channels_first"
    ),
    "reverse": lambda k, x: k.reverse(x, 1),
    "reverse axes": lambda k, x: k.reverse(x, axes=[0, -1]),
    "squeeze": lambda k, x: k.squeeze(x[:1], 0),
    "stack": lambda k, x: k.stack([x, x], axis=-1),
    "tile": lambda k, x: k.tile(x, n=[1, 2, 1]),
    "tile number": lambda k, x: k.tile(x[0, 0], 3),
    "transpose": lambda k, x: k.transpose(x),
    "concatenate": lambda k, x: k.concatenate([x, x * 2.0]),
    "concatenate first": lambda k, x: k.concatenate([x, x * 2.0], axis=0),
    "concatenate negative": lambda k, x: k.concatenate([x, x], axis=-2),
    "expand": lambda k, x: k.expand_dims(x, axis=1),
    "reshape": lambda k, x: k.reshape(x, (-1, 2)),
    "shape": lambda k, x: [k.shape(x), k.int_shape(x), k.ndim(x)],
    "gather": lambda k, x: k.gather(reference=x, indices=[1, 0, 1]),
    "one hot": lambda k, x: k.one_hot(k.constant([[0, 2]], dtype="int32"), num_classes=4),
    "eye": lambda k, x: [k.eye(3), k.eye(2, dtype="int32", name="two")],
    "ones": lambda k, x: [k.ones_like(x), k.zeros_like(x, dtype="int32", name="nothing")],
    "arange": lambda k, x: [k.arange(4), k.arange(1, stop=9, step=3, dtype="int64"), k.arange(-2)],
    "arange floats": lambda k, x: [k.arange(0.0, 1.0, 0.25, dtype="float32")],
    "constant": lambda k, x: [
        k.constant(3),
        k.constant([1, 2], "int64", name="c"),
        k.constant(2.5, shape=(2, 2)),
    ],
    "cast": lambda k, x: [k.cast(x, "float64"), k.cast(x, "int32")],
    "clip": lambda k, x: [k.clip(x, -0.5, 0.5), k.clip(x, min_value=0.3, max_value=0.1), k.clip(x, 0, None)],
    "clip integers": lambda k, x: k.clip(k.cast(x * 5.0, "int32"), -1, 2),
}


@cases({name: name for name in _SHAPES})
def shapes(tf, np, name):
    x = tf.constant(_one(np, 2, 3, 4))
    return _made(tf, _SHAPES[name](tf.keras.backend, x))


_NUMBERS = {
    "all": lambda k, x: [
        k.all(k.greater(x, 0.0), axis=1),
        k.all(k.greater(x, -9.0), keepdims=True),
        k.all(x),
    ],
    "any": lambda k, x: [k.any(k.less(x, 0.0), axis=-1, keepdims=True), k.any(x, 0)],
    "arg": lambda k, x: [k.argmax(x), k.argmin(x, axis=0)],
    "sums": lambda k, x: [
        k.cumsum(x, axis=1),
        k.cumprod(x),
        k.prod(x, axis=1, keepdims=True),
        k.sum(x, [0, 1]),
    ],
    "var": lambda k, x: [k.var(x), k.var(x, axis=1), k.var(x, (0, 2), keepdims=True)],
    "var of bools": lambda k, x: [k.var(k.greater(x, 0.0), axis=0), k.mean(k.greater(x, 0.0))],
    "std": lambda k, x: [k.std(x), k.std(x=x, axis=[0, 1], keepdims=True)],
    "mean": lambda k, x: [k.mean(x, axis=-1, keepdims=True), k.mean(k.cast(x * 9.0, "int32"), 0)],
    "max": lambda k, x: [k.max(x), k.min(x, axis=1), k.maximum(x, 0.1), k.minimum(x, 0.1)],
    "elementwise": lambda k, x: [k.abs(x), k.square(x), k.sqrt(x), k.exp(x), k.sign(x), k.round(x * 3.0)],
    "sine": lambda k, x: [k.sin(x), k.cos(x), k.log(k.abs(x)), k.pow(x, 2), k.pow(x, a=3.0)],
    "compared": lambda k, x: [
        k.equal(x, x),
        k.not_equal(x, 0.0),
        k.less_equal(x, 0.0),
        k.greater_equal(x, x),
    ],
    "activations": lambda k, x: [
        k.elu(x),
        k.elu(x, 0.5),
        k.hard_sigmoid(x),
        k.softplus(x),
        k.softsign(x),
        k.tanh(x),
    ],
    "softmax": lambda k, x: [k.softmax(x), k.softmax(x, axis=1), k.sigmoid(x)],
    "relu": lambda k, x: [k.relu(x), k.relu(x, 0.1), k.relu(x, max_value=0.5), k.relu(x, threshold=0.3)],
    "relu leaky": lambda k, x: [k.relu(x, alpha=0.2, max_value=0.6, threshold=0.3), k.relu(x, 0.2, 0.0)],
    "relu six": lambda k, x: [k.relu(x * 9.0, max_value=6), k.relu(x * 9.0, max_value=6.0, threshold=-1)],
    "normalize": lambda k, x: [k.l2_normalize(x), k.l2_normalize(x, axis=-1)],
    "floatx": lambda k, x: [
        k.cast_to_floatx([1, 2]),
        k.floatx(),
        k.epsilon(),
        k.image_data_format(),
        k.backend(),
    ],
    "stop": lambda k, x: k.stop_gradient(x),
    "print": lambda k, x: k.print_tensor(x[0, 0], message="x is "),
    "foldl": lambda k, x: [
        k.foldl(lambda a, b: a + b, x),
        k.foldl(lambda a, b: a * b, elems=x, initializer=x[0]),
    ],
    "foldr": lambda k, x: k.foldr(fn=lambda a, b: a - b, elems=x, name="folded"),
    "map": lambda k, x: [
        k.map_fn(lambda a: a * 2.0, x),
        k.map_fn(lambda a: k.argmax(a), x, "m", dtype="int64"),
    ],
    "switch scalar": lambda k, x: k.switch(k.constant(True, dtype="bool"), x, x * 2.0),
    "switch calls": lambda k, x: k.switch(k.equal(x[0, 0, 0], 9.0), lambda: x, lambda: x * 2.0),
    "switch elements": lambda k, x: k.switch(k.greater(x, 0.0), x, k.zeros_like(x)),
    "switch rows": lambda k, x: k.switch(
        condition=k.greater(x[:, 0, 0], 0.0), then_expression=x, else_expression=-x
    ),
    "phase": lambda k, x: [k.in_train_phase(x, x * 2.0, training=0), k.in_test_phase(x, x * 2.0, training=0)],
    "phase calls": lambda k, x: [
        k.in_train_phase(lambda: x, lambda: x * 2.0, training=True),
        k.in_test_phase(lambda: x, x * 2.0, training=1),
    ],
    "top": lambda k, x: k.in_top_k(x[0], k.constant([0, 1, 3], dtype="int32"), 2),
    "dtype": lambda k, x: [k.dtype(x), k.dtype(k.cast(x, "float16")), k.is_sparse(x)],
    "gradients": lambda k, x: k.gradients(k.sum(x * x), [x]),
    "gradients of one": lambda k, x: k.gradients(loss=x * x, variables=x),
}


@cases({name: name for name in _NUMBERS})
def numbers(tf, np, name):
    x = tf.constant(_one(np, 2, 3, 4))
    return _made(tf, _NUMBERS[name](tf.keras.backend, x))


_DOTS = {
    "matrices": ((2, 3), (3, 4)),
    "three by two": ((2, 3, 4), (4, 5)),
    "three by three": ((2, 3, 4), (5, 4, 6)),
    "two by four": ((2, 3), (5, 4, 3, 6)),
}


@cases({name: name for name in _DOTS})
def dots(tf, np, name):
    first, second = _DOTS[name]
    x, y = tf.constant(_one(np, *first)), tf.constant(_one(np, *second))
    return _made(tf, tf.keras.backend.dot(x, y))


def dot_of_placeholders(tf, np):
    k = tf.keras.backend
    x, y = k.placeholder((None, 3, 4)), k.variable(_one(np, 4, 2))
    z = k.dot(x, y)
    return z.shape, k.int_shape(z)


def dot_of_sparse(tf, np):
    k = tf.keras.backend
    x = tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 3))
    return _made(tf, k.dot(x, tf.constant(_one(np, 3, 2)))), k.is_sparse(x)


_BATCH_DOTS = {
    "square matrices": ((3, 3), (3, 3), None),
    "matrices by two axes": ((4, 4), (4, 4), (1, 0)),
    "matrices by axes": ((4, 3), (4, 3), 1),
    "matrices by pair": ((4, 3), (4, 3), (1, 1)),
    "three": ((4, 2, 3), (4, 3, 5), None),
    "three by axes": ((4, 2, 3), (4, 5, 3), (2, 2)),
    "three by first": ((4, 3, 2), (4, 3, 5), (1, 1)),
    "three by one": ((4, 3, 2), (4, 3, 5), 1),
    "three and two": ((4, 2, 3), (4, 3), (2, 1)),
    "two and three": ((4, 3), (4, 3, 2), None),
    "two and three by axes": ((4, 3), (4, 2, 3), (1, 2)),
    "four": ((2, 3, 4, 5), (2, 3, 5, 6), None),
    "four by axes": ((2, 3, 4, 5), (2, 3, 6, 5), (3, 3)),
    "three and two by first": ((4, 3, 2), (4, 3), (1, 1)),
}


@cases({name: name for name in _BATCH_DOTS})
def batch_dots(tf, np, name):
    first, second, axes = _BATCH_DOTS[name]
    x, y = tf.constant(_one(np, *first)), tf.constant(_one(np, *second))
    return _made(tf, tf.keras.backend.batch_dot(x, y, axes=axes))


_PICTURES = {
    "conv1d": lambda k, x, w: k.conv1d(x[:, 0], w[0], strides=2, padding="same"),
    "conv1d causal": lambda k, x, w: k.conv1d(x[:, 0], w[0], padding="causal", dilation_rate=2),
    "conv1d first": lambda k, x, w: k.conv1d(
        k.permute_dimensions(x[:, 0], (0, 2, 1)), w[0], data_format="channels_first"
    ),
    "conv2d": lambda k, x, w: k.conv2d(x, w, strides=(2, 1), padding="same"),
    "conv2d dilated": lambda k, x, w: k.conv2d(x, w, dilation_rate=(2, 2)),
    "conv2d first": lambda k, x, w: k.conv2d(
        k.permute_dimensions(x, (0, 3, 1, 2)), w, padding="same", data_format="channels_first"
    ),
    "transpose": lambda k, x, w: k.conv2d_transpose(
        x, k.permute_dimensions(w, (0, 1, 3, 2)), output_shape=(2, 12, 10, 4), strides=(2, 2), padding="same"
    ),
    "transpose of tensor": lambda k, x, w: k.conv2d_transpose(
        x, k.permute_dimensions(w, (0, 1, 3, 2)), k.stack([k.shape(x)[0], 7, 6, 4])
    ),
    "transpose first": lambda k, x, w: k.conv2d_transpose(
        k.permute_dimensions(x, (0, 3, 1, 2)),
        k.permute_dimensions(w, (0, 1, 3, 2)),
        (2, 4, 12, 10),
        (2, 2),
        "same",
        data_format="channels_first",
    ),
    "separable": lambda k, x, w: k.separable_conv2d(
        x, w[:, :, :, :2], pointwise_kernel=k.ones((1, 1, 6, 2)), strides=(2, 2), padding="same"
    ),
    "separable dilated": lambda k, x, w: k.separable_conv2d(
        x, depthwise_kernel=w[:, :, :, :1], pointwise_kernel=k.ones((1, 1, 3, 2)), dilation_rate=(2, 1)
    ),
    "separable first": lambda k, x, w: k.separable_conv2d(
        k.permute_dimensions(x, (0, 3, 1, 2)),
        w[:, :, :, :1],
        k.ones((1, 1, 3, 2)),
        data_format="channels_first",
    ),
    "pool": lambda k, x, w: [
        k.pool2d(x, (2, 2)),
        k.pool2d(x, (2, 3), strides=(2, 1), padding="same", pool_mode="avg"),
    ],
    "pool first": lambda k, x, w: k.pool2d(
        k.permute_dimensions(x, (0, 3, 1, 2)), pool_size=(2, 2), data_format="channels_first", pool_mode="avg"
    ),
    "pool3d": lambda k, x, w: k.pool3d(
        k.expand_dims(x), pool_size=(2, 2, 2), strides=(2, 1, 1), padding="same", pool_mode="avg"
    ),
    "pool3d first": lambda k, x, w: k.pool3d(
        k.expand_dims(x, 1), (2, 2, 2), data_format="channels_first", pool_mode="max"
    ),
    "conv3d": lambda k, x, w: k.conv3d(
        k.expand_dims(x), k.ones((2, 2, 2, 1, 3)), strides=(1, 2, 1), padding="same"
    ),
    "conv3d first": lambda k, x, w: k.conv3d(
        k.expand_dims(x, 1), k.ones((2, 2, 2, 1, 3)), data_format="channels_first", padding="valid"
    ),
    "conv3d dilated": lambda k, x, w: k.conv3d(
        k.expand_dims(x), k.ones((2, 2, 2, 1, 1)), dilation_rate=(2, 2, 1)
    ),
    "local 1d": lambda k, x, w: k.local_conv1d(
        x[:, 0], k.ones((2, 6, 4)) * 0.5, kernel_size=(2,), strides=(2,)
    ),
    "local 2d": lambda k, x, w: k.local_conv2d(
        x, k.ones((6, 18, 4)) * 0.5, kernel_size=(2, 3), strides=(2, 2), output_shape=(3, 2)
    ),
    "bias": lambda k, x, w: [
        k.bias_add(x, k.constant([1.0, 2.0, 3.0])),
        k.bias_add(x[:, 0, 0], k.ones((3,))),
    ],
    "bias first": lambda k, x, w: k.bias_add(
        k.permute_dimensions(x, (0, 3, 1, 2)), k.constant([1.0, 2.0, 3.0]), data_format="channels_first"
    ),
    "bias of places": lambda k, x, w: k.bias_add(x, k.reshape(k.arange(90, dtype="float32"), (6, 5, 3))),
    "bias five": lambda k, x, w: k.bias_add(
        k.expand_dims(x, 1), k.constant([1.0, 2.0, 3.0]), "channels_last"
    ),
    "bias five first": lambda k, x, w: k.bias_add(
        k.expand_dims(k.permute_dimensions(x, (0, 3, 1, 2)), 2), k.constant([1.0, 2.0, 3.0]), "channels_first"
    ),
    "normalization": lambda k, x, w: k.batch_normalization(
        x,
        k.constant([0.1, 0.2, 0.3]),
        k.constant([1.0, 2.0, 3.0]),
        k.ones((3,)),
        k.ones((3,)) * 2.0,
        epsilon=0.1,
    ),
    "normalization plain": lambda k, x, w: k.batch_normalization(
        x, mean=k.constant([0.1, 0.2, 0.3]), var=k.constant([1.0, 2.0, 3.0]), beta=None, gamma=None
    ),
    "in training": lambda k, x, w: list(
        k.normalize_batch_in_training(x, k.ones((3,)), k.zeros((3,)), reduction_axes=[0, 1, 2], epsilon=1e-2)
    ),
    "in training of matrices": lambda k, x, w: list(
        k.normalize_batch_in_training(x[:, 0, 0], gamma=k.ones((3,)), beta=k.ones((3,)), reduction_axes=[0])
    ),
    "in training, other axes": lambda k, x, w: list(
        k.normalize_batch_in_training(x, k.ones((5,)), k.zeros((5,)), [0, 1, 3])
    ),
}


@cases({name: name for name in _PICTURES})
def pictures(tf, np, name):
    x, w = tf.constant(_one(np, 2, 6, 5, 3)), tf.constant(_one(np, 2, 2, 3, 4))
    return _made(tf, _PICTURES[name](tf.keras.backend, x, w))


_ENTROPIES = {
    "binary": lambda k, p, x: k.binary_crossentropy(k.round(p), output=p),
    "binary logits": lambda k, p, x: k.binary_crossentropy(k.round(p), x, from_logits=True),
    "binary of sigmoid": lambda k, p, x: k.binary_crossentropy(target=k.round(p), output=k.sigmoid(x)),
    "categorical": lambda k, p, x: k.categorical_crossentropy(k.round(p), output=p),
    "categorical logits": lambda k, p, x: k.categorical_crossentropy(p, x, from_logits=True),
    "categorical axis": lambda k, p, x: k.categorical_crossentropy(p, p * 0.5, axis=0),
    "categorical of softmax": lambda k, p, x: k.categorical_crossentropy(p, k.softmax(x)),
    "sparse": lambda k, p, x: k.sparse_categorical_crossentropy(k.constant([0, 2, 1]), output=p),
    "sparse logits": lambda k, p, x: k.sparse_categorical_crossentropy(k.constant([[0], [2], [1]]), x, True),
    "sparse of softmax": lambda k, p, x: k.sparse_categorical_crossentropy(
        k.constant([0, 2, 1]), k.softmax(x)
    ),
    "sparse axis": lambda k, p, x: k.sparse_categorical_crossentropy(k.constant([0, 2, 1, 0]), p, axis=0),
    "sparse of sequences": lambda k, p, x: k.sparse_categorical_crossentropy(
        k.constant([[0, 2, 1]]), k.expand_dims(p, 0)
    ),
}


@cases({name: name for name in _ENTROPIES})
def entropies(tf, np, name):
    x = _one(np, 3, 4)
    p = 1 / (1 + np.exp(-x))
    return _made(tf, _ENTROPIES[name](tf.keras.backend, tf.constant(p), tf.constant(x)))


def ctc(tf, np):
    k = tf.keras.backend
    y = np.abs(_one(np, 2, 6, 4)) + 0.1
    y = tf.constant(y / y.sum(-1, keepdims=True))
    labels = tf.constant([[0, 1, 2], [1, 1, 0]])
    cost = k.ctc_batch_cost(labels, y, tf.constant([[6], [5]]), tf.constant([[3], [2]]))
    sparse = k.ctc_label_dense_to_sparse(labels, label_lengths=tf.constant([3, 2]))
    return _made(tf, [cost]), k.get_session().run(sparse)


@cases({"greedy": (True, 100, 1), "beams": (False, 10, 2), "one beam": (False, 1, 1)})
def ctc_decoded(tf, np, greedy, width, paths):
    k = tf.keras.backend
    y = np.abs(_one(np, 2, 6, 4)) + 0.1
    y = y / y.sum(-1, keepdims=True)
    given = tf.placeholder_with_default(y, y.shape)
    decoded, scores = k.ctc_decode(
        given, tf.constant([6, 5]), greedy=greedy, beam_width=width, top_paths=paths
    )
    return k.get_session().run(list(decoded) + [scores])


def variables(tf, np):
    k = tf.keras.backend
    a = k.variable([[1.0, 2.0]], name="a", constraint=tf.keras.constraints.NonNeg())
    b, c = k.variable(3, dtype="float64"), k.variable(np.arange(3))
    zeros, ones = k.zeros((2,), name="z"), k.ones((2, 2), dtype="int32")
    k.batch_set_value([(a, [[4.0, 5.0]]), (b, 7)])
    k.set_value(c, [3.0, 2.0, 1.0])
    session = k.get_session()
    updates = [k.update_add(b, 1.0), k.update_sub(c, decrement=[1.0, 1.0, 1.0]), k.update(a, a * 2.0)]
    done = [session.run(update) for update in updates]
    return [
        [(v.name, v.dtype.name, v.shape) for v in (a, b, c, zeros, ones)],
        done,
        k.batch_get_value([a, b, c, zeros, ones]),
        [k.count_params(v) for v in (a, b, ones)],
        [k.int_shape(v) for v in (a, b)],
        a.constraint is not None,
        k.eval(a + 1.0),
        [v.name for v in tf.global_variables()],
    ]


def moving_averages(tf, np):
    k = tf.keras.backend
    v = k.variable([[1.0, 2.0]], name="v")
    update = k.moving_average_update(v, [[0.0, 1.0]], momentum=0.9)
    session = k.get_session()
    session.run(tf.global_variables_initializer())
    session.run([update])
    session.run([update])
    return session.run(v), [w.name for w in tf.global_variables()]


def placeholders(tf, np):
    k = tf.keras.backend
    made = [
        k.placeholder((2, None)),
        k.placeholder(ndim=3, dtype="int32", name="p"),
        k.placeholder(shape=(None, 3), name="q", dtype="float64"),
    ]
    s = k.placeholder((None, 4), sparse=True, name="s")
    dense = k.to_dense(s)
    return (
        made,
        k.is_sparse(s),
        s,
        dense.shape,
        k.int_shape(made[1]),
        [k.ndim(x) for x in made],
        dict(names(tf)),
    )


def random_variables(tf, np):
    k = tf.keras.backend
    made = [
        k.random_normal_variable((2, 3), mean=1.0, scale=0.1, seed=3, name="n"),
        k.random_uniform_variable((2, 3), low=-1.0, high=2.0, dtype="float64", seed=4),
        k.truncated_normal((2, 3), mean=2.0, stddev=0.5, seed=5),
        k.random_normal((2, 3), mean=-1.0, stddev=2.0, dtype="float64", seed=6),
        k.random_uniform((2, 3), minval=1.0, maxval=2.0, seed=7),
        k.random_binomial((2, 3), p=0.4, seed=8),
        k.dropout(k.ones((2, 6)), level=0.5, seed=9),
        k.dropout(k.ones((3, 4)), 0.25, noise_shape=(3, 1), seed=10),
    ]
    return [(x.shape, x.dtype.name) for x in made], k.get_session().run(made), dict(names(tf))


def learning_phases(tf, np):
    k = tf.keras.backend
    phase = k.learning_phase()
    x = k.placeholder((2,))
    both = k.function([x, phase], [k.in_train_phase(x, x * 2.0), k.in_test_phase(x, x * 3.0)])
    x_value = np.array([1.0, 2.0])
    found = [phase.name, phase.dtype, phase.shape, both([x_value, 0]), both([x_value, 1])]
    with k.learning_phase_scope(1):
        found += [k.learning_phase(), k.eval(k.in_train_phase(tf.ones(2), tf.zeros(2)))]
    found.append(k.learning_phase() is phase)
    k.set_learning_phase(0)
    found += [
        k.learning_phase(),
        raises(k.set_learning_phase, 2),
        raises(k.learning_phase_scope(3).__enter__),
    ]
    return found


def settings(tf, np):
    k = tf.keras.backend
    found = []
    try:
        k.set_floatx("float64")
        k.set_epsilon(1e-3)
        k.set_image_data_format("channels_first")
        found += [k.floatx(), k.epsilon(), k.image_data_format(), k.cast_to_floatx([1]), k.zeros((2,)).dtype]
        layer = tf.keras.layers.Conv2D(2, 1)
        found += [layer.data_format, layer(k.placeholder((None, 3, 4, 4))).shape]
    finally:
        k.set_floatx("float32")
        k.set_epsilon(1e-7)
        k.set_image_data_format("channels_last")
    errors = [raises(k.set_floatx, "int8"), raises(k.set_image_data_format, "first")]
    return found, errors


def uids(tf, np):
    k = tf.keras.backend
    first = [k.get_uid("a"), k.get_uid("a"), k.get_uid(prefix="b"), k.get_uid()]
    k.reset_uids()
    again = [k.get_uid("a"), k.get_uid("b")]
    with k.name_scope("outer"), k.name_scope("inner"):
        x = k.placeholder((1,))
    k.clear_session()
    return first, again, x.name, k.get_uid("a")


def functions(tf, np):
    k = tf.keras.backend
    x, y, v = k.placeholder((2,)), k.placeholder((2,)), k.variable([1.0, 2.0])
    f = k.function(inputs=[x, y], outputs=[x * y, v], updates=[k.update_add(v, x)], name="f")
    nested = k.function({"x": x}, {"twice": x * 2.0, "more": [x + 1.0]})
    numbers = np.array([1, 2])
    return [
        f([np.ones(2), np.full(2, 3.0)]),
        k.get_value(v),
        k.function([x], x + 1.0)([numbers]),
        nested({"x": numbers}),
        k.function(x, [x + 0.0])([numbers]),
        k.function(x, [x + 0.0])(numbers),
        k.function((x, y), (x + y, [x * 2.0]))((numbers, k.constant([10.0, 20.0]))),
        raises(f, [np.ones(2)]),
        k.function([x], [x * 3.0])([numbers, 0]),
        raises(k.function, [x], [x], bad=3),
        raises(k.function, [x], [x], updates=3),
    ]


def functions_of_sparse(tf, np):
    k = tf.keras.backend
    s, x = k.placeholder((2, 3), sparse=True), k.placeholder((3, 2))
    f = k.function([s, x], [k.dot(s, x), tf.sparse.add(s, s), {"dense": k.to_dense(s)}])
    given = tf.SparseTensorValue(np.array([[0, 1], [1, 2]]), np.array([1.0, 2.0]), np.array([2, 3]))
    return f([given, np.arange(6).reshape(3, 2)])


def functions_with_session_arguments(tf, np):
    k = tf.keras.backend
    x, y, given = k.placeholder((2,)), k.placeholder((2,)), np.array([1.0, 2.0])
    fetched, extra = [], x * 3.0
    f = k.function([x], [x + y], feed_dict={y: [10.0, 20.0]}, fetches=[extra])
    f.fetch_callbacks[f.fetches[0]] = fetched.append
    metadata = tf.RunMetadata()
    traced = k.function(
        [x], [x * 2.0], options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata
    )
    return f([given]), fetched, traced([given]), len(metadata.step_stats.dev_stats) > 0


_RNNS = {
    "plain": {},
    "backwards": {"go_backwards": True},
    "unrolled": {"unroll": True},
    "masked": {"mask": True},
    "masked, unrolled": {"mask": True, "unroll": True},
    "masked zeros": {"mask": True, "zero_output_for_mask": True},
    "masked backwards": {"mask": True, "go_backwards": True},
    "time first": {"time_major": True},
    "of length": {"input_length": 3},
    "constants": {"constants": True},
    "unrolled constants": {"constants": True, "unroll": True},
}


@cases({name: name for name in _RNNS})
def recurrences(tf, np, name):
    k = tf.keras.backend
    options = dict(_RNNS[name])
    x = tf.constant(_one(np, 3, 3, 2))
    if options.pop("mask", False):
        options["mask"] = tf.constant([[True, True, False], [True, False, True], [False, False, False]])
    if options.pop("constants", False):
        options["constants"] = [tf.constant([[1.0, 2.0]])]

    def step(inputs, states):
        extra = states[1] if len(states) > 1 else 0.0
        return inputs + states[0] + extra, [states[0] * 2.0 + inputs]

    last, outputs, states = k.rnn(step, x, initial_states=[tf.zeros((3, 2))], **options)
    return _made(tf, [last, outputs] + list(states))


_REFUSED = {
    "conv padding": lambda k, x: k.conv2d(x, k.ones((2, 2, 3, 4)), padding="full"),
    "conv format": lambda k, x: k.conv2d(x, k.ones((2, 2, 3, 4)), data_format="last"),
    "pool mode": lambda k, x: k.pool2d(x, (2, 2), pool_mode="sum"),
    "pool size": lambda k, x: k.pool2d(x, (2, 2, 2)),
    "pool strides": lambda k, x: k.pool2d(x, (2, 2), strides=(1,)),
    "padding": lambda k, x: k.temporal_padding(x[0], (1, 2, 3)),
    "padding 2d": lambda k, x: k.spatial_2d_padding(x, ((1, 1),)),
    "padding 3d": lambda k, x: k.spatial_3d_padding(x, ((1, 1), (1, 1))),
    "padding format": lambda k, x: k.spatial_2d_padding(x, data_format="middle"),
    "resize format": lambda k, x: k.resize_images(x, 2, 2, "none"),
    "resize interpolation": lambda k, x: k.resize_images(x, 2, 2, "channels_last", "cubic"),
    "resize volumes": lambda k, x: k.resize_volumes(x, 2, 2, 2, "none"),
    "bias": lambda k, x: k.bias_add(x, k.ones((2, 2))),
    "bias format": lambda k, x: k.bias_add(x, k.ones((3,)), "none"),
    "batch dot": lambda k, x: k.batch_dot(x, k.ones((3, 4))),
    "batch dot vectors": lambda k, x: k.batch_dot(k.ones((3,)), k.ones((3,))),
    "batch dot axes": lambda k, x: k.batch_dot(k.ones((3, 4)), k.ones((3, 4)), axes=[1, 0]),
    "switch ranks": lambda k, x: k.switch(k.ones((2, 2, 2)), k.ones((2,)), k.ones((2,))),
    "entropy axis": lambda k, x: k.categorical_crossentropy(x, x, axis=9),
    "sparse entropy axis": lambda k, x: k.sparse_categorical_crossentropy(x[..., 0], x, axis=9),
    "shape of nothing": lambda k, x: k.is_keras_tensor(3),
    "repeat": lambda k, x: k.repeat(x, 2),
    "value of tensor": lambda k, x: k.set_value(x, 3),
    "rnn mask": lambda k, x: k.rnn(lambda a, s: (a, s), x, [], mask=[1], unroll=True),
    "rnn length": lambda k, x: k.rnn(lambda a, s: (a, s), k.placeholder((2, None, 3)), [], unroll=True),
    "placeholder": lambda k, x: k.placeholder((1,), sparse=True, ragged=True),
    "transpose conv": lambda k, x: k.conv2d_transpose(x, k.ones((2, 2, 4, 3)), (2, 6, 5)),
    "separable": lambda k, x: k.separable_conv2d(x, k.ones((2, 2, 3, 1)), k.ones((1, 1, 3, 1)), strides=2),
}


@cases({name: name for name in _REFUSED})
def refused(tf, np, name):
    x = tf.constant(_one(np, 2, 6, 5, 3))
    return raises(lambda: _REFUSED[name](tf.keras.backend, x))
