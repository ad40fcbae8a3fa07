# Written by `python -m tideflow.programs.stubs`.

from builtins import bool as _bool
from builtins import int as _int
from builtins import str as _str
from collections.abc import Callable as _Callable
from collections.abc import Sequence as _Sequence
from tideflow.graph.operation import Tensor as _Tensor
from tideflow.graph.typing import InitializerLike as _InitializerLike
from tideflow.graph.typing import RegularizerLike as _RegularizerLike
from tideflow.graph.typing import TensorLike as _TensorLike
from tideflow.layers import experimental as experimental
from tideflow.layers.convolutional import Conv1D as Conv1D
from tideflow.layers.convolutional import Conv2D as Conv2D
from tideflow.layers.convolutional import Conv2DTranspose as Conv2DTranspose
from tideflow.layers.convolutional import Conv3D as Conv3D
from tideflow.layers.convolutional import Conv3DTranspose as Conv3DTranspose
from tideflow.layers.convolutional import SeparableConv1D as SeparableConv1D
from tideflow.layers.convolutional import SeparableConv2D as SeparableConv2D
from tideflow.layers.core import Dense as Dense
from tideflow.layers.core import Dropout as Dropout
from tideflow.layers.core import Flatten as Flatten
from tideflow.layers.core import dense as dense
from tideflow.layers.core import dropout as dropout
from tideflow.layers.core import flatten as flatten
from tideflow.layers.input_spec import InputSpec as InputSpec
from tideflow.layers.normalization import BatchNormalization as BatchNormalization
from tideflow.layers.normalization import batch_normalization as batch_normalization
from tideflow.layers.pooling import AveragePooling1D as AveragePooling1D
from tideflow.layers.pooling import AveragePooling2D as AveragePooling2D
from tideflow.layers.pooling import AveragePooling3D as AveragePooling3D
from tideflow.layers.pooling import MaxPooling1D as MaxPooling1D
from tideflow.layers.pooling import MaxPooling2D as MaxPooling2D
from tideflow.layers.pooling import MaxPooling3D as MaxPooling3D
from tideflow.layers.scoped import Layer as Layer

def average_pooling1d(inputs: _TensorLike, pool_size: _int | _Sequence[_int], strides: _int | _Sequence[_int], padding: _str = 'valid', data_format: _str = 'channels_last', name: _str | None = None) -> _Tensor:
    """The mean of each window along one axis.

    Args:
      inputs: The input tensor.
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.

    Returns:
      The output tensor."""

def average_pooling2d(inputs: _TensorLike, pool_size: _int | _Sequence[_int], strides: _int | _Sequence[_int], padding: _str = 'valid', data_format: _str = 'channels_last', name: _str | None = None) -> _Tensor:
    """The mean of each window along two axes.

    Args:
      inputs: The input tensor.
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.

    Returns:
      The output tensor."""

def average_pooling3d(inputs: _TensorLike, pool_size: _int | _Sequence[_int], strides: _int | _Sequence[_int], padding: _str = 'valid', data_format: _str = 'channels_last', name: _str | None = None) -> _Tensor:
    """The mean of each window along three axes.

    Args:
      inputs: The input tensor.
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.

    Returns:
      The output tensor."""

