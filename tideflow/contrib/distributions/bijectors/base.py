"""What every bijector is: a map with an inverse, and the logarithm of how it stretches volumes.

A bijector defines `_forward`, `_inverse`, and one of `_forward_log_det_jacobian` and
`_inverse_log_det_jacobian` at least. What was computed of a tensor is kept, so that the inverse of a result
of `forward` is the tensor it was made of.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.distributions.tools import rank_of, static_value
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape, broadcast_static_shape
from tideflow.ops.arrays import constants, creation, shapes
from tideflow.ops.math import checks, reductions

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike, TensorLike


class _Pair:
    """A value, its image, and the log-determinants of the inverse by the rank of events, as far as known."""

    def __init__(self, x: Tensor | None = None, y: Tensor | None = None):
        self.x, self.y = x, y
        self.log_dets: dict[Any, Tensor] = {}


def _key(tensor: Tensor, conditions: dict[str, Any]) -> Any:
    def frozen(value: Any) -> Any:
        return tuple(map(frozen, value)) if isinstance(value, (list, tuple)) else value

    return id(tensor), frozen(sorted(conditions.items()))


@export("contrib.distributions.bijectors.Bijector")
class Bijector:
    """The base of bijectors: maps that can be inverted.

    A subclass defines methods such as `_forward`, `_inverse` and `_forward_log_det_jacobian`.

    Args:
      graph_parents: The tensors that the bijector is made from.
      is_constant_jacobian: Whether the log-determinant does not depend on the value.
      validate_args: Whether steps check the parameters and values.
      dtype: The type of the values; any by default.
      forward_min_event_ndims: The least rank of what `forward` takes.
      inverse_min_event_ndims: The least rank of what `inverse` takes; that of `forward` by default.
      name: The name of the operations.

    Raises:
      ValueError: If neither rank is given, or one is negative.
    """

    def __init__(
        self,
        graph_parents: Sequence[Tensor] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: DType | None = None,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str | None = None,
    ):
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError(
                "Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`."
            )
        if inverse_min_event_ndims is None:
            inverse_min_event_ndims = forward_min_event_ndims
        elif forward_min_event_ndims is None:
            forward_min_event_ndims = inverse_min_event_ndims
        for label, rank in (
            ("forward_min_event_ndims", forward_min_event_ndims),
            ("inverse_min_event_ndims", inverse_min_event_ndims),
        ):
            if not isinstance(rank, int):
                raise TypeError(f"Expected {label} to be of type int, got {type(rank).__name__}")
            if rank < 0:
                raise ValueError(f"{label} must be a non-negative integer.")
        self._graph_parents = list(graph_parents or [])
        for i, parent in enumerate(self._graph_parents):
            if not isinstance(parent, Tensor):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._forward_min_event_ndims = forward_min_event_ndims
        self._inverse_min_event_ndims = inverse_min_event_ndims
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = dtype
        self._constant_log_dets: dict[Any, Tensor] = {}
        self._by_x: dict[Any, _Pair] = {}
        self._by_y: dict[Any, _Pair] = {}
        if not name:
            words = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", type(self).__name__.lstrip("_"))
            name = re.sub("([a-z0-9])([A-Z])", r"\1_\2", words).lower()
        self._name = name

    # ------------------------------------------------------------------------ what it is

    @property
    def graph_parents(self) -> list[Tensor]:
        """The tensors that the bijector is made from."""
        return self._graph_parents

    @property
    def forward_min_event_ndims(self) -> int:
        """The least rank of what `forward` takes."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self) -> int:
        """The least rank of what `inverse` takes."""
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the log-determinant does not depend on the value."""
        return self._is_constant_jacobian

    @property
    def _is_injective(self) -> bool:
        """Whether no two values have the same image. If they have, `_inverse` gives all of them."""
        return True

    @property
    def validate_args(self) -> bool:
        """Whether steps check the parameters and values."""
        return self._validate_args

    @property
    def dtype(self) -> DType | None:
        """The type of the values; None if any will do."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name of the operations."""
        return self._name

    # ------------------------------------------------------------------------ shapes

    def forward_event_shape_tensor(
        self, input_shape: TensorLike, name: str = "forward_event_shape_tensor"
    ) -> Tensor:
        """Computes the shape of the image of an event.

        Args:
          input_shape: The shape of the event.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with self._name_scope(name, [input_shape]):
            sizes = convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
            return self._forward_event_shape_tensor(sizes)

    def forward_event_shape(self, input_shape: ShapeLike | None) -> TensorShape:
        """Computes the static shape of the image of an event.

        Args:
          input_shape: The static shape of the event.

        Returns:
          The shape.
        """
        return self._forward_event_shape(TensorShape(input_shape))

    def inverse_event_shape_tensor(
        self, output_shape: TensorLike, name: str = "inverse_event_shape_tensor"
    ) -> Tensor:
        """Computes the shape of an event from that of its image.

        Args:
          output_shape: The shape of the image.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        with self._name_scope(name, [output_shape]):
            sizes = convert_to_tensor(output_shape, dtype=dtypes.int32, name="output_shape")
            return self._inverse_event_shape_tensor(sizes)

    def inverse_event_shape(self, output_shape: ShapeLike | None) -> TensorShape:
        """Computes the static shape of an event from that of its image.

        Args:
          output_shape: The static shape of the image.

        Returns:
          The shape.
        """
        return self._inverse_event_shape(TensorShape(output_shape))

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return input_shape

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return output_shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return output_shape

    # ------------------------------------------------------------------------ there and back

    def forward(self, x: TensorLike, name: str = "forward") -> Tensor:
        """Computes the image of a value.

        Args:
          x: The value.
          name: The name of the operation.

        Returns:
          A tensor.
        """
        return self._call_forward(x, name)

    def inverse(self, y: TensorLike, name: str = "inverse") -> Any:
        """Computes the value whose image is given.

        Args:
          y: The image.
          name: The name of the operation.

        Returns:
          A tensor; if several values have the image, a tuple of all of them.
        """
        return self._call_inverse(y, name)

    def forward_log_det_jacobian(
        self, x: TensorLike, event_ndims: TensorLike, name: str = "forward_log_det_jacobian"
    ) -> Tensor:
        """Computes the logarithm of the factor by which volumes grow at a value.

        Args:
          x: The value.
          event_ndims: The rank of an event of `x`.
          name: The name of the operation.

        Returns:
          A tensor of the shape of `x` without that of an event.
        """
        return self._call_forward_log_det_jacobian(x, event_ndims, name)

    def inverse_log_det_jacobian(
        self, y: TensorLike, event_ndims: TensorLike, name: str = "inverse_log_det_jacobian"
    ) -> Any:
        """Computes the logarithm of the factor by which the inverse lets volumes grow at an image.

        Args:
          y: The image.
          event_ndims: The rank of an event of `y`.
          name: The name of the operation.

        Returns:
          A tensor of the shape of `y` without that of an event; if several values have the image, a tuple.
        """
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    def _forward(self, x: Tensor, **conditions: Any) -> Tensor:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Tensor, **conditions: Any) -> Any:
        raise NotImplementedError("inverse not implemented")

    def _forward_log_det_jacobian(self, x: Tensor, **conditions: Any) -> Tensor:
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _inverse_log_det_jacobian(self, y: Tensor, **conditions: Any) -> Any:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _call_forward(self, x: Any, name: str, **conditions: Any) -> Tensor:
        with self._name_scope(name, [x]):
            x = self._given(x, "x")
            return self._image(self._pair_of_x(x, conditions), conditions)

    def _call_inverse(self, y: Any, name: str, **conditions: Any) -> Any:
        with self._name_scope(name, [y]):
            y = self._given(y, "y")
            if not self._is_injective:
                return self._inverse(y, **conditions)
            return self._preimage(self._pair_of_y(y, conditions), conditions)

    def _image(self, pair: _Pair, conditions: dict[str, Any]) -> Tensor:
        if pair.y is None:
            pair.y = self._forward(pair.x, **conditions)
            if self._is_injective:
                self._by_y[_key(pair.y, conditions)] = pair
        return pair.y

    def _preimage(self, pair: _Pair, conditions: dict[str, Any]) -> Tensor:
        if pair.x is None:
            pair.x = self._inverse(pair.y, **conditions)
            self._by_x[_key(pair.x, conditions)] = pair
        return pair.x

    def _pair_of_x(self, x: Tensor, conditions: dict[str, Any]) -> _Pair:
        return self._by_x.setdefault(_key(x, conditions), _Pair(x=x))

    def _pair_of_y(self, y: Tensor, conditions: dict[str, Any]) -> _Pair:
        return self._by_y.setdefault(_key(y, conditions), _Pair(y=y))

    # ------------------------------------------------------------------------ volumes

    def _call_forward_log_det_jacobian(
        self, x: Any, event_ndims: Any, name: str, **conditions: Any
    ) -> Tensor:
        if not self._is_injective:
            raise NotImplementedError(
                "forward_log_det_jacobian cannot be implemented for non-injective transforms."
            )
        with self._name_scope(name, [x]):
            assertions = self._check_event_rank(self.forward_min_event_ndims, event_ndims)
            with control_dependencies(assertions):
                event_ndims = _known_rank(event_ndims)
                if event_ndims in self._constant_log_dets:
                    return -1.0 * self._constant_log_dets[event_ndims]
                pair = self._pair_of_x(self._given(x, "x"), conditions)
                return -self._log_det_of(pair, event_ndims, conditions, inverse=False)

    def _call_inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str, **conditions: Any) -> Any:
        with self._name_scope(name, [y]):
            if not isinstance(event_ndims, np.ndarray) and event_ndims in self._constant_log_dets:
                return self._constant_log_dets[event_ndims]
            y = self._given(y, "y")
            assertions = self._check_event_rank(self.inverse_min_event_ndims, event_ndims)
            with control_dependencies(assertions):
                event_ndims = _known_rank(event_ndims)
                if not self._is_injective:
                    log_dets = self._inverse_log_det_jacobian(y, **conditions)
                    least = self.inverse_min_event_ndims
                    return tuple(_over_events(y, each, least, event_ndims) for each in log_dets)
                return self._log_det_of(self._pair_of_y(y, conditions), event_ndims, conditions, inverse=True)

    def _log_det_of(self, pair: _Pair, event_ndims: Any, conditions: dict[str, Any], inverse: bool) -> Tensor:
        """The log-determinant of the inverse, by the hook of the side that was asked for if it is there."""
        if event_ndims in pair.log_dets:
            return pair.log_dets[event_ndims]
        try:
            log_det = self._log_det_by(pair, event_ndims, conditions, inverse)
        except NotImplementedError as refusal:
            try:
                log_det = self._log_det_by(pair, event_ndims, conditions, not inverse)
            except NotImplementedError:
                raise refusal from None
        pair.log_dets[event_ndims] = log_det
        if self.is_constant_jacobian:
            self._constant_log_dets[event_ndims] = log_det
        return log_det

    def _log_det_by(self, pair: _Pair, event_ndims: Any, conditions: dict[str, Any], inverse: bool) -> Tensor:
        if inverse:
            y = self._image(pair, conditions)
            log_det = self._inverse_log_det_jacobian(y, **conditions)
            return _over_events(y, log_det, self.inverse_min_event_ndims, event_ndims)
        x = self._preimage(pair, conditions)
        log_det = -self._forward_log_det_jacobian(x, **conditions)
        return _over_events(x, log_det, self.forward_min_event_ndims, event_ndims)

    # ------------------------------------------------------------------------ checks

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None, values: Sequence[Any] = ()) -> Iterator[str]:
        with name_scope(self.name), name_scope(name, values=[*values, *self._graph_parents]) as scope:
            yield scope

    def _given(self, value: Any, name: str) -> Tensor:
        value = convert_to_tensor(value, name=name)
        if self.dtype is not None and self.dtype.base_dtype != value.dtype.base_dtype:
            raise TypeError(f"Input had dtype {self.dtype} but expected {value.dtype}.")
        return value

    def _check_event_rank(self, least: int, event_ndims: Any) -> list[Operation]:
        event_ndims = convert_to_tensor(event_ndims, name="event_ndims")
        if not event_ndims.dtype.is_integer:
            raise ValueError(f"Expected integer dtype, got dtype {event_ndims.dtype}")
        known = static_value(event_ndims)
        if known is not None:
            if event_ndims.shape.ndims != 0:
                raise ValueError(f"Expected scalar event_ndims, got shape {event_ndims.shape}")
            if least > known:
                raise ValueError(f"event_ndims ({known}) must be larger than min_event_ndims ({least})")
            return []
        if event_ndims.shape.is_fully_defined() and event_ndims.shape.ndims != 0:
            raise ValueError(f"Expected scalar shape, got ndims {event_ndims.shape.ndims}")
        if not self.validate_args:
            return []
        return [
            checks.assert_greater_equal(event_ndims, least),
            checks.assert_rank(event_ndims, 0, message="Expected scalar."),
        ]


