"""Residual networks with normalization before each convolution (He et al., 2016)."""

from __future__ import annotations

from typing import Any

from tideflow.contrib.framework.argument_scopes import add_arg_scope
from tideflow.contrib.layers import utilities
from tideflow.contrib.layers.convolutions import convolution2d as conv2d
from tideflow.contrib.layers.normalizers import batch_norm
from tideflow.contrib.slim.nets import residual, resnet_utils
from tideflow.contrib.slim.nets.plain import Model
from tideflow.export import export, expose
from tideflow.graph.operation import Tensor
from tideflow.ops.nn.activations import relu
from tideflow.variables.variable_scope import variable_scope

resnet_arg_scope = resnet_utils.resnet_arg_scope
expose(resnet_arg_scope, "contrib.slim.nets.resnet_v2.resnet_arg_scope")


@export("contrib.slim.nets.resnet_v2.bottleneck")
@add_arg_scope
def bottleneck(
    inputs: Tensor,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Tensor:
    """A unit: three convolutions, the middle one narrow, beside a shortcut.

    Args:
      inputs: Images, [batch, height, width, channels].
      depth: The depth of the output.
      depth_bottleneck: The depth of the convolutions inside.
      stride: The stride of the unit.
      rate: The dilation of the middle convolution.
      outputs_collections: A collection to add the output to.
      scope: The variable scope.

    Returns:
      The output.
    """
    with variable_scope(scope, "bottleneck_v2", [inputs]) as found:
        depth_in = utilities.last_dimension(inputs.shape, min_rank=4)
        bare: dict[str, Any] = {"normalizer_fn": None, "activation_fn": None}
        ready = batch_norm(inputs, activation_fn=relu, scope="preact")
        if depth == depth_in:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(ready, depth, [1, 1], stride=stride, scope="shortcut", **bare)
        residue = conv2d(ready, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residue = resnet_utils.conv2d_same(residue, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        output = shortcut + conv2d(residue, depth, [1, 1], stride=1, scope="conv3", **bare)
        return utilities.collect_named_outputs(outputs_collections, found.name, output)


@export("contrib.slim.nets.resnet_v2.resnet_v2")
def resnet_v2(
    inputs: Tensor,
    blocks: list[resnet_utils.Block],
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: Any = None,
    include_root_block: bool = True,
    reuse: Any = None,
    scope: Any = None,
) -> Model:
    """A residual network of any blocks.

    Args:
      inputs: Images, [batch, height, width, channels].
      blocks: The blocks.
      num_classes: How many classes there are; None for no logits.
      is_training: Whether batch normalization uses the batch.
      global_pool: Whether the mean over all pixels is taken.
      output_stride: By how much smaller than the input the output is; as the blocks say if None.
      include_root_block: Whether a convolution and a pooling come first: images get four times smaller.
      reuse: Whether the variables are there already.
      scope: The variable scope.

    Returns:
      The network's output, and its layers by name.

    Raises:
      ValueError: If `output_stride` cannot be reached.
    """
    return residual.resnet(
        inputs,
        blocks,
        bottleneck,
        False,
        num_classes,
        is_training,
        global_pool,
        output_stride,
        include_root_block,
        reuse,
        scope,
    )


resnet_v2.default_image_size = 224
resnet_v2_block = export("contrib.slim.nets.resnet_v2.resnet_v2_block")(residual.block_of(bottleneck))
resnet_v2_50 = residual.of_depth("resnet_v2", 50, resnet_v2, resnet_v2_block)
resnet_v2_101 = residual.of_depth("resnet_v2", 101, resnet_v2, resnet_v2_block)
resnet_v2_152 = residual.of_depth("resnet_v2", 152, resnet_v2, resnet_v2_block)
resnet_v2_200 = residual.of_depth("resnet_v2", 200, resnet_v2, resnet_v2_block)
