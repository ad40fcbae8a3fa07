"""What a saver saves: variables, slices of variables, tables, each under a name in the checkpoint."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tideflow.distribute.values import DistributedVariable
from tideflow.graph.device import DeviceSpec
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import device
from tideflow.lookup.mutable import SaveSpec
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.state import reference_variables, resource_variables
from tideflow.variables.base import Variable
from tideflow.variables.partitioned import PartitionedVariable
from tideflow.variables.trackable import VARIABLE_VALUE, Trackable


class SaveableObject:
    """Something to save: `specs` says which tensors under which names, `restore` makes it anew from them.

    `op` is what two saveables must not share: the variable's operation, or the object itself.
    """

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str):
        self.op = op
        self.specs = list(specs)
        self.name = name

    @property
    def device(self) -> str:
        """The device of the first tensor."""
        return self.specs[0].device

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Any] | None) -> Any:
        """The operation that brings the state back; with shapes, in those."""
        raise TypeError(f"{type(self).__name__} does not say how it is restored")


class ReferenceVariableSaveable(SaveableObject):
    """A reference variable, or a slice of a larger one."""

    def __init__(self, variable: Any, slice_spec: str, name: str):
        super().__init__(variable.op, [SaveSpec(variable, slice_spec, name)], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Any] | None) -> Tensor:
        """Assigns what was restored, checking the shape where the variable has one."""
        (value,) = restored_tensors
        target = self.specs[0].tensor
        if restored_shapes is not None:
            value = shapes.reshape(value, restored_shapes[0])
        checked = restored_shapes is None and target.get_shape().is_fully_defined()
        reference = target._ref() if isinstance(target, Variable) else target
        return reference_variables.assign(reference, value, validate_shape=checked)


class ResourceVariableSaveable(SaveableObject):
    """A resource variable, or a slice of a larger one."""

    def __init__(self, variable: Any, slice_spec: str, name: str):
        if not isinstance(variable, Variable):  # the tensor that a variable was read by
            handle, value = variable.op.inputs[0], variable
        elif slice_spec:
            handle, value = variable.handle, functools.partial(_read_on_cpu, variable)
        elif variable.handle.is_eager:
            handle, value = variable.handle, variable.read_value
        else:
            handle, value = variable.handle, variable._graph_element
        self._handle = handle
        spec = SaveSpec(value, slice_spec, name, variable.dtype, variable.device)
        super().__init__(handle if handle.is_eager else handle.op, [spec], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Any] | None) -> Operation:
        """Assigns what was restored, on the variable's device."""
        (value,) = restored_tensors
        if restored_shapes is not None:
            value = shapes.reshape(value, restored_shapes[0])
        with device(self._handle.device):
            known = resource_variables.variable_shape_of(self._handle.shape)
            value = constants.identity(value)
            if not value.shape.is_compatible_with(known):
                raise ValueError(f"Shapes {known} and {value.shape} are incompatible")
            return resource_variables.assign_variable_op(self._handle, value)


class DistributedVariableSaveable(SaveableObject):
    """A variable with copies on several devices: one value, which all of them get back."""

    def __init__(self, variable: DistributedVariable, name: str):
        self._variable = variable
        spec = SaveSpec(variable._saved_value, "", name, variable.dtype, variable.primary.device)
        super().__init__(variable, [spec], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Any] | None) -> Operation:
        """Gives every copy what was restored."""
        (value,) = restored_tensors
        return self._variable._restore(value)


def _read_on_cpu(variable: Variable) -> Tensor:
    with device(variable.device):
        value = variable.read_value()
        with device("/device:CPU:0"):  # of the variable's task
            return constants.identity(value)


def is_saveable(value: Any) -> bool:
    """Whether something says itself how it is saved: a SaveableObject, or a table's."""
    return hasattr(value, "specs") and hasattr(value, "restore")


def on_cpu(name: str) -> str:
    """The first CPU of the task that a device is of."""
    spec = DeviceSpec.from_string(name or "")
    return spec.replace(device_type="CPU", device_index=0).to_string()


# --------------------------------------------------------------------------------------- from what users give


