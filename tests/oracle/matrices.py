"""Matrices for the programs about linear algebra."""

from kit import normal


def random_array(np, dtype, *shape):
    x = normal(np, *shape)
    return (x + 0.5j * np.sin(3 * x) if "complex" in dtype else x).astype(dtype)


def square_matrices(np, dtype, *batch):
    """Well conditioned square matrices."""
    return (random_array(np, dtype, *(batch + (3, 3))) + 3 * np.eye(3)).astype(dtype)


def definite_matrices(np, dtype, *batch):
    x = random_array(np, dtype, *(batch + (3, 3)))
    return (np.matmul(x, np.swapaxes(x, -1, -2).conj()) + np.eye(3)).astype(dtype)
