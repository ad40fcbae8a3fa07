"""Wishart's distribution of matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.distributions.tools import batch_rank
from tideflow.distributions.base import FULLY_REPARAMETERIZED, Distribution
from tideflow.distributions.parameters import derived_seed
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.linalg.dense import LinearOperatorLowerTriangular
from tideflow.ops.arrays import constants, creation, diagonals, joining, shapes
from tideflow.ops.arrays.indexing import where_v2
from tideflow.ops.control_flow import grouping
from tideflow.ops.linalg import decompositions, matmul
from tideflow.ops.math import casting, checks, reductions, unary
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _Wishart(Distribution):
    """Wishart's distribution, given by the Cholesky factor of its scale."""

    def __init__(
        self,
        df: Any,
        factor: Tensor,
        cholesky_input_output_matrices: bool,
        validate_args: bool,
        allow_nan_stats: bool,
        name: str,
        parameters: dict[str, Any],
    ):
        self._cholesky_input_output_matrices = cholesky_input_output_matrices
        with name_scope(name) as name, name_scope("init", values=[df, factor]):
            if not factor.dtype.is_floating:
                raise TypeError(f"scale_operator.dtype={factor.dtype} is not a floating-point type")
            operator = LinearOperatorLowerTriangular(
                factor, is_non_singular=True, is_positive_definite=True, is_square=True
            )
            self._scale_operator = operator
            self._df = convert_to_tensor(df, dtype=operator.dtype, name="df")
            checks.assert_same_float_dtype([self._df], operator.dtype)
            size = None if operator.shape.ndims is None else operator.shape.tuple[-1]
            if size is None:
                size = operator.domain_dimension_tensor()
            self._dimension = casting.cast(size, operator.dtype, name="dimension")
            known_df, known_size = constant_value(self._df), size if isinstance(size, int) else None
            if known_df is not None and known_size is not None:
                if (np.asarray(known_df) < known_size).any():
                    raise ValueError(
                        f"Degrees of freedom (df = {known_df}) cannot be less than dimension of scale "
                        f"matrix (scale.dimension = {known_size})"
                    )
            elif validate_args:
                message = (
                    f"Degrees of freedom (df = {self._df}) cannot be less than dimension of scale matrix "
                    f"(scale.dimension = {self._dimension})"
                )
                enough = checks.assert_less_equal(self._dimension, self._df, message=message)
                self._df = grouping.with_dependencies([enough], self._df)
        super().__init__(
            dtype=operator.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._df, self._dimension, *operator.graph_parents],
            name=name,
        )

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def scale_operator(self) -> LinearOperatorLowerTriangular:
        """The Cholesky factor of the scale, as an operator."""
        return self._scale_operator

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """Whether samples and values are Cholesky factors of matrices."""
        return self._cholesky_input_output_matrices

    @property
    def dimension(self) -> Tensor:
        """The number of rows of a matrix."""
        return self._dimension

    def scale(self) -> Tensor:
        """The scale, or its Cholesky factor if samples are such.

        Returns:
          A tensor.
        """
        if self._cholesky_input_output_matrices:
            return self.scale_operator.to_dense()
        return self._square_scale()

    def _square_scale(self) -> Tensor:
        return self.scale_operator.matmul(self.scale_operator.to_dense(), adjoint_arg=True)

    def _event_shape_tensor(self) -> Tensor:
        size = self.scale_operator.domain_dimension_tensor()
        return joining.stack([size, size])

    def _event_shape(self) -> TensorShape:
        size = self.scale_operator.domain_dimension
        return TensorShape([size, size])

    def _batch_shape_tensor(self) -> Tensor:
        return self.scale_operator.batch_shape_tensor()

    def _batch_shape(self) -> TensorShape:
        return self.scale_operator.batch_shape

    def _by_columns(self, x: Tensor, samples: Any, apply: Any) -> Tensor:
        """Applies an operator's method to matrices of shape [samples, batch, event], side by side."""
        rank = shapes.rank(x)
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        behind = joining.concat([creation.range(samples, rank), creation.range(0, samples)], 0)
        sample_shape = shapes.shape(x)[:samples]
        wide = shapes.reshape(shapes.transpose(x, behind), joining.concat([batch, event[:1], [-1]], 0))
        wide = shapes.reshape(apply(wide), joining.concat([batch, event, sample_shape], 0))
        before = joining.concat([creation.range(rank - samples, rank), creation.range(0, rank - samples)], 0)
        return shapes.transpose(wide, before)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        """Bartlett's decomposition: normal numbers below a diagonal of roots of gamma numbers."""
        sizes = joining.concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        x = distributions.random_normal(sizes, mean=0.0, stddev=1.0, dtype=self.dtype, seed=seed)
        df = self.df * creation.ones(self.scale_operator.batch_shape_tensor(), dtype=self.dtype)
        gammas = distributions.random_gamma(
            [n],
            alpha=self._sequence(0.5 * df),
            beta=0.5,
            dtype=self.dtype,
            seed=derived_seed(seed, "wishart"),
        )
        x = diagonals.matrix_set_diag(diagonals.matrix_band_part(x, -1, 0), unary.sqrt(gammas))
        x = self._by_columns(x, 1, self.scale_operator.matmul)
        return x if self.cholesky_input_output_matrices else matmul.matmul(x, x, adjoint_b=True)

    def _log_prob(self, x: Tensor) -> Tensor:
        root = x if self.cholesky_input_output_matrices else decompositions.cholesky(x)
        samples = shapes.rank(root) - batch_rank(self) - 2
        inner = self._by_columns(root, samples, self.scale_operator.solve)
        trace = reductions.reduce_sum(unary.square(inner), axis=[-2, -1])
        half_log_det = reductions.reduce_sum(unary.log(diagonals.matrix_diag_part(root)), axis=[-1])
        log_prob = (self.df - self.dimension - 1.0) * half_log_det - 0.5 * trace - self.log_normalization()
        if x.shape.ndims is not None:
            log_prob.set_shape(x.shape[:-2])
        return log_prob

    def _prob(self, x: Tensor) -> Tensor:
        return unary.exp(self._log_prob(x))

    def _entropy(self) -> Tensor:
        half_size, half_df = 0.5 * self.dimension + 0.5, 0.5 * self.df
        return (
            self.dimension * (half_df + half_size * math.log(2.0))
            + 2 * half_size * self.scale_operator.log_abs_determinant()
            + self._multi_lgamma(half_df)
            + (half_size - half_df) * self._multi_digamma(half_df)
        )

    def _mean(self) -> Tensor:
        if self.cholesky_input_output_matrices:
            return unary.sqrt(self.df) * self.scale_operator.to_dense()
        return self.df * self._square_scale()

    def _variance(self) -> Tensor:
        x = unary.sqrt(self.df) * self._square_scale()
        diagonal = diagonals.matrix_diag_part(x)[..., None]
        variance = unary.square(x) + matmul.matmul(diagonal, diagonal, adjoint_b=True)
        return decompositions.cholesky(variance) if self.cholesky_input_output_matrices else variance

    def _stddev(self) -> Tensor:
        if self.cholesky_input_output_matrices:
            raise ValueError(
                "Computing std. dev. when is cholesky_input_output_matrices=True does not make sense."
            )
        return decompositions.cholesky(self.variance())

    def _mode(self) -> Tensor:
        excess = self.df - self.dimension - 1.0
        excess = where_v2(excess < 0.0, constants.constant(math.nan, dtype=self.dtype, name="nan"), excess)
        if self.cholesky_input_output_matrices:
            return unary.sqrt(excess) * self.scale_operator.to_dense()
        return excess * self._square_scale()

    def mean_log_det(self, name: str = "mean_log_det") -> Tensor:
        """Computes the mean of the logarithm of a sample's determinant.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with self._name_scope(name):
            log_det = self.scale_operator.log_abs_determinant()
            return self._multi_digamma(0.5 * self.df) + self.dimension * math.log(2.0) + 2 * log_det

    def log_normalization(self, name: str = "log_normalization") -> Tensor:
        """Computes the logarithm of the constant that densities are divided by.

        Args:
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with self._name_scope(name):
            return (
                self.df * self.scale_operator.log_abs_determinant()
                + 0.5 * self.df * self.dimension * math.log(2.0)
                + self._multi_lgamma(0.5 * self.df)
            )

    def _sequence(self, a: Tensor) -> Tensor:
        """a, a - 1/2, …, one for each row of a matrix."""
        zero = constants.constant(0.0, dtype=self.dtype)
        steps = creation.linspace(
            zero, 0.5 - 0.5 * self.dimension, casting.cast(self.dimension, dtypes.int32)
        )
        return steps + a[..., None]

    def _multi_lgamma(self, a: Tensor) -> Tensor:
        constant = 0.25 * self.dimension * (self.dimension - 1.0) * math.log(math.pi)
        return constant + reductions.reduce_sum(unary.lgamma(self._sequence(a)), axis=[-1])

    def _multi_digamma(self, a: Tensor) -> Tensor:
        return reductions.reduce_sum(unary.digamma(self._sequence(a)), axis=[-1])


