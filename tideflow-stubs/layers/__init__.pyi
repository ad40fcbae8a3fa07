# Written by `python -m tideflow.programs.stubs`.

from builtins import bool as _bool
from builtins import int as _int
from builtins import str as _str
from tideflow.graph.operation import Tensor as _Tensor
from typing import Any as _Any
from tideflow.layers import experimental as experimental
from tideflow.layers.base import InputSpec as InputSpec
from tideflow.layers.base import Layer as Layer
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
from tideflow.layers.normalization import BatchNormalization as BatchNormalization
from tideflow.layers.normalization import batch_normalization as batch_normalization
from tideflow.layers.pooling import AveragePooling1D as AveragePooling1D
from tideflow.layers.pooling import AveragePooling2D as AveragePooling2D
from tideflow.layers.pooling import AveragePooling3D as AveragePooling3D
from tideflow.layers.pooling import MaxPooling1D as MaxPooling1D
from tideflow.layers.pooling import MaxPooling2D as MaxPooling2D
from tideflow.layers.pooling import MaxPooling3D as MaxPooling3D

def average_pooling1d(inputs: _Any, pool_size: _Any, strides: _Any, padding: _str = 'valid', data_format: _str = 'channels_last', name: _str | None = None) -> _Tensor:
    """The mean of each window."""

def average_pooling2d(inputs: _Any, pool_size: _Any, strides: _Any, padding: _str = 'valid', data_format: _str = 'channels_last', name: _str | None = None) -> _Tensor:
    """The mean of each window."""

def average_pooling3d(inputs: _Any, pool_size: _Any, strides: _Any, padding: _str = 'valid', data_format: _str = 'channels_last', name: _str | None = None) -> _Tensor:
    """The mean of each window."""

def conv1d(inputs, filters: _int, kernel_size: _Any, strides: _Any = 1, padding: _str = 'valid', data_format: _str = 'channels_last', dilation_rate: _Any = 1, activation=None, use_bias: _bool = True, kernel_initializer: _Any = None, bias_initializer: _Any = ..., kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Convolution over one axis."""

def conv2d(inputs, filters: _int, kernel_size: _Any, strides: _Any = 1, padding: _str = 'valid', data_format: _str = 'channels_last', dilation_rate: _Any = 1, activation=None, use_bias: _bool = True, kernel_initializer: _Any = None, bias_initializer: _Any = ..., kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Convolution over two axes."""

def conv2d_transpose(inputs, filters: _int, kernel_size: _Any, strides: _Any = 1, padding: _str = 'valid', data_format: _str = 'channels_last', activation=None, use_bias: _bool = True, kernel_initializer: _Any = None, bias_initializer: _Any = ..., kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Transposed convolution over two axes."""

def conv3d(inputs, filters: _int, kernel_size: _Any, strides: _Any = 1, padding: _str = 'valid', data_format: _str = 'channels_last', dilation_rate: _Any = 1, activation=None, use_bias: _bool = True, kernel_initializer: _Any = None, bias_initializer: _Any = ..., kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Convolution over three axes."""

def conv3d_transpose(inputs, filters: _int, kernel_size: _Any, strides: _Any = 1, padding: _str = 'valid', data_format: _str = 'channels_last', activation=None, use_bias: _bool = True, kernel_initializer: _Any = None, bias_initializer: _Any = ..., kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Transposed convolution over three axes."""

def max_pooling1d(inputs: _Any, pool_size: _Any, strides: _Any, padding: _str = 'valid', data_format: _str = 'channels_last', name: _str | None = None) -> _Tensor:
    """The largest value of each window."""

def max_pooling2d(inputs: _Any, pool_size: _Any, strides: _Any, padding: _str = 'valid', data_format: _str = 'channels_last', name: _str | None = None) -> _Tensor:
    """The largest value of each window."""

def max_pooling3d(inputs: _Any, pool_size: _Any, strides: _Any, padding: _str = 'valid', data_format: _str = 'channels_last', name: _str | None = None) -> _Tensor:
    """The largest value of each window."""

def separable_conv1d(inputs, filters: _int, kernel_size: _Any, strides: _Any = 1, padding: _str = 'valid', data_format: _str = 'channels_last', dilation_rate: _Any = 1, depth_multiplier: _int = 1, activation=None, use_bias: _bool = True, depthwise_initializer: _Any = None, pointwise_initializer: _Any = None, bias_initializer: _Any = ..., depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Separable convolution over one axis, by way of two."""

def separable_conv2d(inputs, filters: _int, kernel_size: _Any, strides: _Any = 1, padding: _str = 'valid', data_format: _str = 'channels_last', dilation_rate: _Any = 1, depth_multiplier: _int = 1, activation=None, use_bias: _bool = True, depthwise_initializer: _Any = None, pointwise_initializer: _Any = None, bias_initializer: _Any = ..., depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable: _bool = True, name: _str | None = None, reuse=None):
    """Separable convolution over two axes."""
