"""`tf.custom_gradient`: a function of tensors with a gradient function of its own."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.autodiff.registry import RegisterGradient
from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.ops.arrays import constants

if TYPE_CHECKING:
    from tideflow.graph.graph import Graph
    from tideflow.graph.typing import Gradient, TensorLike

_uids = itertools.count()


@export("custom_gradient", "contrib.eager.custom_gradient")
def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that gives a function of tensors a gradient function of its own.

    Args:
      f: A function of tensors that returns a pair: its result, a tensor or a structure of tensors, and a
        function `grad_fn(*result_grads)`. That takes the gradients of the result's tensors and returns the
        gradients of the arguments. If `f` uses resource variables, it must have a parameter `variables` for
        the list of them, and return a pair: the gradients of the arguments and those of the variables.

    Returns:
      A function that takes the arguments of `f`, by position only, and returns its result.

    Raises:
      ValueError: When called in a graph, if it is given keyword arguments.
      TypeError: When called, if `f` uses reference variables, or uses variables and `grad_fn` has no
        parameter `variables`.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        graph: Any = get_default_graph()
        if graph.is_eager:
            return graph.with_custom_gradient(f, args, kwargs)
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when eager "
                "execution is enabled."
            )
        return _apply(f, args)

    return decorated


def _apply(f: Callable[..., Any], args: Sequence[TensorLike]) -> Any:
    graph = get_default_graph()
    inputs = [convert_to_tensor(x) for x in args]
    first, before = len(graph._ops), _reference_variables(graph)
    result, grad_fn = f(*inputs)
    if _reference_variables(graph) != before:
        raise TypeError(
            "All variables used by a function wrapped with @custom_gradient must be `ResourceVariable`s. "
            "Ensure that no `variable_scope` is created with `use_resource=False`."
        )
    variables = variables_read(graph, first)
    with_variables = takes_variables(grad_fn, variables)
    flat = [convert_to_tensor(x) for x in nest.flatten(result)]
    for tensor in flat:
        constants.identity(tensor)  # unused, but TensorFlow's graph has it
    name = f"CustomGradient-{next(_uids)}"

    @RegisterGradient(name)
    def gradient(op: Operation, *grads: Gradient) -> list[Any]:
        result_grads = grads[: len(flat)]
        if with_variables:
            in_grads, variable_grads = grad_fn(*result_grads, variables=variables)
            if len(variable_grads) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            in_grads, variable_grads = grad_fn(*result_grads), []
        return [None] * len(flat) + nest.flatten(in_grads) + list(variable_grads)

    with graph.gradient_override_map({constants.identity_n_op.name: name}):
        tensors = constants.identity_n([*flat, *inputs, *variables])
    for variable in variables:
        convert_to_tensor(variable)  # unused, but TensorFlow's graph has it
    return nest.pack_sequence_as(result, tensors[: len(flat)]) if nest.is_nested(result) else tensors[0]


def _reference_variables(graph: Graph) -> list[Any]:
    return [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES) if not hasattr(v, "handle")]


def variables_read(graph: Graph, first: int) -> list[Any]:
    """The trainable variables that the operations from index `first` on use."""
    used = {tensor: None for op in graph._ops[first:] for tensor in op.inputs}
    trainable = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
    found = [v for v in trainable if getattr(v, "handle", None) in used]
    captured = [variable_of(tensor) for tensor in used]
    return found + [v for v in captured if v is not None and v.trainable and v not in found]


def variable_of(handle: Any) -> Any:
    """The variable of eager mode whose handle a tensor is, or stands for in a function; or None."""
    reference = getattr(handle, "_variable", None)
    return None if reference is None else reference()


def takes_variables(grad_fn: Callable[..., Any], used: list[Any]) -> bool:
    """Whether a gradient function is to be given variables; TypeError if it does not take them."""
    parameters = inspect.signature(grad_fn).parameters
    accepts = "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if used and not accepts:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must accept a "
            "keyword argument 'variables'."
        )
    return bool(used)
