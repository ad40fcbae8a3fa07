"""Functions of two tensors beyond their samples: broadcasting and back, integers, zeros, sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf
from tideflow.graph.op import ShapeError, definition
from tideflow.graph.partial import partial_value
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.broadcasting import broadcast_shapes

INF, NAN = float("inf"), float("nan")
RANDOM_SHAPES = st.lists(st.sampled_from([None, 0, 1, 2, 3]), max_size=4)


def run(build, feeds=None):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build(), feeds)


# -------------------------------------------------------------------------------- shapes


@settings(max_examples=200, deadline=None)
@given(RANDOM_SHAPES, RANDOM_SHAPES)
def test_shapes_broadcast_as_numpys_do(left, right):
    """Whatever sizes the unknown ones turn out to have, the result fits what was inferred."""
    try:
        inferred = broadcast_shapes(TensorShape(left), TensorShape(right))
    except ShapeError:
        for unknown in (1, 2, 3):
            with pytest.raises(ValueError):
                np.broadcast_shapes(*[[unknown if d is None else d for d in s] for s in (left, right)])
        return
    for unknown in (1, 2, 3):
        try:
            whole = np.broadcast_shapes(*[[unknown if d is None else d for d in s] for s in (left, right)])
        except ValueError:
            continue
        assert inferred.is_compatible_with(whole)


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        ([2, 1], [3], [2, 3]),
        ([None, 3], [None, 1], [None, 3]),
        ([1], [None], [None]),
        ([2], [None], [2]),
        ([4, None], [2, 1, None], [2, 4, None]),
        (None, [3], None),
    ],
)
def test_unknown_sizes(left, right, wanted):
    assert broadcast_shapes(TensorShape(left), TensorShape(right)).tuple == (
        None if wanted is None else tuple(wanted)
    )


def test_a_mismatch_names_the_axis_the_sizes_the_op_and_the_line():
    with tf.Graph().as_default():
        a, b = tf.zeros([2, 3, 4]), tf.zeros([5, 4])
        with pytest.raises(ValueError) as caught:
            tf.add(a, b, name="sum")
    text = str(caught.value)
    assert "Dimensions must be equal, but are 3 and 5 along axis -2 for 'sum' (op: 'Add')" in text
    assert "[2,3,4], [5,4]" in text
    assert "test_binary.py" in text


# -------------------------------------------------------------------------------- gradients of broadcasts

PAIRS = [
    ([2, 3], []),
    ([], [2, 3]),
    ([2, 3], [3]),
    ([2, 3], [2, 1]),
    ([3, 1], [1, 4]),
    ([2, 1, 3], [4, 1]),
    ([1], [2, 3]),
]
OPS = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "maximum": tf.maximum,
    "squared_difference": tf.squared_difference,
    "atan2": tf.atan2,
    "floormod": tf.floormod,
    "xlogy": tf.math.xlogy,
}


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("shapes", PAIRS, ids=str)
@pytest.mark.parametrize("name", OPS)
def test_a_gradient_has_its_operands_shape_and_slope(name, shapes, known):
    rng = np.random.default_rng(1)
    values = [rng.uniform(0.5, 2.0, shape) for shape in shapes]
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(tf.float64, shape if known else None) for shape in shapes]
        output = OPS[name](*inputs)
        grads = tf.gradients(output, inputs)
        found = session.run(grads, dict(zip(inputs, values)))
        for i, grad in enumerate(found):
            assert grad.shape == tuple(shapes[i])
            direction, step = rng.standard_normal(shapes[i]), 1e-6
            ends = []
            for sign in (1, -1):
                moved = [v + sign * step * direction if i == j else v for j, v in enumerate(values)]
                ends.append(session.run(output, dict(zip(inputs, moved))).sum())
            np.testing.assert_allclose(np.sum(grad * direction), (ends[0] - ends[1]) / (2 * step), 1e-6, 1e-6)


def test_equal_known_shapes_leave_no_sums_in_the_graph():
    with tf.Graph().as_default() as graph:
        x, y = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [2, 3])
        tf.gradients(x * y + x - y, [x, y])
        assert not {"Sum", "BroadcastGradientArgs"} & {op.type for op in graph.get_operations()}


def test_a_pair_of_shapes_is_asked_about_once():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 3])
        tf.gradients(x * 2.0 * 3.0 + 1.0, x)
        assert [op.type for op in graph.get_operations()].count("BroadcastGradientArgs") == 1


@pytest.mark.parametrize(
    ("function", "wanted"), [(tf.maximum, [[1, 1], [0, 0]]), (tf.minimum, [[1, 1], [0, 0]])]
)
def test_a_tie_goes_to_the_first(function, wanted):
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0])
        assert [grad.tolist() for grad in session.run(tf.gradients(function(x, y), [x, y]))] == wanted


# -------------------------------------------------------------------------------- division


def test_floor_division_is_the_floor_of_the_quotient():
    assert run(lambda: tf.floordiv(1.0, 0.1)) == 10.0  # Python and ATen say 9
    assert run(lambda: tf.constant([-7, 7]) // [2, -2]).tolist() == [-4, -4]
    assert run(lambda: tf.truncatediv(tf.constant([-7, 7]), [2, -2])).tolist() == [-3, -3]


def test_remainders_have_the_sign_of_their_rule():
    x, y = [-7.0, 7.0, -7.0], [2.0, -2.0, -2.0]
    assert run(lambda: tf.floormod(x, y)).tolist() == [1.0, -1.0, -1.0]
    assert run(lambda: tf.truncatemod(x, y)).tolist() == [-1.0, 1.0, -1.0]


@pytest.mark.parametrize("function", [tf.floordiv, tf.floormod, tf.truncatediv, tf.truncatemod, tf.div])
def test_integer_division_by_zero(function):
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.placeholder(tf.int32, [2])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
            session.run(function([1, 2], y), {y: [1, 0]})


def test_division_that_knows_no_nan():
    x, y = [1.0, 0.0, INF, NAN, 3.0], [0.0, 0.0, 0.0, 0.0, 2.0]
    assert run(lambda: tf.div_no_nan(x, y)).tolist() == [0, 0, 0, 0, 1.5]
    assert run(lambda: tf.math.multiply_no_nan(x, y)).tolist() == [0, 0, 0, 0, 6.0]
    assert run(lambda: tf.math.xdivy([0.0, 0.0, 1.0], [0.0, NAN, 2.0])).tolist() == [0, 0, 0.5]
    assert run(lambda: tf.math.xlogy([0.0, 0.0, 1.0], [0.0, NAN, 1.0])).tolist() == [0, 0, 0]
    assert run(lambda: tf.math.reciprocal_no_nan([0.0, 4.0])).tolist() == [0, 0.25]


def test_divide_of_python_numbers_is_pythons():
    assert tf.divide(3, 2) == 1.5
    with tf.Graph().as_default():
        assert tf.divide(tf.constant([1.0]), 2.0, name="half").op.name == "half"


def test_truediv_does_not_mix_types():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="x and y must have the same dtype"):
        tf.truediv(tf.constant([1.0]), 2)


def test_no_gradient_where_tensorflow_has_none():
    with tf.Graph().as_default():
        x = tf.constant([1.0])
        with pytest.raises(LookupError, match="No gradient defined for operation 'TruncateMod'"):
            tf.gradients(tf.truncatemod(x, x), x)
        assert tf.gradients(tf.floordiv(x, x), x) == [None]


# -------------------------------------------------------------------------------- powers


def test_integers_have_no_negative_powers():
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.placeholder(tf.int32, [1])
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="Integers to negative integer powers are not allowed"
        ):
            session.run(tf.pow([2], y), {y: [-1]})


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -2.0, 2.5])
def test_a_constant_exponent_is_an_exponent(exponent):
    x = np.array([0.5, 1.0, 4.0])
    with tf.Graph().as_default(), tf.Session() as session:
        p = tf.placeholder(tf.float64, [3])
        powers = [p**exponent, tf.pow(p, tf.placeholder_with_default(np.float64(exponent), []))]
        for found in session.run(powers, {p: x}):
            np.testing.assert_allclose(found, x**exponent, 1e-14)


def test_the_gradient_at_a_zero_base_is_finite():
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant([0.0, -8.0]), tf.constant([2.0, 2.0])
        assert np.isfinite(session.run(tf.gradients(x**y, [x, y]))).all()


def test_polynomials():
    assert run(lambda: tf.math.polyval([1.0, -2.0, 3.0], tf.constant([0.5, 2.0]))).tolist() == [2.25, 3.0]
    assert run(lambda: tf.math.polyval([], tf.constant([0.5, 2.0]))).tolist() == [0.0, 0.0]


# -------------------------------------------------------------------------------- comparison and logic


def test_nan_is_not_even_itself():
    x, y = [NAN, 1.0, NAN], [NAN, NAN, 1.0]
    assert run(lambda: [tf.equal(x, y), tf.less(x, y), tf.not_equal(x, y)])[0].tolist() == [False] * 3
    assert run(lambda: tf.not_equal(x, y)).tolist() == [True] * 3


def test_strings_compare():
    assert run(lambda: tf.equal(["a", "b"], "b")).tolist() == [False, True]
    assert run(lambda: tf.not_equal("a", "b"))


@pytest.mark.parametrize(("op", "answer"), [("Equal", False), ("NotEqual", True)])
def test_shapes_that_do_not_fit_may_be_an_answer(op, answer):
    def build():
        return definition(op)([1.0, 2.0], [1.0, 2.0, 3.0], incompatible_shape_error=False)

    assert run(build) == np.bool_(answer)


def test_a_tolerance_is_of_the_operands_type():
    found = run(lambda: definition("ApproximateEqual")([2, 1], [2, 3], tolerance=2.5))
    assert found.tolist() == [True, False]


def test_exclusive_or():
    assert run(lambda: tf.logical_xor([True, False, True], [True, False, False])).tolist() == [
        False,
        False,
        True,
    ]


def test_scalar_mul_of_slices():
    with tf.Graph().as_default():
        scaled = tf.scalar_mul(2.0, tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 3])))
        assert scaled.values.op.type == "Mul"
        with pytest.raises(ValueError, match=r"Only scalar multiply works, got shape \(2,\)"):
            tf.scalar_mul([1.0, 2.0], tf.constant([1.0]))


# -------------------------------------------------------------------------------- unsigned integers

UNSIGNED = [tf.uint8, tf.uint16, tf.uint32, tf.uint64]
OF_UNSIGNED = {
    "AddV2": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "FloorDiv": np.floor_divide,
    "FloorMod": np.mod,
    "TruncateDiv": np.floor_divide,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Less": np.less,
    "GreaterEqual": np.greater_equal,
    "Equal": np.equal,
    "BitwiseXor": np.bitwise_xor,
}


@pytest.mark.parametrize("dtype", UNSIGNED, ids=lambda t: t.name)
@pytest.mark.parametrize("op", OF_UNSIGNED)
def test_unsigned_arithmetic_is_numpys(op, dtype):
    rng, most = np.random.default_rng(0), np.iinfo(dtype.as_numpy_dtype).max
    x = rng.integers(0, most, 50, dtype.as_numpy_dtype, endpoint=True)
    y = rng.integers(1, most, 50, dtype.as_numpy_dtype, endpoint=True)
    y[:25] = rng.integers(1, 9, 25)
    x[-3:], y[-3:] = (most, most, 0), (1, most, most)
    found = run(lambda: definition(op)(x, y))
    wanted = OF_UNSIGNED[op](x, y)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", [*UNSIGNED, tf.int8, tf.int64], ids=lambda t: t.name)
def test_bits(dtype):
    x = np.array([0, 1, 5, 100, np.iinfo(dtype.as_numpy_dtype).max], dtype.as_numpy_dtype)
    y = np.array([3, 0, 1, 2, 3], dtype.as_numpy_dtype)
    left, right, inverted, ones = run(
        lambda: [
            tf.bitwise.left_shift(x, y),
            tf.bitwise.right_shift(x, y),
            tf.bitwise.invert(x),
            definition("PopulationCount")(x),
        ]
    )
    np.testing.assert_array_equal(left, np.left_shift(x, y))
    np.testing.assert_array_equal(right, np.right_shift(x, y))
    np.testing.assert_array_equal(inverted, np.invert(x))
    assert ones.tolist() == [int(n).bit_count() for n in x]


# -------------------------------------------------------------------------------- sizes known ahead


def test_arithmetic_of_sizes_is_known_as_far_as_sizes_are():
    with tf.Graph().as_default():
        sizes = tf.shape(tf.placeholder(tf.float32, [None, 6]))
        assert partial_value(sizes * 2 + 1) == [None, 13]
        assert partial_value(tf.maximum(sizes // 4, [1, 1])) == [None, 1]
        assert partial_value(tf.cast(tf.cast(sizes, tf.float32) / 4.0, tf.int32)) == [None, 1]
        assert tf.zeros(sizes - 2).shape.as_list() == [None, 4]


def test_sizes_that_overflow_wrap_as_the_step_does():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(2**30) * 4
        assert partial_value(x) == 0 == session.run(x)


def test_long_chains_of_integers_are_no_trouble():
    with tf.Graph().as_default(), tf.Session() as session:
        p = tf.placeholder(tf.int32, [])
        doubled, chained = p, p
        for _ in range(40):
            doubled = doubled + doubled
        for _ in range(600):
            chained = chained + 1
        assert session.run([doubled, chained], {p: 1}) == [0, 601]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("divide", ["truncatediv", "floordiv", "div", "floormod", "mod"])
def test_the_smallest_number_by_minus_one_does_not_end_the_process(divide, dtype):
    """The quotient does not fit and wraps around; the processor's own division would raise a signal."""
    x, y = tf.placeholder(dtype, [2]), tf.placeholder(dtype, [2])
    smallest = np.iinfo(dtype).min
    with tf.Session() as session:
        found = session.run(getattr(tf, divide)(x, y), {x: [smallest, 7], y: [-1, -1]})
    assert found.tolist() == ([0, 0] if "mod" in divide else [smallest, -7])
