"""tf.assert_* and tf.debugging: what is checked at once, what the step checks; sets and sparse tensors."""

from kit import cases, graph, names, product, raises, run

_COMPARISONS = [
    "assert_equal",
    "assert_none_equal",
    "assert_less",
    "assert_less_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_near",
]
_SIGNS = ["assert_negative", "assert_positive", "assert_non_negative", "assert_non_positive"]


@cases(*product(_COMPARISONS, ["plain", "integers", "named"]))
def comparisons(tf, np, name, kind):
    dtype = tf.int32 if kind == "integers" and name != "assert_near" else tf.float32
    x, y = tf.placeholder(dtype, [2, 3], "x"), tf.placeholder(dtype, [3], "y")
    options = {"message": "hello", "name": "mine", "summarize": 5} if kind == "named" else {}
    check = getattr(tf, name)(x, y, **options)
    one, two = np.ones([2, 3]), np.full([3], 2)
    with tf.Session() as session:
        steps = [raises(session.run, check, {x: a, y: a[0] * b}) for a in (one, -one) for b in (two, two / 2)]
    return [check.name, check.type, steps, graph(tf)]


@cases(*product(_COMPARISONS, [1.0, 2.0]))
def comparisons_of_constants(tf, np, name, y):
    failure = raises(getattr(tf, name), tf.constant([1.0, 1.0]), y)
    return [failure, graph(tf)] if failure == "no error" else failure


@cases(*product(_SIGNS, ["plain", "data", "named"]))
def signs(tf, np, name, kind):
    x = tf.placeholder(tf.float32, [None], "x")
    options = {
        "plain": {},
        "data": {"data": ["what", x]},
        "named": {"message": "hello", "name": "mine", "summarize": 1},
    }[kind]
    check = getattr(tf, name)(x, **options)
    with tf.Session() as session:
        steps = [raises(session.run, check, {x: v}) for v in ([1.0], [-1.0], [0.0], [1.0, -1.0], [])]
    return [steps, graph(tf)]


@cases(*product(["assert_rank", "assert_rank_at_least"], ["known", "unknown", "rank unknown"], [0, 1, 2, 3]))
def ranks(tf, np, name, kind, rank):
    x = tf.placeholder(tf.float32, None if kind == "unknown" else [2, 3], "x")
    wanted = tf.placeholder(tf.int32, None, "rank") if kind == "rank unknown" else rank
    feeds = {wanted: rank} if kind == "rank unknown" else {}
    made = []
    failure = raises(lambda: made.append(getattr(tf, name)(x, wanted, message="hello")))
    if not made:
        return [failure, names(tf)]
    feeds[x] = np.ones([2, 3])
    return [made[0].name, raises(run, tf, made[0], feeds), graph(tf)]


@cases((0, 1), (1, 2), (2,), (3, 1, 4))
def ranks_in(tf, np, *wanted):
    known, unknown = tf.placeholder(tf.float32, [2, 3], "x"), tf.placeholder(tf.float32, None, "y")
    check = tf.assert_rank_in(unknown, wanted)
    return [
        raises(tf.assert_rank_in, known, wanted),
        raises(run, tf, check, {unknown: np.ones([2, 3])}),
        names(tf),
    ]


def types(tf, np):
    x, y = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.int32, [], "y")
    made = [tf.assert_type(x, tf.float32), tf.assert_integer(y), tf.assert_scalar(y), tf.assert_scalar(3.0)]
    made += [tf.assert_same_float_dtype([x, None]), tf.assert_same_float_dtype()]
    made += [tf.is_numeric_tensor(x), tf.is_numeric_tensor(3), tf.is_numeric_tensor(tf.constant(True))]
    wrong = [
        raises(tf.assert_type, x, tf.int32),
        raises(tf.assert_integer, x),
        raises(tf.assert_scalar, x),
        raises(tf.assert_same_float_dtype, [x], tf.float64),
        raises(tf.assert_same_float_dtype, [y]),
        raises(tf.assert_proper_iterable, x),
        raises(tf.assert_proper_iterable, "text"),
        raises(tf.assert_proper_iterable, 3),
        raises(tf.assert_proper_iterable, [3]),
        raises(tf.assert_rank, x, 1.0),
        raises(tf.assert_rank, x, [1]),
    ]
    return [[getattr(m, "name", m) for m in made], wrong, names(tf)]


