"""What the two kinds of residual networks share: blocks of units, their strides, their argument scope."""

from __future__ import annotations

import collections
from typing import Any

from tideflow.contrib.framework.argument_scopes import add_arg_scope, arg_scope
from tideflow.contrib.layers import utilities
from tideflow.contrib.layers.convolutions import convolution2d as conv2d
from tideflow.contrib.layers.normalizers import batch_norm
from tideflow.contrib.layers.penalties import l2_regularizer
from tideflow.contrib.layers.pools import max_pool2d
from tideflow.contrib.layers.scaling import variance_scaling_initializer
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys
from tideflow.ops.arrays import tiling
from tideflow.ops.nn.activations import relu
from tideflow.variables.variable_scope import variable_scope


@export("contrib.slim.nets.resnet_utils.Block")
class Block(collections.namedtuple("Block", ["scope", "unit_fn", "args"])):
    """A block of units.

    Args:
      scope: The variable scope of the block.
      unit_fn: The function that makes a unit, such as `bottleneck`.
      args: A dictionary of the function's arguments for each unit.
    """


@export("contrib.slim.nets.resnet_utils.subsample")
def subsample(inputs: Tensor, factor: int, scope: Any = None) -> Tensor:
    """Every `factor`-th pixel of images.

    Args:
      inputs: Images, [batch, height, width, channels].
      factor: By how much smaller they get.
      scope: The name scope of the operation.

    Returns:
      The smaller images; `inputs` itself if the factor is 1.
    """
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


@export("contrib.slim.nets.resnet_utils.conv2d_same")
def conv2d_same(
    inputs: Tensor, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: Any = None
) -> Tensor:
    """A convolution with a stride, of which every output is one of the convolution without.

    "SAME" padding with a stride depends on the size of the images; this one pads both sides alike.

    Args:
      inputs: Images, [batch, height, width, channels].
      num_outputs: The depth of the output.
      kernel_size: How high and wide the kernel is.
      stride: The stride.
      rate: The dilation.
      scope: The variable scope.

    Returns:
      The output.
    """
    if stride == 1:
        return conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    total = kernel_size + (kernel_size - 1) * (rate - 1) - 1
    around = [total // 2, total - total // 2]
    inputs = tiling.pad(inputs, [[0, 0], around, around, [0, 0]])
    return conv2d(inputs, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)


@export("contrib.slim.nets.resnet_utils.stack_blocks_dense")
@add_arg_scope
def stack_blocks_dense(
    net: Tensor, blocks: list[Block], output_stride: Any = None, outputs_collections: Any = None
) -> Tensor:
    """Blocks one after another. Once `output_stride` is reached, strides become dilations.

    Args:
      net: Images, [batch, height, width, channels].
      blocks: The blocks.
      output_stride: By how much smaller than the input the output is; as the blocks say if None.
      outputs_collections: A collection to add each block's output to.

    Returns:
      The output of the last block.

    Raises:
      ValueError: If the strides do not come to `output_stride`.
    """
    reached, rate = 1, 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as scope:
            for number, unit in enumerate(block.args, 1):
                if output_stride is not None and reached > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                with variable_scope(f"unit_{number}", values=[net]):
                    if reached == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        reached *= unit.get("stride", 1)
            net = utilities.collect_named_outputs(outputs_collections, scope.name, net)
    if output_stride is not None and reached != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


@export("contrib.slim.nets.resnet_utils.resnet_arg_scope")
def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> dict:
    """The argument scope of residual networks.

    Args:
      weight_decay: The factor of the penalty on weights.
      batch_norm_decay: The decay of batch normalization's averages.
      batch_norm_epsilon: What is added to its variances.
      batch_norm_scale: Whether it also scales.

    Returns:
      The argument scope.
    """
    normalization = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": GraphKeys.UPDATE_OPS,
    }
    with (
        arg_scope(
            [conv2d],
            weights_regularizer=l2_regularizer(weight_decay),
            weights_initializer=variance_scaling_initializer(),
            activation_fn=relu,
            normalizer_fn=batch_norm,
            normalizer_params=normalization,
        ),
        arg_scope([batch_norm], **normalization),
        arg_scope([max_pool2d], padding="SAME") as scope,
    ):
        return scope
