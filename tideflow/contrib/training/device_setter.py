"""Which parameter server gets the next variable: strategies for `tf.train.replica_device_setter`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from tideflow.export import export
from tideflow.graph.operation import Operation


@export("contrib.training.RandomStrategy")
class RandomStrategy:
    """A task drawn by the operation's name and the seed: the same one in every process.

    Args:
      num_ps_tasks: The number of tasks.
      seed: The seed.
    """

    def __init__(self, num_ps_tasks: int, seed: int = 0):
        self._num_tasks, self._seed = num_ps_tasks, seed

    def __call__(self, op: Operation) -> int:
        digest = hashlib.md5(f"{op.name}_{self._seed}".encode(), usedforsecurity=False).hexdigest()
        return int(digest, 16) % self._num_tasks


@export("contrib.training.GreedyLoadBalancingStrategy")
class GreedyLoadBalancingStrategy:
    """The task that has the least so far; `load_fn(op)` says how much an operation adds.

    Args:
      num_tasks: The number of tasks.
      load_fn: A function from an operation to what it adds to its task's load.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Operation], float]):
        self._load_fn = load_fn
        self._loads = [0.0] * num_tasks

    def __call__(self, op: Operation) -> int:
        task = min(range(len(self._loads)), key=self._loads.__getitem__)
        self._loads[task] += self._load_fn(op)
        return task


@export("contrib.training.byte_size_load_fn")
def byte_size_load_fn(op: Operation) -> int:
    """Counts the bytes of an operation's output.

    Args:
      op: The operation, which has one output of a known shape.

    Returns:
      The number of bytes.

    Raises:
      ValueError: If it has another number of outputs, or the shape is not known.
    """
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op.node_def} must have a single output")
    [output] = op.outputs
    output.shape.assert_is_fully_defined()
    return output.dtype.size * output.shape.num_elements()
