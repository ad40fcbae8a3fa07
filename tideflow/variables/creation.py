"""Which class of variable `tf.Variable(...)` makes."""

from __future__ import annotations

from typing import Any

from tideflow.graph.scopes import executing_eagerly
from tideflow.variables.base import Variable, register_default_creator, resource_variables_enabled
from tideflow.variables.reference import RefVariable
from tideflow.variables.resource import ResourceVariable
from tideflow.variables.variable_scope import get_variable_scope


def _default_creator(**arguments: Any) -> Variable:
    """A reference or a resource variable, as the argument, the scope or the program's default says."""
    use_resource = arguments.pop("use_resource")
    variable_def = arguments["variable_def"]
    if variable_def is not None:
        use_resource = variable_def.is_resource
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    if use_resource is None:
        use_resource = resource_variables_enabled()
    if not use_resource and not executing_eagerly():
        return RefVariable(**arguments)
    del arguments["validate_shape"], arguments["expected_shape"]
    return ResourceVariable(**arguments)


register_default_creator(_default_creator)
