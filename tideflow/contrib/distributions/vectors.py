"""Distributions of vectors: independent numbers behind a matrix and a shift, normal and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.distributions.bijectors.affine import Affine, AffineLinearOperator
from tideflow.contrib.distributions.bijectors.combined import Chain
from tideflow.contrib.distributions.tools import (
    dimension_size,
    is_diagonal_scale,
    make_diag_scale,
    plus_low_rank,
    shapes_from_loc_and_scale,
)
from tideflow.contrib.distributions.transformed import TransformedDistribution
from tideflow.contrib.distributions.warped import base_distribution, sinh_arcsinh
from tideflow.distributions.base import Distribution
from tideflow.distributions.divergence import RegisterKL
from tideflow.distributions.gamma import Exponential
from tideflow.distributions.location_scale import Laplace, Normal
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import broadcast_static_shape
from tideflow.linalg.dense import LinearOperatorLowerTriangular
from tideflow.linalg.identities import LinearOperatorIdentity
from tideflow.linalg.operator import LinearOperator
from tideflow.ops.arrays import constants, creation, diagonals, joining, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.linalg import decompositions
from tideflow.ops.math import casting, checks, reductions, unary
from tideflow.ops.nn import activations

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class AffineOfScalars(TransformedDistribution):
    """Independent numbers of one distribution behind `scale · x + loc`, the scale an operator."""

    _VARIANCE = 1.0  # of each number

    def __init__(
        self,
        loc: Any = None,
        scale: LinearOperator | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
        parameters: dict[str, Any] | None = None,
    ):
        parameters = dict(locals()) if parameters is None else parameters
        name = name or type(self).__name__
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with name_scope(name, values=[loc, *scale.graph_parents]) as name:
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            batch_shape, event_shape = shapes_from_loc_and_scale(loc, scale)
        super().__init__(
            distribution=self._of_numbers(scale.dtype, allow_nan_stats),
            bijector=AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args),
            batch_shape=batch_shape,
            event_shape=event_shape,
            validate_args=validate_args,
            name=name,
        )
        self._parameters = parameters

    def _of_numbers(self, dtype: DType, allow_nan_stats: bool) -> Distribution:
        raise NotImplementedError

    @property
    def loc(self) -> Tensor | None:
        """The shift."""
        return self.bijector.shift

    @property
    def scale(self) -> LinearOperator:
        """The operator that scales."""
        return self.bijector.scale

    def _of_shape(self, make: Callable) -> Tensor:
        """A tensor of the batch's and an event's shape, which `make` makes."""
        known = self.batch_shape.concatenate(self.event_shape)
        if known.is_fully_defined():
            return make(known, self.dtype)
        sizes = joining.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        return make(sizes, self.dtype)

    def _mean(self) -> Tensor:
        if self.loc is None:
            return self._of_shape(creation.zeros)
        if self.batch_shape.concatenate(self.event_shape) == self.loc.shape:
            return constants.identity(self.loc)
        return constants.identity(self.loc) + self._of_shape(creation.zeros)

    def _mode(self) -> Tensor:
        return self._mean()

    def _covariance(self) -> Tensor:
        if is_diagonal_scale(self.scale):
            return self._VARIANCE * diagonals.matrix_diag(unary.square(self.scale.diag_part()))
        return self._VARIANCE * self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)

    def _variance(self) -> Tensor:
        if is_diagonal_scale(self.scale):
            return self._VARIANCE * unary.square(self.scale.diag_part())
        return diagonals.matrix_diag_part(self._covariance())

    def _stddev(self) -> Tensor:
        if is_diagonal_scale(self.scale):
            return self._VARIANCE**0.5 * unary.abs(self.scale.diag_part())
        return unary.sqrt(self._variance())


class MultivariateNormalLinearOperator(AffineOfScalars):
    """The normal distribution of vectors whose scale is an operator."""

    def _of_numbers(self, dtype: DType, allow_nan_stats: bool) -> Distribution:
        return Normal(loc=creation.zeros([], dtype=dtype), scale=creation.ones([], dtype=dtype))


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _kl_normal_vectors(
    a: MultivariateNormalLinearOperator, b: MultivariateNormalLinearOperator, name: str | None = None
) -> Tensor:
    def squares(x: Tensor) -> Tensor:
        return reductions.reduce_sum(unary.square(x), axis=[-2, -1])

    with name_scope(name, "kl_mvn", [a.loc, b.loc, *a.scale.graph_parents, *b.scale.graph_parents]):
        if is_diagonal_scale(a.scale) and is_diagonal_scale(b.scale):
            ratio = (a.stddev() / b.stddev())[..., None]
        else:
            ratio = b.scale.solve(a.scale.to_dense())
        size = casting.cast(a.scale.domain_dimension_tensor(), a.dtype)
        distance = b.scale.solve((b.mean() - a.mean())[..., None])
        volumes = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
        divergence = volumes + 0.5 * (-size + squares(ratio) + squares(distance))
        divergence.set_shape(broadcast_static_shape(a.batch_shape, b.batch_shape))
        return divergence


@export("contrib.distributions.MultivariateNormalDiag")
class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """The normal distribution of vectors of independent elements.

    The standard deviations are `scale_diag + scale_identity_multiplier`, 1 if neither is given.

    Args:
      loc: The mean, of shape [..., n]; 0 by default.
      scale_diag: The standard deviations, of shape [..., n].
      scale_identity_multiplier: A number that is added to all of them.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If the size of the vectors does not follow from the arguments.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            with name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
                scale = make_diag_scale(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)


