"""The works that are measured, a module each.

A module states its `title`, the `steps` of a round, and `reach`: the limits that it is held to, as
{peer: largest ratio to its time} or {"seconds": largest time}. One function per way of writing the work
sets it up and returns the step to time: `tf1` serves Tideflow and TensorFlow alike; `pytorch`, `jax` and
`numpy` say the same by hand. A step returns a number, which must be the same for every peer.
"""

from collections.abc import Callable
from dataclasses import dataclass

NAMES = (
    "scalar_feed",
    "assign_add",
    "mlp",
    "convnet",
    "small_ops",
    "graph_building",
    "first_run",
    "large_feed",
    "counting_loop",
    "lstm_forward",
    "lstm_forward_compiled",
    "lstm_training",
    "lstm_training_compiled",
)


@dataclass
class Step:
    """A step that is more than a function: `prepare` makes its arguments untimed, `units` divide its time."""

    run: Callable[..., float]
    prepare: Callable[[], tuple] = tuple
    units: int = 1
