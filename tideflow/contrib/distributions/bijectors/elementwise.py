"""Bijectors of single numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.distributions.bijectors.base import Bijector, zero_log_det
from tideflow.contrib.distributions.matrices import softplus_inverse
from tideflow.contrib.distributions.tools import static_value
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation
from tideflow.ops.arrays.indexing import where_v2
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import casting, checks, unary
from tideflow.ops.nn import activations

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class Elementwise(Bijector):
    """A bijector of single numbers."""

    def __init__(self, validate_args: bool, name: str, is_constant_jacobian: bool = False):
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )

    def _where_valid(self, x: Tensor, *assertions: Any) -> Tensor:
        """The value, once the assertions hold: functions that make them, called if arguments are checked."""
        if not self.validate_args:
            return x
        return grouping.with_dependencies([make() for make in assertions], x)


def positive(x: Any, name: str, validate_args: bool, message: str) -> Tensor:
    """A parameter that must be above 0."""
    x = convert_to_tensor(x, name=name)
    if not validate_args:
        return x
    return grouping.with_dependencies([checks.assert_positive(x, message=message)], x)


@export("contrib.distributions.bijectors.AbsoluteValue")
class AbsoluteValue(Elementwise):
    """The absolute value. It is no bijector but on one side of zero: `inverse` gives both values.

    Args:
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "absolute_value"):
        super().__init__(validate_args, name, is_constant_jacobian=True)

    @property
    def _is_injective(self) -> bool:
        return False

    def _forward(self, x: Tensor) -> Tensor:
        return unary.abs(x)

    def _inverse(self, y: Tensor) -> tuple[Tensor, Tensor]:
        y = self._where_valid(y, lambda: self._not_negative(y))
        return -y, y

    def _inverse_log_det_jacobian(self, y: Tensor) -> tuple[Tensor, Tensor]:
        zero = self._where_valid(zero_log_det(y), lambda: self._not_negative(y))
        return zero, zero

    @staticmethod
    def _not_negative(y: Tensor) -> Any:
        return checks.assert_non_negative(y, message="Argument y was negative")


@export("contrib.distributions.bijectors.AffineScalar")
class AffineScalar(Elementwise):
    """The bijector `scale * x + shift` of single numbers.

    Args:
      shift: The shift; none by default.
      scale: The factor, not 0; 1 by default.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "affine_scalar",
    ):
        super().__init__(validate_args, name, is_constant_jacobian=True)
        with self._name_scope("init", [scale, shift]):
            self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
            self._scale = None if scale is None else convert_to_tensor(scale, name="scale")
            if self._scale is not None:
                zero = creation.zeros([], dtype=self._scale.dtype)
                self._scale = self._where_valid(
                    self._scale, lambda given=self._scale: checks.assert_none_equal(given, zero)
                )

    @property
    def shift(self) -> Tensor | None:
        """The shift."""
        return self._shift

    @property
    def scale(self) -> Tensor | None:
        """The factor."""
        return self._scale

    def _forward(self, x: Tensor) -> Tensor:
        y = constants.identity(x)
        y = y if self.scale is None else y * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Tensor) -> Tensor:
        x = constants.identity(y)
        x = x if self.shift is None else x - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return zero_log_det(x) if self.scale is None else unary.log(unary.abs(self.scale))


@export("contrib.distributions.bijectors.PowerTransform")
class PowerTransform(Elementwise):
    """The bijector `(1 + power * x) ** (1 / power)`, which is the exponential function for a power of 0.

    Args:
      power: The power, not negative: a constant.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.

    Raises:
      ValueError: If the power is negative, or not known before a step.
    """

    def __init__(self, power: TensorLike = 0.0, validate_args: bool = False, name: str = "power_transform"):
        super().__init__(validate_args, name)
        with self._name_scope("init", [power]):
            known = static_value(power)
        if known is None or known < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._power = known

    @property
    def power(self) -> Any:
        """The power."""
        return self._power

    def _forward(self, x: Tensor) -> Tensor:
        x = self._checked_x(x)
        return unary.exp(x) if self.power == 0.0 else unary.exp(unary.log1p(x * self.power) / self.power)

    def _inverse(self, y: Tensor) -> Tensor:
        y = self._checked_y(y)
        return unary.log(y) if self.power == 0.0 else unary.expm1(unary.log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return (self.power - 1.0) * unary.log(self._checked_y(y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        x = self._checked_x(x)
        return x if self.power == 0.0 else (1.0 / self.power - 1.0) * unary.log1p(x * self.power)

    def _checked_x(self, x: Tensor) -> Tensor:
        if self.power == 0.0:
            return x
        message = f"Forward transformation input must be at least {-1.0 / self.power}."
        return self._where_valid(x, lambda: checks.assert_non_negative(1.0 + self.power * x, message=message))

    def _checked_y(self, y: Tensor) -> Tensor:
        message = "Inverse transformation input must be greater than 0."
        return self._where_valid(y, lambda: checks.assert_positive(y, message=message))


@export("contrib.distributions.bijectors.Exp")
class Exp(PowerTransform):
    """The exponential function.

    Args:
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "exp"):
        super().__init__(validate_args=validate_args, name=name)


