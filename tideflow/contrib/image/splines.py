"""Polyharmonic splines: smooth functions through given values at scattered points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import dimension_value
from tideflow.ops.arrays import creation, diagonals, joining, shapes
from tideflow.ops.linalg import matmul, solvers
from tideflow.ops.math import binary, powers, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_EPSILON = 1e-10  # keeps logarithms and roots finite where points meet


@export("contrib.image.interpolate_spline")
def interpolate_spline(
    train_points: TensorLike,
    train_values: TensorLike,
    query_points: TensorLike,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> Tensor:
    """Interpolates values between scattered points by a polyharmonic spline.

    Args:
      train_points: Points with known values, [batch, points, dimensions].
      train_values: The values, [batch, points, values].
      query_points: Where values are wanted, [batch, queries, dimensions].
      order: The order of the spline: 1 is linear, 2 the thin-plate spline, 3 cubic.
      regularization_weight: How much smoothness counts against hitting the values exactly.
      name: A name for the scope of the new operations.

    Returns:
      A tensor [batch, queries, values].

    Raises:
      ValueError: If the last sizes of points or values are unknown.
    """
    with name_scope(name):
        train_points = convert_to_tensor(train_points)
        train_values = convert_to_tensor(train_values)
        query_points = convert_to_tensor(query_points)
        with name_scope("solve"):
            weights, plane = _solved(train_points, train_values, order, regularization_weight)
        with name_scope("predict"):
            distances = _basis(_distances_between(query_points, train_points), order)
            around = matmul.matmul(distances, weights)
            ones = creation.ones_like(query_points[..., :1], train_points.dtype)
            linear = matmul.matmul(joining.concat([query_points, ones], 2), plane)
            return around + linear


def _solved(points: Tensor, values: Tensor, order: int, regularization: float) -> tuple[Tensor, Tensor]:
    """The weights of the basis functions, and those of the linear part."""
    batch, count, _ = joining.unstack(shapes.shape(points), num=3)
    dimensions, width = dimension_value(points.shape[-1]), dimension_value(values.shape[-1])
    if dimensions is None:
        raise ValueError("The dimensionality of the input points (d) must be statically-inferrable.")
    if width is None:
        raise ValueError("The dimensionality of the output values (k) must be statically-inferrable.")
    with name_scope("construct_linear_system"):
        basis = _basis(_distances_within(points), order)
        if regularization > 0:
            identity = shapes.expand_dims(creation.eye(count, dtype=points.dtype), 0)
            basis += regularization * identity
        ones = creation.ones_like(points[..., :1], dtype=points.dtype)
        linear = joining.concat([points, ones], 2)
        left = joining.concat([basis, shapes.transpose(linear, [0, 2, 1])], 1)
        columns = linear.shape[2]
        corner = creation.zeros([batch, columns, columns], points.dtype)
        system = joining.concat([left, joining.concat([linear, corner], 1)], 2)
        nothing = creation.zeros([batch, dimensions + 1, width], points.dtype)
        right = joining.concat([values, nothing], 1)
    with name_scope("solve_linear_system"):
        solution = solvers.matrix_solve(system, right)
        return solution[:, :count, :], solution[:, count:, :]


def _distances_between(x: Tensor, y: Tensor) -> Tensor:
    """The squared distances of each x from each y, [batch, x, y]."""
    of_x = reductions.reduce_sum(unary.square(x), 2)
    of_y = reductions.reduce_sum(unary.square(y), 2)
    of_x, of_y = shapes.expand_dims(of_x, 2), shapes.expand_dims(of_y, 1)
    products = matmul.matmul(x, y, adjoint_b=True)
    return of_x - 2 * products + of_y


def _distances_within(x: Tensor) -> Tensor:
    products = matmul.matmul(x, x, adjoint_b=True)
    squares = shapes.expand_dims(diagonals.matrix_diag_part(products), 2)
    return squares - 2 * products + shapes.transpose(squares, [0, 2, 1])


def _basis(squares: Tensor, order: int) -> Tensor:
    """The radial basis function of squared distances: r ** order, times log r where the order is even."""
    with name_scope("phi"):
        if order == 2:
            return 0.5 * squares * unary.log(binary.maximum(squares, _EPSILON))
        if order == 4:
            return 0.5 * unary.square(squares) * unary.log(binary.maximum(squares, _EPSILON))
        squares = binary.maximum(squares, _EPSILON)
        if order == 1:
            return unary.sqrt(squares)
        if order % 2 == 0:
            return 0.5 * powers.pow(squares, 0.5 * order) * unary.log(squares)
        return powers.pow(squares, 0.5 * order)
