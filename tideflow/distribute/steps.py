"""Several steps of a strategy in one operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.distribute.context import get_replica_context, get_strategy
from tideflow.distribute.reductions import ReduceOp, values_of
from tideflow.distribute.values import regroup
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.ops.control_flow import grouping, while_loops

if TYPE_CHECKING:
    from tideflow.distribute.strategy import Strategy


class StepsContext:
    """What a step says of itself: the outputs of the last one, and the operation that runs them all."""

    def __init__(self) -> None:
        self.run_op: Any = None
        self.last_step_outputs: dict[str, Any] = {}
        self.non_tensor_outputs: dict[str, Any] = {}
        self.reduced: dict[str, bool] = {}  # whether an output is one value for all replicas

    def set_last_step_output(self, name: str, output: Any, reduce_op: ReduceOp | None = None) -> None:
        """Sets an output, which is that of the last step in the end."""

        def merged(strategy: Strategy, value: Any) -> None:
            self.reduced[name] = reduce_op is not None
            self.last_step_outputs[name] = value if reduce_op is None else strategy.reduce(reduce_op, value)

        replica = get_replica_context()
        if replica is None:
            merged(get_strategy(), output)
        else:
            replica.merge_call(merged, args=(output,))

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """Sets an output that is no tensor."""
        self.non_tensor_outputs[name] = output


def run_steps(
    strategy: Strategy, fn: Callable, iterator: Any, iterations: Any, initial_loop_values: Any
) -> StepsContext:
    """Runs a step so many times, each on the next input. It runs for all replicas together."""
    steps = StepsContext()
    flat_initial = nest.flatten({} if initial_loop_values is None else initial_loop_values)

    def body(i: Any, *_: Any) -> Any:
        done = fn(steps, iterator.get_next())
        local = {name: values_of(output) for name, output in steps.last_step_outputs.items()}
        steps.last_step_outputs = local
        with control_dependencies([strategy.group(done)]):
            return [i + 1, *[convert_to_tensor(value) for value in nest.flatten(local)]]

    start = [convert_to_tensor(0), *[convert_to_tensor(value) for value in flat_initial]]
    results = while_loops.while_loop(lambda i, *_: i < iterations, body, start, parallel_iterations=1)
    results = results if isinstance(results, (list, tuple)) else [results]
    steps.run_op = grouping.group(*results)
    packed = nest.pack_sequence_as(steps.last_step_outputs, list(results[1:]))
    devices = strategy.extended.worker_devices
    steps.last_step_outputs = {
        name: values[0] if steps.reduced[name] or len(values) == 1 else regroup(values, devices)
        for name, values in packed.items()
    }
    return steps
