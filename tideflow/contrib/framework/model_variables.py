"""Variables of a model: made in the collection of their kind, found again by name, set from values."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tideflow.contrib.framework.argument_scopes import add_arg_scope
from tideflow.export import export, expose
from tideflow.graph import dtypes
from tideflow.graph.device import DeviceSpec
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import GraphKeys, add_to_collection, get_collection
from tideflow.graph.scopes import device as on_device
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import grouping
from tideflow.variables import global_step
from tideflow.variables.base import Variable, VariableAggregation, VariableSynchronization
from tideflow.variables.variable_scope import VariableScope, get_variable, get_variable_scope

for _name in ("get_global_step", "create_global_step", "get_or_create_global_step", "assert_global_step"):
    expose(getattr(global_step, _name), f"contrib.framework.{_name}")


@export("contrib.framework.assert_or_get_global_step")
def assert_or_get_global_step(graph: Any = None, global_step_tensor: Any = None) -> Any:
    """The global step that is given, once it is checked, or the graph's."""
    if global_step_tensor is None:
        return global_step.get_global_step(graph)
    global_step.assert_global_step(global_step_tensor)
    return global_step_tensor


# ----------------------------------------------------------------------------------------------- making them


@export("contrib.framework.variable")
@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Callable | None = None,
    trainable: bool = True,
    collections: Sequence[Any] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Callable | None = None,
    custom_getter: Callable | None = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """The variable of this name, made or shared, on a device that may be chosen for it."""
    kinds = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(dict.fromkeys(collections))
    getter = get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=get_variable_scope().reuse)
    with on_device(device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=kinds,
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@export("contrib.framework.model_variable")
@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    regularizer: Callable | None = None,
    trainable: bool = True,
    collections: Sequence[Any] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Callable | None = None,
    custom_getter: Callable | None = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """A variable that is also in the collection of the model's."""
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=[*(collections or ()), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES],
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


@export("contrib.framework.local_variable")
def local_variable(
    initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: bool | None = None
) -> Variable:
    """A variable of this process alone, that is not trained."""
    return _untrained(initial_value, validate_shape, name, use_resource, GraphKeys.LOCAL_VARIABLES)


@export("contrib.framework.global_variable")
def global_variable(
    initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: bool | None = None
) -> Variable:
    """A variable that all processes share, that is not trained."""
    return _untrained(initial_value, validate_shape, name, use_resource, GraphKeys.GLOBAL_VARIABLES)


def _untrained(value: Any, validate_shape: bool, name: str | None, use_resource: Any, kind: str) -> Variable:
    return Variable(
        value,
        trainable=False,
        collections=[kind],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


@export("contrib.framework.add_model_variable")
def add_model_variable(var: Any) -> None:
    """Puts a variable into the collection of the model's, once."""
    if var not in get_collection(GraphKeys.MODEL_VARIABLES):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


@export("contrib.framework.VariableDeviceChooser")
class VariableDeviceChooser:
    """A function for `device=` that deals variables out to the tasks of a job, in turn."""

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: int | None = None,
    ):
        self._job_name = job_name
        self._device_type = device_type
        self._device_index = device_index
        self._replica = replica
        self._num_tasks = num_tasks
        self._next_task_id = 0

    def __call__(self, op: Any) -> str:
        spec = DeviceSpec(
            replica=self._replica, device_type=self._device_type, device_index=self._device_index
        )
        if self._num_tasks > 0:
            spec.job, spec.task = self._job_name, self._next_task_id
            self._next_task_id = (self._next_task_id + 1) % self._num_tasks
        return spec.to_string()


# ---------------------------------------------------------------------------------------------- finding them


@export("contrib.framework.get_variables")
def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES
) -> list:
    """The variables of a scope whose names end as `suffix` says."""
    if isinstance(scope, VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = f"{scope or ''}.*{suffix if ':' in suffix else suffix + ':'}"
    return get_collection(collection, scope)


@export("contrib.framework.get_model_variables")
def get_model_variables(scope: Any = None, suffix: str | None = None) -> list:
    """The model's variables, of a scope and an ending."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


@export("contrib.framework.get_local_variables")
def get_local_variables(scope: Any = None, suffix: str | None = None) -> list:
    """Local variables, of a scope and an ending."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


@export("contrib.framework.get_trainable_variables")
def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list:
    """Trainable variables, of a scope and an ending."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


@export("contrib.framework.get_variables_by_suffix")
def get_variables_by_suffix(suffix: str, scope: Any = None) -> list:
    """The variables whose names end so."""
    return get_variables(scope=scope, suffix=suffix)


@export("contrib.framework.get_variables_by_name")
def get_variables_by_name(given_name: str, scope: Any = None) -> list:
    """The variables whose own name, behind the last slash, is this."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


@export("contrib.framework.get_variable_full_name")
def get_variable_full_name(var: Any) -> str:
    """The name of a variable, or of the whole that it is a part of."""
    whole = getattr(var, "_save_slice_info", None)
    return whole.full_name if whole else var.op.name


@export("contrib.framework.get_unique_variable")
def get_unique_variable(var_op_name: str) -> Any:
    """The one variable of this name."""
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


@export("contrib.framework.get_variables_to_restore")
def get_variables_to_restore(
    include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
) -> list:
    """The variables of the scopes `include` (all, if None) that are in none of the scopes `exclude`."""
    for name, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{name} is provided but is not a list or a tuple.")
    wanted = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    unwanted = {v for scope in exclude or () for v in get_variables(scope)}
    return [v for v in wanted if v not in unwanted]


@export("contrib.framework.filter_variables")
def filter_variables(
    var_list: Sequence[Any],
    include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None,
    reg_search: bool = True,
) -> list:
    """The variables whose names match a pattern to include (if there are any) and none to exclude."""
    matches = re.search if reg_search else re.match

    def is_one(var: Any, patterns: Sequence[str]) -> bool:
        return any(matches(pattern, var.op.name) for pattern in patterns)

    return [
        v
        for v in var_list
        if (not include_patterns or is_one(v, include_patterns)) and not is_one(v, exclude_patterns or ())
    ]


# ---------------------------------------------------------------------------------------------- setting them


@export("contrib.framework.assign_from_values")
def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Operation, dict[Any, Any]]:
    """An operation that sets variables, by name, to arrays, and what to feed it."""
    feeds, assignments = {}, []
    for name, value in var_names_to_values.items():
        found = get_collection(GraphKeys.GLOBAL_VARIABLES, f"{name}:0")
        var = found[0] if found else get_unique_variable(name)
        fed = constants.placeholder(var.dtype.base_dtype, name=f"placeholder/{var.op.name}")
        feeds[fed] = value.reshape(var.shape.as_list())
        assignments.append(var.assign(fed))
    return grouping.group(*assignments), feeds


@export("contrib.framework.assign_from_values_fn")
def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], None]:
    """A function of a session that sets variables, by name, to arrays."""
    assignment, feeds = assign_from_values(var_names_to_values)

    def initialize(session: Any) -> None:
        session.run(assignment, feeds)

    return initialize
