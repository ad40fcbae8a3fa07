"""What the models without branches share: convolutions, then three layers for the classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.contrib.framework.argument_scopes import arg_scope
from tideflow.contrib.layers import utilities
from tideflow.contrib.layers.convolutions import convolution2d as conv2d
from tideflow.contrib.layers.dense import dropout, fully_connected
from tideflow.contrib.layers.penalties import l2_regularizer
from tideflow.contrib.layers.pools import max_pool2d
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import shapes
from tideflow.ops.nn.activations import relu
from tideflow.variables.initializers import TruncatedNormal
from tideflow.variables.variable_scope import variable_scope

Model = tuple[Tensor, dict[str, Tensor]]


def trunc_normal(stddev: float) -> TruncatedNormal:
    """The initializer of weights near zero."""
    return TruncatedNormal(0.0, stddev)


def penalized(weight_decay: float, biases_initializer: Any, **pool: Any) -> dict:
    """The argument scope of a model with penalties on its weights."""
    with (
        arg_scope(
            [conv2d, fully_connected],
            activation_fn=relu,
            biases_initializer=biases_initializer,
            weights_regularizer=l2_regularizer(weight_decay),
        ),
        arg_scope([conv2d], padding="SAME") as scope,
    ):
        if not pool:
            return scope
        with arg_scope([max_pool2d], **pool) as pooled:
            return pooled


def classifier(
    net: Tensor,
    width: int,
    kernel_size: list[int],
    num_classes: int,
    keep_prob: float,
    is_training: Any,
    **last: Any,
) -> Tensor:
    """The layers fc6, fc7 and fc8, as convolutions."""
    net = conv2d(net, width, kernel_size, padding="VALID", scope="fc6")
    net = dropout(net, keep_prob, is_training=is_training, scope="dropout6")
    net = conv2d(net, 4096, [1, 1], scope="fc7")
    net = dropout(net, keep_prob, is_training=is_training, scope="dropout7")
    return conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **last)


def model(
    inputs: Tensor,
    scope: Any,
    name: str,
    spatial_squeeze: bool,
    by_name: bool,
    build: Callable[[Tensor], Tensor],
) -> Model:
    """What `build` makes of images, and all layers by name.

    The collection of the layers has the name of the variable scope (`by_name`), or of its first name scope.
    """
    with variable_scope(scope, name, [inputs]) as found:
        collection = (found.name if by_name else found.original_name_scope) + "_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=collection):
            net = build(inputs)
            end_points = utilities.convert_collection_to_dict(collection)
            if spatial_squeeze:
                net = shapes.squeeze(net, [1, 2], name="fc8/squeezed")
                end_points[f"{found.name}/fc8"] = net
            return net, end_points
