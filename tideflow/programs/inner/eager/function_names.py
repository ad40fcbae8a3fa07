"""What tests and libraries take from `eager.function` and `framework.func_graph`, beside functions."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue

import tideflow as tf
from tideflow.functions import tracing
from tideflow.functions.concrete import ConcreteFunction
from tideflow.functions.func_graph import MOST_ELEMENTS_OF_CONSTANTS, SHARED, FuncGraph
from tideflow.functions.function_spec import FunctionSpec
from tideflow.functions.structures import UnknownArgument as _UnknownArgument
from tideflow.functions.structures import signature_of
from tideflow.graph import nest
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_default_graph
from tideflow.graph.shapes import TensorShape
from tideflow.graph.type_spec import TensorSpec
from tideflow.graph.user_functions import converted
from tideflow.variables.resource import ResourceVariable

FORWARD_FUNCTION_ATTRIBUTE_NAME = "forward_function_name"
BACKWARD_FUNCTION_ATTRIBUTE_NAME = "backward_function_name"
WHITELIST_COLLECTIONS = list(SHARED)
UnknownArgument = _UnknownArgument
_EAGER_CONST_THRESHOLD = MOST_ELEMENTS_OF_CONSTANTS

CacheKey = collections.namedtuple(
    "CacheKey",
    [
        "input_signature",
        "parent_graph",
        "device_functions",
        "colocation_stack",
        "in_cross_replica_context",
    ],
)


class Function(tracing.Tracer):
    """What `defun` makes of a Python function.

    Args:
      python_function: The function.
      name: Its name.
      input_signature: A structure of TensorSpecs: the one signature that all calls have.
      attributes: Notes; `func_name` is its name.
      autograph: Whether Python's `if` and loops over tensors become parts of the graph.
      autograph_options: Further options of that conversion.
      experimental_relax_shapes: Whether a second trace is made for less specific shapes.
      capture_by_value: Whether it takes the values that tensors and variables have when it is traced.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str,
        input_signature: Any = None,
        attributes: dict[str, Any] | None = None,
        autograph: bool = True,
        autograph_options: Any = None,
        experimental_relax_shapes: bool = False,
        capture_by_value: bool | None = None,
    ):
        spec = FunctionSpec(python_function, input_signature)
        inner = python_function
        if autograph:
            inner = converted(inner, user_requested=True, optional_features=autograph_options)
        called = (attributes or {}).get("func_name", name)
        super().__init__(inner, called, spec, relax_shapes=experimental_relax_shapes)
        self._by_value = bool(capture_by_value)

    def _trace(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        made = super()._trace(*args, **kwargs)
        return _frozen(made) if self._by_value else made


def _frozen(concrete: ConcreteFunction) -> ConcreteFunction:
    """The function with copies of the variables that it reads, as they are now."""
    graph = concrete.graph
    copies = {v.handle: ResourceVariable(v.read_value(), trainable=False) for v in graph.variables}
    graph.held_variables.extend(copies.values())
    graph.captured = {
        copies[outer].handle if outer in copies else outer: inner for outer, inner in graph.captured.items()
    }
    return ConcreteFunction(graph)


def register(func: Any, *args: Any, **kwargs: Any) -> ConcreteFunction:
    """Adds the trace for arguments like these, and its gradients, to the default graph's library.

    Args:
      func: What `defun` made.
      *args: Arguments, by position.
      **kwargs: Arguments, by name.

    Returns:
      The trace.

    Raises:
      ValueError: If `func` is something else.
    """
    if not isinstance(func, tracing.Tracer):
        raise ValueError(f"Only defun function is allowed to be registered. Got type: {type(func)}")
    made = func.get_concrete_function(*args, **kwargs)
    made.add_to_graph()
    made.add_gradient_functions_to_graph()
    return made


def validate_signature(signature: Any) -> None:
    """Refuses what is no structure of TensorSpecs.

    Args:
      signature: The structure.

    Raises:
      TypeError: If a leaf is something else.
    """
    if any(not isinstance(spec, TensorSpec) for spec in nest.flatten(signature, expand_composites=True)):
        raise TypeError(
            f"Invalid input_signature {signature}; input_signature must be a possibly nested sequence of "
            "TensorSpec objects."
        )


def common_shape(x: TensorShape | None, y: TensorShape | None) -> TensorShape | None:
    """The most specific shape that two shapes fit.

    Args:
      x: A shape; None if a value was no tensor.
      y: Another.

    Returns:
      The shape; None of two values that are no tensors.

    Raises:
      RuntimeError: If only one is a shape.
    """
    if (x is None) != (y is None):
        raise RuntimeError(
            "Cannot find a common shape when LHS shape is None but RHS shape is not (or vice versa)."
        )
    if x is None or y is None:
        return None
    return tracing._common(x, y)


def is_same_structure(structure1: Any, structure2: Any, check_values: bool = False) -> bool:
    """Whether two structures are alike.

    Args:
      structure1: One.
      structure2: The other.
      check_values: Whether their leaves must be the same objects, too.

    Returns:
      Whether they are.
    """
    try:
        nest.assert_same_structure(structure1, structure2, expand_composites=True)
    except (ValueError, TypeError):
        return False
    if not check_values:
        return True
    leaves = zip(
        nest.flatten(structure1, expand_composites=True),
        nest.flatten(structure2, expand_composites=True),
        strict=True,
    )
    return all(type(a) is type(b) and a is b for a, b in leaves)


def check_mutation(n1: Any, n2: Any) -> None:
    """Refuses a function that changed the structure of its arguments.

    Args:
      n1: The arguments before.
      n2: The arguments after.

    Raises:
      ValueError: If they differ.
    """
    if not is_same_structure(n1, n2, check_values=True):
        raise ValueError(tracing._MUTATED)


def convert_structure_to_signature(structure: Any, arg_names: Sequence[str] | None = None) -> Any:
    """The structure with a TensorSpec in the place of each tensor.

    Args:
      structure: The structure.
      arg_names: The names of the arguments that are its parts.

    Returns:
      The structure of specs.
    """
    return signature_of(structure, arg_names)


def maybe_captured(tensor: Tensor) -> Tensor:
    """The tensor outside that an input of a function stands for; any other tensor itself.

    Args:
      tensor: The tensor.

    Returns:
      The tensor outside.
    """
    graph: Any = None if tensor.is_eager else tensor.graph
    if isinstance(graph, FuncGraph):
        for outer, inner in graph.captured.items():
            if inner is tensor:
                return maybe_captured(outer)
    return tensor


def device_stack_has_callable(device_stack: Any) -> bool:
    """Whether a stack of `tf.device` blocks has a function in it.

    Args:
      device_stack: The stack.

    Returns:
      Whether it has.
    """
    return any(callable(getattr(each, "_device_name_or_function", None)) for each in device_stack.peek_objs())


def dismantle_func_graph(func_graph: FuncGraph) -> None:
    """Lets a function's graph go: what it captured is held no longer.

    Args:
      func_graph: The graph.
    """
    func_graph.captured.clear()


def _parse_func_attrs(attributes: dict[str, Any]) -> dict[str, AttrValue]:
    """The notes of a function as AttrValue messages; ValueError for one of another kind."""
    return {name: _attr_value(name, value) for name, value in attributes.items()}


def _attr_value(name: str, value: Any) -> AttrValue:
    if isinstance(value, AttrValue):
        return value
    if isinstance(value, bool):
        return AttrValue(b=value)
    if isinstance(value, int):
        return AttrValue(i=value)
    if isinstance(value, float):
        return AttrValue(f=value)
    if isinstance(value, (str, bytes)):
        return AttrValue(s=value.encode() if isinstance(value, str) else value)
    raise ValueError(f"Unsupported attribute type for {name} with type {type(value)}")


def graph_zeros_like(tensor: Tensor) -> Tensor:
    """Zeros of a tensor's shape, in its graph.

    Args:
      tensor: The tensor.

    Returns:
      The zeros.
    """
    with tensor.graph.as_default():
        return tf.raw_ops.ZerosLike(x=tensor, name="zeros_like")


def graph_placeholder(dtype: Any, shape: Any, name: str | None = None) -> Tensor:
    """A placeholder of the default graph.

    Args:
      dtype: Its type.
      shape: Its shape.
      name: Its name.

    Returns:
      The placeholder.
    """
    graph = get_default_graph()
    with graph.as_default():
        return tf.placeholder(dtype.base_dtype, shape, name or "placeholder")
