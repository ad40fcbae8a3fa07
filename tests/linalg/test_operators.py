"""Linear operators: every kind does what its dense matrix does, for every method."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.linalg import algebra

RNG = np.random.default_rng(0)


def square(*batch, side=3):
    return RNG.standard_normal((*batch, side, side)) + 3 * np.eye(side)


def full(*batch, side=3):
    return tf.linalg.LinearOperatorFullMatrix(square(*batch, side=side))


def diag(*shape):
    return tf.linalg.LinearOperatorDiag(RNG.uniform(1, 2, shape))


def spectrum(*shape):
    return RNG.uniform(1, 2, shape) + 1j * RNG.uniform(-1, 1, shape)


KINDS = {
    "diag": lambda: diag(2, 3),
    "full": lambda: full(2),
    "triangular": lambda: tf.linalg.LinearOperatorLowerTriangular(square(2)),
    "householder": lambda: tf.linalg.LinearOperatorHouseholder(RNG.standard_normal((2, 3))),
    "identity": lambda: tf.linalg.LinearOperatorIdentity(3, [2], dtype=tf.float64),
    "scaled identity": lambda: tf.linalg.LinearOperatorScaledIdentity(3, np.array([2.0, 3.0])),
    "adjoint": lambda: tf.linalg.LinearOperatorAdjoint(full(2)),
    "inversion": lambda: tf.linalg.LinearOperatorInversion(full(2)),
    "composition": lambda: tf.linalg.LinearOperatorComposition([full(2), diag(3), full()]),
    "block diag": lambda: tf.linalg.LinearOperatorBlockDiag([full(2, side=2), diag(3)]),
    "kronecker": lambda: tf.linalg.LinearOperatorKronecker([full(2, side=2), full(), diag(2)]),
    "low rank": lambda: tf.linalg.LinearOperatorLowRankUpdate(
        diag(3), RNG.standard_normal((2, 3, 2)), np.array([1.0, 2.0]), RNG.standard_normal((2, 3, 2))
    ),
    "circulant": lambda: tf.linalg.LinearOperatorCirculant(spectrum(2, 4), tf.complex128),
    "circulant 2d": lambda: tf.linalg.LinearOperatorCirculant2D(spectrum(2, 2, 3), tf.complex128),
    "circulant 3d": lambda: tf.linalg.LinearOperatorCirculant3D(spectrum(2, 2, 3), tf.complex128),
    "toeplitz": lambda: tf.linalg.LinearOperatorToeplitz([4.0, 2.0, 1.0], [4.0, -1.0, 0.5]),
}


def turned(matrix):
    return np.swapaxes(matrix, -1, -2).conj()


@pytest.mark.parametrize("kind", KINDS)
def test_an_operator_is_its_matrix(kind):
    with tf.Graph().as_default(), tf.Session() as session:
        operator = KINDS[kind]()
        dense = session.run(operator.to_dense())
        dtype = operator.dtype.as_numpy_dtype
        x = RNG.standard_normal((*dense.shape[:-1], 2)).astype(dtype)
        pairs = {
            "matmul": (operator.matmul(x), dense @ x),
            "adjoint matmul": (operator.matmul(x, adjoint=True), turned(dense) @ x),
            "matmul of the adjoint": (operator.matmul(turned(x), adjoint_arg=True), dense @ x),
            "matvec": (operator.matvec(x[..., 0]), (dense @ x)[..., 0]),
            "solve": (operator.solve(x), np.linalg.solve(dense, x)),
            "adjoint solve": (operator.solve(x, adjoint=True), np.linalg.solve(turned(dense), x)),
            "solvevec": (operator.solvevec(x[..., 0]), np.linalg.solve(dense, x)[..., 0]),
            "determinant": (operator.determinant(), np.linalg.det(dense)),
            "log": (operator.log_abs_determinant(), np.log(np.abs(np.linalg.det(dense)))),
            "trace": (operator.trace(), np.trace(dense, axis1=-2, axis2=-1)),
            "diagonal": (operator.diag_part(), np.diagonal(dense, axis1=-2, axis2=-1)),
            "sum": (operator.add_to_tensor(dense), 2 * dense),
            "adjoint": (operator.adjoint().to_dense(), turned(dense)),
            "inverse": (operator.inverse().to_dense(), np.linalg.inv(dense)),
            "product": (operator.matmul(operator).to_dense(), dense @ dense),
            "quotient": (operator.solve(operator).to_dense(), np.zeros_like(dense) + np.eye(dense.shape[-1])),
            "from the left": (tf.matmul(turned(x), operator), turned(x) @ dense),
            "operator @ x": (operator @ x, dense @ x),
        }
        found = session.run({name: made for name, (made, _) in pairs.items()})
        tolerance = 1e-4 if dtype == np.float32 else 1e-9
        for name, (made, wanted) in pairs.items():
            np.testing.assert_allclose(found[name], wanted, tolerance, tolerance, err_msg=name)
            assert made.shape.is_compatible_with(np.shape(wanted)), name


@pytest.mark.parametrize("kind", ["diag", "full", "composition", "kronecker", "low rank"])
def test_gradients_reach_what_the_operator_is_made_from(kind):
    with tf.Graph().as_default():
        operator = KINDS[kind]()
        parents = [parent for parent in operator.graph_parents if isinstance(parent, tf.Tensor)]
        assert all(grad is not None for grad in tf.gradients(operator.log_abs_determinant(), parents))


def test_the_nearest_rule_is_taken():
    class Special(tf.linalg.LinearOperatorDiag):
        """A diagonal operator of one's own."""

    class MoreSpecial(Special):
        """And a kind of it."""

    @algebra.rule("matmul", Special, tf.linalg.LinearOperator)
    def _(a, b):
        return "by the rule"

    with tf.Graph().as_default():
        special, other = MoreSpecial([1.0, 2.0]), tf.linalg.LinearOperatorFullMatrix([[1.0, 0.0], [0.0, 1.0]])
        assert special.matmul(other) == "by the rule"
        assert isinstance(other.matmul(special), tf.linalg.LinearOperatorComposition)
        assert isinstance(special.inverse(), tf.linalg.LinearOperatorDiag)
    with pytest.raises(ValueError, match="already been registered"):
        algebra.rule("matmul", Special, tf.linalg.LinearOperator)(lambda a, b: None)


