"""Distributions whose parameters are made positive: by softplus, or as absolute values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tideflow.contrib.distributions.gammas import Chi2, InverseGamma
from tideflow.distributions.gamma import Exponential, Gamma
from tideflow.distributions.location_scale import Laplace, Normal, StudentT
from tideflow.distributions.simplex import Beta
from tideflow.export import export
from tideflow.graph.scopes import name_scope
from tideflow.ops.math import unary
from tideflow.ops.nn.activations import softplus

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.distributions.BetaWithSoftplusConcentration")
class BetaWithSoftplusConcentration(Beta):
    """The beta distribution of concentrations that are softplus of the parameters.

    Args:
      concentration1: The first concentration, before softplus.
      concentration0: The second concentration, before softplus.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        concentration1: TensorLike,
        concentration0: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "BetaWithSoftplusConcentration",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            super().__init__(
                concentration1=softplus(concentration1, name="softplus_concentration1"),
                concentration0=softplus(concentration0, name="softplus_concentration0"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


@export("contrib.distributions.ExponentialWithSoftplusRate")
class ExponentialWithSoftplusRate(Exponential):
    """The exponential distribution of a rate that is softplus of the parameter.

    Args:
      rate: The rate, before softplus.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExponentialWithSoftplusRate",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            super().__init__(
                rate=softplus(rate, name="softplus_rate"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


@export("contrib.distributions.GammaWithSoftplusConcentrationRate")
class GammaWithSoftplusConcentrationRate(Gamma):
    """The gamma distribution of parameters behind softplus.

    Args:
      concentration: The shape parameter, before softplus.
      rate: The inverse scale, before softplus.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "GammaWithSoftplusConcentrationRate",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            super().__init__(
                concentration=softplus(concentration, name="softplus_concentration"),
                rate=softplus(rate, name="softplus_rate"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


@export("contrib.distributions.InverseGammaWithSoftplusConcentrationRate")
class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """The inverse gamma distribution of parameters behind softplus.

    Args:
      concentration: The shape parameter, before softplus.
      rate: The scale, before softplus.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            super().__init__(
                concentration=softplus(concentration, name="softplus_concentration"),
                rate=softplus(rate, name="softplus_rate"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


@export("contrib.distributions.LaplaceWithSoftplusScale")
class LaplaceWithSoftplusScale(Laplace):
    """The Laplace distribution of a scale that is softplus of the parameter.

    Args:
      loc: The mean.
      scale: The scale, before softplus.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "LaplaceWithSoftplusScale",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            super().__init__(
                loc=loc,
                scale=softplus(scale, name="softplus_scale"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


@export("contrib.distributions.NormalWithSoftplusScale")
class NormalWithSoftplusScale(Normal):
    """The normal distribution of a standard deviation that is softplus of the parameter.

    Args:
      loc: The mean.
      scale: The standard deviation, before softplus.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NormalWithSoftplusScale",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            super().__init__(
                loc=loc,
                scale=softplus(scale, name="softplus_scale"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


@export("contrib.distributions.StudentTWithAbsDfSoftplusScale")
class StudentTWithAbsDfSoftplusScale(StudentT):
    """Student's t-distribution of whole degrees of freedom and a scale behind softplus.

    Args:
      df: The degrees of freedom, of which the absolute value is rounded down.
      loc: The shift.
      scale: The scale, before softplus.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        df: TensorLike,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentTWithAbsDfSoftplusScale",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as name:
            super().__init__(
                df=unary.floor(unary.abs(df)),
                loc=loc,
                scale=softplus(scale, name="softplus_scale"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


@export("contrib.distributions.Chi2WithAbsDf")
class Chi2WithAbsDf(Chi2):
    """The chi-squared distribution of whole degrees of freedom.

    Args:
      df: The degrees of freedom, of which the absolute value is rounded down.
      validate_args: Whether steps check the parameters and values.
      allow_nan_stats: Whether a statistic that is not defined is NaN; else a step fails.
      name: The name of the operations.
    """

    def __init__(
        self,
        df: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2WithAbsDf",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            super().__init__(
                df=unary.floor(unary.abs(df, name="abs_df"), name="floor_abs_df"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters
