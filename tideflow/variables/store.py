"""The store behind `get_variable`: every graph's variables by full name, and the rules for sharing them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    add_to_collection,
    colocate_with,
    executing_eagerly,
    get_default_graph,
    init_scope,
    name_scope,
)
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.graph.stacks import Stack
from tideflow.ops.arrays import slicing
from tideflow.variables import initializers
from tideflow.variables.base import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    is_trainable,
    resource_variables_enabled,
)
from tideflow.variables.partitioned import PartitionedVariable

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, RegularizerLike, ShapeLike

STORE = ("__variable_store",)
eager_stores: Stack[VariableStore] = Stack()  # the stores of `EagerVariableStore.as_default` blocks

_NO_INITIALIZER = (
    "The initializer passed is not valid. It should be a callable with no arguments and the shape should not "
    "be provided or an instance of `tf.keras.initializers.*' and `shape` should be fully defined."
)


def store_of_default_graph() -> VariableStore:
    """The default graph's store, made on first use.

    In eager mode nothing is shared by name, unless an `EagerVariableStore` says so: the store is a new one.
    """
    if executing_eagerly():
        return eager_stores.top() or VariableStore()
    found = get_default_graph().get_collection_ref(STORE)
    if not found:
        found.append(VariableStore())
    return found[0]


class VariableStore:
    """Variables made by `get_variable`, by full name: asked for again, one is shared or refused."""

    def __init__(self):
        self._vars: dict[str, Variable] = {}
        self._partitioned_vars: dict[str, PartitionedVariable] = {}

    def get_variable(
        self,
        name: str,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = dtypes.float32,
        initializer: Any = None,
        *,
        trainable: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        custom_getter: Callable | None = None,
        **arguments: Any,
    ) -> Any:
        """The variable of this name, made or shared, by way of the custom getter where there is one."""
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
        synchronization, aggregation = _checked_modes(name, synchronization, aggregation)
        arguments.update(
            name=name,
            dtype=getattr(dtype, "base_dtype", dtype),
            shape=shape,
            initializer=initializer,
            trainable=is_trainable(trainable, synchronization),
            synchronization=synchronization,
            aggregation=aggregation,
        )
        if custom_getter is None:
            return self._get(**arguments)
        if not _accepts(custom_getter, "constraint"):
            del arguments["constraint"]
        return custom_getter(getter=self._get, **arguments)

    def _get(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        initializer: Any = None,
        regularizer: RegularizerLike | None = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Sequence[Any] | None = None,
        caching_device: Any = None,
        partitioner: Callable | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Callable | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        arguments = dict(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            reuse=reuse,
            trainable=trainable,
            collections=collections,
            caching_device=caching_device,
            validate_shape=validate_shape,
            use_resource=use_resource,
            constraint=constraint,
            synchronization=synchronization,
            aggregation=aggregation,
        )
        is_scalar = isinstance(shape, (list, tuple)) and not shape
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
            with name_scope(None):
                return self._get_partitioned_variable(partitioner=partitioner, **arguments)
        if reuse is True and name in self._partitioned_vars:
            return self._get_partitioned_variable(partitioner=None, **arguments)
        if f"{name}/part_0" in self._vars:
            raise ValueError(
                "No partitioner was provided, but a partitioned version of the variable was found: "
                f"{name}/part_0. Perhaps a variable of the same name was already created with partitioning?"
            )
        return self._get_single_variable(**arguments)

    # ------------------------------------------------------------------------------------------- one variable

    def _get_single_variable(
        self,
        name: str,
        shape: Any,
        dtype: Any,
        initializer: Any,
        regularizer: RegularizerLike | None,
        reuse: Any,
        use_resource: bool | None,
        partition_info: Any = None,
        **arguments: Any,
    ) -> Variable:
        from_value = initializer is not None and not callable(initializer)
        if shape is not None and from_value:
            raise ValueError("If initializer is a constant, do not specify shape.")
        dtype, shape = dtypes.as_dtype(dtype), as_shape(shape)
        if name in self._vars:
            return self._shared(name, shape, dtype, reuse)
        if reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to "
                "set reuse=tf.AUTO_REUSE in VarScope?"
            )
        if initializer is None:
            initializer = default_initializer(name, dtype)
        if not from_value:
            initializer, dtype = _initial_value(initializer, shape, dtype, partition_info)
        if use_resource is None:
            use_resource = resource_variables_enabled()
        variable = Variable(
            initial_value=initializer,
            name=name,
            dtype=None if from_value else dtype,
            use_resource=use_resource,
            **arguments,
        )
        self._vars[name] = variable
        if regularizer is not None:
            _regularize(variable, name, regularizer)
        return variable

    def _shared(self, name: str, shape: TensorShape, dtype: dtypes.DType, reuse: Any) -> Variable:
        found = self._vars[name]
        if reuse is False:
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                f"reuse=tf.AUTO_REUSE in VarScope? Originally defined at:\n\n  {_line(found)}"
            )
        if not shape.is_compatible_with(found.shape):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {shape} and found shape {found.shape}."
                f"{_made_at(found)}"
            )
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype "
                f"{found.dtype.name}.{_made_at(found)}"
            )
        return found

    # ------------------------------------------------------------------------------------------ several parts

    def _get_partitioned_variable(
        self,
        name: str,
        partitioner: Callable | None,
        shape: Any,
        dtype: Any,
        initializer: Any,
        reuse: Any,
        **arguments: Any,
    ) -> PartitionedVariable:
        if name in self._vars:
            raise ValueError(
                "A partitioner was provided, but an unpartitioned version of the variable was found: "
                f"{name}.  Perhaps a variable of the same name was already created without partitioning?"
            )
        shape, dtype = as_shape(shape), dtypes.as_dtype(dtype)
        if isinstance(initializer, Tensor):
            shape, dtype = shape.merge_with(initializer.shape), initializer.dtype.base_dtype
        needed = reuse is not True or partitioner is not None and shape.is_fully_defined()
        partitions = _partitions(partitioner, shape, dtype) if needed else None
        if name in self._partitioned_vars:
            return self._shared_partitions(name, shape, dtype, reuse, partitions)
        if reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did "
                "you mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
            )
        self._check_parts(name, partitions)
        whole = shape.as_list()
        slices = [(_PartitionInfo(whole, offset), size) for offset, size in _slices(whole, partitions)]
        parts = []
        for i, (info, size) in enumerate(slices):
            part_name, part_shape, part_initializer = f"{name}/part_{i}", size, initializer
            if initializer is not None and not callable(initializer):
                part_initializer, part_shape = (
                    _part_of(initializer, dtype, info.var_offset, size, part_name),
                    None,
                )
            part = self._get_single_variable(
                part_name,
                shape=part_shape,
                dtype=dtype,
                initializer=part_initializer,
                reuse=reuse,
                partition_info=info,
                **arguments,
            )
            part._set_save_slice_info(Variable.SaveSliceInfo(name, whole, info.var_offset, size))
            parts.append(part)
        made = PartitionedVariable(name, shape, dtype, parts, partitions)
        self._partitioned_vars[name] = made
        return made

    def _check_parts(self, name: str, partitions: list[int]) -> None:
        """Parts that are there already must be as many as are asked for."""
        count = max(partitions)
        if f"{name}/part_0" not in self._vars:
            return
        wrong = ""
        if f"{name}/part_{count - 1}" not in self._vars:
            wrong = f"but {name}/part_{count - 1} was not"
        elif f"{name}/part_{count}" in self._vars:
            wrong = f"but so was the extra shard {name}/part_{count}"
        if wrong:
            raise ValueError(
                "Partitioner returned a different partitioning than what was already found.  Partitioner "
                f"returned {count} shards, and shard {name}/part_0 was found, {wrong}."
            )

    def _shared_partitions(
        self, name: str, shape: TensorShape, dtype: dtypes.DType, reuse: Any, partitions: list[int] | None
    ) -> PartitionedVariable:
        found = self._partitioned_vars[name]
        if reuse is False:
            raise ValueError(
                f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True or "
                f"reuse=tf.AUTO_REUSE in VarScope?{_made_at(found[0])}"
            )
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(
                f"Trying to reuse partitioned variable {name}, but specified shape {shape} and found shape "
                f"{found.get_shape()}."
            )
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to reuse partitioned variable {name}, but specified dtype {dtype.name} and found "
                f"dtype {found.dtype.name}."
            )
        if partitions is not None and found._get_partitions() != partitions:
            raise ValueError(
                f"Trying to reuse partitioned variable {name}, but specified partitions {partitions} and "
                f"found partitions {found._get_partitions()}."
            )
        return found


class _PartitionInfo:
    """Which part of a whole an initializer is to make."""

    def __init__(self, full_shape: Sequence[int], var_offset: Sequence[int]):
        self.full_shape = list(full_shape)
        self.var_offset = list(var_offset)
        for offset, size in zip(self.var_offset, self.full_shape):
            if not 0 <= offset < size:
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={size} for var_offset="
                    f"{self.var_offset}, full_shape={self.full_shape}"
                )

    def single_offset(self, shape: Sequence[int]) -> int:
        """Where the part begins along the axis that is cut."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The axis that is cut, None where the part is the whole."""
        if len(shape) != len(self.full_shape):
            raise ValueError(
                f"Expected equal length, but received shape={list(shape)} of length {len(shape)} while "
                f"self.full_shape={self.full_shape} is of length {len(self.full_shape)}."
            )
        cut = [i for i, (part, whole) in enumerate(zip(shape, self.full_shape)) if part != whole]
        if len(cut) > 1:
            raise ValueError(
                f"Cannot use single_slice_dim() with shape={list(shape)} and self.full_shape="
                f"{self.full_shape} since slice dim could be either dimension {cut[0]} or {cut[1]}."
            )
        return cut[0] if cut else None


