"""Ragged tensors: how they are made, cut, joined, computed with, and turned into others."""

from kit import cases, product, raises, run

_NESTED = {
    "rows": [[1, 2], [], [3, 4, 5]],
    "one row": [[1]],
    "no rows": [[], []],
    "deep": [[[1, 2], [3]], [], [[4, 5, 6], []]],
    "deeper": [[[[1], [2, 3]], []], [[[]], [[4]]]],
    "floats": [[1.5], [2.5, -3.0]],
    "words": [["a", "bc"], [], ["d"]],
}


def _shown(tf, value):
    """A value as lists, with its type and splits."""
    if hasattr(value, "nested_row_splits"):
        splits = [[str(s.dtype), s.tolist()] for s in value.nested_row_splits]
        return {"list": value.to_list(), "dtype": str(value.dtype), "splits": splits}
    return value


def _result(tf, build, shape=True):
    """What is built, computed; or the error, whether it comes now or in the step."""
    made, found = [], []
    error = raises(lambda: made.append(build()))
    if made:
        error = raises(lambda: found.append(run(tf, made[0])))
    if not found:
        return error
    made, value = made[0], _shown(tf, found[0])
    return [value, made.shape, made.dtype] if shape and hasattr(made, "shape") else value


# ------------------------------------------------------------------------------------------------ making


@cases(*product(_NESTED, ["int64", "int32"]))
def constants(tf, np, name, splits):
    return _result(tf, lambda: tf.ragged.constant(_NESTED[name], row_splits_dtype=tf.as_dtype(splits)))


@cases(
    {
        "ragged rank": ([[[1, 2], [3, 4]], []], dict(ragged_rank=1)),
        "inner shape": ([[[1, 2], [3, 4]], []], dict(inner_shape=(2,))),
        "both": ([[[1, 2]], []], dict(ragged_rank=1, inner_shape=(2,))),
        "empty inner": ([[], []], dict(ragged_rank=1, inner_shape=(3,))),
        "nothing": ([], {}),
        "scalar": (5, {}),
        "vector": ([1, 2], {}),
        "empty of rank 2": ([], dict(ragged_rank=2)),
        "dtype": ([[1], []], dict(dtype="float64")),
        "tuples": (((1,), ()), {}),
        "depths": ([[1], 2], {}),
        "inconsistent": ([[[1, 2]], [[3]]], dict(ragged_rank=1)),
        "rank too high": ([[1]], dict(ragged_rank=3)),
        "incompatible": ([[[1]]], dict(ragged_rank=2, inner_shape=(1,))),
    }
)
def constants_of_shapes(tf, np, values, options):
    return [
        _result(tf, lambda: tf.ragged.constant(values, **options)),
        _result(tf, lambda: tf.ragged.constant(values, name="named", **options)),
    ]


@cases(*_NESTED)
def constant_values(tf, np, name):
    found = tf.ragged.constant_value(_NESTED[name], dtype="float32" if name in ("rows", "deep") else None)
    return [
        found.to_list(),
        found.ragged_rank,
        list(found.shape),
        [s.tolist() for s in found.nested_row_splits],
    ]


_VALUES = list(range(6))
_MAKERS = {
    "from_row_splits": [[0, 2, 2, 6], [0, 6], [0, 2, 2, 5], [1, 6], [0, 3, 2, 6], [], [[0, 6]], [0.0, 6.0]],
    "from_row_lengths": [[2, 0, 4], [6], [2, 0, 3], [-2, 8], [[6]]],
    "from_row_starts": [[0, 2, 2], [0], [1, 2], [0, 7], [0, 3, 2]],
    "from_row_limits": [[2, 2, 6], [6], [2, 5], [-1, 6], [3, 2, 6]],
    "from_value_rowids": [[0, 0, 2, 2, 2, 3], [0] * 6, [0, 0, 2, 1, 2, 3], [0, 0, 2], [-1, 0, 0, 0, 0, 0]],
}


@cases(*[(name, number) for name, rows in sorted(_MAKERS.items()) for number in range(len(rows))])
def makers(tf, np, name, number):
    make = getattr(tf.RaggedTensor, name)
    rows = _MAKERS[name][number]
    return [_result(tf, lambda: make(_VALUES, rows)), _result(tf, lambda: make(np.ones([6, 2]), rows))]


