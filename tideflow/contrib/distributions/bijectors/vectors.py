"""Bijectors of vectors: permuted, ordered, on the simplex, of another shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.distributions.bijectors.base import Bijector, zero_log_det
from tideflow.contrib.distributions.tools import pad_axis, rank_of, shape_from, static_value
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, indexing, joining, shapes, sorting
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, casting, checks, cumulative, reductions, unary
from tideflow.ops.nn import activations, softmax

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.distributions.bijectors.Permute")
class Permute(Bijector):
    """The elements of vectors in another order.

    Args:
      permutation: Which element comes first, second and so on.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.

    Raises:
      TypeError: If the permutation is not of integers.
      ValueError: If it does not have every index once.
    """

    def __init__(self, permutation: TensorLike, validate_args: bool = False, name: str | None = None):
        with name_scope(name, "permute", [permutation]):
            order = convert_to_tensor(permutation, name="permutation")
            if not order.dtype.is_integer:
                raise TypeError(f"permutation.dtype ({order.dtype.name}) should be `int`-like.")
            known = constant_value(order)
            message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
            if known is not None:
                if set(known.tolist()) != set(range(known.size)):
                    raise ValueError(message)
            elif validate_args:
                in_order, all_of_them = sorting.sort(order), creation.range(shapes.size(order))
                is_permutation = checks.assert_equal(in_order, all_of_them, message=message)
                order = grouping.with_dependencies([is_permutation], order)
            self._permutation = order
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "permute",
        )

    @property
    def permutation(self) -> Tensor:
        """Which element comes first, second and so on."""
        return self._permutation

    def _forward(self, x: Tensor) -> Tensor:
        return indexing.gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return indexing.gather(y, shapes.invert_permutation(self.permutation), axis=-1)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return zero_log_det(x)

    _inverse_log_det_jacobian = _forward_log_det_jacobian


class _OfOneSize(Bijector):
    """A bijector of vectors whose image has `_GROWTH` elements more."""

    _GROWTH = 0

    def __init__(self, validate_args: bool, name: str):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        if input_shape.ndims is None or input_shape.tuple[-1] is None:
            return input_shape
        return TensorShape([input_shape.tuple[-1] + self._GROWTH])

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return (input_shape[-1] + self._GROWTH)[..., None]

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        if output_shape.ndims is None or output_shape.tuple[-1] is None:
            return output_shape
        if output_shape.tuple[-1] <= 1:
            raise ValueError(f"output_shape[-1] = {output_shape.tuple[-1]} <= 1")
        return TensorShape([output_shape.tuple[-1] - self._GROWTH])

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        if self.validate_args:
            message = "Need last dimension greater than 1."
            large_enough = checks.assert_greater(output_shape[-1], 1, message=message)
            output_shape = grouping.with_dependencies([large_enough], output_shape)
        return (output_shape[-1] - self._GROWTH)[..., None]


@export("contrib.distributions.bijectors.Ordered")
class Ordered(_OfOneSize):
    """The bijector of increasing vectors to all vectors: the first element, and the logs of the steps.

    Args:
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "ordered"):
        super().__init__(validate_args, name)

    def _forward(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        return joining.concat([x[..., :1], unary.log(x[..., 1:] - x[..., :-1])], -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return cumulative.cumsum(joining.concat([y[..., :1], unary.exp(y[..., 1:])], -1), axis=-1)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return reductions.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        return -reductions.reduce_sum(unary.log(x[..., 1:] - x[..., :-1]), axis=-1)

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        message = "Forward transformation input must be strictly increasing."
        increasing = checks.assert_positive(x[..., 1:] - x[..., :-1], message=message)
        return grouping.with_dependencies([increasing], x)


@export("contrib.distributions.bijectors.SoftmaxCentered")
class SoftmaxCentered(_OfOneSize):
    """The softmax of vectors with a zero behind: to vectors of positive numbers whose sum is 1.

    Args:
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    _GROWTH = 1

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered"):
        super().__init__(validate_args, name)

    def _forward(self, x: Tensor) -> Tensor:
        return softmax.softmax(pad_axis(x, -1, back=True))

    def _inverse(self, y: Tensor) -> Tensor:
        logs = unary.log(y)
        x = logs[..., :-1] - logs[..., -1:]
        if y.shape.ndims is not None:
            size = y.shape.tuple[-1]
            x.set_shape(y.shape[:-1].concatenate([None if size is None else size - 1]))
        return x

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return -reductions.reduce_sum(unary.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        log_total = activations.softplus(reductions.reduce_logsumexp(x, axis=-1, keepdims=True))
        log_det = -log_total + reductions.reduce_sum(x - log_total, axis=-1, keepdims=True)
        return shapes.squeeze(log_det, axis=-1)


@export("contrib.distributions.bijectors.Reshape")
class Reshape(Bijector):
    """The same elements in another shape.

    Args:
      event_shape_out: The shape of the image of an event; -1 stands for the size that fits.
      event_shape_in: The shape of an event; -1 stands for the size that fits.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.

    Raises:
      TypeError: If a shape is not of integers.
      ValueError: If a shape is not a vector, or has -1 twice or a smaller size.
    """

    def __init__(
        self,
        event_shape_out: TensorLike,
        event_shape_in: TensorLike = (-1,),
        validate_args: bool = False,
        name: str | None = None,
    ):
        with name_scope(name, "reshape", [event_shape_out, event_shape_in]):
            self._out = convert_to_tensor(
                event_shape_out, name="event_shape_out", preferred_dtype=dtypes.int32
            )
            self._in = convert_to_tensor(event_shape_in, name="event_shape_in", preferred_dtype=dtypes.int32)
            self._assertions = [
                *_check_sizes(self._out, validate_args),
                *_check_sizes(self._in, validate_args),
            ]
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "reshape",
        )

    def _forward(self, x: Tensor) -> Tensor:
        with control_dependencies(self._assertions):
            return self._reshaped(x, self._in, self._out)

    def _inverse(self, y: Tensor) -> Tensor:
        with control_dependencies(self._assertions):
            return self._reshaped(y, self._out, self._in)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        with control_dependencies(self._assertions):
            return zero_log_det(x)

    _inverse_log_det_jacobian = _forward_log_det_jacobian

    def _reshaped(self, x: Tensor, old: Tensor, new: Tensor) -> Tensor:
        old_rank = old.shape.with_rank_at_least(1).tuple
        old_rank = shapes.shape(old)[0] if old_rank is None or old_rank[0] is None else old_rank[0]
        rank = rank_of(x)
        sizes = x.shape.tuple
        event_sizes = None
        if isinstance(old_rank, int) and sizes is not None:
            x.shape.with_rank_at_least(old_rank)
            event_sizes = sizes[len(sizes) - old_rank :]
        wanted = constant_value(old)
        if event_sizes is not None and None not in event_sizes and wanted is not None:
            found = np.array(event_sizes, np.int32)
            if (found[wanted >= 0] != wanted[wanted >= 0]).any():
                raise ValueError(
                    f"Input `event_shape` does not match `event_shape_in` ({found} vs {wanted})."
                )
        elif self.validate_args:
            told = shapes.reshape(old >= 0, [-1])
            found = indexing.boolean_mask(shapes.shape(x)[rank - old_rank :], told)
            message = "Input `event_shape` does not match `event_shape_in`."
            fits = checks.assert_equal(found, indexing.boolean_mask(old, told), message=message)
            x = grouping.with_dependencies([fits], x)
        if isinstance(old_rank, int) and isinstance(rank, int) and old_rank == rank:
            return shapes.reshape(x, new)
        return shapes.reshape(x, joining.concat([shapes.shape(x)[: rank - old_rank], new], 0))

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return self.forward(creation.zeros(input_shape, dtype=dtypes.float32)).shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return self.inverse(creation.zeros(output_shape, dtype=dtypes.float32)).shape

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return shapes.shape(self.forward(creation.zeros(input_shape, dtype=dtypes.float32)))

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return shapes.shape(self.inverse(creation.zeros(output_shape, dtype=dtypes.float32)))


def _check_sizes(sizes: Tensor, validate_args: bool) -> list[Operation]:
    """Raises for a shape that is none; assertions for what only a step knows."""
    if not sizes.dtype.is_integer:
        raise TypeError(f"{sizes} dtype ({sizes.dtype.name}) should be `int`-like.")
    assertions: list[Any] = []
    if sizes.shape.ndims is not None:
        if sizes.shape.ndims > 1:
            raise ValueError(f"`{sizes}` rank ({sizes.shape.ndims}) should be <= 1.")
    elif validate_args:
        message = f"`{sizes}` rank should be <= 1."
        assertions.append(checks.assert_less_equal(shapes.rank(sizes), 1, message=message))
    known = static_value(sizes)
    if known is not None:
        if (known == -1).sum() > 1:
            raise ValueError(f"`{sizes}` must have at most one `-1` (given {known})")
        if (known < -1).any():
            raise ValueError(f"`{sizes}` elements must be either positive integers or `-1` (given {known}).")
    elif validate_args and not shape_from(sizes).is_fully_defined():
        unknown = reductions.reduce_sum(casting.cast(binary.equal(sizes, -1), dtypes.int32))
        message = f"`{sizes}` elements must have at most one `-1`."
        assertions.append(checks.assert_less_equal(unknown, 1, message=message))
        message = f"`{sizes}` elements must be either positive integers or `-1`."
        assertions.append(checks.assert_greater_equal(sizes, -1, message=message))
    return assertions
