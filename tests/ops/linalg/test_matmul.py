"""Products beyond their samples: which op a product becomes, tensordot and einsum against NumPy."""

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture
def run():
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        yield session.run


def normal(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def test_the_op_follows_the_ranks_and_hints():
    with tf.Graph().as_default():
        matrix, batch, unknown = (tf.placeholder(tf.float32, shape) for shape in ([2, 2], [3, 2, 2], None))
        short = tf.placeholder(tf.bfloat16, [2, 2])
        assert tf.matmul(matrix, matrix).op.type == "MatMul"
        assert tf.matmul(batch, matrix).op.type == "BatchMatMulV2"
        assert tf.matmul(unknown, matrix).op.type == "BatchMatMulV2"
        assert tf.matmul(matrix, matrix, a_is_sparse=True).op.type == "SparseMatMul"
        assert tf.matmul(short, matrix).op.type == "SparseMatMul"
        assert tf.matmul(short, short, b_is_sparse=True).dtype is tf.bfloat16
        with pytest.raises(ValueError, match="Only one of transpose_a and adjoint_a can be True"):
            tf.matmul(matrix, matrix, transpose_a=True, adjoint_a=True)


def test_a_mismatch_names_sizes_axes_and_operands():
    with tf.Graph().as_default(), pytest.raises(ValueError) as caught:
        tf.matmul(tf.ones([2, 3]), tf.ones([5, 4]), transpose_b=True)
    message = str(caught.value)
    assert "are 3 and 4: a's columns (axis -1) against b's columns (axis -1)" in message
    assert "[2,3], [5,4]" in message and "test_matmul.py" in message


def test_adjoints_of_complex_matrices(run):
    a, b = normal(3, 2) + 1j * normal(3, 2), normal(3, 4) + 1j * normal(3, 4)
    np.testing.assert_allclose(run(tf.matmul(a, b, adjoint_a=True)), a.conj().T @ b)
    np.testing.assert_allclose(run(tf.matmul(a[None], b[None], transpose_a=True)), (a.T @ b)[None])


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16"])
def test_types(run, dtype):
    a = (np.arange(6).reshape(2, 3) * 30).astype(dtype)
    expected = (a.astype(np.float64) @ a.T.astype(np.float64)).astype(np.int64).astype(dtype)
    np.testing.assert_allclose(
        run(tf.matmul(tf.constant(a), tf.constant(a), transpose_b=True)), expected, rtol=1e-3
    )


def test_matvec_and_trace(run):
    a, v = normal(5, 2, 3), normal(5, 3)
    np.testing.assert_allclose(run(tf.linalg.matvec(a, v)), np.einsum("bij,bj->bi", a, v))
    np.testing.assert_allclose(run(tf.trace(normal(4, 3, 3))), np.trace(normal(4, 3, 3), axis1=1, axis2=2))


AXES = [0, 1, 2, [[0, 1], [1, 0]], [[1], [0]], [[-1], [0]], (0, 1), [[], []]]


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("known", ["shape", "rank", "nothing"])
def test_tensordot(run, axes, known):
    a, b = normal(3, 3), normal(3, 3) + 1
    shape = {"shape": [3, 3], "rank": [None, None], "nothing": None}[known]
    x, y = tf.placeholder(tf.float64, shape), tf.placeholder(tf.float64, shape)
    found = tf.tensordot(x, y, axes)
    expected = np.tensordot(a, b, axes)
    value = run(found, {x: a, y: b})
    np.testing.assert_allclose(value, expected, atol=1e-12)
    assert found.shape.is_compatible_with(value.shape)


def test_tensordot_of_axes_as_a_tensor(run):
    a, b = normal(2, 3), normal(3, 4)
    axes = tf.placeholder(tf.int32, [2, 1])
    np.testing.assert_allclose(run(tf.tensordot(a, b, axes), {axes: [[1], [0]]}), a @ b)


@pytest.mark.parametrize("axes", [-1, 3, [[0, 1], [0]], [[2], [0]], [0, 1, 2]], ids=str)
def test_tensordot_refuses(axes):
    error = IndexError if axes == [[2], [0]] else ValueError
    with tf.Graph().as_default(), pytest.raises(error):
        tf.tensordot(tf.ones([3, 3]), tf.ones([3, 3]), axes)


EQUATIONS = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "ij,jk": [(2, 3), (3, 4)],
    "bij,bjk->bik": [(5, 2, 3), (5, 3, 4)],
    "ij,jk,kl->il": [(2, 3), (3, 4), (4, 2)],
    "ij,jk,jl->il": [(2, 3), (3, 4), (3, 2)],
    "ij->": [(2, 3)],
    "ij->ji": [(2, 3)],
    "ji": [(2, 3)],
    "aa": [(3, 3)],
    "ij,ij->ij": [(2, 3), (2, 3)],
    "ij,ij->": [(2, 3), (2, 3)],
    "abc,dce->abde": [(2, 3, 4), (3, 4, 5)],
    "...ij,jk->...ik": [(5, 2, 3), (3, 4)],
    "...ij,...jk->...ik": [(5, 2, 3), (5, 3, 4)],
    "i...->...": [(2, 3)],
    "ij,k->k": [(2, 3), (4,)],
    "i,j->ij": [(2,), (3,)],
    "ijk,ijm->km": [(2, 3, 4), (2, 3, 5)],
    "ab, ab, c -> abc": [(2, 3), (2, 3), (4,)],
}


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("known", [True, False])
def test_einsum(run, equation, known):
    arrays = [normal(*shape) for shape in EQUATIONS[equation]]
    inputs = [tf.placeholder(tf.float64, a.shape if known else [None] * a.ndim) for a in arrays]
    feeds = dict(zip(inputs, arrays, strict=True))
    found = tf.einsum(equation, *inputs)
    value = run(found, feeds)
    np.testing.assert_allclose(value, np.einsum(equation.replace(" ", ""), *arrays), atol=1e-12)
    assert found.shape.is_compatible_with(value.shape)
    grads = run(tf.gradients(found, inputs), feeds)
    for i, (array, grad) in enumerate(zip(arrays, grads, strict=True)):  # linear in each input
        scaled = {**feeds, inputs[i]: 2 * array}
        np.testing.assert_allclose(
            np.sum(run(found, scaled)) - np.sum(value), np.sum(grad * array), atol=1e-9
        )


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ("ij,jk->il", "Invalid equation: ij,jk->il"),
        ("ij->ik->i", "incorrect format"),
        ("ijk->i", "of rank 2 does not match einsum reduction of length 3"),
        ("ii->i", "appears more than once"),
        ("ij,jk", 'Got 1 arguments for equation "ij,jk", expecting 2'),
    ],
)
def test_einsum_refuses(equation, message):
    count = 1 if "Got 1" in message else equation.split("->")[0].count(",") + 1
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        tf.einsum(equation, *[tf.ones([3, 3])] * count)
    with pytest.raises(TypeError, match="invalid keyword arguments"):
        tf.einsum("ij->i", tf.ones([2, 2]), nothing=1)
