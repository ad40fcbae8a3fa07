"""Sparse tensors as values of dense ones: serialized, and kept between ops under handles.

A sparse tensor is a row of three cells: its indices, its values and its shape. In a string tensor a cell is
a serialized TensorProto, in a variant tensor it is the part itself. Rows go where dense tensors go: into
queues and batches. Many rows together are one sparse tensor of a higher rank.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import colocate_with
from tideflow.graph.shapes import TensorShape
from tideflow.graph.tensor_proto import make_ndarray
from tideflow.ops.helpers.axes import brackets, of_rank, of_rank_at_least
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import types
from tideflow.ops.sparse.index_rows import as_sparse, check_order, check_parts, joined, rows_at
from tideflow.runtime.resources import ResourceManager, owned
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_SPARSE = "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
_CELLS = attr("type", dtypes.string, allowed=types("string variant"))
_PLAIN = dict(on_host=True, differentiable=False)


class Parts(NamedTuple):
    """A sparse tensor as a step has it."""

    indices: torch.Tensor
    values: Any
    sizes: list[int]


def rows_of(sparse: Parts) -> list[Parts]:
    """The sparse tensors that stand along the first axis."""
    check_parts(*sparse)
    if len(sparse.sizes) < 2:
        raise ShapeError(f"Rank of input SparseTensor should be > 1, but saw rank: {len(sparse.sizes)}")
    check_order(sparse.indices, sparse.sizes)
    numbers = torch.arange(sparse.sizes[0] + 1)
    ends = torch.searchsorted(sparse.indices[:, 0].contiguous(), numbers).tolist()
    return [
        Parts(sparse.indices[start:end, 1:], sparse.values[start:end], sparse.sizes[1:])
        for start, end in itertools.pairwise(ends)
    ]


def together(rows: Sequence[Parts], groups: Sequence[int]) -> tuple[torch.Tensor, Any, torch.Tensor]:
    """One sparse tensor of many: its first axes, of sizes `groups`, number them; the rest fit the largest."""
    rank = len(rows[0].sizes)
    for i, row in enumerate(rows):
        check_parts(*row)
        if len(row.sizes) != rank:
            raise ShapeError(
                f"Inconsistent shape across SparseTensors: rank prior to SparseTensor[{i}] was: {rank} but "
                f"rank of SparseTensor[{i}] is: {len(row.sizes)}"
            )
    counts = torch.tensor([len(row.indices) for row in rows])
    numbers = rows_at(torch.repeat_interleave(torch.arange(len(rows)), counts), groups)
    indices = torch.cat([numbers, torch.cat([row.indices for row in rows])], 1)
    largest = [max(sizes) for sizes in zip(*(row.sizes for row in rows), strict=True)]
    return indices, joined([row.values for row in rows]), torch.tensor([*groups, *largest], dtype=torch.int64)


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; a set top bit says that more follow."""
    digits = []
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def _message(array: np.ndarray, dtype: dtypes.DType) -> bytes:
    """A serialized TensorProto with all the elements in its `tensor_content`."""
    proto = TensorProto(dtype=dtype.as_datatype_enum)
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    if dtype is dtypes.string:
        lengths = b"".join(_varint(len(text)) for text in array)
        proto.tensor_content = lengths + b"".join(array)
    else:
        proto.tensor_content = array.tobytes()
    return proto.SerializeToString()


def _cells(rows: Sequence[Parts], dtype: dtypes.DType, cell_type: dtypes.DType) -> list[Any]:
    """The cells of sparse tensors of one shape, row by row."""
    if not rows:
        return []
    sizes = torch.tensor(rows[0].sizes, dtype=torch.int64)
    if cell_type is dtypes.variant:
        return [cell for row in rows for cell in (owned(row.indices), owned(row.values), sizes)]
    shape = _message(to_numpy(sizes), dtypes.int64)
    cells = []
    for row in rows:
        cells += [_message(to_numpy(row.indices), dtypes.int64), _message(to_numpy(row.values), dtype), shape]
    return cells


def _filled(cells: Sequence[Any], shape: Sequence[int]) -> np.ndarray:
    """Cells as an array of objects: NumPy itself would look into them."""
    array = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):
        array[i] = cell
    return array.reshape(shape)


def _check_ranks(indices: TensorShape, values: TensorShape, sizes: TensorShape) -> None:
    for name, kind, shape, rank in (
        ("indices", "matrix", indices, 2),
        ("values", "vector", values, 1),
        ("shape", "vector", sizes, 1),
    ):
        shown = brackets(shape.tuple or ())
        of_rank(shape, rank, f"Input {name} should be a {kind} but received shape {shown}")