def makers_of_what_is_open(tf, np):
    values, rows = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int64, [None])
    found = []
    for name, right, wrong in (
        ("from_row_splits", [0, 1, 3], [0, 1, 2]),
        ("from_row_lengths", [1, 2], [1, 1]),
        ("from_row_starts", [0, 1], [0, 5]),
        ("from_row_limits", [1, 3], [1, 2]),
        ("from_value_rowids", [0, 1, 1], [0, 1, 0]),
    ):
        made = getattr(tf.RaggedTensor, name)(values, rows)
        found.append(_shown(tf, run(tf, made, {values: [1.0, 2.0, 3.0], rows: right})))
        found.append(raises(run, tf, made, {values: [1.0, 2.0, 3.0], rows: wrong}))
        unchecked = getattr(tf.RaggedTensor, name)(values, rows, validate=False)
        found.append([unchecked.shape, unchecked.ragged_rank, unchecked.row_splits.dtype])
    return found


def rows_by_number_of_rows(tf, np):
    make = tf.RaggedTensor.from_value_rowids
    return [
        _result(tf, lambda: make(_VALUES, [0, 0, 2, 2, 2, 3], nrows=6)),
        _result(tf, lambda: make(_VALUES, [0, 0, 2, 2, 2, 3], nrows=3)),
        _result(tf, lambda: make(_VALUES, [0, 0, 2, 2, 2, 3], nrows=-1)),
        _result(tf, lambda: make([], [], nrows=2)),
        _result(tf, lambda: make([], [])),
    ]


def nested_makers(tf, np):
    ragged = tf.RaggedTensor
    return [
        _result(tf, lambda: ragged.from_nested_row_splits(_VALUES, [[0, 2, 3], [0, 1, 1, 6]])),
        _result(tf, lambda: ragged.from_nested_row_lengths(_VALUES, [[2, 1], [1, 0, 5]])),
        _result(tf, lambda: ragged.from_nested_value_rowids(_VALUES, [[0, 0, 1], [0, 2, 2, 2, 2, 2]])),
        _result(
            tf, lambda: ragged.from_nested_value_rowids(_VALUES, [[0, 0, 1], [0, 2, 2, 2, 2, 2]], [4, 3])
        ),
        raises(ragged.from_nested_row_splits, _VALUES, tf.constant([[0, 6]])),
        raises(ragged.from_row_splits, tf.ragged.constant([[1]]), tf.constant([0, 1])),
        raises(ragged, 1, 2),
    ]


@cases(
    {
        "whole": ([[1, 2, 0], [0, 0, 0], [3, 0, 0]], {}),
        "lengths": ([[1, 2, 0], [0, 0, 0], [3, 0, 0]], dict(lengths=[2, 0, 1])),
        "lengths too long": ([[1, 2]], dict(lengths=[5])),
        "padding": ([[1, 2, 0], [0, 0, 0], [3, 0, 4]], dict(padding=0)),
        "padding of vectors": ([[[1, 2], [0, 0]], [[0, 0], [0, 0]]], dict(padding=[0, 0])),
        "rank 2": ([[[1, 2], [3, 4]]], dict(ragged_rank=2)),
        "rank 2 padding": ([[[1, 2, 0], [0, 0, 0]], [[4, 0, 0], [5, 0, 6]]], dict(padding=0, ragged_rank=2)),
        "both": ([[1]], dict(lengths=[1], padding=0)),
        "scalar": (1, {}),
        "vector": ([1], {}),
        "rank 0": ([[1]], dict(ragged_rank=0)),
        "rank too high": ([[1]], dict(ragged_rank=2)),
        "words": ([["a", ""], ["", ""]], dict(padding="")),
    }
)
def from_tensor(tf, np, dense, options):
    return _result(tf, lambda: tf.RaggedTensor.from_tensor(dense, **options))


@cases((0, 3), (2, 0), (2, 3, 2), (2, 0, 2))
def from_tensor_of_shapes(tf, np, *shape):
    return [
        _result(tf, lambda: tf.RaggedTensor.from_tensor(np.ones(shape))),
        _result(tf, lambda: tf.RaggedTensor.from_tensor(np.ones(shape), padding=np.zeros(shape[2:]))),
        tf.RaggedTensor.from_tensor(tf.placeholder(tf.float32, [None] * len(shape))).shape,
    ]