def _partitions(partitioner: Callable | None, shape: TensorShape, dtype: dtypes.DType) -> list[int]:
    """How many parts along each axis, as the partitioner says, once that is checked."""
    if not shape.is_fully_defined():
        raise ValueError(
            f"Shape of a new partitioned variable must be fully defined, but instead was {shape}."
        )
    if not shape.ndims:
        raise ValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    partitions = partitioner(shape=shape, dtype=dtype)
    if not isinstance(partitions, (list, tuple)):
        raise ValueError(f"Partitioner must return a sequence, but saw: {partitions}")
    if len(partitions) != shape.ndims:
        raise ValueError(
            "Partitioner returned a partition list that does not match the Variable's rank: "
            f"{partitions} vs. {shape}"
        )
    if any(count < 1 for count in partitions):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {partitions}")
    if sum(count > 1 for count in partitions) > 1:
        raise ValueError(
            f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {partitions}"
        )
    return list(partitions)


def _slices(shape: list[int], partitions: list[int]) -> list[tuple[list[int], list[int]]]:
    """Offset and size of every part; the first parts take what is left over of the division."""
    axis = next((i for i, count in enumerate(partitions) if count > 1), 0)
    count = partitions[axis]
    size, extra = divmod(shape[axis], count)
    parts, begin = [], 0
    for i in range(count):
        part = size + (i < extra)
        offset = [0] * len(shape)
        offset[axis] = begin
        parts.append((offset, [*shape[:axis], part, *shape[axis + 1 :]]))
        begin += part
    return parts


