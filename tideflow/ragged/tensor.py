"""RaggedTensor: rows of different lengths, as a tensor of values and the row splits that cut it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.dispatch import register_class
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes
from tideflow.ops.math import binary, casting, checks, reductions
from tideflow.ragged import conversion, slicing
from tideflow.ragged.partitions import (
    check_row_count,
    lengths_of,
    partition_tensor,
    row_splits_to_segment_ids,
    rows_in_use,
    segment_ids_to_row_splits,
    splits_of,
    splits_type,
)
from tideflow.ragged.value import RaggedTensorValue, value_of
from tideflow.session.fetches import register_session_run_conversion_functions

if TYPE_CHECKING:
    from tideflow.graph.composite import SparseTensor
    from tideflow.graph.typing import DTypeLike, SessionLike, TensorLike, TensorOrRagged


@export("RaggedTensor")
class RaggedTensor:
    """A tensor with rows of different lengths: row i is `values[row_splits[i]:row_splits[i + 1]]`.

    The values may be ragged too. Make one with `tf.RaggedTensor.from_row_splits` and its siblings, or with
    `tf.ragged`.

    Args:
      values: The values of all rows, concatenated.
      row_splits: The start of each row in `values`, and the end of the last one.
      cached_row_lengths: The lengths of the rows, if they are known.
      cached_value_rowids: The row number of each value, if it is known.
      cached_nrows: The number of rows, if it is known.
      internal: Must be True: the constructor is not for programs.
    """

    __array_priority__ = 100  # of an array and a ragged tensor, the ragged tensor's operators work

    def __init__(
        self,
        values: TensorOrRagged,
        row_splits: Tensor,
        cached_row_lengths: Tensor | None = None,
        cached_value_rowids: Tensor | None = None,
        cached_nrows: Tensor | None = None,
        internal: bool = False,
    ):
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead "
                "(e.g., RaggedTensor.from_row_lengths())"
            )
        row_splits.shape.assert_has_rank(1)
        values.shape.with_rank_at_least(1)
        if isinstance(values, RaggedTensor) and values.row_splits.dtype != row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values = values
        self._row_splits = row_splits
        self._row_lengths = cached_row_lengths
        self._value_rowids = cached_value_rowids
        self._nrows = cached_nrows

    # ------------------------------------------------------------------ made from values and rows

    @classmethod
    def from_value_rowids(
        cls,
        values: TensorOrRagged,
        value_rowids: TensorLike,
        nrows: TensorLike | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Makes a RaggedTensor from the row number of each value.

        Args:
          values: The values of all rows, concatenated: a tensor or a RaggedTensor.
          value_rowids: The row numbers, ascending.
          nrows: The number of rows; one more than the last row number if None.
          name: The name of the operations.
          validate: Whether steps check the argument.

        Returns:
          The RaggedTensor.
        """
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            values, value_rowids = _parts(values, value_rowids, "value_rowids")
            value_rowids.shape.assert_has_rank(1)
            values.shape[:1].assert_is_compatible_with(value_rowids.shape)
            dtype = value_rowids.dtype
            if nrows is None:
                nrows = rows_in_use(value_rowids)
            else:
                nrows = convert_to_tensor(nrows, dtype, "nrows")
                check_row_count(nrows, value_rowids)
            if validate:
                message = _not_valid("from_value_rowids")
                tests = [
                    checks.assert_non_negative(value_rowids[:1], message=message),
                    _ascending(value_rowids, message),
                    checks.assert_less(value_rowids[-1:], nrows, message=message),
                    checks.assert_equal(_count(values, dtype), _count(value_rowids, dtype), message=message),
                ]
                with control_dependencies(tests):
                    value_rowids = constants.identity(value_rowids)
            splits = segment_ids_to_row_splits(value_rowids, nrows)
            return cls(values, splits, cached_value_rowids=value_rowids, cached_nrows=nrows, internal=True)

    @classmethod
    def from_row_splits(
        cls, values: TensorOrRagged, row_splits: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Makes a RaggedTensor from row splits.

        Args:
          values: The values of all rows, concatenated: a tensor or a RaggedTensor.
          row_splits: The start of each row, and the end of the last one.
          name: The name of the operations.
          validate: Whether steps check the argument.

        Returns:
          The RaggedTensor.
        """
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            values, row_splits = _parts(values, row_splits, "row_splits")
            row_splits.shape.assert_has_rank(1)
            if validate:
                message = _not_valid("from_row_splits")
                tests = [
                    checks.assert_equal(row_splits[0], casting.cast(0, row_splits.dtype), message=message),
                    _ascending(row_splits, message),
                    checks.assert_equal(row_splits[-1], _count(values, row_splits.dtype), message=message),
                ]
                with control_dependencies(tests):
                    row_splits = constants.identity(row_splits)
            return cls(values, row_splits, internal=True)

    @classmethod
    def from_row_lengths(
        cls, values: TensorOrRagged, row_lengths: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Makes a RaggedTensor from the lengths of the rows.

        Args:
          values: The values of all rows, concatenated: a tensor or a RaggedTensor.
          row_lengths: The lengths.
          name: The name of the operations.
          validate: Whether steps check the argument.

        Returns:
          The RaggedTensor.
        """
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            values, row_lengths = _parts(values, row_lengths, "row_lengths")
            row_lengths.shape.assert_has_rank(1)
            if validate:
                message = _not_valid("from_row_lengths")
                total = reductions.reduce_sum(row_lengths)
                tests = [
                    checks.assert_non_negative(row_lengths, message=message),
                    checks.assert_equal(total, _count(values, row_lengths.dtype), message=message),
                ]
                with control_dependencies(tests):
                    row_lengths = constants.identity(row_lengths)
            return cls(values, splits_of(row_lengths), cached_row_lengths=row_lengths, internal=True)

    @classmethod
    def from_row_starts(
        cls, values: TensorOrRagged, row_starts: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Makes a RaggedTensor from the starts of the rows.

        Args:
          values: The values of all rows, concatenated: a tensor or a RaggedTensor.
          row_starts: The starts.
          name: The name of the operations.
          validate: Whether steps check the argument.

        Returns:
          The RaggedTensor.
        """
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values, row_starts = _parts(values, row_starts, "row_starts")
            row_starts.shape.assert_has_rank(1)
            count = _count(values, row_starts.dtype)
            if validate:
                message = _not_valid("from_row_starts")
                tests = [
                    checks.assert_equal(row_starts[:1], casting.cast(0, row_starts.dtype), message=message),
                    _ascending(row_starts, message),
                    checks.assert_less_equal(row_starts[-1:], count, message=message),
                ]
                with control_dependencies(tests):
                    row_starts = constants.identity(row_starts)
            return cls(values, joining.concat([row_starts, [count]], 0), internal=True)

    @classmethod
    def from_row_limits(
        cls, values: TensorOrRagged, row_limits: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Makes a RaggedTensor from the ends of the rows.

        Args:
          values: The values of all rows, concatenated: a tensor or a RaggedTensor.
          row_limits: The ends.
          name: The name of the operations.
          validate: Whether steps check the argument.

        Returns:
          The RaggedTensor.
        """
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            values, row_limits = _parts(values, row_limits, "row_limits")
            row_limits.shape.assert_has_rank(1)
            if validate:
                message = _not_valid("from_row_limits")
                tests = [
                    checks.assert_non_negative(row_limits[:1], message=message),
                    _ascending(row_limits, message),
                    checks.assert_equal(row_limits[-1:], _count(values, row_limits.dtype), message=message),
                ]
                with control_dependencies(tests):
                    row_limits = constants.identity(row_limits)
            zero = creation.zeros([1], row_limits.dtype)
            return cls(values, joining.concat([zero, row_limits], 0), internal=True)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: TensorLike,
        nested_value_rowids: Sequence[Any],
        nested_nrows: Sequence[Any] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Makes a RaggedTensor with several ragged dimensions from row numbers.

        Args:
          flat_values: The innermost values.
          nested_value_rowids: The row numbers of each dimension, the outermost first.
          nested_nrows: The numbers of rows of each dimension.
          name: The name of the operations.
          validate: Whether steps check the argument.

        Returns:
          The RaggedTensor.
        """
        _check_list(nested_value_rowids, "nested_value_rowids")
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        elif len(nested_nrows) != len(nested_value_rowids):
            raise ValueError("nested_nrows must have the same length as nested_value_rowids")
        with name_scope(name, "RaggedFromNestedValueRowIds", [flat_values, *nested_value_rowids]):
            result = flat_values
            for rowids, nrows in zip(reversed(nested_value_rowids), reversed(nested_nrows), strict=True):
                result = cls.from_value_rowids(result, rowids, nrows, validate=validate)
            return result

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: TensorLike,
        nested_row_splits: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Makes a RaggedTensor with several ragged dimensions from row splits.

        Args:
          flat_values: The innermost values.
          nested_row_splits: The row splits of each dimension, the outermost first.
          name: The name of the operations.
          validate: Whether steps check the argument.

        Returns:
          The RaggedTensor.
        """
        _check_list(nested_row_splits, "nested_row_splits")
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *nested_row_splits]):
            result = flat_values
            for splits in reversed(nested_row_splits):
                result = cls.from_row_splits(result, splits, validate=validate)
            return result

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: TensorLike,
        nested_row_lengths: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Makes a RaggedTensor with several ragged dimensions from row lengths.

        Args:
          flat_values: The innermost values.
          nested_row_lengths: The row lengths of each dimension, the outermost first.
          name: The name of the operations.
          validate: Whether steps check the argument.

        Returns:
          The RaggedTensor.
        """
        _check_list(nested_row_lengths, "nested_row_lengths")
        with name_scope(name, "RaggedFromNestedRowlengths", [flat_values, *nested_row_lengths]):
            result = flat_values
            for lengths in reversed(nested_row_lengths):
                result = cls.from_row_lengths(result, lengths, validate=validate)
            return result

    @classmethod
    def from_tensor(
        cls,
        tensor: TensorLike,
        lengths: TensorLike | Sequence[TensorLike] | None = None,
        padding: TensorLike | None = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: DTypeLike = dtypes.int64,
    ) -> RaggedTensor:
        """Makes a RaggedTensor from a dense tensor.

        Args:
          tensor: The tensor.
          lengths: The lengths of the rows, or a list of those of several dimensions; whole rows if None.
          padding: A value that is removed from the ends of rows.
          ragged_rank: The number of ragged dimensions.
          name: The name of the operation.
          row_splits_dtype: The type of the row splits, int32 or int64.

        Returns:
          The RaggedTensor.
        """
        return conversion.from_tensor(tensor, lengths, padding, ragged_rank, name, row_splits_dtype)

    @classmethod
    def from_sparse(
        cls, st_input: SparseTensor, name: str | None = None, row_splits_dtype: DTypeLike = dtypes.int64
    ) -> RaggedTensor:
        """Makes a RaggedTensor from a sparse matrix whose values are at the beginnings of its rows.

        Args:
          st_input: The SparseTensor.
          name: The name of the operation.
          row_splits_dtype: The type of the row splits, int32 or int64.

        Returns:
          The RaggedTensor.
        """
        return conversion.from_sparse(st_input, name, row_splits_dtype)

    # ------------------------------------------------------------------ what it is made of

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the values."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape, in which ragged dimensions are unknown."""
        splits = self._row_splits.shape.tuple[0]
        rows = TensorShape([None if splits is None else splits - 1, None])
        return rows.concatenate(self._values.shape[1:])

    def get_shape(self) -> TensorShape:
        """The static shape, as `shape` has it."""
        return self.shape

    @property
    def _type_spec(self) -> Any:
        return tf.RaggedTensorSpec.from_value(self)

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def values(self) -> Any:
        """The values of all rows, concatenated."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """The start of each row in `values`, and the end of the last one."""
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """The values of the innermost ragged dimension."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The row splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return self._row_splits, *inner

    @property
    def graph(self) -> Graph:
        """The graph that contains the tensors."""
        return self._row_splits.graph

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row number of each value.

        Args:
          name: The name of the operation.

        Returns:
          A vector.
        """
        if self._value_rowids is not None:
            return self._value_rowids
        with name_scope(name, "RaggedValueRowIds", [self]):
            return row_splits_to_segment_ids(self._row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The row numbers of all ragged dimensions, the outermost first.

        Args:
          name: The name of the operation.

        Returns:
          A tuple of vectors.
        """
        with name_scope(name, "RaggedNestedValueRowIds", [self]):
            return tuple(level.value_rowids() for level in self._levels())

    def nrows(self, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """The number of rows.

        Args:
          out_type: The type of the result; that of the row splits if None.
          name: The name of the operation.

        Returns:
          A scalar.
        """
        dtype = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        if self._nrows is not None:
            return casting.cast(self._nrows, dtype)
        with name_scope(name, "RaggedNRows", [self]):
            return shapes.shape(self._row_splits, out_type=dtype)[0] - 1

    def row_starts(self, name: str | None = None) -> Tensor:
        """The start of each row in `values`.

        Args:
          name: The name of the operation.

        Returns:
          A vector.
        """
        with name_scope(name, "RaggedRowStarts", [self]):
            return self._row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Tensor:
        """The end of each row in `values`.

        Args:
          name: The name of the operation.

        Returns:
          A vector.
        """
        with name_scope(name, "RaggedRowLimits", [self]):
            return self._row_splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the rows along an axis.

        Args:
          axis: The axis.
          name: The name of the operation.

        Returns:
          A vector, or a RaggedTensor if the axis is beyond the second.
        """
        if axis == 1 and self._row_lengths is not None:
            return self._row_lengths
        with name_scope(name, "RaggedRowLengths", [self]):
            axis = conversion.positive_axis(axis, self.shape.ndims)
            if axis == 0:
                return self.nrows()
            if axis == 1:
                return lengths_of(self._row_splits)
            if isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.row_lengths(axis - 1))
            sizes = shapes.shape(self._values, out_type=self._row_splits.dtype)
            return self.with_values(
                creation.ones(sizes[: axis - 1], self._row_splits.dtype) * sizes[axis - 1]
            )

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The row lengths of all ragged dimensions, the outermost first.

        Args:
          name: The name of the operation.

        Returns:
          A tuple of vectors.
        """
        with name_scope(name, "RaggedNestedRowLengths", [self]):
            return tuple(level.row_lengths() for level in self._levels())

    def bounding_shape(
        self, axis: TensorLike | None = None, name: str | None = None, out_type: DTypeLike | None = None
    ) -> Tensor:
        """The shape of the smallest dense tensor that contains this one.

        Args:
          axis: The axis or axes; all if None.
          name: The name of the operation.
          out_type: The type of the result; that of the row splits if None.

        Returns:
          A vector, or a scalar for one axis.
        """
        dtype = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedBoundingBox", [self, axis]):
            longest = [casting.cast(_longest(level.row_lengths()), dtype) for level in self._levels()]
            outer = joining.stack([self.nrows(dtype), *longest])
            sizes = joining.concat([outer, shapes.shape(self.flat_values, out_type=dtype)[1:]], 0)
            return sizes if axis is None else indexing.gather(sizes, axis)

    def _levels(self) -> list[RaggedTensor]:
        """This tensor, its values, their values … as long as they are ragged."""
        inner = self._values._levels() if isinstance(self._values, RaggedTensor) else []
        return [self, *inner]

    # ------------------------------------------------------------------ as a value made of tensors

    def _components(self) -> list[Tensor]:
        return [self.flat_values, *self.nested_row_splits]

    def _from_components(self, tensors: list[Tensor]) -> RaggedTensor:
        return RaggedTensor.from_nested_row_splits(tensors[0], tensors[1:], validate=False)

    def _component_invariants(self, shape: TensorShape | None) -> list[TensorShape]:
        shape = self.shape if shape is None else shape
        spec = tf.RaggedTensorSpec(shape, self.dtype, self.ragged_rank, self.row_splits.dtype)
        return [part._shape for part in spec._component_specs]

    # ------------------------------------------------------------------ others like it

    def with_values(self, new_values: TensorOrRagged) -> RaggedTensor:
        """Makes a RaggedTensor with other values in the same rows.

        Args:
          new_values: The values.

        Returns:
          The RaggedTensor.
        """
        new_values = convert_to_tensor_or_ragged_tensor(new_values)
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        if isinstance(new_values, RaggedTensor) and new_values.row_splits.dtype != self._row_splits.dtype:
            raise ValueError(
                "self and new_values have mismatched row_splits dtypes; use with_row_splits_dtype"
            )
        return RaggedTensor(
            new_values, self._row_splits, self._row_lengths, self._value_rowids, self._nrows, internal=True
        )

    def with_flat_values(self, new_values: TensorOrRagged) -> RaggedTensor:
        """Makes a RaggedTensor with other innermost values in the same rows.

        Args:
          new_values: The values.

        Returns:
          The RaggedTensor.
        """
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: DTypeLike) -> RaggedTensor:
        """Makes the same RaggedTensor with row splits of another type.

        Args:
          dtype: The type, int32 or int64.

        Returns:
          The RaggedTensor.
        """
        dtype = splits_type(dtype)
        if self._row_splits.dtype is dtype:
            return self
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        return RaggedTensor(values, casting.cast(self._row_splits, dtype), internal=True)

    def to_tensor(self, default_value: TensorLike | None = None, name: str | None = None) -> Tensor:
        """Converts to a dense tensor, in which short rows are padded.

        Args:
          default_value: The value to pad with; zero or an empty string if None.
          name: The name of the operation.

        Returns:
          The tensor.
        """
        return conversion.to_tensor(self, default_value, name)

    def to_sparse(self, name: str | None = None) -> Any:
        """Converts to a sparse tensor.

        Args:
          name: The name of the operation.

        Returns:
          The SparseTensor.
        """
        return conversion.to_sparse(self, name)

    def to_list(self) -> list:
        """Nested lists; of a graph's tensor only its value has them."""
        if self._row_splits.is_eager:
            return value_of(self).to_list()
        raise ValueError(
            "RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the "
            "RaggedTensor first and then use RaggedTensorValue.to_list()."
        )

    def eval(self, feed_dict: dict | None = None, session: SessionLike | None = None) -> RaggedTensorValue:
        """Computes the value.

        Args:
          feed_dict: Values to use in place of tensors, as in `Session.run`.
          session: The session to run in; the default session if None.

        Returns:
          The RaggedTensorValue.
        """
        return self.graph._session_for("eval", "tensor", session).run(self, feed_dict)

    def consumers(self) -> list[Operation]:
        """The operations that have one of its tensors as an input."""
        return list(dict.fromkeys(op for part in self._components() for op in part.consumers()))

    def __getitem__(self, key: Any) -> Any:
        return slicing.sliced(self, key)

    def __repr__(self) -> str:
        if self.flat_values.is_eager:
            return f"<tf.RaggedTensor {self.to_list()}>"
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    @staticmethod
    def _override_operator(operator: str, function: Callable) -> None:
        setattr(RaggedTensor, operator, function)


