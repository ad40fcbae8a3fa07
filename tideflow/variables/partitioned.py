"""PartitionedVariable: one variable in several parts along an axis, each of which may live elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.graph import dtypes
from tideflow.graph.convert import register_tensor_conversion_function
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import constants, joining
from tideflow.variables import base
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike


class PartitionedVariable:
    """A list of variables that together are one: as a tensor it is their concatenation."""

    def __init__(
        self,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike,
        variable_list: Sequence[Variable],
        partitions: Sequence[int],
    ):
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError(f"variable_list is not a list or tuple: {variable_list}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(f"partitions is not a list or tuple: {partitions}")
        if not all(count >= 1 for count in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        for variable in variable_list:
            if not (isinstance(variable, Variable) and variable._get_save_slice_info() is not None):
                raise ValueError(
                    "All variables must have a save_slice_info available: "
                    f"{[each.name for each in variable_list]}"
                )
        sizes = as_shape(shape).as_list()
        if len(sizes) != len(partitions):
            raise ValueError(f"len(shape) != len(partitions): {sizes} vs. {partitions}")
        full_shapes = [list(each._get_save_slice_info().full_shape) for each in variable_list]
        if any(full != sizes for full in full_shapes):
            raise ValueError(
                f"All variables' full shapes must match shape: {sizes}; but full shapes were: {full_shapes}"
            )
        self._name = name
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._partitions = list(partitions)
        self._variable_list = sorted(variable_list, key=lambda v: v._get_save_slice_info().var_offset)
        self._as_tensor: Tensor | None = None

    # --------------------------------------------------------------------------------------------- what it is

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def get_shape(self) -> TensorShape:
        return self._shape

    @property
    def op(self) -> Operation:
        """There is no single operation to give."""
        raise AttributeError("PartitionedVariable does not have an op: its parts do.")

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        return len(self._variable_list)

    def __getitem__(self, index: int) -> Variable:
        return self._variable_list[index]

    def _get_variable_list(self) -> list[Variable]:
        return list(self._variable_list)

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        """The axes that are cut; the first where none is."""
        if all(count == 1 for count in self._partitions):
            return [0]
        return [axis for axis, count in enumerate(self._partitions) if count > 1]

    # ------------------------------------------------------------------------------------------ as one tensor

    def _concat(self) -> Tensor:
        if len(self._variable_list) == 1:
            with name_scope(None):
                return constants.identity(self._variable_list[0], name=self._name)
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError(f"Cannot concatenate along more than one dimension: {axes}.")
        with name_scope(f"{self._name}/ConcatPartitions/"):
            joined = joining.concat(self._variable_list, axes[0])
        with name_scope(None):
            return constants.identity(joined, name=self._name)

    def as_tensor(self) -> Tensor:
        """The parts, joined; outside of whatever loop or branch asks for them."""
        with control_dependencies(None):
            return self._concat()

    # ------------------------------------------------------------------------------------------------ writing

    def _apply(self, method: str, value: Any, use_locking: bool, name: str | None) -> list[Any]:
        if isinstance(value, (list, tuple, PartitionedVariable)):
            parts = list(value)
        else:
            axis = self._partition_axes()[0]
            sizes = [variable.shape.as_list()[axis] for variable in self._variable_list]
            parts = joining.split(value, sizes, axis=axis)
        return [
            getattr(variable, method)(part, use_locking=use_locking, name=name, read_value=True)
            for variable, part in zip(self._variable_list, parts)
        ]

    def _written(self, results: list[Any], read_value: bool) -> list[Any]:
        return results if read_value else [result.op for result in results]

    def assign(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list:
        """New values for all parts."""
        return self._written(self._apply("assign", value, use_locking, name), read_value)

    def assign_add(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list:
        """Adds a value to all parts."""
        return self._written(self._apply("assign_add", value, use_locking, name), read_value)

    def assign_sub(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list:
        """Subtracts a value from all parts."""
        return self._written(self._apply("assign_sub", value, use_locking, name), read_value)


def _to_tensor(
    variable: PartitionedVariable, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    base.check_conversion(variable, dtype)
    if as_ref:
        raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
    return variable.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _to_tensor)
