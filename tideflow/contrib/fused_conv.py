"""`tf.contrib.fused_conv`: a convolution, a bias and an activation as one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_FORMATS = ("NHWC", "NCHW")
_ACTIVATIONS = "Relu None".split()
_ONLY_FLOAT = (
    "Tideflow has no fused convolution of 8-bit integers in vectors of four (NCHW_VECT_C): give "
    "floating-point tensors of format NHWC or NCHW, or use tf.quantization's operations."
)


@export("contrib.fused_conv.fused_conv2d_bias_activation")
def fused_conv2d_bias_activation(
    conv_input: TensorLike,
    filter: TensorLike,
    bias: TensorLike,
    strides: Sequence[int] | None = None,
    padding: str | None = None,
    conv_input_scale: TensorLike = 1.0,
    side_input_scale: TensorLike = 0.0,
    side_input: TensorLike | None = None,
    activation_mode: str = "Relu",
    data_format: str | None = None,
    filter_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes `activation(conv_input_scale · conv2d(conv_input) + side_input_scale · side_input + bias)`.

    TensorFlow has it on GPUs only. Here it is made of other operations, so it has a gradient too.

    Args:
      conv_input: The images, floating-point.
      filter: The filters.
      bias: The biases, one for each output channel.
      strides: The strides, one for each axis of the images; 1 by default.
      padding: `"SAME"` or `"VALID"`.
      conv_input_scale: What the convolution is multiplied by.
      side_input_scale: What the side input is multiplied by.
      side_input: A tensor of the output's shape that is added, as in residual networks.
      activation_mode: `"Relu"` or `"None"`.
      data_format: `"NHWC"` (the default) or `"NCHW"`.
      filter_format: `"HWIO"` (the default) or `"OIHW"`.
      name: The name of the operations.

    Returns:
      The output.

    Raises:
      TypeError: If there is no padding.
      ValueError: If a mode or a format is not one of these, or the biases do not fit the filters.
    """
    if padding is None:
        raise TypeError("Expected string for argument 'padding' not None.")
    data_format, filter_format = data_format or "NHWC", filter_format or "HWIO"
    if activation_mode not in _ACTIVATIONS:
        raise ValueError(
            "Attr 'activation_mode' of 'FusedConv2DBiasActivation' Op passed string "
            f'\'{activation_mode}\' not in: "Relu", "None".'
        )
    if data_format not in _FORMATS or filter_format not in ("HWIO", "OIHW"):
        raise ValueError(_ONLY_FLOAT)
    with tf.name_scope(name, "FusedConv2DBiasActivation", [conv_input, filter, bias, side_input]) as scope:
        filter, bias = tf.convert_to_tensor(filter), tf.convert_to_tensor(bias)
        if filter_format == "OIHW":
            filter = tf.transpose(filter, [2, 3, 1, 0])
        depth, biases = filter.shape.with_rank(4)[3].value, bias.shape.with_rank(1)[0].value
        if None not in (depth, biases) and depth != biases:
            raise ValueError(f"Output depth dimension ({depth}) and bias dimension ({biases}) do not match.")
        output = tf.nn.conv2d(conv_input, filter, strides or [1, 1, 1, 1], padding, data_format=data_format)
        output *= conv_input_scale
        if side_input is not None:
            output += side_input_scale * tf.convert_to_tensor(side_input)
        if activation_mode == "None":
            return tf.nn.bias_add(output, bias, data_format=data_format, name=scope)
        return tf.nn.relu(tf.nn.bias_add(output, bias, data_format=data_format), name=scope)