@cases(
    {
        "sizes": ([2, 3], ("N", "Q"), [2, 3, 4], ("N", "Q", 4)),
        "another size": ([2, 3], ("N", "Q"), [2, 5, 4], ("N", "Q", 4)),
        "number": ([2, 3], (2, 4), [1], None),
        "any": ([2, 3], (None, "."), [1], (1,)),
        "scalars": ([], ("N",), [1], ("N",)),
        "prefix": ([5, 2, 3], ("*", "N", 3), [2], ("N",)),
        "ellipsis": ([5, 2, 3], (Ellipsis, 4), [2], ("N",)),
        "rank": ([2], ("N", "Q"), [1], None),
        "text": ([2, 3], "NQ", [3], "Q"),
        "star inside": ([2, 3], ("N", "*"), [3], None),
        "no shape": ([2, 3], 5, [3], None),
    }
)
def shapes(tf, np, first, first_shape, second, second_shape):
    known = [tf.placeholder(tf.float32, first, "a"), tf.placeholder(tf.float32, second, "b")]
    unknown = [tf.placeholder(tf.float32, None, "c"), tf.placeholder(tf.float32, None, "d")]
    found, made = [], []
    for tensors in (known, unknown):
        pairs = list(zip(tensors, (first_shape, second_shape)))
        found.append(raises(lambda: made.append(tf.debugging.assert_shapes(pairs))))
    feeds = dict(zip(known + unknown, [np.ones(first), np.ones(second)] * 2))
    return [found, [raises(run, tf, check, feeds) for check in made], graph(tf)]


@cases({"empty": [], "one": [3.0], "up": [1.0, 2.0, 2.5], "level": [1.0, 1.0, 2.0], "down": [2.0, 1.0]})
def orders(tf, np, values):
    x, y = tf.constant(values, tf.float32), tf.placeholder(tf.float32, None, "y")
    made = [f(t) for f in (tf.is_non_decreasing, tf.is_strictly_increasing) for t in (x, y)]
    return [run(tf, made, {y: values}), graph(tf)]


def finite(tf, np):
    x = tf.placeholder(tf.float32, [2], "x")
    checked, renamed = tf.verify_tensor_all_finite(x, "no"), tf.debugging.assert_all_finite(x=x, message="no")
    y = tf.add_check_numerics_ops()
    return [
        run(tf, checked, {x: [1.0, 2.0]}),
        raises(run, tf, checked, {x: [1.0, np.nan]}),
        raises(run, tf, renamed, {x: [np.inf, 1.0]}),
        raises(run, tf, y, {x: [np.inf, 1.0]}),
        raises(tf.verify_tensor_all_finite, x, "no", x=x),
        graph(tf),
    ]


def assertions_inside_cond(tf, np):
    x = tf.placeholder(tf.float32, [])
    checked = tf.cond(x > 0, lambda: _after(tf, tf.assert_less(x, 2.0), x), lambda: -x)
    with tf.Session() as session:
        return [session.run(checked, {x: v}) for v in (1.0, -3.0)] + [raises(session.run, checked, {x: 3.0})]


def _after(tf, check, x):
    with tf.control_dependencies([check]):
        return tf.identity(x)


# ---------------------------------------------------------------------------------- sets and sparse tensors


def _sparse(tf, np, values, shape, dtype="int32"):
    rows = [[i, j] for i, row in enumerate(values) for j in range(len(row))]
    flat = [v for row in values for v in row]
    indices = np.array(rows, np.int64).reshape(-1, 2)
    return tf.SparseTensor(indices, np.array(flat, dtype), np.array(shape, np.int64))


def _parts(sparse):
    return [sparse.indices, sparse.values, sparse.dense_shape]


@cases(*product(["set_intersection", "set_union", "set_difference", "b-a"], ["dd", "ds", "sd", "ss"]))
def set_operations(tf, np, name, kinds):
    a, b = [[1, 2, 2], [3, 0, 5]], [[2, 9, 1], [7, 3, 3]]
    x, y = (
        {"d": tf.constant, "s": lambda v: _sparse(tf, np, v, [2, 3])}[k](v) for k, v in zip(kinds, (a, b))
    )
    if name == "b-a":
        made = tf.sets.set_difference(x, y, aminusb=False)
    else:
        made = getattr(tf.sets, name)(x, y)
    return [_parts(made), run(tf, _parts(made) + [tf.sets.set_size(made)]), graph(tf)]