def conv1d(inputs, filters: _int, kernel_size: _int | _Sequence[_int], strides: _int | _Sequence[_int] = 1, padding: _str = 'valid', data_format: _str = 'channels_last', dilation_rate: _int | _Sequence[_int] = 1, activation: _Callable | None = None, use_bias: _bool = True, kernel_initializer: _InitializerLike | None = None, bias_initializer: _InitializerLike = ..., kernel_regularizer: _RegularizerLike | None = None, bias_regularizer: _RegularizerLike | None = None, activity_regularizer: _RegularizerLike | None = None, kernel_constraint: _Callable | None = None, bias_constraint: _Callable | None = None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Convolution over one axis.

    Args:
      inputs: The input tensor.
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The distance of neighbouring elements of the filter. Only one of strides and dilation may
        be above 1.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      kernel_initializer: The initializer of the weights; that of the variable scope if None.
      bias_initializer: The initializer of the biases.
      kernel_regularizer: The regularizer of the weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      kernel_constraint: The constraint of the weights, which optimizers apply after each update.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      reuse: Whether the variables of an earlier layer of the same name are shared.

    Returns:
      The output tensor."""

def conv2d(inputs, filters: _int, kernel_size: _int | _Sequence[_int], strides: _int | _Sequence[_int] = 1, padding: _str = 'valid', data_format: _str = 'channels_last', dilation_rate: _int | _Sequence[_int] = 1, activation: _Callable | None = None, use_bias: _bool = True, kernel_initializer: _InitializerLike | None = None, bias_initializer: _InitializerLike = ..., kernel_regularizer: _RegularizerLike | None = None, bias_regularizer: _RegularizerLike | None = None, activity_regularizer: _RegularizerLike | None = None, kernel_constraint: _Callable | None = None, bias_constraint: _Callable | None = None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Convolution over two axes.

    Args:
      inputs: The input tensor.
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The distance of neighbouring elements of the filter. Only one of strides and dilation may
        be above 1.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      kernel_initializer: The initializer of the weights; that of the variable scope if None.
      bias_initializer: The initializer of the biases.
      kernel_regularizer: The regularizer of the weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      kernel_constraint: The constraint of the weights, which optimizers apply after each update.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      reuse: Whether the variables of an earlier layer of the same name are shared.

    Returns:
      The output tensor."""

def conv2d_transpose(inputs, filters: _int, kernel_size: _int | _Sequence[_int], strides: _int | _Sequence[_int] = 1, padding: _str = 'valid', data_format: _str = 'channels_last', activation: _Callable | None = None, use_bias: _bool = True, kernel_initializer: _InitializerLike | None = None, bias_initializer: _InitializerLike = ..., kernel_regularizer: _RegularizerLike | None = None, bias_regularizer: _RegularizerLike | None = None, activity_regularizer: _RegularizerLike | None = None, kernel_constraint: _Callable | None = None, bias_constraint: _Callable | None = None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Transposed convolution over two axes, which enlarges its input.

    Args:
      inputs: The input tensor.
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      kernel_initializer: The initializer of the weights; that of the variable scope if None.
      bias_initializer: The initializer of the biases.
      kernel_regularizer: The regularizer of the weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      kernel_constraint: The constraint of the weights, which optimizers apply after each update.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      reuse: Whether the variables of an earlier layer of the same name are shared.

    Returns:
      The output tensor."""

def conv3d(inputs, filters: _int, kernel_size: _int | _Sequence[_int], strides: _int | _Sequence[_int] = 1, padding: _str = 'valid', data_format: _str = 'channels_last', dilation_rate: _int | _Sequence[_int] = 1, activation: _Callable | None = None, use_bias: _bool = True, kernel_initializer: _InitializerLike | None = None, bias_initializer: _InitializerLike = ..., kernel_regularizer: _RegularizerLike | None = None, bias_regularizer: _RegularizerLike | None = None, activity_regularizer: _RegularizerLike | None = None, kernel_constraint: _Callable | None = None, bias_constraint: _Callable | None = None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Convolution over three axes.

    Args:
      inputs: The input tensor.
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The distance of neighbouring elements of the filter. Only one of strides and dilation may
        be above 1.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      kernel_initializer: The initializer of the weights; that of the variable scope if None.
      bias_initializer: The initializer of the biases.
      kernel_regularizer: The regularizer of the weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      kernel_constraint: The constraint of the weights, which optimizers apply after each update.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      reuse: Whether the variables of an earlier layer of the same name are shared.

    Returns:
      The output tensor."""

def conv3d_transpose(inputs, filters: _int, kernel_size: _int | _Sequence[_int], strides: _int | _Sequence[_int] = 1, padding: _str = 'valid', data_format: _str = 'channels_last', activation: _Callable | None = None, use_bias: _bool = True, kernel_initializer: _InitializerLike | None = None, bias_initializer: _InitializerLike = ..., kernel_regularizer: _RegularizerLike | None = None, bias_regularizer: _RegularizerLike | None = None, activity_regularizer: _RegularizerLike | None = None, kernel_constraint: _Callable | None = None, bias_constraint: _Callable | None = None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Transposed convolution over three axes, which enlarges its input.

    Args:
      inputs: The input tensor.
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      kernel_initializer: The initializer of the weights; that of the variable scope if None.
      bias_initializer: The initializer of the biases.
      kernel_regularizer: The regularizer of the weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      kernel_constraint: The constraint of the weights, which optimizers apply after each update.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      reuse: Whether the variables of an earlier layer of the same name are shared.

    Returns:
      The output tensor."""

def max_pooling1d(inputs: _TensorLike, pool_size: _int | _Sequence[_int], strides: _int | _Sequence[_int], padding: _str = 'valid', data_format: _str = 'channels_last', name: _str | None = None) -> _Tensor:
    """The maximum of each window along one axis.

    Args:
      inputs: The input tensor.
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.

    Returns:
      The output tensor."""

def max_pooling2d(inputs: _TensorLike, pool_size: _int | _Sequence[_int], strides: _int | _Sequence[_int], padding: _str = 'valid', data_format: _str = 'channels_last', name: _str | None = None) -> _Tensor:
    """The maximum of each window along two axes.

    Args:
      inputs: The input tensor.
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.

    Returns:
      The output tensor."""

def max_pooling3d(inputs: _TensorLike, pool_size: _int | _Sequence[_int], strides: _int | _Sequence[_int], padding: _str = 'valid', data_format: _str = 'channels_last', name: _str | None = None) -> _Tensor:
    """The maximum of each window along three axes.

    Args:
      inputs: The input tensor.
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.

    Returns:
      The output tensor."""

def separable_conv1d(inputs, filters: _int, kernel_size: _int | _Sequence[_int], strides: _int | _Sequence[_int] = 1, padding: _str = 'valid', data_format: _str = 'channels_last', dilation_rate: _int | _Sequence[_int] = 1, depth_multiplier: _int = 1, activation: _Callable | None = None, use_bias: _bool = True, depthwise_initializer: _InitializerLike | None = None, pointwise_initializer: _InitializerLike | None = None, bias_initializer: _InitializerLike = ..., depthwise_regularizer: _RegularizerLike | None = None, pointwise_regularizer: _RegularizerLike | None = None, bias_regularizer: _RegularizerLike | None = None, activity_regularizer: _RegularizerLike | None = None, depthwise_constraint: _Callable | None = None, pointwise_constraint: _Callable | None = None, bias_constraint: _Callable | None = None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Separable convolution over one axis: a convolution of each channel, then one that mixes channels.

    Args:
      inputs: The input tensor.
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The distance of neighbouring elements of the filter. Only one of strides and dilation may
        be above 1.
      depth_multiplier: The number of filters for each input channel.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      depthwise_initializer: The initializer of the depthwise weights.
      pointwise_initializer: The initializer of the pointwise weights.
      bias_initializer: The initializer of the biases.
      depthwise_regularizer: The regularizer of the depthwise weights.
      pointwise_regularizer: The regularizer of the pointwise weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      depthwise_constraint: The constraint of the depthwise weights.
      pointwise_constraint: The constraint of the pointwise weights.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      reuse: Whether the variables of an earlier layer of the same name are shared.

    Returns:
      The output tensor."""

def separable_conv2d(inputs, filters: _int, kernel_size: _int | _Sequence[_int], strides: _int | _Sequence[_int] = 1, padding: _str = 'valid', data_format: _str = 'channels_last', dilation_rate: _int | _Sequence[_int] = 1, depth_multiplier: _int = 1, activation: _Callable | None = None, use_bias: _bool = True, depthwise_initializer: _InitializerLike | None = None, pointwise_initializer: _InitializerLike | None = None, bias_initializer: _InitializerLike = ..., depthwise_regularizer: _RegularizerLike | None = None, pointwise_regularizer: _RegularizerLike | None = None, bias_regularizer: _RegularizerLike | None = None, activity_regularizer: _RegularizerLike | None = None, depthwise_constraint: _Callable | None = None, pointwise_constraint: _Callable | None = None, bias_constraint: _Callable | None = None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Separable convolution over two axes: a convolution of each channel, then one that mixes channels.

    Args:
      inputs: The input tensor.
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The distance of neighbouring elements of the filter. Only one of strides and dilation may
        be above 1.
      depth_multiplier: The number of filters for each input channel.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      depthwise_initializer: The initializer of the depthwise weights.
      pointwise_initializer: The initializer of the pointwise weights.
      bias_initializer: The initializer of the biases.
      depthwise_regularizer: The regularizer of the depthwise weights.
      pointwise_regularizer: The regularizer of the pointwise weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      depthwise_constraint: The constraint of the depthwise weights.
      pointwise_constraint: The constraint of the pointwise weights.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      reuse: Whether the variables of an earlier layer of the same name are shared.

    Returns:
      The output tensor."""
