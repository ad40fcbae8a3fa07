"""Classes and functions that tests and libraries take from the modules of Keras's layers, metrics and
optimizers.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.keras.layers import activations, conv_recurrent, cudnn, recurrent
from tideflow.keras.layers import local as local_layers
from tideflow.keras.metrics import confusion
from tideflow.keras.optimizers import TFOptimizer as _TFOptimizer
from tideflow.layers import (
    keras_convolutional,
    keras_normalization,
    keras_pooling,
    keras_separable,
    precision,
)
from tideflow.programs.inner.keras.convolution_names import conv_kernel_mask

Conv = keras_convolutional.Conv
Deconvolution2D = Deconv2D = keras_convolutional.Conv2DTranspose
Deconvolution3D = Deconv3D = keras_convolutional.Conv3DTranspose
SeparableConv = keras_separable.SeparableConv2D.__mro__[1]
ConvRNN2D = conv_recurrent.ConvLSTM2D.__mro__[1]
ConvLSTM2DCell = conv_recurrent.ConvLSTM2DCell
_CuDNNRNN = cudnn._CuDNN

Pooling1D, Pooling2D, Pooling3D = keras_pooling.Pooling1D, keras_pooling.Pooling, keras_pooling.Pooling3D
GlobalPooling1D = GlobalPooling2D = GlobalPooling3D = keras_pooling.GlobalPooling

BatchNormalizationBase = keras_normalization.BatchNormalization
BaseDenseAttention = activations._Attention
BaseLocallyConnected = local_layers._LocallyConnected

_generate_zero_filled_state_for_cell = recurrent.initial_state
_generate_zero_filled_state = recurrent._zeros

_ConfusionMatrixConditionCount = confusion._Count
SensitivitySpecificityBase = confusion._AtBest

TFOptimizer = _TFOptimizer
sgd, adamax, nadam = tf.keras.optimizers.SGD, tf.keras.optimizers.Adamax, tf.keras.optimizers.Nadam
RMSProp = tf.keras.optimizers.RMSprop

maxnorm, nonneg, unitnorm = (
    tf.keras.constraints.MaxNorm,
    tf.keras.constraints.NonNeg,
    tf.keras.constraints.UnitNorm,
)
zero, one = tf.keras.initializers.Zeros, tf.keras.initializers.Ones

AutoCastVariable = precision._CastsItself
create_autocast_variable = precision.casts_itself


def _is_multiple_state(state_size: Any) -> bool:
    """Whether a cell has several states."""
    return hasattr(state_size, "__len__") and not isinstance(state_size, tf.TensorShape)


def _lower_triangular_mask(shape: Any) -> Any:
    """True where a position may see another one: itself, and those before it."""
    ones = tf.ones(shape, tf.int32)
    return tf.greater_equal(tf.cumsum(ones, axis=-2), tf.cumsum(ones, axis=-1))


def _merge_masks(x: Any, y: Any) -> Any:
    """What both masks let through; the other one where one is None."""
    return y if x is None else x if y is None else tf.logical_and(x, y)


def get_locallyconnected_mask(
    input_shape: Any, kernel_shape: Any, strides: Any, padding: str, data_format: str
) -> np.ndarray:
    """Which weights of a dense kernel a locally connected layer has.

    Args:
      input_shape: The spatial sizes of the input.
      kernel_shape: The sizes of the kernel.
      strides: The strides.
      padding: `"same"` or `"valid"`.
      data_format: `"channels_first"` or `"channels_last"`.

    Returns:
      An array of the sizes of input and output, with an axis of size 1 for the channels of each.

    Raises:
      ValueError: If the format is another.
    """
    mask = conv_kernel_mask(input_shape, kernel_shape, strides, padding)
    rank = mask.ndim // 2
    if data_format == "channels_first":
        return np.expand_dims(np.expand_dims(mask, 0), -rank - 1)
    if data_format == "channels_last":
        return np.expand_dims(np.expand_dims(mask, rank), -1)
    raise ValueError(f"Unrecognized data_format: {data_format}")


def make_2d(tensor: Any, split_dim: int) -> Any:
    """A tensor as a matrix.

    Args:
      tensor: The tensor.
      split_dim: How many of its axes are the rows.

    Returns:
      The matrix.
    """
    shape = tf.shape(tensor)
    return tf.reshape(tensor, [tf.reduce_prod(shape[:split_dim]), tf.reduce_prod(shape[split_dim:])])


def make_logs(
    model: Any, logs: dict[str, Any], outputs: list[Any], mode: str, prefix: str = ""
) -> dict[str, Any]:
    """What callbacks are told of a step.

    Args:
      model: The model.
      logs: What they were told.
      outputs: What the step returned.
      mode: `"train"`, `"test"` or `"predict"`.
      prefix: What the names begin with.

    Returns:
      The same dictionary, with the outputs by their names.
    """
    if mode in ("train", "test"):
        for name, value in zip(model.metrics_names, outputs, strict=False):
            logs[prefix + name] = value
    else:
        logs["outputs"] = outputs
    return logs


@contextlib.contextmanager
def policy_scope(policy: Any) -> Iterator[None]:
    """Sets Keras's policy of types within a `with` block.

    Args:
      policy: The policy.
    """
    experimental = tf.keras.mixed_precision.experimental
    before = experimental.global_policy()
    experimental.set_policy(policy)
    try:
        yield
    finally:
        experimental.set_policy(before)


# -------------------------------------------------------------------------------------------------- modules

_WORDS = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")
_IDENTIFIER = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_]*$")


def camel_to_snake(value: str) -> str:
    """The name of a class as that of a variable.

    Args:
      value: The name.

    Returns:
      The name in lower case, its words joined by underscores.
    """
    return _WORDS.sub(r"_\1", value).lower()


def valid_identifier(name: str) -> bool:
    """Whether a text can be the name of a variable.

    Args:
      name: The text.

    Returns:
      Whether it can.
    """
    return bool(_IDENTIFIER.match(name))
