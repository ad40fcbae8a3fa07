"""Values made of several tensors: IndexedSlices (sparse rows) and SparseTensor (sparse elements)."""

from __future__ import annotations

import collections
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.graph import Graph
from tideflow.graph.known_sizes import known_sizes
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import partial_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape

IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
export("SparseTensorValue", "compat.v1.SparseTensorValue")(SparseTensorValue)


@export("IndexedSlices")
class IndexedSlices:
    """Rows `values` at `indices` of a larger tensor of shape `dense_shape`: the gradient of a gather."""

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        if self._dense_shape is None:
            return TensorShape(None)
        return _as_shape(partial_value(self._dense_shape))

    @property
    def name(self) -> str:
        return self.values.name

    @property
    def device(self) -> str:
        return self.values.device

    @property
    def op(self) -> Operation:
        return self.values.op

    @property
    def dtype(self) -> dtypes.DType:
        return self.values.dtype

    @property
    def graph(self) -> Graph:
        return self.values.graph

    def consumers(self) -> list[Operation]:
        return self.values.consumers()

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)


@export("SparseTensor", "sparse.SparseTensor")
class SparseTensor:
    """A sparse tensor: `values[i]` stands at `indices[i]` of a tensor of shape `dense_shape`."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any):
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        self._indices.shape.with_rank(2)
        self._values.shape.with_rank(1)
        self._dense_shape.shape.with_rank(1)
        self._indices.shape[0].merge_with(self._values.shape[0])
        self._indices.shape[1].merge_with(self._dense_shape.shape[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The dense shape as far as TensorFlow tells it before the step: what is built depends on it."""
        return _as_shape(known_sizes(self._dense_shape))

    def get_shape(self) -> TensorShape:
        return self.shape

    @property
    def op(self) -> Operation:
        return self.values.op

    @property
    def dtype(self) -> dtypes.DType:
        return self.values.dtype

    @property
    def graph(self) -> Graph:
        return self._indices.graph

    def consumers(self) -> list[Operation]:
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

    def eval(self, feed_dict: dict | None = None, session: Any = None) -> Any:
        """The value as a SparseTensorValue."""
        parts = [self.indices, self.values, self.dense_shape]
        return SparseTensorValue(*self.graph._session_for("eval", "tensor", session).run(parts, feed_dict))

    @staticmethod
    def _override_operator(operator: str, function: Any) -> None:
        setattr(SparseTensor, operator, function)


@export("convert_to_tensor_or_sparse_tensor")
def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A SparseTensor as it is (or from its value), anything else as a tensor."""
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
def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """IndexedSlices as they are, anything else as a tensor."""
    if isinstance(value, IndexedSlices):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with dtype "
                f"{value.dtype.name}"
            )
        return value
    return convert_to_tensor(value, dtype, name)


def _as_shape(sizes: list | None) -> TensorShape:
    return TensorShape(sizes if sizes is None else [None if s is None or s < 0 else int(s) for s in sizes])


# ------------------------------------------------------------------------------------------------ taken apart
# and put together


def components(value: Any) -> list[Tensor]:
    """The tensors a value is made of; of a plain tensor, itself."""
    if isinstance(value, IndexedSlices):
        parts = [value.values, value.indices]
        return parts if value.dense_shape is None else [*parts, value.dense_shape]
    if isinstance(value, SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return value._components() if hasattr(value, "_components") else [value]


def from_components(like: Any, tensors: list[Any]) -> Any:
    """A value of the kind of `like`, made of these tensors."""
    if isinstance(like, IndexedSlices):
        return IndexedSlices(*tensors)
    if isinstance(like, SparseTensor):
        return SparseTensor(*tensors)
    return like._from_components(tensors) if hasattr(like, "_components") else tensors[0]


def is_composite(value: Any) -> bool:
    return isinstance(value, (IndexedSlices, SparseTensor)) or hasattr(value, "_components")