@cases(
    {
        "right": ([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 3]),
        "gap": ([[0, 0], [0, 2], [2, 0]], [1, 2, 3], [4, 3]),
        "late": ([[0, 1]], [1], [2, 2]),
        "rank 3": ([[0, 0, 0]], [1], [1, 1, 1]),
    }
)
def from_sparse(tf, np, indices, values, shape):
    return _result(tf, lambda: tf.RaggedTensor.from_sparse(tf.SparseTensor(indices, values, shape)))


# ------------------------------------------------------------------------------------------------ parts

_METHODS = {
    "nrows": lambda x: x.nrows(),
    "row_lengths": lambda x: x.row_lengths(),
    "row_lengths 0": lambda x: x.row_lengths(axis=0),
    "row_lengths 2": lambda x: x.row_lengths(axis=2),
    "row_lengths -1": lambda x: x.row_lengths(axis=-1),
    "row_starts": lambda x: x.row_starts(),
    "row_limits": lambda x: x.row_limits(),
    "value_rowids": lambda x: x.value_rowids(),
    "bounding_shape": lambda x: x.bounding_shape(),
    "bounding_shape 1": lambda x: x.bounding_shape(axis=1),
    "to_tensor": lambda x: x.to_tensor(),
    "to_sparse": lambda x: x.to_sparse(),
    "values": lambda x: x.values,
    "flat_values": lambda x: x.flat_values,
    "row_splits": lambda x: x.row_splits,
    "with_row_splits_dtype": lambda x: x.with_row_splits_dtype("int32"),
}


@cases(*product(_METHODS, _NESTED))
def methods(tf, np, method, name):
    return _result(tf, lambda: _METHODS[method](tf.ragged.constant(_NESTED[name])))


@cases(*_NESTED)
def nested_parts(tf, np, name):
    ragged = tf.ragged.constant(_NESTED[name])
    return run(tf, [ragged.nested_row_splits, ragged.nested_row_lengths(), ragged.nested_value_rowids()])


def defaults_of_dense(tf, np):
    plain = tf.ragged.constant(_NESTED["rows"])
    pairs = tf.ragged.constant([[[1, 2], [3, 4]], []], ragged_rank=1)
    return [
        _result(tf, lambda: plain.to_tensor(9)),
        _result(tf, lambda: plain.to_tensor([1])),
        _result(tf, lambda: plain.to_tensor(1.5)),
        _result(tf, lambda: pairs.to_tensor([8, 9])),
        _result(tf, lambda: pairs.to_tensor(7)),
        _result(tf, lambda: tf.ragged.constant(_NESTED["words"]).to_tensor("-")),
    ]


def what_it_is(tf, np):
    ragged = tf.ragged.constant(_NESTED["deep"])
    return [
        str(ragged),
        ragged.shape,
        ragged.ragged_rank,
        tf.is_tensor(ragged),
        raises(bool, ragged),
        raises(ragged.to_list),
        raises(tf.convert_to_tensor, ragged),
        [str(run(tf, ragged)), repr(run(tf, tf.ragged.constant([[1.5]])))],
        raises(ragged.with_values, tf.constant([1])),
    ]


def fed_and_fetched(tf, np):
    x = tf.ragged.placeholder(tf.int32, 1, [])
    deep = tf.ragged.placeholder(tf.float32, 2, [2], name="deep")
    value = tf.ragged.constant_value([[1, 2], [], [3]], dtype="int32")
    pairs = tf.ragged.constant_value([[[[1, 2]], []], []], dtype="float32", ragged_rank=2, inner_shape=(2,))
    with tf.Session() as session:
        found = session.run({"x": x, "twice": x * 2, "sum": tf.reduce_sum(x, axis=1)}, {x: value})
        again = session.run([deep, deep.flat_values], {deep: pairs})
    return [
        {key: _shown(tf, value) for key, value in found.items()},
        [_shown(tf, again[0]), again[1]],
        [x.shape, deep.shape, str(deep)],
        tf.ragged.placeholder(tf.int32, 0, [3]),
    ]


# ------------------------------------------------------------------------------------------------ indexing

_KEYS = {
    "row": lambda x: x[0],
    "last": lambda x: x[-1],
    "range": lambda x: x[1:],
    "range to": lambda x: x[:2],
    "step": lambda x: x[::2],
    "reverse": lambda x: x[::-1],
    "first of each": lambda x: x[:, :1],
    "last of each": lambda x: x[:, -1:],
    "middle": lambda x: x[:, 1:-1],
    "step of each": lambda x: x[:, ::2],
    "ellipsis": lambda x: x[..., 1:],
    "element": lambda x: x[0, 1],
    "row part": lambda x: x[0, 1:],
    "column": lambda x: x[:, 0],
    "new axis": lambda x: x[None],
    "inner new axis": lambda x: x[:, None],
    "all": lambda x: x[:],
    "out of range": lambda x: x[7],
    "float": lambda x: x[1.0],
    "text": lambda x: x["a"],
    "two ellipses": lambda x: x[..., ...],
    "rows and parts": lambda x: x[1:, :2],
}