def saveables_of(var_list: Any) -> list[Any]:
    """What is saved of a list of variables, or of a dictionary from names in the checkpoint to variables."""
    named = var_list if isinstance(var_list, dict) else names_of(var_list)
    if not all(isinstance(name, str) for name in named):
        wrong = next(name for name in named if not isinstance(name, str))
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to trackable operations. Name is not a "
            f"string: {wrong}"
        )
    found, seen = [], set()
    for name in sorted(named):
        for saveable in saveables_for(named[name], name):
            if id(saveable.op) in seen:
                raise ValueError(f"The same saveable will be restored with two names: {saveable.name}")
            seen.add(id(saveable.op))
            found.append(saveable)
    return found


def names_of(var_list: Any) -> dict[str, Any]:
    """Variables by their names in a checkpoint; slices of one variable are a list under its name."""
    if not isinstance(var_list, (list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {var_list}")
    named: dict[str, Any] = {}
    for variable in sorted(_with_saveables(var_list), key=lambda v: v.name):
        part = variable._get_save_slice_info() if isinstance(variable, Variable) else None
        if part is not None:
            parts = named.setdefault(part.full_name, [])
            if not isinstance(parts, list):
                raise ValueError(f"Mixing slices and non-slices with the same name: {part.full_name}")
            parts.append(variable)
            continue
        name = _own_name(variable)
        if name in named:
            raise ValueError(f"At least two variables have the same name: {name}")
        named[name] = variable
    return named


def _with_saveables(var_list: Iterable[Any]) -> Iterator[Any]:
    """The list with what says how it is saved in the place of a table."""
    for item in var_list:
        if _has_parts(item):
            parts = item._gather_saveables_for_checkpoint().values()
            yield from _with_saveables(part() if _is_factory(part) else part for part in parts)
        else:
            yield item


def _has_parts(value: Any) -> bool:
    """Whether something is no variable and says which values it keeps: a table, an object of the user's."""
    if isinstance(value, (Variable, PartitionedVariable)) or is_saveable(value):
        return False
    return isinstance(value, Trackable)


def _is_factory(part: Any) -> bool:
    return callable(part) and not isinstance(part, Variable)


def _own_name(variable: Any) -> str:
    if isinstance(variable, Variable):
        return variable._shared_name if hasattr(variable, "handle") else variable.op.name
    if is_saveable(variable) or isinstance(variable, PartitionedVariable):
        return variable.name
    if isinstance(variable, Tensor) and _is_variables_tensor(variable):
        return variable.op.name
    raise TypeError(f"Variable to save is not a Variable: {variable}")


def _is_variables_tensor(tensor: Tensor) -> bool:
    return tensor.op.definition.role in ("variable", "read")


def saveables_for(value: Any, name: str) -> Iterator[Any]:
    if isinstance(value, (PartitionedVariable, list)):
        yield from _slices(value, name)
    elif is_saveable(value):
        yield value
    elif _has_parts(value):
        yield from _parts(value, name)
    elif isinstance(value, DistributedVariable):
        yield DistributedVariableSaveable(value, name)
    elif isinstance(value, Variable) and hasattr(value, "handle"):
        yield ResourceVariableSaveable(value, "", name)
    elif isinstance(value, Variable):
        yield ReferenceVariableSaveable(value._ref(), "", name)
    elif isinstance(value, Tensor) and value.op.definition.role == "variable":
        yield ReferenceVariableSaveable(value, "", name)
    elif isinstance(value, Tensor) and value.op.definition.role == "read":
        yield ResourceVariableSaveable(value, "", name)
    else:
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a variable: "
            f"{value}"
        )


def _parts(value: Any, name: str) -> Iterator[Any]:
    for key, part in value._gather_saveables_for_checkpoint().items():
        full_name = name if key == VARIABLE_VALUE else f"{name}_{key}"
        made = part(full_name) if _is_factory(part) else part
        yield from saveables_for(made, made.name)


def _slices(variables: Any, name: str) -> Iterator[SaveableObject]:
    whole = None
    for variable in variables:
        part = variable._get_save_slice_info() if isinstance(variable, Variable) else None
        if part is None:
            raise ValueError(f"Slices must all be slices: {variable}")
        if whole not in (None, part.full_name):
            raise ValueError(f"Slices must all be from the same tensor: {whole} != {part.full_name}")
        whole = part.full_name
        kind = ResourceVariableSaveable if hasattr(variable, "handle") else ReferenceVariableSaveable
        yield kind(variable, part.spec, name)
