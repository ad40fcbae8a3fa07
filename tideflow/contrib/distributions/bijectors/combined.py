"""Bijectors made of others, or of functions: none, inverted, one after another, inline."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.contrib.distributions.bijectors.base import Bijector, zero_log_det
from tideflow.contrib.distributions.tools import rank_of
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import shapes
from tideflow.ops.math import casting


@export("contrib.distributions.bijectors.Identity")
class Identity(Bijector):
    """The bijector that changes nothing.

    Args:
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "identity"):
        super().__init__(
            forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name
        )

    def _forward(self, x: Tensor) -> Tensor:
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        return y

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return zero_log_det(x)

    _inverse_log_det_jacobian = _forward_log_det_jacobian


@export("contrib.distributions.bijectors.Inline")
class Inline(Bijector):
    """A bijector made of functions.

    Args:
      forward_fn: The function of a value that gives its image.
      inverse_fn: The function of an image that gives its value.
      inverse_log_det_jacobian_fn: The function of an image that gives the log-determinant of the inverse.
      forward_log_det_jacobian_fn: The function of a value that gives the log-determinant.
      forward_event_shape_fn: The function of a static shape that gives that of the image.
      forward_event_shape_tensor_fn: The function of a shape that gives that of the image.
      inverse_event_shape_fn: The function of an image's static shape that gives that of the value.
      inverse_event_shape_tensor_fn: The function of an image's shape that gives that of the value.
      is_constant_jacobian: Whether the log-determinant does not depend on the value.
      validate_args: Whether steps check the parameters and values.
      forward_min_event_ndims: The least rank of what `forward` takes.
      inverse_min_event_ndims: The least rank of what `inverse` takes; that of `forward` by default.
      name: The name of the operations.
    """

    def __init__(
        self,
        forward_fn: Callable | None = None,
        inverse_fn: Callable | None = None,
        inverse_log_det_jacobian_fn: Callable | None = None,
        forward_log_det_jacobian_fn: Callable | None = None,
        forward_event_shape_fn: Callable | None = None,
        forward_event_shape_tensor_fn: Callable | None = None,
        inverse_event_shape_fn: Callable | None = None,
        inverse_event_shape_tensor_fn: Callable | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ):
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )
        self._functions = {
            "forward": forward_fn,
            "inverse": inverse_fn,
            "forward_log_det_jacobian": forward_log_det_jacobian_fn,
            "inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
        }
        self._of_shapes = {
            "forward_event_shape": forward_event_shape_fn,
            "forward_event_shape_tensor": forward_event_shape_tensor_fn,
            "inverse_event_shape": inverse_event_shape_fn,
            "inverse_event_shape_tensor": inverse_event_shape_tensor_fn,
        }

    def _call(self, which: str, value: Tensor, conditions: dict[str, Any]) -> Any:
        function = self._functions[which]
        if not callable(function):
            raise NotImplementedError(f"{which}_fn is not a callable function.")
        return function(value, **conditions)

    def _shape(self, which: str, shape: Any) -> Any:
        function = self._of_shapes[which]
        return shape if function is None else function(shape)

    def _forward(self, x: Tensor, **conditions: Any) -> Tensor:
        return self._call("forward", x, conditions)

    def _inverse(self, y: Tensor, **conditions: Any) -> Tensor:
        return self._call("inverse", y, conditions)

    def _forward_log_det_jacobian(self, x: Tensor, **conditions: Any) -> Tensor:
        return self._call("forward_log_det_jacobian", x, conditions)

    def _inverse_log_det_jacobian(self, y: Tensor, **conditions: Any) -> Tensor:
        return self._call("inverse_log_det_jacobian", y, conditions)

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return self._shape("forward_event_shape", input_shape)

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return self._shape("forward_event_shape_tensor", input_shape)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return self._shape("inverse_event_shape", output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return self._shape("inverse_event_shape_tensor", output_shape)


@export("contrib.distributions.bijectors.Invert")
class Invert(Bijector):
    """The inverse of a bijector.

    Args:
      bijector: The bijector.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations; by default that of the bijector after "invert_".

    Raises:
      NotImplementedError: If several values of `bijector` have one image.
    """

    def __init__(self, bijector: Bijector, validate_args: bool = False, name: str | None = None):
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            name=name or f"invert_{bijector.name}",
        )

    @property
    def bijector(self) -> Bijector:
        """The bijector that is inverted."""
        return self._bijector

    def _forward(self, x: Tensor, **conditions: Any) -> Tensor:
        return self.bijector._inverse(x, **conditions)

    def _inverse(self, y: Tensor, **conditions: Any) -> Tensor:
        return self.bijector._forward(y, **conditions)

    def _forward_log_det_jacobian(self, x: Tensor, **conditions: Any) -> Tensor:
        return self.bijector._inverse_log_det_jacobian(x, **conditions)

    def _inverse_log_det_jacobian(self, y: Tensor, **conditions: Any) -> Tensor:
        return self.bijector._forward_log_det_jacobian(y, **conditions)

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return self.bijector._inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return self.bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return self.bijector._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return self.bijector._forward_event_shape_tensor(output_shape)