def _part_of(value: Any, dtype: dtypes.DType, offset: list[int], size: list[int], name: str) -> Any:
    with name_scope(f"{name}/PartitionedInitializer/"):
        return slicing.slice(convert_to_tensor(value, dtype), offset, size)


def default_initializer(name: str, dtype: dtypes.DType) -> Any:
    """What a variable starts as by default: small random numbers, or zeros for what is not a float."""
    if dtype.is_floating:
        return initializers.GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype is dtypes.string:
        return initializers.Zeros()
    raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype!r} is required")


def _initial_value(
    initializer: Any, shape: TensorShape, dtype: dtypes.DType, partition_info: Any
) -> tuple[Any, Any]:
    """A function of no arguments that makes the initial value, and the dtype the variable must have then."""
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        extra = {"partition_info": partition_info} if _accepts(initializer, "partition_info") else {}
        return lambda: initializer(shape.as_list(), dtype=dtype, **extra), dtype.base_dtype
    if not _required_arguments(initializer):
        return initializer, None
    raise ValueError(_NO_INITIALIZER)


def _required_arguments(function: Callable) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [
        p.name
        for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]


def _accepts(function: Callable, argument: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return argument in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _regularize(variable: Variable, name: str, regularizer: RegularizerLike) -> None:
    if executing_eagerly():
        return  # the program adds up its losses itself
    with colocate_with(variable.op), name_scope(f"{name}/Regularizer/"), init_scope():
        loss = regularizer(variable)
    if loss is not None:
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


def _checked_modes(name: str, synchronization: Any, aggregation: Any) -> tuple[Any, Any]:
    synchronization = synchronization or VariableSynchronization.AUTO
    aggregation = aggregation or VariableAggregation.NONE
    if not isinstance(synchronization, VariableSynchronization):
        raise ValueError(f"Invalid variable synchronization mode: {synchronization} for variable: {name}")
    if not isinstance(aggregation, VariableAggregation):
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}")
    return synchronization, aggregation


def _made_at(variable: Any) -> str:
    return f"\n    made at {_line(variable)}"


def _line(variable: Any) -> str:
    """The line of the program that made a variable of a graph."""
    return "an eager variable" if executing_eagerly() else variable.op.user_line
