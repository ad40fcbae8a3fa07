"""What programs say of the features they want parsed: keys, types, shapes and defaults."""

from __future__ import annotations

import collections
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import constants, shapes


@export("io.VarLenFeature", "VarLenFeature")
class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """A feature with any number of values, parsed to a SparseTensor.

    Args:
      dtype: The values' type: float32, int64 or string.
    """

    __slots__ = ()


@export("io.SparseFeature", "SparseFeature")
class SparseFeature(
    collections.namedtuple(
        "SparseFeature",
        ["index_key", "value_key", "dtype", "size", "already_sorted"],
        defaults=[False],
    )
):
    """A SparseTensor of which the indices and the values are features of their own.

    Args:
      index_key: The key of the int64 feature that holds the indices, or a list of keys, one for each axis.
      value_key: The key of the feature that holds the values.
      dtype: The values' type: float32, int64 or string.
      size: The size of the axis, or a list of sizes.
      already_sorted: Whether the indices are in order, so that they need not be sorted.
    """

    __slots__ = ()


@export("io.FixedLenFeature", "FixedLenFeature")
class FixedLenFeature(
    collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"], defaults=[None])
):
    """A feature with as many values in every example, parsed to a tensor.

    Args:
      shape: The shape of the values of one example, all of it known.
      dtype: The values' type: float32, int64 or string.
      default_value: What an example gets that lacks the feature. Without one, such an example is refused.
    """

    __slots__ = ()


@export("io.FixedLenSequenceFeature", "FixedLenSequenceFeature")
class FixedLenSequenceFeature(
    collections.namedtuple(
        "FixedLenSequenceFeature",
        ["shape", "dtype", "allow_missing", "default_value"],
        defaults=[False, None],
    )
):
    """A feature with any number of rows, parsed to a tensor that is filled up to the longest of a batch.

    Args:
      shape: The shape of one row.
      dtype: The values' type: float32, int64 or string.
      allow_missing: Whether an example may lack the feature; it must be true for Example messages.
      default_value: What rows that are missing are filled up with; 0 or "" unless given.
    """

    __slots__ = ()


class Split:
    """The features that a program asks for, sparse ones and dense ones apart, each in order of their keys."""

    def __init__(self, features: Mapping[str, Any] | None, allowed: tuple[type, ...]):
        self.sparse: dict[str, DType] = {}
        self.dense: dict[str, DType] = {}
        self.shapes: list[Any] = []
        self.defaults: dict[str, Any] = {}
        for key, feature in sorted((features or {}).items()):
            if not isinstance(feature, tuple(_ADD)):
                raise ValueError(f"Invalid feature {key}:{feature}.")
            if not isinstance(feature, allowed):
                raise ValueError(f"Unsupported {type(feature).__name__} {feature}.")
            if isinstance(feature, SparseFeature):
                _check_named(feature)
            if not feature.dtype:
                raise ValueError(f"Missing type for feature {key}.")
            _ADD[type(feature)](self, key, feature)

    def _add_sparse(self, key: str, feature: VarLenFeature) -> None:
        self.sparse[key] = dtypes.as_dtype(feature.dtype)

    def _add_parts(self, key: str, feature: SparseFeature) -> None:
        for index_key in sorted(index_keys(feature)):
            self._add_part(index_key, dtypes.int64)
        self._add_part(feature.value_key, dtypes.as_dtype(feature.dtype))

    def _add_part(self, key: str, dtype: DType) -> None:
        found = self.sparse.setdefault(key, dtype)
        if found != dtype:
            raise ValueError(f"Conflicting type {found} vs {dtype} for feature {key}.")

    def _add_fixed(self, key: str, feature: FixedLenFeature) -> None:
        self._check_shape(key, feature)
        shape = as_shape(feature.shape)
        if shape.ndims and shape.tuple[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature."
            )
        if not shape.is_fully_defined():
            raise ValueError(
                f"All dimensions of shape for feature {key} need to be known but received {feature.shape}."
            )
        self._add_dense(key, feature)

    def _add_rows(self, key: str, feature: FixedLenSequenceFeature) -> None:
        self._check_shape(key, feature)
        self._add_dense(key, feature)
        if feature.allow_missing:
            self.defaults.setdefault(key, None)

    @staticmethod
    def _check_shape(key: str, feature: Any) -> None:
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")

    def _add_dense(self, key: str, feature: Any) -> None:
        self.dense[key] = dtypes.as_dtype(feature.dtype)
        self.shapes.append(as_shape(feature.shape))
        if feature.default_value is not None:
            self.defaults[key] = feature.default_value

    def default_tensors(self) -> list[Tensor]:
        """The default of every dense feature: without elements where it is required, a padding where it has
        rows in any number.
        """
        return [
            padding(key, dtype, self.defaults.get(key))
            if shape.ndims and shape.tuple[0] is None
            else default(key, dtype, shape, self.defaults.get(key))
            for (key, dtype), shape in zip(self.dense.items(), self.shapes, strict=True)
        ]

    def check_disjoint(self) -> None:
        """No key is asked for twice: as a part of a SparseFeature, and dense."""
        common = self.sparse.keys() & self.dense.keys()
        if common:
            raise ValueError(f"Dense and sparse keys must not intersect; intersection: {common}")

    def results(self, sparse_parts: tuple[Sequence[Tensor], ...], dense_values: Sequence[Tensor]) -> dict:
        """The tensors of every key."""
        made = [SparseTensor(*parts) for parts in zip(*sparse_parts, strict=True)]
        return dict(zip((*self.sparse, *self.dense), (*made, *dense_values), strict=True))


_ADD = {
    VarLenFeature: Split._add_sparse,
    SparseFeature: Split._add_parts,
    FixedLenFeature: Split._add_fixed,
    FixedLenSequenceFeature: Split._add_rows,
}


def index_keys(feature: SparseFeature) -> list[str]:
    """The keys of the features that hold the indices, one for each axis."""
    return [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)


def _check_named(feature: SparseFeature) -> None:
    for field in ("index_key", "value_key"):
        if not getattr(feature, field):
            raise ValueError(f"Missing {field} for SparseFeature {feature}.")


def node_name(key: str) -> str:
    """A key in the form that names of nodes allow."""
    return re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)


def default(key: str, dtype: DType, shape: TensorShape | None, value: Any) -> Tensor:
    """The default of a dense feature as a tensor, in a shape if one is given."""
    if value is None:
        return constants.constant([], dtype=dtype)
    if isinstance(value, Tensor):
        return value
    tensor = convert_to_tensor(value, dtype=dtype, name=f"key_{node_name(key)}")
    return tensor if shape is None else shapes.reshape(tensor, shape)


def padding(key: str, dtype: DType, value: Any) -> Tensor:
    """What a feature of any length is filled up with."""
    if value is None:
        return convert_to_tensor("" if dtype is dtypes.string else 0, dtype=dtype)
    return shapes.reshape(convert_to_tensor(value, dtype=dtype, name=f"padding_{node_name(key)}"), [])