@cases(*product(_KEYS, ["rows", "deep", "words"]))
def indexing(tf, np, key, name):
    return _result(tf, lambda: _KEYS[key](tf.ragged.constant(_NESTED[name])), shape=False)


def indexing_of_pairs(tf, np):
    x = tf.ragged.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)
    return [
        _shown(tf, run(tf, y))
        for y in (x[:, :, 0], x[0, 1, 1], x[:, 1:], x[..., 1], x[0], x[tf.constant(2)], x[:, :, None])
    ]


# ------------------------------------------------------------------------------------------------ tf.ragged


@cases(
    {
        "limits": ([3, 5, 0],),
        "starts": ([0, 5, 8], [3, 3, 12]),
        "steps": ([0, 5, 8], [3, 3, 12], 2),
        "down": ([5], [0], -2),
        "scalar": (5,),
        "floats": ([0.0, 1.0], 2.5, 0.5),
        "zero": ([0], [1], 0),
    }
)
def ranges(tf, np, *arguments):
    return [
        _result(tf, lambda: tf.ragged.range(*arguments)),
        _result(tf, lambda: tf.ragged.range(*arguments, row_splits_dtype=tf.int32)),
    ]


def partitions(tf, np):
    return [
        run(tf, tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5])),
        run(tf, tf.ragged.row_splits_to_segment_ids(np.array([0, 2], np.int32))),
        _result(tf, lambda: tf.ragged.row_splits_to_segment_ids([])),
        _result(tf, lambda: tf.ragged.segment_ids_to_row_splits([0, 0, 2])),
        _result(tf, lambda: tf.ragged.segment_ids_to_row_splits([0, 0, 2], 5)),
        _result(tf, lambda: tf.ragged.segment_ids_to_row_splits([])),
        _result(tf, lambda: tf.ragged.segment_ids_to_row_splits([0, 2], out_type=tf.int32)),
    ]


@cases(*product(["stack", "concat"], [0, 1, -1]))
def joined(tf, np, name, axis):
    c = tf.ragged.constant
    join = lambda *xs: tf.ragged.stack(list(xs), axis) if name == "stack" else tf.concat(list(xs), axis)
    build = [
        lambda: join(c([[1], [2, 3]]), c([[4], []])),
        lambda: join(c([[1], [2, 3]]), tf.constant([[4], [5]]), c([[], [6]])),
        lambda: join(c([[[1]], [[2], [3]]]), c([[[4], []], [[5]]])),
        lambda: join(c([["a"], []])),
        lambda: join(tf.constant([[1, 2]]), tf.constant([[3, 4]])),
        lambda: join(c([[1]]), c([[[1]]])),
    ]
    return [_result(tf, one, shape=False) for one in build]


def stacks_of_nothing(tf, np):
    return [raises(tf.ragged.stack, []), run(tf, tf.ragged.stack([1, 2]))]


def masks(tf, np):
    c, mask = tf.ragged.constant, tf.ragged.boolean_mask
    build = [
        lambda: mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, False]]),
        lambda: mask([1, 2, 3], [True, False, True]),
        lambda: mask(c([[1, 2], [3]]), c([[True, False], [True]])),
        lambda: mask(c([[1, 2], [3]]), [True, False]),
        lambda: mask([[[1, 2], [3, 4]]], [[True, False]]),
        lambda: mask(c([[[1], [2, 3]], [[4]]]), c([[True, False], [True]])),
        lambda: mask(c([[[1], [2, 3]], [[4]]]), c([[[True], [False, True]], [[False]]])),
        lambda: mask([1, 2], True),
        lambda: mask(c([["a", "b"], []]), c([[False, True], []], dtype=tf.bool)),
    ]
    return [_result(tf, one, shape=False) for one in build]


