"""Names of TensorFlow's inner modules of variables; in `variables`, `Variable` is TensorFlow 2's."""

from __future__ import annotations

from typing import Any

from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.variables import base, reference, second_form

Variable = second_form.Variable
VariableV1 = base.Variable
RefVariable = reference.RefVariable


def _all_saveable_objects(scope: str | None = None) -> list[Any]:
    """The variables and other objects that checkpoints keep.

    Args:
      scope: A pattern that their names begin with.
    """
    collections = GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS
    return [each for key in collections for each in get_collection(key, scope)]


def copy_handle_data(source_t: Tensor, target_t: Any) -> None:
    """Lets a handle stand for the variable that another one stands for.

    Args:
      source_t: The handle of a variable.
      target_t: A tensor of resources.
    """
    target_t._variable = getattr(source_t, "_variable", None)