@export("contrib.distributions.bijectors.Gumbel")
class Gumbel(Elementwise):
    """Gumbel's distribution function, `exp(-exp(-(x - loc) / scale))`.

    Args:
      loc: The location.
      scale: The scale, above 0.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(
        self,
        loc: TensorLike = 0.0,
        scale: TensorLike = 1.0,
        validate_args: bool = False,
        name: str = "gumbel",
    ):
        super().__init__(validate_args, name)
        with self._name_scope("init", [loc, scale]):
            self._loc = convert_to_tensor(loc, name="loc")
            self._scale = positive(scale, "scale", validate_args, "Argument scale was not positive")
            checks.assert_same_float_dtype([self._loc, self._scale])

    @property
    def loc(self) -> Tensor:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale."""
        return self._scale

    def _forward(self, x: Tensor) -> Tensor:
        return unary.exp(-unary.exp(-(x - self.loc) / self.scale))

    def _inverse(self, y: Tensor) -> Tensor:
        return self.loc - self.scale * unary.log(-unary.log(self._checked_y(y)))

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        y = self._checked_y(y)
        return unary.log(self.scale / (-unary.log(y) * y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        z = (x - self.loc) / self.scale
        return -z - unary.exp(-z) - unary.log(self.scale)

    def _checked_y(self, y: Tensor) -> Tensor:
        low = "Inverse transformation input must be greater than 0."
        high = "Inverse transformation input must be less than or equal to 1."
        one = constants.constant(1.0, y.dtype)
        return self._where_valid(
            y,
            lambda: checks.assert_non_negative(y, message=low),
            lambda: checks.assert_less_equal(y, one, message=high),
        )


@export("contrib.distributions.bijectors.Kumaraswamy")
class Kumaraswamy(Elementwise):
    """The bijector of [0, 1] that makes uniform numbers into those of Kumaraswamy's distribution.

    Args:
      concentration1: The first concentration, above 0.
      concentration0: The second concentration, above 0.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(
        self,
        concentration1: TensorLike | None = None,
        concentration0: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "kumaraswamy",
    ):
        super().__init__(validate_args, name)
        message = "Concentration parameter must be positive."
        with self._name_scope("init", [concentration1, concentration0]):
            self._concentration1 = positive(concentration1, "concentration1", validate_args, message)
            self._concentration0 = positive(concentration0, "concentration0", validate_args, message)

    @property
    def concentration1(self) -> Tensor:
        """The first concentration."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """The second concentration."""
        return self._concentration0

    def _forward(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        rest = unary.exp(unary.log1p(-x) / self.concentration0)
        return unary.exp(unary.log1p(-rest) / self.concentration1)

    def _inverse(self, y: Tensor) -> Tensor:
        y = self._checked(y)
        return unary.exp(unary.log1p(-((1 - y**self.concentration1) ** self.concentration0)))

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        y = self._checked(y)
        return (
            unary.log(self.concentration1)
            + unary.log(self.concentration0)
            + (self.concentration1 - 1) * unary.log(y)
            + (self.concentration0 - 1) * unary.log1p(-(y**self.concentration1))
        )

    def _checked(self, x: Tensor) -> Tensor:
        one = creation.ones([], self.concentration0.dtype)
        return self._where_valid(
            x,
            lambda: checks.assert_non_negative(x, message="sample must be non-negative"),
            lambda: checks.assert_less_equal(x, one, message="sample must be no larger than `1`."),
        )


class Weibull(Elementwise):
    """The distribution function of a Weibull distribution, as a bijector of numbers from 0 to [0, 1]."""

    def __init__(
        self,
        scale: TensorLike = 1.0,
        concentration: TensorLike = 1.0,
        validate_args: bool = False,
        name: str = "weibull",
    ):
        super().__init__(validate_args, name)
        with self._name_scope("init", [scale, concentration]):
            self._scale = positive(scale, "scale", validate_args, "Argument scale was not positive")
            self._concentration = positive(
                concentration, "concentration", validate_args, "Argument concentration was not positive"
            )
            checks.assert_same_float_dtype([self._scale, self._concentration])

    @property
    def scale(self) -> Tensor:
        """The scale."""
        return self._scale

    @property
    def concentration(self) -> Tensor:
        """The concentration."""
        return self._concentration

    def _forward(self, x: Tensor) -> Tensor:
        return -unary.expm1(-((self._not_negative(x) / self.scale) ** self.concentration))

    def _inverse(self, y: Tensor) -> Tensor:
        return self.scale * (-unary.log1p(-self._up_to_one(y))) ** (1 / self.concentration)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        rest = -unary.log1p(-self._up_to_one(y))
        slope = (1 / self.concentration - 1) * unary.log(rest)
        return rest + slope + unary.log(self.scale / self.concentration)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        x = self._not_negative(x)
        power = (x / self.scale) ** self.concentration
        slope = (self.concentration - 1) * unary.log(x) + unary.log(self.concentration)
        return slope - power - self.concentration * unary.log(self.scale)

    def _not_negative(self, x: Tensor) -> Tensor:
        message = "Forward transformation input must be at least 0."
        return self._where_valid(x, lambda: checks.assert_non_negative(x, message=message))

    def _up_to_one(self, y: Tensor) -> Tensor:
        below, above = (
            f"Inverse transformation input must be {bound}."
            for bound in ("greater than 0", "less than or equal to 1")
        )
        return self._where_valid(
            y,
            lambda: checks.assert_non_negative(y, message=below),
            lambda: checks.assert_less_equal(y, creation.ones([], y.dtype), message=above),
        )


@export("contrib.distributions.bijectors.Sigmoid")
class Sigmoid(Elementwise):
    """The logistic function.

    Args:
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "sigmoid"):
        super().__init__(validate_args, name)

    def _forward(self, x: Tensor) -> Tensor:
        return unary.sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return unary.log(y) - unary.log1p(-y)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return -unary.log(y) - unary.log1p(-y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return -activations.softplus(-x) - activations.softplus(x)


def _root_of_square_plus_one(x: Tensor) -> Tensor:
    is_small = unary.abs(x) * math.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps) <= 1.0
    return where_v2(is_small, unary.sqrt(x**2.0 + 1.0), unary.abs(x))


@export("contrib.distributions.bijectors.SinhArcsinh")
class SinhArcsinh(Elementwise):
    """The bijector `sinh((arcsinh(x) + skewness) * tailweight)`.

    Args:
      skewness: The skewness; 0 by default.
      tailweight: The weight of the tails, above 0; 1 by default.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(
        self,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "SinhArcsinh",
    ):
        super().__init__(validate_args, name)
        with self._name_scope("init", [skewness, tailweight]):
            self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, name="skewness")
            tailweight = 1.0 if tailweight is None else tailweight
            self._tailweight = positive(
                convert_to_tensor(tailweight, dtype=self._skewness.dtype),
                "tailweight",
                validate_args,
                "Argument tailweight was not positive",
            )
            checks.assert_same_float_dtype([self._skewness, self._tailweight])

    @property
    def skewness(self) -> Tensor:
        """The skewness."""
        return self._skewness

    @property
    def tailweight(self) -> Tensor:
        """The weight of the tails."""
        return self._tailweight

    def _forward(self, x: Tensor) -> Tensor:
        return unary.sinh((unary.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Tensor) -> Tensor:
        return unary.sinh(unary.asinh(y) / self.tailweight - self.skewness)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        stretch = unary.cosh(unary.asinh(y) / self.tailweight - self.skewness)
        return unary.log(stretch / _root_of_square_plus_one(y)) - unary.log(self.tailweight)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        stretch = unary.cosh((unary.asinh(x) + self.skewness) * self.tailweight)
        return unary.log(stretch / _root_of_square_plus_one(x)) + unary.log(self.tailweight)


@export("contrib.distributions.bijectors.Softplus")
class Softplus(Elementwise):
    """The bijector `softness * log(1 + exp(x / softness))`.

    Args:
      hinge_softness: How soft the bend at zero is, not 0; 1 by default.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(
        self,
        hinge_softness: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "softplus",
    ):
        super().__init__(validate_args, name)
        self._hinge_softness = None
        if hinge_softness is not None:
            with name_scope(name, values=[hinge_softness]):
                softness = convert_to_tensor(hinge_softness, name="hinge_softness")
                zero = creation.zeros([], softness.dtype)
                message = "hinge_softness must be non-zero"
                self._hinge_softness = self._where_valid(
                    softness, lambda: checks.assert_none_equal(zero, softness, message=message)
                )

    @property
    def hinge_softness(self) -> Tensor | None:
        """How soft the bend at zero is."""
        return self._hinge_softness

    def _scaled(self, x: Tensor) -> Tensor:
        return x if self.hinge_softness is None else x / casting.cast(self.hinge_softness, x.dtype)

    def _unscaled(self, x: Tensor) -> Tensor:
        return x if self.hinge_softness is None else casting.cast(self.hinge_softness, x.dtype) * x

    def _forward(self, x: Tensor) -> Tensor:
        return self._unscaled(activations.softplus(self._scaled(x)))

    def _inverse(self, y: Tensor) -> Tensor:
        return self._unscaled(softplus_inverse(self._scaled(y)))

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return -unary.log(-unary.expm1(-self._scaled(y)))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return -activations.softplus(-self._scaled(x))


@export("contrib.distributions.bijectors.Softsign")
class Softsign(Elementwise):
    """The bijector `x / (1 + abs(x))`.

    Args:
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "softsign"):
        super().__init__(validate_args, name)

    def _forward(self, x: Tensor) -> Tensor:
        return x / (1.0 + unary.abs(x))

    def _inverse(self, y: Tensor) -> Tensor:
        y = self._checked_y(y)
        return y / (1.0 - unary.abs(y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return -2.0 * unary.log1p(unary.abs(x))

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return -2.0 * unary.log1p(-unary.abs(self._checked_y(y)))

    def _checked_y(self, y: Tensor) -> Tensor:
        one = constants.constant(1.0, y.dtype.base_dtype)
        low = "Inverse transformation input must be greater than -1."
        high = "Inverse transformation input must be less than 1."
        return self._where_valid(
            y,
            lambda: checks.assert_greater(y, -one, message=low),
            lambda: checks.assert_less(y, one, message=high),
        )


@export("contrib.distributions.bijectors.Square")
class Square(Elementwise):
    """The square of numbers that are not negative.

    Args:
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "square"):
        super().__init__(validate_args, name)

    def _forward(self, x: Tensor) -> Tensor:
        return unary.square(self._checked(x))

    def _inverse(self, y: Tensor) -> Tensor:
        return unary.sqrt(self._checked(y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return math.log(2.0) + unary.log(self._checked(x))

    def _checked(self, x: Tensor) -> Tensor:
        message = "All elements must be non-negative."
        return self._where_valid(x, lambda: checks.assert_non_negative(x, message=message))
