# Written by `python -m tideflow.programs.stubs`.

from builtins import bool as _bool
from builtins import int as _int
from builtins import str as _str
from tideflow.graph.operation import Tensor as _Tensor
from typing import Any as _Any
from tideflow.contrib.slim.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from tideflow.contrib.slim.nets.resnet_v2 import bottleneck as bottleneck
from tideflow.contrib.slim.nets.resnet_v2 import resnet_v2 as resnet_v2

def resnet_v2_101(inputs: _Tensor, num_classes: _int | None = None, is_training: _Any = True, global_pool: _bool = True, output_stride: _Any = None, reuse: _Any = None, scope: _Any = 'resnet_v2_101'):
    """The residual network with 101 layers.

    Args:
      inputs: Images, [batch, height, width, channels].
      num_classes: How many classes there are; None for no logits.
      is_training: Whether batch normalization uses the batch.
      global_pool: Whether the mean over all pixels is taken.
      output_stride: By how much smaller than the input the output is; 32 if None.
      reuse: Whether the variables are there already.
      scope: The variable scope.

    Returns:
      The network's output, and its layers by name."""

def resnet_v2_152(inputs: _Tensor, num_classes: _int | None = None, is_training: _Any = True, global_pool: _bool = True, output_stride: _Any = None, reuse: _Any = None, scope: _Any = 'resnet_v2_152'):
    """The residual network with 152 layers.

    Args:
      inputs: Images, [batch, height, width, channels].
      num_classes: How many classes there are; None for no logits.
      is_training: Whether batch normalization uses the batch.
      global_pool: Whether the mean over all pixels is taken.
      output_stride: By how much smaller than the input the output is; 32 if None.
      reuse: Whether the variables are there already.
      scope: The variable scope.

    Returns:
      The network's output, and its layers by name."""

def resnet_v2_200(inputs: _Tensor, num_classes: _int | None = None, is_training: _Any = True, global_pool: _bool = True, output_stride: _Any = None, reuse: _Any = None, scope: _Any = 'resnet_v2_200'):
    """The residual network with 200 layers.

    Args:
      inputs: Images, [batch, height, width, channels].
      num_classes: How many classes there are; None for no logits.
      is_training: Whether batch normalization uses the batch.
      global_pool: Whether the mean over all pixels is taken.
      output_stride: By how much smaller than the input the output is; 32 if None.
      reuse: Whether the variables are there already.
      scope: The variable scope.

    Returns:
      The network's output, and its layers by name."""

def resnet_v2_50(inputs: _Tensor, num_classes: _int | None = None, is_training: _Any = True, global_pool: _bool = True, output_stride: _Any = None, reuse: _Any = None, scope: _Any = 'resnet_v2_50'):
    """The residual network with 50 layers.

    Args:
      inputs: Images, [batch, height, width, channels].
      num_classes: How many classes there are; None for no logits.
      is_training: Whether batch normalization uses the batch.
      global_pool: Whether the mean over all pixels is taken.
      output_stride: By how much smaller than the input the output is; 32 if None.
      reuse: Whether the variables are there already.
      scope: The variable scope.

    Returns:
      The network's output, and its layers by name."""

def resnet_v2_block(scope: _str, base_depth: _int, num_units: _int, stride: _int):
    """A block of units that are as deep as each other, the last of which has a stride.

    Args:
      scope: The variable scope of the block.
      base_depth: The depth of the convolutions inside a unit; its output is four times as deep.
      num_units: How many units there are.
      stride: The stride of the last unit.

    Returns:
      The block."""