@export("contrib.distributions.WishartCholesky")
class WishartCholesky(_Wishart):
    """Wishart's distribution of positive definite matrices, by the Cholesky factor of its scale.

    Args:
      df: The degrees of freedom, not below the number of rows.
      scale: The lower triangular Cholesky factor of the scale, of shape [..., n, n].
      cholesky_input_output_matrices: Whether samples and values are Cholesky factors of matrices.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If there are too few degrees of freedom.
    """

    def __init__(
        self,
        df: TensorLike,
        scale: TensorLike,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartCholesky",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name, name_scope("init", values=[scale]):
            factor = convert_to_tensor(scale)
            if validate_args:
                sizes, diagonal = shapes.shape(factor), diagonals.matrix_diag_part(factor)
                assertions = [
                    checks.assert_positive(diagonal, message="scale must be positive definite"),
                    checks.assert_equal(sizes[-1], sizes[-2], message="scale must be square"),
                ]
                factor = grouping.with_dependencies(assertions, factor)
        super().__init__(
            df, factor, cholesky_input_output_matrices, validate_args, allow_nan_stats, name, parameters
        )


@export("contrib.distributions.WishartFull")
class WishartFull(_Wishart):
    """Wishart's distribution of positive definite matrices.

    Args:
      df: The degrees of freedom, not below the number of rows.
      scale: The scale, of shape [..., n, n]: symmetric and positive definite.
      cholesky_input_output_matrices: Whether samples and values are Cholesky factors of matrices.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If there are too few degrees of freedom.
    """

    def __init__(
        self,
        df: TensorLike,
        scale: TensorLike,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartFull",
    ):
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[scale]):
            matrix = convert_to_tensor(scale)
            if validate_args:
                symmetric = checks.assert_equal(matrix, shapes.matrix_transpose(matrix))
                matrix = grouping.with_dependencies([symmetric], matrix)
            factor = decompositions.cholesky(matrix)
            if validate_args:
                positive = checks.assert_positive(diagonals.matrix_diag_part(factor))
                factor = grouping.with_dependencies([positive], factor)
        super().__init__(
            df, factor, cholesky_input_output_matrices, validate_args, allow_nan_stats, name, parameters
        )