_INDICES, _SIZES = np.array([[0, 1], [0, 2], [2, 0]]), np.array([3, 4])
_WORDS = np.array([b"a", b"", b"c" * 200], dtype=object)


def _is_message_of(message: bytes, array: np.ndarray) -> bool:
    """Whether a TensorProto holds this array: its type, its shape and, all at its end, its contents."""
    proto = TensorProto.FromString(message)
    contents = b"".join(array) if array.dtype == object else array.tobytes()
    return (
        dtypes.as_dtype(proto.dtype).as_numpy_dtype == array.dtype
        and [dim.size for dim in proto.tensor_shape.dim] == list(array.shape)
        and proto.tensor_content.endswith(contents)
    )


def _add_serialize_samples(op: Op, law: Callable) -> None:
    op.samples(
        (_INDICES, f32(3), _SIZES),
        (_INDICES, _WORDS, _SIZES),
        (_INDICES, f32(3), _SIZES, {"out_type": dtypes.variant}),
        (_INDICES[:0], f32(0), _SIZES),
        law=law,
    )


serialize_sparse_op = Op(
    "SerializeSparse", f"{_SPARSE} -> serialized_sparse: out_type", out_type=_CELLS, **_PLAIN
)


@serialize_sparse_op.shape
def _serialize_sparse_shape(sparse_indices, sparse_values, sparse_shape):
    _check_ranks(sparse_indices, sparse_values, sparse_shape)
    return [3]


@serialize_sparse_op.kernel
def _serialize_sparse_kernel(sparse_indices, sparse_values, sparse_shape, *, T, out_type):
    sparse = Parts(sparse_indices, sparse_values, sparse_shape.tolist())
    check_parts(*sparse)
    return _filled(_cells([sparse], T, out_type), [3])


def _serialize_sparse_law(indices, values, sizes, *outputs):
    """The three messages, if they are strings: variants cannot be fetched."""
    return [_is_message_of(*each) for cells in outputs for each in zip(cells, (indices, values, sizes))]


_add_serialize_samples(serialize_sparse_op, _serialize_sparse_law)


@export("io.serialize_sparse", "serialize_sparse")
def serialize_sparse(
    sp_input: SparseTensor, name: str | None = None, out_type: DTypeLike = dtypes.string
) -> Tensor:
    """Serializes a sparse tensor.

    Args:
      sp_input: A SparseTensor.
      name: A name for the operation.
      out_type: tf.string (the default) or tf.variant.

    Returns:
      A vector of three elements: indices, values and shape.

    Raises:
      TypeError: Where `sp_input` is not a SparseTensor.
    """
    sp_input = as_sparse(sp_input)
    return serialize_sparse_op(
        sp_input.indices, sp_input.values, sp_input.dense_shape, out_type=out_type, name=name
    )


serialize_many_sparse_op = Op(
    "SerializeManySparse", f"{_SPARSE} -> serialized_sparse: out_type", out_type=_CELLS, **_PLAIN
)


@serialize_many_sparse_op.shape
def _serialize_many_sparse_shape(sparse_indices, sparse_values, sparse_shape):
    _check_ranks(sparse_indices, sparse_values, sparse_shape)
    return [None, 3]


@serialize_many_sparse_op.kernel
def _serialize_many_sparse_kernel(sparse_indices, sparse_values, sparse_shape, *, T, out_type):
    rows = rows_of(Parts(sparse_indices, sparse_values, sparse_shape.tolist()))
    return _filled(_cells(rows, T, out_type), [len(rows), 3])


def _serialize_many_sparse_law(indices, values, sizes, *outputs):
    """Three messages for each row, if they are strings."""
    claims = []
    for row, cells in enumerate(outputs[0] if outputs else []):
        mine = indices[:, 0] == row
        claims += _serialize_sparse_law(indices[mine, 1:], values[mine], sizes[1:], cells)
    return claims


_add_serialize_samples(serialize_many_sparse_op, _serialize_many_sparse_law)
serialize_many_sparse_op.refuses(
    (_INDICES[:, :1], f32(3), _SIZES[:1]), "should be > 1, but saw rank: 1", InvalidArgumentError
)
serialize_many_sparse_op.refuses(
    (_INDICES[::-1], f32(3), _SIZES), "indices[1] = [0,2] is out of order", InvalidArgumentError
)