def mapped(tf, np):
    c, flat = tf.ragged.constant, tf.ragged.map_flat_values
    build = [
        lambda: flat(tf.ones_like, c([[1, 2], [3]])),
        lambda: flat(tf.add, c([[1, 2], [3]]), c([[10, 20], [30]])),
        lambda: flat(tf.add, c([[1, 2], [3]]), 5),
        lambda: flat(tf.add_n, [c([[1, 2], [3]]), c([[10, 20], [30]])]),
        lambda: flat(tf.add, c([[1, 2], [3]]), c([[10], [20, 30]])),
        lambda: flat(tf.expand_dims, c([[1, 2], [3]]), axis=1),
        lambda: flat(tf.strings.length, input=c([["a"], ["bc", ""]])),
    ]
    return [_result(tf, one) for one in build]


def stacked_partitions(tf, np):
    c, stack = tf.ragged.constant, tf.ragged.stack_dynamic_partitions
    build = [
        lambda: stack(["a", "b", "c", "d"], [1, 0, 1, 3], 4),
        lambda: stack([["a", "b"], ["c", "d"]], [[1, 0], [1, 2]], 3),
        lambda: stack(np.ones([2, 3]), [1, 1], 2),
        lambda: stack(c([["a"], ["b", "c"], []]), [1, 0, 1], 2),
        lambda: stack(c([["a"], ["b", "c"], []]), c([[1], [0, 1], []]), 2),
        lambda: stack([1], [-1], 2),
        lambda: stack([1], [2], 2),
    ]
    return [_result(tf, one) for one in build]


# ------------------------------------------------------------------------------------------------ elements


@cases(
    "abs",
    "exp",
    "square",
    "negative",
    "sign",
    "identity",
    "zeros_like",
    "ones_like",
    "floor",
    "math.erf",
    "nn.relu",
)
def of_one(tf, np, name):
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    return _result(tf, lambda: function(tf.ragged.constant([[1.5, -2.0], [], [0.25]])))


@cases(
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "pow",
    "math.floormod",
    "equal",
    "less",
    "greater_equal",
    "math.squared_difference",
    "math.atan2",
    "not_equal",
)
def of_two(tf, np, name):
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    x = lambda: tf.ragged.constant([[1.5, 2.0], [], [0.25]])
    others = [
        lambda: 2.0,
        lambda: tf.ragged.constant([[3.0, 1.0], [], [2.0]]),
        lambda: np.float32([[2], [3], [4]]),
        lambda: np.float32([[2.5]]),
        lambda: [1.5],
    ]
    forward = [_result(tf, lambda: function(x(), other())) for other in others]
    return forward + [_result(tf, lambda: function(other(), x()), shape=False) for other in others]


def operators(tf, np):
    x, y = tf.ragged.constant([[5, 2], [], [7]]), tf.ragged.constant([[3, 1], [], [2]])
    flags = tf.ragged.constant([[True, False], []])
    made = [x + y, x - y, x * y, x / y, x // y, x % y, x**y, -x, abs(-x), x < y, x <= y, x > y, x >= y]
    made += [
        x + 1,
        1 + x,
        10 - x,
        2 * x,
        x / 2,
        9 // x,
        9 % x,
        2**x,
        flags & flags,
        flags | flags,
        flags ^ flags,
        ~flags,
        x > 4,
    ]
    made += [tf.constant([[1], [2], [3]]) + x, x * np.array([[1], [2], [3]], np.int32)]
    return [_shown(tf, value) for value in run(tf, made)] + [x == x, x == y, x != y]


def deep_broadcasting(tf, np):
    x = lambda: tf.ragged.constant([[[1, 2], [3]], [], [[4]]])
    build = [
        lambda: x() + 1,
        lambda: x() + [[[10]], [[20]], [[30]]],
        lambda: x() + [[100]],
        lambda: x() + x(),
        lambda: tf.ragged.constant([[[1, 2], [3, 4]], []], ragged_rank=1) + [10, 20],
        lambda: (
            tf.ragged.constant([[[1, 2], [3, 4]], []], ragged_rank=1)
            * tf.ragged.constant([[[1], [2]], []], ragged_rank=1)
        ),
    ]
    return [_result(tf, one, shape=False) for one in build]


@cases(
    *product(["sum", "prod", "min", "max", "mean"], [None, 0, 1, -1, 2, [0, 1], [1, 2]], ["float32", "int32"])
)
def reductions(tf, np, name, axis, dtype):
    if name == "mean" and dtype == "int32":
        return "means of integers are rounded in many ways"
    x = lambda: tf.cast(tf.ragged.constant([[[1, 2], [3]], [[4, 6, 5]]]), dtype)
    return _result(tf, lambda: getattr(tf, "reduce_" + name)(x(), axis), shape=False)


def reductions_of_rows(tf, np):
    x = lambda: tf.ragged.constant([[1.0, 2.0], [], [4.0]])
    flags = lambda: tf.ragged.constant([[True, False], [], [True]])
    build = [
        lambda f=f: f(x(), axis=1)
        for f in (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_prod)
    ]
    build += [lambda f=f: f(flags(), axis=1) for f in (tf.reduce_any, tf.reduce_all)]
    build += [lambda: tf.reduce_sum(x(), axis=1, keepdims=True), lambda: tf.reduce_sum(x(), axis=5)]
    build += [lambda: tf.strings.reduce_join(tf.ragged.constant(_NESTED["words"]), axis=1, separator="-")]
    build += [lambda: tf.strings.reduce_join(tf.ragged.constant(_NESTED["words"]), axis=0)]
    return [_result(tf, one) for one in build]


@cases("sum", "prod", "min", "max", "mean", "sqrt_n")
def of_segments(tf, np, name):
    fold = getattr(tf.math, "unsorted_segment_" + name)
    x = lambda: tf.ragged.constant([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]])
    return [
        _result(tf, lambda: fold(x(), [0, 1, 0], 2), shape=False),
        _result(tf, lambda: fold(x(), tf.ragged.constant([[0, 1], [1], [0, 0, 2]]), 3), shape=False),
    ]