@cases([1, 0], [0, 3], [3, 0])
def set_operations_on_nothing(tf, np, sizes):
    x = tf.zeros(sizes, tf.int64)
    made = [tf.sets.set_union(x, x), tf.sets.set_difference(x, x), tf.sets.set_intersection(x, x)]
    return run(tf, [_parts(m) for m in made])


def sets_of_words(tf, np):
    a, b = tf.constant([["b", "a"], ["c", "c"]]), tf.constant([["b"], ["d"]])
    return run(tf, [_parts(tf.sets.set_union(a, b)), _parts(tf.sets.set_difference(a, b))])


def sets_that_do_not_fit(tf, np):
    x, y = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    union = tf.sets.set_union(x, y).values
    crooked = tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 2])
    return [
        raises(tf.sets.set_union, tf.zeros([2, 1], tf.int32), tf.zeros([3, 1], tf.int32)),
        raises(tf.sets.set_union, tf.zeros([2], tf.int32), tf.zeros([2], tf.int32)),
        raises(tf.sets.set_union, tf.zeros([2, 1]), tf.zeros([2, 1])),
        raises(tf.sets.set_union, tf.zeros([2, 1], tf.int32), tf.zeros([2, 1], tf.int64)),
        raises(tf.sets.set_size, tf.zeros([2, 1], tf.int32)),
        raises(run, tf, union, {x: [[1], [2]], y: [[1]]}),
        raises(run, tf, union, {x: [1], y: [1]}),
        raises(run, tf, tf.sets.set_size(crooked)),
    ]


@cases([3, 2], [-1], [1, 3, -1, 1], [4, 2], [-1, -1])
def sparse_shapes(tf, np, shape):
    x = _sparse(tf, np, [[1, 2], [3]], [2, 3])
    y = tf.SparseTensor(x.indices, x.values, tf.placeholder(tf.int64, [2]))
    made = []
    failure = raises(lambda: made.append(tf.sparse_reshape(x, shape)))
    late = tf.sparse_reshape(y, shape)
    step = [failure if failure != "no error" else run(tf, _parts(made[0]))]
    fed = {y.dense_shape: [2, 3]}
    step.append(run(tf, _parts(late), fed) if made else raises(run, tf, _parts(late), fed))
    return [step, _parts(late), names(tf) if made else None]


@cases(0, 1, -1, -2)
def sparse_concatenation(tf, np, axis):
    x, y = _sparse(tf, np, [[1, 2], [3]], [2, 3]), _sparse(tf, np, [[4], [5, 6]], [2, 3])
    z = _sparse(tf, np, [[4], [5, 6], [7]], [3, 2])
    made = tf.sparse_concat(axis, [x, y, x], name="mine")
    wide = tf.sparse_concat(axis, [x, z], expand_nonconcat_dim=True)
    return [
        run(tf, [_parts(made), _parts(wide)]),
        raises(lambda: run(tf, _parts(tf.sparse_concat(axis, [x, z])))),
        tf.sparse_concat(axis, [x]) is x,
        graph(tf),
    ]


def sparse_elements(tf, np):
    x = _sparse(tf, np, [[1, 2], [3]], [2, 3])
    kept = tf.sparse_retain(x, tf.equal(x.values % 2, 1))
    return [run(tf, _parts(kept)), _parts(kept), raises(tf.sparse_retain, x, [True]), graph(tf)]


@cases("plain", "classes", "weights", "columns", "unknown")
def confusion_matrices(tf, np, kind):
    shape = {"columns": [None, 1], "unknown": None}.get(kind, [None])
    labels, predictions = tf.placeholder(tf.int32, shape), tf.placeholder(tf.int64, [None])
    weights = [0.5, 1.0, 2.0] if kind == "weights" else None
    made = tf.confusion_matrix(
        labels,
        predictions,
        num_classes=None if kind in ("plain", "unknown") else 4,
        dtype=tf.float32 if kind == "weights" else tf.int32,
        weights=weights,
    )
    column = [[1], [2], [1]] if kind == "columns" else [1, 2, 1]
    bad = [[-1]] if kind == "columns" else [-1]
    return [
        made,
        run(tf, made, {labels: column, predictions: [1, 2, 0]}),
        raises(run, tf, made, {labels: bad * 3, predictions: [0] * 3}),
        raises(run, tf, made, {labels: column, predictions: [0, 9, -1]}),
        graph(tf),
    ]
