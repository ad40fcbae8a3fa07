"""Batches whose elements are padded to one size: what is asked for, checked against what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.data import structure
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value, partial_value
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.graph.type_spec import SparseTensorSpec, TensorSpec
from tideflow.ops.datasets import datasets

if TYPE_CHECKING:
    from tideflow.data.dataset import Dataset


def known_size(size: Tensor, drop_remainder: Tensor) -> int | None:
    """The size of every batch, where the last is no exception."""
    drops, known = constant_value(drop_remainder), constant_value(size)
    return int(known) if drops is not None and drops and known is not None else None


def padded_batch(
    dataset: Dataset, batch_size: Any, padded_shapes: Any, padding_values: Any, drop_remainder: Any
) -> tuple[Tensor, Any]:
    """The variant tensor and the spec of padded batches."""
    spec = dataset.element_spec
    if any(isinstance(part, SparseTensorSpec) for part in structure.flatten(spec)):
        raise TypeError("Batching of padded sparse tensors is not currently supported")
    size = convert_to_tensor(batch_size, dtype=dtypes.int64, name="batch_size")
    parts = structure.flatten(spec)
    pairs = zip(structure.up_to(spec, padded_shapes), parts, strict=True)
    sizes = [_shape_tensor(wanted, part.shape) for wanted, part in pairs]
    if padding_values is None:
        values = [_blank(part.dtype) for part in parts]
    else:
        values = structure.up_to(spec, padding_values)
    blanks = [_padding(value, part.dtype) for value, part in zip(values, parts, strict=True)]
    drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
    rows = TensorShape([known_size(size, drop)])
    made = structure.pack(
        spec,
        [TensorSpec(rows.concatenate(_known(s)), p.dtype) for s, p in zip(sizes, parts, strict=True)],
    )
    shapes = structure.flat_attributes(made)["output_shapes"]
    op = datasets.padded_batch_dataset_v2_op
    return op(dataset._variant_tensor, size, sizes, blanks, drop, output_shapes=shapes), made


def _known(sizes: Tensor) -> TensorShape:
    value = partial_value(sizes)
    if value is None:
        return TensorShape([None] * sizes.shape.as_list()[0] if sizes.shape.is_fully_defined() else None)
    return TensorShape([None if size is None or size < 0 else size for size in value])


def _shape_tensor(wanted: Any, found: TensorShape) -> Tensor:
    """A padded shape as a tensor, with -1 for whatever is the largest."""
    try:
        shape = as_shape(wanted)
        sizes = convert_to_tensor(
            np.array([-1 if size is None else size for size in shape.as_list()], np.int64), dtypes.int64
        )
    except (TypeError, ValueError):
        sizes = convert_to_tensor(wanted, preferred_dtype=dtypes.int64)
        if sizes.shape.ndims not in (None, 1):
            raise ValueError(
                f"Padded shape {wanted} must be a 1-D tensor of tf.int64 values, but its shape was "
                f"{sizes.shape}."
            ) from None
        if sizes.dtype is not dtypes.int64:
            raise TypeError(
                f"Padded shape {wanted} must be a 1-D tensor of tf.int64 values, but its element type was "
                f"{sizes.dtype.name}."
            ) from None
        shape = _known(sizes)
    if not _fits(shape.tuple, found.tuple):
        raise ValueError(
            f"The padded shape {shape} is not compatible with the corresponding input component shape "
            f"{found}."
        )
    return sizes


def _fits(padded: tuple | None, found: tuple | None) -> bool:
    if padded is None or found is None:
        return True
    if len(padded) != len(found):
        return False
    return all(p is None or f is None or p >= f for p, f in zip(padded, found, strict=True))


def _blank(dtype: dtypes.DType) -> Any:
    if dtype is dtypes.string:
        return ""
    if dtype is dtypes.variant:
        raise TypeError("Unable to create padding for field of type 'variant'")
    return np.zeros((), dtype.as_numpy_dtype)


def _padding(value: Any, dtype: dtypes.DType) -> Tensor:
    tensor = convert_to_tensor(value, name="padding_value")
    if not tensor.shape.is_compatible_with(TensorShape([])):
        raise ValueError(f"Padding value should be a scalar, but is not: {value}")
    if tensor.dtype is not dtype:
        raise TypeError(f"Padding value tensor ({tensor}) does not match output type: {dtype}")
    return tensor
