"""What tests and libraries take from `tensorflow.python.keras.backend` beside what is public there."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.eager.context import eager_graph, num_gpus
from tideflow.graph.device import DeviceSpec
from tideflow.keras.backend import functions, neural
from tideflow.layers import keras_graph, keras_session, keras_state
from tideflow.layers.nodes import is_keras_tensor as _has_history
from tideflow.layers.shapes import check_data_format, check_padding
from tideflow.programs.inner.keras.distribution_names import is_tpu_strategy as is_tpu_strategy

py_all, py_any, py_sum, py_slice = builtins.all, builtins.any, builtins.sum, builtins.slice

GraphExecutionFunction = functions.GraphFunction
track_variable = keras_session.track_variable
unique_object_name = keras_state.unique_object_name
eager_learning_phase_scope = keras_state.learning_phase_scope
global_learning_phase_is_set = keras_state.learning_phase_is_set
identity = tf.identity


def is_keras_tensor(x: Any) -> bool:
    """Whether a tensor is the output of a layer that knows its inputs.

    Args:
      x: A tensor or a variable.

    Returns:
      Whether it is.

    Raises:
      ValueError: If it is neither.
    """
    if not isinstance(x, (tf.Tensor, tf.Variable, tf.SparseTensor, tf.RaggedTensor)):
        raise ValueError(
            f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor instance."
        )
    return _has_history(x)


def is_placeholder(x: Any) -> bool:
    """Whether a tensor is a placeholder.

    Args:
      x: A tensor; of a sparse or ragged one, its parts count.

    Returns:
      Whether it is.
    """
    parts = tf.nest.flatten(x, expand_composites=True)
    made_by = [getattr(part, "op", None) for part in parts if not _is_eager(part)]
    return bool(made_by) and all(op is not None and op.definition.role == "placeholder" for op in made_by)


def _is_eager(value: Any) -> bool:
    return bool(getattr(value, "is_eager", False)) or not hasattr(value, "graph")


def symbolic_learning_phase() -> Any:
    """The learning phase of Keras's graph: a bool tensor, or the number that was set."""
    with keras_graph.get_graph().as_default():
        return keras_state.learning_phase()


def get_default_session_config() -> Any:
    """The configuration of sessions that Keras makes."""
    return tf.ConfigProto(allow_soft_placement=True)


def _to_tensor(x: Any, dtype: Any) -> Any:
    return tf.convert_to_tensor(x, dtype=dtype)


def _constant_to_tensor(x: Any, dtype: Any) -> Any:
    return tf.constant(x, dtype=dtype)


def cast_variables_to_tensor(tensors: Any) -> Any:
    """Values with tensors in the place of variables.

    Args:
      tensors: A structure of tensors and variables.

    Returns:
      The structure of tensors.
    """
    return tf.nest.map_structure(
        lambda each: tf.identity(each) if isinstance(each, tf.Variable) else each, tensors
    )


# ------------------------------------------------------------------------------------------------- devices


def _get_available_gpus() -> list[str]:
    """The names of the GPUs."""
    return [f"/device:GPU:{number}" for number in range(num_gpus())]


def _get_current_tf_device() -> Any:
    """The device that a `with tf.device(...)` block asks for, in parts; None outside of them."""
    graph = tf.get_default_graph() if not tf.executing_eagerly() else keras_graph.get_graph()
    if tf.executing_eagerly():
        name = eager_graph().requested_name() or ""
    else:
        with graph.as_default():
            name = tf.no_op().device
    return DeviceSpec.from_string(name) if name else None


def _is_current_explicit_device(device_type: str) -> bool:
    """Whether a `with tf.device(...)` block asks for a CPU or a GPU; ValueError for another type."""
    device_type = device_type.upper()
    if device_type not in ("CPU", "GPU"):
        raise ValueError('`device_type` should be either "CPU" or "GPU".')
    device = _get_current_tf_device()
    return device is not None and device.device_type == device_type


def _has_nchw_support() -> bool:
    """Whether operations that take channels first run on a GPU."""
    return not _is_current_explicit_device("CPU") and bool(_get_available_gpus())


# -------------------------------------------------------------------------------------------- convolutions


def _preprocess_padding(padding: str) -> str:
    """The padding as operations call it; ValueError for an unknown one."""
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding.upper()


def local_conv(
    inputs: Any,
    kernel: Any,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    output_shape: Sequence[int],
    data_format: str | None = None,
) -> tf.Tensor:
    """Convolves over any number of axes, with other weights at each place.

    Args:
      inputs: The tensor.
      kernel: The weights of each place.
      kernel_size: The sizes of a window.
      strides: The steps between windows.
      output_shape: The number of places along each axis.
      data_format: `"channels_last"` or `"channels_first"`.

    Returns:
      The tensor.
    """
    return neural.local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


def depthwise_conv2d(
    x: Any,
    depthwise_kernel: Any,
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sequence[int] = (1, 1),
) -> tf.Tensor:
    """Convolves each channel with weights of its own.

    Args:
      x: The tensor.
      depthwise_kernel: The weights.
      strides: The steps between windows.
      padding: `"same"` or `"valid"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The steps between the elements of a window.

    Returns:
      The tensor.
    """
    first = check_data_format(data_format) == "channels_first"
    rows = tf.nn.depthwise_conv2d(
        tf.transpose(x, [0, 2, 3, 1]) if first else x,
        depthwise_kernel,
        strides=[1, *strides, 1],
        padding=check_padding(padding).upper(),
        rate=dilation_rate,
    )
    return tf.transpose(rows, [0, 3, 1, 2]) if first else rows


def separable_conv1d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> tf.Tensor:
    """Convolves each channel over one axis, and then mixes the channels.

    Args:
      x: The tensor.
      depthwise_kernel: The weights of each channel.
      pointwise_kernel: The weights that mix channels.
      strides: The step between windows.
      padding: `"same"` or `"valid"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The step between the elements of a window.

    Returns:
      The tensor.
    """
    step = strides[0] if isinstance(strides, (list, tuple)) else strides
    rate = dilation_rate[0] if isinstance(dilation_rate, (list, tuple)) else dilation_rate
    first = check_data_format(data_format) == "channels_first"
    wide = tf.expand_dims(x, 2 if first else 1)
    made = tf.keras.backend.separable_conv2d(
        wide,
        tf.expand_dims(depthwise_kernel, 0),
        tf.expand_dims(pointwise_kernel, 0),
        strides=(step, step),
        padding=padding,
        data_format=data_format,
        dilation_rate=(rate, rate),
    )
    return tf.squeeze(made, [2 if first else 1])


def conv3d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Sequence[int] = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
) -> tf.Tensor:
    """The transpose of a convolution over three axes.

    Args:
      x: The tensor.
      kernel: The weights.
      output_shape: The shape of the result; the size of the batch may be None.
      strides: The steps between windows.
      padding: `"same"` or `"valid"`.
      data_format: `"channels_last"` or `"channels_first"`.

    Returns:
      The tensor.
    """
    first = check_data_format(data_format) == "channels_first"
    sizes = list(output_shape)
    if sizes[0] is None:
        sizes[0] = tf.shape(x)[0]
    order = [0, 2, 3, 4, 1]
    rows = tf.nn.conv3d_transpose(
        tf.transpose(x, order) if first else x,
        kernel,
        tf.stack([sizes[axis] for axis in order] if first else sizes),
        strides=[1, *strides, 1],
        padding=check_padding(padding).upper(),
    )
    return tf.transpose(rows, [0, 4, 1, 2, 3]) if first else rows
