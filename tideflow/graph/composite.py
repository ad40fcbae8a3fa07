"""Values made of several tensors: IndexedSlices (sparse rows) and SparseTensor (sparse elements)."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.graph import Graph
from tideflow.graph.known_sizes import known_sizes
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import partial_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, dimension_at_index

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, FeedDict, SessionLike, TensorLike

IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
SparseTensorValue.__doc__ = """The value of a SparseTensor, as steps take and give it.

Args:
  indices: An int64 matrix with the index of an element in each row.
  values: A vector of the elements.
  dense_shape: The shape, an int64 vector.
"""
export("SparseTensorValue", "compat.v1.SparseTensorValue")(SparseTensorValue)


@export("IndexedSlices")
class IndexedSlices:
    """Some rows of a larger tensor: `dense[indices[i]]` is the sum of the `values[i]`, other rows are zero.

    The gradient of `tf.gather` is one: it names the rows that were read instead of filling a dense tensor.

    Args:
      values: The rows.
      indices: For each row, its index along the first axis of the dense tensor.
      dense_shape: The shape of the dense tensor, as a tensor; None where it is not needed.
    """

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Tensor:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """The index of each row along the first axis of the dense tensor."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the dense tensor, as a tensor, or None."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The static shape of the dense tensor."""
        if self._dense_shape is None:
            return TensorShape(None)
        return _as_shape(partial_value(self._dense_shape))

    @property
    def name(self) -> str:
        """The name of `values`."""
        return self.values.name

    @property
    def device(self) -> str:
        """The device of `values`."""
        return self.values.device

    @property
    def op(self) -> Operation:
        """The operation that computes `values`."""
        return self.values.op

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the elements."""
        return self.values.dtype

    @property
    def graph(self) -> Graph:
        """The graph that contains the tensors."""
        return self.values.graph

    def consumers(self) -> list[Operation]:
        """The operations that have `values` as an input."""
        return self.values.consumers()

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)


@export("SparseTensor", "sparse.SparseTensor")
class SparseTensor:
    """A sparse tensor: `values[i]` is the element at `indices[i]`, all other elements are zero.

    Args:
      indices: An int64 matrix: for each value, its position along every axis. Most operations require the
        positions in row-major order and without repetitions.
      values: A vector of the values.
      dense_shape: An int64 vector of the sizes of the tensor.

    Raises:
      ValueError: If the static shapes of the arguments contradict each other.
    """

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike) -> None:
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        self._indices.shape.with_rank(2)
        self._values.shape.with_rank(1)
        self._dense_shape.shape.with_rank(1)
        dimension_at_index(self._indices.shape, 0).merge_with(self._values.shape[0])
        dimension_at_index(self._indices.shape, 1).merge_with(self._dense_shape.shape[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: SparseTensor | SparseTensorValue) -> SparseTensor:
        """Makes a sparse tensor of the parts of another one, or of its value.

        Args:
          sparse_tensor_value: A SparseTensor or a SparseTensorValue.

        Returns:
          The sparse tensor.

        Raises:
          TypeError: If the argument is neither.
        """
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def indices(self) -> Tensor:
        """The positions of the values: an int64 matrix with a row for each value."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The values that are not zero, as a vector."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The sizes of the tensor, as an int64 vector."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        # No more of it than TensorFlow knows: the graphs that functions build depend on it.
        return _as_shape(known_sizes(self._dense_shape))

    def get_shape(self) -> TensorShape:
        """The static shape, as `shape` has it."""
        return self.shape

    @property
    def op(self) -> Operation:
        """The operation that computes `values`."""
        return self.values.op

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the elements."""
        return self.values.dtype

    @property
    def graph(self) -> Graph:
        """The graph that contains the tensors."""
        return self._indices.graph

    def consumers(self) -> list[Operation]:
        """The operations that have a part of this tensor as an input."""
        return list(
            dict.fromkeys(
                op for part in (self.indices, self.values, self.dense_shape) for op in part.consumers()
            )
        )

    def __str__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})"
        )

    __repr__ = __str__

    def eval(
        self, feed_dict: FeedDict | None = None, session: SessionLike | None = None
    ) -> SparseTensorValue:
        """Computes the tensor's value.

        Args:
          feed_dict: Values to use in place of tensors, as in `Session.run`.
          session: The session to run in; the default session if None.

        Returns:
          A SparseTensorValue of NumPy arrays.

        Raises:
          ValueError: If there is no session, or it runs another graph.
        """
        parts = [self.indices, self.values, self.dense_shape]
        return SparseTensorValue(*self.graph._session_for("eval", "tensor", session).run(parts, feed_dict))

    @staticmethod
    def _override_operator(operator: str, function: Callable[..., Any]) -> None:
        setattr(SparseTensor, operator, function)

    if TYPE_CHECKING:  # the operators that `ops/` sets

        def __mul__(self, other: TensorLike) -> SparseTensor: ...
        def __truediv__(self, other: TensorLike) -> SparseTensor: ...