@export("io.serialize_many_sparse", "serialize_many_sparse")
def serialize_many_sparse(
    sp_input: SparseTensor, name: str | None = None, out_type: DTypeLike = dtypes.string
) -> Tensor:
    """Serializes each of the sparse tensors along the first axis.

    Args:
      sp_input: A SparseTensor of at least two dimensions, its elements in order.
      name: A name for the operation.
      out_type: tf.string (the default) or tf.variant.

    Returns:
      A matrix with a row of three elements for each: indices, values and shape.

    Raises:
      TypeError: Where `sp_input` is not a SparseTensor.
    """
    sp_input = as_sparse(sp_input)
    return serialize_many_sparse_op(
        sp_input.indices, sp_input.values, sp_input.dense_shape, out_type=out_type, name=name
    )


_RESULT = "sparse_indices: int64, sparse_values: dtype, sparse_shape: int64"


def _strings(proto: TensorProto) -> np.ndarray:
    """The strings of a `tensor_content`: first all lengths, then all texts."""
    content, sizes = proto.tensor_content, [dim.size for dim in proto.tensor_shape.dim]
    lengths, position = [], 0
    for _ in range(math.prod(sizes)):
        length = shift = 0
        while content[position] > 127:
            length |= (content[position] & 127) << shift
            shift, position = shift + 7, position + 1
        lengths.append(length | content[position] << shift)
        position += 1
    array = np.empty(len(lengths), dtype=object)
    for i, length in enumerate(lengths):
        array[i] = content[position : position + length]
        position += length
    return array.reshape(sizes)


def _read(message: bytes) -> Any:
    try:
        proto = TensorProto.FromString(message)
    except DecodeError:
        raise ShapeError("Could not parse serialized proto") from None
    try:
        if proto.dtype == dtypes.string.as_datatype_enum and proto.tensor_content:
            return _strings(proto)
        return to_torch(make_ndarray(proto))
    except (TypeError, ValueError, IndexError):
        raise ShapeError("Could not construct a tensor from the proto") from None


def _parts(cells: np.ndarray, position: int, dtype: dtypes.DType) -> Parts:
    """The sparse tensor in a row of cells."""
    found = [_read(cell) if isinstance(cell, bytes) else cell for cell in cells]
    words = ("indices", "values", "shape")
    for value, word, wanted in zip(found, words, (dtypes.int64, dtype, dtypes.int64), strict=True):
        got = value.dtype if isinstance(value, torch.Tensor) else None  # strings have no torch type
        if got is not wanted.torch:
            what = "string" if got is None else str(got).removeprefix("torch.")
            raise ShapeError(
                f"Requested SparseTensor of type {dtype.name} but SparseTensor[{position}].{word}.dtype() == "
                f"{what}"
            )
    indices, values, sizes = found
    return Parts(indices, values, sizes.tolist())


def _check_cells(serialized: TensorShape) -> None:
    last = of_rank_at_least(serialized, 1).tuple[-1] if serialized.tuple else None
    if last not in (None, 3):
        raise ShapeError(f"Dimension must be 3 but is {last}")


def _deserialized(serialized_sparse, *, dtype):
    sizes = serialized_sparse.shape
    if not sizes or sizes[-1] != 3:
        raise ShapeError(f"Serialized sparse should have 3 as the last dimension {brackets(sizes)}")
    if 0 in sizes:
        raise ShapeError(
            f"Serialized sparse should have at least 1 serialized tensor, but has a zero dimension "
            f"{brackets(sizes)}"
        )
    rows = [_parts(cells, i, dtype) for i, cells in enumerate(serialized_sparse.reshape(-1, 3))]
    return together(rows, sizes[:-1])


_EXAMPLE = Parts(torch.tensor([[0, 1], [2, 0]]), torch.tensor([1.0, 2.0]), [3, 4])
_ROW = _filled(_cells([_EXAMPLE], dtypes.float32, dtypes.string), [3])


def _deserialized_reference(serialized_sparse):
    """As often as the row of the example stands there: its elements, under new first indices."""
    groups = serialized_sparse.shape[:-1]
    indices = [(*group, *at) for group in np.ndindex(groups) for at in _EXAMPLE.indices.tolist()]
    values = np.tile(_EXAMPLE.values.numpy(), math.prod(groups))
    return np.array(indices), values, np.array([*groups, *_EXAMPLE.sizes])


def _add_deserialize_refusals(op: Op) -> None:
    op.refuses(
        (np.array([[b"a", b"b", b"c"]], dtype=object), {"dtype": dtypes.float32}),
        "Could not parse serialized proto",
        InvalidArgumentError,
    )
    op.refuses(
        (_ROW[None], {"dtype": dtypes.int32}),
        "Requested SparseTensor of type int32 but SparseTensor[0].values.dtype() == float32",
        InvalidArgumentError,
    )
    op.refuses((_ROW[None, :2], {"dtype": dtypes.float32}), "Dimension must be 3 but is 2")


