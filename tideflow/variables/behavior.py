"""The switches between TensorFlow 1's behaviour, which is the default, and TensorFlow 2's."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from tideflow.eager.context import disable_eager_execution, enable_eager_execution
from tideflow.export import export
from tideflow.graph import traceback
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import graph_outside
from tideflow.graph.shapes import disable_v2_tensorshape, enable_v2_tensorshape
from tideflow.ops.math.binary import equal, not_equal
from tideflow.variables.base import Variable, disable_resource_variables, enable_resource_variables

_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep


class _Chosen:
    v2_behavior = False


def v2_behavior_enabled() -> bool:
    """Whether `tf.enable_v2_behavior` was called: some defaults of Keras depend on it."""
    return _Chosen.v2_behavior


@export("control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """Whether conditionals and loops are calls of functions: `tf.enable_control_flow_v2` makes them so."""
    return Graph.functional_control_flow


@export("enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """Makes `tf.cond`, `tf.case` and `tf.while_loop` add `If` and `While` operations to every graph, which
    call a function for each branch and for an iteration, in place of Switch, Merge, Enter and Exit.
    """
    Graph.functional_control_flow = True


@export("disable_control_flow_v2")
def disable_control_flow_v2() -> None:
    """Takes `tf.enable_control_flow_v2` back."""
    Graph.functional_control_flow = False


@export("enable_v2_behavior")
def enable_v2_behavior() -> None:
    """Makes the program behave as with TensorFlow 2: operations run at once, variables are resources, `==`
    compares elements, and the elements of shapes are ints.

    It is called once, before the program makes a graph.

    Raises:
      ValueError: If the program has made operations already.
    """
    enable_eager_execution()
    _Chosen.v2_behavior = True
    enable_v2_tensorshape()
    enable_resource_variables()
    enable_tensor_equality()
    enable_control_flow_v2()


@export("disable_v2_behavior")
def disable_v2_behavior() -> None:
    """Makes the program behave as with TensorFlow 1, which it does unless it says otherwise."""
    disable_eager_execution()
    _Chosen.v2_behavior = False
    disable_v2_tensorshape()
    disable_resource_variables()
    disable_tensor_equality()
    disable_control_flow_v2()


# ------------------------------------------------------------------------------------- `==` between tensors
# It is for programs: Tideflow's own code, which looks for tensors in lists and tables, tells them apart by
# identity whatever a program has chosen.


def _has_elements(value: Any) -> bool:
    """Whether `==` compares the elements of a tensor or a variable: beside eager mode, but not in a graph
    that the program builds itself.
    """
    graph = None if getattr(value, "is_eager", False) else getattr(value, "graph", None)
    of_program = isinstance(value, Tensor) and graph is not None and not graph.building_function
    return graph_outside().is_eager and not of_program


def _is_of_tideflow(code: CodeType) -> bool:
    return traceback.is_of_package(code) and code not in traceback.converted


def _is_equal(self: Any, other: Any) -> Any:
    if _is_of_tideflow(sys._getframe(1).f_code) or not _has_elements(self):
        return self is other
    return equal(self, other)


def _is_not_equal(self: Any, other: Any) -> Any:
    if _is_of_tideflow(sys._getframe(1).f_code) or not _has_elements(self):
        return self is not other
    return not_equal(self, other)


def _hash(self: Any) -> int:
    code = sys._getframe(1).f_code
    if not (_is_of_tideflow(code) or _is_of_standard_library(code)) and _has_elements(self):
        kind = "Tensor" if isinstance(self, Tensor) else "Variable"
        raise TypeError(
            f"{kind} is unhashable if Tensor equality is enabled. Instead, use tensor.experimental_ref() as "
            "the key."
        )
    return object.__hash__(self)


def _is_of_standard_library(code: CodeType) -> bool:
    """Whether this is code of a table that Tideflow may be using, such as a WeakKeyDictionary."""
    file = code.co_filename
    return file.startswith((_STANDARD_LIBRARY, "<frozen ")) and "site-packages" not in file


_OPERATORS: dict[str, Callable[..., Any]] = {"__eq__": _is_equal, "__ne__": _is_not_equal, "__hash__": _hash}


@export("enable_tensor_equality")
def enable_tensor_equality() -> None:
    """Makes `==` and `!=` compare the elements of tensors and variables, beside eager mode.

    A program cannot use them as keys then: `tensor.experimental_ref()` can be one.
    """
    for cls in (Tensor, Variable):
        for name, method in _OPERATORS.items():
            setattr(cls, name, method)


@export("disable_tensor_equality")
def disable_tensor_equality() -> None:
    """Makes tensors and variables equal only to themselves, as in TensorFlow 1."""
    for cls in (Tensor, Variable):
        for name in _OPERATORS:
            if name in vars(cls):
                delattr(cls, name)
