"""`tensorflow.contrib.batching.python.ops.batch_ops`: rows of several steps, in one batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.ops.control_flow.batching import batch_op, unbatch_op

batch = batch_op
unbatch = unbatch_op

_MINUTE = 60 * 1000 * 1000  # in microseconds


def batch_function_v1(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    grad_timeout_micros: int = _MINUTE,
    unbatch_timeout_micros: int = _MINUTE,
    max_enqueued_batches: int = 10,
) -> Callable[[Callable], Callable]:
    """A decorator: the operations of the function see the rows of several steps together.

    Args:
      num_batch_threads: How many batches may be computed at a time.
      max_batch_size: How many rows a batch may have.
      batch_timeout_micros: How long a batch waits for more rows.
      allowed_batch_sizes: The sizes that batches are filled up to; any if None.
      grad_timeout_micros: How long the gradient waits for the others' parts.
      unbatch_timeout_micros: How long a step waits for its part.
      max_enqueued_batches: How many batches may wait.

    Returns:
      The decorator.
    """

    def decorator(function: Callable) -> Callable:
        @functools.wraps(function)
        def decorated(*args: Any) -> Any:
            with tf.name_scope("batch") as name:
                for arg in args:
                    if not isinstance(arg, tf.Tensor):
                        raise ValueError(
                            "All arguments to functions decorated with `batch_function` are supposed to be "
                            f"Tensors; found {arg!r}"
                        )
                *rows, index, number = batch_op(
                    list(args),
                    num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros,
                    max_enqueued_batches=max_enqueued_batches,
                    allowed_batch_sizes=list(allowed_batch_sizes or ()),
                    grad_timeout_micros=grad_timeout_micros,
                    shared_name=name,
                )
                outputs = function(*rows[0] if isinstance(rows[0], list) else rows)
                with tf.name_scope("unbatch") as scope:

                    def own_part(output: tf.Tensor) -> tf.Tensor:
                        return unbatch_op(
                            output,
                            index,
                            number,
                            timeout_micros=unbatch_timeout_micros,
                            shared_name=f"{scope}/{output.name}",
                        )

                    is_one = isinstance(outputs, tf.Tensor)
                    return own_part(outputs) if is_one else [own_part(output) for output in outputs]

        return decorated

    return decorator