@export("contrib.distributions.MultivariateNormalDiagWithSoftplusScale")
class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """The normal distribution of vectors of independent elements, their deviations behind softplus.

    Args:
      loc: The mean, of shape [..., n].
      scale_diag: The standard deviations before softplus, of shape [..., n].
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale_diag: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[scale_diag]) as name:
            super().__init__(
                loc=loc,
                scale_diag=activations.softplus(scale_diag),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


@export("contrib.distributions.MultivariateNormalDiagPlusLowRank")
class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """The normal distribution of vectors whose scale is a diagonal plus a matrix of low rank.

    The scale is `diag(scale_diag + scale_identity_multiplier) + scale_perturb_factor ·
    diag(scale_perturb_diag) · scale_perturb_factorᵀ`.

    Args:
      loc: The mean, of shape [..., n]; 0 by default.
      scale_diag: The diagonal, of shape [..., n].
      scale_identity_multiplier: A number that is added to the diagonal.
      scale_perturb_factor: The factor of low rank, of shape [..., n, rank].
      scale_perturb_diag: The diagonal between the factors, of shape [..., rank]; ones by default.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If the size of the vectors does not follow from the arguments.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        scale_perturb_factor: TensorLike | None = None,
        scale_perturb_diag: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ):
        parameters = dict(locals())
        given = [loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag]
        with name_scope(name) as name, name_scope("init", values=given):
            perturbed = scale_perturb_factor is not None or scale_perturb_diag is not None
            scale = make_diag_scale(
                loc,
                scale_diag,
                scale_identity_multiplier,
                validate_args=validate_args,
                assert_positive=perturbed,
            )
            if perturbed:
                scale = plus_low_rank(scale, scale_perturb_factor, scale_perturb_diag)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)


@export("contrib.distributions.MultivariateNormalTriL")
class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """The normal distribution of vectors whose scale is a lower triangular matrix.

    Args:
      loc: The mean, of shape [..., n]; 0 by default.
      scale_tril: The matrix, of shape [..., n, n], whose product with its transpose is the covariance; the
        identity by default.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If neither is given.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ):
        parameters = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name) as name, name_scope("init", values=[loc, scale_tril]):
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            if scale_tril is None:
                scale: LinearOperator = LinearOperatorIdentity(
                    num_rows=dimension_size(loc, -1),
                    dtype=loc.dtype,
                    is_self_adjoint=True,
                    is_positive_definite=True,
                    assert_proper_shapes=validate_args,
                )
            else:
                scale = LinearOperatorLowerTriangular(
                    convert_to_tensor(scale_tril, name="scale_tril"),
                    is_non_singular=True,
                    is_self_adjoint=False,
                    is_positive_definite=False,
                )
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)


@export("contrib.distributions.MultivariateNormalFullCovariance")
class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution of vectors, given by its covariance.

    Args:
      loc: The mean, of shape [..., n]; 0 by default.
      covariance_matrix: The covariance, of shape [..., n, n]: symmetric and positive definite; the identity
        by default.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If neither is given.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        covariance_matrix: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ):
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[loc, covariance_matrix]):
            scale_tril = None
            if covariance_matrix is not None:
                covariance = convert_to_tensor(covariance_matrix, name="covariance_matrix")
                if validate_args:
                    symmetric = checks.assert_near(
                        covariance,
                        shapes.matrix_transpose(covariance),
                        message="Matrix was not symmetric",
                    )
                    covariance = grouping.with_dependencies([symmetric], covariance)
                scale_tril = decompositions.cholesky(covariance)
            super().__init__(
                loc=loc,
                scale_tril=scale_tril,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


class VectorExponentialLinearOperator(AffineOfScalars):
    """The distribution of vectors of exponentially distributed numbers behind an operator."""

    def _of_numbers(self, dtype: DType, allow_nan_stats: bool) -> Distribution:
        return Exponential(rate=creation.ones([], dtype=dtype), allow_nan_stats=allow_nan_stats)

    def _mean(self) -> Tensor:
        return self._image_of(creation.ones)

    def _mode(self) -> Tensor:
        return self._image_of(creation.zeros)

    def _image_of(self, make: Callable) -> Tensor:
        scaled = self.scale.matvec(self._of_shape(make))
        return scaled if self.loc is None else constants.identity(self.loc) + scaled


@export("contrib.distributions.VectorExponentialDiag")
class VectorExponentialDiag(VectorExponentialLinearOperator):
    """The distribution of vectors of independent, exponentially distributed elements.

    Args:
      loc: The shift, of shape [..., n]; 0 by default.
      scale_diag: The scales, of shape [..., n]; 1 by default.
      scale_identity_multiplier: A number that is added to the scales.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If the size of the vectors does not follow from the arguments.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ):
        parameters = dict(locals())
        given = [loc, scale_diag, scale_identity_multiplier]
        with name_scope(name) as name, name_scope("init", values=given):
            scale = make_diag_scale(*given)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)


