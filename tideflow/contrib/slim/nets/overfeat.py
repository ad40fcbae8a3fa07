"""OverFeat (Sermanet et al., 2013)."""

from __future__ import annotations

from typing import Any

from tideflow.contrib.framework.argument_scopes import arg_scope
from tideflow.contrib.layers.convolutions import convolution2d as conv2d
from tideflow.contrib.layers.pools import max_pool2d
from tideflow.contrib.slim.nets import plain
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.variables.initializers import Constant, Zeros


@export("contrib.slim.nets.overfeat.overfeat_arg_scope")
def overfeat_arg_scope(weight_decay: float = 0.0005) -> dict:
    """The argument scope for `overfeat`.

    Args:
      weight_decay: The factor of the penalty on weights.

    Returns:
      The argument scope.
    """
    return plain.penalized(weight_decay, Zeros(), padding="VALID")


@export("contrib.slim.nets.overfeat.overfeat")
def overfeat(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "overfeat",
) -> plain.Model:
    """OverFeat, the fast model.

    Args:
      inputs: Images, [batch, height, width, channels]; 231 pixels high and wide for classification.
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
        net = max_pool2d(net, [2, 2], scope="pool1")
        net = conv2d(net, 256, [5, 5], padding="VALID", scope="conv2")
        net = max_pool2d(net, [2, 2], scope="pool2")
        for number, depth in ((3, 512), (4, 1024), (5, 1024)):
            net = conv2d(net, depth, [3, 3], scope=f"conv{number}")
        net = max_pool2d(net, [2, 2], scope="pool5")
        with arg_scope(
            [conv2d], weights_initializer=plain.trunc_normal(0.005), biases_initializer=Constant(0.1)
        ):
            return plain.classifier(
                net,
                3072,
                [6, 6],
                num_classes,
                dropout_keep_prob,
                is_training,
                biases_initializer=Zeros(),
            )

    return plain.model(inputs, scope, "overfeat", spatial_squeeze, True, build)


overfeat.default_image_size = 231
