"""Residual networks of either kind: the same but for where normalization stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.contrib.framework.argument_scopes import arg_scope
from tideflow.contrib.layers import utilities
from tideflow.contrib.layers.arrangement import softmax
from tideflow.contrib.layers.convolutions import convolution2d as conv2d
from tideflow.contrib.layers.normalizers import batch_norm
from tideflow.contrib.layers.pools import max_pool2d
from tideflow.contrib.slim.nets import resnet_utils
from tideflow.contrib.slim.nets.plain import Model
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.math import reductions
from tideflow.ops.nn.activations import relu
from tideflow.variables.variable_scope import variable_scope


def resnet(
    inputs: Tensor,
    blocks: list[resnet_utils.Block],
    bottleneck: Callable,
    is_first_kind: bool,
    num_classes: int | None,
    is_training: Any,
    global_pool: bool,
    output_stride: Any,
    include_root_block: bool,
    reuse: Any,
    scope: Any,
) -> Model:
    """The network: a root block, blocks of units, a mean over all pixels, and logits."""
    default = "resnet_v1" if is_first_kind else "resnet_v2"
    with variable_scope(scope, default, [inputs], reuse=reuse) as found:
        collection = f"{found.original_name_scope}_end_points"
        collecting = [conv2d, bottleneck, resnet_utils.stack_blocks_dense]
        with (
            arg_scope(collecting, outputs_collections=collection),
            arg_scope([batch_norm], is_training=is_training),
        ):
            net = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4 != 0:
                        raise ValueError("The output_stride needs to be a multiple of 4.")
                    output_stride /= 4
                with arg_scope([conv2d], **({} if is_first_kind else _BARE)):
                    net = resnet_utils.conv2d_same(net, 64, 7, stride=2, scope="conv1")
                net = max_pool2d(net, [3, 3], stride=2, scope="pool1")
            net = resnet_utils.stack_blocks_dense(net, blocks, output_stride)
            if not is_first_kind:
                net = batch_norm(net, activation_fn=relu, scope="postnorm")
            if global_pool:
                net = reductions.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = conv2d(net, num_classes, [1, 1], scope="logits", **_BARE)
            end_points = utilities.convert_collection_to_dict(collection)
            if num_classes is not None:
                end_points["predictions"] = softmax(net, scope="predictions")
            return net, end_points


_BARE: dict[str, Any] = {"activation_fn": None, "normalizer_fn": None}


def block_of(bottleneck: Callable) -> Callable:
    """The function that makes a block of `num_units` units, the last of which has a stride."""

    def resnet_block(scope: str, base_depth: int, num_units: int, stride: int) -> resnet_utils.Block:
        """A block of units that are as deep as each other, the last of which has a stride.

        Args:
          scope: The variable scope of the block.
          base_depth: The depth of the convolutions inside a unit; its output is four times as deep.
          num_units: How many units there are.
          stride: The stride of the last unit.

        Returns:
          The block.
        """
        unit = {"depth": base_depth * 4, "depth_bottleneck": base_depth, "stride": 1}
        return resnet_utils.Block(scope, bottleneck, [unit] * (num_units - 1) + [{**unit, "stride": stride}])

    return resnet_block


_UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}


def of_depth(space: str, layers: int, network: Callable, block: Callable) -> Callable:
    """The network of the paper with so many layers."""
    default_scope = f"{space}_{layers}"
    rows = list(zip((64, 128, 256, 512), _UNITS[layers], (2, 2, 2, 1), strict=True))

    def model(
        inputs: Tensor,
        num_classes: int | None = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: Any = None,
        reuse: Any = None,
        scope: Any = default_scope,
    ) -> Model:
        blocks = [block(f"block{i}", *row) for i, row in enumerate(rows, 1)]
        return network(
            inputs,
            blocks,
            num_classes,
            is_training,
            global_pool,
            output_stride,
            include_root_block=True,
            reuse=reuse,
            scope=scope,
        )

    model.__name__ = model.__qualname__ = default_scope
    model.__doc__ = f"""The residual network with {layers} layers.

    Args:
      inputs: Images, [batch, height, width, channels].
      num_classes: How many classes there are; None for no logits.
      is_training: Whether batch normalization uses the batch.
      global_pool: Whether the mean over all pixels is taken.
      output_stride: By how much smaller than the input the output is; 32 if None.
      reuse: Whether the variables are there already.
      scope: The variable scope.

    Returns:
      The network's output, and its layers by name.
    """
    return export(f"contrib.slim.nets.{space}.{default_scope}")(model)
