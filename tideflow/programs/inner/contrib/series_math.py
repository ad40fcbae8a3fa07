"""`math_utils` and `model_utils` of contrib's time series: what its own models do without."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.contrib.timeseries.continuation import times_after
from tideflow.contrib.timeseries.models import per_series

if TYPE_CHECKING:
    from tideflow.graph.dtypes import DType
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike

replicate_state = per_series


# ------------------------------------------------------------------------------------------------ matrices


def batch_times_matrix(
    batch: TensorLike, matrix: TensorLike, adj_x: bool = False, adj_y: bool = False
) -> Tensor:
    """Each matrix of a batch, times one matrix."""
    return tf.matmul(batch, matrix, adjoint_a=adj_x, adjoint_b=adj_y)


def matrix_times_batch(
    matrix: TensorLike, batch: TensorLike, adj_x: bool = False, adj_y: bool = False
) -> Tensor:
    """One matrix, times each of a batch."""
    return tf.matmul(matrix, batch, adjoint_a=adj_x, adjoint_b=adj_y)


def make_toeplitz_matrix(inputs: TensorLike, name: str | None = None) -> Tensor:
    """The symmetric matrix of blocks of which the one at [i, j] is input |i - j|."""
    inputs = tf.convert_to_tensor(inputs)
    places = tf.range(tf.shape(inputs)[0])
    blocks = tf.gather(inputs, tf.abs(places[None] - places[:, None]))
    size = tf.shape(inputs)[0] * tf.shape(inputs)[1]
    return tf.reshape(tf.transpose(blocks, [0, 2, 1, 3]), [size, size], name=name)


def entropy_matched_cauchy_scale(covariance: TensorLike) -> Tensor:
    """The scales of Cauchy distributions with the entropy of normal ones that have these variances."""
    return tf.sqrt(math.e / (8.0 * math.pi) * tf.matrix_diag_part(covariance))


def batch_start_time(times: Tensor) -> Tensor:
    """The first time of each series."""
    return times[:, 0]


def batch_end_time(times: Tensor) -> Tensor:
    """The last time of each series."""
    return times[:, -1]


# -------------------------------------------------------------------------------------------------- tables


class TensorValuedMutableDenseHashTable(tf.contrib.lookup.MutableDenseHashTable):
    """A table whose values are tensors of any shape, that of the default value."""

    def __init__(
        self, key_dtype: DType, value_dtype: DType, default_value: TensorLike, *args: Any, **kwargs: Any
    ):
        default_value = tf.convert_to_tensor(default_value, value_dtype)
        self._shape_of_values = tf.shape(default_value)
        super().__init__(key_dtype, value_dtype, tf.reshape(default_value, [-1]), *args, **kwargs)

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Any:
        keys = tf.reshape(tf.convert_to_tensor(keys, self.key_dtype), [-1])
        return super().insert(keys, tf.reshape(values, [tf.size(keys), -1]), name=name)

    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor:
        keys = tf.convert_to_tensor(keys, self.key_dtype)
        found = super().lookup(tf.reshape(keys, [-1]), name=name)
        return tf.reshape(found, tf.concat([tf.shape(keys), self._shape_of_values], axis=0))


class TupleOfTensorsLookup:
    """Tables for nested tuples of tensors, one for each tensor.

    Args:
      key_dtype: The type of the keys.
      default_values: The values of keys that are not there, nested as all values are.
      empty_key: A key that is never used.
      deleted_key: Another one.
      name: What the names of the tables begin with.
      checkpoint: Whether the tables are saved with the variables.
    """

    def __init__(
        self,
        key_dtype: DType,
        default_values: Any,
        empty_key: Any,
        deleted_key: Any,
        name: str,
        checkpoint: bool = True,
    ):
        self._nested = default_values
        self._tables = [
            TensorValuedMutableDenseHashTable(
                key_dtype,
                value.dtype.base_dtype,
                value,
                empty_key=empty_key,
                deleted_key=deleted_key,
                name=f"{name}_{number}",
                checkpoint=checkpoint,
            )
            for number, value in enumerate(tf.nest.flatten(default_values))
        ]

    def lookup(self, keys: TensorLike) -> Any:
        """The values of keys, nested as the default values are."""
        return tf.nest.pack_sequence_as(self._nested, [table.lookup(keys) for table in self._tables])

    def insert(self, keys: TensorLike, values: Any) -> Any:
        """Sets the values of keys; all are computed before one is set."""
        tf.nest.assert_same_structure(self._nested, values)
        parts = [tf.identity(value) for value in tf.nest.flatten(values)]
        with tf.control_dependencies(parts):
            return tf.group(
                *(table.insert(keys, part) for table, part in zip(self._tables, parts, strict=True))
            )


# -------------------------------------------------------------------------------------------------- models


def fully_connected(
    inp: Tensor,
    inp_size: int,
    layer_size: int,
    name: str,
    activation: Callable | None = tf.nn.relu,
    dtype: DType = tf.float32,
) -> Tensor:
    """A dense layer."""
    weights = tf.get_variable(f"{name}_weight", [inp_size, layer_size], dtype)
    bias = tf.get_variable(f"{name}_bias", [layer_size], initializer=tf.zeros_initializer())
    output = tf.nn.xw_plus_b(inp, weights, bias)
    return output if activation is None else activation(output)


def parameter_switch(parameter_overrides: Mapping[Any, Any]) -> Callable[[Any], Any]:
    """A function from a parameter to the value that takes its place, or else to its own."""
    return lambda parameter: tf.convert_to_tensor(parameter_overrides.get(parameter, parameter)).eval()


def canonicalize_times_or_steps_from_output(
    times: TensorLike | None, steps: int | None, previous_model_output: Mapping[str, Any]
) -> np.ndarray:
    """The times to predict: those given, or a number of steps after the last ones of a model's output."""
    return times_after(previous_model_output, steps, times)