def _of_rank(parts: Sequence[Tensor], rank: int | None) -> SparseTensor:
    indices, values, sizes = parts
    indices.set_shape([None, rank])
    sizes.set_shape([rank])
    return SparseTensor(indices, values, sizes)


deserialize_sparse_op = Op(
    "DeserializeSparse", f"serialized_sparse: Tserialized -> {_RESULT}", Tserialized=_CELLS, **_PLAIN
)


@deserialize_sparse_op.shape
def _deserialize_sparse_shape(serialized_sparse):
    _check_cells(serialized_sparse)
    return [[None, None], [None], [None]]


deserialize_sparse_op.kernel(_deserialized)
deserialize_sparse_op.samples(
    (_ROW, {"dtype": dtypes.float32}),
    (np.stack([_ROW, _ROW]), {"dtype": dtypes.float32}),
    (np.stack([_ROW] * 4).reshape(2, 2, 3), {"dtype": dtypes.float32}),
    against=_deserialized_reference,
)
_add_deserialize_refusals(deserialize_sparse_op)


def deserialize_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """The sparse tensor in three cells, or one of many, with new axes in front."""
    return _of_rank(deserialize_sparse_op(serialized_sparse, dtype=dtype, name=name), rank)


deserialize_many_sparse_op = Op("DeserializeManySparse", f"serialized_sparse: string -> {_RESULT}", **_PLAIN)


@deserialize_many_sparse_op.shape
def _deserialize_many_sparse_shape(serialized_sparse):
    _check_cells(of_rank(serialized_sparse, 2))
    return [[None, None], [None], [None]]


deserialize_many_sparse_op.kernel(_deserialized)
deserialize_many_sparse_op.samples(
    (np.stack([_ROW, _ROW]), {"dtype": dtypes.float32}), against=_deserialized_reference
)
_add_deserialize_refusals(deserialize_many_sparse_op)


