# Written by `python -m tideflow.programs.stubs`.

from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from tideflow.graph.operation import Tensor as _Tensor
from typing import Any as _Any
from tideflow.contrib.slim.nets.vgg import vgg_16 as _vgg_d
from tideflow.contrib.slim.nets.vgg import vgg_19 as _vgg_e
from tideflow.contrib.slim.nets.vgg import vgg_arg_scope as vgg_arg_scope

def vgg_16(inputs: _Tensor, num_classes: _int = 1000, is_training: _Any = True, dropout_keep_prob: _float = 0.5, spatial_squeeze: _bool = True, scope: _Any = 'vgg_16'):
    """VGG with 16 layers.

    Args:
      inputs: Images, [batch, height, width, channels]; 224 pixels high and wide for classification.
      num_classes: How many classes there are.
      is_training: Whether dropout is at work.
      dropout_keep_prob: What part of the elements dropout keeps.
      spatial_squeeze: Whether the axes of height and width are taken out of the logits.
      scope: The variable scope.

    Returns:
      The logits, and all layers by name."""

def vgg_19(inputs: _Tensor, num_classes: _int = 1000, is_training: _Any = True, dropout_keep_prob: _float = 0.5, spatial_squeeze: _bool = True, scope: _Any = 'vgg_19'):
    """VGG with 19 layers.

    Args:
      inputs: Images, [batch, height, width, channels]; 224 pixels high and wide for classification.
      num_classes: How many classes there are.
      is_training: Whether dropout is at work.
      dropout_keep_prob: What part of the elements dropout keeps.
      spatial_squeeze: Whether the axes of height and width are taken out of the logits.
      scope: The variable scope.

    Returns:
      The logits, and all layers by name."""

def vgg_a(inputs: _Tensor, num_classes: _int = 1000, is_training: _Any = True, dropout_keep_prob: _float = 0.5, spatial_squeeze: _bool = True, scope: _Any = 'vgg_a'):
    """VGG with 11 layers.

    Args:
      inputs: Images, [batch, height, width, channels]; 224 pixels high and wide for classification.
      num_classes: How many classes there are.
      is_training: Whether dropout is at work.
      dropout_keep_prob: What part of the elements dropout keeps.
      spatial_squeeze: Whether the axes of height and width are taken out of the logits.
      scope: The variable scope.

    Returns:
      The logits, and all layers by name."""

vgg_d = _vgg_d
vgg_e = _vgg_e
