"""tf.nondifferentiable_batch_function: the calls of concurrent steps run as one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tideflow.export import export
from tideflow.functions.def_function import function
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.type_spec import TensorSpec
from tideflow.ops.control_flow.batching import batch_function_op


@export("nondifferentiable_batch_function", "contrib.batching.batch_function")
def nondifferentiable_batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
) -> Callable:
    """Makes a decorator for functions of rows: the calls of steps that run at the same time are one call.

    A call waits for others, until there are enough rows or it has waited long enough, and gets its rows of
    the result. It has no gradient.

        @tf.nondifferentiable_batch_function(1, 10, 1000)
        def layer(x):
            return tf.matmul(x, w)

    Args:
      num_batch_threads: Accepted for TensorFlow's sake: the thread of the first caller runs a batch.
      max_batch_size: The largest number of rows of a batch.
      batch_timeout_micros: How long, in microseconds, the first caller waits for others.
      allowed_batch_sizes: The numbers of rows that batches may have, in ascending order up to
        `max_batch_size`; batches are filled up to the next one. Any if None.
      max_enqueued_batches: How many batches may be gathered or running.
      autograph: Whether Python's `if` and loops over tensors become parts of the graph.

    Returns:
      The decorator.
    """

    def decorator(fn: Callable) -> Callable:
        @functools.wraps(fn)
        def decorated(*args: Any) -> list[Tensor]:
            traced = function(fn, autograph=autograph)
            with name_scope("batch"):
                for given in args:
                    if not isinstance(given, Tensor):
                        raise ValueError(
                            "All arguments to functions decorated with `batch_function` are supposed to be "
                            f"Tensors; found {given!r}"
                        )
                specs = [TensorSpec(given.shape, given.dtype) for given in args]
                called = traced.get_concrete_function(*specs)
                called.add_to_graph()
                return list(
                    batch_function_op(
                        list(args),
                        called.captured_inputs,
                        f=NameAttrList(name=called.name.decode()),
                        num_batch_threads=num_batch_threads,
                        max_batch_size=max_batch_size,
                        batch_timeout_micros=batch_timeout_micros,
                        allowed_batch_sizes=list(allowed_batch_sizes or []),
                        max_enqueued_batches=max_enqueued_batches,
                        Tout=[tensor.dtype for tensor in called.outputs],
                    )
                )

        return decorated

    return decorator