def others(tf, np):
    c = tf.ragged.constant
    x = lambda: c([[1, 2], [3], []])
    build = [
        lambda: tf.gather(x(), [2, 0]),
        lambda: tf.gather(x(), [[2, 0], [1, 1]]),
        lambda: tf.gather(x(), c([[2, 0], [1]])),
        lambda: tf.gather([5, 6, 7], c([[2, 0], [1]])),
        lambda: tf.gather(x(), [3]),
        lambda: tf.batch_gather(x(), c([[1], [0, 0], []], dtype=tf.int64)),
        lambda: tf.expand_dims(x(), 0),
        lambda: tf.expand_dims(x(), 1),
        lambda: tf.expand_dims(x(), -1),
        lambda: tf.size(x()),
        lambda: tf.rank(x()),
        lambda: tf.tile(x(), [1, 2]),
        lambda: tf.tile(x(), [2, 1]),
        lambda: tf.tile(c([[[1], [2, 3]], []]), [2, 1, 2]),
        lambda: tf.where(c([[True, False], [True]])),
        lambda: tf.where(c([[True, False], [True]]), c([[1, 2], [3]]), c([[4, 5], [6]])),
        lambda: tf.where([True, False], c([[1, 2], [3]]), c([[4], [6, 7]])),
        lambda: tf.one_hot(x(), 4),
        lambda: tf.cast(x(), tf.float64),
        lambda: tf.clip_by_value(x(), 2, 2),
        lambda: tf.stack([x(), x()]),
        lambda: tf.add_n([x(), x(), x()]),
        lambda: tf.bitwise.invert(x()),
    ]
    return [_result(tf, one, shape=False) for one in build]


def gradients(tf, np):
    values = tf.placeholder_with_default(np.float32([1, 2, 3, 4, 5]), [5])
    x = tf.RaggedTensor.from_row_splits(values, [0, 2, 2, 5])
    weights = tf.constant([1.0, 10.0, 100.0])
    of = lambda y: tf.gradients(y, values)[0]
    made = [
        of(tf.reduce_sum(tf.reduce_sum(x * x, axis=1) * weights)),
        of(tf.reduce_sum(x.to_tensor() * x.to_tensor())),
        of(tf.reduce_sum(tf.gather(x, [2, 2, 0]).flat_values)),
        of(tf.reduce_sum(x.to_sparse().values * [1.0, 2, 3, 4, 5])),
        of((x * [[2.0], [3.0], [4.0]]).flat_values),
        of(tf.reduce_mean(x, axis=1)[0]),
    ]
    return [value if isinstance(value, np.ndarray) else _dense(np, value, 5) for value in run(tf, made)]


def _dense(np, slices, count):
    total = np.zeros(count)
    np.add.at(total, slices.indices, slices.values)
    return total.astype(np.float32)


# ------------------------------------------------------------------------------------------------ strings

