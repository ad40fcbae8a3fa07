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
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.ops import constants

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
    args = [constants.identity(convert_to_tensor(x)) for x in args]
    before = _trainable(graph)
    result, grad_fn = f(*args)
    used = [v for v in _trainable(graph) if v not in before]
    flat = [convert_to_tensor(x) for x in nest.flatten(result)]
    variables = _wanted_variables(grad_fn, used)
    name = f"CustomGradient-{next(_uids)}"

    @RegisterGradient(name)
    def _(op: Any, *grads: Any) -> list[Any]:
        result_grads = grads[: len(flat)]
        if variables:
            in_grads, variable_grads = grad_fn(*result_grads, variables=used)
            if len(variable_grads) != len(used):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            in_grads, variable_grads = grad_fn(*result_grads), []
        return [None] * len(flat) + nest.flatten(in_grads) + list(variable_grads)

    sources = [_variable_source(v) for v in used] if variables else []
    with graph.gradient_override_map({"IdentityN": name}):
        tensors = constants.identity_n([*flat, *args, *sources])
    return nest.pack_sequence_as(result, tensors[: len(flat)]) if nest.is_nested(result) else tensors[0]


def _trainable(graph: Any) -> list[Any]:
    return graph.get_collection(GraphKeys.GLOBAL_VARIABLES)


def _wanted_variables(grad_fn: Callable, used: list[Any]) -> bool:
    accepts = "variables" in inspect.signature(grad_fn).parameters
    if used and not accepts:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must accept a "
            "'variables' keyword argument."
        )
    return bool(used) and accepts


def _variable_source(variable: Any) -> Tensor:
    return variable.handle if isinstance(getattr(variable, "handle", None), Tensor) else variable._ref()