class VectorLaplaceLinearOperator(AffineOfScalars):
    """The distribution of vectors of numbers of a Laplace distribution behind an operator."""

    _VARIANCE = 2.0

    def _of_numbers(self, dtype: DType, allow_nan_stats: bool) -> Distribution:
        return Laplace(loc=creation.zeros([], dtype=dtype), scale=creation.ones([], dtype=dtype))


@export("contrib.distributions.VectorLaplaceDiag")
class VectorLaplaceDiag(VectorLaplaceLinearOperator):
    """The distribution of vectors of independent elements of Laplace distributions.

    Args:
      loc: The mean, of shape [..., n]; 0 by default.
      scale_diag: The scales, of shape [..., n]; 1 by default.
      scale_identity_multiplier: A number that is added to the scales.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If the size of the vectors does not follow from the arguments.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ):
        parameters = dict(locals())
        given = [loc, scale_diag, scale_identity_multiplier]
        with name_scope(name), name_scope("init", values=given):
            scale = make_diag_scale(*given)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)


@export("contrib.distributions.VectorSinhArcsinhDiag")
class VectorSinhArcsinhDiag(TransformedDistribution):
    """The distribution of vectors of independent elements made skew, their tails heavier or lighter.

    Args:
      loc: The location, of shape [..., n]; 0 by default.
      scale_diag: The scales, of shape [..., n]; 1 by default.
      scale_identity_multiplier: A number that is added to the scales.
      skewness: The skewness; 0 by default.
      tailweight: The weight of the tails, above 0; 1 by default.
      distribution: The distribution to warp; the standard normal one by default.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.

    Raises:
      ValueError: If the size of the vectors does not follow from the arguments.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        distribution: Distribution | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ):
        parameters = dict(locals())
        given = [loc, scale_diag, scale_identity_multiplier, skewness, tailweight]
        with name_scope(name, values=given) as name:
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            operator = make_diag_scale(loc, scale_diag, scale_identity_multiplier)
            batch_shape, event_shape = shapes_from_loc_and_scale(loc, operator)
            scale = operator.diag_part()
            dtype = scale.dtype
            distribution, scale = base_distribution(
                distribution, dtype, scale, validate_args, allow_nan_stats
            )
            skewness = 0.0 if skewness is None else skewness
            tailweight = 1.0 if tailweight is None else tailweight
            self._skewness = convert_to_tensor(skewness, dtype=dtype, name="skewness")
            self._tailweight = convert_to_tensor(tailweight, dtype=dtype, name="tailweight")
            warp, factor = sinh_arcsinh(self._skewness, self._tailweight, scale)
            affine = Affine(shift=loc, scale_diag=factor, validate_args=validate_args)
            super().__init__(
                distribution=distribution,
                bijector=Chain([affine, warp]),
                batch_shape=batch_shape,
                event_shape=event_shape,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters
        self._loc, self._scale = loc, operator

    @property
    def loc(self) -> Tensor | None:
        """The location."""
        return self._loc

    @property
    def scale(self) -> LinearOperator:
        """The operator of the scales."""
        return self._scale

    @property
    def tailweight(self) -> Tensor:
        """The weight of the tails."""
        return self._tailweight

    @property
    def skewness(self) -> Tensor:
        """The skewness."""
        return self._skewness