@export("io.deserialize_many_sparse", "deserialize_many_sparse")
def deserialize_many_sparse(
    serialized_sparse: TensorLike, dtype: DTypeLike, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Makes one sparse tensor of many serialized ones, with a new first axis.

    Args:
      serialized_sparse: A string matrix with a row of three elements for each, as
        `tf.io.serialize_many_sparse` gives.
      dtype: The type of the values.
      rank: The rank of each of them, where it is known.
      name: A name for the operation.

    Returns:
      A SparseTensor, as large as the largest of them.

    Raises:
      InvalidArgumentError: In a step whose strings are not sparse tensors of this type.
    """
    return _of_rank(deserialize_many_sparse_op(serialized_sparse, dtype=dtype, name=name), rank)


_STORED = dict(on_host=True, differentiable=False, stateful=True, container="", shared_name="")


class TensorsMap:
    """Sparse tensors kept until they are taken."""

    def __init__(self, name: str):
        self._name = name
        self._lock = threading.Lock()
        self._count = itertools.count()
        self._kept: dict[int, Parts] = {}

    def add(self, rows: Sequence[Parts]) -> list[int]:
        """Keeps the rows; returns their handles."""
        rows = [Parts(owned(row.indices), owned(row.values), row.sizes) for row in rows]
        with self._lock:
            handles = [next(self._count) for _ in rows]
            self._kept.update(zip(handles, rows, strict=True))
        return handles

    def take(self, handles: Sequence[int]) -> list[Parts]:
        """The rows of these handles, which are then forgotten."""
        with self._lock:
            for handle in handles:
                if handle not in self._kept:
                    raise ShapeError(f"Unable to find SparseTensor: {handle} in map: {self._name}")
            return [self._kept.pop(handle) for handle in handles]


def _map_of(resources: ResourceManager, container: str, name: str) -> TensorsMap:
    return resources.get_or_create(container, "sparse tensors map", name, lambda: TensorsMap(name))


add_sparse_to_tensors_map_op = Op("AddSparseToTensorsMap", f"{_SPARSE} -> sparse_handle: int64", **_STORED)


@add_sparse_to_tensors_map_op.shape
def _add_sparse_to_tensors_map_shape(sparse_indices, sparse_values, sparse_shape):
    _check_ranks(sparse_indices, sparse_values, sparse_shape)
    return []


@add_sparse_to_tensors_map_op.kernel
def _add_sparse_to_tensors_map_kernel(
    sparse_indices, sparse_values, sparse_shape, *, container, shared_name, resources, node
):
    sparse = Parts(sparse_indices, sparse_values, sparse_shape.tolist())
    check_parts(*sparse)
    handles = _map_of(resources, container, shared_name or node.name).add([sparse])
    return torch.tensor(handles[0], dtype=torch.int64)


add_sparse_to_tensors_map_op.samples(
    (_INDICES, f32(3), _SIZES), (_INDICES, _WORDS, _SIZES), against=lambda *parts: 0
)


def add_sparse_to_tensors_map(
    sp_input: Any, container: str | None = None, shared_name: str | None = None, name: str | None = None
) -> Tensor:
    """Keeps a sparse tensor in a map; returns its handle."""
    sp_input = as_sparse(sp_input)
    return add_sparse_to_tensors_map_op(
        sp_input.indices,
        sp_input.values,
        sp_input.dense_shape,
        container=container,
        shared_name=shared_name,
        name=name,
    )


add_many_sparse_to_tensors_map_op = Op(
    "AddManySparseToTensorsMap", f"{_SPARSE} -> sparse_handles: int64", **_STORED
)


@add_many_sparse_to_tensors_map_op.shape
def _add_many_sparse_to_tensors_map_shape(sparse_indices, sparse_values, sparse_shape):
    _check_ranks(sparse_indices, sparse_values, sparse_shape)
    return [None]


@add_many_sparse_to_tensors_map_op.kernel
def _add_many_sparse_to_tensors_map_kernel(
    sparse_indices, sparse_values, sparse_shape, *, container, shared_name, resources, node
):
    rows = rows_of(Parts(sparse_indices, sparse_values, sparse_shape.tolist()))
    handles = _map_of(resources, container, shared_name or node.name).add(rows)
    return torch.tensor(handles, dtype=torch.int64)


add_many_sparse_to_tensors_map_op.samples(
    (_INDICES, f32(3), _SIZES),
    (_INDICES, _WORDS, _SIZES),
    against=lambda indices, values, sizes: np.arange(sizes[0]),
)


def add_many_sparse_to_tensors_map(
    sp_input: Any, container: str | None = None, shared_name: str | None = None, name: str | None = None
) -> Tensor:
    """Keeps the sparse tensors along the first axis in a map; returns their handles."""
    sp_input = as_sparse(sp_input)
    return add_many_sparse_to_tensors_map_op(
        sp_input.indices,
        sp_input.values,
        sp_input.dense_shape,
        container=container,
        shared_name=shared_name,
        name=name,
    )


take_many_sparse_from_tensors_map_op = Op(
    "TakeManySparseFromTensorsMap", f"sparse_handles: int64 -> {_RESULT}", **_STORED
)


@take_many_sparse_from_tensors_map_op.shape
def _take_many_sparse_from_tensors_map_shape(sparse_handles):
    of_rank(sparse_handles, 1)
    return [[None, None], [None], [None]]


@take_many_sparse_from_tensors_map_op.kernel
def _take_many_sparse_from_tensors_map_kernel(
    sparse_handles, *, dtype, container, shared_name, resources, node
):
    handles = sparse_handles.tolist()
    if not handles:
        raise ShapeError("Must have at least 1 handle of a SparseTensor")
    rows = _map_of(resources, container, shared_name or node.name).take(handles)
    return together(rows, [len(rows)])


take_many_sparse_from_tensors_map_op.samples(covered_by="tests/ops/sparse/test_construction.py")
take_many_sparse_from_tensors_map_op.refuses(
    (np.array([5]), {"dtype": dtypes.float32, "shared_name": "kept"}),
    "Unable to find SparseTensor: 5 in map: kept",
    InvalidArgumentError,
)


def take_many_sparse_from_tensors_map(
    sparse_map_op: Operation, sparse_handles: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """One sparse tensor of those that an op of the two above kept under these handles; they are forgotten."""
    if not isinstance(sparse_map_op, Operation):
        raise TypeError("sparse_map_op be an Operation")
    allowed = add_sparse_to_tensors_map_op.name, add_many_sparse_to_tensors_map_op.name
    if sparse_map_op.type not in allowed:
        raise TypeError(
            f"sparse_map_op must be one of {' or '.join(allowed)}. Instead, found `{sparse_map_op.type}`."
        )
    with colocate_with(sparse_map_op):
        parts = take_many_sparse_from_tensors_map_op(
            sparse_handles,
            dtype=sparse_map_op.get_attr("T"),
            container=sparse_map_op.get_attr("container"),
            shared_name=sparse_map_op.get_attr("shared_name") or sparse_map_op.name,
            name=name,
        )
    return _of_rank(parts, rank)
