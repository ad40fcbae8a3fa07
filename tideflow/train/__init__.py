"""Training: optimizers, moving averages, learning rates, the global step."""

from tideflow.train import (  # noqa: F401
    global_step,
    learning_rate_decay,
    moving_averages,
    optimizer,
    optimizers,
)
