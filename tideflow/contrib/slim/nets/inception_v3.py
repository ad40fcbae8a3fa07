"""Inception v3 (Szegedy et al., 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.contrib.framework.argument_scopes import arg_scope
from tideflow.contrib.layers.convolutions import convolution2d as conv2d
from tideflow.contrib.layers.dense import dropout
from tideflow.contrib.layers.normalizers import batch_norm
from tideflow.contrib.layers.pools import avg_pool2d, max_pool2d
from tideflow.contrib.slim.nets import modules
from tideflow.contrib.slim.nets.plain import Model, trunc_normal
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys
from tideflow.ops.arrays import shapes
from tideflow.variables.variable_scope import variable_scope

_STEM = {
    "Conv2d_1a_3x3": "32:3x3/2",
    "Conv2d_2a_3x3": "32:3x3",
    "Conv2d_2b_3x3": "64:3x3",
    "MaxPool_3a_3x3": "max:3x3/2",
    "Conv2d_3b_1x1": "80:1x1",
    "Conv2d_4a_3x3": "192:3x3",
    "MaxPool_5a_3x3": "max:3x3/2",
}


def _with_sevens(width: int) -> tuple[str, ...]:
    """A module whose kernels of seven by seven pixels are split in two."""
    return (
        "192:1x1",
        f"{width}:1x1 {width}:1x7 192:7x1",
        f"{width}:1x1 {width}:7x1 {width}:1x7 {width}:7x1 192:1x7",
        "avg:3x3 192:1x1",
    )


_WIDE = "448:1x1 384:3x3 384:1x3@Conv2d_0c_1x3+384:3x1@Conv2d_0d_3x1"
_BODY = {
    "Mixed_5b": ("64:1x1", "48:1x1 64:5x5", "64:1x1 96:3x3 96:3x3", "avg:3x3 32:1x1"),
    "Mixed_5c": (
        "64:1x1",
        "48:1x1@Conv2d_0b_1x1 64:5x5@Conv_1_0c_5x5",
        "64:1x1 96:3x3 96:3x3",
        "avg:3x3 64:1x1",
    ),
    "Mixed_5d": ("64:1x1", "48:1x1 64:5x5", "64:1x1 96:3x3 96:3x3", "avg:3x3 64:1x1"),
    "Mixed_6a": ("384:3x3/2@Conv2d_1a_1x1", "64:1x1 96:3x3 96:3x3/2@Conv2d_1a_1x1", "max:3x3/2"),
    "Mixed_6b": _with_sevens(128),
    "Mixed_6c": _with_sevens(160),
    "Mixed_6d": _with_sevens(160),
    "Mixed_6e": _with_sevens(192),
    "Mixed_7a": ("192:1x1 320:3x3/2", "192:1x1 192:1x7 192:7x1 192:3x3/2", "max:3x3/2"),
    "Mixed_7b": (
        "320:1x1",
        "384:1x1 384:1x3@Conv2d_0b_1x3+384:3x1@Conv2d_0b_3x1",
        _WIDE,
        "avg:3x3 192:1x1",
    ),
    "Mixed_7c": (
        "320:1x1",
        "384:1x1 384:1x3@Conv2d_0b_1x3+384:3x1@Conv2d_0c_3x1",
        _WIDE,
        "avg:3x3 192:1x1",
    ),
}
_LAYERS = [conv2d, max_pool2d, avg_pool2d]


@export("contrib.slim.nets.inception.inception_v3_base")
def inception_v3_base(
    inputs: Tensor,
    final_endpoint: str = "Mixed_7c",
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
    builder = modules.Builder(final_endpoint, depth, strided={"padding": "VALID"})
    with variable_scope(scope, "InceptionV3", [inputs]):
        with arg_scope(_LAYERS, stride=1, padding="VALID"):
            net = builder.body(inputs, _STEM, {"Conv2d_2b_3x3": {"padding": "SAME"}})
        with arg_scope(_LAYERS, stride=1, padding="SAME"):
            return builder.result(builder.body(net, _BODY))


@export("contrib.slim.nets.inception.inception_v3")
def inception_v3(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable = modules.default_prediction,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV3",
) -> Model:
    """The model for classification, with logits in its middle ("AuxLogits") for training.

    Args:
      inputs: Images, [batch, 299, 299, channels].
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
    depth = modules.depth_function(depth_multiplier, min_depth)
    with (
        variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as found,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v3_base(
            inputs, scope=found, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        with arg_scope(_LAYERS, stride=1, padding="SAME"), variable_scope("AuxLogits"):
            middle = avg_pool2d(
                end_points["Mixed_6e"], [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5"
            )
            middle = conv2d(middle, depth(128), [1, 1], scope="Conv2d_1b_1x1")
            kernel = modules.fitting(middle, 5)
            middle = conv2d(
                middle,
                depth(768),
                kernel,
                weights_initializer=trunc_normal(0.01),
                padding="VALID",
                scope="Conv2d_2a_{}x{}".format(*kernel),
            )
            middle = conv2d(
                middle,
                num_classes,
                [1, 1],
                activation_fn=None,
                normalizer_fn=None,
                weights_initializer=trunc_normal(0.001),
                scope="Conv2d_2b_1x1",
            )
            if spatial_squeeze:
                middle = shapes.squeeze(middle, [1, 2], name="SpatialSqueeze")
            end_points["AuxLogits"] = middle
        with variable_scope("Logits"):
            net = modules.pooled(net, 8, dropout_keep_prob)
            end_points["PreLogits"] = net
            logits = modules.logits_of(net, num_classes, spatial_squeeze, "Conv2d_1c_1x1")
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v3.default_image_size = 299


@export("contrib.slim.nets.inception.inception_v3_arg_scope")
def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> dict:
    """The argument scope of the model.

    Args:
      weight_decay: The factor of the penalty on weights.
      batch_norm_var_collection: The collection of the averages of batch normalization.
      batch_norm_decay: The decay of these averages.
      batch_norm_epsilon: What is added to variances.
      updates_collections: The collection of the updates of the averages.
      use_fused_batchnorm: Whether batch normalization is one op.

    Returns:
      The argument scope.
    """
    return modules.normalized_scope(
        weight_decay,
        batch_norm_var_collection,
        decay=batch_norm_decay,
        epsilon=batch_norm_epsilon,
        updates_collections=updates_collections,
        fused=use_fused_batchnorm,
    )