def _least_rank(ranks: Sequence[tuple[int, int]]) -> int:
    """The least rank of what a chain takes, by that of what each link takes and gives, the first first."""
    least = reached = 0
    for taken, given in ranks:
        least += max(taken - reached, 0)
        reached = max(taken, reached) - (taken - given)
    return least


@export("contrib.distributions.bijectors.Chain")
class Chain(Bijector):
    """Bijectors one after another, the last of the list first.

    Args:
      bijectors: The bijectors. None of them makes the identity.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations; by default made of those of the bijectors.

    Raises:
      ValueError: If the types of the bijectors differ.
      NotImplementedError: If several values of one of the bijectors have one image.
    """

    def __init__(
        self,
        bijectors: Sequence[Bijector] | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ):
        bijectors = () if bijectors is None else bijectors
        self._bijectors = bijectors
        for link in bijectors:
            if not link._is_injective:
                raise NotImplementedError(
                    f"Invert is not implemented for non-injective bijector ({link.name})"
                )
        kinds = {link.dtype for link in bijectors} - {None}
        if len(kinds) > 1:
            raise ValueError(f"incompatible dtypes: {list(kinds)}")
        ranks = [(link.forward_min_event_ndims, link.inverse_min_event_ndims) for link in bijectors]
        super().__init__(
            graph_parents=list(itertools.chain.from_iterable(link.graph_parents for link in bijectors)),
            forward_min_event_ndims=_least_rank(ranks[::-1]),
            inverse_min_event_ndims=_least_rank([(inverse, forward) for forward, inverse in ranks]),
            is_constant_jacobian=all(link.is_constant_jacobian for link in bijectors),
            validate_args=validate_args,
            dtype=next(iter(kinds), None),
            name=name or ("_of_".join(["chain", *(b.name for b in bijectors)]) if bijectors else "identity"),
        )

    @property
    def bijectors(self) -> Sequence[Bijector]:
        """The bijectors; the last is applied first."""
        return self._bijectors

    def _forward(self, x: Tensor, **conditions: Any) -> Tensor:
        for link in reversed(self.bijectors):
            x = link.forward(x, **conditions.get(link.name, {}))
        return x

    def _inverse(self, y: Tensor, **conditions: Any) -> Tensor:
        for link in self.bijectors:
            y = link.inverse(y, **conditions.get(link.name, {}))
        return y

    def _forward_log_det_jacobian(self, x: Tensor, **conditions: Any) -> Tensor:
        return self._log_det_along("forward", reversed(self.bijectors), x, conditions)

    def _inverse_log_det_jacobian(self, y: Tensor, **conditions: Any) -> Tensor:
        return self._log_det_along("inverse", self.bijectors, y, conditions)

    def _log_det_along(self, way: str, links: Any, value: Tensor, conditions: dict[str, Any]) -> Tensor:
        """The sum of the log-determinants along the way, of events whose rank each link may change."""
        total = casting.cast(0.0, value.dtype.base_dtype)
        event_ndims = getattr(self, f"{way}_min_event_ndims")
        for link in links:
            given = conditions.get(link.name, {})
            log_det = getattr(link, f"{way}_log_det_jacobian")
            total += log_det(value, event_ndims=event_ndims, **given)
            event_ndims = self._next_rank(way, link, value, event_ndims)
            value = getattr(link, way)(value, **given)
        return total

    @staticmethod
    def _next_rank(way: str, link: Bijector, value: Tensor, event_ndims: Any) -> Any:
        if value.shape.is_fully_defined() and isinstance(event_ndims, int):
            known = value.shape[value.shape.ndims - event_ndims :]
            return getattr(link, f"{way}_event_shape")(known).ndims
        sizes = shapes.shape(value)[rank_of(value) - event_ndims :]
        rank = shapes.size(getattr(link, f"{way}_event_shape_tensor")(sizes))
        known_rank = constant_value(rank)
        return rank if known_rank is None else int(known_rank)

    def _along(self, links: Any, method: str, shape: Any) -> Any:
        for link in links:
            shape = getattr(link, method)(shape)
        return shape

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return self._along(reversed(self.bijectors), "forward_event_shape", input_shape)

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return self._along(reversed(self.bijectors), "forward_event_shape_tensor", input_shape)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return self._along(self.bijectors, "inverse_event_shape", output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return self._along(self.bijectors, "inverse_event_shape_tensor", output_shape)