@export("convert_to_tensor_or_sparse_tensor")
def convert_to_tensor_or_sparse_tensor(
    value: TensorLike | SparseTensor | SparseTensorValue,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor | SparseTensor:
    """Converts a value to a sparse tensor if it is sparse, else to a tensor.

    Args:
      value: A SparseTensor, a SparseTensorValue, or a value that `tf.convert_to_tensor` accepts.
      dtype: The type that the result must have, or None.
      name: The name of the constant, if one is made.

    Returns:
      A SparseTensor or a Tensor.

    Raises:
      RuntimeError: If a sparse value has another type than `dtype`.
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise RuntimeError(
                f"Sparse dtype: requested = {dtypes.as_dtype(dtype).name}, actual = {value.dtype.name}"
            )
        return value
    return convert_to_tensor(value, dtype, name)


@export("convert_to_tensor_or_indexed_slices")
def convert_to_tensor_or_indexed_slices(
    value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor | IndexedSlices:
    """Converts a value to a tensor, unless it is IndexedSlices or a SparseTensor.

    Args:
      value: IndexedSlices, a SparseTensor, or a value that `tf.convert_to_tensor` accepts.
      dtype: The type that the result must have, or None.
      name: The name of the constant, if one is made.

    Returns:
      `value` itself if it is IndexedSlices or a SparseTensor, else a Tensor.

    Raises:
      ValueError: If the slices have another type than `dtype`.
    """
    if isinstance(value, IndexedSlices):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with dtype "
                f"{value.dtype.name}"
            )
        return value
    if isinstance(value, SparseTensor) and dtype in (None, value.dtype):
        return value  # type: ignore[return-value]  # passed on, as TensorFlow does without saying so
    return convert_to_tensor(value, dtype, name)


def _as_shape(sizes: list[int | None] | None) -> TensorShape:
    return TensorShape(sizes if sizes is None else [None if s is None or s < 0 else int(s) for s in sizes])


# ------------------------------------------------------------------------------------------------ components


def components(value: Any) -> list[Tensor]:
    """The tensors that a composite value is made of; a plain tensor is its own component."""
    if isinstance(value, IndexedSlices):
        parts = [value.values, value.indices]
        return parts if value.dense_shape is None else [*parts, value.dense_shape]
    if isinstance(value, SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    tensors: list[Tensor] = value._components() if hasattr(value, "_components") else [value]
    return tensors


def from_components(like: Any, tensors: list[Any]) -> Any:
    """A value of the type of `like`, made of these tensors."""
    if isinstance(like, IndexedSlices):
        return IndexedSlices(*tensors)
    if isinstance(like, SparseTensor):
        return SparseTensor(*tensors)
    return like._from_components(tensors) if hasattr(like, "_components") else tensors[0]


def is_composite(value: Any) -> bool:
    """Whether a value is made of several tensors."""
    return isinstance(value, (IndexedSlices, SparseTensor)) or hasattr(value, "_components")
