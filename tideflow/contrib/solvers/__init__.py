"""tf.contrib.solvers: linear equations and least squares, by products with a matrix alone."""

from tideflow.contrib.solvers import lanczos, least_squares, linear_equations, util  # noqa: F401
