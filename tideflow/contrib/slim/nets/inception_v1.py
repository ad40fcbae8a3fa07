"""Inception v1, GoogLeNet (Szegedy et al., 2014)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.contrib.framework.argument_scopes import arg_scope
from tideflow.contrib.layers.convolutions import convolution2d as conv2d
from tideflow.contrib.layers.dense import dropout, fully_connected
from tideflow.contrib.layers.normalizers import batch_norm
from tideflow.contrib.layers.pools import avg_pool2d, max_pool2d
from tideflow.contrib.slim.nets import modules
from tideflow.contrib.slim.nets.plain import Model, trunc_normal
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.variables.variable_scope import variable_scope

_BODY = {
    "Conv2d_1a_7x7": "64:7x7/2",
    "MaxPool_2a_3x3": "max:3x3/2",
    "Conv2d_2b_1x1": "64:1x1",
    "Conv2d_2c_3x3": "192:3x3",
    "MaxPool_3a_3x3": "max:3x3/2",
    "Mixed_3b": ("64:1x1", "96:1x1 128:3x3", "16:1x1 32:3x3", "max:3x3 32:1x1"),
    "Mixed_3c": ("128:1x1", "128:1x1 192:3x3", "32:1x1 96:3x3", "max:3x3 64:1x1"),
    "MaxPool_4a_3x3": "max:3x3/2",
    "Mixed_4b": ("192:1x1", "96:1x1 208:3x3", "16:1x1 48:3x3", "max:3x3 64:1x1"),
    "Mixed_4c": ("160:1x1", "112:1x1 224:3x3", "24:1x1 64:3x3", "max:3x3 64:1x1"),
    "Mixed_4d": ("128:1x1", "128:1x1 256:3x3", "24:1x1 64:3x3", "max:3x3 64:1x1"),
    "Mixed_4e": ("112:1x1", "144:1x1 288:3x3", "32:1x1 64:3x3", "max:3x3 64:1x1"),
    "Mixed_4f": ("256:1x1", "160:1x1 320:3x3", "32:1x1 128:3x3", "max:3x3 128:1x1"),
    "MaxPool_5a_2x2": "max:2x2/2",
    "Mixed_5b": ("256:1x1", "160:1x1 320:3x3", "32:1x1 128:3x3@Conv2d_0a_3x3", "max:3x3 128:1x1"),
    "Mixed_5c": ("384:1x1", "192:1x1 384:3x3", "48:1x1 128:3x3", "max:3x3 128:1x1"),
}


@export("contrib.slim.nets.inception.inception_v1_base")
def inception_v1_base(inputs: Tensor, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1") -> Model:
    """The model without its logits.

    Args:
      inputs: Images, [batch, height, width, channels].
      final_endpoint: Where it ends.
      scope: The variable scope.

    Returns:
      The final end point, and all end points by name.

    Raises:
      ValueError: If there is no such end point.
    """
    builder = modules.Builder(final_endpoint)
    with (
        variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope([conv2d, fully_connected], weights_initializer=trunc_normal(0.01)),
        arg_scope([conv2d, max_pool2d], stride=1, padding="SAME"),
    ):
        return builder.result(builder.body(inputs, _BODY))


@export("contrib.slim.nets.inception.inception_v1")
def inception_v1(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Callable = modules.default_prediction,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV1",
) -> Model:
    """The model for classification.

    Args:
      inputs: Images, [batch, 224, 224, channels].
      num_classes: How many classes there are.
      is_training: Whether dropout is at work and batch normalization uses the batch.
      dropout_keep_prob: What part of the elements dropout keeps.
      prediction_fn: Makes predictions from logits.
      spatial_squeeze: Whether the axes of height and width are taken out of the logits.
      reuse: Whether the variables are there already.
      scope: The variable scope.

    Returns:
      The logits, and all end points by name.
    """
    with (
        variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as found,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v1_base(inputs, scope=found)
        with variable_scope("Logits"):
            net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            net = dropout(net, dropout_keep_prob, scope="Dropout_0b")
            logits = modules.logits_of(net, num_classes, spatial_squeeze, "Conv2d_0c_1x1")
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v1.default_image_size = 224


@export("contrib.slim.nets.inception.inception_v1_arg_scope")
def inception_v1_arg_scope(
    weight_decay: float = 0.00004, use_batch_norm: bool = True, batch_norm_var_collection: str = "moving_vars"
) -> dict:
    """The argument scope of the model.

    Args:
      weight_decay: The factor of the penalty on weights.
      use_batch_norm: Whether convolutions are normalized.
      batch_norm_var_collection: The collection of the averages of batch normalization.

    Returns:
      The argument scope.
    """
    return modules.normalized_scope(weight_decay, batch_norm_var_collection, use_batch_norm)
