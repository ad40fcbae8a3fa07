"""Several steps of a strategy in one operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.distribute.reductions import ReduceOp
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.ops.control_flow import while_loops

if TYPE_CHECKING:
    from tideflow.distribute.strategy import Strategy


class StepsContext:
    """What a step says of itself: the outputs of the last one, and the operation that runs them all."""

    def __init__(self) -> None:
        self.run_op: Any = None
        self.last_step_outputs: dict[str, Any] = {}
        self.non_tensor_outputs: dict[str, Any] = {}

    def set_last_step_output(self, name: str, output: Any, reduce_op: ReduceOp | None = None) -> None:
        """Sets an output, which is that of the last step in the end."""
        from tideflow.distribute.context import get_replica_context  # loaded when asked for

        replica = get_replica_context()
        if replica is None:
            self.last_step_outputs[name] = output
            return

        def merged(strategy: Strategy, value: Any) -> Any:
            if reduce_op is not None:
                value = strategy.reduce(reduce_op, value)
            self.last_step_outputs[name] = value

        replica.merge_call(merged, args=(output,))

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """Sets an output that is no tensor."""
        self.non_tensor_outputs[name] = output


def run_steps(
    strategy: Strategy, fn: Callable, iterator: Any, iterations: Any, initial_loop_values: Any
) -> StepsContext:
    """Runs a step so many times, each on the next input."""
    steps = StepsContext()
    flat_initial = nest.flatten({} if initial_loop_values is None else initial_loop_values)

    def body(i: Any, *_: Any) -> Any:
        inputs = iterator.get_next()
        done = strategy.extended.call_for_each_replica(fn, args=(steps, inputs))
        with control_dependencies([strategy.group(done)]):
            return [i + 1, *[convert_to_tensor(v) for v in nest.flatten(steps.last_step_outputs)]]

    start = [convert_to_tensor(0), *[convert_to_tensor(value) for value in flat_initial]]
    results = while_loops.while_loop(lambda i, *_: i < iterations, body, start, parallel_iterations=1)
    results = results if isinstance(results, (list, tuple)) else [results]
    steps.run_op = strategy.group(results[0])
    steps.last_step_outputs = nest.pack_sequence_as(steps.last_step_outputs, list(results[1:]))
    return steps
