"""Which class of variable `tf.Variable(...)` makes."""

from __future__ import annotations

import inspect
from typing import Any

from tideflow.graph.scopes import executing_eagerly
from tideflow.variables.base import Variable, register_default_creator, resource_variables_enabled
from tideflow.variables.reference import RefVariable
from tideflow.variables.resource import ResourceVariable
from tideflow.variables.variable_scope import get_variable_scope

_REFERENCE = frozenset(inspect.signature(RefVariable).parameters)
_RESOURCE = frozenset(inspect.signature(ResourceVariable).parameters) - {"validate_shape"}


def _default_creator(**arguments: Any) -> Variable:
    """A reference or a resource variable, as the argument, the scope or the program's default says.

    What creators of programs add for other creators, as `colocate_with`, is passed over.
    """
    use_resource = arguments.pop("use_resource", None)
    variable_def = arguments.get("variable_def")
    if variable_def is not None:
        use_resource = variable_def.is_resource
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    if use_resource is None:
        use_resource = resource_variables_enabled()
    if not use_resource and not executing_eagerly():
        return RefVariable(**{name: arguments[name] for name in arguments.keys() & _REFERENCE})
    return ResourceVariable(**{name: arguments[name] for name in arguments.keys() & _RESOURCE})


register_default_creator(_default_creator)