def test_positive_definite_without_being_self_adjoint():
    """TensorFlow has no such check; here A + Aᴴ decides."""
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.linalg.LinearOperatorFullMatrix([[2.0, 1.0], [-1.0, 2.0]]).assert_positive_definite())
        check = tf.linalg.LinearOperatorFullMatrix([[2.0, 9.0], [0.0, 2.0]]).assert_positive_definite()
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(check)


def test_circulant_operators_keep_their_type():
    with tf.Graph().as_default():
        operator = tf.linalg.LinearOperatorCirculant([1.0, 2.0, 2.0], input_output_dtype=tf.float32)
        assert operator.inverse().dtype == operator.matmul(operator).dtype == tf.float32


def test_a_hermitian_spectrum_is_told_from_others():
    with tf.Graph().as_default(), tf.Session() as session:
        kernel = tf.cast([1.0, 2.0, 3.0], tf.complex64)
        session.run(tf.linalg.LinearOperatorCirculant(tf.fft(kernel)).assert_hermitian_spectrum())
        check = tf.linalg.LinearOperatorCirculant([1.0, 2.0 + 5j, 3.0]).assert_hermitian_spectrum()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Spectrum was not Hermitian"):
            session.run(check)


def test_cholesky_of_diagonal_blocks():
    """TensorFlow refuses its own hint here."""
    with tf.Graph().as_default(), tf.Session() as session:
        block = tf.linalg.LinearOperatorDiag([4.0, 9.0], is_positive_definite=True)
        factor = tf.linalg.LinearOperatorBlockDiag([block, block]).cholesky()
        np.testing.assert_allclose(session.run(factor.diag_part()), [2, 3, 2, 3])
