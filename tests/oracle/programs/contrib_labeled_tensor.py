"""tf.contrib.labeled_tensor: axes, arithmetic, selections, reshaping, reductions, functions, examples."""

from kit import Close, cases, names, raises

UNARY = (
    "abs neg sign reciprocal square round sqrt rsqrt exp log ceil floor cos sin tan acos asin atan lgamma "
    "digamma erf erfc tanh sigmoid"
).split()
BINARY = (
    "add sub mul div mod pow equal greater greater_equal not_equal less less_equal maximum minimum "
    "squared_difference igamma igammac zeta"
).split()
COLOURS = ["red", "green", "blue"]


def _run(tf, fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return session.run(fetches)


def _picture(tf, np):
    lt = tf.contrib.labeled_tensor
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    return lt.LabeledTensor(tf.constant(values), ["x", ("channel", COLOURS), ("z", 4)])


def _all(tf, labeled):
    """A labeled tensor, in all that it says of itself."""
    return [
        str(labeled.name),
        [(axis.name, axis.size, axis.labels) for axis in labeled.axes.values()],
        repr(labeled),
        labeled.dtype.name,
        labeled.get_shape().as_list(),
        Close(_run(tf, labeled.tensor), 1e-5, 1e-6),
    ]


def axes(tf, np):
    lt = tf.contrib.labeled_tensor
    x, labeled = lt.Axis("x", 7), lt.Axis("y", list("abc"))
    both = lt.Axes([x, labeled, ("z", None), ("empty", 0)])
    return [
        [repr(each) for each in (x, labeled, both, lt.as_axis(("x", 7)), lt.as_axis(x))],
        [x.name, x.size, x.labels, len(x), labeled.value, labeled.index("b"), both["empty"].labels],
        [x == lt.as_axis(("x", 7)), x != labeled, hash(x) == hash(lt.Axis("x", 7)), list(both.remove("x"))],
        ["x" in both, "w" in both, len(both)],
        raises(len, both["z"]),
        raises(x.index, 1),
        raises(labeled.index, "z"),
        raises(lt.Axis, "x", ["a", "a"]),
        raises(lt.Axis, 3, 7),
        raises(lt.Axis, "x", "seven"),
        raises(lt.Axes, [x, x]),
        raises(lt.Axes, (x,)),
        raises(both.remove, "w"),
        raises(lt.as_axis, "x"),
    ]


def made(tf, np):
    lt = tf.contrib.labeled_tensor
    tensor = tf.constant(np.ones((2, 3), np.float32))
    unknown = lt.LabeledTensor(tf.placeholder(tf.float32, [None, 3]), ["x", "y"])
    return [
        _all(tf, _picture(tf, np)),
        repr(unknown),
        _all(tf, lt.convert_to_labeled_tensor(3.5)),
        _all(tf, lt.convert_to_labeled_tensor(3, tf.int64, "three")),
        _all(tf, lt.constant([[1.0, 2.0], [3.0, 4.0]], axes=["a", ("b", ["p", "q"])])),
        _all(tf, lt.constant(5, tf.int32, [("a", 2), ("b", 3)], "filled")),
        _all(tf, lt.zeros_like(_picture(tf, np))),
        _all(tf, lt.ones_like(_picture(tf, np), tf.int32)),
        _all(tf, lt.cast(_picture(tf, np), tf.int32)),
        repr(lt.placeholder(tf.float32, ["batch", ("x", 3), ("c", COLOURS)])),
        raises(lt.LabeledTensor, tensor, ["x"]),
        raises(lt.LabeledTensor, tensor, ["x", ("y", 4)]),
        raises(lt.LabeledTensor, tensor, ["x", "x"]),
        raises(lt.LabeledTensor, 3.0, []),
        raises(lt.convert_to_labeled_tensor, tensor),
        raises(lt.convert_to_labeled_tensor, np.ones(3)),
        raises(lt.convert_to_labeled_tensor, [1, 2]),
        raises(lt.constant, [1, 2], None, [("a", 3), "b"]),
        raises(lt.placeholder, "float32", ["x"]),
    ]


def session(tf, np):
    lt = tf.contrib.labeled_tensor
    fed = lt.placeholder(tf.float32, [("x", 2)])
    doubled = fed + fed
    with tf.Session() as opened:
        return [
            opened.run(doubled, {fed.tensor: [1, 2]}),
            opened.run({"a": doubled, "b": [fed]}, {fed: [1, 2]}),
            opened.run(tf.reduce_sum(doubled), {fed: [1, 2]}),
        ]


@cases(*UNARY)
def unary(tf, np, which):
    lt = tf.contrib.labeled_tensor
    given = lt.constant([[0.25, 0.5], [0.75, 0.9]], axes=["a", ("b", ["p", "q"])])
    return _all(tf, getattr(lt, which)(given)), _all(tf, getattr(lt, which)(0.5, "named"))


@cases(*BINARY)
def binary(tf, np, which):
    lt = tf.contrib.labeled_tensor
    function = getattr(lt, which)
    first = lt.constant([[1.5, 2.0], [3.0, 4.0]], axes=["a", ("b", ["p", "q"])])
    second = lt.constant([1.5, 2.5, 3.5], axes=["c"])
    third = lt.constant([1.25, 3.0], axes=[("b", ["p", "q"])])
    return [_all(tf, function(first, other)) for other in (first, second, third, 1.5)] + [
        _all(tf, function(2.5, first)),
        _all(tf, function(second, first, "named")),
    ]


def polygamma(tf, np):
    lt = tf.contrib.labeled_tensor
    given = lt.constant([1.5, 2.0], axes=["a"])
    return _all(tf, lt.polygamma(1.0, given))


def logical(tf, np):
    lt = tf.contrib.labeled_tensor
    first, second = lt.constant([True, False], axes=["a"]), lt.constant([True, True, False], axes=["b"])
    made = [lt.logical_and(first, second), lt.logical_or(first, second), lt.logical_xor(first, second)]
    return [_all(tf, each) for each in made + [lt.logical_not(first), first & second, first | second]] + [
        _all(tf, each) for each in (first ^ second, ~first)
    ]


def operators(tf, np):
    given = _picture(tf, np) + 1.0
    made = [
        abs(given), -given, +given, given + 2.0, 2.0 + given, given - 2.0, 2.0 - given, given * 2.0,
        2.0 * given, given / 2.0, 2.0 / given, given % 2.0, 7.0 % given, given ** 2.0, 2.0 ** given,
        given < 3.0, given <= 3.0, given > 3.0, given >= 3.0,
    ]  # fmt: skip
    return [_all(tf, each) for each in made] + [given == given, given != given, given == 3.0]


def defined(tf, np):
    lt = tf.contrib.labeled_tensor
    twice = lt.define_unary_op("twice", lambda x, name: tf.multiply(x, 2.0, name=name))
    middle = lt.define_binary_op("middle", lambda x, y, name: tf.divide(x + y, 2.0, name=name))
    spread = lt.define_reduce_op(
        "spread",
        lambda x, axis, keepdims: tf.reduce_max(x, axis, keepdims) - tf.reduce_min(x, axis, keepdims),
    )
    given = _picture(tf, np)
    return [
        _all(tf, twice(given)),
        _all(tf, middle(given, 3.0)),
        _all(tf, spread(given, "x")),
        [twice.__name__, middle.__name__, spread.__name__],
        raises(lt.define_unary_op, 3, tf.abs),
    ]


def slices(tf, np):
    lt = tf.contrib.labeled_tensor
    given = _picture(tf, np)
    made = [
        lt.slice(given, {"x": 0}),
        lt.slice(given, {"z": slice(1, 3), "channel": slice(None, None, 2)}),
        lt.slice(given, {}, "whole"),
        given[1, :2, :],
        given[:, 0, 1:],
        lt.select(given, {"channel": "green"}),
        lt.select(given, {"channel": slice("green", None)}),
        lt.select(given, {"channel": slice("red", "green")}),
        lt.select(given, {"channel": ["blue", "red"]}, "picked"),
        lt.identity(given, "same"),
    ]
    return [_all(tf, each) for each in made] + [
        raises(lambda: given[0]),
        raises(lt.slice, given, {"x": "a"}),
        raises(lt.select, given, {"w": 1}),
        raises(lt.select, given, {"x": 1}),
        raises(lt.select, given, {"channel": "pink"}),
        raises(lt.select, given, {"channel": slice("red", "blue", 2)}),
        raises(lt.select, given, {"channel": {}}),
    ]


def masks(tf, np):
    lt = tf.contrib.labeled_tensor
    given = _picture(tf, np)
    mask = lt.constant([True, False], axes=["x"])
    small = lt.constant([[1, 2], [3, 4]], axes=["a", "b"])
    tf.set_random_seed(1)
    return [
        _all(tf, lt.boolean_mask(given, mask)),
        _all(tf, lt.where(small > 2, small, -small)),
        _all(tf, lt.random_crop(given, {"z": 2, "channel": 1}, seed=3)),
        raises(lt.boolean_mask, given, lt.constant([True] * 3, axes=["channel"])),
        raises(lt.boolean_mask, small, small > 2),
        raises(lt.where, small > 2, small, given),
        raises(lt.random_crop, given, {"w": 2}),
    ]


def order(tf, np):
    lt = tf.contrib.labeled_tensor
    given = _picture(tf, np)
    vector = lt.constant([1.0, 2.0], axes=["x"])
    found = [
        _all(tf, lt.transpose(given)),
        _all(tf, lt.transpose(given, ["z", "x", "channel"])),
        _all(tf, lt.impose_axis_order(given, ["w", "channel", "z", "x"])),
        _all(tf, lt.expand_dims(given, ["x", "new", "channel", ("one", "label"), "z"])),
        lt.check_axis_order(given, ["x", "w", "channel", "z"]),
        raises(lt.check_axis_order, given),
        raises(lt.check_axis_order, given, ["x"]),
        raises(lt.check_axis_order, given, ["z", "channel", "x"]),
        raises(lt.transpose, given, ["x"]),
        raises(lt.expand_dims, given, ["x", "z"]),
        raises(lt.expand_dims, given, ["z", "x", "channel"]),
        raises(lt.align, given, lt.transpose(given)),
        raises(lt.align, given, lt.constant([1.0] * 3, axes=["x"])),
        raises(lt.axis_order_scope, 3),
    ]
    with lt.axis_order_scope(["w", "x", "channel", "z"]) as now:
        first, second, axes = lt.align(vector, given, "aligned")
        column = lt.constant([1.0, 2.0], axes=["w"])
        found += [now, _all(tf, first), _all(tf, second), repr(axes), _all(tf, vector + column)]
        found += [_all(tf, lt.impose_axis_order(lt.transpose(given)))]
        found += [raises(lambda: given + lt.constant([1.0], axes=["other"]))]
    return found + [raises(lt.impose_axis_order, given), _all(tf, vector + column)]


def joined(tf, np):
    lt = tf.contrib.labeled_tensor
    given = _picture(tf, np)
    red, blue = lt.slice(given, {"channel": slice(0, 1)}), lt.slice(given, {"channel": slice(2, 3)})
    parts = lt.unpack(given, "channel", "parts")
    made = [
        lt.concat([given, given], "x"),
        lt.concat([red, blue], "channel", "both"),
        lt.pack([given, given], ("copy", ["a", "b"])),
        lt.pack([given, given], "copy", 2, "packed"),
        parts[0],
        parts[2],
        lt.unpack(given)[1],
        lt.tile(given, {"x": 2, "z": 3}),
        lt.pad(given, {"x": (1, 2), "channel": (["ultra"], ["infra", "far"])}),
        lt.pad(given, {"z": (1, 1)}, "REFLECT"),
        lt.squeeze(red),
        lt.squeeze(lt.expand_dims(given, ["a", "x", "b", "channel", "z"]), ["b"]),
        lt.squeeze(given, []),
    ]
    return [_all(tf, each) for each in made] + [
        raises(lt.concat, [], "x"),
        raises(lt.concat, [given], "w"),
        raises(lt.concat, [given, red], "x"),
        raises(lt.pack, [], "copy"),
        raises(lt.pack, [given, red], "copy"),
        raises(lt.unpack, given, "w"),
        raises(lt.tile, given, {"w": 2}),
        raises(lt.tile, given, {"channel": 2}),
        raises(lt.pad, given, {"w": (1, 1)}),
        raises(lt.pad, given, {"x": 1}),
        raises(lt.squeeze, given, ["x"]),
        raises(lt.squeeze, given, ["w"]),
    ]


def reshaped(tf, np):
    lt = tf.contrib.labeled_tensor
    given = _picture(tf, np)
    coder = lt.ReshapeCoder(["channel", "z"], ["depth"])
    named = lt.ReshapeCoder(["x"], [("a", 2), ("b", 1)], "coded")
    early = raises(coder.decode, given)
    coded = coder.encode(given)
    made = [
        lt.reshape(given, ["channel", "z"], ["depth"]),
        lt.reshape(given, ["x"], [("a", 2), ("b", 1)], "split"),
        lt.rename_axis(given, "channel", "colour"),
        coded,
        coder.decode(lt.ones_like(coded)),
        named.decode(named.encode(given)),
    ]
    return [_all(tf, each) for each in made] + [
        early,
        raises(coder.encode, lt.slice(given, {"z": slice(0, 2)})),
        raises(lt.reshape, given, ["w"], ["depth"]),
        raises(lt.reshape, given, ["x", "z"], ["depth"]),
        raises(lt.reshape, given, ["x", "channel"], ["a", "b"]),
        raises(lt.rename_axis, given, "w", "v"),
    ]


@cases("all", "any")
def logical_reductions(tf, np, which):
    lt = tf.contrib.labeled_tensor
    given = lt.constant([[True, False], [True, True]], axes=["a", "b"])
    function = getattr(lt, "reduce_" + which)
    return _all(tf, function(given)), _all(tf, function(given, "a"))


@cases("logsumexp", "max", "mean", "min", "prod", "sum")
def reductions(tf, np, which):
    lt = tf.contrib.labeled_tensor
    function = getattr(lt, "reduce_" + which)
    given = _picture(tf, np) * 0.1
    made = [
        function(given),
        function(given, "channel"),
        function(given, ["x", "z"]),
        function(given, ("channel", "gray")),
        function(given, ["z", ("channel", "gray")], "named"),
    ]
    return [_all(tf, each) for each in made] + [raises(function, given, "w")]


def products(tf, np):
    lt = tf.contrib.labeled_tensor
    random = np.random.RandomState(0)
    a = lt.constant(random.randn(2, 3).astype(np.float32), axes=["a", "b"])
    b = lt.constant(random.randn(4, 3).astype(np.float32), axes=["c", "b"])
    v = lt.constant(random.randn(3).astype(np.float32), axes=["b"])
    made = [lt.matmul(a, b), lt.matmul(b, a), lt.matmul(a, v), lt.matmul(v, a), lt.matmul(v, v, "dot")]
    with lt.axis_order_scope(["c", "b", "a"]):
        made.append(lt.matmul(lt.transpose(a), b))
    return [_all(tf, each) for each in made] + [
        raises(lt.matmul, a, a),
        raises(lt.matmul, a, 2.0),
        raises(lt.matmul, _picture(tf, np), v),
        raises(lt.matmul, a, lt.constant([1.0], axes=["d"])),
        raises(lt.matmul, a, lt.constant([1.0], axes=["b"])),
    ]


def functions(tf, np):
    lt = tf.contrib.labeled_tensor
    given = _picture(tf, np)
    words = lt.constant(["a", "b"], axes=["x"])
    made = [
        lt.map_fn(lambda part: lt.reduce_sum(part, "channel"), given),
        lt.map_fn(lambda part: part + 1, lt.constant([1, 2], axes=["x"]), "plus"),
        lt.map_fn(lambda word: lt.identity(word), words),
        lt.foldl(lambda total, part: total + part, given, lt.zeros_like(lt.slice(given, {"x": 0}))),
    ]
    return [_all(tf, each) for each in made]


def networks(tf, np):
    nn = tf.contrib.labeled_tensor.nn
    lt = tf.contrib.labeled_tensor
    given = lt.constant([[-1.0, 2.0], [0.5, 7.0]], axes=["a", ("b", ["p", "q"])])
    labels = lt.constant([[1.0, 0.0], [0.25, 0.75]], axes=["a", ("b", ["p", "q"])])
    made = [nn.relu, nn.relu6, nn.elu, nn.softplus, nn.softmax, nn.log_softmax]
    return [_all(tf, each(given)) for each in made] + [
        _all(tf, nn.sigmoid_cross_entropy_with_logits(given, labels)),
        _all(tf, nn.l2_loss(3.0)),
        raises(nn.l2_loss, given),
        raises(nn.crelu, given),
        raises(nn.softmax_cross_entropy_with_logits, given, labels),
    ]


def batches(tf, np):
    lt = tf.contrib.labeled_tensor
    first, second = lt.constant([1.0, 2.0], axes=["x"]), lt.constant(3)
    whole = lt.constant([[1.0, 2.0], [3.0, 4.0]], axes=["batch", "x"])
    made = lt.batch([first, second], 3) + lt.batch([whole], 2, enqueue_many=True)
    shuffled = lt.shuffle_batch([first], 2, min_after_dequeue=1, seed=1)
    smaller = lt.batch([first], 2, allow_smaller_final_batch=True)
    found = [repr(each) for each in made + shuffled + smaller]
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found += session.run(made + shuffled + smaller)
        coordinator.request_stop()
        coordinator.join(threads)
    return found, raises(lt.batch, [first], 2, 1, 32, True), names(tf)


def examples(tf, np):
    lt = tf.contrib.labeled_tensor
    message = tf.train.Example()
    message.features.feature["a"].float_list.value.extend([1.0, 2.0])
    features = {
        "a": lt.FixedLenFeature([("x", ["p", "q"])], tf.float32),
        "b": lt.FixedLenFeature([], tf.int64, 7),
    }
    data = message.SerializeToString()
    one = lt.parse_single_example(data, features)
    many = lt.parse_example(lt.constant([data, data], axes=["batch"]), features)
    open_size = {"a": lt.FixedLenFeature([("x", None)], tf.float32)}
    return [
        [_all(tf, one[key]) for key in sorted(one)],
        [_all(tf, many[key]) for key in sorted(many)],
        [repr(features["a"].axes), features["a"].dtype, features["b"].default_value],
        raises(lt.parse_single_example, data, open_size),
    ]


def finite(tf, np):
    lt = tf.contrib.labeled_tensor
    good = lt.verify_tensor_all_finite(lt.constant([1.0], axes=["x"]), "not finite")
    bad = lt.verify_tensor_all_finite(lt.constant([np.nan], tf.float32, ["x"]), "not finite", "checked")
    return _all(tf, good), bad.name, raises(_run, tf, bad.tensor), names(tf)
