"""The works that are measured, a module each.

A module states its `title`, the `steps` of a round, and `reach`: the limits that it is held to, as
{peer: largest ratio to its time}, {"seconds": largest time} or {"baseline": largest ratio to what the step
is compared with}, which `baseline` names. One function per way of writing the work sets it up and returns
the step to time: `tf1` serves Tideflow and TensorFlow alike; `pytorch`, `jax` and `numpy` say the same by
hand. A step returns a number, which must be the same for every peer.

A work whose time is that of the disk, or of several processes, says `shared = False`: it is not measured
beside other programs.
"""

from collections.abc import Callable
from dataclasses import dataclass

NAMES = (
    "scalar_feed",
    "assign_add",
    "mlp",
    "mlp_traced",
    "convnet",
    "tanh_chain",
    "tanh_chain_compiled",
    "small_ops",
    "small_ops_compiled",
    "independent_ops",
    "independent_ops_compiled",
    "graph_building",
    "first_run",
    "large_feed",
    "counting_loop",
    "lstm_forward",
    "lstm_forward_compiled",
    "lstm_training",
    "lstm_training_compiled",
    "queue_two_threads",
    "shuffle_dequeue_many",
    "examples_by_queues",
    "examples_by_data",
    "examples_one_by_one",
    "training_by_queues",
    "training_by_data",
    "two_devices",
    "cluster_scalar",
    "cluster_fetch",
    "cluster_push",
    "cluster_sparse",
    "cluster_null_step",
    "cluster_two_workers",
    "cluster_loss",
    "checkpoint_save",
    "checkpoint_restore",
    "steps_while_saving",
    "recovery",
    "resume",
)


@dataclass
class Step:
    """A step that is more than a function: `prepare` makes its arguments untimed, `units` divide its time,
    `baseline` is what it is compared with, timed in turn with it.
    """

    run: Callable[..., float]
    prepare: Callable[[], tuple] = tuple
    units: int = 1
    baseline: Callable[[], float] | None = None
