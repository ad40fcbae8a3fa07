"""`tf.TensorArray`: values by position, written and read inside a graph, mostly by loops."""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import (
    colocate_with,
    control_dependencies,
    device,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import constants, creation, shapes
from tideflow.ops.control_flow import tensor_array_ops
from tideflow.ops.math import casting

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike


@export("TensorArray")
class TensorArray:
    """An array of tensors of one type, mostly for the results of a loop's iterations.

    Writing gives a new TensorArray, which later reads must use: its flow is what orders them after the write.
    An element is written once, and read once unless `clear_after_read` is false.

    Args:
      dtype: The elements' type.
      size: How many elements there are; a scalar int32.
      dynamic_size: Whether writing behind the end makes the array longer.
      clear_after_read: Whether reading an element lets it go, as it does unless this is false.
      tensor_array_name: A name for the array, kept in the graph.
      handle: The handle of an array that is there already, instead of `size`.
      flow: The flow that belongs to `handle`.
      infer_shape: Whether all elements must have one shape, which the first one tells.
      element_shape: What is known of the elements' shape.
      colocate_with_first_write_call: Whether the array is placed where the first value written to it is.
      name: A name for the operation.
    """

    _eager_class: type[TensorArray]  # set by `eager_tensor_array.py`

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """In eager mode, an array of the class that keeps the elements themselves."""
        return object.__new__(cls._eager_class if executing_eagerly() else cls)

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike | None = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ):
        check_arguments(handle, tensor_array_name, size, dynamic_size, element_shape, infer_shape)
        self._keep_settings(dtype, dynamic_size, infer_shape, element_shape)
        self._size = size
        self._first_write = [None] if colocate_with_first_write_call else None
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                self._handle = handle
                self._flow = flow
                return
            size = convert_to_tensor(size if size is not None else 0, dtype=dtypes.int32, name="size")
            anywhere = device(None) if colocate_with_first_write_call else contextlib.nullcontext()
            with colocate_with(None, ignore_existing=True) if colocate_with_first_write_call else anywhere:
                with anywhere:
                    self._handle, self._flow = tensor_array_ops.tensor_array_op(
                        size,
                        dtype=self._dtype,
                        element_shape=self._element_shape[0],
                        identical_element_shapes=infer_shape,
                        dynamic_size=self._dynamic_size,
                        clear_after_read=True if clear_after_read is None else clear_after_read,
                        tensor_array_name=tensor_array_name or "",
                        name=scope,
                    )

    def _keep_settings(self, dtype: Any, dynamic_size: Any, infer_shape: bool, element_shape: Any) -> None:
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        self._element_shape = [as_shape(element_shape)]  # shared by all that share the handle

    @property
    def flow(self) -> Tensor:
        """What orders this array's operations."""
        return self._flow

    @property
    def dtype(self) -> dtypes.DType:
        """The elements' type."""
        return self._dtype

    @property
    def handle(self) -> Tensor:
        """The tensor that stands for the array in the graph."""
        return self._handle

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the shape of the elements."""
        return self._element_shape[0]

    @property
    def dynamic_size(self) -> bool:
        """Whether writing behind the end makes the array longer."""
        return self._dynamic_size

    def identity(self) -> TensorArray:
        """The same array, after everything that this one's flow waits for."""
        return self._with_flow(constants.identity(self._flow))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """The array of the gradients of this one's elements.

        Args:
          source: The name of the `tf.gradients` call that computes them; each has arrays of its own.
          flow: What the gradients wait for; the flow of this array unless given.
          name: A name for the operation.

        Returns:
          A TensorArray, made by the first call for that source.
        """
        flow = self._flow if flow is None else flow
        with name_scope(name, "TensorArrayGrad", [self._handle]):
            with colocate_with(self._handle):
                handle, _ = tensor_array_ops.gradient_op(self._handle, flow, source=source, name=name)
                with control_dependencies([handle]):
                    flow = constants.identity(flow, name="gradient_flow")
                array = TensorArray(
                    self._dtype,
                    handle=handle,
                    flow=flow,
                    infer_shape=self._infer_shape,
                    colocate_with_first_write_call=False,
                )
                array._element_shape = self._element_shape
                return array

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """One element.

        Args:
          index: A scalar int32.
          name: A name for the operation.

        Returns:
          A tensor.
        """
        value = tensor_array_ops.read_op(self._handle, index, self._flow, dtype=self._dtype, name=name)
        value.set_shape(self.element_shape)
        return value

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """Writes one element.

        Args:
          index: A scalar int32, at which nothing has been written.
          value: A tensor of the array's type.
          name: A name for the operation.

        Returns:
          The array with that element.
        """
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = self._converted(value)
            self._learn_shape(value.shape)
            with self._beside(value):
                flow = tensor_array_ops.write_op(self._handle, index, value, self._flow, name=name)
        return self._with_flow(flow)

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one tensor.

        Args:
          name: A name for the operation.

        Returns:
          A tensor of the elements along a new first axis.
        """
        with colocate_with(self._handle), name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(creation.range(0, self.size()), name=name)

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Some elements as one tensor.

        Args:
          indices: A vector of int32.
          name: A name for the operation.

        Returns:
          A tensor of the elements along a new first axis.
        """
        value = tensor_array_ops.gather_op(
            self._handle,
            indices,
            self._flow,
            dtype=self._dtype,
            element_shape=self.element_shape,
            name=name,
        )
        if self.element_shape.ndims is not None:
            # TensorFlow knows how many only of the arrays of traced functions, which are lists.
            in_function = get_default_graph().functional_control_flow
            count = value.op.inputs[1].shape.num_elements() if in_function else None
            value.set_shape([count, *self.element_shape.as_list()])
        return value

    def concat(self, name: str | None = None) -> Tensor:
        """All elements joined to one tensor.

        Args:
          name: A name for the operation.

        Returns:
          A tensor of the elements one after the other along their first axis, in which they may differ.
        """
        rest = TensorShape(None) if self.element_shape.ndims is None else self.element_shape[1:]
        value, _ = tensor_array_ops.concat_op(
            self._handle, self._flow, dtype=self._dtype, element_shape_except0=rest, name=name
        )
        if rest.ndims is not None:
            value.set_shape([None, *rest.as_list()])
        return value

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """Writes all elements.

        Args:
          value: A tensor whose rows along the first axis become the elements.
          name: A name for the operation.

        Returns:
          The array with these elements.
        """
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = shapes.shape(value)[0]
            return self.scatter(creation.range(0, count), value, name=name)

    def scatter(self, indices: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """Writes some elements.

        Args:
          indices: A vector of int32.
          value: A tensor with a row for each index.
          name: A name for the operation.

        Returns:
          The array with these elements.
        """
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = self._converted(value)
            self._learn_shape(value.shape[1:] if value.shape.ndims is not None else TensorShape(None))
            with self._beside(value):
                flow = tensor_array_ops.scatter_op(self._handle, indices, value, self._flow, name=name)
        return self._with_flow(flow)

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """Writes all elements, which may differ in length.

        Args:
          value: A tensor whose consecutive pieces along the first axis become the elements.
          lengths: A vector of integers: how long each piece is.
          name: A name for the operation.

        Returns:
          The array with these elements.
        """
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = self._converted(value)
            with self._beside(value):
                lengths = casting.cast(lengths, dtypes.int64)
                known = constant_value(lengths)
                if (
                    value.shape.ndims is not None
                    and known is not None
                    and known.ndim == 1
                    and len(set(known.tolist())) == 1
                ):
                    self._learn_shape(TensorShape([int(known[0]), *value.shape.as_list()[1:]]))
                flow = tensor_array_ops.split_op(self._handle, value, lengths, self._flow, name=name)
        return self._with_flow(flow)

    def size(self, name: str | None = None) -> Tensor:
        """How many elements the array has.

        Args:
          name: A name for the operation.

        Returns:
          A scalar int32.
        """
        return tensor_array_ops.size_op(self._handle, self._flow, name=name)

    def close(self, name: str | None = None) -> Operation:
        """Lets the elements go before the step ends.

        Args:
          name: A name for the operation.

        Returns:
          The operation.
        """
        return tensor_array_ops.close_op(self._handle, name=name)

    def mark_used(self) -> None:
        """Says that the program needs no result of this array. Nothing here warns of unused ones."""

    # ------------------------------------------------------------------ as a value made of tensors

    def _components(self) -> list[Tensor]:
        return [self._flow]

    def _from_components(self, tensors: list[Tensor]) -> TensorArray:
        return self._with_flow(tensors[0])

    def _component_invariants(self, shape: TensorShape | None) -> list[TensorShape]:
        return [TensorShape([])]

    def _with_flow(self, flow: Tensor) -> TensorArray:
        array = object.__new__(TensorArray)
        array.__dict__.update(self.__dict__)
        array._flow = flow
        return array

    def _converted(self, value: Any) -> Tensor:
        value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        if value.dtype.base_dtype is not self._dtype:
            logging.getLogger("tensorflow").error(
                "Error: Input value %s has dtype %s, but expected dtype %s. The step will refuse it.",
                value,
                value.dtype.name,
                self._dtype.name,
            )
        return value

    def _learn_shape(self, shape: TensorShape) -> None:
        if not self._infer_shape:
            return
        if not self.element_shape.is_compatible_with(shape):
            raise ValueError(
                f"Inconsistent shapes: saw {shape} but expected {self.element_shape} (and infer_shape=True)"
            )
        self._element_shape[0] = self.element_shape.merge_with(shape)

    def _beside(self, value: Tensor) -> Any:
        """The array lives where its first value does."""
        if self._first_write is None:
            return contextlib.nullcontext()
        if self._first_write[0] is None:
            self._first_write[0] = value.op
        return colocate_with(self._first_write[0])


TensorArray.__signature__ = inspect.signature(  # type: ignore[attr-defined]
    functools.partial(TensorArray.__init__, None)  # type: ignore[arg-type]
)


def check_arguments(
    handle: Any, tensor_array_name: Any, size: Any, dynamic_size: Any, element_shape: Any, infer_shape: bool
) -> None:
    if handle is not None and tensor_array_name:
        raise ValueError("Cannot construct with both handle and tensor_array_name")
    if handle is not None and not isinstance(handle, Tensor):
        raise TypeError("Handle must be a Tensor")
    if handle is None and size is None:
        raise ValueError("Size must be provided if handle is not provided")
    if handle is not None and size is not None:
        raise ValueError("Cannot provide both a handle and size at the same time")
    if handle is not None and element_shape is not None:
        raise ValueError("Cannot provide both a handle and element_shape at the same time")
    if handle is not None and dynamic_size is not None:
        raise ValueError("Cannot provide both a handle and dynamic_size at the same time")