_TEXTS = {
    "scalar": ("hé llo",),
    "vector": (["hé llo", "", " a b "],),
    "matrix": ([["a b", "c"], ["", "d e f"]],),
    "block": ([[["a b"], ["c d"]]],),
    "none": ([],),
}


@cases(
    *product(
        _TEXTS, ["split", "split comma", "bytes", "decode", "offsets", "characters", "characters and offsets"]
    )
)
def of_strings(tf, np, name, how):
    text = tf.constant(_TEXTS[name][0], tf.string)
    s = tf.strings
    functions = {
        "split": lambda x: s.split(x, result_type="RaggedTensor"),
        "split comma": lambda x: s.split(x, ",", result_type="RaggedTensor"),
        "bytes": s.bytes_split,
        "decode": lambda x: s.unicode_decode(x, "UTF-8"),
        "offsets": lambda x: s.unicode_decode_with_offsets(x, "UTF-8"),
        "characters": lambda x: s.unicode_split(x, "UTF-8"),
        "characters and offsets": lambda x: s.unicode_split_with_offsets(x, "UTF-8"),
    }
    made = functions[how](text)
    if name == "scalar":
        return [_shown(tf, value) for value in run(tf, list(made) if isinstance(made, tuple) else [made])]
    if isinstance(made, tuple):
        return [_shown(tf, value) for value in run(tf, made)] + [[part.shape, part.dtype] for part in made]
    return _result(tf, lambda: made)


def of_ragged_strings(tf, np):
    x = tf.ragged.constant([["a b", "cd"], [], ["e"]])
    s = tf.strings
    made = [
        s.split(x, result_type="RaggedTensor"),
        s.bytes_split(x),
        s.unicode_decode(x, "UTF-8"),
        s.unicode_split(x, "UTF-8"),
    ]
    made += [
        s.length(x),
        s.join([x, x], "-"),
        s.substr(x, 0, 1),
        s.regex_replace(x, "[a-c]", "x"),
        s.strip(x),
    ]
    made += [
        s.to_hash_bucket_fast(x, 10),
        s.as_string(tf.ragged.constant([[1], [2, 3]])),
        s.ngrams(x, 2),
        s.unicode_encode(tf.ragged.constant([[72, 105], []]), "UTF-8"),
    ]
    return [_shown(tf, value) for value in run(tf, made)]


def splits_of_more_dimensions(tf, np):
    return [
        run(tf, tf.strings.split([["a b", "c"], ["", "d e f"]])),
        _shown(tf, run(tf, tf.string_split(["a b", ""], result_type="RaggedTensor"))),
        raises(tf.strings.split, tf.placeholder(tf.string)),
        raises(tf.strings.bytes_split, tf.placeholder(tf.string)),
        raises(tf.strings.unicode_decode, tf.placeholder(tf.string), "UTF-8"),
        raises(tf.strings.unicode_decode, ["a"], "UTF-8", errors="shrug"),
    ]


@cases(
    {
        "vector": ([72, 233, 0x65E5],),
        "matrix": ([[72, 105], [74, 75]],),
        "block": ([[[72, 105]], [[74, 75]]],),
        "scalar": (72,),
        "empty": ([[], []],),
    }
)
def encoding(tf, np, points):
    return [
        _result(tf, lambda: tf.strings.unicode_encode(np.array(points, np.int32), encoding))
        for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE", "latin-1")
    ]


@cases(
    {
        "vector": (list("abcd"), 2, {}),
        "widths": (list("abcd"), [1, 3], {}),
        "matrix": ([list("abc"), list("def")], 2, {}),
        "block": ([[list("abc")], [list("def")]], (1, 2), {}),
        "padded": (list("abcd"), 3, dict(pad_values="x")),
        "padded both": (list("abcd"), 3, dict(pad_values=("x", "y"), padding_width=1)),
        "too wide": (list("ab"), 3, {}),
        "short kept": (list("ab"), 3, dict(preserve_short_sequences=True)),
        "separator": (list("ab"), 2, dict(separator="")),
        "padding alone": (list("ab"), 2, dict(padding_width=1)),
        "no padding width": (list("ab"), 2, dict(pad_values="x", padding_width=0)),
        "pad not text": (list("ab"), 2, dict(pad_values=3)),
        "width 0": (list("ab"), 0, {}),
        "scalar": ("a", 2, {}),
    }
)
def ngrams(tf, np, data, width, options):
    return _result(tf, lambda: tf.strings.ngrams(data, width, **options))
