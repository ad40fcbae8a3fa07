"""Variables of a model: made in the collection of their kind, found again by name, set from values."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from tideflow.graph.graph import Graph
    from tideflow.graph.typing import (
        DeviceLike,
        DTypeLike,
        InitializerLike,
        RegularizerLike,
        ShapeLike,
        TensorLike,
        VariableLike,
    )

for _name in ("get_global_step", "create_global_step", "get_or_create_global_step", "assert_global_step"):
    expose(getattr(global_step, _name), f"contrib.framework.{_name}")


@export("contrib.framework.assert_or_get_global_step")
def assert_or_get_global_step(
    graph: Graph | None = None, global_step_tensor: VariableLike | None = None
) -> Any:
    """The global step that is given, once it is checked, or the graph's.

    Args:
      graph: The graph; the default graph if None.
      global_step_tensor: The global step; that of the graph if None.

    Returns:
      The global step.
    """
    if global_step_tensor is None:
        return global_step.get_global_step(graph)
    global_step.assert_global_step(global_step_tensor)
    return global_step_tensor


# ----------------------------------------------------------------------------------------------- making them


@export("contrib.framework.variable")
@add_arg_scope
def variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike | None = None,
    regularizer: RegularizerLike | None = None,
    trainable: bool = True,
    collections: Sequence[Any] | None = None,
    caching_device: DeviceLike | None = None,
    device: DeviceLike | None = None,
    partitioner: Callable | None = None,
    custom_getter: Callable | None = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """Makes or shares a variable, on a device that may be chosen for it.

    Args:
      name: The name of the variable.
      shape: The shape of the variable.
      dtype: The type of the variable; that of the scope if None.
      initializer: The initializer of the variable; that of the scope if None.
      regularizer: The regularizer of the variable; that of the scope if None.
      trainable: Whether the variable is trained.
      collections: Collections that the variable is added to; GLOBAL_VARIABLES if None.
      caching_device: The device that keeps a copy for reading; that of the scope if None.
      device: The device of the variable, or a function that chooses it, such as a `VariableDeviceChooser`.
      partitioner: A function from shape and type to the number of parts along each axis; None for a whole.
      custom_getter: A function that is called instead of the getter of variables, with that getter as its
        first argument.
      use_resource: Whether the variable is a resource; the scope's choice if None.
      synchronization: When copies on several devices are synchronized.
      aggregation: How the writes of several devices are combined.

    Returns:
      The variable.
    """
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
    shape: ShapeLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    initializer: InitializerLike | None = None,
    regularizer: RegularizerLike | None = None,
    trainable: bool = True,
    collections: Sequence[Any] | None = None,
    caching_device: DeviceLike | None = None,
    device: DeviceLike | None = None,
    partitioner: Callable | None = None,
    custom_getter: Callable | None = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """Makes or shares a variable that is also in the collection of the model's.

    Args:
      name: The name of the variable.
      shape: The shape of the variable.
      dtype: The type of the variable.
      initializer: The initializer of the variable; that of the scope if None.
      regularizer: The regularizer of the variable; that of the scope if None.
      trainable: Whether the variable is trained.
      collections: Collections that the variable is added to, beside those of all and of the model's
        variables.
      caching_device: The device that keeps a copy for reading; that of the scope if None.
      device: The device of the variable, or a function that chooses it, such as a `VariableDeviceChooser`.
      partitioner: A function from shape and type to the number of parts along each axis; None for a whole.
      custom_getter: A function that is called instead of the getter of variables, with that getter as its
        first argument.
      use_resource: Whether the variable is a resource; the scope's choice if None.
      synchronization: When copies on several devices are synchronized.
      aggregation: How the writes of several devices are combined.

    Returns:
      The variable.
    """
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
    initial_value: TensorLike | Callable[[], TensorLike],
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Variable:
    """Makes a variable of this process alone that is not trained.

    Args:
      initial_value: The initial value, or a function that makes it.
      validate_shape: Whether the shape of the initial value must be known.
      name: The name of the variable.
      use_resource: Whether the variable is a resource; the scope's choice if None.

    Returns:
      The variable.
    """
    return _untrained(initial_value, validate_shape, name, use_resource, GraphKeys.LOCAL_VARIABLES)


@export("contrib.framework.global_variable")
def global_variable(
    initial_value: TensorLike | Callable[[], TensorLike],
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Variable:
    """Makes a variable that all processes share and that is not trained.

    Args:
      initial_value: The initial value, or a function that makes it.
      validate_shape: Whether the shape of the initial value must be known.
      name: The name of the variable.
      use_resource: Whether the variable is a resource; the scope's choice if None.

    Returns:
      The variable.
    """
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
def add_model_variable(var: VariableLike) -> None:
    """Puts a variable into the collection of the model's, once.

    Args:
      var: The variable.
    """
    if var not in get_collection(GraphKeys.MODEL_VARIABLES):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


@export("contrib.framework.VariableDeviceChooser")
class VariableDeviceChooser:
    """A function for `device=` that deals variables out to the tasks of a job, in turn.

    Args:
      num_tasks: The number of tasks; with 0, no job is named.
      job_name: The job.
      device_type: The type of the device.
      device_index: The index of the device.
      replica: The replica; none if None.
    """

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
    scope: str | VariableScope | None = None,
    suffix: str | None = None,
    collection: str = GraphKeys.GLOBAL_VARIABLES,
) -> list:
    """Finds variables by scope and ending.

    Args:
      scope: A scope that names begin with: a regular expression, or a variable scope; any if None.
      suffix: The ending of names; any if None.
      collection: The collection to look in.

    Returns:
      A list of variables.
    """
    if isinstance(scope, VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = f"{scope or ''}.*{suffix if ':' in suffix else suffix + ':'}"
    return get_collection(collection, scope)


@export("contrib.framework.get_model_variables")
def get_model_variables(scope: str | VariableScope | None = None, suffix: str | None = None) -> list:
    """Finds the model's variables by scope and ending.

    Args:
      scope: A scope that names begin with: a regular expression, or a variable scope; any if None.
      suffix: The ending of names; any if None.

    Returns:
      A list of variables.
    """
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


@export("contrib.framework.get_local_variables")
def get_local_variables(scope: str | VariableScope | None = None, suffix: str | None = None) -> list:
    """Finds local variables by scope and ending.

    Args:
      scope: A scope that names begin with: a regular expression, or a variable scope; any if None.
      suffix: The ending of names; any if None.

    Returns:
      A list of variables.
    """
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


@export("contrib.framework.get_trainable_variables")
def get_trainable_variables(scope: str | VariableScope | None = None, suffix: str | None = None) -> list:
    """Finds trainable variables by scope and ending.

    Args:
      scope: A scope that names begin with: a regular expression, or a variable scope; any if None.
      suffix: The ending of names; any if None.

    Returns:
      A list of variables.
    """
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


@export("contrib.framework.get_variables_by_suffix")
def get_variables_by_suffix(suffix: str, scope: str | VariableScope | None = None) -> list:
    """Finds variables by the ending of their names.

    Args:
      suffix: The ending of names.
      scope: A scope that names begin with: a regular expression, or a variable scope; any if None.

    Returns:
      A list of variables.
    """
    return get_variables(scope=scope, suffix=suffix)


@export("contrib.framework.get_variables_by_name")
def get_variables_by_name(given_name: str, scope: str | VariableScope | None = None) -> list:
    """Finds variables by their own name.

    Args:
      given_name: The name behind the last slash.
      scope: A scope that names begin with: a regular expression, or a variable scope; any if None.

    Returns:
      A list of variables.
    """
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


@export("contrib.framework.get_variable_full_name")
def get_variable_full_name(var: VariableLike) -> str:
    """The name of a variable, or of the whole that it is a part of.

    Args:
      var: The variable.

    Returns:
      The name.
    """
    whole = getattr(var, "_save_slice_info", None)
    return whole.full_name if whole else var.op.name


@export("contrib.framework.get_unique_variable")
def get_unique_variable(var_op_name: str) -> Any:
    """The one variable of this name.

    Args:
      var_op_name: The full name, without a colon.

    Returns:
      The variable.

    Raises:
      ValueError: If there is none, or more than one.
    """
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
    """Finds the variables of some scopes that are not in others.

    Args:
      include: Scopes to include; all if None.
      exclude: Scopes to leave out; none if None.

    Returns:
      A list of variables.
    """
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
    """Chooses variables by patterns of their names.

    Args:
      var_list: The variables.
      include_patterns: Regular expressions, one of which a name must match; any name if None.
      exclude_patterns: Regular expressions that a name must not match.
      reg_search: Whether a match may begin anywhere in a name; if not, at its start.

    Returns:
      A list of variables.
    """
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
    """Makes an operation that sets variables to arrays.

    Args:
      var_names_to_values: Arrays by the names of variables.

    Returns:
      The operation and the dictionary to feed it.
    """
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
    """Makes a function that sets variables to arrays in a session.

    Args:
      var_names_to_values: Arrays by the names of variables.

    Returns:
      A function of a session.
    """
    assignment, feeds = assign_from_values(var_names_to_values)

    def initialize(session: Any) -> None:
        session.run(assignment, feeds)

    return initialize
