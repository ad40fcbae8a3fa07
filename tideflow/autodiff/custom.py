"""`tf.custom_gradient`: a function of tensors that brings its own gradient."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any

from tideflow.autodiff.registry import RegisterGradient
from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.ops.arrays import constants

_uids = itertools.count()


@export("custom_gradient")
def custom_gradient(f: Callable) -> Callable:
    """Decorator: `f(*tensors)` returns (result, grad_fn); gradients flow through `grad_fn(*result_grads)`
    instead.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when eager "
                "execution is enabled."
            )
        return _apply(f, args)

    return decorated


def _apply(f: Callable, args: tuple) -> Any:
    graph = get_default_graph()
    args = [convert_to_tensor(x) for x in args]
    first, before = len(graph._ops), _referenced(graph)
    result, grad_fn = f(*args)
    if _referenced(graph) != before:
        raise TypeError(
            "All variables used by a function wrapped with @custom_gradient must be `ResourceVariable`s. "
            "Ensure that no `variable_scope` is created with `use_resource=False`."
        )
    variables = _variables_read(graph, first)
    takes_variables = _takes_variables(grad_fn, variables)
    flat = [convert_to_tensor(x) for x in nest.flatten(result)]
    for tensor in flat:
        constants.identity(tensor)  # not needed here, but in TensorFlow's graphs
    name = f"CustomGradient-{next(_uids)}"

    @RegisterGradient(name)
    def _gradient(op: Any, *grads: Any) -> list[Any]:
        result_grads = grads[: len(flat)]
        if takes_variables:
            in_grads, variable_grads = grad_fn(*result_grads, variables=variables)
            if len(variable_grads) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            in_grads, variable_grads = grad_fn(*result_grads), []
        return [None] * len(flat) + nest.flatten(in_grads) + list(variable_grads)

    with graph.gradient_override_map({constants.identity_n_op.name: name}):
        tensors = constants.identity_n([*flat, *args, *variables])
    for variable in variables:
        convert_to_tensor(variable)  # not needed here, but in TensorFlow's graphs
    return nest.pack_sequence_as(result, tensors[: len(flat)]) if nest.is_nested(result) else tensors[0]


def _referenced(graph: Any) -> list[Any]:
    """The variables that have no handle."""
    return [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES) if not hasattr(v, "handle")]


def _variables_read(graph: Any, first: int) -> list[Any]:
    """The trainable variables that operations from number `first` on take."""
    taken = {tensor for op in graph._ops[first:] for tensor in op.inputs}
    trainable = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
    return [v for v in trainable if getattr(v, "handle", None) in taken]


def _takes_variables(grad_fn: Callable, used: list[Any]) -> bool:
    parameters = inspect.signature(grad_fn).parameters
    accepts = "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if used and not accepts:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must accept a "
            "'variables' keyword argument."
        )
    return bool(used)
