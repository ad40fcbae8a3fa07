"""Functions with gradients of their own, and gradients of Python functions, by tapes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.autodiff.custom import takes_variables
from tideflow.eager.recording import Record, recording
from tideflow.eager.tape import GradientTape
from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.ops.arrays import constants

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def with_custom_gradient(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What `tf.custom_gradient(f)` gives in eager mode: tapes record the whole of it as one operation."""
    inputs = [convert_to_tensor(x) for x in nest.flatten(args)]
    outside, recording.tapes = recording.tapes, ()
    try:
        with GradientTape() as tape:
            result, grad_fn = f(*inputs, **kwargs)
        flat = [constants.identity(convert_to_tensor(x)) for x in nest.flatten(result)]
    finally:
        recording.tapes = outside
    used = list(tape.watched_variables())
    with_variables = takes_variables(grad_fn, used)

    def gradient(record: Record, *grads: Any) -> list[Any]:
        found, variable_grads = grad_fn(*grads, variables=used) if with_variables else (grad_fn(*grads), [])
        if len(variable_grads) != len(used):
            raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        in_grads = nest.flatten(found)
        if len(in_grads) != len(inputs):
            raise ValueError(
                "custom_gradient function expected to return",
                len(inputs),
                "gradients but returned",
                len(in_grads),
                "instead.",
            )
        return [*in_grads, *variable_grads]

    handles = [variable.handle for variable in used]
    record = Record(constants.identity_n_op, {}, [*inputs, *handles], flat, None, gradient)
    for outer in outside:
        outer.add_record(record)
    return nest.pack_sequence_as(result, flat) if nest.is_nested(result) else flat[0]


def checked(value: Any, f: Callable[..., Any]) -> Any:
    if value is None:
        raise ValueError(
            "Cannot differentiate a function that returns None; did you forget to return a value from "
            f"{f.__name__}?"
        )
    return value


def positions(f: Callable[..., Any], params: Any, args: Sequence[Any]) -> list[int]:
    """The arguments by which `params` says to differentiate: names or positions, all where it is None."""
    if params is None:
        return list(range(len(args)))
    if all(isinstance(param, int) for param in params):
        return list(params)
    if not all(isinstance(param, str) for param in params):
        raise ValueError(f"params must be all strings or all integers; got {params}.")
    names = list(inspect.signature(f).parameters)
    return [names.index(param) for param in params]


@export("contrib.eager.value_and_gradients_function")
def value_and_gradients_function(
    f: Callable[..., Any], params: Sequence[str | int] | None = None
) -> Callable[..., Any]:
    """Makes a function that computes another one and its gradients.

    Args:
      f: A function of tensors.
      params: The names or positions of the arguments by which it is differentiated; all if None.

    Returns:
      A function of the same arguments, and of `dy`, the weight of the result. It returns the result and a
      list of gradients.

    Raises:
      ValueError: When called, if `f` returns None.
    """

    def run(*args: TensorLike, **kwargs: Any) -> tuple[Any, list[Any]]:
        dy = kwargs.pop("dy", None)
        inputs: list[Any] = [x if hasattr(x, "handle") else convert_to_tensor(x) for x in args]
        sources = [inputs[i] for i in positions(f, params, args)]
        with GradientTape() as tape:
            tape.watch(sources)
            value = checked(f(*inputs, **kwargs), f)
        return value, tape.gradient(value, sources, dy)

    return functools.update_wrapper(run, f)


@export("contrib.eager.gradients_function")
def gradients_function(
    f: Callable[..., Any], params: Sequence[str | int] | None = None
) -> Callable[..., list[Any]]:
    """Makes a function that computes the gradients of another one.

    Args:
      f: A function of tensors.
      params: The names or positions of the arguments by which it is differentiated; all if None.

    Returns:
      A function of the same arguments, and of `dy`, the weight of the result. It returns a list of gradients.
    """
    both = value_and_gradients_function(f, params)
    return functools.update_wrapper(lambda *args, **kwargs: both(*args, **kwargs)[1], f)


@export("contrib.eager.implicit_value_and_gradients")
def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function that computes another one, and its gradients by the trainable variables that it reads.

    Args:
      f: A function.

    Returns:
      A function of the same arguments. It returns the result and a list of pairs of gradient and variable.

    Raises:
      ValueError: When called, if `f` returns None or reads no trainable variable.
    """

    def run(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        with GradientTape() as tape:
            value = checked(f(*args, **kwargs), f)
        variables = tape.watched_variables()
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed.")
        return value, list(zip(tape.gradient(value, list(variables)), variables, strict=True))

    return functools.update_wrapper(run, f)


@export("contrib.eager.implicit_gradients")
def implicit_gradients(f: Callable[..., Any]) -> Callable[..., list[tuple[Any, Any]]]:
    """Makes a function that computes the gradients of another one by the trainable variables that it reads.

    Args:
      f: A function.

    Returns:
      A function of the same arguments. It returns a list of pairs of gradient and variable.
    """
    both = implicit_value_and_gradients(f)
    return functools.update_wrapper(lambda *args, **kwargs: both(*args, **kwargs)[1], f)
