"""`tf.py_function`: a Python function of eager tensors as an operation, with gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.autodiff.gradients import UnconnectedGradients
from tideflow.eager.context import eager_mode
from tideflow.eager.tape import GradientTape
from tideflow.eager.tensor import eager_tensor
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.scopes import executing_eagerly
from tideflow.ops.control_flow.python_functions import (
    as_many,
    called,
    eager_py_func,
    is_smooth,
    new_token,
    refuse_variable,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


class _TapedFunction:
    """A function that a step of a graph calls: forward, then with the gradients of what it gave."""

    def __init__(self, func: Callable[..., Any]):
        self._func = func
        self._last: tuple[GradientTape, list[Any], list[Any]] | None = None

    def forward(
        self, values: Sequence[Any], given: list[dtypes.DType], wanted: list[dtypes.DType]
    ) -> list[Any]:
        with eager_mode():
            inputs = _tensors(values, given)
            with GradientTape(persistent=True) as tape:
                tape.watch([x for x in inputs if is_smooth(x)])
                outputs = _converted(self._func(*inputs), wanted)
        self._last = tape, inputs, outputs
        return [output._value for output in outputs]

    def backward(
        self, values: Sequence[Any], given: list[dtypes.DType], wanted: list[dtypes.DType]
    ) -> list[Any]:
        assert self._last is not None, "the op whose gradient this is has run"
        tape, inputs, outputs = self._last
        with eager_mode():
            grads = _tensors(values, given)[len(outputs) :]
            targets, sources = ([x for x in tensors if is_smooth(x)] for tensors in (outputs, inputs))
            found = tape.gradient(targets, sources, grads, unconnected_gradients=UnconnectedGradients.ZERO)
            return [convert_to_tensor(x)._value for x in found]  # type: ignore[attr-defined]


def _tensors(values: Sequence[Any], types: list[dtypes.DType]) -> list[Any]:
    return [eager_tensor(v, dtype) for v, dtype in zip(values, types, strict=True)]


def _converted(result: Any, wanted: list[dtypes.DType]) -> list[Any]:
    """What a function returned as tensors of the types that it promised, as far as there are both."""
    results = [] if result is None else result if isinstance(result, (list, tuple)) else [result]
    for value in results:
        refuse_variable(value)
    return [convert_to_tensor(value, dtype) for value, dtype in zip(results, wanted)]


@export("py_function", "contrib.eager.py_func")
def py_function(
    func: Callable[..., Any],
    inp: Sequence[TensorLike],
    Tout: DTypeLike | Sequence[DTypeLike],
    name: str | None = None,
) -> Any:
    """A Python function of eager tensors as an operation, which can be differentiated.

    In a graph, each step that needs the result calls the function, in this process, in eager mode.

    Args:
      func: Takes an eager tensor for each of `inp`; returns a tensor, a list of tensors, or None.
      inp: The tensors.
      Tout: The type of each result, a single type, or an empty list if there are none.
      name: The name of the operation.

    Returns:
      A list of tensors, or a tensor if `Tout` is a single type; in a graph, the operation if there are none.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    single = not isinstance(Tout, (list, tuple))
    wanted = [dtypes.as_dtype(dtype) for dtype in ([Tout] if single else Tout)]  # type: ignore[union-attr]
    if executing_eagerly():
        returned = called(lambda *tensors: _converted(func(*tensors), wanted), [*map(convert_to_tensor, inp)])
        results = as_many(returned, len(wanted), new_token())
    else:
        taped = _TapedFunction(func)
        node = eager_py_func(taped.forward, taped.backward, list(inp), wanted, name)
        if not wanted:
            return node
        results = list(node.outputs)
    return results[0] if single else results
