"""What the samples of the linear algebra ops do not say."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.ops.linalg import schur

RNG = np.random.default_rng(0)


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


# ---------------------------------------------------------------------------------- Schur form


@pytest.mark.parametrize(
    "matrix",
    [
        np.eye(4),
        np.zeros((3, 3)),
        np.diag(np.ones(5), 1),
        np.eye(6) + np.diag(np.ones(5), 1),
        np.array([[0.0, 1.0], [-1.0, 0.0]]),
        np.roll(np.eye(5), 1, axis=0),
        RNG.standard_normal((12, 12)),
        np.kron(np.eye(3), np.array([[2.0, 1.0], [0.0, 2.0]])) + 1e-9 * RNG.standard_normal((6, 6)),
    ],
    ids=["identity", "zero", "nilpotent", "jordan", "rotation", "shift", "random", "nearly defective"],
)
def test_schur_form(matrix):
    import torch

    basis = np.linalg.qr(RNG.standard_normal(matrix.shape))[0]
    turned = torch.tensor(basis @ matrix @ basis.T, dtype=torch.complex128)
    triangle, unitary = schur.schur(turned)
    assert torch.allclose(unitary @ triangle @ unitary.mH, turned, atol=1e-12)
    assert torch.allclose(unitary.mH @ unitary, torch.eye(len(matrix), dtype=unitary.dtype), atol=1e-12)
    assert torch.equal(triangle, torch.triu(triangle))


@pytest.mark.parametrize("side", [1, 2, 5, 20])
def test_roots_and_logarithms_undo_powers(side):
    matrix = RNG.standard_normal((2, side, side)) + 2 * side * np.eye(side)
    root = tf.linalg.sqrtm(matrix)
    squared, back = run([root @ root, tf.linalg.expm(tf.linalg.logm(matrix.astype(complex)))])
    np.testing.assert_allclose(squared, matrix, 1e-10, 1e-10)
    np.testing.assert_allclose(back, matrix, 1e-9, 1e-9)


# ---------------------------------------------------------------------------------- gradients


def test_second_derivative_of_the_determinant():
    """Through the gradient of an adjoint inverse, which TensorFlow has turned the wrong way."""
    matrix = RNG.standard_normal((3, 3)) + 2 * np.eye(3)
    direction, step = RNG.standard_normal((3, 3)), 1e-5
    x = tf.placeholder(tf.float64, [3, 3])
    first = tf.gradients(tf.linalg.det(x), x)[0]
    second = tf.gradients(tf.reduce_sum(first * direction), x)[0]
    with tf.Session() as session:
        ahead, behind = (session.run(first, {x: matrix + sign * step * direction}) for sign in (1, -1))
        np.testing.assert_allclose(
            session.run(second, {x: matrix}), (ahead - behind) / (2 * step), 1e-6, 1e-6
        )


def test_two_ways_to_the_gradient_of_the_exponential():
    x = tf.constant(5 * RNG.standard_normal((2, 3, 3)))
    composed, whole = tf.linalg.expm(x), tf.raw_ops.MatrixExponential(input=x)
    values, grads = run([[composed, whole], [tf.gradients(y, x)[0] for y in (composed, whole)]])
    np.testing.assert_allclose(*values, 1e-10)
    np.testing.assert_allclose(*grads, 1e-9)


@pytest.mark.parametrize("make", [tf.linalg.lu, tf.linalg.logm])
def test_no_gradient_is_said(make):
    x = tf.constant(np.eye(2), tf.complex128)
    y = make(x)
    with pytest.raises(LookupError, match="No gradient defined"):
        tf.gradients(y[0] if isinstance(y, tuple) else y, x, tf.ones_like(x))


# ---------------------------------------------------------------------------------- edges


def test_a_singular_tridiagonal_matrix_can_be_perturbed():
    three = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    x = tf.raw_ops.TridiagonalSolve(diagonals=three, rhs=np.ones((3, 1)), perturb_singular=True)
    assert np.isfinite(run(x)).all()


def test_exponentials_of_infinity_end():
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        run(tf.linalg.expm([[np.inf, 0.0], [0.0, 1.0]]))


def test_least_squares_of_many_small_matrices_is_one_op():
    matrices, rhs = RNG.standard_normal((5000, 4, 2)), RNG.standard_normal((5000, 4, 1))
    x = tf.linalg.lstsq(matrices, rhs)
    assert x.op.type == "MatrixSolveLs"
    np.testing.assert_allclose(run(x), np.linalg.pinv(matrices) @ rhs, 1e-8, 1e-8)


def test_half_precision_is_computed_in_single():
    matrix = np.array([[4.0, 1.0], [1.0, 3.0]], np.float16)
    made = [
        tf.linalg.cholesky(matrix),
        tf.linalg.inv(matrix),
        tf.linalg.eigvalsh(matrix),
        tf.linalg.solve(matrix, matrix),
    ]
    assert {value.dtype for value in run(made)} == {np.dtype(np.float16)}
