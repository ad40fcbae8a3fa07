"""Loops of training steps: `while_loop` and `repeat`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.tpu.computations import argument_problem, refuse_queue
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.tpu.while_loop")
def while_loop(
    condition: Callable,
    body: Callable,
    inputs: Sequence[TensorLike] | None = None,
    infeed_queue: Any = None,
    name: str | None = None,
) -> Any:
    """Repeats a training step as long as a condition holds.

    Args:
      condition: A function of the loop's variables: whether to go on.
      body: A function of them that returns their next values, followed by operations that run with them.
      inputs: The first values of the loop's variables.
      infeed_queue: Must be None: only TPUs have such queues.
      name: Taken for compatibility.

    Returns:
      The last values of the loop's variables.

    Raises:
      TypeError: If a function takes another number of values, or the types of the variables change.
      ValueError: If the body returns operations before tensors.
    """
    refuse_queue(infeed_queue)
    first = [tf.convert_to_tensor(x) for x in inputs or ()]
    for function, what in ((body, "body"), (condition, "condition")):
        problem = argument_problem(function, len(first))
        if problem:
            raise TypeError(
                f"Supplied loop {what} function cannot be called with the specified inputs. You specified "
                f"{len(first)} inputs: {[x.name for x in first]}, but the loop {what} needs {problem}"
            )

    def goes_on(*variables: Tensor) -> Any:
        return condition(*variables[: len(first)])

    def step(*variables: Tensor) -> Any:
        return _next(body(*variables[: len(first)]), [x.dtype for x in first])

    # A loop without variables carries one all the same, for the operations of its body to hang on.
    return tf.while_loop(goes_on, step, first or [tf.constant(0)], parallel_iterations=1, name="")


def _next(outputs: Any, types: list[Any]) -> Any:
    """What a body returned, as the loop's next variables."""
    found = outputs if isinstance(outputs, (list, tuple)) else (outputs,)
    converted = [x if isinstance(x, Operation) else tf.convert_to_tensor(x) for x in found]
    tensors = [x for x in converted if not isinstance(x, Operation)]
    operations = [x for x in converted if isinstance(x, Operation)]
    if [id(x) for x in converted] != [id(x) for x in [*tensors, *operations]]:
        raise ValueError(
            "TPU training loop body must return zero or more Tensor values followed by zero or more "
            "Operations."
        )
    if [x.dtype for x in tensors] != types:
        raise TypeError(
            "Mismatch between input types and output types for training loop body: "
            f"{types} vs {[x.dtype for x in tensors]}"
        )
    carried = tensors or [tf.constant(0)]
    return tf.tuple(carried, control_inputs=operations) if operations else carried


@export("contrib.tpu.repeat")
def repeat(
    n: TensorLike,
    body: Callable,
    inputs: Any = None,
    infeed_queue: Any = None,
    name: str | None = None,
) -> Any:
    """Repeats a training step n times.

    Args:
      n: The number of times.
      body: A function of the loop's variables that returns their next values.
      inputs: The first values of the loop's variables.
      infeed_queue: Must be None: only TPUs have such queues.
      name: Taken for compatibility.

    Returns:
      The list of the last values; or an operation that runs the loop, where there are none.
    """

    def counted(i: Tensor, *variables: Tensor) -> list[Any]:
        return [i + 1, *_listed(body(*variables))]

    first = [0, *([] if inputs is None else _listed(inputs))]
    last = _listed(while_loop(lambda i, *_: i < n, counted, first, infeed_queue, name))
    return last[0].op if len(last) == 1 else last[1:]


def _listed(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]
