"""`tensorflow.contrib.rnn.python.ops.core_rnn_cell`: the product that recurrent cells share."""

from __future__ import annotations

from typing import Any

from tideflow.contrib.rnn.wrappers import Linear

_Linear = Linear


def _linear(
    args: Any, output_size: int, bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None
) -> Any:
    """The product at once, with variables of the scope that it is made in."""
    return Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)
