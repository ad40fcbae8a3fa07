"""Casts by value and by bits: every pair of types, what wraps, what saturates, what is refused."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.op import definition

TYPES = [
    tf.as_dtype(name)
    for name in (
        "half float double bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
        "bool complex64 complex128"
    ).split()
]


def run(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


@pytest.mark.parametrize("target", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("source", TYPES, ids=lambda t: t.name)
def test_every_type_to_every_other(source, target):
    numbers = np.array([0, 1, 2, 5, 100]).astype(source.as_numpy_dtype)
    found = run(lambda: tf.cast(tf.constant(numbers), target))
    with np.errstate(all="ignore"):
        real = numbers.real if source.is_complex and not target.is_complex else numbers
        wanted = real.astype(target.as_numpy_dtype)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_fractions_are_cut_off():
    assert run(lambda: tf.cast([-2.7, -0.5, 0.5, 2.7], tf.int32)).tolist() == [-2, 0, 0, 2]


def test_integers_wrap():
    numbers = [-1, 255, 256, 70000, -129]
    assert run(lambda: tf.cast(numbers, tf.int8)).tolist() == [-1, -1, 0, 112, 127]
    assert run(lambda: tf.cast(numbers, tf.uint16)).tolist() == [65535, 255, 256, 4464, 65407]


def test_a_cast_to_the_same_type_is_the_tensor_itself():
    with tf.Graph().as_default() as graph:
        x = tf.constant([1.0])
        assert tf.cast(x, tf.float32) is x
        assert tf.cast(1.0, "float32").name == "Cast/x:0"
        assert [op.type for op in graph.get_operations()] == ["Const", "Const"]


def test_of_sparse_tensors_and_slices():
    with tf.Graph().as_default():
        slices = tf.cast(tf.IndexedSlices(tf.constant([1.5]), tf.constant([2])), tf.int32)
        assert (slices.values.name, slices.dtype) == ("Cast:0", tf.int32)
        sparse = tf.cast(tf.SparseTensor([[0]], [1.5], [3]), tf.int64)
        assert (sparse.values.dtype, sparse.dense_shape.dtype) == (tf.int64, tf.int64)


@pytest.mark.parametrize(
    ("target", "passes"), [(tf.float64, True), (tf.complex64, True), (tf.int32, False), (tf.bool, False)]
)
def test_the_gradient_passes_between_continuous_types_only(target, passes):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        (grad,) = tf.gradients(tf.cast(tf.cast(x, target), tf.float16), x)
        assert (grad is not None) is passes
        if passes:
            assert grad.dtype is tf.float32


def test_truncation_drops_bits_where_rounding_would_carry():
    number = np.float32(1.0 + 2**-8 + 2**-20)
    as_bfloat16 = run(
        lambda: [tf.cast(number, tf.bfloat16), definition("Cast")(number, DstT=tf.bfloat16, Truncate=True)]
    )
    assert [float(x) for x in as_bfloat16] == [1.0 + 2**-7, 1.0]


def test_saturation():
    numbers = [-1000.0, -0.5, 1.5, 1000.0]
    assert run(lambda: tf.saturate_cast(numbers, tf.int8)).tolist() == [-128, 0, 1, 127]
    assert run(lambda: tf.saturate_cast(numbers, tf.uint8)).tolist() == [0, 0, 1, 255]
    assert run(lambda: tf.saturate_cast([-5, 300], tf.uint8)).tolist() == [0, 255]


def test_strings_are_not_cast():
    with pytest.raises(tf.errors.UnimplementedError, match="Cast string to float is not supported"):
        run(lambda: tf.cast(["1"], tf.float32))


@pytest.mark.parametrize(
    "target", [tf.int32, tf.uint8, tf.int64, tf.complex64, tf.half], ids=lambda t: t.name
)
def test_bits_there_and_back(target):
    numbers = np.array([[1.5, -2.0], [3.25, np.inf]], np.float32)
    there = run(lambda: tf.bitcast(numbers, target))
    wanted = numbers.view(target.as_numpy_dtype)
    size = np.dtype(target.as_numpy_dtype).itemsize
    assert there.shape == ((2, 2) if size == 4 else (2, 2, 4 // size) if size < 4 else (2,))
    assert there.tobytes() == wanted.tobytes()
    np.testing.assert_array_equal(run(lambda: tf.bitcast(there, tf.float32)), numbers)


@pytest.mark.parametrize(("shape", "inferred"), [([None, 2], [None]), ([None], []), (None, None)])
def test_bitcast_shapes(shape, inferred):
    with tf.Graph().as_default():
        made = tf.bitcast(tf.placeholder(tf.int32, shape), tf.int64)
        assert (None if made.shape.ndims is None else made.shape.as_list()) == inferred


def test_a_bitcast_needs_whole_elements():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="3 does not match 2"):
            tf.bitcast(tf.zeros([3], tf.int32), tf.int64)
        with pytest.raises(ValueError, match="at least rank 1"):
            tf.bitcast(tf.zeros([], tf.int32), tf.int64)
        late = tf.bitcast(tf.placeholder(tf.int32, None, "p"), tf.int64)
        with (
            tf.Session() as session,
            pytest.raises(tf.errors.InvalidArgumentError, match="3 does not match 2"),
        ):
            session.run(late, {"p:0": np.zeros(3)})
