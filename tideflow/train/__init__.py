"""Training: optimizers, moving averages, learning rates, the global step."""

from tideflow.train import (  # noqa: F401
    checkpoint_state,
    checkpoint_utils,
    coordinator,
    global_step,
    input,
    learning_rate_decay,
    loss_scale,
    meta_graph,
    moving_averages,
    optimizer,
    optimizers,
    queue_report,
    queue_runner,
    saver,
)