def _known_rank(event_ndims: Any) -> Any:
    known = static_value(event_ndims)
    return event_ndims if known is None else int(known)


def _over_events(value: Tensor, log_det: Tensor, least: int, event_ndims: Any) -> Tensor:
    """Log-determinants of the least events, summed over the further axes of an event."""
    rank = rank_of(value)
    sizes = shapes.shape(value)[rank - event_ndims : rank - least]
    if isinstance(event_ndims, int):
        axes: Any = [-axis for axis in range(1, event_ndims - least + 1)]
    else:
        axes = creation.range(-(event_ndims - least), 0)
    total = reductions.reduce_sum(creation.ones(sizes, log_det.dtype) * log_det, axis=axes)
    if isinstance(event_ndims, int) and isinstance(rank, int) and log_det.shape.ndims is not None:
        known = broadcast_static_shape(log_det.shape, value.shape[rank - event_ndims : rank - least])
        total.set_shape(known[: known.ndims - (event_ndims - least)])
    return total


def zero_log_det(x: Tensor) -> Tensor:
    """The log-determinant of a map that keeps volumes."""
    return constants.constant(0.0, dtype=x.dtype.base_dtype)


@export("contrib.distributions.bijectors.ConditionalBijector")
class ConditionalBijector(Bijector):
    """The base of bijectors whose methods take further arguments, which reach `_forward` and its kin.

    Args:
      graph_parents: The tensors that the bijector is made from.
      is_constant_jacobian: Whether the log-determinant does not depend on the value.
      validate_args: Whether steps check the parameters and values.
      dtype: The type of the values; any by default.
      forward_min_event_ndims: The least rank of what `forward` takes.
      inverse_min_event_ndims: The least rank of what `inverse` takes; that of `forward` by default.
      name: The name of the operations.
    """

    def forward(self, x: TensorLike, name: str = "forward", **condition_kwargs: Any) -> Tensor:
        """Computes the image of a value.

        Args:
          x: The value.
          name: The name of the operation.
          **condition_kwargs: The arguments of `_forward`.

        Returns:
          A tensor.
        """
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y: TensorLike, name: str = "inverse", **condition_kwargs: Any) -> Any:
        """Computes the value whose image is given.

        Args:
          y: The image.
          name: The name of the operation.
          **condition_kwargs: The arguments of `_inverse`.

        Returns:
          A tensor.
        """
        return self._call_inverse(y, name, **condition_kwargs)

    def forward_log_det_jacobian(
        self,
        x: TensorLike,
        event_ndims: TensorLike,
        name: str = "forward_log_det_jacobian",
        **condition_kwargs: Any,
    ) -> Tensor:
        """Computes the logarithm of the factor by which volumes grow at a value.

        Args:
          x: The value.
          event_ndims: The rank of an event of `x`.
          name: The name of the operation.
          **condition_kwargs: The arguments of `_forward_log_det_jacobian`.

        Returns:
          A tensor.
        """
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)

    def inverse_log_det_jacobian(
        self,
        y: TensorLike,
        event_ndims: TensorLike,
        name: str = "inverse_log_det_jacobian",
        **condition_kwargs: Any,
    ) -> Any:
        """Computes the logarithm of the factor by which the inverse lets volumes grow at an image.

        Args:
          y: The image.
          event_ndims: The rank of an event of `y`.
          name: The name of the operation.
          **condition_kwargs: The arguments of `_inverse_log_det_jacobian`.

        Returns:
          A tensor.
        """
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)
