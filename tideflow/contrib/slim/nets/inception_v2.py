"""Inception v2 (Ioffe, Szegedy 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.contrib.framework.argument_scopes import arg_scope
from tideflow.contrib.layers.convolutions import convolution2d as conv2d
from tideflow.contrib.layers.convolutions import separable_convolution2d as separable_conv2d
from tideflow.contrib.layers.dense import dropout
from tideflow.contrib.layers.normalizers import batch_norm
from tideflow.contrib.layers.pools import avg_pool2d, max_pool2d
from tideflow.contrib.slim.nets import modules
from tideflow.contrib.slim.nets.plain import Model, trunc_normal
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.variables.variable_scope import variable_scope

_BODY = {
    "MaxPool_2a_3x3": "max:3x3/2",
    "Conv2d_2b_1x1": "64:1x1",
    "Conv2d_2c_3x3": "192:3x3",
    "MaxPool_3a_3x3": "max:3x3/2",
    "Mixed_3b": ("64:1x1", "64:1x1 64:3x3", "64:1x1 96:3x3 96:3x3", "avg:3x3 32:1x1"),
    "Mixed_3c": ("64:1x1", "64:1x1 96:3x3", "64:1x1 96:3x3 96:3x3", "avg:3x3 64:1x1"),
    "Mixed_4a": ("128:1x1 160:3x3/2", "64:1x1 96:3x3 96:3x3/2", "max:3x3/2"),
    "Mixed_4b": ("224:1x1", "64:1x1 96:3x3", "96:1x1 128:3x3 128:3x3", "avg:3x3 128:1x1"),
    "Mixed_4c": ("192:1x1", "96:1x1 128:3x3", "96:1x1 128:3x3 128:3x3", "avg:3x3 128:1x1"),
    "Mixed_4d": ("160:1x1", "128:1x1 160:3x3", "128:1x1 160:3x3 160:3x3", "avg:3x3 96:1x1"),
    "Mixed_4e": ("96:1x1", "128:1x1 192:3x3", "160:1x1 192:3x3 192:3x3", "avg:3x3 96:1x1"),
    "Mixed_5a": ("128:1x1 192:3x3/2", "192:1x1 256:3x3 256:3x3/2", "max:3x3/2"),
    "Mixed_5b": ("352:1x1", "192:1x1 320:3x3", "160:1x1 224:3x3 224:3x3", "avg:3x3 128:1x1"),
    "Mixed_5c": ("352:1x1", "192:1x1 320:3x3", "192:1x1 224:3x3 224:3x3", "max:3x3 128:1x1"),
}


def _initial(steps: list[str], place: int) -> dict[str, Any]:
    """Narrow convolutions before others, and those after a pooling, begin with weights of their own."""
    if not steps[place].endswith(":1x1") or len(steps) == 1:
        return {}
    return {"weights_initializer": trunc_normal(0.09 if place == 0 else 0.1)}


@export("contrib.slim.nets.inception.inception_v2_base")
def inception_v2_base(
    inputs: Tensor,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> Model:
    """The model without its logits.

    Args:
      inputs: Images, [batch, height, width, channels].
      final_endpoint: Where it ends.
      min_depth: The least depth of a layer.
      depth_multiplier: By what the depth of all layers is multiplied.
      scope: The variable scope.

    Returns:
      The final end point, and all end points by name.

    Raises:
      ValueError: If there is no such end point, or the multiplier is not positive.
    """
    depth = modules.depth_function(depth_multiplier, min_depth)
    builder = modules.Builder(final_endpoint, depth, _initial)

    def first(net: Tensor) -> Tensor:
        return separable_conv2d(
            net,
            depth(64),
            [7, 7],
            depth_multiplier=min(int(depth(64) / 3), 8),
            stride=2,
            weights_initializer=trunc_normal(1.0),
            scope="Conv2d_1a_7x7",
        )

    with (
        variable_scope(scope, "InceptionV2", [inputs]),
        arg_scope([conv2d, max_pool2d, avg_pool2d, separable_conv2d], stride=1, padding="SAME"),
    ):
        net = builder.add("Conv2d_1a_7x7", inputs, first)
        narrow = {"Conv2d_2b_1x1": {"weights_initializer": trunc_normal(0.1)}}
        return builder.result(builder.body(net, _BODY, narrow))


@export("contrib.slim.nets.inception.inception_v2")
def inception_v2(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable = modules.default_prediction,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV2",
) -> Model:
    """The model for classification.

    Args:
      inputs: Images, [batch, 224, 224, channels].
      num_classes: How many classes there are.
      is_training: Whether dropout is at work and batch normalization uses the batch.
      dropout_keep_prob: What part of the elements dropout keeps.
      min_depth: The least depth of a layer.
      depth_multiplier: By what the depth of all layers is multiplied.
      prediction_fn: Makes predictions from logits.
      spatial_squeeze: Whether the axes of height and width are taken out of the logits.
      reuse: Whether the variables are there already.
      scope: The variable scope.

    Returns:
      The logits, and all end points by name.

    Raises:
      ValueError: If the multiplier is not positive.
    """
    modules.depth_function(depth_multiplier, min_depth)  # refuses before anything is made
    with (
        variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as found,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v2_base(
            inputs, scope=found, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        with variable_scope("Logits"):
            net = modules.pooled(net, 7, dropout_keep_prob)
            logits = modules.logits_of(net, num_classes, spatial_squeeze, "Conv2d_1c_1x1")
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v2.default_image_size = 224


@export("contrib.slim.nets.inception.inception_v2_arg_scope")
def inception_v2_arg_scope(
    weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars"
) -> dict:
    """The argument scope of the model.

    Args:
      weight_decay: The factor of the penalty on weights.
      batch_norm_var_collection: The collection of the averages of batch normalization.

    Returns:
      The argument scope.
    """
    return modules.normalized_scope(weight_decay, batch_norm_var_collection)
