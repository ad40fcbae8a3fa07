"""`tensorflow.python.ops.parallel_for`: loops whose iterations do not depend on each other, and Jacobians.

TensorFlow writes `pfor` as operations on all iterations at once. Here it is a loop, as `for_loop` is; what
both give is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.graph import nest
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.platform.testing import TestCase


def for_loop(
    loop_fn: Callable, loop_fn_dtypes: Any, iters: Any, parallel_iterations: int | None = None
) -> Any:
    """The results of a function for each number from zero on, along a new first axis.

    Args:
      loop_fn: Takes the number of the iteration, a tensor, and returns a structure of tensors.
      loop_fn_dtypes: The types of the results, in their structure.
      iters: How many iterations there are.
      parallel_iterations: How many iterations the graph allows to run at the same time.

    Returns:
      The results in their structure; None stands where the function returns None.
    """
    kinds = nest.flatten(loop_fn_dtypes)
    absent: list[bool] = []

    def body(i: Tensor, *arrays: Any) -> tuple:
        values = nest.flatten(loop_fn(i))
        if len(values) != len(kinds):
            raise ValueError(
                f"Number of expected outputs, {len(kinds)}, does not match the number of actual outputs, "
                f"{len(values)}, from loop_fn"
            )
        absent[:] = [value is None for value in values]
        made = [value for value in values if isinstance(value, Operation)]
        with tf.control_dependencies(made):
            written = [
                array if value is None else array.write(i, _result(value))
                for array, value in zip(arrays, values, strict=True)
            ]
            return (i + 1, *written)

    _, *arrays = tf.while_loop(
        lambda i, *_: i < iters,
        body,
        [0, *(tf.TensorArray(kind.base_dtype, iters, infer_shape=False) for kind in kinds)],
        parallel_iterations=parallel_iterations or 10,
    )
    stacked = [None if missing else array.stack() for array, missing in zip(arrays, absent, strict=True)]
    return nest.pack_sequence_as(loop_fn_dtypes, stacked) if stacked else None


def _result(value: Any) -> Tensor:
    """What an iteration gives: an operation gives that it has run."""
    return tf.constant(True) if isinstance(value, Operation) else tf.convert_to_tensor(value)


def pfor(loop_fn: Callable, iters: Any, parallel_iterations: int | None = None) -> Any:
    """The same as `for_loop`; the function is called once more, outside of the loop, to find its types.

    Args:
      loop_fn: Takes the number of the iteration and returns a structure of tensors and operations.
      iters: How many iterations there are.
      parallel_iterations: How many iterations the graph allows to run at the same time; at least two.

    Returns:
      The results along a new first axis, in their structure; for an operation, one that runs it as often.
    """
    if parallel_iterations is not None and parallel_iterations < 1:
        raise ValueError("parallel_iterations must be None or a positive integer")
    if parallel_iterations == 1:
        raise ValueError("Found parallel_iterations == 1. Use for_loop instead.")
    if tf.executing_eagerly():
        return tf.function(_traced_loop)(loop_fn, iters, parallel_iterations)
    return _traced_loop(loop_fn, iters, parallel_iterations)


def _traced_loop(loop_fn: Callable, iters: Any, parallel_iterations: int | None) -> Any:
    with tf.name_scope("loop_body"):
        example = loop_fn(tf.placeholder(tf.int32, shape=[]))
    flat = [_dense(value) for value in nest.flatten(example)]
    kinds = [tf.bool if isinstance(value, Operation) else value.dtype for value in flat if value is not None]

    def body(i: Tensor) -> list[Any]:
        return [_dense(value) for value in nest.flatten(loop_fn(i)) if value is not None]

    with tf.name_scope("pfor"):
        found = iter(for_loop(body, kinds, iters, parallel_iterations) or [])
        results = [None if value is None else _stacked(value, next(found), iters) for value in flat]
    return nest.pack_sequence_as(example, results)


def _dense(value: Any) -> Any:
    return (
        tf.convert_to_tensor(value) if isinstance(value, (IndexedSlices, float, int, np.ndarray)) else value
    )


def _stacked(example: Any, stacked: Tensor, iters: Any) -> Any:
    """The results of one output, with the shape that an iteration and their number tell."""
    if isinstance(example, Operation):
        return tf.group(stacked)
    count = constant_value(tf.convert_to_tensor(iters))
    stacked.set_shape(tf.TensorShape([None if count is None else int(count)]).concatenate(example.shape))
    return stacked


# ---------------------------------------------------------------------------------- Jacobians


def jacobian(
    output: Tensor, inputs: Any, use_pfor: bool = True, parallel_iterations: int | None = None
) -> Any:
    """The derivatives of each element of a tensor.

    Args:
      output: A tensor.
      inputs: Tensors, or a structure of them.
      use_pfor: Kept for TensorFlow's programs: both kinds of loops are one here.
      parallel_iterations: How many iterations the graph allows to run at the same time.

    Returns:
      For each input, a tensor of shape `output.shape + input.shape`, or None for one that is not used.
    """
    flat = nest.flatten(inputs)
    elements = tf.reshape(output, [-1])
    count = elements.shape[0].value if elements.shape[0].value is not None else tf.shape(elements)[0]
    rows = for_loop(
        lambda i: tf.gradients(tf.gather(elements, i), flat),
        [output.dtype] * len(flat),
        count,
        parallel_iterations,
    )
    for i, found in enumerate(rows or []):
        if found is not None:
            sizes = tf.concat([tf.shape(output), tf.shape(found)[1:]], axis=0)
            rows[i] = tf.reshape(found, sizes)
            rows[i].set_shape(output.shape.concatenate(flat[i].shape))
    return nest.pack_sequence_as(inputs, rows)


def batch_jacobian(
    output: Tensor, inp: Tensor, use_pfor: bool = True, parallel_iterations: int | None = None
) -> Any:
    """The Jacobian of each example of a batch, of which each depends on its own input alone.

    Args:
      output: A tensor of shape `[batch, ...]`.
      inp: A tensor of shape `[batch, ...]`.
      use_pfor: Kept for TensorFlow's programs: both kinds of loops are one here.
      parallel_iterations: How many iterations the graph allows to run at the same time.

    Returns:
      A tensor of shape `[batch, ...of the output, ...of the input]`, or None.
    """
    if not output.shape[0].is_compatible_with(inp.shape[0]):
        raise ValueError(
            f"Need first dimension of output shape ({output.shape}) and inp shape ({inp.shape}) to match."
        )
    if output.shape.is_fully_defined():
        sizes: Any = output.shape.as_list()
        batch, width = sizes[0], output.shape.num_elements() // sizes[0]
    else:
        sizes = tf.shape(output)
        batch, width = sizes[0], tf.size(output) // sizes[0]
    with tf.control_dependencies([tf.assert_equal(batch, tf.shape(inp)[0])]):
        rows = tf.reshape(output, [batch, width])

    def column(i: Tensor) -> Any:
        return tf.gradients(tf.gather(rows, i, axis=1), inp)[0]

    found = for_loop(column, output.dtype, width, parallel_iterations)
    if found is None:
        return None
    by_example = tf.transpose(tf.reshape(found, [width, batch, -1]), [1, 0, 2])
    return tf.reshape(by_example, tf.concat([sizes, tf.shape(inp)[1:]], axis=0))


class PForTestCase(TestCase):
    """Holds a function's results in `pfor` against those in `for_loop`."""

    def _run_targets(self, targets1: Any, targets2: Any = None, run_init: bool = True) -> Any:
        first, second = nest.flatten(targets1), [] if targets2 is None else nest.flatten(targets2)
        assert not second or len(first) == len(second)
        if run_init:
            self.evaluate(tf.global_variables_initializer())
        return self.evaluate([*first, *second])

    def run_and_assert_equal(self, targets1: Any, targets2: Any) -> None:
        """Both structures of tensors have the same values."""
        values = nest.flatten(self._run_targets(targets1, targets2))
        half = len(values) // 2
        for given, wanted in zip(values[:half], values[half:], strict=True):
            if wanted.dtype == object:
                self.assertAllEqual(wanted, given)
            else:
                self.assertAllClose(wanted, given, rtol=1e-4, atol=1e-5)

    def _test_loop_fn(
        self,
        loop_fn: Callable,
        iters: Any,
        loop_fn_dtypes: Any = tf.float32,
        parallel_iterations: int | None = None,
    ) -> None:
        parallel = pfor(loop_fn, iters=iters, parallel_iterations=parallel_iterations)
        looped = for_loop(loop_fn, loop_fn_dtypes, iters=iters, parallel_iterations=parallel_iterations)
        self.run_and_assert_equal(parallel, looped)