def is_ragged(value: Any) -> bool:
    """Whether a value is a ragged tensor, or the value of one."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def convert_to_tensor_or_ragged_tensor(
    value: Any, dtype: Any = None, preferred_dtype: Any = None, name: str | None = None
) -> Any:
    """A RaggedTensor as it is (or from its value), anything else as a tensor."""
    if isinstance(value, RaggedTensorValue):
        with name_scope(name, "ConvertToTensorOrRaggedTensor", []):
            flat = convert_to_tensor(value.flat_values, dtype, "flat_values", preferred_dtype)
            return RaggedTensor.from_nested_row_splits(flat, value.nested_row_splits, validate=False)
    if isinstance(value, RaggedTensor):
        asked = value.dtype if dtype is None else dtypes.as_dtype(dtype)
        if not asked.is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {asked.name} for RaggedTensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    return convert_to_tensor(value, dtype, name, preferred_dtype)


def match_row_splits_dtypes(*tensors: Any) -> list[Any]:
    """The tensors, those that are ragged with row splits of one type."""
    found = {tensor.row_splits.dtype for tensor in tensors if isinstance(tensor, RaggedTensor)}
    if len(found) < 2:
        return list(tensors)
    raise ValueError(
        "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
        "convert them to compatible dtypes."
    )


# ------------------------------------------------------------------------------------------------ checks


def _parts(values: Any, partition: Any, name: str) -> tuple[Any, Tensor]:
    """Values and what says how they are cut, of one type of row splits."""
    values = convert_to_tensor_or_ragged_tensor(values, name="values")
    inner = values.row_splits.dtype if isinstance(values, RaggedTensor) else None
    tensor = partition_tensor(partition, name, None if isinstance(partition, Tensor) else inner)
    if inner is not None and tensor.dtype is not inner:
        raise ValueError(f"dtype mismatch: {name} ({tensor.dtype}) vs values.row_splits ({inner})")
    return values, tensor


def _check_list(value: Any, name: str) -> None:
    if isinstance(value, Tensor):
        raise TypeError(f"{name} must be a list of Tensors")


def _not_valid(method: str) -> str:
    return f"Arguments to {method} do not form a valid RaggedTensor"


def _ascending(partition: Tensor, message: str) -> Operation:
    return checks.assert_non_negative(partition[1:] - partition[:-1], message=message)


def _count(values: Any, dtype: dtypes.DType) -> Tensor:
    """The number of values, or of rows of ragged ones."""
    if isinstance(values, RaggedTensor):
        return values.nrows(dtype)
    return shapes.shape(values, out_type=dtype)[0]


def _longest(lengths: Tensor) -> Tensor:
    """The greatest length, 0 of none."""
    return binary.maximum(reductions.reduce_max(lengths), casting.cast(0, lengths.dtype))


# ------------------------------------------------------------------------------------------------ elsewhere


def _no_conversion(
    value: RaggedTensor, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    raise TypeError(
        f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. Consider casting "
        "elements to a supported type, or to_tensor()."
    )


register_tensor_conversion_function(RaggedTensor, _no_conversion)


def _fetched(value: RaggedTensor) -> tuple[list[Tensor], Callable]:
    def packed(parts: list) -> RaggedTensorValue:
        flat, *nested = parts
        for splits in reversed(nested):
            flat = RaggedTensorValue(flat, splits)
        return flat

    return value._components(), packed


def _fed(key: RaggedTensor, value: Any) -> list[tuple[Tensor, Any]]:
    if not isinstance(value, RaggedTensorValue):
        raise TypeError(f"A RaggedTensor is fed a RaggedTensorValue, not {value!r}")
    return list(zip(key._components(), [value.flat_values, *value.nested_row_splits], strict=True))


register_session_run_conversion_functions(RaggedTensor, _fetched, _fed, RaggedTensor._components)
register_class(RaggedTensor, "ragged")
register_class(RaggedTensorValue, "ragged")
