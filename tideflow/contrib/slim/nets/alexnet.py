"""AlexNet as in "One weird trick" (Krizhevsky, 2014)."""

from __future__ import annotations

from typing import Any

from tideflow.contrib.framework.argument_scopes import arg_scope
from tideflow.contrib.layers.convolutions import convolution2d as conv2d
from tideflow.contrib.layers.pools import max_pool2d
from tideflow.contrib.slim.nets import plain
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.variables.initializers import Constant, Zeros


@export("contrib.slim.nets.alexnet.alexnet_v2_arg_scope")
def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> dict:
    """The argument scope for `alexnet_v2`.

    Args:
      weight_decay: The factor of the penalty on weights.

    Returns:
      The argument scope.
    """
    return plain.penalized(weight_decay, Constant(0.1), padding="VALID")


@export("contrib.slim.nets.alexnet.alexnet_v2")
def alexnet_v2(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "alexnet_v2",
) -> plain.Model:
    """AlexNet.

    Args:
      inputs: Images, [batch, height, width, channels]; 224 pixels high and wide for classification.
      num_classes: How many classes there are.
      is_training: Whether dropout is at work.
      dropout_keep_prob: What part of the elements dropout keeps.
      spatial_squeeze: Whether the axes of height and width are taken out of the logits.
      scope: The variable scope.

    Returns:
      The logits, and all layers by name.
    """

    def build(net: Tensor) -> Tensor:
        net = conv2d(net, 64, [11, 11], 4, padding="VALID", scope="conv1")
        net = max_pool2d(net, [3, 3], 2, scope="pool1")
        net = conv2d(net, 192, [5, 5], scope="conv2")
        net = max_pool2d(net, [3, 3], 2, scope="pool2")
        for number, depth in ((3, 384), (4, 384), (5, 256)):
            net = conv2d(net, depth, [3, 3], scope=f"conv{number}")
        net = max_pool2d(net, [3, 3], 2, scope="pool5")
        with arg_scope(
            [conv2d], weights_initializer=plain.trunc_normal(0.005), biases_initializer=Constant(0.1)
        ):
            return plain.classifier(
                net,
                4096,
                [5, 5],
                num_classes,
                dropout_keep_prob,
                is_training,
                biases_initializer=Zeros(),
            )

    return plain.model(inputs, scope, "alexnet_v2", spatial_squeeze, False, build)


alexnet_v2.default_image_size = 224
